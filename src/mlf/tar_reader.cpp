// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reading tars. One level of compression is taken off first (mlf/unpack.hpp); libarchive parses the tar. The byte
// stream between them is ours to watch, because libarchive takes a tar that was cut off between two members for a
// complete one: only the block of zeros after the last member tells the difference. libarchive would also unpack, but
// it leaves gzip's checks out, takes off one compression after the other, and takes what memory a file asks for.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mlf/c_text.hpp"
#include "mlf/intake.hpp"
#include "mlf/libarchive.hpp"
#include "mlf/unpack.hpp"
#include "usmp/support/input_file.hpp"

namespace usmp::mlf {
namespace {

constexpr std::uint64_t block_bytes = 512;
// Limits the padding behind the block of zeros: tar fills its last record up, of 10 KiB unless told otherwise.
constexpr std::uint64_t most_padding = std::uint64_t{64} << 20;

// Limits for what is packed: beyond them a small file could take all the memory there is.
constexpr std::uint64_t most_unpacked = std::uint64_t{256} << 20;
constexpr std::uint64_t free_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t most_ratio = 100;

// The decompressed tar, handed on in chunks of whole blocks, so that no tar block lies across two chunks.
class TarStream {
 public:
  TarStream(Source& source, Compression compression, std::uint64_t limit)
      : source_(source), packed_(compression), unpacker_(unpacker(compression, source)), limit_(limit) {}

  // The next chunk, empty at the end. Nothing: a fault, which fault() describes.
  std::optional<std::string_view> next() {
    begin_ += filled_;
    filled_ = 0;
    const auto count = unpacker_->read(chunk_.data(), chunk_.size());
    if (!count) {
      fault_ = unpacker_->fault();
      is_of_whole_file_ = unpacker_->is_of_whole_file();
      return std::nullopt;
    }
    filled_ = *count;
    if (begin_ == 0) {
      compression_ = compression_of({chunk_.data(), filled_});
      is_empty_ = filled_ == 0;
    }
    if (is_too_long()) return std::nullopt;
    inspect();
    return std::string_view(chunk_.data(), filled_);
  }

  // Says where the next header is expected; ended_by_zeros() tells whether a block of zeros was found there.
  void expect_header_at(std::uint64_t offset) {
    expected_ = offset;
    zeros_ = false;
    inspect();
  }
  [[nodiscard]] bool ended_by_zeros() const { return zeros_; }

  // Whether the stream is known to end before the block at `offset` does.
  [[nodiscard]] bool ends_within(std::uint64_t offset) const {
    return filled_ < chunk_.size() && begin_ + filled_ < offset + block_bytes;
  }
  [[nodiscard]] const std::string& fault() const { return fault_; }
  // The fault says nothing about the place at which it was met.
  [[nodiscard]] bool is_of_whole_file() const { return is_of_whole_file_; }
  [[nodiscard]] bool is_empty() const { return is_empty_; }

  // How what should be a tar is compressed itself.
  [[nodiscard]] Compression compression() const { return compression_; }

 private:
  void inspect() {
    if (expected_ < begin_ || expected_ + block_bytes > begin_ + filled_) return;
    const char* block = chunk_.data() + (expected_ - begin_);
    zeros_ = std::all_of(block, block + block_bytes, [](char c) { return c == 0; });
  }

  bool is_too_long() {
    const std::uint64_t bytes = begin_ + filled_;
    is_of_whole_file_ = true;
    if (bytes > limit_) fault_ = "the tar is longer than the limit of " + std::to_string(limit_) + " bytes";
    if (packed_ != Compression::none && bytes > std::min(most_unpacked, free_bytes + most_ratio * source_.taken())) {
      fault_ = std::string("the ") + name_of(packed_) + " data unpack to more than " + std::to_string(begin_) +
               " bytes; the limit is 64 MiB and 100 times the size of the file, at most 256 MiB: expected the tar "
               "itself or its directory";
    }
    return !fault_.empty();
  }

  Source& source_;
  Compression packed_;
  std::unique_ptr<Unpacker> unpacker_;
  std::uint64_t limit_;
  bool is_of_whole_file_ = false;
  bool is_empty_ = false;
  std::array<char, 128 * block_bytes> chunk_{};
  std::uint64_t begin_ = 0;  // of the chunk in the stream
  std::size_t filled_ = 0;
  std::uint64_t expected_ = 0;
  bool zeros_ = false;
  Compression compression_ = Compression::none;
  std::string fault_;
};

la_ssize_t read_chunk(archive* tar, void* stream, const void** chunk) {
  auto& source = *static_cast<TarStream*>(stream);
  const auto bytes = source.next();
  if (!bytes) {
    archive_set_error(tar, EIO, "%s", source.fault().c_str());
    return -1;
  }
  *chunk = bytes->data();
  return static_cast<la_ssize_t>(bytes->size());
}

class TarReader {
 public:
  // `file`: that the tar is, if it is not compressed.
  TarReader(Source& source, Compression compression, const std::string& path, const Limits& limits,
            std::shared_ptr<const MappedFile> file)
      : intake_(path, limits),
        stream_(source, compression, stream_limit(limits)),
        tar_(archive_read_new()),
        file_(std::move(file)) {
    if (!tar_) throw std::bad_alloc();
    archive_read_support_format_tar(tar_.get());
  }

  Archive read() && {
    if (archive_read_open(tar_.get(), &stream_, nullptr, &read_chunk, nullptr) != ARCHIVE_OK) throw header_fault();
    while (archive_entry* entry = next_entry()) {
      take(entry);
      if (archive_read_data_skip(tar_.get()) < ARCHIVE_WARN) throw member_fault();
    }
    if (!stream_.ended_by_zeros()) throw truncated();
    drain();
    return std::move(intake_).finish();
  }

 private:
  // Headers, padding and long names come on top of what members hold.
  static std::uint64_t stream_limit(const Limits& limits) {
    return limits.total_bytes + limits.members * 8 * block_bytes;
  }

  archive_entry* next_entry() {
    stream_.expect_header_at((position() + block_bytes - 1) / block_bytes * block_bytes);
    archive_entry* entry = nullptr;
    require_headroom();
    const int status = archive_read_next_header(tar_.get(), &entry);
    if (status == ARCHIVE_EOF) return nullptr;
    if (status == ARCHIVE_OK) return entry;
    // Names stay bytes here, so that they cannot be converted is no fault.
    const bool bytes_kept =
        status == ARCHIVE_WARN && fault_of(tar_.get()).find("can't be converted") != std::string::npos;
    if (!bytes_kept) throw header_fault();
    return entry;
  }

  void take(archive_entry* entry) {
    const char* raw_name = archive_entry_pathname(entry);
    if (raw_name == nullptr) throw intake_.fault("", "the member " + place() + " has no name");
    last_ = raw_name;
    const std::string name = intake_.normalised(last_);
    last_ = name.empty() ? last_ : name;
    const la_int64_t claimed = archive_entry_size(entry);
    if (claimed < 0) throw intake_.fault(last_, "claims " + std::to_string(claimed) + " bytes");
    intake_.count(last_, static_cast<std::uint64_t>(claimed));
    if (archive_entry_hardlink(entry) != nullptr) throw unexpected("a hard link");
    switch (archive_entry_filetype(entry)) {
      case AE_IFREG:
        break;
      case AE_IFDIR:
        return;
      case AE_IFLNK:
        throw unexpected("a symbolic link");
      default:
        throw unexpected("a device, pipe or socket");
    }
    Member member{.name = name, .bytes = {}, .mode = static_cast<std::uint32_t>(archive_entry_perm(entry) & 0777)};
    if (!take_part(member, static_cast<std::uint64_t>(claimed))) {
      read_bytes(member.bytes, static_cast<std::uint64_t>(claimed));
    }
    intake_.add(std::move(member));
  }

  // Large C, if its bytes stand in the file as they are. Else false, and what has been read is in `bytes`.
  bool take_part(Member& member, std::uint64_t claimed) {
    const std::uint64_t begin = position();
    const bool may_be = file_ != nullptr && claimed >= MappedFile::fewest_bytes && is_c_source(member.name) &&
                        begin <= file_->bytes().size() && claimed <= file_->bytes().size() - begin;
    if (!may_be) return false;
    const std::string_view part =
        file_->bytes().substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(claimed));
    std::size_t at = 0;
    while (const auto block = next_block(claimed)) {
      if (block->begin != at || part.substr(at, block->bytes.size()) != block->bytes) {
        intake_.require_memory(last_, claimed);
        member.bytes = part.substr(0, at);
        append(member.bytes, *block, claimed);
        return false;
      }
      file_->release(part.substr(at, block->bytes.size()));
      at += block->bytes.size();
    }
    if (at != part.size()) {
      intake_.require_memory(last_, claimed);
      member.bytes = part.substr(0, at);
      return false;
    }
    intake_.take_part(file_, part, member);
    return true;
  }

  void read_bytes(std::string& bytes, std::uint64_t claimed) {
    intake_.require_memory(last_, claimed);
    while (const auto block = next_block(claimed)) append(bytes, *block, claimed);
    fill_hole(bytes, claimed);
  }

  void fill_hole(std::string& bytes, std::uint64_t end) {
    if (end - bytes.size() > intake_.limits().hole_bytes - holes_) {
      throw intake_.fault(last_, "sparse members have more than " + std::to_string(intake_.limits().hole_bytes) +
                                     " bytes in holes, which is the limit");
    }
    holes_ += end - bytes.size();
    bytes.resize(static_cast<std::size_t>(end));
  }

  // A piece of a member.
  struct Block {
    std::uint64_t begin = 0;
    std::string_view bytes;
  };

  // Nothing: there is no more.
  std::optional<Block> next_block(std::uint64_t claimed) {
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int status = archive_read_data_block(tar_.get(), &data, &size, &offset);
    if (status == ARCHIVE_EOF) return std::nullopt;
    if (status != ARCHIVE_OK) throw member_fault();
    const auto begin = static_cast<std::uint64_t>(offset);
    if (offset < 0 || begin > claimed || size > claimed - begin) throw odd_parts(claimed);
    return Block{begin, {static_cast<const char*>(data), size}};
  }

  void append(std::string& bytes, const Block& block, std::uint64_t claimed) {
    if (block.begin < bytes.size()) throw odd_parts(claimed);
    fill_hole(bytes, block.begin);
    Intake::reserve_ahead(bytes, claimed);
    bytes.append(block.bytes);
  }

  [[nodiscard]] Error odd_parts(std::uint64_t claimed) const {
    return intake_.fault(last_,
                         "its parts do not match the " + std::to_string(claimed) + " bytes that its header states");
  }

  // Reads on behind the tar: a compressed file that was cut there is truncated all the same.
  void drain() {
    for (std::uint64_t bytes = 0; bytes <= most_padding;) {
      const auto chunk = stream_.next();
      if (!chunk) throw stream_fault("after the last member");
      if (chunk->empty()) return;
      bytes += chunk->size();
    }
    throw intake_.fault(
        "", "more than " + std::to_string(most_padding) + " bytes follow the last member, which is the limit");
  }

  [[nodiscard]] std::uint64_t position() const {
    // -1 before the archive is open.
    return static_cast<std::uint64_t>(std::max<la_int64_t>(0, archive_filter_bytes(tar_.get(), 0)));
  }

  [[nodiscard]] std::string place() const {
    const std::string offset = "at byte " + std::to_string(position());
    return offset + (last_.empty() ? ", before any member" : ", after member '" + last_ + "'");
  }

  [[nodiscard]] Error header_fault() const {
    if (!stream_.fault().empty()) return stream_fault(place());
    const std::string fault = fault_of(tar_.get());
    if (stream_.is_empty()) {
      return intake_.fault("", intake_.path() == "/dev/stdin"
                                   ? "is empty, expected an archive, or a plan where the command takes one"
                                   : "the file is empty, expected a tar archive");
    }
    if (last_.empty() && fault.find("nrecognized archive format") != std::string::npos) {
      if (stream_.compression() != Compression::none) {
        return intake_.fault("", std::string("compressed more than once: found ") + name_of(stream_.compression()) +
                                     " inside, expected a tar");
      }
      return intake_.fault("", "not a tar archive (plain, or compressed by gzip, xz or zstd)");
    }
    if (stream_.ends_within(position())) return truncated();
    return intake_.fault("", fault + " " + place());
  }

  [[nodiscard]] Error truncated() const {
    return intake_.fault("", "truncated: the archive ends " + place() + ", without the block of zeros that ends a tar");
  }

  // `where`: if the fault is of the place.
  [[nodiscard]] Error stream_fault(const std::string& where) const {
    return intake_.fault("", stream_.fault() + (stream_.is_of_whole_file() ? "" : " " + where));
  }

  [[nodiscard]] Error member_fault() const {
    if (!stream_.fault().empty()) return stream_fault("inside member '" + last_ + "'");
    return intake_.fault(last_, fault_of(tar_.get()) + " inside this member");
  }

  [[nodiscard]] Error unexpected(const std::string& kind) const {
    return intake_.fault(last_, "the member is " + kind + ", expected a regular file or a directory");
  }

  ScopedCLocale locale_;
  Intake intake_;
  TarStream stream_;
  ReadHandle tar_;
  std::shared_ptr<const MappedFile> file_;
  std::string last_;  // name of the member read last
  std::uint64_t holes_ = 0;
};

Archive read_tar(const std::string& path, const Limits& limits, Source source, bool is_file) {
  require_headroom();
  const Compression compression = compression_of(source.front());
  auto file = is_file && compression == Compression::none ? MappedFile::open(path) : nullptr;
  Archive result = TarReader(source, compression, path, limits, std::move(file)).read();
  if (result.members.empty()) throw Error(ErrorKind::archive, {path, "", ""}, "the archive contains no files");
  return result;
}

}  // namespace

Archive read_tar_file(const std::string& path, const Limits& limits) {
  InputFile file(path);
  if (!file.is_open()) throw Error(ErrorKind::usage, {path, "", ""}, "cannot be read: " + file.fault());
  return read_tar(path, limits, Source(std::move(file)), true);
}

Archive read_archive_bytes(std::string_view bytes, const std::string& path, const Limits& limits) {
  return read_tar(path, limits, Source(bytes), false);
}

}  // namespace usmp::mlf

// SPDX-License-Identifier: Apache-2.0
// Reading tars. Two libarchive readers stand in a row: the first takes the compression off ("raw" format), the second
// parses the tar. The byte stream between them is ours to watch, because libarchive takes a tar that was cut off
// between two members for a complete one: only the block of zeros after the last member tells the difference.
//
// The bytes of the file are ours to hand out, too. libarchive would take off one compression after the other, and a few
// thousand bytes, compressed three times, keep it busy for hours without one byte of output: the first bytes say which
// filter is the only one. And it stops at what is no further member of a gzip file and leaves the rest unread.
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
#include "mlf/file.hpp"
#include "mlf/intake.hpp"
#include "mlf/libarchive.hpp"

namespace usmp::mlf {
namespace {

constexpr std::uint64_t block_bytes = 512;
// Of the padding behind the block of zeros: tar fills its last record up, of 10 KiB unless told otherwise.
constexpr std::uint64_t most_padding = std::uint64_t{64} << 20;

enum class Compression : std::uint8_t { none, gzip, xz, zstd };

const char* name_of(Compression compression) {
  switch (compression) {
    case Compression::none:
      return "tar";
    case Compression::gzip:
      return "gzip";
    case Compression::xz:
      return "xz";
    case Compression::zstd:
      return "zstd";
  }
  return "?";
}

// By the first bytes.
Compression compression_of(std::string_view front) {
  constexpr std::size_t gzip_header_bytes = 10;
  constexpr unsigned reserved_gzip_flags = 0xE0;
  if (front.starts_with("\x1F\x8B\x08") && front.size() >= gzip_header_bytes &&
      (static_cast<unsigned char>(front[3]) & reserved_gzip_flags) == 0) {
    return Compression::gzip;
  }
  if (front.starts_with(std::string_view("\xFD"
                                         "7zXZ\0",
                                         6)))
    return Compression::xz;
  if (front.starts_with("\x28\xB5\x2F\xFD")) return Compression::zstd;
  return Compression::none;
}

// What libarchive reads: a file, or bytes in memory.
class Source {
 public:
  explicit Source(std::string_view bytes) : chunk_(bytes), is_fresh_(true) {}
  explicit Source(File file) : file_(std::move(file)), buffer_(std::size_t{1} << 18) {
    chunk_ = fill();
    is_fresh_ = true;
  }

  // The beginning of the file, as long as nothing was taken.
  [[nodiscard]] std::string_view front() const { return chunk_; }

  // The next bytes, empty at the end; nothing if they cannot be read.
  std::optional<std::string_view> next() {
    if (!std::exchange(is_fresh_, false)) chunk_ = fill();
    if (fault_ != 0) return std::nullopt;
    const std::size_t last = chunk_.find_last_not_of('\0');
    if (last != std::string_view::npos) end_of_nonzero_ = taken_ + last + 1;
    taken_ += chunk_.size();
    return chunk_;
  }

  // Reads on to the end. Where the last byte ends that is not zero; nothing if the file cannot be read to its end.
  std::optional<std::uint64_t> end_of_nonzero() {
    for (;;) {
      const auto more = next();
      if (!more) return std::nullopt;
      if (more->empty()) return end_of_nonzero_;
    }
  }

  [[nodiscard]] int fault() const { return fault_; }  // an errno

 private:
  std::string_view fill() {
    if (!file_) return {};
    const std::size_t count = std::fread(buffer_.data(), 1, buffer_.size(), file_.get());
    if (count == 0 && std::ferror(file_.get()) != 0) fault_ = errno;
    return {buffer_.data(), count};
  }

  File file_;
  std::vector<char> buffer_;
  std::string_view chunk_;
  bool is_fresh_ = false;  // the chunk was not taken yet
  std::uint64_t taken_ = 0;
  std::uint64_t end_of_nonzero_ = 0;  // of what was taken
  int fault_ = 0;
};

la_ssize_t read_source(archive* raw, void* opaque, const void** chunk) {
  auto& source = *static_cast<Source*>(opaque);
  const auto bytes = source.next();
  if (!bytes) {
    archive_set_error(raw, source.fault(), "%s", std::strerror(source.fault()));
    return -1;
  }
  *chunk = bytes->data();
  return static_cast<la_ssize_t>(bytes->size());
}

// The decompressed tar, handed on in chunks of whole blocks, so that no tar block lies across two chunks.
class TarStream {
 public:
  TarStream(archive* raw, std::uint64_t limit) : raw_(raw), limit_(limit) {}

  // The next chunk, empty at the end. Nothing: a fault, which fault() describes.
  std::optional<std::string_view> next() {
    begin_ += filled_;
    filled_ = 0;
    while (filled_ < chunk_.size()) {
      const la_ssize_t count = archive_read_data(raw_, chunk_.data() + filled_, chunk_.size() - filled_);
      if (count < 0) {
        fault_ = fault_of(raw_);
        return std::nullopt;
      }
      if (count == 0) break;
      filled_ += static_cast<std::size_t>(count);
    }
    if (begin_ == 0) compression_ = compression_of({chunk_.data(), filled_});
    if (begin_ + filled_ > limit_) {
      fault_ = "the tar is longer than the limit of " + std::to_string(limit_) + " bytes";
      return std::nullopt;
    }
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

  // How what should be a tar is compressed itself.
  [[nodiscard]] Compression compression() const { return compression_; }

 private:
  void inspect() {
    if (expected_ < begin_ || expected_ + block_bytes > begin_ + filled_) return;
    const char* block = chunk_.data() + (expected_ - begin_);
    zeros_ = std::all_of(block, block + block_bytes, [](char c) { return c == 0; });
  }

  archive* raw_;
  std::uint64_t limit_;
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
  TarReader(archive* raw, const std::string& path, const Limits& limits, std::shared_ptr<const MappedFile> file)
      : intake_(path, limits), stream_(raw, stream_limit(limits)), tar_(archive_read_new()), file_(std::move(file)) {
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
        member.bytes = part.substr(0, at);
        append(member.bytes, *block, claimed);
        return false;
      }
      file_->release(part.substr(at, block->bytes.size()));
      at += block->bytes.size();
    }
    if (at != part.size()) {
      member.bytes = part.substr(0, at);
      return false;
    }
    Intake::take_part(file_, part, member);
    return true;
  }

  void read_bytes(std::string& bytes, std::uint64_t claimed) {
    while (const auto block = next_block(claimed)) append(bytes, *block, claimed);
    bytes.resize(static_cast<std::size_t>(claimed));
  }

  // Of a member.
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

  void append(std::string& bytes, const Block& block, std::uint64_t claimed) const {
    if (block.begin < bytes.size()) throw odd_parts(claimed);
    bytes.resize(static_cast<std::size_t>(block.begin));  // a hole of a sparse file
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
      if (!chunk) throw intake_.fault("", stream_.fault() + " after the last member");
      if (chunk->empty()) return;
      bytes += chunk->size();
    }
    throw intake_.fault(
        "", "more than " + std::to_string(most_padding) + " bytes follow the last member, which is the limit");
  }

  [[nodiscard]] std::uint64_t position() const {
    return static_cast<std::uint64_t>(archive_filter_bytes(tar_.get(), 0));
  }

  [[nodiscard]] std::string place() const {
    const std::string offset = "at byte " + std::to_string(position());
    return offset + (last_.empty() ? ", before any member" : ", after member '" + last_ + "'");
  }

  [[nodiscard]] Error header_fault() const {
    const std::string fault = fault_of(tar_.get());
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

  [[nodiscard]] Error member_fault() const {
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
};

// The one filter that the file's first bytes ask for; with it, libarchive looks for no others.
void add_filter(archive* raw, Compression compression) {
  if (compression == Compression::none) return;
  const int filter = compression == Compression::gzip ? ARCHIVE_FILTER_GZIP
                     : compression == Compression::xz ? ARCHIVE_FILTER_XZ
                                                      : ARCHIVE_FILTER_ZSTD;
  if (archive_read_append_filter(raw, filter) != ARCHIVE_OK) throw std::bad_alloc();  // nothing else can fail here
}

// libarchive stops in silence at what is no further member of a gzip file. gzip itself passes zeros over: tapes have
// them.
void require_end(archive* raw, Source& source, Compression compression, const std::string& path) {
  if (compression != Compression::gzip) return;
  const auto consumed = static_cast<std::uint64_t>(archive_filter_bytes(raw, -1));
  const std::optional<std::uint64_t> end = source.end_of_nonzero();
  if (!end)
    throw Error(ErrorKind::archive, {path, "", ""}, std::string("cannot be read: ") + std::strerror(source.fault()));
  if (*end <= consumed) return;
  throw Error(ErrorKind::archive, {path, "", ""},
              "other bytes follow the gzip data, from byte " + std::to_string(consumed) +
                  " on, expected the end of the file or more gzip data");
}

Archive read_tar(const std::string& path, const Limits& limits, Source source, bool is_file) {
  require_headroom();
  const auto unreadable = [&](const std::string& fault) {
    return Error(ErrorKind::archive, {path, "", ""}, "cannot be read: " + fault);
  };
  if (source.fault() != 0) throw unreadable(std::strerror(source.fault()));
  const Compression compression = compression_of(source.front());
  const ReadHandle raw(archive_read_new());
  if (!raw) throw std::bad_alloc();
  add_filter(raw.get(), compression);
  archive_read_support_format_raw(raw.get());
  archive_read_support_format_empty(raw.get());
  archive_entry* entry = nullptr;
  // Where decompressing fails at once, libarchive goes on as if the file were empty.
  if (archive_read_open(raw.get(), &source, nullptr, &read_source, nullptr) != ARCHIVE_OK ||
      archive_error_string(raw.get()) != nullptr) {
    throw unreadable(fault_of(raw.get()));
  }
  const int status = archive_read_next_header(raw.get(), &entry);
  if (status == ARCHIVE_EOF) {
    throw Error(ErrorKind::archive, {path, "", ""},
                path == "/dev/stdin" ? "is empty, expected an archive, or a plan where the command takes one"
                                     : "the file is empty, expected a tar archive");
  }
  if (status != ARCHIVE_OK) {
    // For every fault of a file's first bytes libarchive has words, but none where it cannot get bytes for itself.
    if (archive_error_string(raw.get()) == nullptr) throw std::bad_alloc();
    throw unreadable(fault_of(raw.get()));
  }
  auto file = is_file && compression == Compression::none ? MappedFile::open(path) : nullptr;
  Archive result = TarReader(raw.get(), path, limits, std::move(file)).read();
  require_end(raw.get(), source, compression, path);
  if (result.members.empty()) throw Error(ErrorKind::archive, {path, "", ""}, "the archive contains no files");
  return result;
}

}  // namespace

Archive read_tar_file(const std::string& path, const Limits& limits) {
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) throw Error(ErrorKind::usage, {path, "", ""}, std::string("cannot be read: ") + std::strerror(errno));
  return read_tar(path, limits, Source(std::move(file)), true);
}

Archive read_archive_bytes(std::string_view bytes, const std::string& path, const Limits& limits) {
  return read_tar(path, limits, Source(bytes), false);
}

}  // namespace usmp::mlf

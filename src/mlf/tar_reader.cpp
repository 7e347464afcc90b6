// Reading tars. Two libarchive readers stand in a row: the first takes the compression off ("raw" format), the second
// parses the tar. The byte stream between them is ours to watch, because libarchive takes a tar that was cut off
// between two members for a complete one: only the block of zeros behind the last member tells the difference.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "mlf/intake.hpp"
#include "mlf/libarchive.hpp"

namespace usmp::mlf {
namespace {

constexpr std::uint64_t block_bytes = 512;

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
  TarReader(archive* raw, const std::string& path, const Limits& limits)
      : intake_(path, limits), stream_(raw, stream_limit(limits)), tar_(archive_read_new()) {
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
    read_bytes(member.bytes, static_cast<std::uint64_t>(claimed));
    intake_.add(std::move(member));
  }

  void read_bytes(std::string& bytes, std::uint64_t claimed) {
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    for (int status = ARCHIVE_OK; status != ARCHIVE_EOF;) {
      status = archive_read_data_block(tar_.get(), &data, &size, &offset);
      if (status == ARCHIVE_EOF) break;
      if (status != ARCHIVE_OK) throw member_fault();
      const auto begin = static_cast<std::uint64_t>(offset);
      if (offset < 0 || begin < bytes.size() || begin > claimed || size > claimed - begin) {
        throw intake_.fault(last_, "its parts do not fit the " + std::to_string(claimed) + " bytes that it claims");
      }
      bytes.resize(static_cast<std::size_t>(begin));  // a hole of a sparse file
      Intake::reserve_ahead(bytes, claimed);
      bytes.append(static_cast<const char*>(data), size);
    }
    bytes.resize(static_cast<std::size_t>(claimed));
  }

  // Reads on behind the tar: a compressed file that was cut there is truncated all the same.
  void drain() {
    for (;;) {
      const auto chunk = stream_.next();
      if (!chunk) throw intake_.fault("", stream_.fault() + " behind the last member");
      if (chunk->empty()) return;
    }
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
  std::string last_;  // name of the member read last
};

Archive read_tar(const std::string& path, const Limits& limits, const std::function<int(archive*)>& open) {
  require_headroom();
  const ReadHandle raw(archive_read_new());
  archive_read_support_filter_gzip(raw.get());
  archive_read_support_filter_xz(raw.get());
  archive_read_support_filter_zstd(raw.get());
  archive_read_support_format_raw(raw.get());
  archive_read_support_format_empty(raw.get());
  archive_entry* entry = nullptr;
  if (open(raw.get()) != ARCHIVE_OK) {
    const std::string own = fault_of(raw.get());
    const int code = archive_errno(raw.get());
    throw Error(ErrorKind::archive, {path, "", ""}, "cannot be read: " + (code > 0 ? std::strerror(code) : own));
  }
  const int status = archive_read_next_header(raw.get(), &entry);
  if (status == ARCHIVE_EOF)
    throw Error(ErrorKind::archive, {path, "", ""}, "the file is empty, expected a tar archive");
  if (status != ARCHIVE_OK) {
    // For every fault of a file's first bytes libarchive has words, but none where it cannot get bytes for itself.
    if (archive_error_string(raw.get()) == nullptr) throw std::bad_alloc();
    throw Error(ErrorKind::archive, {path, "", ""}, "cannot be read: " + fault_of(raw.get()));
  }
  Archive result = TarReader(raw.get(), path, limits).read();
  if (result.members.empty()) throw Error(ErrorKind::archive, {path, "", ""}, "the archive holds no files");
  return result;
}

}  // namespace

Archive read_tar_file(const std::string& path, const Limits& limits) {
  return read_tar(path, limits, [&](archive* raw) { return archive_read_open_filename(raw, path.c_str(), 1 << 18); });
}

Archive read_archive_bytes(std::string_view bytes, const std::string& path, const Limits& limits) {
  return read_tar(path, limits,
                  [&](archive* raw) { return archive_read_open_memory(raw, bytes.data(), bytes.size()); });
}

}  // namespace usmp::mlf

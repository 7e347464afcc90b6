// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes members with libarchive, the same bytes for the same members.
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "mlf/file.hpp"
#include "mlf/libarchive.hpp"
#include "mlf/unpack.hpp"
#include "mlf/zstd_file.hpp"
#include "usmp/mlf/archive.hpp"

namespace usmp::mlf {
namespace {

constexpr int directory_mode = 0755;
constexpr std::size_t piece_bytes = std::size_t{1} << 18;

// By the ending of the name; nothing if it is not that of an archive.
std::optional<Compression> compression_by_name(std::string_view path) {
  if (path.ends_with(".tar")) return Compression::none;
  if (path.ends_with(".tar.gz") || path.ends_with(".tgz")) return Compression::gzip;
  if (path.ends_with(".tar.xz")) return Compression::xz;
  if (path.ends_with(".tar.zst")) return Compression::zstd;
  return std::nullopt;
}

la_ssize_t write_zstd(archive* tar, void* file, const void* bytes, std::size_t size) {
  if (static_cast<ZstdFile*>(file)->write({static_cast<const char*>(bytes), size})) {
    return static_cast<la_ssize_t>(size);
  }
  archive_set_error(tar, errno, "cannot be written");
  return -1;
}

class TarWriter {
 public:
  TarWriter(const std::string& path, const std::function<void()>& between)
      : path_(path), between_(between), tar_(archive_write_new()) {
    check(archive_write_set_format_pax_restricted(tar_.get()));
    check(archive_write_set_bytes_in_last_block(tar_.get(), 1));
    open(compression_by_name(path).value_or(Compression::none));
  }

  void add(const TarEntry& entry) {
    for (std::size_t slash = entry.name.find('/'); slash != std::string::npos;
         slash = entry.name.find('/', slash + 1)) {
      add_directory(entry.name.substr(0, slash));
    }
    if (entry.file.empty()) {
      add_header(entry.name, AE_IFREG, entry.mode, entry.bytes.size());
      add_bytes(entry.bytes);
    } else {
      add_file(entry);
    }
  }

  void finish() {
    check(archive_write_close(tar_.get()));
    // By itself: libarchive takes no notice of whether it can be closed.
    if (zstd_ && !zstd_->close()) throw fault_of_system(errno);
  }

 private:
  // Every compression has a check of the contents.
  void open(Compression compression) {
    switch (compression) {
      case Compression::none:
        break;
      case Compression::gzip:
        check(archive_write_add_filter_gzip(tar_.get()));
        check(archive_write_set_filter_option(tar_.get(), "gzip", "timestamp", nullptr));
        break;
      case Compression::xz:
        check(archive_write_add_filter_xz(tar_.get()));
        // The default level takes minutes for large models and gains a few per cent.
        check(archive_write_set_filter_option(tar_.get(), "xz", "compression-level", "1"));
        break;
      case Compression::zstd:
        if (!zstd_.emplace().open(path_)) throw fault_of_system(errno);
        check(archive_write_open(tar_.get(), &*zstd_, nullptr, write_zstd, nullptr));
        return;
    }
    check(archive_write_open_filename(tar_.get(), path_.c_str()));
  }

  void add_directory(const std::string& name) {
    if (directories_.insert(name).second) add_header(name + "/", AE_IFDIR, directory_mode, 0);
  }

  void add_header(const std::string& name, unsigned int type, std::uint32_t mode, std::uint64_t size) {
    require_headroom();
    const EntryHandle entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), ("./" + name).c_str());
    archive_entry_set_filetype(entry.get(), type);
    archive_entry_set_perm(entry.get(), mode & 0777);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
    archive_entry_set_mtime(entry.get(), 0, 0);
    archive_entry_set_uid(entry.get(), 0);
    archive_entry_set_gid(entry.get(), 0);
    // A warning is about a name that is no UTF-8: it is written as the bytes it is.
    if (archive_write_header(tar_.get(), entry.get()) < ARCHIVE_WARN) throw write_fault();
  }

  void add_bytes(std::string_view bytes) {
    while (!bytes.empty()) {
      if (between_) between_();
      const la_ssize_t count = archive_write_data(tar_.get(), bytes.data(), std::min(bytes.size(), piece_bytes));
      if (count <= 0) throw write_fault();
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  void add_file(const TarEntry& entry) {
    std::error_code status;
    std::uint64_t left = std::filesystem::file_size(entry.file, status);
    if (status) throw fault("cannot read " + entry.file + ": " + status.message());
    const File file(std::fopen(entry.file.c_str(), "rb"));
    if (!file) throw fault("cannot read " + entry.file + ": " + std::generic_category().message(errno));
    add_header(entry.name, AE_IFREG, entry.mode, left);
    std::array<char, 1 << 16> chunk{};
    while (left > 0) {
      const std::size_t count = std::fread(chunk.data(), 1, std::min<std::uint64_t>(left, chunk.size()), file.get());
      if (count == 0) throw fault("cannot read " + entry.file + " to its end");
      add_bytes({chunk.data(), count});
      left -= count;
    }
  }

  void check(int status) {
    if (status != ARCHIVE_OK) throw write_fault();
  }

  // What the system says is better than libarchive's "write error".
  [[nodiscard]] Error write_fault() const {
    const int code = archive_errno(tar_.get());
    const bool of_system = code > 0 && code != EINVAL && code != EILSEQ;
    const std::string own = fault_of(tar_.get());
    return of_system ? fault_of_system(code) : fault(own);
  }

  [[nodiscard]] Error fault_of_system(int code) const {
    if (code == ENOMEM) throw std::bad_alloc();
    return fault(std::generic_category().message(code));
  }

  [[nodiscard]] Error fault(const std::string& message) const {
    return {ErrorKind::output, {path_, "", ""}, "cannot be written: " + message};
  }

  ScopedCLocale locale_;
  std::string path_;
  const std::function<void()>& between_;
  std::optional<ZstdFile> zstd_;  // outlives what writes into it
  WriteHandle tar_;
  std::set<std::string> directories_;
};

}  // namespace

bool names_archive(std::string_view path) { return compression_by_name(path).has_value(); }

void write_tar(const std::string& path, const std::vector<TarEntry>& entries, const std::function<void()>& between) {
  TarWriter writer(path, between);
  for (const TarEntry& entry : entries) writer.add(entry);
  writer.finish();
}

}  // namespace usmp::mlf

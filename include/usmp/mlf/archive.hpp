// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Model Library Format archives as a list of members, and back. The only user of libarchive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/support/mapped_file.hpp"

namespace usmp::mlf {

[[nodiscard]] constexpr std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

struct Member {
  std::string name;   // normalised: no leading "./", '/' separators, no trailing '/'; never absolute, never with ".."
  std::string bytes;  // empty if there is a `file`
  std::uint32_t mode = 0644;  // permission bits
  std::string found_as = {};  // in a source tree: the file's path below Archive::path; else empty

  // Large C that need not be unpacked: its bytes are these of the file. `outline` is what is left of them without long
  // lists of numbers.
  std::shared_ptr<const MappedFile> file = {};
  std::string_view part = {};
  std::string outline = {};

  // Without the mark that editors put in front of UTF-8.
  [[nodiscard]] std::string_view text() const { return without_mark(file != nullptr ? part : std::string_view(bytes)); }
  // What there is to find in C: perhaps without long lists of numbers.
  [[nodiscard]] std::string_view code() const {
    return without_mark(file != nullptr ? std::string_view(outline) : bytes);
  }
  // To be changed.
  [[nodiscard]] std::string& own_bytes();

  [[nodiscard]] const std::string& shown_name() const { return found_as.empty() ? name : found_as; }
};

// Regular files only; directories are implied by the names.
struct Archive {
  std::string path;             // as given by the user
  bool is_directory = false;    // read from an extracted archive
  bool is_checkout = false;     // read from a source tree (checkout.hpp)
  std::vector<Member> members;  // a tar: in its order; a directory: sorted by name. Names are unique
  // Headers of a source tree that may be the model's and are not read: another one of the name is, or C files beside
  // them are those of another model.
  std::vector<std::string> passed_over = {};
  std::vector<std::string> other_sources = {};  // C files of a source tree that are not the model's: paths

  [[nodiscard]] const Member* find(std::string_view name) const;  // nullptr if absent. O(members)
};

// Limits on what a file may claim; beyond them the archive is refused.
struct Limits {
  std::uint64_t member_bytes = std::uint64_t{1} << 31;  // of one member
  std::uint64_t total_bytes = std::uint64_t{1} << 32;   // of all members
  std::uint64_t memory_bytes = std::uint64_t{1} << 29;  // of all members but large C that stays in its file
  std::uint64_t code_bytes = std::uint64_t{1} << 26;    // of large C without its lists of numbers, all members
  std::uint64_t hole_bytes = std::uint64_t{1} << 26;    // of sparse members, all of them
  std::size_t members = 100000;
  std::size_t name_bytes = 4096;  // of one member's name
};

// Reads a tar (plain, gzip, xz or zstd; PAX and GNU names) or the directory of an extracted one. Throws Error of kind
// usage if the file does not exist or cannot be opened, else of kind archive: not a tar, compressed more than once,
// other bytes after gzip data, truncated (names the member; a tar must end with a block of zeros), a link or device in
// a tar, a link out of the directory, a name that is absolute, has "..", a control character or a backslash, occurs
// twice, or is a file and a directory, a limit exceeded (checked against the claimed size before memory is allocated).
// Other names are kept as bytes, whatever the locale.
[[nodiscard]] Archive read_archive(const std::string& path, const Limits& limits = {});

// The same from bytes; `path` is used in messages only.
[[nodiscard]] Archive read_archive_bytes(std::string_view bytes, const std::string& path, const Limits& limits = {});

// The first of the names, in byte order, that another one needs as a directory ("a" if there is "a/b"); empty if there
// is none. A file system cannot hold both. O(n log n) comparisons.
[[nodiscard]] std::string_view file_as_directory(std::vector<std::string_view> names);

// Whether the ending is that of a tar, compressed or not.
[[nodiscard]] bool names_archive(std::string_view path);

// A member for the writer: its content is in memory or in a file.
struct TarEntry {
  std::string name;  // written with "./" in front, as TVM does
  std::string_view bytes;
  std::string file;  // if not empty, the content's path; `bytes` is ignored
  std::uint32_t mode = 0644;
};

// Writes an uncompressed PAX tar (plain ustar headers where they suffice) with fixed times and owners, directories
// before their files: same entries, same bytes. Compressed, with a check of the contents, if `path` ends in ".tar.gz",
// ".tgz", ".tar.xz" or ".tar.zst": a temporary name must keep the ending. On error a partial file may remain. `between`
// is called every few hundred KiB and may throw to stop. Throws Error of kind output.
void write_tar(const std::string& path, const std::vector<TarEntry>& entries,
               const std::function<void()>& between = {});

}  // namespace usmp::mlf

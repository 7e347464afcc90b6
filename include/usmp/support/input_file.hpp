// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Opening files to be read. All readers open here, so that none of them waits for a pipe's other end or reads a device
// for ever, and so that what was read is known when something is to be written.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "usmp/support/descriptor.hpp"

namespace usmp {

// Which file or directory it is, whatever path, link or mount leads there.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend auto operator<=>(const FileId&, const FileId&) = default;
};

// Links are followed. Nothing: there is none, or it cannot be looked at.
[[nodiscard]] std::optional<FileId> id_of(const std::string& path);

// "/dev/stdin" and the like, and links to them: names of open files rather than of places.
[[nodiscard]] bool names_open_file(const std::string& path);

// A regular file, opened without waiting, and asked what it is once it is open. What names an open file may be a pipe
// or a device as well: whoever started the program chose it.
class InputFile {
 public:
  // `noted`: whether FilesRead gets to know the file; not if only the beginning of what may be replaced is looked at.
  enum class Noted : bool { no, yes };
  explicit InputFile(const std::string& path, Noted noted = Noted::yes);

  [[nodiscard]] bool is_open() const { return file_.is_open(); }
  // If it is not open: why, "no such file or directory" or "is a pipe, expected a regular file".
  [[nodiscard]] const std::string& fault() const { return fault_; }
  [[nodiscard]] bool is_missing() const { return is_missing_; }
  [[nodiscard]] bool is_regular() const { return is_regular_; }
  // Bytes of a regular file; of others 0.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint32_t permissions() const { return permissions_; }
  [[nodiscard]] int descriptor() const { return file_.get(); }

  // At most `most` bytes; 0 at the end. Nothing if they cannot be read, see fault().
  [[nodiscard]] std::optional<std::size_t> read(char* bytes, std::size_t most);

 private:
  // What is wrong with the open file; empty if nothing is.
  [[nodiscard]] std::string examine(const std::string& path, Noted noted);

  Descriptor file_;
  std::string fault_;
  bool is_missing_ = false;
  bool is_regular_ = false;
  std::uint64_t size_ = 0;
  std::uint32_t permissions_ = 0;
};

// While it lives, the regular files that this thread reads are noted. There is one at a time: that made last.
class FilesRead {
 public:
  FilesRead();
  FilesRead(const FilesRead&) = delete;
  FilesRead& operator=(const FilesRead&) = delete;
  ~FilesRead();

  // That of this thread; nullptr if there is none.
  [[nodiscard]] static FilesRead* current();

  // What a file that is written to meanwhile does not keep.
  struct State {
    std::uint64_t size = 0;
    std::int64_t modified = 0;  // nanoseconds
    friend bool operator==(const State&, const State&) = default;
  };
  void note(const std::string& path, const FileId& id, const State& state);
  [[nodiscard]] bool holds(const FileId& file) const { return files_.contains(file); }
  // The path of one that is another file or has other contents now; not of those that are gone. O(files) system calls.
  [[nodiscard]] std::optional<std::string> changed() const;
  // The directories that the files lie in, up to the root. O(directories * depth) system calls.
  [[nodiscard]] std::set<FileId> directories_above() const;

 private:
  struct Noted {
    std::string path;
    State state;
  };

  FilesRead* before_ = nullptr;
  std::map<FileId, Noted> files_;
  std::set<std::string> directories_;  // as they were named
};

// The directory and those above it, up to the root; empty if it cannot be looked at.
[[nodiscard]] std::set<FileId> directories_from(const std::string& directory);

}  // namespace usmp

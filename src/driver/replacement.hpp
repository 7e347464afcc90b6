// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Putting a complete directory in the place of an old one.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "termination.hpp"
#include "usmp/support/descriptor.hpp"

namespace usmp::driver {

// Paths are strings here: std::filesystem::path, as GCC 12 has it, frees memory twice when there is none left to
// append.

// The one run that changes a directory's entries; others wait for it. Holds no longer than its owner lives, also if
// that is killed. On file systems without locks it does nothing.
class DirectoryLock {
 public:
  // Throws Error of kind output if the directory is still locked after a minute.
  DirectoryLock(const std::string& directory, const TerminationDeferred& termination);

  // Whether `directory` is still the one that is locked, and not one that has taken its place.
  [[nodiscard]] bool holds(const std::string& directory) const;

 private:
  Descriptor directory_;
};

// Moves a tree of files over another one, in as few steps as the files of others in it allow: a directory without any
// is exchanged in one step, in one with such files they stay and the rest is moved entry by entry. What was there
// before is at the tree's old place afterwards. When it goes without `keep` having been called, all steps are taken
// back.
class Replacement {
 public:
  // `own`: paths below the target of files that may go or be replaced; of these, the ones that the tree does not have
  // are removed from the target. `spare`: an empty directory on the same file system.
  Replacement(std::string tree, std::string target, std::set<std::string> own, std::string spare);
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement();

  // Which directories may be exchanged: the target as well, which must not hold the tree then; those below it; none, so
  // that whoever works in one of them still does, and files keep their access rights. Throws Error of kind
  // output: besides what the system refuses, a symbolic link or a file where a directory is needed (nothing is written
  // through links), a directory where a file is needed.
  enum class Exchange : std::uint8_t { target, below, none };
  void run(Exchange exchange);
  void keep() { renames_.clear(); }

 private:
  enum class Kind : bool { exchanged, moved };
  struct Rename {
    Kind kind;
    std::string from;  // moved: to `to`; exchanged: with `to`
    std::string to;
  };

  void place(const std::string& relative);
  void place_entries(const std::string& relative);
  void place_file(const std::string& relative);
  void replace_file(const std::string& relative);
  void remove_dropped();
  [[nodiscard]] bool holds_only_own(const std::string& directory, const std::string& relative) const;
  bool exchange_directory(const std::string& relative);
  bool exchange(const std::string& relative);
  void move(const std::string& from, const std::string& to);
  [[nodiscard]] std::string next_spare();
  void take_back() noexcept;

  Exchange exchange_ = Exchange::none;
  std::string tree_;
  std::string target_;
  std::set<std::string> own_files_;
  std::set<std::string> own_directories_;  // those that own files lie in
  std::vector<std::string> dropped_;
  std::string spare_;
  std::size_t spared_ = 0;
  std::vector<Rename> renames_;
};

// Gives what is at `to` the access rights of `from`, and its owner and group as far as the system allows it. Throws
// Error of kind output if it does not for root.
void copy_mode(const std::string& from, const std::string& to);

// Gives `from` the name `to`; false if that name is taken. Throws Error of kind output.
[[nodiscard]] bool move_to_free_name(const std::string& from, const std::string& to);

}  // namespace usmp::driver

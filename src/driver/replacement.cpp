// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Exchanges directories by renaming, and undoes that if something fails.
#include "replacement.hpp"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "directory.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/file_sink.hpp"

namespace usmp::driver {
namespace {

constexpr int lock_pause_ms = 20;
constexpr int lock_patience_ms = 60000;

bool rename_as(const std::string& from, const std::string& to, unsigned how) {
  return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), how) == 0;
}

// Whether the file system does not know how, rather than that this time it went wrong.
bool is_unsupported(int error) { return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP; }

// The type of what stands there, links not followed; 0 if there is nothing.
mode_t type_of(const std::string& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) == 0) return status.st_mode & S_IFMT;
  if (errno == ENOENT || errno == ENOTDIR) return 0;
  fail_output(path, "cannot be examined");
}

bool is_real_directory(const std::string& path) { return type_of(path) == S_IFDIR; }

bool is_there(const std::string& path) { return type_of(path) != 0; }

// What `relative` names below `root`, which is `root` itself if it is empty.
std::string join(const std::string& root, const std::string& relative) {
  if (root.empty() || relative.empty()) return root + relative;
  return root + "/" + relative;
}

[[noreturn]] void refuse(const std::string& path, const std::string& message) {
  throw Error(ErrorKind::output, {path, {}, {}}, message);
}

void require_directory(const std::string& path) {
  const mode_t type = type_of(path);
  if (type == S_IFLNK) {
    refuse(path, "is a symbolic link, expected a directory: nothing is written through links in the output directory");
  }
  if (type != S_IFDIR) refuse(path, "is a file, expected a directory or a new name");
}

// Whether every directory above `relative` is one and no link.
bool lies_in_directories(const std::string& root, const std::string& relative) {
  for (std::size_t slash = relative.find('/'); slash != std::string::npos; slash = relative.find('/', slash + 1)) {
    if (!is_real_directory(join(root, relative.substr(0, slash)))) return false;
  }
  return true;
}

// What takes a directory's place can be entered by whom that one could.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the names of the files written.
void copy_access(const std::string& from, const std::string& to) {
  copy_mode(from, to);
  for (const std::string& name : names_in(to)) {
    if (is_real_directory(join(to, name)) && is_real_directory(join(from, name)))
      copy_access(join(from, name), join(to, name));
  }
}

}  // namespace

// Who may not give files away keeps them, but in the group of the old one, if it is one of his.
void copy_mode(const std::string& from, const std::string& to) {
  constexpr mode_t access = 07777;
  constexpr mode_t group_access = 07707;
  struct stat status = {};
  struct stat own = {};
  if (::stat(from.c_str(), &status) != 0 || ::stat(to.c_str(), &own) != 0) return;
  const bool is_in_group =
      own.st_gid == status.st_gid || ::chown(to.c_str(), static_cast<uid_t>(-1), status.st_gid) == 0;
  const bool is_owned = own.st_uid == status.st_uid || ::chown(to.c_str(), status.st_uid, static_cast<gid_t>(-1)) == 0;
  if (!is_owned && ::geteuid() == 0) fail_output(to, "cannot be given to the owner of " + from);
  ::chmod(to.c_str(), status.st_mode & (is_in_group ? access : group_access));
}

DirectoryLock::DirectoryLock(const std::string& directory, const TerminationDeferred& termination)
    : directory_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  for (int waited = 0; directory_.is_open() && ::flock(directory_.get(), LOCK_EX | LOCK_NB) != 0;
       waited += lock_pause_ms) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return;
    if (waited >= lock_patience_ms) refuse(directory, "another run has been writing into this directory for a minute");
    termination.check();
    ::poll(nullptr, 0, lock_pause_ms);
  }
}

bool DirectoryLock::holds(const std::string& directory) const {
  struct stat opened = {};
  struct stat named = {};
  if (::stat(directory.c_str(), &named) != 0) return false;
  if (!directory_.is_open() || ::fstat(directory_.get(), &opened) != 0) return true;  // there are no locks
  return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

bool move_to_free_name(const std::string& from, const std::string& to) {
  if (rename_as(from, to, RENAME_NOREPLACE)) return true;
  if (is_unsupported(errno)) {
    if (is_there(to)) return false;
    if (std::rename(from.c_str(), to.c_str()) == 0) return true;
  }
  if (errno == EEXIST || errno == ENOTEMPTY) return false;
  fail_output(to, "cannot be moved into place");
}

Replacement::Replacement(std::string tree, std::string target, std::set<std::string> own, std::string spare)
    : tree_(std::move(tree)), target_(std::move(target)), own_files_(std::move(own)), spare_(std::move(spare)) {
  for (const std::string& file : own_files_) {
    for (std::size_t slash = file.find('/'); slash != std::string::npos; slash = file.find('/', slash + 1)) {
      own_directories_.insert(file.substr(0, slash));
    }
    if (!is_there(join(tree_, file))) dropped_.push_back(file);
  }
}

Replacement::~Replacement() { take_back(); }

void Replacement::run(Exchange exchange) {
  exchange_ = exchange;
  if (exchange == Exchange::target) {
    place({});
  } else {
    place_entries({});
  }
  remove_dropped();
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the names of the files written.
void Replacement::place(const std::string& relative) {
  const std::string target = join(target_, relative);
  if (!is_real_directory(join(tree_, relative))) return place_file(relative);
  if (!is_there(target)) return move(join(tree_, relative), target);
  require_directory(target);
  if (exchange_ != Exchange::none && holds_only_own(target, relative) && exchange_directory(relative)) return;
  place_entries(relative);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the names of the files written.
void Replacement::place_entries(const std::string& relative) {
  for (const std::string& name : names_in(join(tree_, relative))) place(join(relative, name));
}

void Replacement::place_file(const std::string& relative) {
  const std::string target = join(target_, relative);
  if (!is_there(target)) return move(join(tree_, relative), target);
  if (is_real_directory(target)) refuse(target, "is a directory, expected a file or a new name");
  if (exchange_ == Exchange::none) copy_mode(target, join(tree_, relative));
  if (exchange(relative)) return;
  if (!is_unsupported(errno)) fail_output(target, "cannot be moved into place");
  replace_file(relative);
}

// Where files cannot be exchanged: the old one gets a second name, if the file system has such, to be taken back by.
void Replacement::replace_file(const std::string& relative) {
  const std::string target = join(target_, relative);
  const std::string old = next_spare();
  renames_.push_back({Kind::moved, target, old});
  if (::link(target.c_str(), old.c_str()) != 0) renames_.pop_back();
  if (std::rename(join(tree_, relative).c_str(), target.c_str()) != 0) {
    fail_output(target, "cannot be moved into place");
  }
}

void Replacement::remove_dropped() {
  for (const std::string& file : dropped_) {
    const std::string target = join(target_, file);
    if (!lies_in_directories(target_, file) || !is_there(target) || is_real_directory(target)) continue;
    move(target, next_spare());
  }
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the names of the files written.
bool Replacement::holds_only_own(const std::string& directory, const std::string& relative) const {
  for (const std::string& name : names_in(directory)) {
    const std::string below = join(relative, name);
    if (!is_real_directory(join(directory, name))) {
      if (!own_files_.contains(below)) return false;
    } else if (!own_directories_.contains(below) || !holds_only_own(join(directory, name), below)) {
      return false;
    }
  }
  return true;
}

bool Replacement::exchange_directory(const std::string& relative) {
  const std::string target = join(target_, relative);
  copy_access(target, join(tree_, relative));
  if (!exchange(relative)) return false;
  if (holds_only_own(join(tree_, relative), relative)) return true;
  // Somebody's file came in between.
  const Rename rename = renames_.back();
  if (!rename_as(rename.from, rename.to, RENAME_EXCHANGE)) fail_output(target, "cannot be moved into place");
  renames_.pop_back();
  return false;
}

bool Replacement::exchange(const std::string& relative) {
  if (relative.empty()) {
    renames_.push_back({Kind::exchanged, tree_, target_});
  } else {
    renames_.push_back({Kind::exchanged, join(tree_, relative), join(target_, relative)});
  }
  if (rename_as(renames_.back().from, renames_.back().to, RENAME_EXCHANGE)) return true;
  const int error = errno;
  renames_.pop_back();
  errno = error;
  return false;
}

void Replacement::move(const std::string& from, const std::string& to) {
  renames_.push_back({Kind::moved, from, to});
  bool moved = false;
  try {
    moved = move_to_free_name(from, to);
  } catch (...) {
    renames_.pop_back();
    throw;
  }
  if (moved) return;
  renames_.pop_back();
  refuse(to, "appeared while this run was writing");
}

std::string Replacement::next_spare() { return join(spare_, std::to_string(spared_++)); }

void Replacement::take_back() noexcept {
  for (; !renames_.empty(); renames_.pop_back()) {
    const Rename& rename = renames_.back();
    if (rename.kind == Kind::exchanged) {
      rename_as(rename.from, rename.to, RENAME_EXCHANGE);
    } else {
      std::rename(rename.to.c_str(), rename.from.c_str());
    }
  }
}

}  // namespace usmp::driver

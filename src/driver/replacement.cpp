#include "replacement.hpp"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "directory.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/file_sink.hpp"

namespace usmp::driver {
namespace {

namespace fs = std::filesystem;

constexpr int lock_pause_ms = 20;
constexpr int lock_patience_ms = 60000;

bool rename_as(const fs::path& from, const fs::path& to, unsigned how) {
  return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), how) == 0;
}

// Whether the file system does not know how, rather than that this time it went wrong.
bool is_unsupported(int error) { return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP; }

bool is_real_directory(const fs::path& path) { return fs::is_directory(fs::symlink_status(path)); }

bool is_there(const fs::path& path) { return fs::exists(fs::symlink_status(path)); }

[[noreturn]] void refuse(const fs::path& path, const std::string& message) {
  throw Error(ErrorKind::output, {path.string(), {}, {}}, message);
}

void require_directory(const fs::path& path) {
  const fs::file_status status = fs::symlink_status(path);
  if (fs::is_symlink(status)) {
    refuse(path, "is a symbolic link, expected a directory: nothing is written through links in the output directory");
  }
  if (!fs::is_directory(status)) refuse(path, "is a file, expected a directory or a new name");
}

// Whether every directory above `relative` is one and no link.
bool lies_in_directories(const fs::path& root, const fs::path& relative) {
  fs::path path = root;
  for (const fs::path& part : relative.parent_path()) {
    path /= part;
    if (!is_real_directory(path)) return false;
  }
  return true;
}

// What takes a directory's place can be entered by whom that one could.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the names of the files written.
void copy_access(const fs::path& from, const fs::path& to) {
  std::error_code ignored;
  fs::permissions(to, fs::status(from).permissions(), ignored);
  for (const std::string& name : names_in(to)) {
    if (is_real_directory(to / name) && is_real_directory(from / name)) copy_access(from / name, to / name);
  }
}

}  // namespace

DirectoryLock::DirectoryLock(const fs::path& directory, const TerminationDeferred& termination)
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

bool DirectoryLock::holds(const fs::path& directory) const {
  struct stat opened = {};
  struct stat named = {};
  if (::stat(directory.c_str(), &named) != 0) return false;
  if (!directory_.is_open() || ::fstat(directory_.get(), &opened) != 0) return true;  // there are no locks
  return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

bool move_to_free_name(const fs::path& from, const fs::path& to) {
  if (rename_as(from, to, RENAME_NOREPLACE)) return true;
  if (is_unsupported(errno) && !is_there(to) && std::rename(from.c_str(), to.c_str()) == 0) return true;
  if (errno == EEXIST || errno == ENOTEMPTY) return false;
  fail_output(to.string(), "cannot be put in place");
}

Replacement::Replacement(fs::path tree, fs::path target, std::set<std::string> own, fs::path spare)
    : tree_(std::move(tree)), target_(std::move(target)), own_files_(std::move(own)), spare_(std::move(spare)) {
  for (const std::string& file : own_files_) {
    for (fs::path above = fs::path(file).parent_path(); !above.empty(); above = above.parent_path()) {
      own_directories_.insert(above.generic_string());
    }
    if (!is_there(tree_ / file)) dropped_.push_back(file);
  }
}

Replacement::~Replacement() { take_back(); }

void Replacement::run(bool in_one_step) {
  if (in_one_step) {
    place({});
  } else {
    place_entries({});
  }
  remove_dropped();
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the names of the files written.
void Replacement::place(const fs::path& relative) {
  const fs::path target = relative.empty() ? target_ : target_ / relative;
  if (!is_real_directory(tree_ / relative)) return place_file(relative);
  if (!is_there(target)) return move(tree_ / relative, target);
  require_directory(target);
  if (holds_only_own(target, relative) && exchange_directory(relative)) return;
  place_entries(relative);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the names of the files written.
void Replacement::place_entries(const fs::path& relative) {
  for (const std::string& name : names_in(tree_ / relative)) place(relative / name);
}

void Replacement::place_file(const fs::path& relative) {
  const fs::path target = target_ / relative;
  if (!is_there(target)) return move(tree_ / relative, target);
  if (is_real_directory(target)) refuse(target, "is a directory, expected a file or a new name");
  if (exchange(relative)) return;
  if (!is_unsupported(errno)) fail_output(target.string(), "cannot be put in place");
  replace_file(relative);
}

// Where files cannot be exchanged: the old one gets a second name, if the file system has such, to be taken back by.
void Replacement::replace_file(const fs::path& relative) {
  const fs::path target = target_ / relative;
  const fs::path old = next_spare();
  steps_.push_back({Kind::moved, target, old});
  if (::link(target.c_str(), old.c_str()) != 0) steps_.pop_back();
  if (std::rename((tree_ / relative).c_str(), target.c_str()) != 0) {
    fail_output(target.string(), "cannot be put in place");
  }
}

void Replacement::remove_dropped() {
  for (const std::string& file : dropped_) {
    const fs::path target = target_ / file;
    if (!lies_in_directories(target_, file) || !is_there(target) || is_real_directory(target)) continue;
    move(target, next_spare());
  }
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the names of the files written.
bool Replacement::holds_only_own(const fs::path& directory, const fs::path& relative) const {
  const std::vector<std::string> names = names_in(directory);
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    const std::string below = (relative / name).generic_string();
    if (!is_real_directory(directory / name)) return own_files_.contains(below);
    return own_directories_.contains(below) && holds_only_own(directory / name, below);
  });
}

bool Replacement::exchange_directory(const fs::path& relative) {
  const fs::path target = relative.empty() ? target_ : target_ / relative;
  copy_access(target, tree_ / relative);
  if (!exchange(relative)) return false;
  if (holds_only_own(tree_ / relative, relative)) return true;
  // Somebody's file came in between.
  const Step step = steps_.back();
  if (!rename_as(step.from, step.to, RENAME_EXCHANGE)) fail_output(target.string(), "cannot be put in place");
  steps_.pop_back();
  return false;
}

bool Replacement::exchange(const fs::path& relative) {
  if (relative.empty()) {
    steps_.push_back({Kind::exchanged, tree_, target_});
  } else {
    steps_.push_back({Kind::exchanged, tree_ / relative, target_ / relative});
  }
  if (rename_as(steps_.back().from, steps_.back().to, RENAME_EXCHANGE)) return true;
  const int error = errno;
  steps_.pop_back();
  errno = error;
  return false;
}

void Replacement::move(const fs::path& from, const fs::path& to) {
  steps_.push_back({Kind::moved, from, to});
  bool moved = false;
  try {
    moved = move_to_free_name(from, to);
  } catch (...) {
    steps_.pop_back();
    throw;
  }
  if (moved) return;
  steps_.pop_back();
  refuse(to, "appeared while this run was writing");
}

fs::path Replacement::next_spare() { return spare_ / std::to_string(spared_++); }

void Replacement::take_back() noexcept {
  for (; !steps_.empty(); steps_.pop_back()) {
    const Step& step = steps_.back();
    if (step.kind == Kind::exchanged) {
      rename_as(step.from, step.to, RENAME_EXCHANGE);
    } else {
      std::rename(step.to.c_str(), step.from.c_str());
    }
  }
}

}  // namespace usmp::driver

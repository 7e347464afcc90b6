// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes, marks and removes temporary directories.
#include "staging.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "directory.hpp"
#include "usmp/support/file_sink.hpp"

namespace usmp::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = ".usmp-plan-";
constexpr std::size_t random_letters = 6;

bool is_staging_name(std::string_view name) {
  return name.starts_with(prefix) && name.size() == prefix.size() + random_letters;
}

Descriptor open_directory(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// What tells our directories from those of others: a file in it, and until that is there the access rights, with which
// it is made.
constexpr const char* mark_name = ".written-by-usmp-plan";
constexpr mode_t marked_mode = 01700;

bool has_mark(const Descriptor& directory) {
  struct stat status = {};
  return ::fstatat(directory.get(), mark_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
         status.st_size == 0 && status.st_uid == ::geteuid();
}

bool has_marked_mode(const Descriptor& directory) {
  constexpr mode_t access = 07777;
  struct stat status = {};
  return ::fstat(directory.get(), &status) == 0 && (status.st_mode & access) == marked_mode;
}

std::string random_name() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::array<unsigned char, random_letters> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    fail_output("/dev/urandom", "gives no random numbers");
  }
  std::string name;
  for (const unsigned char byte : bytes) name += letters[byte % letters.size()];
  return name;
}

// Whether `path` still names the open directory.
bool is_at(const Descriptor& directory, const std::string& path) {
  struct stat opened = {};
  struct stat named = {};
  return ::fstat(directory.get(), &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

bool is_own(const Descriptor& directory) {
  struct stat opened = {};
  return ::fstat(directory.get(), &opened) == 0 && opened.st_uid == ::geteuid();
}

// Best effort: what cannot be removed stays.
void remove_stale(const fs::path& parent) {
  std::vector<std::string> names;
  try {
    names = names_in(parent.string());
  } catch (const fs::filesystem_error&) {
    return;
  }
  for (const std::string& name : names) {
    if (!is_staging_name(name)) continue;
    const std::string path = (parent / name).string();
    const Descriptor stale = open_directory(path);
    if (!stale.is_open() || !is_own(stale)) continue;
    if (::flock(stale.get(), LOCK_EX | LOCK_NB) != 0 || !is_at(stale, path)) continue;
    if (has_mark(stale)) {
      remove_tree(path.c_str(), mark_name);
    } else if (has_marked_mode(stale)) {
      ::rmdir(path.c_str());  // killed before there was anything in it
    }
  }
}

}  // namespace

Staging::Staging(const fs::path& parent) {
  remove_stale(parent);
  make_directory(parent);
}

Staging::~Staging() { remove_tree(path_.c_str(), mark_name); }

// Between making and locking another run may take the directory for a stale one; then it is gone, and there is another.
void Staging::make_directory(const fs::path& parent) {
  for (;;) {
    path_ = (parent / (std::string(prefix) + random_name())).string();
    const std::string mark_path = path_ + "/" + mark_name;  // behind mkdir nothing may throw
    if (::mkdir(path_.c_str(), marked_mode) != 0) {
      if (errno == EEXIST) continue;
      fail_output(parent.string(), "is not writable");
    }
    lock_ = open_directory(path_);
    if (!lock_.is_open() && errno == ENOENT) continue;
    if (lock_.is_open()) ::flock(lock_.get(), LOCK_EX);
    if (lock_.is_open() && !is_at(lock_, path_)) continue;
    const Descriptor mark(::open(mark_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (mark.is_open()) return;
    const int error = errno;
    ::rmdir(path_.c_str());
    errno = error;
    fail_output(parent.string(), "is not writable");
  }
}

}  // namespace usmp::driver

// SPDX-License-Identifier: Apache-2.0
#include "staging.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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
    if (::flock(stale.get(), LOCK_EX | LOCK_NB) == 0 && is_at(stale, path)) remove_tree(path.c_str());
  }
}

}  // namespace

Staging::Staging(const fs::path& parent) {
  remove_stale(parent);
  make_directory(parent);
}

Staging::~Staging() { remove_tree(path_.c_str()); }

// Between making and locking another run may take the directory for a stale one; then it is gone, and there is another.
void Staging::make_directory(const fs::path& parent) {
  const std::string pattern = (parent / (std::string(prefix) + std::string(random_letters, 'X'))).string();
  for (;;) {
    path_ = pattern;
    if (::mkdtemp(path_.data()) == nullptr) fail_output(parent.string(), "is not writable");
    lock_ = open_directory(path_);
    if (!lock_.is_open() && errno == ENOENT) continue;
    if (lock_.is_open()) ::flock(lock_.get(), LOCK_EX);
    if (!lock_.is_open() || is_at(lock_, path_)) return;
  }
}

}  // namespace usmp::driver

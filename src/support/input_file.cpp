// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Opens files to be read, notes which they were, and walks up from them.
#include "usmp/support/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>

#include "usmp/support/characters.hpp"

namespace usmp {
namespace {

thread_local FilesRead* current_files = nullptr;

FileId id_of(const struct stat& status) {
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)};
}

FilesRead::State state_of(const struct stat& status) {
  constexpr std::int64_t nanoseconds = 1000000000;
  return {static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec * nanoseconds + status.st_mtim.tv_nsec};
}

int open_without_waiting(const std::string& path) {
  int file = -1;
  do {
    file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } while (file < 0 && errno == EINTR);
  return file;
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "is a directory, expected a file";
  if (S_ISFIFO(mode)) return "is a pipe, expected a regular file";
  if (S_ISSOCK(mode)) return "is a socket, expected a regular file";
  return "is a device, expected a regular file";
}

// Paths are strings: std::filesystem::path, as GCC 12 has it, frees memory twice when there is none left to append.
std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return path.substr(0, slash + 1);
}

// Without "." and "..".
std::string plain(const std::string& path) { return std::filesystem::path(path).lexically_normal().string(); }

// Why the path could not be opened.
std::string open_fault(const std::string& path, int error) {
  if (error == ENOMEM) throw std::bad_alloc();
  if (error == ENOENT) return "no such file or directory";
  struct stat status = {};
  if (error == ENXIO && ::stat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) return kind_of(status.st_mode);
  return std::generic_category().message(error);
}

// The target of a link; empty if it is none.
std::string link_target(const std::string& path) {
  std::string target(4096, '\0');
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  target.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return target;
}

// The name of an open file that the path is or leads to by links; empty if there is none.
std::string open_name(const std::string& path) {
  constexpr int most_links = 40;  // as Linux follows
  std::string name = path;
  for (int i = 0; i <= most_links; ++i) {
    if (name == "/dev/stdin" || name == "/dev/stdout" || name == "/dev/stderr" || name.starts_with("/dev/fd/") ||
        name.starts_with("/proc/self/fd/")) {
      return name;
    }
    const std::string target = link_target(name);
    if (target.empty()) return {};
    name = target.starts_with('/') ? target : plain(directory_of(name) + target);
  }
  return {};
}

// The number of the open file; -1 if the name has none.
int descriptor_in(const std::string& name) {
  if (name == "/dev/stdin") return STDIN_FILENO;
  if (name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  const std::string digits = name.substr(name.rfind('/') + 1);
  constexpr std::size_t most_digits = 9;
  const bool is_number = !digits.empty() && digits.size() <= most_digits && std::ranges::all_of(digits, is_digit);
  return is_number ? std::stoi(digits) : -1;
}

// Why an open file that is none of the file system's cannot be read to its end; nullptr if it can.
const char* fault_of_open(const std::string& name, const struct stat& status) {
  const int descriptor = descriptor_in(name);
  const int flags = descriptor < 0 ? -1 : ::fcntl(descriptor, F_GETFL);
  if (flags >= 0 && (static_cast<unsigned>(flags) & static_cast<unsigned>(O_ACCMODE)) == O_WRONLY)
    return "is not open for reading";
  if (!S_ISCHR(status.st_mode)) return S_ISFIFO(status.st_mode) ? nullptr : kind_of(status.st_mode);
  struct stat null = {};
  const bool is_null = ::stat("/dev/null", &null) == 0 && null.st_rdev == status.st_rdev;
  return is_null || ::isatty(descriptor) == 1 ? nullptr : "is a device, expected a file or a pipe";
}

}  // namespace

std::optional<FileId> id_of(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return id_of(status);
}

bool names_open_file(const std::string& path) { return !open_name(path).empty(); }

InputFile::InputFile(const std::string& path, Noted noted) : file_(open_without_waiting(path)) {
  const int error = errno;
  is_missing_ = !file_.is_open() && error == ENOENT;
  fault_ = file_.is_open() ? examine(path, noted) : open_fault(path, error);
  if (!fault_.empty()) file_.close();
}

std::string InputFile::examine(const std::string& path, Noted noted) {
  struct stat status = {};
  if (::fstat(file_.get(), &status) != 0) return std::generic_category().message(errno);
  constexpr mode_t access = 0777;
  permissions_ = static_cast<std::uint32_t>(status.st_mode & access);
  is_regular_ = S_ISREG(status.st_mode);
  if (is_regular_) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    if (noted == Noted::yes && current_files != nullptr) {
      current_files->note(path, id_of(status), state_of(status));
    }
  } else {
    const std::string name = S_ISDIR(status.st_mode) ? std::string() : open_name(path);
    if (name.empty()) return kind_of(status.st_mode);
    if (const char* fault = fault_of_open(name, status)) return fault;
  }
  const int flags = ::fcntl(file_.get(), F_GETFL);
  if (flags >= 0) ::fcntl(file_.get(), F_SETFL, flags & ~O_NONBLOCK);
  return {};
}

std::optional<std::size_t> InputFile::read(char* bytes, std::size_t most) {
  for (;;) {
    const ssize_t count = ::read(file_.get(), bytes, most);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EINTR) continue;
    if (errno == ENOMEM) throw std::bad_alloc();
    fault_ = std::generic_category().message(errno);
    return std::nullopt;
  }
}

FilesRead::FilesRead() : before_(current_files) { current_files = this; }

FilesRead::~FilesRead() { current_files = before_; }

FilesRead* FilesRead::current() { return current_files; }

void FilesRead::note(const std::string& path, const FileId& id, const State& state) {
  files_.emplace(id, Noted{path, state});  // as it was when it was read first
  directories_.insert(directory_of(path));
}

std::optional<std::string> FilesRead::changed() const {
  for (const auto& [id, file] : files_) {
    struct stat status = {};
    if (::stat(file.path.c_str(), &status) != 0) continue;
    if (id_of(status) != id || state_of(status) != file.state) return file.path;
  }
  return std::nullopt;
}

std::set<FileId> FilesRead::directories_above() const {
  std::set<FileId> all;
  for (const std::string& directory : directories_) all.merge(directories_from(directory));
  return all;
}

std::set<FileId> directories_from(const std::string& directory) {
  std::set<FileId> ids;
  Descriptor at(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  while (at.is_open()) {
    struct stat status = {};
    if (::fstat(at.get(), &status) != 0 || !ids.insert(id_of(status)).second) break;  // the root is above itself
    at = Descriptor(::openat(at.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  return ids;
}

}  // namespace usmp

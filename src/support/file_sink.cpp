// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes with POSIX calls in blocks of 64 KiB, and looks at what each of them returns.
#include "usmp/support/file_sink.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "usmp/support/error.hpp"

namespace usmp {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16;
constexpr mode_t any_access = 0666;  // less what the umask takes away
constexpr mode_t any_directory_access = 0777;

int open_file(const std::string& path, FileSink::Mode mode) {
  const int how = mode == FileSink::Mode::append ? O_APPEND : O_TRUNC;
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, any_access);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

// Without std::filesystem, which as GCC 12 has it ends the program, or frees memory twice, when there is none left.
void make_directories_above(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string directory = path.substr(0, slash);
    struct stat status = {};
    if (::stat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) continue;
    if (::mkdir(directory.c_str(), any_directory_access) != 0) fail_output(directory, "cannot be created");
  }
}

}  // namespace

void fail_output(const std::string& path, const std::string& what) {
  const int code = errno;
  if (code == ENOMEM) throw std::bad_alloc();
  throw Error(ErrorKind::output, {path, {}, {}}, what + ": " + std::strerror(code));
}

FileSink::FileSink(const std::string& path, Mode mode, std::function<void()> between)
    : path_(path), between_(std::move(between)), descriptor_(open_file(path_, mode)) {
  if (descriptor_ < 0) fail_output(path_, "cannot be created");
}

FileSink::FileSink(int descriptor, const std::string& path) : path_(path), descriptor_(descriptor) {
  if (descriptor_ < 0) fail_output(path_, "cannot be written");
}

FileSink::~FileSink() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileSink::write(std::string_view text) {
  if (buffer_.size() + text.size() >= block_bytes) {
    write_all(std::exchange(buffer_, {}));
    for (; text.size() >= block_bytes; text.remove_prefix(block_bytes)) write_all(text.substr(0, block_bytes));
  }
  buffer_ += text;
}

void FileSink::close() {
  write_all(buffer_);
  // Linux closes the file even when it reports an interruption.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail_output(path_, "writing failed");
}

void FileSink::write_all(std::string_view text) {
  if (between_) between_();
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor_, text.data(), text.size());
    if (count < 0 && errno != EINTR) fail_output(path_, "writing failed");
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
}

void write_files(const std::string& root, const std::vector<OutputFile>& files, const std::function<void()>& between) {
  for (const OutputFile& file : files) {
    const std::string path = root + "/" + file.path;
    make_directories_above(path);
    FileSink sink(path, FileSink::Mode::replace, between);
    file.write(sink);
    sink.close();
  }
}

}  // namespace usmp

#include "usmp/support/file_sink.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

#include "usmp/support/error.hpp"

namespace usmp {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t block_bytes = std::size_t{1} << 16;
constexpr mode_t any_access = 0666;  // less what the umask takes away

int open_file(const std::string& path, FileSink::Mode mode) {
  const int how = mode == FileSink::Mode::append ? O_APPEND : O_TRUNC;
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, any_access);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
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
    const fs::path path = fs::path(root) / file.path;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) {
      errno = error.value();
      fail_output(path.parent_path().string(), "cannot be created");
    }
    FileSink sink(path.string(), FileSink::Mode::replace, between);
    file.write(sink);
    sink.close();
  }
}

}  // namespace usmp

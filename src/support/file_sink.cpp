#include "usmp/support/file_sink.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "usmp/support/error.hpp"

namespace usmp {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::output, {path, {}, {}}, what + ": " + std::strerror(errno));
}

}  // namespace

FileSink::FileSink(const std::string& path, Mode mode)
    : path_(path), file_(std::fopen(path.c_str(), mode == Mode::append ? "ab" : "wb")) {
  if (file_ == nullptr) fail(path_, "cannot be created");
}

FileSink::~FileSink() {
  if (file_ != nullptr) std::fclose(file_);
}

void FileSink::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail(path_, "writing failed");
}

void FileSink::close() {
  std::FILE* file = std::exchange(file_, nullptr);
  if (std::fclose(file) != 0) fail(path_, "writing failed");
}

void write_files(const std::string& root, const std::vector<OutputFile>& files) {
  for (const OutputFile& file : files) {
    const fs::path path = fs::path(root) / file.path;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) {
      throw Error(ErrorKind::output, {path.parent_path().string(), {}, {}}, "cannot be created: " + error.message());
    }
    FileSink sink(path.string());
    file.write(sink);
    sink.close();
  }
}

}  // namespace usmp

// Writing files whole.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/text.hpp"

namespace usmp {

// Throws what `errno` says: std::bad_alloc for want of memory, else Error of kind output ("what: No space left …").
[[noreturn]] void fail_output(const std::string& path, const std::string& what);

// A file that must be complete: what goes wrong while it is created, written or closed (some errors appear only then)
// is thrown by fail_output, its file the path.
class FileSink final : public TextSink {
 public:
  enum class Mode : bool { replace, append };

  // `between` is called before each block of some ten KiB is written and may throw to leave.
  explicit FileSink(const std::string& path, Mode mode = Mode::replace, std::function<void()> between = {});
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  ~FileSink() override;

  void write(std::string_view text) override;
  void close();

 private:
  void write_all(std::string_view text);

  std::string path_;
  std::function<void()> between_;
  std::string buffer_;
  int descriptor_;
};

// The files below `root`, directories made as needed; on error a part of them may stay. Throws Error of kind output.
void write_files(const std::string& root, const std::vector<OutputFile>& files,
                 const std::function<void()>& between = {});

}  // namespace usmp

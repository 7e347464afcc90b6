// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writing files whole.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/text.hpp"

namespace usmp {

// Throws according to `errno`: std::bad_alloc if out of memory, else Error of kind output ("what: No space left …").
[[noreturn]] void fail_output(const std::string& path, const std::string& what);

// A file that must be complete: errors while it is created, written or closed (some appear only then) are thrown by
// fail_output with its path.
class FileSink final : public TextSink {
 public:
  enum class Mode : bool { replace, append };

  // `between` is called before each block (tens of KiB) is written and may throw to stop.
  explicit FileSink(const std::string& path, Mode mode = Mode::replace, std::function<void()> between = {});
  // Writes to a file that is open already, and closes it; `path` is for messages.
  FileSink(int descriptor, const std::string& path);
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

// Writes the files below `root`, creating directories as needed; on error some of them may remain. Throws Error of kind
// output.
void write_files(const std::string& root, const std::vector<OutputFile>& files,
                 const std::function<void()>& between = {});

}  // namespace usmp

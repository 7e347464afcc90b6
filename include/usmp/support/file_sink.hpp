// Writing files whole.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/text.hpp"

namespace usmp {

// A file that must be complete: what goes wrong while it is created, written or closed (some errors appear only then)
// is thrown as Error of kind output, its file the path.
class FileSink final : public TextSink {
 public:
  enum class Mode : bool { replace, append };
  explicit FileSink(const std::string& path, Mode mode = Mode::replace);
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  ~FileSink() override;

  void write(std::string_view text) override;
  void close();

 private:
  std::string path_;
  std::FILE* file_;
};

// The files below `root`, directories made as needed; on error a part of them may stay. Throws Error of kind output.
void write_files(const std::string& root, const std::vector<OutputFile>& files);

}  // namespace usmp

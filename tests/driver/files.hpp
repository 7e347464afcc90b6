// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the tests of the commands share.
#pragma once

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace fs = std::filesystem;

inline const std::string testdata = USMP_TESTDATA;

// A directory of its own for a test, removed afterwards.
struct TemporaryDirectory {
  TemporaryDirectory() {
    std::string pattern = (fs::temp_directory_path() / "usmp-driver-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code error;
    fs::permissions(path, fs::perms::owner_all, error);
    fs::remove_all(path, error);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (path / name).string(); }

  fs::path path;
};

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

// What a command does and says.
template <class Options>
Outcome outcome_of(int (*command)(const Options&, std::ostream&, std::ostream&), const Options& options) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = command(options, out, err);
  return {code, out.str(), err.str()};
}

// With one blank where there are several or a line ends: wherever lines are folded.
inline std::string in_a_line(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\n';
    if (!is_blank || !result.ends_with(' ')) result += is_blank ? ' ' : c;
  }
  return result;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

inline std::set<std::string> files_below(const fs::path& root) {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) names.insert(fs::relative(entry.path(), root).generic_string());
  }
  return names;
}

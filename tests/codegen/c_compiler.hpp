// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compiles and runs emitted C in a directory of its own.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace usmp::codegen::testing {

// What every emitted file must pass.
inline constexpr const char* c_flags =
    "-std=c99 -Wall -Wextra -Werror -pedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wmissing-prototypes "
    "-Wstrict-prototypes";
inline constexpr const char* cxx_flags = "-std=c++11 -Wall -Wextra -Werror -pedantic -Wconversion -Wshadow -Wundef";

class CompilerSandbox {
 public:
  CompilerSandbox() {
    std::string pattern = (std::filesystem::temp_directory_path() / "usmp-codegen-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    directory_ = pattern;
  }
  CompilerSandbox(const CompilerSandbox&) = delete;
  CompilerSandbox& operator=(const CompilerSandbox&) = delete;
  ~CompilerSandbox() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  void add(const std::string& name, std::string_view text) const {
    std::ofstream(directory_ / name, std::ios::binary) << text;
  }

  struct Outcome {
    int status = -1;
    std::string output;
  };
  // Runs a shell command inside the directory; standard error is part of the output.
  [[nodiscard]] Outcome run(const std::string& command) const {
    Outcome outcome;
    std::FILE* pipe = ::popen(("cd '" + directory_.string() + "' && { " + command + " ; } 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::array<char, 4096> buffer{};
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
      outcome.output.append(buffer.data(), count);
    }
    const int status = ::pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return outcome;
  }

  // Expects success and no word from the command.
  void expect_silence(const std::string& command) const {
    const Outcome outcome = run(command);
    CHECK_MESSAGE(outcome.status == 0, command);
    CHECK_MESSAGE(outcome.output.empty(), outcome.output);
  }

  // Expects the file to compile as C99 and as C++11 with all compilers there are.
  void expect_clean(const std::string& file) const {
    for (const char* compiler : {"gcc", "clang"}) {
      if (!has(compiler)) continue;
      expect_silence(std::string(compiler) + " " + c_flags + " -I. -fsyntax-only " + file);
    }
    for (const char* compiler : {"g++", "clang++"}) {
      if (!has(compiler)) continue;
      expect_silence(std::string(compiler) + " " + cxx_flags + " -I. -fsyntax-only -x c++ " + file);
    }
  }

  // Compiles the files as C, links and runs them.
  [[nodiscard]] Outcome build_and_run(const std::string& files) const {
    expect_silence(std::string("gcc ") + c_flags +
                   " -fsanitize=address,undefined -fno-sanitize-recover=all -g1 -I. -o program " + files);
    return run("./program");
  }

 private:
  [[nodiscard]] bool has(const std::string& program) const {
    return run("command -v " + program + " > /dev/null").status == 0;
  }

  std::filesystem::path directory_;
};

}  // namespace usmp::codegen::testing

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Emitted C as a program: written, compiled, run.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "execute/harness.hpp"
#include "execute/results.hpp"
#include "execute/tensors.hpp"
#include "usmp/execute/execute.hpp"
#include "usmp/process/process.hpp"

namespace usmp::execute {

// One of the two programs.
struct Program {
  std::string what;       // "planned", "reference": its directory, and what messages call it
  std::string directory;  // absolute
  Harness harness;
};

// What came of compiling.
struct Compilation {
  bool succeeded = false;
  std::string file;     // that did not compile, or "" where linking failed
  std::string message;  // of the compiler, shortened
};

struct RunOutcome {
  process::Result ended;
  std::string results;
};

// Throws Error of kind usage.
[[noreturn]] void fail(const std::string& message);

// Writes the module's files, the foreign ones and the harness below `directory`; `between` as in write_files. Throws as
// codegen does.
[[nodiscard]] Program write_program(const std::string& what, const codegen::EmissionInput& module,
                                    const Tensors& tensors, const std::vector<OutputFile>& foreign,
                                    const std::string& directory, const std::function<void()>& between = {});

// Throws Error of kind usage for time limits, interruptions and compilers that cannot be started.
[[nodiscard]] Compilation compile(const Program& program, const std::vector<OutputFile>& foreign,
                                  const Compiler& compiler, const Options& options);

// Runs it with garbage made from `garbage`. Throws Error of kind usage for time limits and interruptions.
[[nodiscard]] RunOutcome run(const Program& program, const std::string& inputs_file, std::uint32_t garbage,
                             const Options& options);

// The first lines of what a program printed, as printable() shows them (excerpt: indented, in one text), without the
// path of `directory`, which is gone when people read them.
[[nodiscard]] std::vector<std::string> excerpt_lines(std::string_view output, const std::string& directory);
[[nodiscard]] std::string excerpt(std::string_view output, const std::string& directory);

}  // namespace usmp::execute

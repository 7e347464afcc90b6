// Translation validation: the emitted C of a plan is compiled and run beside C of the same module in which no two
// buffers share a byte, on the same random inputs. Whatever the plan or the lowering got wrong shows as a difference.
//
// The unshared program is as different as it can be: one pool, inputs and outputs outside of it, constants in the code,
// no functions of their own for loop nests. What both have in common, a wrong translation of an expression above all,
// cannot be seen here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "usmp/codegen/codegen.hpp"
#include "usmp/support/text.hpp"

namespace usmp::execute {

struct Options {
  std::optional<std::string> compiler =
      {};                               // a path or a name looked up in PATH; absent: the first of cc, gcc and clang
  std::vector<std::string> flags = {};  // of the compiler, behind our own
  bool sanitize = false;                // AddressSanitizer and UndefinedBehaviorSanitizer, guards poisoned
  std::uint64_t seed = 0;               // of the inputs and of the garbage
  std::uint32_t rounds = 3;             // at least 1: runs of the model, each on inputs of its own
  std::chrono::milliseconds time_limit = std::chrono::minutes(10);  // of each compilation and of each program
};

// The compiler that is there and takes the flags.
struct Compiler {
  std::string program;
  std::vector<std::string> flags;  // all, ours in front
  bool sanitize = false;
};

// Tries a program without content; writes below `directory`. Throws Error of kind usage if there is no compiler, or it
// takes the flags not or cannot sanitize.
[[nodiscard]] Compiler find_compiler(const Options& options, const std::string& directory);

// Both have the same module, interface and source. `planned` is verified.
struct Programs {
  const codegen::PlannedModule& planned;
  const codegen::PlannedModule& unshared;
  std::vector<OutputFile> foreign;     // members of external code generators, compiled into both
  std::vector<std::string> undefined;  // functions that the module calls and does not define
};

struct Findings {
  std::vector<std::string> faults;  // one sentence each, without a full stop; empty: both compute the same
  std::size_t elements = 0;         // compared, over all rounds
};

// Writes, compiles and runs everything below `directory`, and leaves it there. Outputs are compared bit by bit; any two
// NaNs are equal, since C does not say which one comes out. Pools are of exactly the planned size, filled with garbage
// that differs between rounds and programs; guards around pools, inputs and outputs and the bytes of pools that are no
// buffer's have to stay as they are, and so do inputs and parameter pools.
//
// A fault is a bug of the plan or of code generation. Throws Error of kind usage for what is none, or cannot be told
// from one: code of the archive that is not there or cannot be compiled, an unshared program that fails (inputs that do
// not suit the model may be the reason), a time limit, an interruption; of kind archive for tensors whose type or size
// is not known and for outputs that depend on memory that the model never wrote; of kind output if a file cannot be
// written.
[[nodiscard]] Findings compare(const Programs& programs, const Compiler& compiler, const Options& options,
                               const std::string& directory);

}  // namespace usmp::execute

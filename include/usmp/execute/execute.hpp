// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Translation validation: compiles and runs the emitted C of a plan, and C of the same module in which no buffers
// overlap, on the same random inputs. An error in the plan or in the lowering shows as a difference.
//
// The unshared program is as different as possible: one pool, inputs and outputs outside the pool, constants in the
// code, no separate functions for loop nests. Errors that both share, such as a wrong translation of an expression, are
// not detected.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "usmp/codegen/codegen.hpp"
#include "usmp/model/description.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::execute {

struct Options {
  std::optional<std::string> compiler =
      {};                               // a path or a name looked up in PATH; absent: the first of cc, gcc and clang
  std::vector<std::string> flags = {};  // of the compiler, after our own
  bool sanitize = false;                // AddressSanitizer and UndefinedBehaviorSanitizer, guards poisoned
  std::uint64_t seed = 0;               // of the inputs and of the garbage
  std::uint32_t rounds = 3;             // at least 1: runs of the model, each on different inputs
  std::chrono::milliseconds time_limit = std::chrono::minutes(10);  // of each compilation and of each program
  std::function<void()> between = {};  // called between steps and before blocks of files; may throw to stop
};

// A compiler that exists and accepts the flags.
struct Compiler {
  std::string program;
  std::vector<std::string> flags;  // all, ours first
  bool sanitize = false;
};

// Compiles an empty program below `directory`. Throws Error of kind usage if there is no compiler, or if it rejects the
// flags or cannot sanitize.
[[nodiscard]] Compiler find_compiler(const Options& options, const std::string& directory);

// A load or store of the unshared program that is checked when it runs: what is said in front of and behind the
// element.
struct CheckedAccess {
  std::string before;  // "function 'f' loads"
  std::string behind;  // "'table', which has 256 elements"
};

struct CheckedModule {
  tir::Module module;
  std::vector<CheckedAccess> accesses;  // by number
  model::ForeignFunction function;      // that they call, of the program that runs them
};

// Accesses of which ranges do not prove that they stay inside of their storage get an index that passes through a
// function of the program that runs them; it ends the program where the index is outside.
//
// Storage is an allocate of constant size, a constant, or a tensor of the entry of constant shape, also where it, or a
// constant place in it, is passed or bound. Of a parameter that is passed storage of several sizes the largest counts:
// what is found is outside in every call. Not checked: other storage, accesses with predicates or with vectors of
// indices that are no ramps of constant strides, C that stays as it is. Ids of variables stay. O(size of the module ·
// log).
[[nodiscard]] CheckedModule with_access_checks(const tir::Module& module);

// Both have the same module, interface and source. `planned` has been verified.
struct Programs {
  const codegen::EmissionInput& planned;
  const codegen::EmissionInput& unshared;
  std::vector<OutputFile> foreign;          // members of external code generators, compiled into both
  std::vector<std::string> undefined;       // functions that the module calls and does not define
  std::vector<CheckedAccess> checked = {};  // of `unshared`
};

struct Findings {
  std::vector<std::string> faults;  // one sentence each, without a full stop; empty: both compute the same
  std::size_t elements = 0;         // compared, over all rounds
  std::uint32_t rounds = 0;         // at least four of a model with state
};

// Writes, compiles and runs everything below `directory`, and leaves it there. Outputs are compared bit by bit; any two
// NaNs are equal, since C does not specify which one results. Pools have exactly the planned size and are filled with
// garbage that differs between rounds and programs. Guards around pools, inputs and outputs, pool bytes of no buffer,
// inputs and parameter pools must not change.
//
// A fault is a bug in the plan or in code generation. Throws Error of kind usage for other failures: code of the
// archive that is missing or cannot be compiled, an unshared program that fails or whose access is outside of its
// storage (the inputs may not suit the model), a time limit, an interruption; of kind archive for tensors whose type or
// size is not known and for outputs that depend on memory that the model never wrote; of kind output if a file cannot
// be written.
[[nodiscard]] Findings compare(const Programs& programs, const Compiler& compiler, const Options& options,
                               const std::string& directory);

}  // namespace usmp::execute

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Emitted C, compiled and run: many variants in a translation unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "random_modules/check.hpp"

namespace usmp::random_modules {

// A compiler with its options, all that stands before the names of files.
struct Compiler {
  std::string name;
  std::string command;
  std::string run = "./all < inputs > outputs 2> messages";
  bool has_same_library = true;  // as the interpreter: functions of math.h give the same bits
};

// gcc without optimisation and with strict warnings, then the others: optimised, clang, sanitizers; last those for
// emulated cores.
[[nodiscard]] const std::vector<Compiler>& compilers();

// The C of one plan of a module, and what it must compute.
struct Variant {
  const TestModule* test = nullptr;
  const Outcome* reference = nullptr;
  const Emitted* emitted = nullptr;
};

struct Mismatch {
  std::size_t variant = 0;
  std::string what;  // "output 'output0', byte 4: 07, expected 08"
};

// Builds one program of all variants and runs it; outputs are compared bit by bit (NaN with NaN). One mismatch a
// variant at most. If it does not compile or crashes, halves of it are tried until one variant is found.
[[nodiscard]] std::vector<Mismatch> run_variants(const std::vector<Variant>& variants, const Compiler& compiler,
                                                 bool warnings);

}  // namespace usmp::random_modules

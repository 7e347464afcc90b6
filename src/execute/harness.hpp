// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The main program of an emitted module, in C: pools with guards, garbage, inputs from a file, outputs into one.
#pragma once

#include <string>
#include <vector>

#include "execute/tensors.hpp"
#include "usmp/codegen/codegen.hpp"

namespace usmp::execute {

// What the program reports by number: a piece of memory that it owns.
struct Harness {
  std::string text;                  // one C99 file, which includes M_lib0.c to reach the internal pools
  std::vector<std::string> regions;  // "pool 'sram'", "input 'x'", … as faults name them
};

// `entry_file` is the name of M_lib0.c as #include finds it.
//
// The program is called with the names of the inputs' and the results' file, a number that the garbage is made from,
// and the number of rounds. It returns 0 unless a file could not be read or written; results.hpp says what it writes.
[[nodiscard]] Harness harness_of(const codegen::EmissionInput& module, const codegen::ModuleLayout& layout,
                                 const Tensors& tensors, const std::string& entry_file);

}  // namespace usmp::execute

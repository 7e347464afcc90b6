// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops over neighbouring elements of up to 32 bits, four at a time: what instructions of Arm's DSP extension compute
// as C does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "usmp/arith/ranges.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::codegen {

// A loop as one piece of assembly.
struct Fours {
  std::vector<tir::ExprRef> loads;        // of elements that grow with the loop, in the order of their pointers
  std::vector<std::string> instructions;  // of four elements; %[x0], %[x1] … point to the loads, %[to] to the results.
                                          // r0 to r6 and, if it has others, r8 are free
  bool has_others = true;
};

// For a store that store_of_lanes() (lanes.hpp) returned. Nothing: its value is no chain, or has more pointers than
// registers. A chain begins with a load, and each of its steps adds a literal, an element or the fixed-point product of
// a byte, multiplies by an element or a literal in fixed point, or clips. O(size of the value).
[[nodiscard]] std::optional<Fours> fours_of(const tir::Store& store, tir::VarId i, arith::Ranges& ranges);

}  // namespace usmp::codegen

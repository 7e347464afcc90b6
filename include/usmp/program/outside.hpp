// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Accesses that leave their storage whenever the module runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "usmp/tir/ir.hpp"

namespace usmp::program {

struct OutsideAccess {
  std::size_t function = 0;  // index into Module::functions
  std::string place;         // in the function: "body[2].body[0]", a statement
  std::string message;       // "loads element 8 of 'constant', which has 3"
};

// The first load or store, in program order from the entry on, that is proved to be executed and to lie in part or
// whole outside of its storage: an allocate, a constant, or a tensor of the entry whose shape is constant, also where
// it was passed to the function. Nothing: there is none that is proved.
//
// Proved means found: the loops around with constant bounds are run over the variables that the index and the
// conditions depend on, through all of their values if there are few and through the ends of their ranges else, and the
// index is computed where all conditions hold. Indices whose range is inside are not computed. What depends on data or
// on parameters that are numbers, stands in or behind a loop that may not end, an assertion or text that stays as it
// is, or is reached by such a call only, is left alone. A budget of steps; beyond it nothing more is proved.
inline constexpr std::uint64_t steps_to_find_outside = 20'000'000;
[[nodiscard]] std::optional<OutsideAccess> find_outside_access(const tir::Module& module,
                                                               std::uint64_t most_steps = steps_to_find_outside);

// Throws Error of kind archive for the first one; its place is "function 'main', body[2]". For front ends.
void require_accesses_inside(const tir::Module& module);

}  // namespace usmp::program

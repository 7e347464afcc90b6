// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Elements computed again where a part of a loop nest needs them, instead of once for all of it.
#pragma once

#include <cstddef>

#include "transform/simple_function.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

inline constexpr std::size_t at_read = 0;
inline constexpr std::size_t max_depth = 6;  // deeper loops are not tried

// The buffer goes, and each statement that reads it gets what it needs
//   at_read:  for each load, in its place;
//   depth d:  inside of its d outermost loops (of all, where it has less), just before what stands there: loops fill a
//             new buffer with a box of iterations of the nest that wrote the old one, the smallest that holds what is
//             read in one iteration of the d loops. So a padded copy becomes a few rows of it.
// Exact, since `producer_of` (producer.hpp) holds: an element is the same whenever it is computed. What is computed are
// iterations of the old nest only: the box is proved to lie in it.
//
// Whether it was done; if not, the function and the variables of the module are as before. The function is simple, and
// has no scopes. Work may grow by any factor: the caller looks at it (loops/cost.hpp). O(size of the function).
bool compute_at(tir::Module& module, std::size_t function, const ParamAliases& aliases, tir::VarId buffer,
                std::size_t depth);

}  // namespace usmp::transform

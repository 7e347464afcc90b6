// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Conditions turned into loop bounds.
#pragma once

#include "transform/simple_function.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

// A sum whose next term is zero unless a condition holds is left as it is then: x[i] = x[i] + (c ? a : 0) · b becomes
// if (c) x[i] = x[i] + a · b. Integers only, where adding zero changes no bit. A loop around nothing but a branch runs
// only where the branch is taken: what its variable has to do with the condition becomes its bounds, and what it has
// not goes outside. So a convolution that reads over the edge of its input skips the padding, instead of multiplying
// it. Returns whether anything changed. The function is simple (simple_function.hpp), and has no scopes. O(size ·
// depth).
bool tighten(const tir::Module& module, tir::Function& function);

// How many times if_then_else is evaluated and branches are entered, by the extents of the loops around them.
[[nodiscard]] double decisions(const tir::Module& module, const tir::Function& function);

}  // namespace usmp::transform

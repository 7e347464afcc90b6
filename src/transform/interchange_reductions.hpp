// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Interchange of a reduction with the loop around it; its sum becomes an array (scalar expansion).
#pragma once

#include <vector>

#include "transform/simple_function.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

// A loop over c that sums up one element after another,
//   for c { a = 0; for r { a += x[r] * w[r, c]; } y[c] = f(a); }
// becomes
//   for c { a[c] = 0; } for r { for c { a[c] += x[r] * w[r, c]; } } for c { y[c] = f(a[c]); }
// if the elements that the sum reads stand side by side, or are the same, for all c: compilers turn the inner loop
// into vector code, bounds that depend on r are computed once a row, and what depends on r only is loaded once. Each
// element still gets its terms in the same order. Costs a row of workspace: loops of more than max_row elements stay as
// they are, and sums of a single term. Returns the variables of the sums. The function is simple (simple_function.hpp),
// and has no scopes. O(size).
std::vector<tir::VarId> interchange_reductions(tir::Module& module, tir::Function& function,
                                               const ParamAliases& aliases);

inline constexpr std::int64_t max_row = 256;

}  // namespace usmp::transform

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops over small tiles of sums become loops over larger ones.
#pragma once

#include <vector>

#include "transform/simple_function.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

// A loop over tiles whose sums, of int32, are in an array that stays on the stack of the C, as kernels that think of
// registers have it,
//   for t in [0, 16) { a[4]; for c in [0, 4) a[c] = 0; for r { for c in [0, 4) a[c] += x[r, 4·t + c] · w[t, r, c]; }
//                      for c in [0, 4) y[4·t + c] = f(a[c]); }
// computes several of its tiles at once, up to most_lanes sums:
//   for t in [0, 2) { a[32]; for c in [0, 32) a[c] = 0; for r { for c in [0, 32) a[c] += x[r, 32·t + c] · w[r, t, c]; }
//                     … }
// so what r needs is computed once for all of them. Data and weights of a sum are its own, as of a depthwise
// convolution: tiles of sums that share data have enough to do, and tiles that share weights are pixels, which other
// steps look for. Tiles touch different elements of all that is stored, and each element gets its terms in the same
// order. Elements of a constant that tiles keep apart, as w, are put side by side, if nothing else reads it and none is
// equal to it. Returns the arrays. The function is simple (simple_function.hpp), and has no scopes. O(size of the
// function + bytes of constants).
std::vector<tir::VarId> widen_tiles(tir::Module& module, std::size_t function, const ParamAliases& aliases);

inline constexpr std::int64_t most_lanes = 32;  // 128 bytes of the stack

}  // namespace usmp::transform

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops of a nest in the order of the dimensions of the buffer that it stores to.
#pragma once

#include "transform/simple_function.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

// Sorts loops directly inside each other that store to buffers of the function: those that divide what is stored go to
// the outside, the one with the largest parts first: a kernel that computes four channels of the whole image before the
// next four, or eight pixels of a row term by term, becomes one that completes a pixel before the next. Neighbouring
// nests can then be fused (fuse_loops.hpp). The innermost loop stays if it is over neighbours: compilers and kernels
// want it there. Each element gets its terms in the same order. The function is simple (simple_function.hpp), and has
// no scopes. O(size · depth).
void sort_loops(tir::Module& module, tir::Function& function, const ParamAliases& aliases);

// Sorts nests directly in the body, also those that store to parameters, where others stand between two loops that
// divide a dimension, as over tiles of eight pixels and over the pixels of a tile; the two become one, so that stages
// have rows and pixels (loops/stage.hpp). O(size of a nest), for each that has such loops.
void join_tiles(tir::Module& module, tir::Function& function, const ParamAliases& aliases);

}  // namespace usmp::transform

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Neighbouring loops made one, and the buffers between them made smaller.
#pragma once

#include <vector>

#include "transform/simple_function.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

// Two loops that follow each other in a block, or three, become one where that lets a buffer shrink: iteration k of the
// first only touches elements [k·s, (k + 1)·s) of the buffer, iteration k of the second too, so that the buffer need
// hold only s elements at a time. Every other storage that both access and one of them writes has to be divided in the
// same way; then no iteration of the second sees a difference when it runs right behind its iteration of the first.
// Where one loop has a multiple of the other's iterations it is split first. What the fused body holds is looked at
// again, so that two nests fuse as deep as they match, in the end to single elements. Returns the variables of the
// buffers that got smaller. The function is simple (simple_function.hpp), and has no scopes. O(pairs of loops · size).
std::vector<tir::VarId> fuse_loops(tir::Module& module, std::size_t function, const ParamAliases& aliases);

}  // namespace usmp::transform

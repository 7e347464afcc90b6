// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The step "fuse": the loops inside each operator.
#pragma once

#include <vector>

#include "transform/simple_function.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform {

// Works on every simple function (simple_function.hpp), until nothing more can be done: what is read is computed where
// it is read (inline.hpp), neighbouring loops become one (fuse_loops.hpp), padding is skipped instead of stored
// (tighten.hpp), and single elements become variables. Returns what was done.
std::vector<Change> fuse(tir::Module& module);

// The same for one simple function.
std::vector<Change> fuse_function(tir::Module& module, std::size_t function, const ParamAliases& aliases);

}  // namespace usmp::transform

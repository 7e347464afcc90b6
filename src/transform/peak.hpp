// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// How much workspace a program needs at least, and where.
#pragma once

#include <set>

#include "usmp/problem/problem.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

struct Peak {
  Bytes load = 0;             // the largest sum of sizes of buffers that are live at one tick
  std::set<tir::VarId> live;  // at some tick of that load
};

// Counts the workspace buffers, without inputs and outputs. Throws as liveness::analyse does.
[[nodiscard]] Peak peak_of(const tir::Module& module);

}  // namespace usmp::transform

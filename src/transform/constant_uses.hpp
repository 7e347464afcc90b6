// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which constants are read element by element only, and which of them must change together.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::transform {

// Constants and parameters that stand for one another: whatever is stored otherwise is so in all of them.
struct ConstantGroup {
  std::vector<tir::VarId> constants;  // at least one; all with data of `type`; by VarId
  std::vector<tir::VarId> params;     // of functions that are handed these constants and nothing else; by VarId
  tir::DataType type;
};

// The groups in which every use is a scalar load of `type` without predicate, or the handing of a whole constant to
// a parameter of the group. By their first constant.
// O(nodes · log).
[[nodiscard]] std::vector<ConstantGroup> constant_groups(const tir::Module& module);

}  // namespace usmp::transform

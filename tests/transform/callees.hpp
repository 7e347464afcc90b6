// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which functions the entry calls.
#pragma once

#include <string>
#include <vector>

#include "usmp/tir/ir.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform::testing {

// The callees of the entry, in order.
inline std::vector<std::string> callees(const tir::Module& module) {
  std::vector<std::string> names;
  tir::for_each_expr_in(module.functions[module.entry].body, [&](const tir::Expr& expr) {
    if (const auto call = tir::named_call(expr)) names.push_back(*call->name);
  });
  return names;
}

}  // namespace usmp::transform::testing

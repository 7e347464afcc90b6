// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which functions may fail: the others are `void` in C, and their callers do not ask.
#pragma once

#include <cstddef>
#include <vector>

#include "usmp/program/call_graph.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::codegen {

// By function of the module: whether its C gives a status. That of the entry does; so does one that may return early
// (an assertion, memory taken at run time, `tir.ret`, a call of something that gives a status), one whose value is used
// otherwise than in a check for zero, and everything beside imported C, which may call it. `order`: functions, callees
// first. O(size of the module · log).
[[nodiscard]] std::vector<bool> functions_with_status(const tir::Module& module, const program::CallGraph& graph,
                                                      const std::vector<std::size_t>& order);

// The call of a named function that the evaluated value is, if its result goes nowhere but into a check for zero; null
// otherwise.
[[nodiscard]] const tir::Expr* called_for_effect(const tir::Expr& value);

}  // namespace usmp::codegen

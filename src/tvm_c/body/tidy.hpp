// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What TVM's printer adds to a function, taken away: variables for parts of expressions, choices as branches, C's
// quotients in place of floor quotients. And workspace that nothing accesses.
#pragma once

#include <set>

#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

// Changes nothing that the function computes. `planned`: workspace that has a place, which stays. O(size of the
// function · log).
void tidy(tir::Module& module, tir::Function& function, const std::set<tir::VarId>& planned);

}  // namespace usmp::tvm_c

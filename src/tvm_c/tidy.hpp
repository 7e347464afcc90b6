// SPDX-License-Identifier: Apache-2.0
// What TVM's printer adds to a function, taken away: variables for parts of expressions, choices as branches, C's
// quotients in place of floor quotients.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

// Changes nothing that the function computes. O(size of the function · log).
void tidy(tir::Module& module, tir::Function& function);

}  // namespace usmp::tvm_c

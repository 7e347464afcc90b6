// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Constants that are added to the same number, made one.
#pragma once

#include <vector>

#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform {

// x + a[i] - b[i] becomes x + c[i], as where a bias and what the zero point of the input is worth are added to a sum:
// c takes the place of a, b is gone. Of int32, where every c[i] fits; so the result overflows only where the first
// one does. The constants, two or more, are declared by the operator, have as many elements, not all equal, and are
// loaded nowhere else, and no other constant is equal to one of them: so c takes no more bytes than they. O(nodes +
// bytes of constants).
std::vector<Change> add_up_constants(tir::Module& module);

}  // namespace usmp::transform

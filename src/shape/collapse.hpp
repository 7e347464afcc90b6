// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Two loops that count through one range → one loop: for o { for i { … 16·o + i … } } with 16 iterations of i.
//
// TVM's nests of elementwise operators have a loop a dimension, and so have rows of rings. Each costs a counter, a
// comparison and the code that sets the inner one up.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::shape {

// Makes one loop of a loop that holds nothing but another one, both from 0 and with constant numbers of iterations,
// where everything in it depends on the two variables only through sums n·o + i, n being the inner loop's iterations,
// and no such sum can overflow as it is then written. The order of iterations stays. Loops inside of nests come first,
// so that whole nests collapse; bodies above 200 statements stay. O(size of the module).
void collapse(tir::Module& module);

}  // namespace usmp::shape

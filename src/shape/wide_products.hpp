// SPDX-License-Identifier: Apache-2.0
// Sums of products of bytes, for compilers with an instruction that multiplies numbers of 16 bits and adds pairs of the
// products (pmaddwd of SSE2). GCC sees from the ranges that a product of two bytes fits 16 bits, multiplies in 16 bits
// and widens each product for its sum: twice as long as if it did not know.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::shape {

// In all functions but opaque ones, changes loops of at least 16 iterations, a constant number, whose body is stores
//   sum = sum + a * b
// of int32, where the place of `sum` is the same in all iterations, a and b read memory, each fits int16, and the
// product does too: a becomes widened(a, zero), with a hidden zero (operators of this program's own, see
// usmp/tir/ops.hpp) that is bound at the start of the function. The value is the same. O(size of the module).
void widen_products(tir::Module& module);

}  // namespace usmp::shape

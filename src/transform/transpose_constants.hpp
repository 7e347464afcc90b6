// SPDX-License-Identifier: Apache-2.0
// Weights in the order in which vectors of them are summed.
#pragma once

#include <vector>

#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform {

// TVM packs the weights of dense layers in short rows, one weight of each of `n` sums after the other:
//   for k < m: for x < n: sum[x] = sum[x] + f(data[k]) * weights[block + k * n + x]
// Rows of eight are too short for vectors of int8, so that narrower weights make slower code than wide ones. Stored by
// columns instead, each sum has its weights side by side, and the loops change places:
//   for x < n: for k < m: sum[x] = sum[x] + f(data[k]) * weights[block + x * m + k]
// Every sum adds the same products in the same order.
//
// Of constants of one byte an element, for n of 2 to 8 and m of at least 16, where
// - the inner loop is all that is in the outer one, and the store all that is in the inner one; integers, no predicate;
// - `sum` is an allocation of the function that the term does not read; its index has x as it is, and no k;
// - nothing in the term calls functions or reads through pointers that the function makes itself;
// - the constant is read here only; `block` is a multiple of n * m, and so is its length. Constants that share their
//   data change together or not at all;
// - whatever else the term reads is indexed without x and has k as it is, if at all: else no compiler would gain by it.
// O(nodes + bytes of constants).
[[nodiscard]] std::vector<Change> transpose_constants(tir::Module& module);

}  // namespace usmp::transform

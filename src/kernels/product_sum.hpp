// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums of products of numbers of up to 16 bits, as nests of loops: convolutions, depthwise convolutions, dense layers.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "usmp/arith/affine.hpp"
#include "usmp/arith/facts.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::kernels {

// An element of 8 or 16 bits, or one of a pair, plus a number; the sum fits 16 bits.
struct Factor {
  tir::ExprRef load;  // scalar, without predicate
  std::int64_t offset = 0;
  arith::Affine index;          // of the load, but for quotients and remainders that are no sums
  std::set<tir::VarId> inside;  // variables of these
  // The number of the term if the element is a pair of weights, of which it is one (Op::paired_weight); else null.
  tir::ExprRef term = nullptr;

  [[nodiscard]] bool mentions(tir::VarId var) const { return index.mentions(var) || inside.contains(var); }
  // Whether it is a multiple of the variable and something that does not depend on it.
  [[nodiscard]] bool is_linear_in(tir::VarId var) const {
    return !index.without(var).mentions(var) && !inside.contains(var);
  }
};

enum class Form : std::uint8_t {
  dot,    // the data do not depend on the sum: each is multiplied by a weight of every sum
  lanes,  // sums side by side have data and weights side by side
};

// How the weights of lanes lie.
enum class Lie : std::uint8_t {
  side_by_side,
  in_blocks,  // only each four are side by side, from multiples of four on
  apart,      // at equal distances: no kernel reads them so
};

// for … : sum[… + step * s] = sum[… + step * s] + data * weight
// in loops of which each holds only the next.
struct ProductSum {
  std::vector<const tir::For*> loops;  // outermost first
  const tir::Store* store = nullptr;
  const tir::For* sums = nullptr;  // of the loops, the one over s, from 0, with a constant extent
  std::int64_t step = 1;           // of a dot 1
  Form form = Form::dot;
  Factor data;
  Factor weight;  // its offset is 0, or in a dot -128 of bytes without sign
  Lie weights = Lie::side_by_side;
};

// Weights of 8 bits with a sign, stored as what is 128 more, are multiplied with data without sign.
inline constexpr std::int64_t unsigned_weight_offset = -128;

// Loops of which each holds only the next, and in the innermost a[i] = a[i] + x * y.
struct AddedProduct {
  std::vector<const tir::For*> loops;  // outermost first; none is of rows that run together (For::row_runs)
  const tir::Store* store = nullptr;
  const tir::Expr* product = nullptr;
};
[[nodiscard]] std::optional<AddedProduct> added_product(const tir::For& outermost);

// The index as a sum. A term that takes a quotient or remainder toward zero of what may be negative counts as 0, and
// its variables go into `inside`. Nothing: it is no sum, or something else than variables decides such a term.
[[nodiscard]] std::optional<arith::Affine> affine_of(const tir::ExprRef& index, const arith::Facts& facts,
                                                     std::set<tir::VarId>& inside);

// What the nest that begins with the loop adds up, in 32 bits, where the loops over the terms do not depend on s, and
// no bound is read from memory; a factor may be a sum that is added to. Nothing: it is something else. O(size of the
// nest).
[[nodiscard]] std::optional<ProductSum> product_sum(const tir::For& outermost, arith::Facts& facts);

// What a loop in front sets all sums to; null: it does something else.
[[nodiscard]] tir::ExprRef first_value(const tir::Stmt& stmt, const ProductSum& sum, arith::Facts& facts);
// Whether that is 0.
[[nodiscard]] bool sets_to_0(const tir::Stmt& stmt, const ProductSum& sum, arith::Facts& facts);

// Where a loop holds nothing but a sum that is added to, with names for parts of its indices, these go: TVM gives names
// to what occurs twice. O(nodes).
void expand_names_in_sums(tir::Module& module);

// Whether lanes whose weights are not in blocks yet may become one Op::lane_window, as far as their loops tell.
[[nodiscard]] bool may_be_window(const ProductSum& sum);

// Loops of a dot over terms whose data are side by side in memory, innermost first. The distance of a loop's data is 1,
// or the number of data that the loops before it take together. All but the last run from 0 a constant number of times.
[[nodiscard]] std::vector<const tir::For*> data_run(const ProductSum& sum);

// Terms that an operator takes at once, and sums of a block.
inline constexpr std::int64_t width = 4;

}  // namespace usmp::kernels

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The nest of a sum of products taken apart: the terms that are side by side, and the loops around them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/product_sum.hpp"
#include "usmp/loops/edit.hpp"

namespace usmp::kernels {

// a + b, a · b and a / b, without what does nothing.
[[nodiscard]] tir::ExprRef plus(const tir::ExprRef& a, const tir::ExprRef& b);
[[nodiscard]] tir::ExprRef times(const tir::ExprRef& a, std::int64_t by);
[[nodiscard]] tir::ExprRef over(const tir::ExprRef& a, std::int64_t by);
// The expression with other variables, without terms of 0.
[[nodiscard]] tir::ExprRef with_values(const tir::ExprRef& root, const loops::Substitution& values);
// The load at the place that it has with other values of variables.
[[nodiscard]] tir::ExprRef at(const Factor& factor, const loops::Substitution& values);

// The element at the index and the next ones as a vector of so many lanes; one number in all lanes. Of one: as it is.
[[nodiscard]] tir::ExprRef neighbours(const tir::ExprRef& index, std::int64_t lanes);
[[nodiscard]] tir::ExprRef repeated(const tir::ExprRef& value, std::int64_t lanes);
[[nodiscard]] tir::DataType vector_type(tir::DataType type, std::int64_t lanes);

// A variable on the stack, declared at the end of the block; of as many elements as lanes, which compilers keep in a
// register, its value, and a store at the end of the block.
[[nodiscard]] tir::VarId add_register(tir::Module& module, tir::Block& block, const std::string& name,
                                      tir::DataType type, std::int64_t elements = 1);
[[nodiscard]] tir::ExprRef value_of(const tir::Module& module, tir::VarId var, std::int64_t lanes = 1);
void set_register(tir::Block& block, tir::VarId var, tir::ExprRef value, std::int64_t lanes = 1);

// The value, in a variable that the end of the block declares where it is no literal.
[[nodiscard]] tir::ExprRef named(tir::Module& module, tir::Block& block, const std::string& name, tir::ExprRef value);

// Loops over terms that are one loop: their data and weights are side by side.
struct Run {
  std::vector<const tir::For*> loops;  // innermost first
  std::int64_t inside = 1;             // terms of an iteration of the outermost
  tir::ExprRef start;
  tir::ExprRef length;
  std::optional<Interval> outermost = {};  // values of the outermost loop's variable, if known
};

// The loops whose data and weights are side by side, as long as both are, in a sum of form `dot`. Nothing: there are
// none, or other loops' bounds depend on them.
[[nodiscard]] std::optional<Run> run_of(const tir::Module& module, const ProductSum& sum, arith::Facts& facts);

// Whether the index depends only on the number of the term among those of the loops, as that of the data does.
[[nodiscard]] bool is_one_loop(const tir::Module& module, const Factor& factor, const std::vector<const tir::For*>& run,
                               const arith::Facts& facts);

// Whether bounds of the sum's loops mention variables of these.
[[nodiscard]] bool bounds_mention(const ProductSum& sum, const std::vector<const tir::For*>& loops);

// A new variable, bound in `facts`, for each loop but that over sums and those of the run.
[[nodiscard]] loops::Substitution fresh_loops(tir::Module& module, const ProductSum& sum,
                                              const std::vector<const tir::For*>& run, arith::Facts& facts);

// The body in those loops.
[[nodiscard]] tir::Block around(const ProductSum& sum, const std::vector<const tir::For*>& run, tir::Block body,
                                const loops::Substitution& values);

}  // namespace usmp::kernels

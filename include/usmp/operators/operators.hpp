// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What operators compute, for people: kind, multiply-accumulates, types and shapes of what they read and write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::operators {

// "conv2d", "depthwise conv2d", "dense", "average pool", "softmax", "add", …, as far as TVM's names of fused functions
// tell ("tvmgen_default_fused_nn_conv2d_add_clip"): of the operators in the name, the one that computes most. Several
// operators on single elements are "elementwise". Empty: the name has none. O(length).
[[nodiscard]] std::string kind_by_name(std::string_view function);

// As far as the function's loops tell: "conv2d", "depthwise conv2d", "grouped conv2d", "batch matmul", "dense"; of
// those without multiply-accumulates "softmax", "sum", "max", "elementwise", "copy". Empty: it stores nothing. A kernel
// whose windows do not overlap looks like "dense".
[[nodiscard]] std::string kind_by_loops(const tir::Module& module, const tir::Function& function);

// What the name says; the loops tell convolutions apart, and what a name that says less leaves out (TVM cuts names).
// "operators by rows": several, whose rows are computed by turns.
[[nodiscard]] std::string kind_of(const tir::Module& module, const tir::Function& function);

// How often one call of the function adds a product of two values that it has loaded to an element of memory, by the
// bounds of its loops; conditions count as met, functions that it calls as nothing. Nothing: a bound is not known, or
// the number leaves int64. O(size).
[[nodiscard]] std::optional<std::int64_t> multiply_accumulates(const tir::Function& function);

struct Operator {
  std::string kind;  // "external": somebody else's code, of which the name says nothing. Else empty if nothing tells
  // In one call, with the functions that it calls. Nothing: not known, as of external ones.
  std::optional<std::int64_t> multiply_accumulates;
  std::vector<std::string> reads;  // "int8[1,49,10,1]", in the order of the parameters; "?" where a shape is not known
  // What is both read and written stands here. Empty where nothing is known: all operands of external code are above.
  std::vector<std::string> writes;
};

// By index into Module::functions. The module passes `program::param_effects`. O(size of the module · log).
[[nodiscard]] std::vector<Operator> operators_of(const tir::Module& module);

// What the name says of a function that the module does not have, else "external".
[[nodiscard]] Operator external_operator(std::string_view function);

// The operator that a call names; `all` as of operators_of.
[[nodiscard]] Operator called_operator(const tir::Module& module, const std::vector<Operator>& all,
                                       const std::string& callee);

}  // namespace usmp::operators

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The elementwise end of a value, as steps that can be repeated elsewhere.
//
// A value like int16(int8(x)) - 83 is the expression x with steps applied to it: to int8, to int16, minus 83. A step
// has one operand that is not a constant; the constants are the same for every element. Computing a step again on the
// same operand gives the same bits: all of them are integer operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::transform {

struct EpilogueStep {
  tir::Expr node;  // operands[hole] is null; constants are immediates
  std::size_t hole = 0;
  bool is_costly = false;  // more than an instruction or two: fixed-point products, multiplications of 64 bits
};

[[nodiscard]] bool is_same_step(const EpilogueStep& a, const EpilogueStep& b);

// The value of the integer that an expression always has; nothing if that is not known.
using ConstantOf = std::function<std::optional<std::int64_t>(const tir::Expr&)>;

// values[0] is the value itself, and values[i] is steps[i](values[i + 1]). Steps are scalar integer operations: casts,
// additions, subtractions and products, min and max, right shifts and q_multiply_shift by constants.
struct Epilogue {
  std::vector<tir::ExprRef> values;  // one more than steps
  std::vector<EpilogueStep> steps;
};

// As long as it gets. O(depth of the value).
[[nodiscard]] Epilogue find_epilogue(const tir::ExprRef& value, const ConstantOf& constant_of);

// steps[0](… steps[depth - 1](inner)).
[[nodiscard]] tir::ExprRef apply_steps(const std::vector<EpilogueStep>& steps, std::size_t depth, tir::ExprRef inner);

}  // namespace usmp::transform

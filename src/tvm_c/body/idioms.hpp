// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What TVM's printer makes of single operators of TIR, recognised.
#pragma once

#include <optional>
#include <vector>

#include "usmp/tir/builder.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

// Whether the value is cut to its narrow type wherever it stands: what C computes is what a variable of the type holds.
[[nodiscard]] bool is_cut(const tir::Expr& root);

// a < b ? a : b and a > b ? a : b.
[[nodiscard]] std::optional<tir::ExprKind> min_or_max(const tir::Expr& condition, const tir::Expr& yes,
                                                      const tir::Expr& no);

// The operands of q_multiply_shift or q_multiply_shift_per_axis, of which a value of 64 bits that is cut to 32 is the
// formula: (x << left) * y, rounded and shifted right, halves up.
struct FixedPoint {
  tir::Op op = tir::Op::q_multiply_shift;
  std::vector<tir::ExprRef> operands;
};
[[nodiscard]] std::optional<FixedPoint> fixed_point(const tir::Expr& wide);

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
#include "kernels/requantize.hpp"

#include "usmp/arith/ranges.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/program/constant_table.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::kernels {
namespace {

using tir::Expr;
using tir::ExprRef;

// n of Op::multiply_high, of a product that is shifted to the right by 31 and `shift` bits.
constexpr Interval shifts{2, 31};

ExprRef high_product(const Expr& call, ExprRef shift) {
  const ExprRef n = tir::as_int(*shift) ? tir::make_int(*tir::as_int(*shift) - 1)
                                        : tir::make_binary(tir::ExprKind::sub, std::move(shift), tir::make_int(1));
  return tir::make_call(tir::int32_type, tir::Op::multiply_high, {call.operands[0], call.operands[1], n});
}

bool are_int32(const Expr& call, std::size_t count) {
  bool are = call.type == tir::int32_type && call.operands.size() >= count;
  for (std::size_t i = 0; are && i < count; ++i) are = call.operands[i]->type == tir::int32_type;
  return are;
}

// Null: it stays.
ExprRef requantized(const Expr& call, arith::Ranges& ranges) {
  if (call.op == tir::Op::q_multiply_shift && are_int32(call, 4)) {
    const auto shift = tir::as_int(*call.operands[3]);
    if (tir::as_int(*call.operands[2]) != 31 || !shift || !Interval{-*shift, -*shift}.within(shifts)) return nullptr;
    return high_product(call, tir::make_int(-*shift));
  }
  if (call.op == tir::Op::q_multiply_shift_per_axis && are_int32(call, 5) && call.operands.size() == 7) {
    const auto shift = ranges.of(*call.operands[3]);
    const bool shifts_left = tir::as_int(*call.operands[5]) != 0 && tir::as_int(*call.operands[2]) != 0;
    if (tir::as_int(*call.operands[4]) != 31 || shifts_left || !shift || !shift->within(shifts)) return nullptr;
    return high_product(call, call.operands[3]);
  }
  return nullptr;
}

}  // namespace

void requantize(tir::Module& module) {
  const program::ConstantTable constants(module);
  for (tir::Function& function : module.functions) {
    if (tir::is_opaque(module, function)) continue;
    arith::Ranges ranges;
    constants.bind(ranges, function);
    loops::rewrite_expressions(function.body, [&](const ExprRef& expr) { return requantized(*expr, ranges); });
  }
}

}  // namespace usmp::kernels

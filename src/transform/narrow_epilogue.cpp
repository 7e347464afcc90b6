// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes operations with one varying operand off a value from the outside in, and puts them on again.
#include "transform/narrow_epilogue.hpp"

#include <utility>

#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;

// Scalars whose values the analysis of ranges knows; bool has operations of its own.
bool is_plain_integer(const Expr& expr) {
  return !expr.type.is_vector() && !expr.type.is_bool() && tir::range_of_type(expr.type).has_value();
}

bool is_fixed_point(const Expr& expr) {
  return expr.op == tir::Op::q_multiply_shift || expr.op == tir::Op::q_multiply_shift_half;
}

enum class Form { none, unary, binary, first_of_two, first_of_four };

Form form_of(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::cast:
      return Form::unary;
    case ExprKind::add:
    case ExprKind::sub:
    case ExprKind::mul:
    case ExprKind::min:
    case ExprKind::max:
      return Form::binary;
    case ExprKind::call:
      if (expr.op == tir::Op::shift_right) return Form::first_of_two;
      if (is_fixed_point(expr)) return Form::first_of_four;
      return Form::none;
    default:
      return Form::none;
  }
}

std::size_t operand_count(Form form) {
  switch (form) {
    case Form::none:
      return 0;
    case Form::unary:
      return 1;
    case Form::binary:
    case Form::first_of_two:
      return 2;
    case Form::first_of_four:
      return 4;
  }
  return 0;
}

bool is_costly(const Expr& expr) {
  const bool is_wide = expr.type.bits == 64 && (expr.kind == ExprKind::mul || expr.kind == ExprKind::call);
  return is_wide || is_fixed_point(expr);
}

// Whether the constants may be immediates: a literal shift must make sense to a compiler.
bool may_be_immediates(const Expr& expr, const EpilogueStep& step) {
  if (expr.op != tir::Op::shift_right) return true;
  const std::int64_t count = *tir::as_int(*step.node.operands[1]);
  return count >= 0 && count < expr.type.bits;
}

// The operation with its constants; nothing if it is none, or if two of its operands vary.
std::optional<EpilogueStep> step_of(const Expr& expr, const ConstantOf& constant_of) {
  const Form form = form_of(expr);
  if (form == Form::none || expr.operands.size() != operand_count(form) || !is_plain_integer(expr)) return std::nullopt;
  EpilogueStep step{.node = expr, .hole = expr.operands.size(), .is_costly = is_costly(expr)};
  for (std::size_t i = 0; i < expr.operands.size(); ++i) {
    const Expr& operand = *expr.operands[i];
    if (!is_plain_integer(operand)) return std::nullopt;
    const bool may_vary = i == 0 || form == Form::binary;
    if (const auto constant = constant_of(operand)) {
      step.node.operands[i] = tir::make_int(*constant, operand.type);
    } else if (may_vary && step.hole == expr.operands.size()) {
      step.hole = i;
    } else {
      return std::nullopt;
    }
  }
  if (step.hole == expr.operands.size() || !may_be_immediates(expr, step)) return std::nullopt;
  step.node.operands[step.hole] = nullptr;
  return step;
}

}  // namespace

bool is_same_step(const EpilogueStep& a, const EpilogueStep& b) {
  if (a.hole != b.hole || a.node.kind != b.node.kind || a.node.type != b.node.type || a.node.op != b.node.op) {
    return false;
  }
  if (a.node.operands.size() != b.node.operands.size()) return false;
  for (std::size_t i = 0; i < a.node.operands.size(); ++i) {
    if (i != a.hole && !tir::is_same(*a.node.operands[i], *b.node.operands[i])) return false;
  }
  return true;
}

Epilogue find_epilogue(const ExprRef& value, const ConstantOf& constant_of) {
  Epilogue epilogue{.values = {value}, .steps = {}};
  while (auto step = step_of(*epilogue.values.back(), constant_of)) {
    epilogue.values.push_back(epilogue.values.back()->operands[step->hole]);
    epilogue.steps.push_back(std::move(*step));
  }
  return epilogue;
}

ExprRef apply_steps(const std::vector<EpilogueStep>& steps, std::size_t depth, ExprRef inner) {
  for (std::size_t i = depth; i-- > 0;) {
    Expr node = steps[i].node;
    node.operands[steps[i].hole] = std::move(inner);
    inner = tir::make_expr(std::move(node));
  }
  return inner;
}

}  // namespace usmp::transform

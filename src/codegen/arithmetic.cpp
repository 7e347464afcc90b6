// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Arithmetic, comparisons, choices and casts.
#include <bit>
#include <cstdint>

#include "codegen/cancelled_terms.hpp"
#include "codegen/expressions.hpp"
#include "codegen/logic.hpp"

namespace usmp::codegen {
namespace {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;

// Printing it twice costs nothing.
bool is_trivial(const Expr& expr) {
  return expr.kind == ExprKind::var || expr.kind == ExprKind::int_imm || expr.kind == ExprKind::float_imm;
}

// Arithmetic of loop variables and constants, of whose comparisons intervals know enough.
bool is_index(const Expr& root) {
  bool is_plain = root.type.is_integer() && !(root.type.is_uint() && root.type.bits == 64);
  tir::for_each_expr(root, [&](const Expr& expr) {
    is_plain = is_plain && expr.kind <= ExprKind::max && expr.kind != ExprKind::float_imm;
  });
  return is_plain;
}

struct Infix {
  std::string_view op;
  int own = prec_any;
  int left = prec_any;  // the least precedence that the operand may have without parentheses
  int right = prec_any;
};

Infix infix_of(ExprKind kind) {
  switch (kind) {
    case ExprKind::add:
      return {" + ", prec_add, prec_add, prec_multiply};
    case ExprKind::sub:
      return {" - ", prec_add, prec_add, prec_multiply};
    case ExprKind::mul:
      return {" * ", prec_multiply, prec_multiply, prec_unary};
    case ExprKind::div:
      return {" / ", prec_multiply, prec_multiply, prec_unary};
    case ExprKind::mod:
      return {" % ", prec_multiply, prec_multiply, prec_unary};
    case ExprKind::eq:
      return {" == ", prec_equality, prec_add, prec_add};
    case ExprKind::ne:
      return {" != ", prec_equality, prec_add, prec_add};
    case ExprKind::lt:
      return {" < ", prec_relation, prec_add, prec_add};
    case ExprKind::le:
      return {" <= ", prec_relation, prec_add, prec_add};
    case ExprKind::gt:
      return {" > ", prec_relation, prec_add, prec_add};
    case ExprKind::ge:
      return {" >= ", prec_relation, prec_add, prec_add};
    case ExprKind::and_:
      return {" && ", prec_and, prec_equality, prec_equality};
    default:
      return {" || ", prec_or, prec_equality, prec_equality};
  }
}

// The type of 8 or 16 bits whose limits max(min(x, high), low) or min(max(x, low), high) has.
std::optional<tir::DataType> clipped_to(const Expr& expr) {
  const Expr& inner = *expr.operands[0];
  const bool is_clip = (inner.kind == ExprKind::min || inner.kind == ExprKind::max) && inner.kind != expr.kind;
  if (!is_clip || expr.type != tir::int32_type || inner.type != tir::int32_type) return std::nullopt;
  const auto outer_limit = tir::as_int(*expr.operands[1]);
  const auto inner_limit = tir::as_int(*inner.operands[1]);
  const auto low = expr.kind == ExprKind::max ? outer_limit : inner_limit;
  const auto high = expr.kind == ExprKind::max ? inner_limit : outer_limit;
  if (!low || !high) return std::nullopt;
  for (const tir::TypeCode code : {tir::TypeCode::int_, tir::TypeCode::uint}) {
    for (const std::uint8_t bits : {std::uint8_t{8}, std::uint8_t{16}}) {
      const tir::DataType type{code, bits, 1};
      if (range_of_type(type) == Interval{*low, *high}) return type;
    }
  }
  return std::nullopt;
}

}  // namespace

void ExpressionPrinter::add_infix(const Expr& a, std::string_view op, const Expr& b, int own, int left, int right,
                                  int min, std::size_t lane) {
  // A literal may be short if the other operand has the full width.
  const bool a_is_literal = a.kind == ExprKind::int_imm;
  const bool b_is_literal = b.kind == ExprKind::int_imm;
  const bool opened = open(own, min);
  if (a_is_literal && !b_is_literal) {
    add_converted(a, left, lane);
  } else {
    add(a, left, lane);
  }
  add(op);
  if (b_is_literal && !a_is_literal) {
    add_converted(b, right, lane);
  } else {
    add(b, right, lane);
  }
  close(opened);
}

void ExpressionPrinter::add_binary(const Expr& expr, int min, std::size_t lane) {
  Infix infix = infix_of(expr.kind);
  // A chain of one logical operator needs no parentheses; mixed ones get them, as compilers warn without.
  if (expr.kind == ExprKind::and_ || expr.kind == ExprKind::or_) {
    if (expr.operands[0]->kind == expr.kind) infix.left = infix.own;
    if (expr.operands[1]->kind == expr.kind) infix.right = infix.own;
  }
  add_infix(*expr.operands[0], infix.op, *expr.operands[1], infix.own, infix.left, infix.right, min, lane);
}

// Compilers warn of comparisons in one condition that contradict each other, and reviewers of those that say nothing
// new.
void ExpressionPrinter::add_logic(const Expr& expr, int min, std::size_t lane) {
  switch (expr.type.is_vector() ? Logic::both : logic_of(expr)) {
    case Logic::never:
      return add_literal(0, expr.type, min, true);
    case Logic::always:
      return add_literal(1, expr.type, min, true);
    case Logic::first:
      return add(*expr.operands[0], min, lane);
    case Logic::second:
      return add(*expr.operands[1], min, lane);
    case Logic::both:
      return add_binary(expr, min, lane);
  }
}

void ExpressionPrinter::add_arithmetic(const Expr& expr, int min, std::size_t lane) {
  const Expr& a = *expr.operands[0];
  const Expr& b = *expr.operands[1];
  if (is_half(expr.type)) {
    add(file_.helpers.round_to_half(expr.type.element()) + "(");
    add_binary(expr, prec_any, lane);
    return add(")");
  }
  if (expr.type.is_integer()) {
    if (ExprRef rest = without_cancelled_terms(expr)) return add(keep(std::move(rest)), min, lane);
  }
  // "x - 3" rather than "x + -3", "x + 3" rather than "x - -3".
  const bool is_sum = expr.kind == ExprKind::add || expr.kind == ExprKind::sub;
  if (is_sum && expr.type.is_int() && b.kind == ExprKind::int_imm && b.int_value < 0 && b.int_value > INT32_MIN) {
    const Expr& positive = keep(tir::make_int(-b.int_value, tir::promoted(b.type)));  // no int8 is 128
    const Infix infix = infix_of(expr.kind == ExprKind::add ? ExprKind::sub : ExprKind::add);
    return add_infix(a, infix.op, positive, infix.own, infix.left, infix.right, min, lane);
  }
  add_binary(expr, min, lane);
}

std::optional<bool> ExpressionPrinter::known_comparison(const Expr& expr) {
  const Expr& a = *expr.operands[0];
  const Expr& b = *expr.operands[1];
  if (!a.type.is_integer() || !b.type.is_integer()) return std::nullopt;
  // Written as a < b or a <= b or a == b, or the opposite of one of them.
  const bool swapped = expr.kind == ExprKind::gt || expr.kind == ExprKind::ge;
  const Expr& low = swapped ? b : a;
  const Expr& high = swapped ? a : b;
  const bool strict = expr.kind == ExprKind::lt || expr.kind == ExprKind::gt;
  std::optional<bool> known;
  const auto x = ranges_.of(low);
  const auto y = ranges_.of(high);
  const bool x_is_zero = x && *x == Interval{0, 0};
  const bool y_is_zero = y && *y == Interval{0, 0};
  if (expr.kind == ExprKind::eq || expr.kind == ExprKind::ne) {
    if (tir::is_same(a, b)) known = expr.kind == ExprKind::eq;
    if (x && y && (x->high < y->low || y->high < x->low)) known = expr.kind == ExprKind::ne;
  } else if (tir::is_same(a, b)) {
    known = !strict;
  } else if (strict) {
    if (x && y && x->high < y->low) known = true;
    if ((x && y && x->low >= y->high) || (y_is_zero && ranges_.never_negative(low))) known = false;
  } else {
    if ((x && y && x->high <= y->low) || (x_is_zero && ranges_.never_negative(high))) known = true;
    if (x && y && x->low > y->high) known = false;
  }
  return known && !has_side_effects(expr) ? known : std::nullopt;
}

// A comparison whose outcome the operands' ranges decide becomes a constant: compilers warn of it otherwise.
void ExpressionPrinter::add_comparison(const Expr& expr, int min, std::size_t lane) {
  if (const auto known = known_comparison(expr)) return add(literal_true_false(*known));
  const Expr& a = *expr.operands[0];
  const Expr& b = *expr.operands[1];
  if (a.type.is_handle() || b.type.is_handle()) {
    if ((is_null(a) && is_never_null(b)) || (is_null(b) && is_never_null(a))) {
      return add(literal_true_false(expr.kind == ExprKind::ne));
    }
    const bool opened = open(prec_equality, min);
    add_pointer(a, {"void", true}, prec_add);
    add(infix_of(expr.kind).op);
    add_pointer(b, {"void", true}, prec_add);
    return close(opened);
  }
  if (!is_index(a) || !is_index(b)) file_.uses_comparison = true;
  add_binary(expr, min, lane);
}

bool ExpressionPrinter::add_power_of_two_division(const Expr& expr, int min, std::size_t lane) {
  const bool is_floor = expr.kind == ExprKind::floor_div || expr.kind == ExprKind::floor_mod;
  const Expr* divisor = expr.operands[1].get();
  if (divisor->kind == ExprKind::broadcast) divisor = divisor->operands[0].get();
  const auto value = tir::as_int(*divisor);
  if (!is_floor || !value || *value <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(*value))) return false;
  const Expr& dividend = *expr.operands[0];
  if (expr.kind == ExprKind::floor_div) {
    if (*value == 1) {
      add(dividend, min, lane);
      return true;
    }
    const bool opened = open(prec_shift, min);
    add(dividend, prec_unary, lane);
    add(" >> " + std::to_string(std::countr_zero(static_cast<std::uint64_t>(*value))));
    close(opened);
    return true;
  }
  const bool opened = open(prec_bits, min);
  add(dividend, prec_unary, lane);
  add(" & ");
  add_literal(*value - 1, divisor->type, prec_unary, true);
  close(opened);
  return true;
}

void ExpressionPrinter::add_division(const Expr& expr, int min, std::size_t lane) {
  const Expr& a = *expr.operands[0];
  const Expr& b = *expr.operands[1];
  const bool is_floor = expr.kind == ExprKind::floor_div || expr.kind == ExprKind::floor_mod;
  const bool is_quotient = expr.kind == ExprKind::div || expr.kind == ExprKind::floor_div;
  if (expr.type.is_integer()) {
    if (const auto divisor = ranges_.of(b); divisor && *divisor == Interval{0, 0}) unsupported("division by zero");
    if (add_power_of_two_division(expr, min, lane)) return;
    const auto divisor = ranges_.of(b);
    const bool is_plain = !is_floor || (expr.type.is_uint() && expr.type.bits >= 32) ||
                          (ranges_.never_negative(a) && divisor && divisor->low > 0);
    if (is_plain) {
      return add_infix(a, is_quotient ? " / " : " % ", b, prec_multiply, prec_multiply, prec_unary, min, lane);
    }
  }
  const bool opened = is_half(expr.type);
  if (opened) add(file_.helpers.round_to_half(expr.type.element()) + "(");
  if (expr.kind == ExprKind::div) {
    add_infix(a, " / ", b, prec_multiply, prec_multiply, prec_unary, opened ? prec_any : min, lane);
  } else {
    std::string name;
    if (expr.kind == ExprKind::mod) {
      file_.helpers.need_header("math.h");
      name = expr.type.bits == 64 ? "fmod" : "fmodf";
    } else {
      name = is_quotient ? file_.helpers.floor_div(expr.type.element()) : file_.helpers.floor_mod(expr.type.element());
    }
    add(name);
    add_arguments(expr.operands, lane);
  }
  if (opened) add(")");
}

void ExpressionPrinter::add_min_max(const Expr& expr, int min, std::size_t lane) {
  const Expr& a = *expr.operands[0];
  const Expr& b = *expr.operands[1];
  const bool is_min = expr.kind == ExprKind::min;
  // Operands are cut to their type before they are compared, as TVM's C does it.
  // Bounds that always hold go away, with the comparisons that compilers would warn of.
  if (expr.type.is_integer()) {
    const auto x = ranges_.of_cut(a);
    const auto y = ranges_.of_cut(b);
    const bool a_is_less = x && y && x->high <= y->low;
    const bool b_is_less = x && y && y->high <= x->low;
    if ((a_is_less || b_is_less) && !has_side_effects(expr))
      return add_assigned(a_is_less == is_min ? a : b, min, lane);
  }
  if (const auto limits = clipped_to(expr)) {
    add(file_.helpers.clip(*limits) + "(");
    add_assigned(*a.operands[0], prec_any, lane);
    return add(")");
  }
  if (is_trivial(a) && is_trivial(b) && !tir::is_same(a, b)) {
    const bool opened = open(prec_ternary, min);
    add_infix(a, is_min ? " < " : " > ", b, prec_relation, prec_add, prec_add, prec_any, lane);
    add(" ? ");
    add(a, prec_or, lane);
    add(" : ");
    add(b, prec_or, lane);
    return close(opened);
  }
  add(is_min ? file_.helpers.min(expr.type.element()) : file_.helpers.max(expr.type.element()));
  add("(");
  add_assigned(a, prec_any, lane);
  add(", ");
  add_assigned(b, prec_any, lane);
  add(")");
}

void ExpressionPrinter::add_arguments(const std::vector<ExprRef>& operands, std::size_t lane) {
  add("(");
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) add(", ");
    add_converted(*operands[i], prec_any, lane);
  }
  add(")");
}

// In front of a '?'. Compilers ask for parentheses around bitwise operators there, also where a let ends in one.
void ExpressionPrinter::add_condition(const Expr& condition, std::size_t lane) {
  const Expr* end = &peeled(condition);
  while (end->kind == ExprKind::let) end = &peeled(*end->operands[1]);
  const bool is_bitwise = tir::is_bitwise(end->op);
  add(condition, is_bitwise ? prec_unary : prec_or, lane);
}

void ExpressionPrinter::add_conditional(const Expr& condition, const Expr& yes, const Expr& no, int min,
                                        std::size_t lane) {
  const bool opened = open(prec_ternary, min);
  add_condition(condition, lane);
  add(" ? ");
  add(yes, prec_or, lane);
  add(" : ");
  add(no, prec_or, lane);
  close(opened);
}

void ExpressionPrinter::add_cast(const Expr& expr, int min, std::size_t lane) {
  const Expr& value = *expr.operands[0];
  const DataType from = value.type.element();
  const DataType to = expr.type.element();
  if (from == to && value.type.is_float()) return add(value, min, lane);
  if (is_half(to)) return add_cast_to_half(expr, lane);
  if (to.is_float() && to.bits == 32 && is_half(from)) return add(value, min, lane);  // it is computed as float
  if (to.is_bool()) {
    if (from.is_bool()) return add(value, min, lane);
    const bool opened = open(prec_equality, min);
    add(value, prec_add, lane);
    add(from.is_float() ? (from.bits == 64 ? " != 0.0" : " != 0.0f") : " != 0");
    return close(opened);
  }
  const bool opened = open(prec_unary, min);
  add("(" + c_type(to) + ")");
  add(value, prec_unary, lane);
  close(opened);
}

// Integers go through double, which holds every int32 exactly, so that there is one rounding only.
void ExpressionPrinter::add_cast_to_half(const Expr& expr, std::size_t lane) {
  const Expr& value = *expr.operands[0];
  const DataType to = expr.type.element();
  const bool fits_float =
      value.type.is_float() ? value.type.bits < 64 : value.type.bits <= 16 && !may_leave_type(value);
  add((fits_float ? file_.helpers.round_to_half(to) : file_.helpers.round_double_to_half(to)) + "(");
  if (!value.type.is_float()) add(fits_float ? "(float)" : "(double)");
  add(value, value.type.is_float() ? prec_any : prec_unary, lane);
  add(")");
}

}  // namespace usmp::codegen

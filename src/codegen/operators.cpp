// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// TIR's operators (tir.Call): math functions, bits, fixed point, float tests, punning.
#include <algorithm>
#include <cstdint>

#include "codegen/c_library.hpp"
#include "codegen/expressions.hpp"
#include "usmp/support/checked.hpp"

namespace usmp::codegen {
namespace {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;

std::optional<std::int64_t> constant_of(const Expr& expr) {
  return tir::as_int(expr.kind == tir::ExprKind::broadcast ? *expr.operands[0] : expr);
}

// Operators that stand for no function of C, nor of ours.
bool is_plain_operator(const Expr& expr) {
  return tir::is_bitwise(expr.op) || tir::is_shift(expr.op) || expr.op == tir::Op::likely ||
         expr.op == tir::Op::if_then_else;
}

}  // namespace

// Compilers warn of the complement of such a number: where it is compared, as of a slip, and of a bool's anyway.
bool ExpressionPrinter::is_unsigned_and_extended(const Expr& complement) const {
  const int width = std::max<int>(complement.type.bits, 32);
  const auto is_extended = [&](DataType type) { return type.is_uint() && type.bits < width; };
  bool found = is_extended(complement.type);
  const Expr* number = &peeled(*complement.operands[0]);
  const auto is_conversion = [](const Expr& expr) {
    return expr.kind == ExprKind::cast || (expr.op == tir::Op::reinterpret && expr.operands.size() == 1);
  };
  while (is_conversion(*number) && number->operands[0]->type.is_integer()) {
    found = found || is_extended(number->type);
    number = &peeled(*number->operands[0]);
  }
  return found || is_extended(number->type);
}

bool ExpressionPrinter::may_call(const Expr& root) const {
  bool found = false;
  tir::for_each_expr(root, [&](const Expr& expr) {
    found = found || is_half(expr.type) || expr.kind == ExprKind::let ||
            (expr.kind >= ExprKind::div && expr.kind <= ExprKind::max) ||
            (expr.kind == ExprKind::call && !is_plain_operator(expr)) ||
            (expr.kind == ExprKind::load && pointer(expr.var).mixed_types) ||
            (expr.kind == ExprKind::var && substituted_.contains(expr.var));
    return !found;
  });
  return found;
}

void ExpressionPrinter::add_operator(const Expr& expr, int min, std::size_t lane) {
  if (expr.type.is_handle()) return add_pointer_as_is(expr, min);
  if (const auto call = tir::named_call(expr)) {
    if (expr.type.is_vector()) unsupported("a call of '" + *call->name + "' returns a vector");
    return add_call(*call, expr.type);
  }
  if (expr.op == tir::Op::if_then_else) {
    need_operands(expr, 3);
    return add_conditional(*expr.operands[0], *expr.operands[1], *expr.operands[2], min, lane);
  }
  if (expr.op == tir::Op::likely) {
    need_operands(expr, 1);
    return add(*expr.operands[0], min, lane);
  }
  if (expr.op == tir::Op::reinterpret) return add_reinterpret(expr, min, lane);
  if (expr.op == tir::Op::isnullptr) {
    need_operands(expr, 1);
    if (is_never_null(*expr.operands[0])) return add(literal_true_false(false));
    file_.helpers.need_header("stddef.h");
    const bool opened = open(prec_equality, min);
    add_pointer(*expr.operands[0], {"void", true}, prec_add);
    add(" == NULL");
    return close(opened);
  }
  if (expr.op == tir::Op::undef) return add("0");
  if (expr.op == tir::Op::dot4 || expr.op == tir::Op::lane_product || tir::is_run(expr.op)) return add_products(expr);
  if (add_math(expr, min, lane) || add_bit_operator(expr, min, lane) || add_fixed_point(expr, min, lane) ||
      add_float_test(expr, min, lane)) {
    return;
  }
  if (expr.op == tir::Op::lookup_param) {
    unsupported("operator tir.lookup_param refers to a linked parameter, which archives do not contain");
  }
  unsupported("operator " + name_of_operator(expr) + " is not supported here");
}

// The loads of data and weights, and of runs those of sums, stand for the places of elements.
void ExpressionPrinter::add_products(const Expr& expr) {
  const tir::DataType data = expr.operands[1]->type;
  const tir::DataType weight = expr.operands[2]->type;
  const bool is_run = tir::is_run(expr.op);
  std::size_t printed = expr.operands.size();
  switch (expr.op) {
    case tir::Op::dot4:
      add(file_.helpers.dot4(data, weight));
      break;
    case tir::Op::lane_product:
      add(file_.helpers.lane_product(data, weight));
      break;
    case tir::Op::lane_run:
      add(file_.helpers.lane_run(data, weight));
      break;
    case tir::Op::lane_window: {
      const bool is_ring = tir::as_int(*expr.operands[13]) != 0;
      const std::int64_t step = tir::as_int(*expr.operands[14]).value();
      add(file_.helpers.lane_window(data, weight, is_ring, tir::as_int(*expr.operands[11]) != 0, step));
      printed = is_ring ? 14 : 12;  // the name has the step
      break;
    }
    case tir::Op::row_run:
      add(file_.helpers.row_run(data, weight));
      break;
    case tir::Op::pair_run:
      add(file_.helpers.pair_run(data));
      --printed;  // the zero point is in what sums begin with
      break;
    case tir::Op::window_run:
      add(file_.helpers.window_run(data, weight, tir::as_int(*expr.operands.back()) != 0));
      break;
    default:
      add(file_.helpers.dot_run(data, weight, tir::as_int(*expr.operands.back()).value(),
                                tir::as_int(*expr.operands[7]) != 0));
      --printed;  // the name says how many sums
  }
  add("(");
  for (std::size_t i = 0; i < printed; ++i) {
    if (i > 0) add(", ");
    if (i > 2 || (i == 0 && !is_run)) {
      add(*expr.operands[i]);
    } else {
      add_address(expr.operands[i], i > 0);
    }
  }
  add(")");
}

bool ExpressionPrinter::add_math(const Expr& expr, int min, std::size_t lane) {
  const tir::OpInfo& function = tir::info(expr.op);
  const bool is_named = !function.c_name.empty();
  const bool is_composed = expr.op == tir::Op::rsqrt || expr.op == tir::Op::sigmoid || expr.op == tir::Op::exp10;
  if (!is_named && !is_composed) return false;
  need_operands(expr, function.arity);
  if (!expr.type.is_float())
    unsupported("operator " + name_of_operator(expr) + " is of type " + tir::to_string(expr.type));
  file_.helpers.need_header("math.h");
  const bool is_double = expr.type.bits == 64;
  const std::string suffix = is_double ? "" : "f";
  const std::string one = is_double ? "1.0" : "1.0f";
  const bool rounds = is_half(expr.type);
  if (rounds) {
    add(file_.helpers.round_to_half(expr.type.element()) + "(");
    min = prec_any;
  }
  if (is_named) {
    add(std::string(function.c_name) + suffix);
    add_arguments(expr.operands, lane);
  } else if (expr.op == tir::Op::exp10) {
    add("pow" + suffix + "(" + (is_double ? "10.0" : "10.0f") + ", ");
    add(*expr.operands[0], prec_any, lane);
    add(")");
  } else {
    const bool opened = open(prec_multiply, min);
    if (expr.op == tir::Op::rsqrt) {
      add(one + " / sqrt" + suffix);
      add_arguments(expr.operands, lane);
    } else {
      add(one + " / (" + one + " + exp" + suffix + "(-");
      add(*expr.operands[0], prec_postfix, lane);
      add("))");
    }
    close(opened);
  }
  if (rounds) add(")");
  return true;
}

bool ExpressionPrinter::add_bit_operator(const Expr& expr, int min, std::size_t lane) {
  const tir::Op op = expr.op;
  if (op == tir::Op::large_uint_imm) {
    need_operands(expr, 2);
    const auto low = tir::as_int(*expr.operands[0]);
    const auto high = tir::as_int(*expr.operands[1]);
    if (!low || !high) unsupported("operator tir.large_uint_imm has an operand that is not constant");
    const std::uint64_t bits =
        static_cast<std::uint64_t>(*high) << 32 | (static_cast<std::uint64_t>(*low) & UINT32_MAX);
    add_literal(static_cast<std::int64_t>(bits), expr.type.element(), min, false);
    return true;
  }
  if (op == tir::Op::popcount || op == tir::Op::clz) {
    need_operands(expr, 1);
    const DataType type = expr.operands[0]->type.element();
    // The helpers count in int32_t; narrower types are promoted to it anyway.
    const bool converts = expr.type.bits >= 32 && expr.type.element() != tir::int32_type;
    const bool opened = converts && open(prec_unary, min);
    if (converts) add("(" + c_type(expr.type) + ")");
    add(op == tir::Op::clz ? file_.helpers.clz(type) : file_.helpers.popcount(type));
    const bool narrow = type.bits < 32;  // its sign must not be extended into the bits that are counted
    if (narrow && op == tir::Op::clz) unsupported("operator tir.clz is of type " + tir::to_string(type));
    const bool is_cut = narrow || type.is_int();
    // GCC takes a narrow unsigned number that a condition chose for one whose sign may change.
    add(narrow ? "((uint32_t)" : "(");
    if (is_cut) add("(uint" + std::to_string(static_cast<int>(type.bits)) + "_t)");
    add(*expr.operands[0], is_cut ? prec_unary : prec_any, lane);
    add(")");
    close(opened);
    return true;
  }
  if (op == tir::Op::shift_left) {
    add_shift_left(expr, min, lane);
    return true;
  }
  if (op == tir::Op::bitwise_not) {
    need_operands(expr, 1);
    if (!expr.type.is_bool() && is_unsigned_and_extended(expr)) {
      add(file_.helpers.complement(tir::promoted(expr.type)));
      add_arguments(expr.operands, lane);
      return true;
    }
    const bool opened = open(prec_unary, min);
    add(expr.type.is_bool() ? "!" : "~");
    add(*expr.operands[0], prec_unary, lane);
    close(opened);
    return true;
  }
  std::string_view infix;
  if (op == tir::Op::bitwise_and) infix = " & ";
  if (op == tir::Op::bitwise_or) infix = " | ";
  if (op == tir::Op::bitwise_xor) infix = " ^ ";
  if (op == tir::Op::bitwise_xor && expr.operands.size() == 2 && expr.operands[0]->kind == ExprKind::int_imm &&
      expr.operands[1]->kind == ExprKind::int_imm) {  // clang takes "10 ^ 5" for a power
    const std::int64_t value = expr.operands[0]->int_value ^ expr.operands[1]->int_value;
    add_literal(value, tir::promoted(expr.type.element()), min, false);
    return true;
  }
  if (op == tir::Op::shift_right) infix = " >> ";
  if (infix.empty()) return false;
  need_operands(expr, 2);
  if (!expr.type.is_integer())
    unsupported("operator " + name_of_operator(expr) + " is of type " + tir::to_string(expr.type));
  if (op == tir::Op::shift_right) {
    const auto count = ranges_.of(*expr.operands[1]);
    if (count && (count->high < 0 || count->low >= std::max<int>(32, expr.type.bits))) {
      unsupported("a shift by " + std::to_string(count->low) + " bits of type " + tir::to_string(expr.type));
    }
    // C's shifts have the type of the left operand alone, so a literal must not be short there.
    const bool opened = open(prec_shift, min);
    add(*expr.operands[0], prec_unary, lane);
    add(infix);
    add_converted(*expr.operands[1], prec_unary, lane);
    close(opened);
    return true;
  }
  const int least = expr.type.is_bool() ? prec_postfix : prec_unary;  // compilers take "!a & b" for a mistake
  if (expr.type.is_bool() && may_call(*expr.operands[0]) && may_call(*expr.operands[1])) {
    const bool opened = open(prec_bits, min);  // of calls among conditions compilers ask whether "&&" was meant
    add("(int)");
    add(*expr.operands[0], least, lane);
    add(infix);
    add(*expr.operands[1], least, lane);
    close(opened);
    return true;
  }
  add_infix(*expr.operands[0], infix, *expr.operands[1], prec_bits, least, least, min, lane);
  return true;
}

// A left shift of a negative number is undefined in C, so it goes through the unsigned type.
void ExpressionPrinter::add_shift_left(const Expr& expr, int min, std::size_t lane) {
  need_operands(expr, 2);
  const DataType type = expr.type.element();
  if (!type.is_integer() || type.is_bool()) {
    unsupported("operator tir.shift_left is of type " + tir::to_string(expr.type));
  }
  const auto count = ranges_.of(*expr.operands[1]);
  const DataType computed = tir::promoted(type);
  if (count && (count->high < 0 || count->low >= computed.bits)) {
    unsupported("a shift by " + std::to_string(count->low) + " bits of type " + tir::to_string(type));
  }
  // A product where it cannot overflow: GCC warns of "choice ? (int64_t)((uint64_t)x << 2) : x".
  const auto values = ranges_.of(*expr.operands[0]);
  if (computed == tir::int64_type && values && count && count->low == count->high && count->low < 63) {
    const std::int64_t factor = std::int64_t{1} << count->low;
    if (checked_mul(values->low, factor) && checked_mul(values->high, factor)) {
      return add_infix(*expr.operands[0], " * ", keep(tir::make_int(factor, computed)), prec_multiply, prec_multiply,
                       prec_unary, min, lane);
    }
  }
  const DataType unsigned_type{tir::TypeCode::uint, computed.bits, 1};
  const bool converts = computed != unsigned_type;
  const bool opened = open(converts ? prec_unary : prec_shift, min);
  if (converts) add("(" + c_type(computed) + ")((" + c_type(unsigned_type) + ")");
  add(*expr.operands[0], prec_unary, lane);
  // GCC forgets that a constant is unsigned, and warns of the bits that it loses.
  const bool is_known = values && count && values->low == values->high && count->low == count->high;
  if (converts && computed.bits == 32 && is_known) {
    add(" * " + std::to_string(std::uint64_t{1} << count->low) + "U");
  } else {
    add(" << ");
    add_converted(*expr.operands[1], prec_unary, lane);
  }
  if (converts) add(")");
  close(opened);
}

bool ExpressionPrinter::add_fixed_point(const Expr& expr, int min, std::size_t lane) {
  if (expr.op == tir::Op::paired_weight) {
    need_operands(expr, 2);
    add(file_.helpers.paired_weight());
    add_arguments(expr.operands, lane);
    return true;
  }
  if (expr.op == tir::Op::multiply_high) {
    need_operands(expr, 3);
    const bool is_whole = tir::as_int(*expr.operands[2]) == 0;
    add(is_whole ? file_.helpers.round_high() : file_.helpers.multiply_high());
    add_arguments({expr.operands.begin(), expr.operands.end() - (is_whole ? 1 : 0)}, lane);
    return true;
  }
  const bool per_axis = expr.op == tir::Op::q_multiply_shift_per_axis;
  const bool is_half = expr.op == tir::Op::q_multiply_shift_half;
  if (!per_axis && !is_half && expr.op != tir::Op::q_multiply_shift) return false;
  need_operands(expr, per_axis ? 7 : 4);
  if (expr.type.element() != tir::int32_type) {
    unsupported("operator " + name_of_operator(expr) + " is of type " + tir::to_string(expr.type));
  }
  if (per_axis) {  // the last operand tells of a right shift, which the formula needs not to know
    add(file_.helpers.q_multiply_shift_per_axis());
    add_arguments({expr.operands.begin(), expr.operands.end() - 1}, lane);
    return true;
  }
  // One half in Q31: a shift, rounded once, that never leaves 32 bits.
  if (is_half) {
    const auto shift = constant_of(*expr.operands[3]);
    if (!shift) unsupported("operator " + name_of_operator(expr) + " does not shift by a literal");
    if (*shift == 1) {
      add(*expr.operands[0], min, lane);
      return true;
    }
    if (*shift < -30 || *shift > 32) unsupported("operator tir.q_multiply_shift shifts by " + std::to_string(*shift));
    add(file_.helpers.round_shift() + "(");
    add_converted(*expr.operands[0], prec_any, lane);
    add(", " + std::to_string(*shift - 1) + ")");
    return true;
  }
  add(file_.helpers.q_multiply_shift());
  add_arguments(expr.operands, lane);
  return true;
}

bool ExpressionPrinter::add_float_test(const Expr& expr, int min, std::size_t lane) {
  std::string_view name;
  if (expr.op == tir::Op::isnan) name = "isnan";
  if (expr.op == tir::Op::isinf) name = "isinf";
  if (expr.op == tir::Op::isfinite) name = "isfinite";
  if (name.empty()) return false;
  need_operands(expr, 1);
  if (!expr.operands[0]->type.is_float()) {
    unsupported("operator " + name_of_operator(expr) + " tests type " + tir::to_string(expr.operands[0]->type));
  }
  file_.helpers.need_header("math.h");
  const bool opened = open(prec_equality, min);  // the macros give any number but 0 for true
  add(name);
  add_arguments(expr.operands, lane);
  add(" != 0");
  close(opened);
  return true;
}

void ExpressionPrinter::add_reinterpret(const Expr& expr, int min, std::size_t lane) {
  need_operands(expr, 1);
  const Expr& value = *expr.operands[0];
  const DataType from = value.type.element();
  const DataType to = expr.type.element();
  if (from == to) return add_assigned(value, min, lane);
  const bool same_size = from.bits == to.bits && value.type.lanes == expr.type.lanes;
  if (!same_size || !has_c_type(from) || from.is_bool() || to.is_bool()) {
    unsupported("reinterpretation of " + tir::to_string(value.type) + " as " + tir::to_string(expr.type));
  }
  if (from.is_integer() && to.is_integer()) {
    const bool opened = open(prec_unary, min);
    add("(" + c_type(to) + ")");
    add(value, prec_unary, lane);
    return close(opened);
  }
  // Half types hold their value in a float: bits ← value, value ← bits.
  const bool opened = is_half(from) && !is_half(to) && open(prec_unary, min);
  if (is_half(to)) add(file_.helpers.half_to_float(to) + "(");
  if (is_half(from)) {
    if (!is_half(to)) add("(" + c_type(to) + ")");
    add(file_.helpers.float_to_half(from) + "(");
    add(value, prec_any, lane);
    add(")");
  } else if (is_half(to)) {
    add("(uint16_t)");
    add(value, prec_unary, lane);
  } else {
    add(file_.helpers.reinterpret(storage_type(from), storage_type(to)) + "(");
    add(value, prec_any, lane);
    add(")");
  }
  if (is_half(to)) add(")");
  close(opened);
}

}  // namespace usmp::codegen

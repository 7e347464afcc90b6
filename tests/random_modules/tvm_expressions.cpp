// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Prints expressions operator by operator, with all the casts and brackets of TVM.
#include "random_modules/tvm_expressions.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "random_modules/values.hpp"
#include "usmp/tir/ops.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::random_modules {
namespace {

using tir::DataType;
using tir::Expr;
using tir::ExprKind;

std::string_view infix_of(ExprKind kind) {
  switch (kind) {
    case ExprKind::add:
      return " + ";
    case ExprKind::sub:
      return " - ";
    case ExprKind::mul:
      return " * ";
    case ExprKind::div:
      return " / ";
    case ExprKind::mod:
      return " % ";
    case ExprKind::eq:
      return " == ";
    case ExprKind::ne:
      return " != ";
    case ExprKind::lt:
      return " < ";
    case ExprKind::le:
      return " <= ";
    case ExprKind::gt:
      return " > ";
    case ExprKind::ge:
      return " >= ";
    case ExprKind::and_:
      return " && ";
    case ExprKind::or_:
      return " || ";
    default:
      throw NoSpelling();
  }
}

// Whether it is defined wherever its operands are.
bool is_harmless(const Expr& root) {
  bool harmless = true;
  tir::for_each_expr(root, [&](const Expr& expr) {
    const bool divides = expr.kind == ExprKind::div || expr.kind == ExprKind::mod || expr.kind == ExprKind::floor_div ||
                         expr.kind == ExprKind::floor_mod;
    if (expr.kind == ExprKind::load || (divides && expr.type.is_integer())) harmless = false;
  });
  return harmless;
}

// A power of two that a floor quotient divides by: its exponent.
std::optional<int> shift_of(const Expr& expr) {
  const Expr& divisor =
      expr.operands[1]->kind == ExprKind::broadcast ? *expr.operands[1]->operands[0] : *expr.operands[1];
  const auto value = tir::as_int(divisor);
  if (!value || *value <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(*value))) return std::nullopt;
  return std::countr_zero(static_cast<std::uint64_t>(*value));
}

std::int64_t constant(const Expr& expr) {
  const auto value = tir::as_int(expr.kind == ExprKind::broadcast ? *expr.operands[0] : expr);
  if (!value) throw NoSpelling();
  return *value;
}

}  // namespace

std::string c_type(DataType type) {
  if (type.is_handle() || type.is_void()) throw NoSpelling();
  if (type.is_bool()) return "bool";
  if (type.is_integer()) return std::string(type.is_uint() ? "u" : "") + "int" + std::to_string(type.bits) + "_t";
  if (type.code != tir::TypeCode::float_ || type.bits < 32) throw NoSpelling();
  return type.bits == 64 ? "double" : "float";
}

TvmExpressions::TvmExpressions(TvmDialect dialect, Pointer pointer) : dialect_(dialect), pointer_(std::move(pointer)) {
  if (pointer_) return;
  pointer_ = [this](tir::VarId var, DataType type) { return "((" + c_type(type) + "*)" + names_.at(var) + ")"; };
}

std::string TvmExpressions::take_statements() { return std::exchange(statements_, {}); }

// NOLINTBEGIN(misc-no-recursion): over expressions of the generator, a few levels deep.
std::string TvmExpressions::value(const Expr& expr, std::size_t lane) {
  switch (expr.kind) {
    case ExprKind::int_imm:
      return literal(expr.int_value, expr.type);
    case ExprKind::float_imm:
      return real(expr.float_value, expr.type);
    case ExprKind::var:
      return names_.at(expr.var) + (expr.type.is_vector() ? "_" + std::to_string(lane) : "");
    case ExprKind::load:
      return load(expr, lane);
    case ExprKind::cast:
      return "((" + c_type(expr.type) + ")" + operand(expr, 0, lane) + ")";
    case ExprKind::not_:
      return "!(" + operand(expr, 0, lane) + ")";
    case ExprKind::select:
      return choice(expr, lane);
    case ExprKind::ramp:
      return "(" + operand(expr, 0, lane) + " + (" + operand(expr, 1, lane) + " * " +
             literal(static_cast<std::int64_t>(lane), expr.type.element()) + "))";
    case ExprKind::broadcast:
      return operand(expr, 0, lane);
    case ExprKind::shuffle:
      return shuffle(expr, lane);
    case ExprKind::let:
      return let(expr, lane);
    case ExprKind::min:
    case ExprKind::max: {
      const std::string a = variable(*expr.operands[0], lane);
      const std::string b = variable(*expr.operands[1], lane);
      return "((" + a + (expr.kind == ExprKind::min ? ") < (" : ") > (") + b + ") ? (" + a + ") : (" + b + "))";
    }
    case ExprKind::floor_div:
    case ExprKind::floor_mod:
      return expr.type.is_float() ? float_floor(expr, lane) : floor(expr, lane);
    case ExprKind::mod:
      if (expr.type.is_float()) return call(expr.type.bits == 64 ? "fmod" : "fmodf", expr, lane);
      return infix(expr, " % ", lane);
    case ExprKind::and_:
    case ExprKind::or_:
      return "(" + operand(expr, 0, lane) + std::string(infix_of(expr.kind)) + lazy(expr, 1, lane) + ")";
    case ExprKind::call:
      return operation(expr, lane);
    default:
      return infix(expr, infix_of(expr.kind), lane);
  }
}

std::string TvmExpressions::literal(std::int64_t bits, DataType type) {
  const std::int64_t number = wrapped(bits, type);
  if (type.is_bool()) return number != 0 ? "(bool)1" : "(bool)0";
  if (type.is_uint() && type.bits == 64) return std::to_string(static_cast<std::uint64_t>(number)) + "ULL";
  if (number == INT64_MIN) return "(-9223372036854775807LL - 1)";
  return type == tir::int32_type && number > INT32_MIN
             ? (number < 0 ? "(" + std::to_string(number) + ")" : std::to_string(number))
             : "((" + c_type(type) + ")" + std::to_string(number) + "LL)";
}

// TVM prints seven digits; here all of them.
std::string TvmExpressions::real(double number, DataType type) const {
  const double exact = rounded(number, type);
  if (exact - exact != 0) {
    if (!dialect_.suffixes_floats || exact != exact) throw NoSpelling();
    const std::string infinity = exact < 0 ? "-INFINITY" : "INFINITY";
    return type.bits == 64 ? "((double)" + infinity + ")" : "(" + infinity + ")";
  }
  std::ostringstream text;
  text.precision(17);
  text << std::scientific << exact;
  if (dialect_.suffixes_floats && type.bits == 32) return text.str() + "f";
  return "((" + c_type(type) + ")" + text.str() + ")";
}

std::string TvmExpressions::operand(const Expr& expr, std::size_t i, std::size_t lane) {
  const Expr& operand = *expr.operands.at(i);
  return value(operand, operand.type.is_vector() ? lane : 0);
}

std::string TvmExpressions::lazy(const Expr& expr, std::size_t i, std::size_t lane) {
  ++lazy_;
  std::string text = operand(expr, i, lane);
  --lazy_;
  return text;
}

std::string TvmExpressions::element(tir::VarId storage, DataType type, const Expr& index, std::size_t lane) {
  std::string at = value(index, index.type.is_vector() ? lane : 0);
  if (dialect_.brackets_indices) at = "(" + at + ")";
  return pointer_(storage, type) + "[" + at + "]";
}

std::string TvmExpressions::load(const Expr& expr, std::size_t lane) {
  if (expr.operands.size() != 1) throw NoSpelling();
  const DataType type = expr.type.element();
  if (!type.is_bool() || !dialect_.bytes_are_bools) return element(expr.var, type, *expr.operands[0], lane);
  return "(" + element(expr.var, tir::uint8_type, *expr.operands[0], lane) + " != 0)";
}

// "int8_t v_ = p0[i] + p1[i];"
std::string TvmExpressions::variable(const Expr& expr, std::size_t lane) {
  if (lazy_ > 0 && !is_harmless(expr)) throw NoSpelling();  // it would be computed in any case
  const std::string text = value(expr, expr.type.is_vector() ? lane : 0);
  std::string name = "v_" + std::to_string(count_++);
  statements_ += "    " + c_type(expr.type) + " " + name + " = " + text + ";\n";
  return name;
}

std::string TvmExpressions::let(const Expr& expr, std::size_t lane) {
  const DataType type = expr.operands[0]->type;
  const std::string outer = names_[expr.var];
  std::string name = variable(*expr.operands[0], lane);
  if (type.is_vector()) {  // of which the body reads this lane only, or others too
    const std::string first = std::move(name);
    name = first + "_all";
    for (std::size_t i = 0; i < type.lanes; ++i) {
      const std::string one = i == lane ? first : variable(*expr.operands[0], i);
      statements_ += "    " + c_type(type) + " " + name + "_" + std::to_string(i) + " = " + one + ";\n";
    }
  }
  names_[expr.var] = name;
  std::string body = operand(expr, 1, lane);
  names_[expr.var] = outer;
  return body;
}

std::string TvmExpressions::shuffle(const Expr& expr, std::size_t lane) {
  const auto vectors = static_cast<std::size_t>(expr.int_value);
  auto at = static_cast<std::size_t>(constant(*expr.operands.at(vectors + lane)));
  for (std::size_t i = 0; i < vectors; ++i) {
    const std::size_t lanes = expr.operands[i]->type.lanes;
    if (at < lanes) return operand(expr, i, at);
    at -= lanes;
  }
  throw NoSpelling();
}

std::string TvmExpressions::infix(const Expr& expr, std::string_view op, std::size_t lane) {
  const std::string a = operand(expr, 0, lane);
  return "(" + a + std::string(op) + operand(expr, 1, lane) + ")";
}

std::string TvmExpressions::choice(const Expr& expr, std::size_t lane) {
  const std::string condition = operand(expr, 0, lane);
  const bool is_lazy = expr.kind == ExprKind::call;
  const std::string yes = is_lazy ? lazy(expr, 1, lane) : operand(expr, 1, lane);
  const std::string no = is_lazy ? lazy(expr, 2, lane) : operand(expr, 2, lane);
  return "(" + condition + " ? " + yes + " : " + no + ")";
}

// Whether a variable of the type has what C computes without it: it cuts narrow integers, which are int there.
bool TvmExpressions::is_one_in_both(const Expr& choice) {
  if (!choice.type.is_integer() || choice.type.is_bool() || choice.type.bits >= 32) return true;
  const auto is_cut = [](const Expr& value) {
    return value.kind == ExprKind::load || value.kind == ExprKind::cast || value.kind == ExprKind::int_imm;
  };
  return is_cut(*choice.operands[1]) && is_cut(*choice.operands[2]);
}

std::string TvmExpressions::branches(const Expr& expr) {
  if (lazy_ > 0) throw NoSpelling();
  const std::string condition = value(*expr.operands[0]);
  const std::string name = "condval_" + std::to_string(count_++);
  std::string text = take_statements() + "    " + c_type(expr.type) + " " + name + ";\n    if (" + condition + ") {\n";
  const std::string yes = value(*expr.operands[1]);
  text += take_statements() + "      " + name + " = " + yes + ";\n    } else {\n";
  const std::string no = value(*expr.operands[2]);
  statements_ = text + statements_ + "      " + name + " = " + no + ";\n    }\n";
  return name;
}

std::string TvmExpressions::call(const std::string& function, const Expr& expr, std::size_t lane, std::size_t first) {
  std::string text = function + "(";
  for (std::size_t i = first; i < expr.operands.size(); ++i) text += (i > first ? ", " : "") + operand(expr, i, lane);
  return text + ")";
}

// Lowered before TVM prints it: a shift or a mask for powers of two, else C's quotient and remainder, corrected.
std::string TvmExpressions::floor(const Expr& expr, std::size_t lane) {
  const bool is_quotient = expr.kind == ExprKind::floor_div;
  const std::string a = operand(expr, 0, lane);
  if (const auto bits = shift_of(expr)) {
    const std::string mask = literal((std::int64_t{1} << *bits) - 1, expr.type.element());
    return "(" + a + (is_quotient ? " >> " + std::to_string(*bits) : " & " + mask) + ")";
  }
  const std::string b = operand(expr, 1, lane);
  const std::string quotient = "(" + a + " / " + b + ")";
  const std::string rest = "(" + a + " % " + b + ")";
  const std::string is_floor = "((" + b + " >= 0 && " + rest + " >= 0) || (" + b + " < 0 && " + rest + " <= 0))";
  return "(" + is_floor + " ? " +
         (is_quotient ? quotient + " : (" + quotient + " - 1)" : rest + " : (" + rest + " + " + b + ")") + ")";
}

std::string TvmExpressions::float_floor(const Expr& expr, std::size_t lane) {
  const std::string quotient =
      std::string(expr.type.bits == 64 ? "floor" : "floorf") + "(" + infix(expr, " / ", lane) + ")";
  if (expr.kind == ExprKind::floor_div) return quotient;
  const std::string a = operand(expr, 0, lane);
  return "(" + a + " - (" + quotient + " * " + operand(expr, 1, lane) + "))";
}

std::string TvmExpressions::operation(const Expr& expr, std::size_t lane) {
  const std::string op(tir::operator_name(expr).substr(4));
  static const std::map<std::string, std::string> infixes = {
      {"bitwise_and", " & "}, {"bitwise_or", " | "}, {"bitwise_xor", " ^ "}, {"shift_right", " >> "}};
  if (const auto found = infixes.find(op); found != infixes.end()) return infix(expr, found->second, lane);
  if (op == "shift_left") {  // TVM's "a << b", where that is defined
    const DataType computed = promoted_type(expr.type.element());
    const DataType bits{tir::TypeCode::uint, computed.bits, 1};
    const std::string a = operand(expr, 0, lane);
    return "((" + c_type(computed) + ")((" + c_type(bits) + ")" + a + " << " + operand(expr, 1, lane) + "))";
  }
  if (op == "bitwise_not") return (expr.type.is_bool() ? "(!" : "(~") + operand(expr, 0, lane) + ")";
  if (op == "likely") return operand(expr, 0, lane);
  if (op == "if_then_else") {
    const bool has_branches = dialect_.branches_choices && !expr.type.is_vector() && is_one_in_both(expr);
    return has_branches ? branches(expr) : choice(expr, lane);
  }
  if (op == "reinterpret") {
    if (dialect_.shifts_fixed_points) throw NoSpelling();  // no form that is read
    const std::string source = variable(*expr.operands[0], lane);
    return "(*(" + c_type(expr.type) + " *)(&(" + source + ")))";
  }
  if (op == "q_multiply_shift_per_axis") return fixed_point_per_axis(expr, lane);
  if (op == "q_multiply_shift" || expr.op == tir::Op::q_multiply_shift_half) return fixed_point(expr, lane);
  if (op == "call_pure_extern") {
    if (expr.operands[0]->text != "sqrtf") throw NoSpelling();
    return call(expr.operands[0]->text, expr, lane, 1);
  }
  if (op == "isnan") {
    const std::string a = operand(expr, 0, lane);
    return "(" + a + " != " + a + ")";
  }
  if (dialect_.suffixes_floats && (op == "rsqrt" || op == "sigmoid")) {
    const std::string a = operand(expr, 0, lane);
    const std::string one = real(1, expr.type.element());
    const std::string f = expr.type.bits == 64 ? "" : "f";
    if (op == "rsqrt") return "(" + one + " / sqrt" + f + "(" + a + "))";
    return "(" + one + " / (" + one + " + exp" + f + "((-" + a + "))))";
  }
  static const std::map<std::string, bool> functions = {{"ceil", true},  {"fabs", true}, {"floor", true},
                                                        {"round", true}, {"sqrt", true}, {"trunc", true},
                                                        {"exp", true},   {"tanh", true}, {"pow", true}};
  const std::string_view known = tir::info(expr.op).c_name;
  const bool is_printed = dialect_.suffixes_floats ? !known.empty() : functions.contains(op);
  if (!expr.type.is_float() || !is_printed) throw NoSpelling();
  (void)c_type(expr.type);
  return call(op + (expr.type.bits == 64 ? "" : "f"), expr, lane);
}

// In 64 bits, rounded with halves up; by one half in 32.
std::string TvmExpressions::fixed_point(const Expr& expr, std::size_t lane) {
  const std::int64_t factor = constant(*expr.operands[1]);
  const std::int64_t shift = constant(*expr.operands[3]);
  const std::int64_t q = constant(*expr.operands[2]);
  if (expr.op == tir::Op::q_multiply_shift_half) {
    const std::string x = operand(expr, 0, lane);
    const std::int64_t e = shift - 1;
    if (e >= 0) return "(" + x + " * (1 << " + std::to_string(e) + "))";
    return "((" + x + " + (1 << " + std::to_string(-e - 1) + ")) >> " + std::to_string(-e) + ")";
  }
  if (dialect_.shifts_fixed_points) return shifted_fixed_point(expr, lane);
  const std::string x = operand(expr, 0, lane);
  const std::string left =
      "((int64_t)" + x + " * ((int64_t)1 << " + std::to_string(std::max<std::int64_t>(shift, 0)) + "))";
  const std::string right = std::to_string(q + std::max<std::int64_t>(-shift, 0));
  return "((int32_t)((" + left + " * " + literal(factor, tir::int64_type) + " + ((int64_t)1 << (" + right +
         " - 1))) >> " + right + "))";
}

// As TVM's lowering leaves it.
std::string TvmExpressions::shifted_fixed_point(const Expr& expr, std::size_t lane) {
  const std::string x = "((int64_t)" + variable(*expr.operands[0], lane) + ")";
  const std::int64_t shift = constant(*expr.operands[3]);
  const std::string left = std::to_string(std::max<std::int64_t>(shift, 0));
  const std::string right = "(" + std::to_string(std::max<std::int64_t>(-shift, 0)) + " + " +
                            std::to_string(constant(*expr.operands[2])) + ")";
  return "((int32_t)((((((" + left + " != 0) ? (" + x + " << ((int64_t)" + left + ")) : " + x + ") * (int64_t)" +
         std::to_string(constant(*expr.operands[1])) + ") + ((int64_t)1 << ((int64_t)(" + right +
         " - 1)))) >> ((int64_t)" + right + "))))";
}

std::string TvmExpressions::fixed_point_per_axis(const Expr& expr, std::size_t lane) {
  if (!dialect_.shifts_fixed_points) throw NoSpelling();
  const std::string x = "((int64_t)" + variable(*expr.operands[0], lane) + ")";
  const std::string factor = variable(*expr.operands[1], lane);
  const std::string left = variable(*expr.operands[2], lane);
  const std::string right = variable(*expr.operands[3], lane);
  const std::string by = "(" + right + " + " + std::to_string(constant(*expr.operands[4])) + ")";
  const std::string is_left = operand(expr, 5, lane);
  return "((int32_t)((((" + is_left + " ? (" + x + " << ((int64_t)" + left + ")) : " + x + ") * ((int64_t)" + factor +
         ")) + ((int64_t)1 << ((int64_t)(" + by + " - 1)))) >> ((int64_t)" + by + ")))";
}
// NOLINTEND(misc-no-recursion)

}  // namespace usmp::random_modules

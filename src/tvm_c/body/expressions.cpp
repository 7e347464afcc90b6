// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Walks over the nodes of an expression, and computes each operator.
#include "tvm_c/body/expressions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "tvm_c/text/literals.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/arith/constants.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

using tir::DataType;
using tir::TypeCode;

std::optional<Value> constant_named(std::string_view word) {
  if (word == "INFINITY") return Values::number({tir::make_float(HUGE_VAL, tir::float32_type)});
  if (word == "NAN") return Values::number({tir::make_float(std::nan(""), tir::float32_type)});
  if (word == "true" || word == "false") return Values::number({tir::make_int(word == "true" ? 1 : 0, tir::bool_type)});
  if (word != "NULL") return std::nullopt;
  Value null;
  null.kind = Value::Kind::null;
  return null;
}

Value number_of(const Token& token) {
  if (is_real(token)) {
    const auto bits = static_cast<std::uint8_t>(has_float_suffix(token) ? 32 : 64);
    return Values::number({tir::make_float(real_literal(token, false), {TypeCode::float_, bits, 1})});
  }
  const IntegerLiteral integer = integer_literal(token);
  if (integer.is_long) fail_at(token, "a number of one type on all machines, without l or ul");
  return Values::number({tir::make_int(integer.value, integer.type)});
}

}  // namespace

bool is_step(const c::Expr& expr) {
  return (expr.kind == c::ExprKind::prefix || expr.kind == c::ExprKind::postfix) &&
         (expr.text == "++" || expr.text == "--");
}

bool is_size(const c::Expr& expr) {
  return expr.kind == c::ExprKind::size_of || (expr.kind == c::ExprKind::prefix && expr.text == "sizeof");
}

Value folded(Value value) {
  if (value.kind != Value::Kind::number || tir::as_int(*value.tree.expr)) return value;
  const tir::Expr& expr = *value.tree.expr;
  if (!expr.type.is_integer() && !expr.type.is_bool()) return value;
  std::vector<std::int64_t> operands;
  for (const tir::ExprRef& operand : expr.operands) {
    const auto constant = tir::as_int(*operand);
    if (!constant) return value;
    operands.push_back(*constant);
  }
  if (operands.empty()) return value;
  if (const auto constant = arith::constant_value(expr, operands)) {
    value.tree = {tir::make_int(*constant, expr.type), 1};
  }
  return value;
}

Value Evaluator::evaluate(const c::Tree& tree, c::ExprId root) {
  struct Pending {
    c::ExprId id;
    std::size_t next;  // of its operands
    std::size_t first_value;
  };
  std::vector<Pending> pending;
  std::vector<Value> values;
  const auto open = [&](c::ExprId id) {
    pending.push_back({id, tree[id].kind == c::ExprKind::call ? std::size_t{1} : 0, values.size()});
  };
  open(root);
  while (!pending.empty()) {
    Pending& one = pending.back();
    const auto operands = tree.operands_of(one.id);
    if (one.next < operands.size() && !is_size(tree[one.id])) {
      open(operands[one.next++]);
      continue;
    }
    const std::size_t first = one.first_value;
    Value value = value_of(one.id, std::span(values).subspan(first));
    values.resize(first);
    values.push_back(std::move(value));
    pending.pop_back();
  }
  return std::move(values.back());
}

std::optional<Value> Evaluator::operated(const c::Expr& expr, std::span<const Value> operands, const Values& values) {
  if (is_step(expr) || is_size(expr) || expr.text == ",") return std::nullopt;
  switch (expr.kind) {
    case c::ExprKind::subscript:
      return values.element(operands[0], operands[1]);
    case c::ExprKind::prefix:
      return values.unary(expr.text, operands[0]);
    case c::ExprKind::binary:
      return values.binary(expr.text, operands[0], operands[1]);
    case c::ExprKind::conditional:
      return values.choice(operands[0], operands[1], operands[2]);
    default:
      return std::nullopt;
  }
}

Value Expressions::evaluate(c::ExprId root) {
  Value value = Evaluator::evaluate(tree(), root);
  // For what is said of the whole: its operator, or what stands behind it.
  const c::ExprKind kind = (*this)[root].kind;
  const bool is_operator = kind == c::ExprKind::prefix || kind == c::ExprKind::cast || kind == c::ExprKind::binary ||
                           kind == c::ExprKind::conditional;
  values_.at = (is_operator && !has_brackets(root) ? at(root) : behind(root)).offset;
  return value;
}

std::vector<Value> Expressions::arguments(c::ExprId call, bool takes_text, std::size_t first) {
  std::vector<Value> result;
  for (const c::ExprId argument : tree().operands_of(call).subspan(first + 1)) {
    const c::Expr& expr = (*this)[argument];
    if (!takes_text || expr.kind != c::ExprKind::string) {
      result.push_back(evaluate(argument));
      continue;
    }
    std::string text;
    for (std::uint32_t i = expr.tokens.begin; i < expr.tokens.end; ++i) {
      if (token(i).kind != TokenKind::string) fail_at(token(i), "')'");
      text += text_of_string(token(i));
    }
    result.push_back(Values::number({tir::make_string(std::move(text))}));
  }
  return result;
}

// Brackets around an expression are tokens of it.
std::size_t Expressions::index(c::ExprId id) const {
  const c::Expr& expr = (*this)[id];
  std::size_t i = expr.tokens.begin;
  switch (expr.kind) {
    case c::ExprKind::subscript:
    case c::ExprKind::member:
    case c::ExprKind::postfix:
    case c::ExprKind::binary:
    case c::ExprKind::assign:
    case c::ExprKind::conditional:
      return (*this)[operand(id, 0)].tokens.end;
    case c::ExprKind::prefix:
      return (*this)[operand(id, 0)].tokens.begin - std::size_t{1};
    case c::ExprKind::cast:
      while (token(i + 1).is("(")) ++i;
      return i;
    case c::ExprKind::call:
      return (*this)[operand(id, 0)].tokens.begin;
    default:
      while (token(i).is("(")) ++i;
      return i;
  }
}

bool Expressions::has_brackets(c::ExprId id) const {
  const c::Expr& expr = (*this)[id];
  const bool begins_with_operand = expr.operand_count > 0 && expr.kind != c::ExprKind::prefix &&
                                   expr.kind != c::ExprKind::cast && expr.kind != c::ExprKind::literal;
  return expr.tokens.begin < (begins_with_operand ? (*this)[operand(id, 0)].tokens.begin : index(id));
}

std::string_view Expressions::callee(c::ExprId id) const {
  return front(id).is_identifier() ? called_function(tree(), id) : std::string_view();
}

c::ExprId Expressions::without_void(c::ExprId id) const {
  const c::Expr& expr = (*this)[id];
  const bool is_void = expr.kind == c::ExprKind::cast && tree()[expr.type].kind == c::TypeKind::nothing;
  return is_void ? operand(id, 0) : id;
}

std::optional<std::int64_t> Expressions::literal(c::ExprId id) const {
  const bool is_negative = is_prefix(id, "-");
  const c::ExprId number = is_negative ? operand(id, 0) : id;
  if ((*this)[number].kind != c::ExprKind::number || is_real(at(number))) return std::nullopt;
  const std::int64_t value = integer_literal(at(number)).value;
  if (value < 0) return std::nullopt;  // above INT64_MAX
  return is_negative ? -value : value;
}

void Expressions::fail_undeclared(const Token& name) const {
  throw SyntaxError{name.offset, "found " + shown(name.text) + ", which is not declared here", true};
}

CType Expressions::type(c::TypeId id, std::size_t first) const {
  if (const auto type = known_type(tree(), id)) return *type;
  while (token(first).is("const")) ++first;
  while (tree()[id].kind == c::TypeKind::pointer) id = tree()[id].of;
  const bool is_made = tree()[id].kind == c::TypeKind::array || tree()[id].kind == c::TypeKind::function;
  if (is_made) fail_at(token(first), "the type of a number, or of a pointer to numbers");
  fail_undeclared(token(first));
}

void Expressions::require_plain(const c::Decl& decl) const {
  if (decl.kind != c::DeclKind::variable || decl.storage != c::Storage::none) fail_undeclared(token(decl.tokens.begin));
  if (!decl.unknown.empty()) fail_undeclared(token(decl.unknown[0].begin));
  if (!decl.attributes.empty()) fail_at(token(decl.attributes[0].begin), "';'");
}

// As a name that is not declared, if it is one: a macro, or a type of somebody's.
void Expressions::fail_opaque(const c::Stmt& stmt) const {
  const Token& first = token(stmt.tokens.begin);
  if (first.is_identifier() && stmt.at <= stmt.tokens.begin + 1 && !look_up_(first.text)) fail_undeclared(first);
  const Token& before = token(stmt.at - 1);
  const bool is_behind_operand =
      before.is_identifier() || before.kind == TokenKind::number || before.is(")") || before.is("]");
  fail_at(token(stmt.at), is_behind_operand ? "';'" : "an expression");
}

Value Expressions::name(c::ExprId id) {
  const std::string_view text = (*this)[id].text;
  if (auto value = constant_named(text)) return std::move(*value);
  if (auto value = look_up_(text)) return std::move(*value);
  fail_undeclared(at(id));
}

Value Expressions::value_of(c::ExprId id, std::span<const Value> operands) {
  const c::Expr& expr = (*this)[id];
  const Token& op = at(id);
  values_.at = op.offset;
  if (auto value = operated(expr, operands, values_)) return std::move(*value);
  switch (expr.kind) {
    case c::ExprKind::name:
      return name(id);
    case c::ExprKind::number:
      return number_of(op);
    case c::ExprKind::member:
      return values_.member(operands[0], expr.name);
    case c::ExprKind::cast:
      return values_.cast(type(expr.type, index(id) + 1), operands[0]);
    case c::ExprKind::call: {
      const std::string_view function = name_of(operand(id, 0));
      if (function.empty() || constant_named(function) || look_up_(function)) fail_at(behind(operand(id, 0)), "';'");
      return values_.call(function, {operands.begin(), operands.end()});
    }
    case c::ExprKind::binary:
      fail_at(op, "one expression");
    case c::ExprKind::postfix:
    case c::ExprKind::assign:
      fail_at(op, "an expression that changes nothing");
    case c::ExprKind::opaque:
      fail_at(front(id), "an expression that is understood");
    default:
      fail_at(op, "an expression");
  }
}

}  // namespace usmp::tvm_c

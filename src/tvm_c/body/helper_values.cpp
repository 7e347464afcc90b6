// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Computes the expressions of a helper, and stores into variables and elements.
#include "tvm_c/body/helper_body.hpp"

#include <algorithm>

#include "usmp/c/constants.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

using tir::Tree;

constexpr std::string_view larger_than_relied_on = "a number that may be larger than a sum of products relies on";

constexpr std::string_view other_widths =
    "a number of size_t, long or such, with which not all machines, or all values of a variable, compute the same";

bool is_any_width(const Value& value) { return value.width != Value::Width::of_type; }

Value any_width(std::int64_t constant, bool is_unsigned) {
  Value value = Values::number({tir::make_int(constant)});
  value.width = is_unsigned ? Value::Width::any_unsigned : Value::Width::any_signed;
  return value;
}

bool loads(const tir::Expr& root) {
  bool found = false;
  tir::for_each_expr(root, [&](const tir::Expr& expr) { found = found || expr.kind == tir::ExprKind::load; });
  return found;
}

}  // namespace

std::optional<std::int64_t> constant_of(const Value& value) {
  return value.kind == Value::Kind::number ? tir::as_int(*value.tree.expr) : std::nullopt;
}

// NOLINTBEGIN(misc-no-recursion): as in helper_reader.cpp
CType HelperBody::type_of(c::TypeId id) const {
  const bool is_array = tree()[id].kind == c::TypeKind::array;
  if (is_array) id = tree()[id].of;
  for (c::TypeId part = id; part.valid(); part = tree()[part].of) {
    if (tree()[part].is_volatile || tree()[part].is_bool) fail("a type that is volatile or bool");
  }
  auto type = known_type(tree(), id);
  if (!type) fail("a type that is not known, or not of the same size on all machines");
  if (is_array) ++type->stars;
  return *type;
}

Value HelperBody::fixed(const Value& value, std::string_view name) {
  note_use(value);
  Value result = words_.loaded(value);
  if (result.kind == Value::Kind::place) {
    result = Values::number(values_.rvalue(value));
    result.is_short_sum = value.is_short_sum;
  }
  if (result.kind == Value::Kind::word) {
    for (Tree& part : result.parts) fix(part, name);
    return result;
  }
  if (result.kind != Value::Kind::number && result.kind != Value::Kind::pointer)
    fail("a value that is no number, pointer or word");
  if (result.kind == Value::Kind::pointer && (result.tree.expr == nullptr || !loads(*result.tree.expr))) return result;
  fix(result.tree, name);
  return result;
}

void HelperBody::fix(Tree& tree, std::string_view name) {
  if (tir::as_int(*tree.expr) || tree.expr->kind == tir::ExprKind::var) return;
  const tir::VarId var = new_var_(name.empty() ? "value" : name, tree.expr->type, tir::void_type);
  (void)words_.note(var, tree);  // for the only time
  body_.let(var, tree.expr);
  tree = values_.variable(var).tree;
}

Value HelperBody::in_type(const Value& value, CType type) {
  if (Words::concerns(value)) return words_.cast(type, value);
  if (type.stars > 0) return values_.cast(type, value);
  if (type.element.is_void()) fail("a value of type void");
  Value result = folded(Values::number(values_.converted(value, type.element)));
  result.is_short_sum = value.is_short_sum && type.element == tir::int32_type;
  return result;
}

void HelperBody::declare(c::DeclId decl, const Value& value) {
  const c::Type& type = tree()[tree()[decl].type];
  const auto constant = constant_of(value);
  const std::int64_t least = type.is_unsigned ? 0 : INT32_MIN;
  if (type.kind == c::TypeKind::integer && type.bits == 0 && constant && *constant >= least &&
      *constant <= INT32_MAX) {  // of whatever width
    env_[decl] = any_width(*constant, type.is_unsigned);
    return;
  }
  env_[decl] = fixed(in_type(value, type_of(tree()[decl].type)), tree()[decl].name);
}

Value HelperBody::value_of(c::ExprId id, std::span<const Value> operands) {
  at_ = tree()[id].tokens.begin;
  Value value = folded(operation(id, operands));
  note_use(value);
  return value;
}

void HelperBody::note_use(const Value& value) {
  if (value.copy == 0) return;
  if (copies_[value.copy - 1] != stores_) fail(stored_behind_copy);
  for (Kept& loop : loops_) loop.uses_copy = loop.uses_copy || value.copy <= loop.copies_before;
}

Value HelperBody::size(c::ExprId id) {
  const c::Expr& expr = tree()[id];
  std::optional<std::int64_t> bytes;
  if (expr.kind == c::ExprKind::size_of) {
    const CType type = type_of(expr.type);
    if (type.stars == 0 && !type.element.is_void()) bytes = type.element.bytes();
  } else {
    const c::ExprId of = tree().operands_of(id)[0];
    const bool is_element = tree()[of].kind == c::ExprKind::prefix && tree()[of].text == "*";
    const c::ExprId name = is_element ? tree().operands_of(of)[0] : of;
    if (tree()[name].kind != c::ExprKind::name || !tree()[name].decl.valid()) fail("sizeof of an expression");
    const c::DeclId decl = tree()[name].decl;
    const CType type = type_of(tree()[decl].type);
    const auto array = arrays_.find(decl);
    if (is_element ? type.stars == 1 && !type.element.is_void() : type.stars == 0) {
      bytes = type.element.bytes();
    } else if (!is_element && array != arrays_.end()) {
      bytes = array->second;
    }
  }
  if (!bytes) fail("sizeof of what is no number, element or array");
  return any_width(*bytes, true);
}

Value HelperBody::operation(c::ExprId id, std::span<const Value> operands) {
  const c::Expr& expr = tree()[id];
  if (is_size(expr)) return size(id);
  switch (expr.kind) {
    case c::ExprKind::name:
      return variable(expr);
    case c::ExprKind::number:
    case c::ExprKind::character: {
      const auto literal = c::integer_literal(expr.text);
      if (!literal || literal->bits == 0 || !literal->as_int64())
        fail(literal ? "a literal whose type is not the same on all machines" : "a literal that is no integer");
      return value_of(literal);
    }
    case c::ExprKind::subscript:
      if (operands[0].word_size != 0) return words_.element(operands[0], operands[1]);
      break;
    case c::ExprKind::prefix:
      if (!is_step(expr) && Words::concerns(operands[0])) return words_.unary(expr.text, operands[0]);
      if (is_any_width(operands[0])) return value_of(c::constant_prefix(expr.text, c_constant(operands[0])));
      break;
    case c::ExprKind::postfix: {
      const c::Expr& target = tree()[tree().operands_of(id)[0]];
      if (operands[0].kind != Value::Kind::pointer) fail("an expression that changes something else than a pointer");
      moves_.push_back({target.decl, expr.text == "++" ? 1 : -1});
      return operands[0];
    }
    case c::ExprKind::cast:
      if (auto address = address_of(expr.type, operands[0])) return *address;
      return cast(type_of(expr.type), operands[0]);
    case c::ExprKind::binary:
      if (expr.text == "%") {
        if (const auto zero = no_remainder(operands[0], operands[1])) return *zero;
      }
      if (expr.text != "," && (Words::concerns(operands[0]) || Words::concerns(operands[1]))) {
        return words_.binary(expr.text, operands[0], operands[1]);
      }
      if (expr.text == "&&" || expr.text == "||") require_no_steps_in(tree().operands_of(id).subspan(1));
      if (expr.text != ",") return binary(expr.text, operands[0], operands[1]);
      break;
    case c::ExprKind::conditional:
      require_no_steps_in(tree().operands_of(id).subspan(1));
      if (is_any_width(operands[1]) || is_any_width(operands[2])) fail(other_widths);
      break;
    case c::ExprKind::call:
      return called(id, operands);
    default:
      break;
  }
  auto value = operated(expr, operands, values_);
  if (!value) fail("an expression beyond what is read");
  return std::move(*value);
}

Value HelperBody::cast(CType type, const Value& value) {
  if (Words::concerns(value)) return words_.cast(type, value);
  if (const auto words = words_.pointer_to_words(type, value)) return *words;
  return values_.cast(type, value);
}

Value HelperBody::binary(std::string_view op, const Value& a, const Value& b) const {
  const bool is_of_pointer = a.kind == Value::Kind::pointer || b.kind == Value::Kind::pointer;
  const bool is_of_truths = op == "&&" || op == "||";
  if ((!is_any_width(a) && !is_any_width(b)) || is_of_pointer || is_of_truths) return values_.binary(op, a, b);
  return value_of(c::constant_binary(op, c_constant(a), c_constant(b)));
}

c::Constant HelperBody::c_constant(const Value& value) const {
  const auto constant = constant_of(value);
  if (!constant || !value.tree.expr->type.is_integer()) fail(other_widths);
  const tir::DataType type = value.tree.expr->type;
  if (is_any_width(value)) return {*constant, 0, value.width == Value::Width::any_unsigned};
  return {*constant, std::max<std::uint8_t>(type.bits, 32), type.is_uint() && type.bits >= 32};
}

Value HelperBody::value_of(const std::optional<c::Constant>& constant) const {
  if (!constant || !constant->as_int64()) fail(other_widths);
  const std::int64_t value = *constant->as_int64();
  if (constant->bits == 0) return any_width(value, constant->is_unsigned);
  const tir::TypeCode code = constant->is_unsigned ? tir::TypeCode::uint : tir::TypeCode::int_;
  return Values::number({tir::make_int(value, {code, constant->bits, 1}), 1});
}

void HelperBody::require_no_steps_in(std::span<const c::ExprId> operands) const {
  require_no_moves();
  for (const c::ExprId operand : operands) {
    const c::TokenRange range = tree()[operand].tokens;
    const auto call = std::ranges::lower_bound(function_.in->calls, range.begin);
    if (call != function_.in->calls.end() && *call < range.end) fail("a call in an operand that C may skip");
  }
}

std::optional<Value> HelperBody::address_of(c::TypeId id, const Value& pointer) const {
  const c::Type& type = tree()[id];
  const bool is_integer = type.kind == c::TypeKind::integer && (type.bits == 0 || type.bits >= 32);
  if (!is_integer || pointer.kind != Value::Kind::pointer || pointer.type.is_void()) return std::nullopt;
  Value address = pointer;
  address.kind = Value::Kind::address;
  return address;
}

std::optional<Value> HelperBody::no_remainder(const Value& a, const Value& b) {
  const auto by = constant_of(b);
  if (!by || (*by != 2 && *by != 4) || a.kind != Value::Kind::number) return std::nullopt;
  if (low_bits(*a.tree.expr, *by == 2 ? 1 : 2) != 0) return std::nullopt;
  return Values::number({tir::make_int(0)});
}

Value HelperBody::variable(const c::Expr& name) const {
  const auto found = name.decl.valid() ? env_.find(name.decl) : env_.end();
  if (found == env_.end()) fail(name.text, "used, which is no variable of the function with a value");
  return found->second;
}

void HelperBody::store(const Value& place, const Value& value) {
  if (place.kind != Value::Kind::place || place.type.is_void()) fail("an assignment to something else than an element");
  if (place.copy != 0) fail("an assignment to an element of words that were copied");
  ++all_stores_;
  if (!own_.contains(place.storage)) ++stores_;
  if (place.word_size != 0) {
    for (const auto& [element, part] : words_.stores(place, value)) add_store(element, part);
    return;
  }
  if (Words::concerns(value)) fail("a word as a number");
  add_store(place, values_.converted(value, place.type));
}

void HelperBody::add_store(const Value& place, const Tree& value) {
  if (own_.contains(place.storage) && !words_.note(place.storage, value)) fail(larger_than_relied_on);
  body_.add({place.storage, place.tree.expr, value.expr, nullptr});
}

void HelperBody::require_changeable(c::DeclId decl) const {
  const auto level = levels_.find(decl);
  const bool is_inside = level != levels_.end() && level->second == level_;
  if (!is_inside) fail(tree()[decl].name, "changed in a loop or branch, declared around it");
}

void HelperBody::assign(c::DeclId decl, std::string_view op, const Value& given) {
  if (!decl.valid()) fail("an assignment to something else than a variable");
  const auto found = env_.find(decl);
  if (found == env_.end()) {
    if (!levels_.contains(decl) || !op.empty()) fail(tree()[decl].name, "changed before it has a value");
    require_changeable(decl);
    return declare(decl, given);
  }
  const Value before = found->second;
  const Value value = op.empty() ? given : updated(before, op, given);
  if (before.kind == Value::Kind::place) {
    if (before.is_short_sum && !value.is_short_sum && !constant_of(value)) {
      if (level_ > 0 && relied_on_.contains(before.storage)) fail(larger_than_relied_on);
      found->second.is_short_sum = false;
    }
    return store(before, value);
  }
  require_changeable(decl);
  declare(decl, value);
}

Value HelperBody::updated(const Value& before, std::string_view op, const Value& given) {
  if (op == "+" && constant_of(before) == 0) return given;
  if (before.kind == Value::Kind::pointer && op == "+") return moved(before, given);
  if (Words::concerns(before) || Words::concerns(given)) fail("an operator on a word that becomes another value");
  return folded(binary(op, before, given));
}

void HelperBody::count(c::ExprId target, std::int64_t by) {
  const c::Expr& expr = tree()[target];
  const Value one = Values::number({tir::make_int(by)});
  if (expr.kind == c::ExprKind::name) return assign(expr.decl, "+", one);
  const Value place = evaluate(target);
  store(place, values_.binary("+", place, one));
  make_moves();
}

void HelperBody::make_moves() {
  for (const auto& [decl, by] : std::exchange(moves_, {})) move(decl, by);
}

void HelperBody::move(c::DeclId decl, std::int64_t by) {
  Value& value = env_[decl];
  require_changeable(decl);
  value = moved(value, Values::number({tir::make_int(by)}));
}

Value HelperBody::moved(const Value& pointer, const Value& by) {
  if (pointer.kind != Value::Kind::pointer) fail("something else than a pointer moved");
  Value result = pointer.word_size != 0 ? words_.binary("+", pointer, by) : values_.binary("+", pointer, by);
  if (result.kind != Value::Kind::pointer) fail("something else than a pointer moved");
  return result;
}

Value HelperBody::evaluate_statement(c::ExprId id) {
  const auto outer = std::exchange(statement_call_, id);
  Value result = evaluate(id);
  statement_call_ = outer;
  return result;
}
// NOLINTEND(misc-no-recursion)

}  // namespace usmp::tvm_c

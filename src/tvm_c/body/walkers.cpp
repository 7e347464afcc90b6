// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Keeps an offset in storage for each pointer that moves.
#include "tvm_c/body/walkers.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tvm_c/body/expressions.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

using tir::Tree;

Value number(std::int64_t value) { return Values::number({tir::make_int(value)}); }

// Up to the semicolon; none: a block begins first.
std::vector<Token> statement_of(Lexer tokens) {
  std::vector<Token> result;
  while (!tokens.peek().is(";")) {
    if (tokens.peek().kind == TokenKind::end || tokens.peek().is("{") || tokens.peek().is("}")) return {};
    result.push_back(tokens.next());
  }
  return result;
}

}  // namespace

Tree fixed(const Tree& value, BodyNames& names, const Values& values, tir::BodyBuilder& body) {
  bool reads = false;
  tir::for_each_expr(*value.expr, [&](const tir::Expr& expr) {
    reads = reads || expr.kind == tir::ExprKind::load || expr.kind == tir::ExprKind::call;
  });
  if (!reads) return value;
  const tir::VarId var = names.new_var("at", value.expr->type, tir::void_type);
  body.let(var, value.expr);
  return values.variable(var).tree;
}

Value fixed_pointer(Value pointer, BodyNames& names, const Values& values, tir::BodyBuilder& body) {
  if (pointer.kind != Value::Kind::pointer || pointer.tree.expr == nullptr) return pointer;
  pointer.tree = fixed(pointer.tree, names, values, body);
  return pointer;
}

void Walkers::declare(const Token& name, const Value& pointer) {
  if (pointer.kind != Value::Kind::pointer || pointer.type.is_void()) fail_at(name, "a pointer to numbers that moves");
  const Tree first = pointer.tree.expr == nullptr ? Tree{tir::make_int(0)} : pointer.tree;
  if (first.expr->type != tir::int32_type) fail_at(name, "a place in int32");
  Value place;
  place.kind = Value::Kind::place;
  place.type = tir::int32_type;
  place.storage = names_.new_var(std::string(name.text) + "_at", tir::handle_type, tir::int32_type);
  place.tree = {tir::make_int(0)};
  body_.allocate(place.storage, tir::int32_type, {}, nullptr, {}, true);
  body_.add({place.storage, place.tree.expr, first.expr, nullptr});
  Value walker = pointer;
  walker.tree = values_.rvalue(place);
  places_.emplace(walker.tree.expr.get(), place);
  kept_.push_back(walker.tree.expr);
  names_.declare(name, walker);
}

std::optional<Value> Walkers::place_of(const Value& pointer) const {
  const auto found = pointer.kind == Value::Kind::pointer ? places_.find(pointer.tree.expr.get()) : places_.end();
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

void Walkers::move_to(const Value& place, const Value& index) {
  body_.add({place.storage, place.tree.expr, values_.converted(index, tir::int32_type).expr, nullptr});
}

bool Walkers::take_assignment(Lexer& tokens, const LookUp& look_up) {
  Lexer ahead = tokens;
  bool is_up = take(ahead, "++");
  const bool is_prefix = is_up || take(ahead, "--");
  const Token name = ahead.next();
  if (!name.is_identifier()) return false;
  const auto pointer = names_.look_up(name.text);
  if (!pointer || pointer->kind != Value::Kind::pointer) return false;
  const Token op = is_prefix ? Token{} : ahead.next();
  const bool is_counted = op.is("++") || op.is("--");
  const bool is_moved = op.is("+=") || op.is("-=");
  const bool is_other = !is_prefix && !is_counted && !is_moved && !op.is("=");
  if (is_other || ((is_prefix || is_counted) && !ahead.peek().is(";"))) return false;
  const auto place = place_of(*pointer);
  if (!place) throw ChangedVariable{std::string(name.text), name.offset};
  values_.at = name.offset;
  if (is_prefix || is_counted) {
    is_up = is_up || op.is("++");
    move_to(*place, values_.binary(is_up ? "+" : "-", *place, number(1)));
  } else {
    const Value given = parse_expression(ahead, values_, look_up);
    values_.at = op.offset;
    if (is_moved) {
      move_to(*place, values_.binary(op.text.substr(0, 1), *place, given));
    } else {
      if (given.kind != Value::Kind::pointer || given.storage != pointer->storage || given.type != pointer->type) {
        fail_at(op, "a pointer into the same storage");
      }
      move_to(*place, given.tree.expr == nullptr ? number(0) : Values::number(given.tree));
    }
  }
  expect(ahead, ";");
  tokens = std::move(ahead);
  return true;
}

Value Walkers::stepped(const Token& name, const std::function<bool(const Value&)>& is_counted) {
  const auto value = names_.look_up(name.text);
  if (value && is_counted(*value)) return *value;
  const auto place = value ? place_of(*value) : std::nullopt;
  if (place) return *place;
  if (!value || (value->kind != Value::Kind::pointer && value->kind != Value::Kind::number)) {
    fail_at(name, "a variable that is counted");
  }
  throw ChangedVariable{std::string(name.text), name.offset};
}

std::vector<Walkers::Step> Walkers::take_steps(Lexer& tokens, const std::function<bool(const Value&)>& is_counted) {
  const std::vector<Token> all = statement_of(tokens);
  std::vector<Step> behind;
  std::set<std::size_t> ignored;
  if (all.size() <= 2) return behind;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].is("++") && !all[i].is("--")) continue;
    const Token before = i > 0 ? all[i - 1] : Token{};
    const Token after = i + 1 < all.size() ? all[i + 1] : Token{};
    if (before.is("]") || before.is(")")) continue;  // of an element
    const bool is_postfix = before.is_identifier();
    const Token name = is_postfix ? before : after;
    const Token other = is_postfix ? (i > 1 ? all[i - 2] : Token{}) : (i + 2 < all.size() ? all[i + 2] : Token{});
    const bool is_part = is_postfix ? other.is(".") || other.is("->") || after.is_identifier()
                                    : other.is("[") || other.is("(") || other.is(".") || other.is("->");
    if (!name.is_identifier() || is_part || i == 0) fail_at(all[i], "a variable that is counted");
    const bool is_once =
        std::count_if(all.begin(), all.end(), [&](const Token& one) { return one.is(name.text); }) == 1;
    const bool is_conditional = std::any_of(all.begin(), all.end(), [](const Token& one) {
      return one.is("?") || one.is("&&") || one.is("||") || one.is("sizeof");
    });
    if (!is_once || is_conditional)
      fail_at(all[i], "a statement that names " + in_quotes(name.text) + " once, and counts it always");
    const Step step{stepped(name, is_counted), all[i].is("++")};
    if (is_postfix) {
      behind.push_back(step);
    } else {
      make(step);
    }
    ignored.insert(all[i].offset);
  }
  if (!ignored.empty()) tokens.ignore(std::move(ignored));
  return behind;
}

void Walkers::make(const Step& step) {
  const Value sum = values_.binary(step.is_up ? "+" : "-", step.place, number(1));
  body_.add({step.place.storage, step.place.tree.expr, values_.converted(sum, step.place.type).expr, nullptr});
}

}  // namespace usmp::tvm_c

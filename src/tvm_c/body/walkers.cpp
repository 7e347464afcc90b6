// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Keeps an offset in storage for each pointer that moves.
#include "tvm_c/body/walkers.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>

#include "tvm_c/body/expressions.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

using tir::Tree;

Value number(std::int64_t value) { return Values::number({tir::make_int(value)}); }

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

bool Walkers::move(c::ExprId statement) {
  const c::Expr& expr = code_[statement];
  const bool is_counted = is_step(expr);
  if (!is_counted && expr.kind != c::ExprKind::assign) return false;
  const c::ExprId target = code_.operand(statement, 0);
  const std::string_view name = code_.name_of(target);
  const auto pointer = name.empty() ? std::nullopt : names_.look_up(name);
  const bool is_moved = expr.text == "+=" || expr.text == "-=";
  if (!pointer || pointer->kind != Value::Kind::pointer || (!is_counted && !is_moved && expr.text != "=")) return false;
  const auto place = place_of(*pointer);
  if (!place) throw ChangedVariable{std::string(name), code_.at(target).offset};
  const Value given = is_counted ? number(1) : code_.evaluate(code_.operand(statement, 1));
  const Token& op = code_.at(statement);
  values_.at = op.offset;
  if (is_counted || is_moved) {
    move_to(*place, values_.binary(expr.text.substr(0, 1), *place, given));
    return true;
  }
  if (given.kind != Value::Kind::pointer || given.storage != pointer->storage || given.type != pointer->type) {
    fail_at(op, "a pointer into the same storage");
  }
  move_to(*place, given.tree.expr == nullptr ? number(0) : Values::number(given.tree));
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

std::vector<Walkers::Step> Walkers::steps_of(const c::Stmt& stmt, const std::function<bool(const Value&)>& is_counted) {
  const std::span all = std::span(code_.code().tokens).subspan(stmt.tokens.begin, stmt.tokens.end - stmt.tokens.begin);
  const auto has = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(
        all, [&](const Token& one) { return std::ranges::any_of(words, [&](auto word) { return one.is(word); }); });
  };
  if (!has({"++", "--"})) return {};
  std::vector<c::ExprId> nodes;
  if (stmt.expr.valid()) nodes.push_back(stmt.expr);
  for (const c::DeclId decl : stmt.decls) {
    if (code_.tree()[decl].init.valid()) nodes.push_back(code_.tree()[decl].init);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto operands = code_.tree().operands_of(nodes[i]);
    nodes.insert(nodes.end(), operands.begin(), operands.end());
  }
  std::erase_if(nodes, [&](c::ExprId id) { return !is_step(code_[id]) || id == stmt.expr; });
  std::ranges::sort(nodes, {}, [&](c::ExprId id) { return code_.at(id).offset; });
  std::vector<Step> behind;
  for (const c::ExprId id : nodes) {
    const Token& op = code_.at(id);
    const std::string_view name = code_.name_of(code_.operand(id, 0));
    if (name.empty()) fail_at(op, "a variable that is counted");
    const bool is_once = std::ranges::count_if(all, [&](const Token& one) { return one.is(name); }) == 1;
    if (!is_once || has({"?", "&&", "||", "sizeof"}))
      fail_at(op, "a statement that names " + in_quotes(name) + " once, and counts it always");
    const Step step{stepped(code_.at(code_.operand(id, 0)), is_counted), op.is("++")};
    if (code_[id].kind == c::ExprKind::postfix) {
      behind.push_back(step);
    } else {
      make(step);
    }
  }
  return behind;
}

void Walkers::make(const Step& step) {
  const Value sum = values_.binary(step.is_up ? "+" : "-", step.place, number(1));
  body_.add({step.place.storage, step.place.tree.expr, values_.converted(sum, step.place.type).expr, nullptr});
}

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Runs the statements of a helper on values that are expressions: what is constant is decided, what is not becomes TIR.
#include "tvm_c/body/helper_reader.hpp"

#include <algorithm>
#include <utility>

#include "tvm_c/body/helper_body.hpp"
#include "usmp/c/constants.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

constexpr std::size_t most_calls_deep = 16;
constexpr std::string_view moves_too_far = "a pointer that moves too far";
constexpr std::string_view other_loop = "a loop other than for (int i = A; i < B; ++i), A and B constant";

}  // namespace

// NOLINTBEGIN(misc-no-recursion): blocks of the source, which the parser limits; calls, at most most_calls_deep
Value HelperBody::call(std::string_view name, const std::vector<Value>& arguments) {
  const auto found = helpers_.find(name, file_);
  if (!found) fail(helpers_.why_not_found(name, file_));
  if (depth_ == most_calls_deep) fail("calls more than " + std::to_string(most_calls_deep) + " deep");
  ++depth_;
  called_.emplace(name);
  function_ = *found;
  const c::Decl& function = tree()[function_.decl];
  const c::Type& type = tree()[function.type];
  if (type.params.size() != arguments.size() || type.is_variadic)
    fail("a call with other arguments than the function has");
  std::map<c::DeclId, Value> outer = std::exchange(env_, {});
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    levels_[type.params[i]] = level_;
    declare(type.params[i], arguments[i]);
  }
  const bool is_void = tree()[type.of].kind == c::TypeKind::nothing;
  Flow flow = block(function.body, true);
  env_ = std::move(outer);
  --depth_;
  if (is_void && flow.kind == Flow::Kind::next) return Values::number({tir::make_int(0)});
  if (flow.kind != Flow::Kind::leave) fail("an end of the function without a value");
  return in_type(*flow.value, type_of(type.of));
}

HelperBody::Flow HelperBody::block(c::StmtId id, bool is_function) {
  const std::vector<c::StmtId>& parts = tree()[id].body;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Flow flow = statement(parts[i]);
    if (flow.kind == Flow::Kind::jump && is_function) {
      // Forward, to a label of the function's own block.
      const auto label = std::find_if(parts.begin() + static_cast<std::ptrdiff_t>(i), parts.end(), [&](c::StmtId part) {
        return tree()[part].kind == c::StmtKind::label && tree()[part].text == flow.label;
      });
      if (label == parts.end()) fail("goto to a label that is not further down in the function's own block");
      i = static_cast<std::size_t>(label - parts.begin()) - 1;
      continue;
    }
    if (flow.kind != Flow::Kind::next) return flow;
  }
  return {};
}

HelperBody::Flow HelperBody::statement(c::StmtId id) {
  at_ = tree()[id].tokens.begin;
  if (++statements_ > most_helper_statements)
    fail("more than " + std::to_string(most_helper_statements) + " statements");
  const c::Stmt& stmt = tree()[id];
  switch (stmt.kind) {
    case c::StmtKind::empty:
      return {};
    case c::StmtKind::block:
      return block(id);
    case c::StmtKind::label:
      return statement(stmt.body[0]);
    case c::StmtKind::declaration:
      declaration(stmt);
      return {};
    case c::StmtKind::expression:
      expression(stmt.expr);
      return {};
    case c::StmtKind::if_else:
      return branch(stmt);
    case c::StmtKind::for_loop:
      return loop(stmt);
    case c::StmtKind::switch_of:
      return choice(stmt);
    case c::StmtKind::jump_to:
      return {Flow::Kind::jump, {}, stmt.text};
    case c::StmtKind::return_to: {
      if (!stmt.expr.valid()) fail("return without a value");
      Value value = evaluate_statement(stmt.expr);
      require_no_moves();
      return {Flow::Kind::leave, fixed(value, "result"), {}};
    }
    default:
      fail(in_quotes(function_.in->unit.tokens[stmt.tokens.begin].text) + ", a statement beyond what is read");
  }
}

void HelperBody::declaration(const c::Stmt& stmt) {
  for (const c::DeclId id : stmt.decls) {
    const c::Decl& decl = tree()[id];
    const bool is_plain = decl.kind == c::DeclKind::variable && decl.storage == c::Storage::none &&
                          decl.attributes.empty() && decl.unknown.empty();
    const bool is_array = tree()[decl.type].kind == c::TypeKind::array;
    if (!is_plain || (is_array && decl.init.valid())) fail("a declaration with more than a type, a name and a number");
    levels_[id] = level_;
    if (is_array) {
      declare_array(id);
      continue;
    }
    if (!decl.init.valid()) {
      env_.erase(id);  // what is used before it has a value is not read
      continue;
    }
    declare(id, evaluate_statement(decl.init));
    make_moves();
  }
}

void HelperBody::declare_array(c::DeclId id) {
  const c::Type& type = tree()[tree()[id].type];
  const CType element = type_of(type.of);
  env_.erase(id);
  const auto count = type.extent.valid() ? constant_of(evaluate(type.extent)) : std::nullopt;
  if (!count || element.stars != 0 || element.element.is_void() || *count > INT32_MAX)
    fail("an array without a constant number of elements");
  if (*count < 1) return;
  Value array;
  array.kind = Value::Kind::pointer;
  array.type = element.element;
  array.storage = new_var_(tree()[id].name, tir::handle_type, element.element);
  own_.insert(array.storage);
  body_.allocate(array.storage, element.element, {tir::make_int(*count)}, nullptr, {}, true);
  env_[id] = array;
  arrays_[id] = *count * element.element.bytes();
}

void HelperBody::expression(c::ExprId id) {
  const c::Expr& expr = tree()[id];
  const auto operands = tree().operands_of(id);
  if (expr.kind == c::ExprKind::call) return call_statement(id);
  if (expr.kind == c::ExprKind::cast && tree()[operands[0]].kind == c::ExprKind::call) {
    if (tree()[expr.type].kind != c::TypeKind::nothing) fail("the result of a call as something else");
    return call_statement(operands[0]);
  }
  if (is_step(expr)) return count(operands[0], expr.text == "++" ? 1 : -1);
  if (expr.kind != c::ExprKind::assign) fail("a statement that is no assignment and no call");
  const c::Expr& target = tree()[operands[0]];
  const Value given = evaluate_statement(operands[1]);
  const std::string_view op = expr.text.substr(0, expr.text.size() - 1);
  if (target.kind == c::ExprKind::name) {
    assign(target.decl, op, given);
  } else {
    const Value place = evaluate(operands[0]);
    store(place, op.empty() ? given : binary(op, place, given));
  }
  make_moves();
}

void HelperBody::call_statement(c::ExprId id) {
  if (!memory_call(id)) (void)evaluate_statement(id);
  make_moves();
}

HelperBody::Flow HelperBody::branch(const c::Stmt& stmt) {
  const Value condition = evaluate(stmt.expr);
  require_no_moves();
  if (const auto constant = constant_of(condition)) {
    if (*constant != 0) return statement(stmt.body[0]);
    return stmt.other.empty() ? Flow() : statement(stmt.other[0]);
  }
  put_into_storage(stmt);
  body_.open_branch(values_.condition(condition).expr);
  inside(stmt.body[0]);
  if (!stmt.other.empty()) {
    body_.open_else();
    inside(stmt.other[0]);
  }
  body_.close();
  return {};
}

void HelperBody::inside(c::StmtId id) {
  ++level_;
  if (statement(id).kind != Flow::Kind::next) fail("return or goto in a loop or in a branch that is not constant");
  --level_;
}

HelperBody::Flow HelperBody::choice(const c::Stmt& stmt) {
  const auto constant = constant_of(evaluate(stmt.expr));
  require_no_moves();
  if (!constant) fail("switch of what is no constant");
  // Cases that each end with break, of which at most one is taken.
  bool is_taken = false;
  if (tree()[stmt.body[0]].kind != c::StmtKind::block) fail("switch without a block");
  for (const c::StmtId part : tree()[stmt.body[0]].body) {
    c::StmtId inner = part;
    while (tree()[inner].kind == c::StmtKind::case_of || tree()[inner].kind == c::StmtKind::default_of) {
      if (tree()[inner].kind == c::StmtKind::default_of) fail("default in switch");
      const auto value = c::constant_value(tree(), tree()[inner].expr);
      // One that a switch of a type without a sign converts is another number there.
      if (!value || value->value < 0 || value->value > INT32_MAX) fail("a case that is no constant of int, from 0 on");
      is_taken = is_taken || value->value == *constant;
      inner = tree()[inner].body[0];
    }
    if (!is_taken) continue;
    if (tree()[inner].kind == c::StmtKind::break_out) return {};
    Flow flow = statement(inner);
    if (flow.kind != Flow::Kind::next) return flow;
  }
  return {};
}

HelperBody::Header HelperBody::header(const c::Stmt& stmt) {
  if (stmt.other.size() != 1 || !stmt.expr.valid() || !stmt.step.valid()) fail(other_loop);
  const c::Stmt& init = tree()[stmt.other[0]];
  if (init.kind != c::StmtKind::declaration || init.decls.size() != 1) fail(other_loop);
  Header result;
  result.counter = init.decls[0];
  const c::Decl& counter = tree()[result.counter];
  const CType type = type_of(counter.type);
  if (type.stars != 0 || type.element != tir::int32_type || !counter.init.valid()) fail(other_loop);
  const c::Expr& condition = tree()[stmt.expr];
  const auto is_counter = [&](c::ExprId id) {
    return tree()[id].kind == c::ExprKind::name && tree()[id].decl == result.counter;
  };
  const bool is_less = condition.kind == c::ExprKind::binary && (condition.text == "<" || condition.text == "<=");
  if (!is_less || !is_counter(tree().operands_of(stmt.expr)[0])) fail(other_loop);
  const c::Expr& step = tree()[stmt.step];
  if (!is_step(step) || step.text != "++" || !is_counter(tree().operands_of(stmt.step)[0])) fail(other_loop);
  const auto first = constant_of(evaluate(counter.init));
  const Value end = evaluate(tree().operands_of(stmt.expr)[1]);
  const auto bound = constant_of(end);
  require_no_moves();
  if (!first || !bound) fail(other_loop);
  const std::set<c::DeclId> changed = changed_in(tree()[stmt.body[0]]);
  if (changed.contains(result.counter)) fail("a loop's counter changed in the loop");
  for (const c::ExprId part : tree().parts_of(tree().operands_of(stmt.expr)[1])) {
    if (changed.contains(tree()[part].decl)) fail(tree()[part].text, "changed in a loop that it ends");
  }
  // The counter is compared as one without a sign.
  const bool is_unsigned =
      end.width == Value::Width::any_unsigned || (end.tree.expr->type.is_uint() && end.tree.expr->type.bits >= 32);
  if (is_unsigned && *first < 0) fail(other_loop);
  result.first = *first;
  result.end = *bound + (condition.text == "<=" ? 1 : 0);
  if (result.first < INT32_MIN || result.end > INT32_MAX) fail(other_loop);
  return result;
}

HelperBody::Flow HelperBody::loop(const c::Stmt& stmt) {
  const Header header = this->header(stmt);
  if (header.end <= header.first) return {};
  if (header.end - header.first == 1) {
    env_[header.counter] = Values::number({tir::make_int(header.first)});
    Flow flow = statement(stmt.body[0]);
    env_.erase(header.counter);
    return flow;
  }
  const std::int64_t count = header.end - header.first;
  const Moved moved = moved_in(stmt.body[0]);
  put_into_storage(tree()[stmt.body[0]], moved);
  const tir::VarId var = new_var_(tree()[header.counter].name, tir::int32_type, tir::void_type);
  body_.open_loop(var, tir::make_int(header.first), tir::make_int(count));
  env_[header.counter] = values_.variable(var);
  const auto repetitions = checked_mul(repetitions_, count);
  if (!repetitions) fail("loops that run too often");
  const std::int64_t outer_repetitions = std::exchange(repetitions_, *repetitions);
  loops_.push_back({copies_.size(), stores_, false});
  const Value number = values_.variable(var);
  const Value iteration =
      header.first == 0 ? number : values_.binary("-", number, Values::number({tir::make_int(header.first)}));
  std::map<c::DeclId, std::pair<Value, std::size_t>> before;  // pointers that move, where they stand and were declared
  for (const auto& [decl, by] : moved) {
    const auto whole = checked_mul(by, count);
    if (!whole || *whole > INT32_MAX || *whole < INT32_MIN) fail(moves_too_far);
    before[decl] = {env_[decl], levels_[decl]};
    env_[decl] = this->moved(env_[decl],
                             by == 1 ? iteration : values_.binary("*", iteration, Values::number({tir::make_int(by)})));
    levels_[decl] = level_ + 1;
  }
  inside(stmt.body[0]);
  for (const auto& [decl, at] : before) {
    env_[decl] = this->moved(at.first, Values::number({tir::make_int(moved.at(decl) * count)}));
    levels_[decl] = at.second;
  }
  const Kept loop = loops_.back();
  loops_.pop_back();
  if (loop.uses_copy && stores_ != loop.stores_before) fail(stored_behind_copy);
  repetitions_ = outer_repetitions;
  env_.erase(header.counter);
  body_.close();
  return {};
}

HelperBody::Moved HelperBody::moved_in(c::StmtId id) {
  const c::Stmt& stmt = tree()[id];
  Moved moved;
  const auto add = [&](const Moved& more, std::int64_t times) {
    for (const auto& [decl, by] : more) {
      const auto product = checked_mul(by, times);
      const auto sum = product ? checked_add(moved[decl], *product) : std::nullopt;
      if (!sum) fail(moves_too_far);
      moved[decl] = *sum;
    }
  };
  switch (stmt.kind) {
    case c::StmtKind::block:
      for (const c::StmtId part : stmt.body) add(moved_in(part), 1);
      return moved;
    case c::StmtKind::expression:
      add(moved_by(stmt.expr), 1);
      return moved;
    case c::StmtKind::declaration:
      for (const c::DeclId decl : stmt.decls) {
        if (tree()[decl].init.valid()) add(moved_by(tree()[decl].init), 1);
      }
      return moved;
    case c::StmtKind::for_loop: {
      const Moved inner = moved_in(stmt.body[0]);
      if (inner.empty()) return moved;
      const Header header = this->header(stmt);
      add(inner, std::max<std::int64_t>(0, header.end - header.first));
      return moved;
    }
    default:
      for (const c::DeclId decl : changed_in(stmt)) {
        if (is_outer_pointer(decl)) fail(tree()[decl].name, "moved under a condition");
      }
      return moved;
  }
}

bool HelperBody::is_outer_pointer(c::DeclId decl) const {
  const auto found = env_.find(decl);
  return found != env_.end() && found->second.kind == Value::Kind::pointer;
}

HelperBody::Moved HelperBody::moved_by(c::ExprId root) {
  Moved moved;
  for (const c::ExprId part : tree().parts_of(root)) {
    const c::Expr& expr = tree()[part];
    if (!is_step(expr) && expr.kind != c::ExprKind::assign) continue;
    const c::Expr& target = tree()[tree().operands_of(part)[0]];
    if (target.kind != c::ExprKind::name || !target.decl.valid() || !is_outer_pointer(target.decl)) continue;
    if (!is_step(expr)) fail(target.text, "set in a loop");
    moved[target.decl] += expr.text == "++" ? 1 : -1;
  }
  return moved;
}

std::set<c::DeclId> HelperBody::changed_in(const c::Stmt& stmt) const {
  std::set<c::DeclId> changed;
  auto change =
      std::ranges::lower_bound(function_.in->changes, stmt.tokens.begin, {}, &Helpers::Changes::value_type::first);
  for (; change != function_.in->changes.end() && change->first < stmt.tokens.end; ++change)
    changed.insert(change->second);
  return changed;
}

void HelperBody::put_into_storage(const c::Stmt& stmt, const Moved& moved) {
  for (const c::DeclId decl : changed_in(stmt)) {
    const auto found = env_.find(decl);
    if (found == env_.end() || found->second.kind == Value::Kind::place) continue;
    if (found->second.kind == Value::Kind::pointer && moved.contains(decl)) continue;
    if (found->second.kind != Value::Kind::number)
      fail(tree()[decl].name, "changed in a loop or branch, which is no number");
    const CType type = type_of(tree()[decl].type);
    Value place;
    place.kind = Value::Kind::place;
    place.type = type.element;
    place.storage = new_var_(tree()[decl].name, tir::handle_type, type.element);
    place.tree = {tir::make_int(0)};
    place.is_short_sum = type.element == tir::int32_type && (found->second.is_short_sum || constant_of(found->second));
    own_.insert(place.storage);
    body_.allocate(place.storage, type.element, {}, nullptr, {}, true);
    store(place, found->second);
    found->second = place;
  }
}
// NOLINTEND(misc-no-recursion)

void read_helper_call(Helpers& helpers, const std::string& name, std::size_t file, const std::vector<Value>& arguments,
                      Values& values, const NewVar& new_var, tir::BodyBuilder& body) {
  HelperBody reader(helpers, file, values, new_var, body);
  try {
    if (constant_of(reader.call(name, arguments)) != 0)
      throw SyntaxError{0, "found a result other than 0, expected none or 0"};
    helpers.note_read(reader.names());
  } catch (const SyntaxError& error) {
    helpers.note_not_read(name, file, reader.at(), error.message);
    throw HelperNotRead{name};
  }
}

}  // namespace usmp::tvm_c

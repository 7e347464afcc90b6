// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads blocks, loops and branches, and keeps the text of statements that stay.
#include "tvm_c/body/body_reader.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tvm_c/body/called_names.hpp"
#include "tvm_c/body/loop_header.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/c/parser.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {

using tir::DataType;
using tir::Tree;
using tir::VarId;

// NOLINTBEGIN(misc-no-recursion): blocks of the source, which the parser limits; calls, at most most_nested_deep

void BodyReader::read_statements() {
  const c::Stmt& body = code_[code_.tree()[code_.code().function].body];
  if (body.kind != c::StmtKind::block) {
    fail_at(code_.token(body.at),
            "statements that are understood, at most " + std::to_string(c::most_nested) + " inside each other");
  }
  const std::vector<c::TokenRange>& attributes = code_.tree().unheeded;
  if (!attributes.empty()) fail_at(code_.token(attributes[0].begin), "no attribute but of an array");
  statements(body.body);
  (void)close();
  if (texts_ != added_.size() + outlined_.size()) {
    throw SyntaxError{text_.offset, "found statements that stay inside of others, expected them beside those"};
  }
}

void BodyReader::keep_text(const Token& mark) {
  const auto text = std::ranges::find(added_, mark.offset, &AddedText::begin);
  const auto outlined = std::ranges::find(outlined_, mark.offset, [](const Outlined& one) { return one.place.begin; });
  const bool is_added = text != added_.end();
  if (!is_added && outlined == outlined_.end()) return;
  if (open_.size() != 1) fail_at(mark, "the end of the block");
  if (is_added) {
    keep(std::string(text_.file_text().substr(text->begin, text->end - text->begin)));
  } else {
    call_outlined(*outlined);
  }
  ++texts_;
}

void BodyReader::call_outlined(const Outlined& statement) {
  values_.at = statement.place.begin;
  for (const std::string& name : statement.names) {
    if (names_.look_up_own(name)) require_known(name);
  }
  for (const std::string& name : statement.sized) {  // of a parameter it is another one
    const auto value = names_.look_up_own(name);
    if (value && value->kind == Value::Kind::pointer && memory_.is_array(value->storage))
      values_.fail("found the size of array " + in_quotes(name) + ", expected a number");
  }
  OutlinedCall call = outlined_call(statement, names_, values_, c_types_);
  body_.evaluate(std::move(call.expr));
  result_.outlined.push_back(std::move(call.function));
}

void BodyReader::keep(std::string text) {
  body_.evaluate(tir::make_call(tir::int32_type, tir::Op::call_extern,
                                {tir::make_string(tir::kept_text), tir::make_string(std::move(text))}));
}

std::size_t BodyReader::keep_guarded(Statements all) {
  const Token& first = code_.front(all.front());
  const GuardedText* text = open_.size() > 1 ? guarded_.at(first.offset) : nullptr;
  if (text == nullptr) return 0;
  if (!text->variable.empty()) fail_at(first, "no use of " + in_quotes(text->variable));
  keep(guarded_.text_of(*text));
  result_.guarded.push_back(text->place);
  const auto behind =
      std::ranges::find_if(all, [&](c::StmtId id) { return code_.front(id).offset >= text->place.end; });
  const Token& last = code_.token(code_[*std::prev(behind)].tokens.end - 1);
  if (last.offset >= text->place.end) fail_at(last, "the end of statements that stay");
  return static_cast<std::size_t>(behind - all.begin());
}

void BodyReader::drop_failure(const c::Stmt& check, const std::string& declared) {
  require_no_else(code_, check);
  if (auto failure = guarded_.find(code_, check.body[0], false, declared)) {
    result_.dropped.push_back(*failure->text);
  } else if (const auto other = not_a_return(code_, check.body[0])) {
    fail_at(*other, other->is("return") ? "';'" : "'return'");
  }
}

OnFailure BodyReader::failure_in(const c::Stmt& check, bool leaves) {
  require_no_else(code_, check);
  if (auto code = guarded_.code_in(code_, check, {})) return {std::move(code)};
  if (auto kept = guarded_.find(code_, check.body[0], leaves)) return std::move(*kept);
  return {tir::make_int(expect_failure(code_, check.body[0]))};
}

void BodyReader::require_known(std::string_view name) const {
  if (!unknown_.contains(name)) return;
  values_.fail("found " + in_quotes(name) + " behind a statement that does not leave the function where an operator " +
               "fails, expected a return in that statement");
}

void BodyReader::open(Kind kind) {
  open_.push_back({kind});
  names_.open_block();
}

bool BodyReader::close() {
  const bool continues = open_.back().continues;
  names_.close_block();
  open_.pop_back();
  return continues;
}

void BodyReader::statements(Statements all) {
  while (!all.empty()) all = all.subspan(statement(all));
}

void BodyReader::statements_of(c::StmtId id) {
  const c::Stmt& stmt = code_[id];
  open_.back().has_braces = stmt.kind == c::StmtKind::block;
  statements(open_.back().has_braces ? Statements(stmt.body) : Statements(&id, 1));
}

bool BodyReader::block(Kind kind, c::StmtId id) {
  open(kind);
  statements_of(id);
  return close();
}

void BodyReader::scope(c::StmtId id) {
  body_.open_scope();
  (void)block(Kind::braces, id);
  body_.close();
}

std::size_t BodyReader::statement(Statements all) {
  const c::StmtId id = all.front();
  const c::Stmt& stmt = code_[id];
  const Token& first = code_.front(id);
  values_.at = first.offset;
  if (const std::size_t count = keep_guarded(all); count > 0) return count;
  switch (stmt.kind) {
    case c::StmtKind::empty:
      keep_text(first);
      break;
    case c::StmtKind::block:
      scope(id);
      break;
    case c::StmtKind::for_loop:
      loop(stmt);
      break;
    case c::StmtKind::while_loop:
      while_loop(stmt);
      break;
    case c::StmtKind::if_else:
      return branch(stmt, all);
    case c::StmtKind::return_to:
      if (inlined_ != nullptr) {
        inlined_result(stmt, all);
      } else {
        result(stmt, all);
      }
      break;
    case c::StmtKind::break_out:
      fail_at(first, "no break: how often the loop runs is not known then");
    case c::StmtKind::continue_on:
      if (function_.is_entry) code_.fail_undeclared(first);
      continue_statement(first, all);
      break;
    case c::StmtKind::declaration:
    case c::StmtKind::expression:
      return plain_statement(stmt, all);
    case c::StmtKind::opaque:
      code_.fail_opaque(stmt);
    default:
      fail_at(first, "a statement of another kind");
  }
  return 1;
}

std::size_t BodyReader::plain_statement(const c::Stmt& stmt, Statements all) {
  if (all.size() > 1 && read_checked_result(stmt, code_[all[1]])) return 2;
  const bool is_expression = stmt.expr.valid();
  if (is_expression && (is_unused(stmt.expr) || read_memory_call(stmt.expr))) return 1;
  if (!is_expression) return declaration(stmt, all);
  expression(stmt.expr);
  return 1;
}

void BodyReader::expression(c::ExprId id) {
  const c::ExprId call = code_.without_void(id);
  if (const std::string name = called_name(code_, call, names_, scope_); !name.empty()) {
    return this->call(name, call, {});
  }
  const std::string other = inlined_ == nullptr ? other_name(code_, call, names_, function_.is_entry) : std::string();
  if (!other.empty() && call == id) return checked_call(other, code_.arguments(call, true), {});
  assignment(id);
}

bool BodyReader::read_memory_call(c::ExprId id) {
  const c::ExprId call = code_.without_void(id);
  const std::string_view name = code_.callee(call);
  if (function_.is_entry || !is_memory_function(name)) return false;
  if (scope_.functions.contains(name) || names_.look_up(name)) return false;
  memory_.read(call, [this](VarId var) {
    const auto is_it = [&](const tir::Param& param) { return param.var == var; };
    return unpacked_.contains(var) || std::any_of(function_.params.begin(), function_.params.end(), is_it);
  });
  return true;
}

void BodyReader::continue_statement(const Token& at, Statements all) {
  const std::size_t depth = open_.size();
  const bool is_in_loop = depth >= 2 && open_[depth - 1].kind == Kind::then && open_[depth - 2].has_braces &&
                          (open_[depth - 2].kind == Kind::loop || open_[depth - 2].kind == Kind::rest);
  if (!is_in_loop || all.size() > 1) {
    fail_at(at, "continue as the last statement of a branch in the loop's own block");
  }
  open_.back().continues = true;
}

bool BodyReader::is_unused(c::ExprId id) {
  const std::string_view name = code_.name_of(code_.without_void(id));
  return code_.without_void(id) != id && !name.empty() && names_.look_up(name).has_value();
}

void BodyReader::loop(const c::Stmt& stmt) {
  const OpenedLoop opened = open_loop(stmt, code_, values_, names_, body_);
  open(Kind::loop);
  names_.declare(opened.name, opened.counter);
  statements_of(stmt.body[0]);
  (void)close();
  body_.close();
}

void BodyReader::while_loop(const c::Stmt& stmt) {
  Tree condition = values_.condition(code_.evaluate(stmt.expr));
  const bool is_endless = tir::as_int(*condition.expr).value_or(0) != 0;
  if (!is_endless) {
    body_.open_while(condition.expr);
    (void)block(Kind::loop, stmt.body[0]);
    return body_.close();
  }
  const c::Stmt& inside = code_[stmt.body[0]];
  const auto is_break = [&](c::StmtId id) {
    const c::Stmt& block = code_[id];
    return block.kind == c::StmtKind::block && block.body.size() == 1 &&
           code_[block.body[0]].kind == c::StmtKind::break_out;
  };
  const bool has_end = inside.kind == c::StmtKind::block && !inside.body.empty() &&
                       code_[inside.body[0]].kind == c::StmtKind::if_else && is_break(code_[inside.body[0]].body[0]) &&
                       code_[inside.body[0]].other.empty();
  if (!has_end) fail_at(code_.front(stmt.body[0]), "{ if (condition) { break; } in front of what the loop does");
  const Value leaves = code_.evaluate(code_[inside.body[0]].expr);
  condition = values_.condition(values_.unary("!", leaves));
  body_.open_while(condition.expr);
  open(Kind::loop);
  statements(Statements(inside.body).subspan(1));
  (void)close();
  body_.close();
}

std::size_t BodyReader::branch(const c::Stmt& stmt, Statements all) {
  if (read_checked_result(stmt, stmt)) return 1;
  if (inlined_ == nullptr && read_look_up(code_, stmt, packed_)) return 1;
  if (read_nested_check(stmt)) return 1;
  if (const auto condition = nested_condition(stmt)) return branch_on(*condition, stmt, all);
  if (const auto call = leading_call(code_, stmt.expr); call && read_check(stmt, *call)) return 1;
  if (const auto tested = tested_pointers(stmt.expr)) {
    null_check(*tested, stmt);
    return 1;
  }
  const Value tested = code_.evaluate(stmt.expr);
  if (tested.kind != Value::Kind::record) return branch_on(tested, stmt, all);
  require_no_else(code_, stmt);
  expect_packed_check(code_, stmt);
  return 1;
}

std::size_t BodyReader::branch_on(const Value& tested, const c::Stmt& stmt, Statements all) {
  const Tree condition = values_.condition(tested);
  const auto constant = function_.is_entry ? std::nullopt : tir::as_int(*condition.expr);
  if (constant == 0 && stmt.other.empty() && !not_a_return(code_, stmt.body[0])) return 1;
  const bool is_block = code_[stmt.body[0]].kind == c::StmtKind::block;
  if (constant == 1 && is_block && inlined_ == nullptr && stmt.other.empty()) {  // which a return would not leave
    scope(stmt.body[0]);
    return 1;
  }
  body_.open_branch(condition.expr);
  const bool leaves = block(Kind::then, stmt.body[0]);
  if (leaves && !stmt.other.empty()) fail_at(code_.behind(stmt.body[0]), "no else behind what leaves");
  if (leaves || !stmt.other.empty()) body_.open_else();
  if (leaves) {
    open(Kind::rest);
    statements(all.subspan(1));
    (void)close();
  } else if (!stmt.other.empty()) {
    (void)block(Kind::otherwise, stmt.other[0]);
  }
  body_.close();
  return leaves ? all.size() : 1;
}

// NOLINTEND(misc-no-recursion)

}  // namespace usmp::tvm_c

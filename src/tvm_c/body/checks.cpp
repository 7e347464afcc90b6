// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Recognises comparisons of results and parameters, and what is done if one fails.
#include "tvm_c/body/checks.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tvm_c/body/memory_calls.hpp"
#include "tvm_c/kept/added_statements.hpp"
#include "tvm_c/text/syntax.hpp"
#include "tvm_c/text/tvm_names.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {

std::optional<c::ExprId> leading_call(const Expressions& code, c::ExprId condition) {
  c::ExprId first = condition;
  while (code[first].kind == c::ExprKind::binary || code[first].kind == c::ExprKind::conditional)
    first = code.operand(first, 0);
  const bool is_first = code[first].tokens.begin == code[condition].tokens.begin && !code.callee(first).empty();
  return is_first ? std::optional(first) : std::nullopt;
}

bool asks_not_zero(const Expressions& code, c::ExprId condition, c::ExprId value, bool is_always_zero) {
  if (condition == value) return true;
  const bool is_test = code.is_binary(condition, "!=") ||
                       (is_always_zero && (code.is_binary(condition, "<") || code.is_binary(condition, ">")));
  return is_test && code.operand(condition, 0) == value && code.is_number(code.operand(condition, 1), "0");
}

void expect_not_zero(const Expressions& code, c::ExprId condition, c::ExprId value, bool is_always_zero) {
  if (asks_not_zero(code, condition, value, is_always_zero)) return;
  c::ExprId test = condition;
  while (code.operand(test, 0) != value) test = code.operand(test, 0);
  if (asks_not_zero(code, test, value, is_always_zero)) fail_at(code.behind(test), "')'");
  if (!code.is_binary(test, "!=")) fail_at(code.at(test), "'!='");
  fail_at(code.front(code.operand(test, 1)), "'0'");
}

std::vector<std::string_view> null_tests(const c::Tree& tree, c::ExprId condition) {
  const auto is_null = [&](c::ExprId id) {
    const c::Expr& expr = tree[id];
    return expr.kind == c::ExprKind::number ? expr.text == "0" : expr.text == "NULL" || expr.text == "nullptr";
  };
  std::vector<std::string_view> names;
  std::vector<c::ExprId> pending = {condition};
  while (!pending.empty()) {
    const c::ExprId id = pending.back();
    pending.pop_back();
    const c::Expr& expr = tree[id];
    const auto operands = tree.operands_of(id);
    if (expr.kind == c::ExprKind::binary && expr.text == "||") {
      pending.insert(pending.end(), {operands[1], operands[0]});
      continue;
    }
    const bool is_negated = expr.kind == c::ExprKind::prefix && expr.text == "!";
    const bool is_equal = expr.kind == c::ExprKind::binary && expr.text == "==";
    if (!is_negated && (!is_equal || (!is_null(operands[0]) && !is_null(operands[1])))) return {};
    const c::Expr& name = tree[operands[is_equal && is_null(operands[0]) ? 1 : 0]];
    if (name.kind != c::ExprKind::name) return {};
    names.push_back(name.text);
  }
  return names;
}

void require_no_else(const Expressions& code, const c::Stmt& check) {
  if (check.other.empty()) return;
  fail_at(code.behind(check.body[0]),
          "none behind a check of a call: what happens if it does not fail may stand behind the check");
}

namespace {

// The return that a statement is, or that all of a block is; else where something else stands, and what is expected.
struct Return {
  c::ExprId value;
  const Token* other = nullptr;
  std::string_view expected = {};
};

Return return_of(const Expressions& code, c::StmtId failure) {
  const c::Stmt& stmt = code[failure];
  const bool is_block = stmt.kind == c::StmtKind::block;
  const auto other = [](const Token& token, std::string_view expected) { return Return{{}, &token, expected}; };
  if (is_block && stmt.body.empty()) return other(code.token(stmt.tokens.end - 1), "'return'");
  const c::StmtId id = is_block ? stmt.body[0] : failure;
  const c::Stmt& inside = code[id];
  if (inside.kind != c::StmtKind::return_to) return other(code.odd(id), code.odd(id).is("return") ? "';'" : "'return'");
  if (!inside.expr.valid()) return other(code.token(inside.tokens.end - 1), "'-'");
  if (is_block && stmt.body.size() > 1) return other(code.behind(id), "'}'");
  return {inside.expr};
}

std::optional<std::int32_t> failure_number(const Expressions& code, c::ExprId value) {
  const auto number = code.literal(value);
  const bool is_failure = number && *number != 0 && *number >= -INT32_MAX && *number <= INT32_MAX;
  return is_failure ? std::optional(static_cast<std::int32_t>(*number)) : std::nullopt;
}

}  // namespace

std::optional<std::int32_t> failure_of(const Expressions& code, c::StmtId failure) {
  const Return found = return_of(code, failure);
  return found.other == nullptr ? failure_number(code, found.value) : std::nullopt;
}

std::int32_t expect_failure(const Expressions& code, c::StmtId failure) {
  const Return found = return_of(code, failure);
  if (found.other != nullptr) fail_at(*found.other, found.expected);
  if (const auto number = failure_number(code, found.value)) return *number;
  const bool is_negative = code.is_prefix(found.value, "-");
  fail_at(code.at(is_negative ? code.operand(found.value, 0) : found.value), is_negative ? "'1'" : "'-'");
}

std::optional<Token> not_a_return(const Expressions& code, c::StmtId failure) {
  const c::Stmt& stmt = code[failure];
  if (stmt.kind == c::StmtKind::return_to) return std::nullopt;
  if (stmt.kind != c::StmtKind::block || stmt.body.empty()) return code.odd(failure);
  for (std::uint32_t i = stmt.tokens.begin; i < stmt.tokens.end; ++i) {
    const Token& token = code.token(i);
    if (token.is("goto") || token.is("case") || token.is("default") || token.is(":")) return token;
  }
  const c::StmtId last = stmt.body.back();
  return code[last].kind == c::StmtKind::return_to ? std::nullopt : std::optional(code.odd(last));
}

tir::ExprRef failure_code(const Expressions& code, const c::Stmt& check, std::string_view name) {
  const Return found = return_of(code, check.body[0]);
  if (found.other != nullptr || !check.other.empty()) return nullptr;
  if (const auto number = failure_number(code, found.value)) return tir::make_int(*number);
  return !name.empty() && code.name_of(found.value) == name ? tir::make_own_code() : nullptr;
}

namespace {

// Variables that are set to workspace that the function takes, and to nothing else.
Names workspace_in(const FunctionTree& function) {
  const c::Tree& tree = function.tree;
  Names workspace;
  Names others;
  const auto note = [&](std::string_view name, c::ExprId value) {
    const bool is_workspace = value.valid() && called_function(tree, without_casts(tree, value)) == allocate_function;
    (is_workspace ? workspace : others).emplace(name);
  };
  for (const c::Decl& decl : tree.decls) {
    if (decl.kind == c::DeclKind::parameter || decl.init.valid()) note(decl.name, decl.init);
  }
  for (std::size_t i = 0; i < tree.exprs.size(); ++i) {
    if (tree.exprs[i].kind != c::ExprKind::assign) continue;
    const auto operands = tree.operands_of(c::ExprId(i));
    if (tree[operands[0]].kind == c::ExprKind::name) note(tree[operands[0]].text, operands[1]);
  }
  for (const std::string& name : others) workspace.erase(name);
  return workspace;
}

struct Returned {
  c::ExprId value;      // none: nothing
  c::ExprId condition;  // of if (…) return -1; or if (…) { return -1; }
};

std::vector<Returned> returns_in(const c::Tree& tree) {
  std::map<c::StmtId, c::ExprId> conditions;  // of the first statement under each
  for (const c::Stmt& stmt : tree.stmts) {
    if (stmt.kind != c::StmtKind::if_else) continue;
    const c::Stmt& inside = tree[stmt.body[0]];
    const bool is_block = inside.kind == c::StmtKind::block && !inside.body.empty();
    conditions.emplace(is_block ? inside.body[0] : stmt.body[0], stmt.expr);
  }
  std::vector<Returned> result;
  for (std::size_t i = 0; i < tree.stmts.size(); ++i) {
    if (tree.stmts[i].kind != c::StmtKind::return_to) continue;
    const auto condition = conditions.find(c::StmtId(i));
    result.push_back({tree.stmts[i].expr, condition == conditions.end() ? c::ExprId() : condition->second});
  }
  return result;
}

bool returns_nothing_else(const c::Tree& tree, const Returned& one) {
  return !one.value.valid() || is_number(tree, one.value, "0");
}

// f(…) != 0: the function; empty: it is something else.
std::string_view asked_function(const c::Tree& tree, c::ExprId condition) {
  if (!condition.valid() || tree[condition].kind != c::ExprKind::binary || tree[condition].text != "!=") return {};
  const auto operands = tree.operands_of(condition);
  return is_number(tree, operands[1], "0") ? called_function(tree, operands[0]) : std::string_view();
}

// sid_1 == NULL, TVMBackendFreeWorkspace(1, 0, sid_1) != 0
bool is_without_workspace(const c::Tree& tree, const Returned& one, const Names& workspace) {
  if (!one.condition.valid()) return false;
  if (asked_function(tree, one.condition) == free_function) return true;
  const auto tested = null_tests(tree, one.condition);
  return tested.size() == 1 && workspace.contains(tested[0]);
}

template <class IsKnown>
bool calls_only(const c::Tree& tree, const IsKnown& is_known) {
  for (std::size_t i = 0; i < tree.exprs.size(); ++i) {
    if (tree.exprs[i].kind == c::ExprKind::call && !is_known(called_function(tree, c::ExprId(i)))) return false;
  }
  return true;
}

}  // namespace

bool never_fails(const FunctionTree& function) {
  const c::Tree& tree = function.tree;
  const Names workspace = workspace_in(function);
  const auto may_be_null = [&](std::string_view name) { return !workspace.contains(name); };
  for (const c::Stmt& stmt : tree.stmts) {
    const bool is_test = stmt.kind == c::StmtKind::if_else;
    if (is_test && std::ranges::any_of(null_tests(tree, stmt.expr), may_be_null)) return false;
  }
  for (const Returned& one : returns_in(tree)) {
    const bool is_given_back = one.value.valid() && called_function(tree, one.value) == free_function;
    const bool is_behind_test = one.condition.valid() && !null_tests(tree, one.condition).empty();
    const bool returns_other = !returns_nothing_else(tree, one) && !is_given_back && !is_behind_test &&
                               !is_without_workspace(tree, one, workspace);
    if (returns_other) return false;
  }
  return function.opaque_part().empty() && calls_only(tree, [](std::string_view name) {
           return name == allocate_function || name == free_function || is_memory_function(name) ||
                  is_math_function(name);
         });
}

bool returns_once(const FunctionTree& function) {
  const c::Tree& tree = function.tree;
  const Names workspace = workspace_in(function);
  std::size_t returns = 0;
  for (const Returned& one : returns_in(tree)) {
    if (is_without_workspace(tree, one, workspace)) continue;
    const bool is_call = one.value.valid() && !called_function(tree, one.value).empty();
    if (++returns > 1 || (!is_call && !returns_nothing_else(tree, one))) return false;
  }
  return true;
}

bool returns_zero(const FunctionTree& function, const FileScope& scope, bool has_workspace, Names* asked) {
  const c::Tree& tree = function.tree;
  const Names workspace = workspace_in(function);
  for (const Returned& one : returns_in(tree)) {
    if (returns_nothing_else(tree, one) || (has_workspace && is_without_workspace(tree, one, workspace))) continue;
    const std::string_view callee = asked != nullptr ? asked_function(tree, one.condition) : std::string_view();
    if (!scope.functions.contains(callee)) return false;
    asked->emplace(callee);
  }
  const auto is_macro = [&](const c::Stmt& stmt) {
    return stmt.kind == c::StmtKind::expression && tree[stmt.expr].kind == c::ExprKind::name;
  };
  if (!function.opaque_part().empty() || std::ranges::any_of(tree.stmts, is_macro)) return false;
  return calls_only(tree, [&](std::string_view name) {
    return name.empty() || scope.functions.contains(name) || scope.prototypes.contains(name) ||
           scope.foreign.contains(name) || name.starts_with("TVMBackend") || is_of_library(name) ||
           is_memory_function(name) || is_math_function(name);
  });
}

void expect_packed_check(const Expressions& code, const c::Stmt& check) {
  const c::Stmt& block = code[check.body[0]];
  const bool is_block = block.kind == c::StmtKind::block;
  if (is_block && block.body.empty()) return;
  const bool has_message = is_block && block.body.size() == 2 && code[block.body[0]].kind == c::StmtKind::expression &&
                           code.callee(code[block.body[0]].expr) == "TVMAPISetLastError";
  const c::StmtId failure = has_message ? block.body[1] : check.body[0];
  if (!failure_of(code, failure)) {
    fail_at(code.front(check.expr), "a check of arguments that fails or does nothing");
  }
}

bool read_look_up(const Expressions& code, const c::Stmt& check, PackedState& packed) {
  if (!code.is_binary(check.expr, "==") || code.name_of(code.operand(check.expr, 1)) != "NULL") return false;
  const std::string_view variable = code.name_of(code.operand(check.expr, 0));
  const c::Stmt& block = code[check.body[0]];
  const bool is_one = block.kind == c::StmtKind::block && block.body.size() == 1;
  const c::Stmt& inside = is_one ? code[block.body[0]] : block;
  const auto call = inside.kind == c::StmtKind::if_else ? leading_call(code, inside.expr) : std::nullopt;
  if (variable.empty() || !call || code.callee(*call) != "TVMBackendGetFuncFromEnv") return false;
  require_no_else(code, check);
  require_no_else(code, inside);
  const auto operands = code.tree().operands_of(*call);
  if (operands.size() != 4) fail_at(code.front(*call), "the module's context, a name and a variable");
  if (code.name_of(operands[1]).empty()) fail_at(code.front(operands[1]), "the module's context");
  const c::Expr& name = code[operands[2]];
  if (name.kind != c::ExprKind::string || name.tokens.end != name.tokens.begin + 1)
    fail_at(code.front(operands[2]), "a function's name in quotes");
  const bool is_variable = code.is_prefix(operands[3], "&") && code.name_of(code.operand(operands[3], 0)) == variable;
  if (!is_variable) fail_at(code.front(operands[3]), "'&" + std::string(variable) + "'");
  packed.looked_up.insert_or_assign(std::string(variable), std::string(name.text.substr(1, name.text.size() - 2)));
  expect_not_zero(code, inside.expr, *call, false);
  (void)expect_failure(code, inside.body[0]);
  return true;
}

}  // namespace usmp::tvm_c

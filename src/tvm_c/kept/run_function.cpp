// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Compares tvmgen_MODULE_run, as a tree, with what TVM writes there; everything else is somebody's.
#include "tvm_c/kept/run_function.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/kept/added_code.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// What is none of TVM's.
struct Addition {
  std::size_t token = 0;     // the first, or the operator's
  bool is_argument = false;  // a variable that is passed to the entry
};

class RunFunction {
 public:
  RunFunction(const FunctionTree& run, const std::string& entry, const FileScope& scope, bool is_packed)
      : run_(run), tree_(run.tree), entry_(entry), scope_(scope), is_packed_(is_packed) {
    for (const c::DeclId param : run.params()) known_.emplace(tree_[param].name);
  }

  // The first; but what is passed to the entry and is none of TVM's pools says more than what sets it in front.
  std::optional<Addition> addition() {
    const c::Stmt& body = tree_[tree_[run_.function].body];
    if (body.kind != c::StmtKind::block) return Addition{body.at};
    std::optional<Addition> first;
    bool is_last = false;  // behind the call
    for (const c::StmtId id : body.body) {
      const c::Stmt& stmt = tree_[id];
      std::optional<Addition> found = Addition{stmt.tokens.begin};
      if (!is_last && returns_call_of(entry_, tree_, stmt)) {
        found = in_arguments(stmt.expr);
        is_last = true;
      } else if (!is_last && is_packed_) {  // TVM fills arrays in front
        found = in_filling(stmt);
      }
      if (found && (!first || found->is_argument)) first = found;
    }
    if (!first && !is_last) first = Addition{body.tokens.end - std::size_t{1}};
    return first;
  }

 private:
  [[nodiscard]] std::optional<Addition> in_arguments(c::ExprId call) const {
    for (const c::ExprId argument : tree_.operands_of(call).subspan(1)) {
      auto found = in_value(argument);
      if (!found) continue;
      found->is_argument = tree_[without_casts(tree_, argument)].kind == c::ExprKind::name;
      return found;
    }
    return std::nullopt;
  }

  // DLTensor x = {…}; or x[i] = y;
  std::optional<Addition> in_filling(const c::Stmt& stmt) {
    std::optional<Addition> found = Addition{stmt.tokens.begin};
    if (stmt.kind == c::StmtKind::expression && tree_[stmt.expr].kind == c::ExprKind::assign) {
      const auto operands = tree_.operands_of(stmt.expr);
      if (tree_[stmt.expr].text != "=" || !is_own(operands[0])) return found;
      found = in_value(operands[0]);
      if (!found) found = in_value(operands[1]);
    } else if (stmt.kind == c::StmtKind::declaration) {
      for (const c::DeclId id : stmt.decls) {
        const c::Decl& decl = tree_[id];
        const std::string_view type = name_behind(tree_, decl.type);
        if (type != "TVMValue" && type != "DLTensor") return found;
        known_.emplace(decl.name);
        own_.emplace(decl.name);
      }
      found.reset();
      for (const c::DeclId id : stmt.decls) {
        if (!found && tree_[id].init.valid()) found = in_value(tree_[id].init);
      }
    }
    return found;
  }

  // A part of a variable of the function's.
  [[nodiscard]] bool is_own(c::ExprId id) const {
    while (tree_[id].kind == c::ExprKind::subscript || tree_[id].kind == c::ExprKind::member) {
      id = tree_.operands_of(id)[0];
    }
    return tree_[id].kind == c::ExprKind::name && own_.contains(tree_[id].text);
  }

  // In the order of the text.
  [[nodiscard]] std::optional<Addition> in_value(c::ExprId whole) const {
    std::vector<c::ExprId> pending = {whole};
    while (!pending.empty()) {
      const c::ExprId id = pending.back();
      pending.pop_back();
      if (is_start_of_pool(id)) continue;
      if (!is_tvms(tree_[id])) return Addition{token_of(id)};
      const auto operands = tree_.operands_of(id);
      pending.insert(pending.end(), operands.rbegin(), operands.rend());
    }
    return std::nullopt;
  }

  [[nodiscard]] bool is_tvms(const c::Expr& expr) const {
    switch (expr.kind) {
      case c::ExprKind::name:
        return known_.contains(expr.text) || scope_.arrays.contains(expr.text) ||
               scope_.constant_pools.contains(expr.text);
      case c::ExprKind::cast:
      case c::ExprKind::member:
        return true;
      case c::ExprKind::prefix:
        return expr.text == "&" || expr.text == "*";
      case c::ExprKind::number:
      case c::ExprKind::subscript:
      case c::ExprKind::braces:
      case c::ExprKind::designated:
        return is_packed_;
      default:
        return false;
    }
  }

  // &pool[0], the address of the whole pool.
  [[nodiscard]] bool is_start_of_pool(c::ExprId id) const {
    if (tree_[id].kind != c::ExprKind::prefix || tree_[id].text != "&") return false;
    const c::ExprId element = tree_.operands_of(id)[0];
    if (tree_[element].kind != c::ExprKind::subscript) return false;
    const c::Expr& array = tree_[tree_.operands_of(element)[0]];
    return array.kind == c::ExprKind::name && scope_.arrays.contains(array.text) &&
           is_number(tree_, tree_.operands_of(element)[1], "0");
  }

  [[nodiscard]] std::size_t token_of(c::ExprId id) const {
    if (tree_[id].kind == c::ExprKind::name) return tvm_c::token_of(run_.tokens, tree_[id]);
    if (tree_[id].kind != c::ExprKind::subscript) return tree_[id].tokens.begin;
    std::size_t bracket = tree_[tree_.operands_of(id)[0]].tokens.end;
    while (run_.tokens[bracket].is(")")) ++bracket;
    return bracket;
  }

  const FunctionTree& run_;
  const c::Tree& tree_;
  const std::string& entry_;
  const FileScope& scope_;
  bool is_packed_;
  Names known_;  // parameters, and
  Names own_;    // variables of the function's
};

}  // namespace

std::optional<SyntaxError> added_to_run(const FunctionText& run, const std::string& run_name, const std::string& entry,
                                        const FileScope& scope) {
  try {
    const FunctionTree tree = function_tree(run, {});
    const auto found = RunFunction(tree, entry, scope, takes_packed(run.params)).addition();
    if (!found) {
      require_plain_text(run, {});
      return std::nullopt;
    }
    const std::string_view text = tree.tokens[found->token].text;
    const std::string pool = "static uint8_t " + std::string(text) + "[N];";
    const std::string way_out = found->is_argument
                                    ? "a pool is an array, " + in_quotes(pool) +
                                          ", which nothing sets; with --pools, planned C has it elsewhere, or the "
                                          "application passes it"
                                    : "move the addition out of " + in_quotes(run_name) + ", to where that is called";
    return SyntaxError{tree.offset_of(found->token), "found " + shown(text) + " in " + in_quotes(run_name) +
                                                         ", which is written anew, expected nothing but the call of "
                                                         "the entry: " +
                                                         way_out};
  } catch (const SyntaxError& error) {
    return error;
  }
}

}  // namespace usmp::tvm_c

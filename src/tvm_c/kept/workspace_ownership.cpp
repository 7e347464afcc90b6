// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Collects the variables that are set to workspace and nothing else, then looks at what is given back.
#include "tvm_c/kept/workspace_ownership.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/syntax.hpp"
#include "tvm_c/text/tvm_names.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

struct WorkspaceMacros {
  Names takes;  // in whose definitions allocate_function stands, or another of them
  Names gives;  // free_function
};

// One of a function, or of the files.
struct Variable {
  std::size_t function = SIZE_MAX;
  std::size_t decl = SIZE_MAX;
  std::string_view name;  // of the files'

  friend auto operator<=>(const Variable&, const Variable&) = default;
};

class WorkspaceUses {
 public:
  WorkspaceUses(const FunctionText& text, std::size_t number, const WorkspaceMacros& macros)
      : file_(text.file), code_(function_tree(text, {})), tree_(code_.tree), number_(number), macros_(macros) {}
  WorkspaceUses(const WorkspaceUses&) = delete;
  WorkspaceUses& operator=(const WorkspaceUses&) = delete;
  ~WorkspaceUses() = default;

  [[nodiscard]] std::size_t file() const { return file_; }

  // Adds variables that are set to workspace, and those that are, or may be, something else.
  void collect(std::set<Variable>& taken, std::set<Variable>& others) const {
    const auto set = [&](const Variable& variable, c::ExprId value) {
      const c::Expr& given = tree_[without_casts(tree_, value)];
      if (given.text == "NULL" || given.text == "0") return;
      (takes_workspace(value) ? taken : others).insert(variable);
    };
    for (std::size_t i = 0; i < tree_.decls.size(); ++i) {
      const c::Decl& decl = tree_.decls[i];
      if (decl.kind == c::DeclKind::parameter) others.insert(own(i));
      if (decl.kind == c::DeclKind::variable && decl.init.valid()) set(own(i), decl.init);
    }
    for (std::size_t i = 0; i < tree_.exprs.size(); ++i) {
      const c::Expr& expr = tree_.exprs[i];
      const auto operands = tree_.operands_of(c::ExprId(i));
      const bool is_set = expr.kind == c::ExprKind::assign;
      const bool is_changed = expr.kind == c::ExprKind::prefix || expr.kind == c::ExprKind::postfix;
      const auto variable = is_set || is_changed ? variable_at(operands[0]) : std::nullopt;
      if (!variable) continue;
      if (is_set && expr.text == "=") {
        set(*variable, operands[1]);
      } else if (is_set || expr.text == "&" || expr.text == "++" || expr.text == "--") {
        others.insert(*variable);
      }
    }
    for_each_unread([&](const Token& token) {
      others.insert({SIZE_MAX, SIZE_MAX, token.text});
      for (std::size_t i = 0; i < tree_.decls.size(); ++i) {
        if (tree_.decls[i].name == token.text) others.insert(own(i));
      }
    });
  }

  // Where it gives something else back than a variable that `is_taken`.
  template <class IsTaken>
  [[nodiscard]] const Token* wrongly_given(const IsTaken& is_taken) const {
    const Token* found = nullptr;
    for_each_unread([&](const Token& token) {
      if (found == nullptr && gives_back(token.text)) found = &token;
    });
    std::set<c::ExprId> called;
    for (std::size_t i = 0; i < tree_.exprs.size() && found == nullptr; ++i) {
      if (!gives_back(called_function(tree_, c::ExprId(i)))) continue;
      const auto operands = tree_.operands_of(c::ExprId(i));
      called.insert(operands[0]);
      const c::ExprId given = without_casts(tree_, operands.back());
      const auto variable = operands.size() > 1 ? variable_at(given) : std::nullopt;
      if (!variable) found = &code_.tokens[token_of(code_.tokens, tree_[operands[0]])];
      if (variable && !is_taken(*variable)) found = &code_.tokens[token_of(code_.tokens, tree_[given])];
    }
    for (std::size_t i = 0; i < tree_.exprs.size() && found == nullptr; ++i) {  // that is passed on
      const c::Expr& expr = tree_.exprs[i];
      const bool is_other = expr.kind == c::ExprKind::name && gives_back(expr.text) && !called.contains(c::ExprId(i));
      if (is_other) found = &code_.tokens[token_of(code_.tokens, expr)];
    }
    return found;
  }

 private:
  [[nodiscard]] Variable own(std::size_t decl) const { return {number_, decl, {}}; }

  [[nodiscard]] std::optional<Variable> variable_at(c::ExprId id) const {
    const c::Expr& expr = tree_[id];
    if (expr.kind != c::ExprKind::name) return std::nullopt;
    return expr.decl.valid() ? own(expr.decl.index()) : Variable{SIZE_MAX, SIZE_MAX, expr.text};
  }

  [[nodiscard]] bool takes_workspace(c::ExprId value) const {
    const std::string_view callee = called_function(tree_, without_casts(tree_, value));
    return callee == allocate_function || macros_.takes.contains(callee);
  }

  [[nodiscard]] bool gives_back(std::string_view name) const {
    return name == free_function || macros_.gives.contains(name);
  }

  // Names in what is beyond the grammar.
  template <class Use>
  void for_each_unread(const Use& use) const {
    for (const c::TokenRange part : code_.opaque_parts()) {
      for (std::size_t i = part.begin; i < part.end; ++i) {
        if (code_.tokens[i].is_identifier()) use(code_.tokens[i]);
      }
    }
  }

  std::size_t file_;
  FunctionTree code_;
  const c::Tree& tree_;
  std::size_t number_;
  const WorkspaceMacros& macros_;
};

}  // namespace

void require_workspace_ownership(const Names& functions, const AllDefinitions& macros, const FilesRead& read) {
  const auto macros_for = [&](std::string_view name) {
    return macros_with(macros, [&](std::string_view definition) { return has_name(definition, name); });
  };
  const WorkspaceMacros known{macros_for(allocate_function), macros_for(free_function)};
  std::deque<WorkspaceUses> uses;
  std::set<Variable> taken;
  std::set<Variable> others;
  for (const std::string& name : functions) {
    const FunctionText& text = read.scope.functions.find(name)->second;
    in_file(read.files[text.file], [&] { uses.emplace_back(text, uses.size(), known).collect(taken, others); });
  }
  for (const WorkspaceUses& one : uses) {
    const Token* const found = one.wrongly_given(
        [&](const Variable& variable) { return taken.contains(variable) && !others.contains(variable); });
    if (found == nullptr) continue;
    throw located(read.files[one.file()],
                  {found->offset, "found " + in_quotes(found->text) +
                                      " given back in a function whose C stays, expected a variable that such "
                                      "functions only set to workspace that they take: give back in the entry what "
                                      "the entry takes"});
  }
}

}  // namespace usmp::tvm_c

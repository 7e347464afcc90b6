// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes functions for statements of the entry that use tensors.
#include "tvm_c/kept/outlined.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/macro_expansion.hpp"
#include "tvm_c/text/macros.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// Why the statement may not be a function; empty: it may.
std::string reason_of(const FunctionTree& function) {
  for (const char* word : {"return", "goto", "__func__", "__FUNCTION__", "asm", "__asm", "__asm__"}) {
    const auto is_word = [&](const Token& token) { return token.is_identifier() && token.text == word; };
    if (std::ranges::any_of(function.tokens, is_word)) return "has " + in_quotes(word);
  }
  if (const std::string opaque = function.opaque_part(); !opaque.empty()) return "is not understood at " + opaque;
  const auto is_label = [](const c::Stmt& stmt) { return stmt.kind == c::StmtKind::label; };
  if (std::ranges::any_of(function.tree.stmts, is_label)) return "has a label";
  const std::vector<c::StmtId>& statements = function.statements();
  const auto declares = [&](c::StmtId stmt) { return function.tree[stmt].kind == c::StmtKind::declaration; };
  return std::ranges::any_of(statements, declares) ? "declares something" : std::string();
}

// Names of variables that are assigned, counted, or whose address is taken; not those of which elements are.
void add_changed(const c::Tree& tree, Names& changed) {
  for (std::size_t i = 0; i < tree.exprs.size(); ++i) {
    const c::Expr& expr = tree.exprs[i];
    const bool is_change =
        expr.kind == c::ExprKind::assign || expr.kind == c::ExprKind::postfix ||
        (expr.kind == c::ExprKind::prefix && (expr.text == "++" || expr.text == "--" || expr.text == "&"));
    if (!is_change) continue;
    c::ExprId target = tree.operands_of(c::ExprId(i))[0];
    while (tree[target].kind == c::ExprKind::member && tree[target].text == ".") target = tree.operands_of(target)[0];
    if (tree[target].kind == c::ExprKind::name) changed.emplace(tree[target].text);
  }
}

// Names in what sizeof is asked of.
void add_sized(const c::Tree& tree, Names& sized) {
  for (std::size_t i = 0; i < tree.exprs.size(); ++i) {
    if (tree.exprs[i].kind != c::ExprKind::prefix || tree.exprs[i].text != "sizeof") continue;
    for (const c::ExprId one : tree.parts_of(c::ExprId(i))) {
      if (tree[one].kind == c::ExprKind::name) sized.emplace(tree[one].text);
    }
  }
}

}  // namespace

Reason read_outlined(std::string_view file, const AllDefinitions& macros, Outlined& statement) {
  const std::string_view text = file.substr(statement.place.begin, statement.place.end - statement.place.begin);
  std::vector<Token> tokens;
  try {
    tokens = plain_tokens(text);
  } catch (const SyntaxError&) {
    return {"has a literal or comment that does not end"};
  }
  std::string without_directives;
  for (const Token& token : tokens) without_directives.append(token.has_gap ? " " : "").append(token.text);
  std::size_t ways = 1;
  for (const auto& [name, definitions] : macros) ways = std::max(ways, definitions.size());
  constexpr std::size_t most_ways = 8;
  if (ways > most_ways) return {"has macros of too many definitions"};
  for (std::size_t way = 0; way < ways; ++way) {
    const auto made = expanded(without_directives, [&](std::string_view name) {
      const auto found = macros.find(name);
      return found == macros.end() ? std::nullopt
                                   : std::optional(found->second[std::min(way, found->second.size() - 1)]);
    });
    if (!made) return {"has macros that are not understood"};
    const std::vector<Token>& all = made->unit.tokens;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Token& token = all[i];
      if (!token.is_identifier()) continue;
      if (is_of_tvm(token.text)) return {"mentions " + in_quotes(token.text) + ", which is the model's", true};
      const bool is_called = i + 1 < all.size() && all[i + 1].is("(");
      if (is_called && is_in_capitals(token.text) && !token.is("_Static_assert")) {
        return {"calls " + in_quotes(token.text) + ", which may be a macro of a header that is not here"};
      }
      statement.names.emplace(token.text);
    }
    const auto function = function_tree(c::lex_text(")"), all);
    if (!function) return {"has brackets that do not match"};
    std::string reason = reason_of(*function);
    if (!reason.empty()) return {std::move(reason)};
    add_changed(function->tree, statement.changed);
    add_sized(function->tree, statement.sized);
  }
  for (const Token& token : tokens) {
    if (token.is_identifier()) statement.names.emplace(token.text);
  }
  return {};
}

std::string text_of(const OutlinedFunction& function, std::string_view file) {
  std::string params;
  std::string names;
  for (const auto& [type, name] : function.params) {
    const bool is_pointer = type.ends_with("*");
    params += (params.empty() ? "" : ", ") + (is_pointer ? "void*" : type) + " usmp_" + name;
    names += "  " + type + " const " + name + " = " + (is_pointer && type != "void*" ? "(" + type + ")" : "") +
             "usmp_" + name + ";\n";
  }
  for (const auto& [type, name] : function.params) names += "  (void)" + name + ";\n";
  const std::string text(file.substr(function.place.begin, function.place.end - function.place.begin));
  const std::string indentation = text.starts_with('#') ? "" : "  ";
  return "static void " + function.name + "(" + (params.empty() ? "void" : params) + ") {\n" + names + indentation +
         text + "\n}\n";
}

}  // namespace usmp::tvm_c

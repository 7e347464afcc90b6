// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes functions for statements of the entry that use tensors.
#include "tvm_c/kept/outlined.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>

#include "tvm_c/text/macro_expansion.hpp"
#include "tvm_c/text/macros.hpp"
#include "usmp/c/parser.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// What is read of a statement is the body of a function that has no other.
class Statement {
 public:
  // `tokens` have to stay.
  explicit Statement(const std::vector<Token>& tokens) : tokens_(c::lex_text("void f(void) {")) {
    const auto is_end = [](const Token& token) { return token.kind == TokenKind::end; };
    std::copy_if(tokens.begin(), tokens.end(), std::back_inserter(tokens_), std::not_fn(is_end));
    tokens_.push_back(c::lex_text("}")[0]);
    tokens_.emplace_back();
  }

  [[nodiscard]] std::string reason() {
    for (const char* word : {"return", "goto", "__func__", "__FUNCTION__", "asm", "__asm", "__asm__"}) {
      const auto is_word = [&](const Token& token) { return token.is_identifier() && token.text == word; };
      if (std::any_of(tokens_.begin(), tokens_.end(), is_word)) return "has " + in_quotes(word);
    }
    try {
      tree_ = c::parse(tokens_);
    } catch (const c::SyntaxError&) {
      return "has brackets that do not match";
    }
    const c::Stmt* const item = tree_.items.size() == 1 ? &tree_[tree_.items[0]] : nullptr;
    if (item == nullptr || item->decls.size() != 1 || !tree_[item->decls[0]].body.valid()) return "is not understood";
    for (const c::Stmt& stmt : tree_.stmts) {
      if (stmt.kind == c::StmtKind::opaque) return not_understood(stmt.tokens);
      if (stmt.kind == c::StmtKind::label) return "has a label";
    }
    for (const c::Expr& expr : tree_.exprs) {
      if (expr.kind == c::ExprKind::opaque) return not_understood(expr.tokens);
    }
    const std::vector<c::StmtId>& body = tree_[tree_[item->decls[0]].body].body;
    const auto declares = [&](c::StmtId stmt) { return tree_[stmt].kind == c::StmtKind::declaration; };
    return std::any_of(body.begin(), body.end(), declares) ? "declares something" : std::string();
  }

  // Names of variables that are assigned, counted, or whose address is taken; not those of which elements are.
  void add_changed(Names& changed) const {
    for (std::size_t i = 0; i < tree_.exprs.size(); ++i) {
      const c::Expr& expr = tree_.exprs[i];
      const bool is_change =
          expr.kind == c::ExprKind::assign || expr.kind == c::ExprKind::postfix ||
          (expr.kind == c::ExprKind::prefix && (expr.text == "++" || expr.text == "--" || expr.text == "&"));
      if (!is_change) continue;
      const c::Expr* target = &tree_[tree_.operands_of(c::ExprId(i))[0]];
      while (target->kind == c::ExprKind::member && target->text == ".") target = operand_of(*target);
      if (target->kind == c::ExprKind::name) changed.emplace(target->text);
    }
  }

 private:
  [[nodiscard]] std::string not_understood(c::TokenRange part) const {
    return "is not understood at " + in_quotes(tokens_[part.begin].text);
  }
  [[nodiscard]] const c::Expr* operand_of(const c::Expr& expr) const {
    return &tree_[tree_.operands[expr.first_operand]];
  }

  std::vector<Token> tokens_;
  c::Tree tree_;
};

}  // namespace

std::string read_outlined(std::string_view file, const AllDefinitions& macros, Outlined& statement) {
  const std::string_view text = file.substr(statement.place.begin, statement.place.end - statement.place.begin);
  std::vector<Token> tokens;
  try {
    tokens = plain_tokens(text);
  } catch (const SyntaxError&) {
    return "has a literal or comment that does not end";
  }
  std::string without_directives;
  for (const Token& token : tokens) without_directives.append(token.has_gap ? " " : "").append(token.text);
  std::size_t ways = 1;
  for (const auto& [name, definitions] : macros) ways = std::max(ways, definitions.size());
  constexpr std::size_t most_ways = 8;
  if (ways > most_ways) return "has macros of too many definitions";
  for (std::size_t way = 0; way < ways; ++way) {
    Definitions chosen;
    for (const auto& [name, definitions] : macros) chosen[name] = definitions[std::min(way, definitions.size() - 1)];
    const auto made = expanded(without_directives, chosen);
    if (!made) return "has macros that are not understood";
    const std::vector<Token>& all = made->unit.tokens;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Token& token = all[i];
      if (!token.is_identifier()) continue;
      if (is_of_tvm(token.text)) return "mentions " + in_quotes(token.text) + ", which is the model's";
      const bool is_called = i + 1 < all.size() && all[i + 1].is("(");
      if (is_called && is_in_capitals(token.text) && !token.is("_Static_assert")) {
        return "calls " + in_quotes(token.text) + ", which may be a macro of a header that is not here";
      }
      statement.names.emplace(token.text);
    }
    Statement one(all);
    std::string reason = one.reason();
    if (!reason.empty()) return reason;
    one.add_changed(statement.changed);
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

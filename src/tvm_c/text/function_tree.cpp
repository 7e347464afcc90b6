// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Puts a function's head around tokens, and marks of conditional groups between them, and parses all of it.
#include "tvm_c/text/function_tree.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tvm_c/text/macros.hpp"
#include "usmp/c/lexer.hpp"
#include "usmp/c/parser.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// As module c's preprocessor has it; nothing: the directive is none of a group.
std::optional<Token> mark_of(const Directive& directive) {
  if (!belongs_to_group(directive.word)) return std::nullopt;
  Token mark;
  mark.kind = TokenKind::group;
  mark.offset = static_cast<std::uint32_t>(directive.begin);
  mark.text = opens_group(directive.word) ? "if" : directive.word;
  return mark;
}

// From behind the bracket that opens the parameters on. Nothing: it is no function. Throws c::SyntaxError.
std::optional<FunctionTree> parsed(const std::vector<Token>& tokens) {
  FunctionTree result;
  result.tokens = c::lex_text("void usmp_function(");
  const auto is_end = [](const Token& token) { return token.kind == TokenKind::end; };
  std::erase_if(result.tokens, is_end);
  std::remove_copy_if(tokens.begin(), tokens.end(), std::back_inserter(result.tokens), is_end);
  result.tokens.emplace_back();
  result.tree = c::parse(result.tokens);
  const c::Tree& tree = result.tree;
  if (tree.items.size() != 1 || tree[tree.items[0]].decls.size() != 1) return std::nullopt;
  result.function = tree[tree.items[0]].decls[0];
  return tree[result.function].body.valid() ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace

std::vector<c::TokenRange> FunctionTree::opaque_parts() const {
  std::vector<c::TokenRange> parts;
  for (const c::Stmt& stmt : tree.stmts) {
    if (stmt.kind == c::StmtKind::opaque) parts.push_back(stmt.tokens);
  }
  for (const c::Expr& expr : tree.exprs) {
    if (expr.kind == c::ExprKind::opaque) parts.push_back(expr.tokens);
  }
  return parts;
}

std::string FunctionTree::opaque_part() const {
  const std::vector<c::TokenRange> parts = opaque_parts();
  return parts.empty() ? std::string() : in_quotes(tokens[parts.front().begin].text);
}

std::optional<FunctionTree> function_tree(std::span<const Token> params, std::span<const Token> statements) {
  std::vector<Token> tokens(params.begin(), params.end());
  tokens.push_back(c::lex_text("{").front());
  tokens.insert(tokens.end(), statements.begin(), statements.end());
  tokens.push_back(c::lex_text("}").front());
  try {
    return parsed(tokens);
  } catch (const c::SyntaxError&) {
    return std::nullopt;
  }
}

std::optional<FunctionTree> function_tree(const FunctionText& function) {
  if (function.body.empty()) return std::nullopt;
  return function_tree(function.params, function.body.first(function.body.size() - 1));
}

std::optional<FunctionTree> head_tree(const FunctionText& function) { return function_tree(function.params, {}); }

bool takes_packed(const FunctionText& function) {
  const auto head = head_tree(function);
  if (!head || head->params().size() != 6) return false;
  const auto name = [&](std::size_t i) { return head->tree[head->params()[i]].name; };
  return name(0) == "args" && name(2) == "num_args";
}

std::size_t token_of(const std::vector<Token>& tokens, const c::Expr& operand) {
  std::size_t at = operand.tokens.begin;
  while (tokens[at].is("(")) ++at;
  return at;
}

c::ExprId without_casts(const c::Tree& tree, c::ExprId id) {
  while (tree[id].kind == c::ExprKind::cast) id = tree.operands_of(id)[0];
  return id;
}

bool is_number(const c::Tree& tree, c::ExprId id, std::string_view text) {
  return tree[id].kind == c::ExprKind::number && tree[id].text == text;
}

std::string_view called_function(const c::Tree& tree, c::ExprId id) {
  if (tree[id].kind != c::ExprKind::call) return {};
  const c::Expr& callee = tree[tree.operands_of(id)[0]];
  return callee.kind == c::ExprKind::name ? callee.text : std::string_view();
}

bool returns_call_of(std::string_view name, const c::Tree& tree, const c::Stmt& stmt) {
  return stmt.kind == c::StmtKind::return_to && stmt.expr.valid() && called_function(tree, stmt.expr) == name;
}

std::string_view name_behind(const c::Tree& tree, c::TypeId id) {
  while (tree[id].kind == c::TypeKind::pointer || tree[id].kind == c::TypeKind::array) id = tree[id].of;
  return tree[id].name;
}

FunctionTree function_tree(const FunctionText& function, const std::map<std::size_t, std::size_t>& texts) {
  std::vector<Token> tokens(function.params.begin(), function.params.end());
  const auto add = [&](std::string_view spelling, std::size_t offset) {
    tokens.push_back(c::lex_text(spelling).front());
    tokens.back().offset = static_cast<std::uint32_t>(offset);
  };
  add("{", function.body_begin() - 1);
  auto text = texts.begin();
  for (const Token& token : function.body) {
    for (; text != texts.end() && text->second <= token.offset; ++text) add(";", text->first);
    if (text == texts.end() || token.offset < text->first) tokens.push_back(token);
  }
  try {
    if (auto tree = parsed(tokens)) return std::move(*tree);
  } catch (const c::SyntaxError& error) {
    throw SyntaxError{error.offset, error.message};
  }
  throw SyntaxError{function.offset, "found parameters or statements that are not understood, expected C"};
}

std::size_t BodyTree::end_of(c::TokenRange part) const {
  const Token& last = tokens[part.end - 1];
  if (last.kind != TokenKind::group) return tvm_c::end_of(last);
  const auto is_in_front = [&](const Directive& one) { return one.begin < last.offset; };
  return std::partition_point(directives.begin(), directives.end(), is_in_front)->end;
}

std::vector<Token> BodyTree::without_directives(c::TokenRange part) const {
  std::vector<Token> result;
  std::copy_if(tokens.begin() + part.begin, tokens.begin() + part.end, std::back_inserter(result),
               [](const Token& token) { return token.kind != TokenKind::group; });
  return result;
}

std::optional<BodyTree> body_tree(const Code& code, std::size_t begin, std::size_t end) {
  std::vector<Directive> directives = directives_in(code, begin, end);
  std::vector<Token> statements;
  const auto add = [&](std::size_t from, std::size_t to) {
    const std::vector<Token> tokens = plain_tokens(code, from, to);
    statements.insert(statements.end(), tokens.begin(), tokens.end());
  };
  std::size_t from = begin;
  for (const Directive& directive : directives) {
    add(from, directive.begin);
    from = directive.end;
    if (const auto mark = mark_of(directive)) statements.push_back(*mark);
  }
  add(from, end);
  auto tree = function_tree(c::lex_text(")"), statements);
  if (!tree || tree->tree[tree->tree[tree->function].body].kind != c::StmtKind::block) return std::nullopt;
  return BodyTree{std::move(*tree), std::move(directives)};
}

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds what stands under conditions of the entry.
#include "tvm_c/kept/guarded.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/tvm_names.hpp"

namespace usmp::tvm_c {
namespace {

// "ret" of ret, ret != 0, (ret = f(x)) != 0, ret != 0 && …
std::string_view compared_variable(const c::Tree& tree, c::ExprId condition) {
  const auto is_binary = [&](std::string_view op) {
    return tree[condition].kind == c::ExprKind::binary && tree[condition].text == op;
  };
  while (is_binary("&&") || is_binary("||")) {
    condition = tree.operands_of(condition)[0];
    if (tree[condition].kind == c::ExprKind::name) return {};
  }
  if (is_binary("!=")) condition = tree.operands_of(condition)[0];
  if (tree[condition].kind == c::ExprKind::assign && tree[condition].text == "=")
    condition = tree.operands_of(condition)[0];
  return tree[condition].kind == c::ExprKind::name ? tree[condition].text : std::string_view();
}

// What stands under an if; nothing: it is none of the kind.
std::optional<Guarded> guarded_by(const BodyTree& body, const c::Stmt& condition) {
  const c::Stmt& inside = body.tree[condition.body[0]];
  Guarded guarded{inside.tokens, {{body.begin_of(inside.tokens), body.end_of(inside.tokens)}}, {}};
  const c::Stmt* last = &inside;
  if (inside.kind == c::StmtKind::block) {
    guarded.tokens = {inside.tokens.begin + 1, inside.tokens.end - 1};
    if (guarded.tokens.begin == guarded.tokens.end) return std::nullopt;
    guarded.text.place = {guarded.text.place.begin + 1, guarded.text.place.end - 1};
    last = &body.tree[inside.body.back()];
  } else if (inside.kind == c::StmtKind::expression || inside.kind == c::StmtKind::opaque) {
    const auto first = body.tokens.begin() + inside.tokens.begin;
    const bool is_call = first->is_identifier() && (first + 1)->is("(");
    const auto is_brace = [](const Token& token) { return token.is("{"); };
    if (!is_call || std::any_of(first, body.tokens.begin() + inside.tokens.end, is_brace)) return std::nullopt;
  } else if (inside.kind != c::StmtKind::return_to) {
    return std::nullopt;
  }
  guarded.text.leaves = last->kind == c::StmtKind::return_to;
  guarded.variable = compared_variable(body.tree, condition.expr);
  return guarded;
}

// For what stands behind a macro's name; do { … } while (0) is one statement.
bool stands_for_several(std::string_view definition) {
  const std::size_t begin = definition.starts_with("(") ? std::min(definition.find(')') + 1, definition.size()) : 0;
  const bool is_loop = without_blanks_in_front(definition.substr(begin)).starts_with("do");
  std::size_t depth = 0;
  for (const char c : definition) {
    if (c == '{') ++depth;
    if (c == '}' && depth > 0) --depth;
    if ((c == ';' && depth == 0) || (c == '{' && !is_loop)) return true;
  }
  return false;
}

bool calls_operator(const BodyTree& body, c::TokenRange part) {
  return std::any_of(body.tokens.begin() + part.begin, body.tokens.begin() + part.end,
                     [](const Token& token) { return is_generated(token.text); });
}

bool is_called(const std::vector<Token>& tokens, std::string_view name) {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].is(name) && tokens[i + 1].is("(")) return true;
  }
  return false;
}

// Not so where a macro stands for several, and no braces hold them: only the first is under the condition. A name in
// capitals that is called may be such a macro of a header.
bool is_one_statement(const BodyTree& body, const Guarded& guarded, const Macros& macros) {
  if (body.tokens[guarded.tokens.begin - 1].is("{")) return true;
  const std::vector<Token> inside = body.without_directives(guarded.tokens);
  const Names names = macros.names_of(inside);
  return std::ranges::none_of(names, [&](const std::string& name) {
    if (!macros.contains(name)) return is_in_capitals(name) && is_called(inside, name);
    const auto definition = macros.definition(name);
    return !definition || stands_for_several(*definition);
  });
}

bool is_loop(c::StmtKind kind) {
  return kind == c::StmtKind::for_loop || kind == c::StmtKind::while_loop || kind == c::StmtKind::do_loop ||
         kind == c::StmtKind::switch_of;
}

}  // namespace

std::vector<Guarded> guarded_in(const BodyTree& body, c::StmtId statement, const Macros& macros) {
  struct Pending {
    c::StmtId id;
    bool is_else = false;
  };
  std::vector<Guarded> found;
  std::vector<Pending> pending = {{statement}};
  while (!pending.empty()) {
    const Pending now = pending.back();
    pending.pop_back();
    const c::Stmt& stmt = body.tree[now.id];
    if (is_loop(stmt.kind)) return {};  // not inside of text that stays
    if (stmt.kind == c::StmtKind::if_else && stmt.other.empty() && !now.is_else) {
      const auto guarded = guarded_by(body, stmt);
      if (guarded && !calls_operator(body, guarded->tokens)) {
        if (is_one_statement(body, *guarded, macros)) found.push_back(*guarded);
        continue;
      }
    }
    for (const c::StmtId other : stmt.other) pending.push_back({other, true});
    for (std::size_t i = stmt.body.size(); i-- > 0;) pending.push_back({stmt.body[i]});
  }
  return found;
}

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes functions for statements of the entry that use tensors.
#include "tvm_c/kept/outlined.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/macro_expansion.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

bool is_assignment(const MadeToken& token) { return token.is("=") || is_compound_assignment(token.text); }

// One statement, its macros expanded in one of the ways that their definitions allow.
class Statement {
 public:
  explicit Statement(MadeTokens tokens) : tokens_(std::move(tokens)) {}

  [[nodiscard]] std::string reason() const {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const MadeToken& token = tokens_[i];
      if (!token.is_identifier()) continue;
      for (const char* word : {"return", "goto", "__func__", "__FUNCTION__", "asm", "__asm", "__asm__"}) {
        if (token.is(word)) return "has " + in_quotes(word);
      }
      const bool is_label = begins_at(i) && is(i + 1, ":") && !token.is("default");
      if (is_label) return "has a label";
    }
    return declares() ? "declares something" : std::string();
  }

  void add_changed(Names& changed) const {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!tokens_[i].is_identifier() || is_member(tokens_, i)) continue;
      const bool is_next = i + 1 < tokens_.size();
      const bool is_counted =
          (is_next && (is(i + 1, "++") || is(i + 1, "--"))) || (i > 0 && (is(i - 1, "++") || is(i - 1, "--")));
      const bool is_assigned = is_next && is_assignment(tokens_[i + 1]);
      if (is_counted || is_assigned || takes_address(i)) changed.insert(tokens_[i].text);
    }
  }

 private:
  [[nodiscard]] bool is(std::size_t i, std::string_view spelling) const {
    return i < tokens_.size() && tokens_[i].is(spelling);
  }
  [[nodiscard]] bool begins_at(std::size_t i) const {
    return i == 0 || is(i - 1, ";") || is(i - 1, "{") || is(i - 1, "}") || is(i - 1, ")") || is(i - 1, "else");
  }

  // A declaration for the statements behind it. f(x); and a[i] = x; are none, nor what stands in braces.
  [[nodiscard]] bool declares() const {
    if (tokens_.empty()) return false;
    const MadeToken& first = tokens_[0];
    if (!first.is_identifier()) return false;
    for (const char* word : {"if", "for", "while", "do", "switch"}) {
      if (first.is(word)) return false;
    }
    if (is(1, "(")) {  // f(x); but not typeof(x) y; or int (*f)(void);
      const std::size_t behind = behind_bracket(tokens_, 1);
      const bool is_type = is(2, "*") || first.text.find("typeof") != std::string::npos;
      return is_type || (behind < tokens_.size() && tokens_[behind].is_identifier());
    }
    const bool is_expression = is(1, "[") || is(1, ".") || is(1, "->") || is(1, "++") || is(1, "--") || is(1, ";") ||
                               (tokens_.size() > 1 && is_assignment(tokens_[1]));
    return !is_expression;
  }

  // &x, but not a & x.
  [[nodiscard]] bool takes_address(std::size_t i) const {
    std::size_t front = i;
    while (front > 0 && is(front - 1, "(")) --front;
    if (front == 0 || !is(front - 1, "&")) return false;
    if (is(i + 1, "[")) return false;  // &x[3]
    if (front == 1) return true;
    const MadeToken& before = tokens_[front - 2];
    return before.kind == TokenKind::punctuator && !before.is(")") && !before.is("]");
  }

  MadeTokens tokens_;
};

}  // namespace

std::string read_outlined(std::string_view file, const AllDefinitions& macros, Outlined& statement) {
  const std::string_view text = file.substr(statement.place.begin, statement.place.end - statement.place.begin);
  MadeTokens tokens;
  std::size_t ways = 1;
  try {
    tokens = made_tokens(plain_tokens(text));
  } catch (const SyntaxError&) {
    return "has a literal or comment that does not end";
  }
  for (const auto& [name, definitions] : macros) ways = std::max(ways, definitions.size());
  constexpr std::size_t most_ways = 8;
  if (ways > most_ways) return "has macros of too many definitions";
  for (std::size_t way = 0; way < ways; ++way) {
    Definitions chosen;
    for (const auto& [name, definitions] : macros) chosen[name] = definitions[std::min(way, definitions.size() - 1)];
    const auto made = expanded(tokens, chosen);
    if (!made) return "has macros that are not understood";
    for (std::size_t i = 0; i < made->size(); ++i) {
      const MadeToken& token = (*made)[i];
      if (!token.is_identifier()) continue;
      if (is_of_tvm(token.text)) return "mentions " + in_quotes(token.text) + ", which is the model's";
      const bool is_called = i + 1 < made->size() && (*made)[i + 1].is("(");
      if (is_called && is_in_capitals(token.text) && !token.is("_Static_assert")) {
        return "calls " + in_quotes(token.text) + ", which may be a macro of a header that is not here";
      }
      statement.names.insert(token.text);
    }
    const Statement one(*made);
    std::string reason = one.reason();
    if (!reason.empty()) return reason;
    one.add_changed(statement.changed);
  }
  for (const MadeToken& token : tokens) {
    if (token.is_identifier()) statement.names.insert(token.text);
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

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Checks that kept functions give back only workspace that they have taken.
#include "tvm_c/kept/workspace_ownership.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/text/declared_names.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// Behind the casts and brackets that begin there: (int8_t*)(p
std::size_t behind_casts(const std::vector<Token>& tokens, std::size_t i) {
  while (i < tokens.size() && tokens[i].is("(")) {
    std::size_t end = i + 1;
    while (end < tokens.size() && (tokens[end].is_identifier() || tokens[end].is("*"))) ++end;
    const bool is_cast = end < tokens.size() && tokens[end].is(")") && end > i + 1 && end + 1 < tokens.size() &&
                         (tokens[end + 1].is_identifier() || tokens[end + 1].is("("));
    i = is_cast ? end + 1 : i + 1;
  }
  return i;
}

// The name that TVMBackendFreeWorkspace(1, 0, (void*)name) gets, by the name of the function.
const Token& given_at(const std::vector<Token>& tokens, std::size_t call) {
  const auto end =
      call + 1 < tokens.size() && tokens[call + 1].is("(") ? behind_bracketed(tokens, call + 1) : std::nullopt;
  if (!end) return tokens[call];
  std::size_t argument = call + 2;
  std::size_t depth = 0;
  for (std::size_t i = call + 2; i + 1 < *end; ++i) {
    if (tokens[i].is("(")) ++depth;
    if (tokens[i].is(")")) --depth;
    if (depth == 0 && tokens[i].is(",")) argument = i + 1;
  }
  const std::size_t name = behind_casts(tokens, argument);
  bool is_name = name + 1 < *end && tokens[name].is_identifier();
  for (std::size_t i = name + 1; i < *end; ++i) is_name = is_name && tokens[i].is(")");
  return tokens[is_name ? name : call];
}

}  // namespace

void require_workspace_ownership(std::span<const FunctionText* const> functions, const WorkspaceMacros& macros,
                                 std::size_t* at) {
  struct Function {
    std::vector<Token> tokens;
    Names own;  // variables
  };
  using Variable = std::pair<std::size_t, std::string_view>;  // of a function, or of the files
  std::vector<Function> bodies;
  std::set<Variable> taken;
  std::set<Variable> others;  // that may be something else
  const auto variable = [&](std::size_t function, std::string_view name) {
    return Variable(bodies[function].own.contains(name) ? function : SIZE_MAX, name);
  };
  for (*at = 0; *at < functions.size(); ++*at) {
    const FunctionText& function = *functions[*at];
    const std::vector<Token>& tokens = bodies.emplace_back(Function{tokens_of(function.body), {}}).tokens;
    bodies.back().own = declared_names(tokens);
    for (const Token& token : tokens_of(function.params)) {
      bodies.back().own.emplace(token.text);
      others.emplace(*at, token.text);
    }
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (!tokens[i].is_identifier()) continue;
      const bool is_other = (i > 0 && tokens[i - 1].is("&")) || is_member(tokens, i);
      if (is_other) others.insert(variable(*at, tokens[i].text));
      if (!tokens[i + 1].is("=")) continue;
      const std::size_t value = behind_casts(tokens, i + 2);
      if (value >= tokens.size() || tokens[value].is("NULL") || tokens[value].text == "0") continue;
      const bool is_taken = tokens[value].is("TVMBackendAllocWorkspace") || macros.takes.contains(tokens[value].text);
      (is_taken ? taken : others).insert(variable(*at, tokens[i].text));
    }
  }
  for (*at = 0; *at < functions.size(); ++*at) {
    const std::vector<Token>& tokens = bodies[*at].tokens;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!tokens[i].is(free_function) && !macros.gives.contains(tokens[i].text)) continue;
      const Token& name = given_at(tokens, i);
      const Variable given = variable(*at, name.text);
      if (taken.contains(given) && !others.contains(given)) continue;
      throw SyntaxError{name.offset, "found " + in_quotes(name.text) +
                                         " given back in a function whose C stays, expected a variable that such "
                                         "functions only set to workspace that they take: give back in the entry what "
                                         "the entry takes"};
    }
  }
}

}  // namespace usmp::tvm_c

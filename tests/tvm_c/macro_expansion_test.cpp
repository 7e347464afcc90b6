// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pieces of C with their macros expanded, and those that are not.
#include "tvm_c/text/macro_expansion.hpp"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace usmp::tvm_c::macro_expansion_test {
namespace {

std::string joined(const std::vector<c::Token>& tokens) {
  std::string text;
  for (const c::Token& token : tokens) {
    if (token.kind != c::TokenKind::end) text.append(token.text).append(" ");
  }
  return text;
}

std::string spelled(const std::string& text) { return joined(c::lex_text(text)); }

using Definitions = std::map<std::string_view, std::string_view>;

std::string expansion(const std::string& text, const Definitions& macros) {
  const auto made = expanded(text, [&](std::string_view name) {
    const auto found = macros.find(name);
    return found == macros.end() ? std::nullopt : std::optional(found->second);
  });
  return made ? joined(made->unit.tokens) : spelled("nothing");
}

TEST_CASE("macros are expanded as C says") {
  CHECK(expansion("f(N + 1)", {{"N", " (3)"}}) == spelled("f((3) + 1)"));
  CHECK(expansion("A", {{"A", " B c"}, {"B", " 1 +"}}) == spelled("1 + c"));
  CHECK(expansion("SQ(a+1, b)", {{"SQ", "(x, y) (x) * y"}}) == spelled("(a+1) * b"));
  CHECK(expansion("F((a, b), g(c, d))", {{"F", "(x, y) [x] [y]"}}) == spelled("[(a, b)] [g(c, d)]"));
  CHECK(expansion("F()", {{"F", "() done"}}) == spelled("done"));
  CHECK(expansion("F(  )", {{"F", "(x) [x]"}}) == spelled("[]"));
  CHECK(expansion("F + F(1)", {{"F", "(x) x"}}) == spelled("F + 1"));
  // Arguments are expanded first, but for # and ##.
  CHECK(expansion("S(N) V(N) P(N, 2)", {{"N", " 7"}, {"S", "(x) #x"}, {"V", "(x) x"}, {"P", "(a, b) a##b"}}) ==
        spelled("\"N\" 7 N2"));
  CHECK(expansion("S(f(\"a\\n\",  b))", {{"S", "(x) #x"}}) == spelled("\"f(\\\"a\\\\n\\\", b)\""));
  CHECK(expansion("S('\"')", {{"S", "(x) #x"}}) == spelled("\"'\\\"'\""));
  CHECK(expansion("L(a, b, c) L(a)", {{"L", "(f, ...) log(f, ##__VA_ARGS__)"}}) == spelled("log(a,b, c) log(a)"));
  CHECK(expansion("L(N, (N))", {{"N", " 1"}, {"L", "(...) log(__VA_ARGS__)"}}) == spelled("log(1, (1))"));
  // What comes out is looked at again, with what follows.
  CHECK(expansion("G(2)", {{"G", " F"}, {"F", "(x) x+x"}}) == spelled("2+2"));
  CHECK(expansion("F(F(1))", {{"F", "(x) (x)"}}) == spelled("((1))"));
  CHECK(expansion("- M", {{"M", " -1"}}) == spelled("- -1"));
}

TEST_CASE("macros that are not expanded") {
  CHECK(expansion("A", {{"A", " B"}, {"B", " A"}}) == spelled("nothing"));
  CHECK(expansion("F(1)", {{"F", "(x) F(x)"}}) == spelled("nothing"));
  CHECK(expansion("F(1, 2)", {{"F", "(x) x"}}) == spelled("nothing"));
  CHECK(expansion("F(1", {{"F", "(x) x"}}) == spelled("nothing"));
  CHECK(expansion("F", {{"F", "(x) x"}}) == spelled("F"));
  CHECK(expansion("F(+, /)", {{"F", "(a, b) a##b"}}) == spelled("nothing"));
  CHECK(expansion("F(1)", {{"F", "(x) \"x"}}) == spelled("nothing"));
  // Doubled a hundred times.
  Definitions doubling;
  std::string names[100];
  std::string bodies[100];
  for (int i = 0; i < 100; ++i) {
    names[i] = "d" + std::to_string(i);
    bodies[i] = i == 0 ? " 1" : " " + names[i - 1] + " " + names[i - 1];
    doubling[names[i]] = bodies[i];
  }
  CHECK(expansion("d99", doubling) == spelled("nothing"));
  CHECK(expansion("d3", doubling) == spelled("1 1 1 1 1 1 1 1"));
}

}  // namespace
}  // namespace usmp::tvm_c::macro_expansion_test

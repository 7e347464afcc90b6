// SPDX-License-Identifier: Apache-2.0
#include "tvm_c/text/macro_expansion.hpp"

#include <doctest/doctest.h>

#include <string>

namespace usmp::tvm_c::macro_expansion_test {
namespace {

std::string expansion(const std::string& text, const Definitions& macros) {
  const auto made = expanded(made_tokens(text), macros);
  return made ? text_of(*made) : "nothing";
}

TEST_CASE("macros are expanded as C says") {
  CHECK(expansion("f(N + 1)", {{"N", " (3)"}}) == "f((3) + 1)");
  CHECK(expansion("A", {{"A", " B c"}, {"B", " 1 +"}}) == "1 + c");
  CHECK(expansion("SQ(a+1, b)", {{"SQ", "(x, y) (x) * y"}}) == "(a+1) * b");
  CHECK(expansion("F((a, b), g(c, d))", {{"F", "(x, y) [x] [y]"}}) == "[(a, b)] [g(c, d)]");
  CHECK(expansion("F()", {{"F", "() done"}}) == "done");
  CHECK(expansion("F(  )", {{"F", "(x) [x]"}}) == "[]");
  CHECK(expansion("F + F(1)", {{"F", "(x) x"}}) == "F + 1");
  // Arguments are expanded first, but for # and ##.
  CHECK(expansion("S(N) V(N) P(N, 2)", {{"N", " 7"}, {"S", "(x) #x"}, {"V", "(x) x"}, {"P", "(a, b) a##b"}}) ==
        "\"N\" 7 N2");
  CHECK(expansion("S(f(\"a\\n\",  b))", {{"S", "(x) #x"}}) == "\"f(\\\"a\\\\n\\\", b)\"");
  CHECK(expansion("S('\"')", {{"S", "(x) #x"}}) == "\"'\\\"'\"");
  CHECK(expansion("L(a, b, c) L(a)", {{"L", "(f, ...) log(f, ##__VA_ARGS__)"}}) == "log(a,b, c) log(a)");
  CHECK(expansion("L(N, (N))", {{"N", " 1"}, {"L", "(...) log(__VA_ARGS__)"}}) == "log(1, (1))");
  // What comes out is looked at again, with what follows.
  CHECK(expansion("G(2)", {{"G", " F"}, {"F", "(x) x+x"}}) == "nothing");  // not understood
  CHECK(expansion("F(F(1))", {{"F", "(x) (x)"}}) == "((1))");
  CHECK(expansion("- M", {{"M", " -1"}}) == "- -1");
}

TEST_CASE("macros that are not expanded") {
  CHECK(expansion("A", {{"A", " B"}, {"B", " A"}}) == "nothing");
  CHECK(expansion("F(1)", {{"F", "(x) F(x)"}}) == "nothing");
  CHECK(expansion("F(1, 2)", {{"F", "(x) x"}}) == "nothing");
  CHECK(expansion("F(1", {{"F", "(x) x"}}) == "nothing");
  CHECK(expansion("F", {{"F", "(x) x"}}) == "nothing");
  CHECK(expansion("F(+, /)", {{"F", "(a, b) a##b"}}) == "nothing");
  CHECK(expansion("F(1)", {{"F", "(x) \"x"}}) == "nothing");
  // Doubled a hundred times.
  Definitions doubling;
  std::string names[100];
  std::string bodies[100];
  for (int i = 0; i < 100; ++i) {
    names[i] = "d" + std::to_string(i);
    bodies[i] = i == 0 ? " 1" : " " + names[i - 1] + " " + names[i - 1];
    doubling[names[i]] = bodies[i];
  }
  CHECK(expansion("d99", doubling) == "nothing");
  CHECK(expansion("d3", doubling) == "1 1 1 1 1 1 1 1");
}

}  // namespace
}  // namespace usmp::tvm_c::macro_expansion_test

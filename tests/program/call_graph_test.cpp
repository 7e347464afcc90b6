// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Calls, callers and orders of small modules, written out.
#include "usmp/program/call_graph.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tir_support/module_builder.hpp"
#include "usmp/support/error.hpp"

namespace usmp::program::call_graph_test {
namespace {

using namespace tir::testing;  // NOLINT(google-build-using-namespace)
using Indices = std::vector<std::size_t>;

// Functions that call each other and pass nothing; "main" is the entry.
class Functions : public tir::testing::ModuleBuilder {
 public:
  void add(const std::string& name, const std::vector<std::string>& callees, const std::string& target = "c") {
    function(name, {}, calls(callees), target);
  }
  void main(const std::vector<std::string>& callees) { entry({}, calls(callees)); }

  // In the order of `callees_first`.
  [[nodiscard]] std::string order(bool from_entry = true) {
    const tir::Module module = build();
    const CallGraph graph = call_graph(module);
    std::string names;
    for (const std::size_t function :
         from_entry ? callees_first(module, graph, {module.entry}) : callees_first(module, graph)) {
      names += (names.empty() ? "" : " ") + module.functions[function].name;
    }
    return names;
  }

  [[nodiscard]] std::string error(bool from_entry = true) {
    try {
      return order(from_entry);
    } catch (const Error& error) {
      return error.what();
    }
  }

 private:
  [[nodiscard]] tir::Block calls(const std::vector<std::string>& callees) const {
    tir::Block body;
    for (const std::string& callee : callees) body.push_back(call(callee, std::vector<tir::VarId>{}));
    return body;
  }
};

TEST_CASE_FIXTURE(Functions, "calls are listed as they stand, callers once each, externs not at all") {
  add("f", {"g", "elsewhere", "g"});
  add("g", {});
  main({"g", "f"});
  const tir::Module module = build();  // f g main
  const CallGraph graph = call_graph(module);
  REQUIRE(graph.calls.size() == 3);
  REQUIRE(graph.calls[0].size() == 2);
  CHECK(graph.calls[0][1].callee == 1);
  CHECK(graph.calls[1].empty());
  CHECK(graph.calls[2].front().callee == 1);
  CHECK(graph.callers[1] == Indices{0, 2});
  CHECK(graph.callers[2] == Indices{});
}

TEST_CASE_FIXTURE(Functions, "a call within an argument and one in a loop are calls, too") {
  const auto i = integer("i");
  add("f", {});
  add("g", {});
  entry({}, block(loop(i, 2, block(evaluate(call_expr("g", {call_expr("f", {})}))))));
  const CallGraph graph = call_graph(build());
  REQUIRE(graph.calls[2].size() == 2);
  CHECK(graph.calls[2][0].callee == 1);
  CHECK(graph.calls[2][1].callee == 0);
}

TEST_CASE_FIXTURE(Functions, "callees come before callers, in the order of calls") {
  add("a", {"c"});
  add("b", {"c", "d"});
  add("c", {});
  add("d", {});
  add("unused", {"d"});
  main({"b", "a", "b"});
  CHECK(order() == "c d b a main");
  CHECK(order(false) == "c a d b main unused");
}

TEST_CASE_FIXTURE(Functions, "opaque functions are no part of the order, nor is what only they call") {
  add("npu", {"inside", "f"}, "cmsis-nn");
  add("inside", {});
  add("f", {});
  main({"npu", "f"});
  CHECK(order() == "f main");
  CHECK(order(false) == "f inside main");
}

TEST_CASE_FIXTURE(Functions, "recursion is refused") {
  SUBCASE("of one function") {
    main({"main"});
    CHECK(error() == "main: function 'main' calls itself, directly or through others");
  }
  SUBCASE("through others") {
    add("f", {"g"});
    add("g", {"f"});
    main({"g"});
    CHECK(error() == "g: function 'g' calls itself, directly or through others");
  }
  SUBCASE("of functions that are never called, if they are asked for") {
    add("f", {"f"});
    main({});
    CHECK(error() == "main");
    CHECK(error(false) == "f: function 'f' calls itself, directly or through others");
  }
  SUBCASE("but not what somebody else provides") {
    add("npu", {"npu"}, "cmsis-nn");
    main({"npu"});
    CHECK(error() == "main");
  }
}

TEST_CASE_FIXTURE(Functions,
                  "a call that an expression holds in many places is listed once, one of two statements twice") {
  add("f", {});
  tir::ExprRef sum = call_expr("f", {});
  const tir::Stmt twice = evaluate(sum);
  for (int i = 0; i < 100; ++i) sum = tir::testing::add(sum, sum);
  entry({}, block(evaluate(sum), twice, twice));
  CHECK(call_graph(build()).calls[1].size() == 3);
}

TEST_CASE_FIXTURE(Functions, "a deep call graph takes no stack") {
  constexpr int depth = 20'000;
  for (int i = 0; i < depth; ++i) add("f" + std::to_string(i), {"f" + std::to_string(i + 1)});
  main({"f0"});
  const tir::Module module = build();
  CHECK(callees_first(module, call_graph(module), {module.entry}).size() == depth + 1);
}

}  // namespace
}  // namespace usmp::program::call_graph_test

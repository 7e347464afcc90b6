// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Calls of entries as lines of text, with arguments and statements.
#include "usmp/program/entry_calls.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "tir_support/module_builder.hpp"

namespace usmp::program::entry_calls_test {
namespace {

using tir::ExprRef;
using tir::VarId;
using namespace tir::testing;  // NOLINT(google-build-using-namespace)

// f(p, q) and g(r) are the module's, npu(s) is opaque; the entry has parameters a and b.
struct Fixture : tir::testing::ModuleBuilder {
  VarId a = pointer("a");
  VarId b = pointer("b");
  VarId c = pointer("c");
  VarId i = integer("i");

  EntryCalls read(tir::Block body) {
    function("f", {pointer("p"), pointer("q")}, {});
    function("g", {pointer("r")}, {});
    function("npu", {pointer("s")}, {}, "cmsis-nn");
    entry({a, b}, std::move(body));
    return entry_calls(build());
  }
  // "f(a b)@1 plain", "?" for what is no variable.
  std::vector<std::string> lines(tir::Block body) {
    found = read(std::move(body));
    std::vector<std::string> all;
    for (const EntryCall& call : found.calls) {
      std::string line = module().functions[call.callee].name + "(";
      for (const VarId argument : call.arguments) {
        if (line.back() != '(') line += " ";
        line += argument.valid() ? module().var(argument).name : "?";
      }
      line += ")@" + std::to_string(call.statement);
      if (call.is_plain) line += " plain";
      if (call.is_nested) line += " nested";
      if (call.is_opaque) line += " opaque";
      if (!call.passes_variables_only) line += " other";
      all.push_back(line);
    }
    return all;
  }
  [[nodiscard]] std::string used_otherwise() const {
    std::string names;
    for (const VarId var : found.used_otherwise) names += (names.empty() ? "" : " ") + module().var(var).name;
    return names;
  }

  using Lines = std::vector<std::string>;
  EntryCalls found;
};

TEST_CASE_FIXTURE(Fixture, "a row of calls") {
  CHECK(lines(block(allocate(c, 8), call("f", {a, c}), call("npu", {c}), evaluate(call_expr("g", {var(b)})))) ==
        Lines{"f(a c)@1 plain", "npu(c)@2 plain opaque", "g(b)@3 plain"});
  CHECK(used_otherwise().empty());
  CHECK(found.called_otherwise.empty());
}

TEST_CASE_FIXTURE(Fixture, "what is no variable, and what it is made of") {
  CHECK(lines(block(call("f", {address_of(a, 1), var(b)}), call("f", {var(a), load(c, load(b, 0))}))) ==
        Lines{"f(? b)@0 plain other", "f(a ?)@1 plain other"});
  CHECK(used_otherwise() == "a b c");
}

TEST_CASE_FIXTURE(Fixture, "calls in loops, branches and conditions") {
  const ExprRef condition = tir::make_binary(tir::ExprKind::gt, call_expr("g", {var(b)}), tir::make_int(0));
  CHECK(lines(block(loop(i, 2, block(call("g", {a}))), when(condition, block(call("g", {c}))))) ==
        Lines{"g(a)@0 nested", "g(b)@1", "g(c)@1 nested"});
}

TEST_CASE_FIXTURE(Fixture, "a call within an argument is a call; what it is passed is part of the argument") {
  CHECK(lines(block(call("f", {var(a), call_expr("g", {var(b)})}))) == Lines{"f(a ?)@0 other", "g(b)@0"});
  CHECK(used_otherwise() == "b");
}

TEST_CASE_FIXTURE(Fixture, "calls that are none of an operator are not listed") {
  SUBCASE("an extern's") {
    CHECK(lines(block(call("elsewhere", {a, b}))).empty());
    CHECK(found.called_otherwise.empty());
  }
  SUBCASE("one with too few arguments") {
    CHECK(lines(block(call("f", {a}))).empty());
    CHECK(found.called_otherwise == std::set<std::size_t>{0});
  }
  SUBCASE("one with too many") {
    CHECK(lines(block(call("g", {a, b}))).empty());
    CHECK(found.called_otherwise == std::set<std::size_t>{1});
  }
  SUBCASE("the entry's own") {
    CHECK(lines(block(call("main", {a, b}))).empty());
    CHECK(found.called_otherwise.size() == 1);
  }
  CHECK(used_otherwise().front() == 'a');
}

TEST_CASE_FIXTURE(Fixture, "variables that are read and written") {
  CHECK(lines(block(copy(a, b), let(c, var(b)), call("g", {c}))) == Lines{"g(c)@2 plain"});
  CHECK(used_otherwise() == "a b");
}

TEST_CASE_FIXTURE(Fixture, "a call is plain if the statement does nothing else") {
  const ExprRef plain = call_expr("g", {var(a)});
  const auto is_plain = [](ExprRef value) { return plain_call(evaluate(std::move(value))).has_value(); };
  const auto checked = [&](ExprRef expected, ExprRef otherwise, ExprRef value) {
    return tir::make_call(tir::int32_type, "tir.tvm_check_return",
                          {std::move(expected), std::move(otherwise), std::move(value)});
  };
  CHECK(is_plain(plain));
  CHECK(is_plain(call_expr("elsewhere", {var(a)})));
  CHECK(is_plain(checked(tir::make_int(0), tir::make_int(-1), plain)));
  CHECK_FALSE(is_plain(checked(plain, tir::make_int(-1), plain)));
  CHECK_FALSE(is_plain(checked(tir::make_int(0), plain, plain)));
  CHECK_FALSE(is_plain(add(plain, tir::make_int(1))));
  CHECK_FALSE(is_plain(call_expr("f", {var(a), plain})));
  CHECK_FALSE(plain_call(let(i, plain)).has_value());
}

}  // namespace
}  // namespace usmp::program::entry_calls_test

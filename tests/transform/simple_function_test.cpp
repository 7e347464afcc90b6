// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions that are simple, and functions that one statement keeps from it.
#include "transform/simple_function.hpp"

#include <doctest/doctest.h>

#include "transform/program.hpp"

namespace usmp::transform::testing::simple_function_test {
namespace {

struct Fixture : Program {
  VarId a = input("a", 8);
  VarId c = output("c", 8);
  VarId i = number("i");
  VarId j = number("j");

  [[nodiscard]] tir::Stmt copy_all(VarId over) const {
    return loop(over, 8, block(store(c, var(over), load(a, var(over)))));
  }
  [[nodiscard]] bool is_simple_with(tir::Stmt more) {
    body(block(copy_all(i), std::move(more)));
    return simple();
  }
};

TEST_CASE_FIXTURE(Fixture, "simple functions: loops, branches, lets of numbers, scalar accesses") {
  const VarId b = buffer("b");
  const VarId t = number("t");
  body(block(allocate(b, 8), let(t, load(a, 3)),
             loop(i, 8, block(when(less(var(i), var(t)), block(store(b, var(i), load(a, var(i))))))),
             scope(block(
                 loop(j, 8, block(store(c, var(j), tir::make_call(int32_type, "tir.popcount", {load(a, var(j))}))))))));
  CHECK(simple());
}

TEST_CASE_FIXTURE(Fixture, "simple functions may compute with any function of math.h") {
  const auto of_one = [](const char* op) {
    return evaluate(tir::make_call(float32_type, op, {tir::make_float(1, float32_type)}));
  };
  SUBCASE("of two arguments") { CHECK(is_simple_with(of_one("tir.atan2"))); }
  SUBCASE("made of another") { CHECK(is_simple_with(of_one("tir.exp10"))); }
}

TEST_CASE_FIXTURE(Fixture, "simple functions hold nothing else") {
  SUBCASE("a call of a function") { CHECK_FALSE(is_simple_with(call("g", std::vector{a}))); }
  SUBCASE("an operator that is not known") {
    CHECK_FALSE(is_simple_with(evaluate(tir::make_call(int32_type, "tir.reinterpret", {load(a, 0)}))));
  }
  SUBCASE("an address") { CHECK_FALSE(is_simple_with(evaluate(address_of(a, 0)))); }
  SUBCASE("a pointer") { CHECK_FALSE(is_simple_with(let(buffer("p"), var(a)))); }
  SUBCASE("a while loop") { CHECK_FALSE(is_simple_with({tir::While{less(load(a, 0), 0), {}}})); }
  SUBCASE("an assertion") { CHECK_FALSE(is_simple_with({tir::Assert{less(load(a, 0), 0), "no"}})); }
  SUBCASE("a predicate") {
    tir::Stmt stmt = store(c, 0, tir::make_int(1));
    std::get<tir::Store>(stmt.node).predicate = less(load(a, 0), 0);
    CHECK_FALSE(is_simple_with(std::move(stmt)));
  }
  SUBCASE("a load of another type") {
    CHECK_FALSE(is_simple_with(evaluate(tir::make_load(int8_type, a, tir::make_int(0)))));
  }
  SUBCASE("a store of another type") { CHECK_FALSE(is_simple_with(store(c, 0, tir::make_int(1, int8_type)))); }
  SUBCASE("a vector") {
    tir::Expr four{
        .kind = ExprKind::broadcast, .type = int32_type.with_lanes(4), .var = {}, .text = {}, .operands = {}};
    four.operands.push_back(load(a, 0));
    CHECK_FALSE(is_simple_with(evaluate(tir::make_expr(four))));
  }
  SUBCASE("a variable bound twice") { CHECK_FALSE(is_simple_with(copy_all(i))); }
  SUBCASE("a let expression") {
    tir::Expr expr{.kind = ExprKind::let, .type = int32_type, .var = j, .text = {}, .operands = {}};
    expr.operands = {load(a, 0), var(j)};
    CHECK_FALSE(is_simple_with(evaluate(tir::make_expr(expr))));
  }
  SUBCASE("a let expression of a variable that is a loop's, too") {
    tir::Expr expr{.kind = ExprKind::let, .type = int32_type, .var = i, .text = {}, .operands = {}};
    expr.operands = {load(a, 0), var(i)};
    CHECK_FALSE(is_simple_with(evaluate(tir::make_expr(expr))));
  }
  SUBCASE("storage of a size that is not constant") {
    CHECK_FALSE(is_simple_with(allocate(buffer("b"), std::vector{load(a, 0)})));
  }
  SUBCASE("storage that may not be there") {
    tir::Stmt stmt = allocate(buffer("b"), 8);
    std::get<tir::Allocate>(stmt.node).condition = less(load(a, 0), 0);
    CHECK_FALSE(is_simple_with(std::move(stmt)));
  }
  SUBCASE("storage of vectors") { CHECK_FALSE(is_simple_with(allocate(buffer("b", int32_type.with_lanes(4)), 8))); }
  SUBCASE("storage from nowhere") { CHECK_FALSE(is_simple_with(evaluate(load(buffer("b"), 0)))); }
  SUBCASE("a null pointer") {
    CHECK_FALSE(is_simple_with(let(buffer("p"), tir::make_cast(tir::handle_type, tir::make_int(0)))));
  }
  SUBCASE("pointers that are compared") {
    CHECK_FALSE(is_simple_with(evaluate(tir::make_binary(ExprKind::eq, var(a), var(c)))));
  }
  SUBCASE("a variable from nowhere") { CHECK_FALSE(is_simple_with(evaluate(var(j)))); }
  SUBCASE("a load under a predicate") {
    tir::Expr some = *load(a, 0);
    some.operands.push_back(less(load(a, 1), 0));
    CHECK_FALSE(is_simple_with(evaluate(tir::make_expr(some))));
  }
  SUBCASE("nothing of these") { CHECK(is_simple_with(copy_all(j))); }
}

TEST_CASE_FIXTURE(Fixture, "simple functions are written in TIR for the host, and no entry") {
  body(block(copy_all(i)));
  const auto is_simple_now = [&](std::size_t function) {
    return is_simple(changed(), function, ParamAliases(changed()));
  };
  CHECK(is_simple_now(index()));
  SUBCASE("but have C of their own") { op().imported_c = {"void g(void) {}"}; }
  SUBCASE("but are another target's") { op().target = "cmsis-nn"; }
  SUBCASE("but nobody calls them") { changed().functions[changed().entry].body.clear(); }
  CHECK(is_simple_now(index()) == false);
  CHECK(is_simple_now(changed().entry) == false);
}

TEST_CASE_FIXTURE(Fixture, "simple functions are of a size that people write") {
  tir::Block all;
  SUBCASE("statements") {
    for (std::size_t n = 0; n <= max_statements; ++n) all.push_back(store(c, 0, tir::make_int(1)));
  }
  SUBCASE("expressions") {
    ExprRef sum = load(a, 0);
    for (std::size_t n = 0; n < max_expressions / 2; ++n) sum = add(sum, 1);
    all.push_back(store(c, 0, sum));
  }
  body(std::move(all));
  CHECK_FALSE(simple());
}

}  // namespace
}  // namespace usmp::transform::testing::simple_function_test

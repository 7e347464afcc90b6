// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops, lets and indices that are edited: the text afterwards, and which variables are bound and read.
#include "usmp/loops/edit.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "tir_support/c_value.hpp"
#include "tir_support/module_builder.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::loops::edit_test {
namespace {

using namespace tir::testing;  // the words for expressions
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

struct Fixture : ModuleBuilder {
  VarId a = pointer("a");
  VarId b = pointer("b");
  VarId i = integer("i");
  VarId j = integer("j");
  VarId n = integer("n");
  VarId x = integer("x");
  arith::Facts facts{module()};

  [[nodiscard]] std::string text(const ExprRef& expr) const { return tir::print_expr(module(), *expr); }
  [[nodiscard]] std::string text(const tir::Block& body) const {
    ModuleBuilder copy = *this;
    copy.function("f", {a}, body);
    std::string all = tir::print(copy.module(), copy.module().functions.back());
    const std::size_t begin = all.find('\n') + 1;
    return all.substr(begin, all.rfind('}') - begin);
  }
};

// Variables that the statement binds, by loops and lets, and those that it reads.
struct Variables {
  std::set<VarId> bound;
  std::set<VarId> read;
};
Variables variables_of(const Stmt& root) {
  Variables result;
  const tir::Block body = {root};
  tir::for_each_stmt(body, [&](const Stmt& stmt) {
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) result.bound.insert(loop->var);
    if (const auto* let = std::get_if<tir::Let>(&stmt.node)) result.bound.insert(let->var);
  });
  tir::for_each_expr_in(body, [&](const tir::Expr& expr) {
    if (expr.kind == ExprKind::var) result.read.insert(expr.var);
  });
  return result;
}

// --- Variables replaced ----------------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "edits: a substituted index is simplified, a renamed one is not") {
  facts.bind_interval(n, Interval{0, 9});
  const ExprRef element = load(a, add(mul(var(i), 4), var(j)));
  const Substitution values = {{i, add(var(n), 1)}, {j, sub(var(n), 4)}};
  CHECK(text(substituted(element, facts, values)) == text(load(a, mul(var(n), 5))));
  CHECK(text(renamed(element, values)) == text(load(a, add(mul(add(var(n), 1), 4), sub(var(n), 4)))));
}

TEST_CASE_FIXTURE(Fixture, "edits: comparisons are decided where the facts tell them, and choices with them") {
  facts.bind_interval(n, Interval{0, 5});
  const auto chosen = [&](const ExprRef& condition) {
    return text(substituted(choice(condition, load(a, 1), load(a, 2)), facts, {{i, var(n)}}));
  };
  CHECK(chosen(less(var(i), 6)) == text(load(a, 1)));
  CHECK(chosen(less(var(i), 0)) == text(load(a, 2)));
  CHECK(chosen(less(var(i), 3)) == text(choice(less(var(n), 3), load(a, 1), load(a, 2))));
  // The part of a conjunction that always holds goes; one that never holds decides.
  CHECK(chosen(both(less(var(i), 6), less(var(i), 3))) == text(choice(less(var(n), 3), load(a, 1), load(a, 2))));
  CHECK(chosen(both(less(var(i), 3), less(var(i), 0))) == text(load(a, 2)));
  const ExprRef either = binary(ExprKind::or_, less(var(i), 0), less(var(i), 3));
  CHECK(chosen(either) == text(choice(less(var(n), 3), load(a, 1), load(a, 2))));
  CHECK(chosen(binary(ExprKind::or_, less(var(i), 3), less(var(i), 6))) == text(load(a, 1)));
  // But what a function does is done.
  const ExprRef called = less(call_expr("f", {}), 3);
  CHECK(chosen(both(called, less(var(i), 0))) ==
        text(choice(both(called, imm(0, tir::bool_type)), load(a, 1), load(a, 2))));
}

TEST_CASE_FIXTURE(Fixture, "edits: a condition holds in the value that it guards") {
  facts.bind_interval(i, Interval{0, 9});
  const ExprRef inner = choice(less(var(i), 5), load(a, 1), load(a, 2));
  CHECK(text(substituted(choice(less(var(i), 3), inner, load(a, 3)), facts, {})) ==
        text(choice(less(var(i), 3), load(a, 1), load(a, 3))));
}

TEST_CASE_FIXTURE(Fixture, "edits: a statement is renamed with its blocks") {
  Stmt stmt = loop(j, 4, block(when(less(var(i), 2), block(store(a, var(i), load(b, var(j)))), block(copy(a, b)))));
  rename(stmt, {{i, var(n)}});
  CHECK(text(block(std::move(stmt))) ==
        text(block(
            loop(j, 4, block(when(less(var(n), 2), block(store(a, var(n), load(b, var(j)))), block(copy(a, b))))))));
}

TEST_CASE_FIXTURE(Fixture, "edits: only the indices of the storage are changed, with what is known there") {
  Stmt stmt = loop(i, 4, block(store(a, var(i), add(load(a, add(var(i), 1)), load(b, var(i))))));
  std::vector<std::int64_t> highs;
  rewrite_indices(stmt, a, facts, [&](const ExprRef& index, const arith::Facts& here) {
    highs.push_back(here.interval(here.affine(*index).value()).value().high);
    return add(index, 10);
  });
  CHECK(text(block(std::move(stmt))) ==
        text(block(
            loop(i, 4, block(store(a, add(var(i), 10), add(load(a, add(add(var(i), 1), 10)), load(b, var(i)))))))));
  CHECK(highs == std::vector<std::int64_t>{4, 3});
}

TEST_CASE_FIXTURE(Fixture, "edits: a load with another index keeps its predicate") {
  facts.bind_interval(n, Interval{0, 9});
  tir::Expr guarded = *load(a, add(var(i), 2));
  guarded.operands.push_back(less(var(i), 3));
  const ExprRef element = tir::make_expr(guarded);
  CHECK(text(substituted(element, facts, {{i, sub(var(n), 2)}})) == "a[n where n - 2 < 3]");
  Stmt stmt = store(b, imm(0), element);
  rewrite_indices(stmt, a, facts, [](const ExprRef& index, const arith::Facts&) { return add(index, 10); });
  CHECK(text(block(std::move(stmt))).find("a[i + 2 + 10 where i < 3]") != std::string::npos);
}

// --- Names made anew -------------------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "edits: a copy has loops and lets of its own, and reads the same variables from outside") {
  const Stmt original =
      loop(i, 4, block(let(x, add(var(i), var(n))), loop(j, 2, block(store(a, add(var(x), var(j)), load(b, var(i)))))));
  Stmt copy = original;
  const std::string before = text(block(original));
  const std::size_t vars = module().vars.size();
  freshen(copy, module());
  CHECK(text(block(copy)).size() >= before.size());
  CHECK(text(block(original)) == before);
  CHECK(module().vars.size() == vars + 3);
  const Variables old = variables_of(original);
  const Variables fresh = variables_of(copy);
  CHECK(fresh.bound.size() == 3);
  for (const VarId var : fresh.bound) {
    CHECK_FALSE(old.bound.contains(var));
    CHECK(var.index() >= vars);
    CHECK(module().var(var).type == i32);
  }
  std::set<VarId> expected = fresh.bound;
  expected.insert(n);
  CHECK(fresh.read == expected);
}

TEST_CASE_FIXTURE(Fixture, "edits: a loop split in two counts the same, in the same order") {
  const tir::For before = std::get<tir::For>(loop(i, 12, block(store(a, add(mul(var(i), 3), 1), imm(0, i8)))).node);
  for (const std::int64_t outer : {1, 2, 3, 12}) {
    CAPTURE(outer);
    const tir::For outside = split(module(), before, outer);
    CHECK(tir::as_int(*outside.extent) == outer);
    REQUIRE(outside.body.size() == 1);
    const auto& inside = std::get<tir::For>(outside.body[0].node);
    CHECK(tir::as_int(*inside.extent) == 12 / outer);
    REQUIRE(inside.body.size() == 1);
    const ExprRef index = std::get<tir::Store>(inside.body[0].node).index;
    std::vector<std::int64_t> indices;
    for (std::int64_t high = 0; high < outer; ++high) {
      for (std::int64_t low = 0; low < 12 / outer; ++low) {
        indices.push_back(c_value(*index, {{outside.var, high}, {inside.var, low}}).value());
      }
    }
    REQUIRE(indices.size() == 12);
    for (std::size_t at = 0; at < 12; ++at) CHECK(indices[at] == static_cast<std::int64_t>(at) * 3 + 1);
    CHECK(module().var(outside.var).name == "i.outer");
    CHECK(module().var(inside.var).name == "i.inner");
  }
}

// --- Lets written out ------------------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "edits: lets of arithmetic are written out, those that read memory stay") {
  const VarId y = integer("y");
  tir::Block body = block(let(x, add(var(n), 1)), let(y, cast(i32, load(b, var(x)))),
                          loop(i, 2, block(store(a, add(var(x), var(y)), imm(0, i8)))));
  REQUIRE(expand_lets(body, {{n, var(j)}}));
  CHECK(text(body) == text(block(let(y, cast(i32, load(b, add(var(j), 1)))),
                                 loop(i, 2, block(store(a, add(add(var(j), 1), var(y)), imm(0, i8)))))));
}

TEST_CASE_FIXTURE(Fixture, "edits: a let of a block means nothing behind it") {
  tir::Block body = block(scope(block(let(x, imm(1)), store(a, var(x), imm(0, i8)))), store(a, var(n), imm(0, i8)));
  REQUIRE(expand_lets(body, {}));
  CHECK(text(body) == text(block(scope(block(store(a, 1, imm(0, i8)))), store(a, var(n), imm(0, i8)))));
}

TEST_CASE_FIXTURE(Fixture, "edits: lets that double too often are refused") {
  tir::Block body;
  ExprRef value = var(n);
  for (int round = 0; round < 12; ++round) {
    const VarId next = integer("next");
    body.push_back(let(next, add(value, value)));
    value = var(next);
  }
  body.push_back(store(a, value, imm(0, i8)));
  SUBCASE("in the block") {}
  SUBCASE("in a block inside") { body = block(loop(i, 2, std::move(body))); }
  CHECK_FALSE(expand_lets(body, {}));
}

TEST_CASE_FIXTURE(Fixture, "edits: a narrow value is cut as its variable would, unless it is cut already") {
  const ExprRef narrow = load(a, 0);
  CHECK(as_stored(narrow) == narrow);
  CHECK(as_stored(cast(i8, var(n)))->kind == ExprKind::cast);
  const ExprRef sum_of_narrow = add(narrow, narrow);
  CHECK(text(as_stored(sum_of_narrow)) == text(cast(i8, sum_of_narrow)));
  const ExprRef hidden = choice(less(var(n), 3), narrow, sum_of_narrow);
  CHECK(text(as_stored(hidden)) == text(cast(i8, hidden)));
  const ExprRef wide = add(var(n), var(n));
  CHECK(as_stored(wide) == wide);
  const ExprRef truth = less(var(n), 3);
  CHECK(as_stored(truth) == truth);
  CHECK(as_stored(cast(boolean, var(n)))->kind == ExprKind::cast);
  CHECK(as_stored(make_operator(ExprKind::add, boolean, {truth, truth})) == nullptr);
}

TEST_CASE_FIXTURE(Fixture, "edits: the size of a tree counts shared nodes each time, up to a limit") {
  ExprRef value = var(n);
  CHECK(tree_size(*value) == 1);
  value = add(value, value);
  CHECK(tree_size(*value) == 3);
  for (int round = 0; round < 60; ++round) value = add(value, value);
  CHECK(tree_size(*value) == max_expression_nodes + 1);
}

// --- Statements ------------------------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "edits: allocates go wherever they stand") {
  tir::Block body = block(allocate(a, 4), loop(i, 2, block(allocate(a, 4), allocate(b, 4), set(b))), set(a));
  erase_allocates(body, {a});
  CHECK(text(body) == text(block(loop(i, 2, block(allocate(b, 4), set(b))), set(a))));
}

}  // namespace
}  // namespace usmp::loops::edit_test

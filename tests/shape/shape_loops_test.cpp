// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops unswitched and split, as text, at the limits of each and with near misses.
#include "usmp/shape/shape_loops.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "shape/loop_fixture.hpp"
#include "shape/split_sums.hpp"
#include "shape/unswitch.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform::testing::shape_loops_test {
namespace {

TEST_CASE_FIXTURE(LoopFixture, "unswitch: a condition that is the same in all iterations is asked once") {
  const VarId t = number("t");
  const VarId u = number("u");
  body(block(nest(block(let(t, remainder(var(j), 3)), let(u, mul(var(j), 8)),
                        store(y, place(), choice(less(var(t), 2), x_at(add(var(u), var(i))), tir::make_int(7)))))));
  CHECK(made(shape::unswitch));
  CHECK(text() == R"(
  for j in [0, 4) {
    let t: int32 = floormod(j, 3)
    if t < 2 {
      for i in [0, 8) {
        let u: int32 = j * 8
        y[j * 8 + i] = int32(x[u + i])
      }
    } else {
      for i in [0, 8) {
        y[j * 8 + i] = 7
      }
    }
  }
)");
}

TEST_CASE_FIXTURE(LoopFixture, "unswitch: inside sums, of select, and in every place of one condition") {
  const ExprRef inside = less(var(j), 2);
  const ExprRef chosen =
      tir::testing::make_operator(ExprKind::select, int32_type, {inside, x_at(place()), tir::make_int(0)});
  body(block(nest(block(store(y, place(), add(mul(chosen, 3), choice(inside, var(i), var(j))))))));
  CHECK(made(shape::unswitch));
  CHECK(text().find("select") == std::string::npos);
  CHECK(text().find("if_then_else") == std::string::npos);
}

TEST_CASE_FIXTURE(LoopFixture, "unswitch: conditions that may change, or are not always asked, stay") {
  const VarId t = number("t");
  const auto chosen = [&](const ExprRef& condition) { return store(y, place(), choice(condition, var(i), var(j))); };
  SUBCASE("the loop's variable") { body(block(nest(block(chosen(less(var(i), 2)))))); }
  SUBCASE("a let of it") { body(block(nest(block(let(t, add(var(i), 1)), chosen(less(var(t), 2)))))); }
  SUBCASE("memory") { body(block(nest(block(chosen(less(load(p, var(j)), 2)))))); }
  SUBCASE("a let of memory") { body(block(nest(block(let(t, load(p, var(j))), chosen(less(var(t), 2)))))); }
  SUBCASE("asked under another condition") {
    // The division is defined only where it is asked.
    const ExprRef under = less(tir::make_binary(ExprKind::div, tir::make_int(8), var(j)), 4);
    body(block(
        nest(block(store(y, place(), choice(less(sub(var(i), var(j)), 0), choice(under, var(i), var(j)), var(i)))))));
  }
  SUBCASE("behind an or") {
    const ExprRef second = less(choice(less(var(j), 2), var(i), var(j)), 3);
    const ExprRef first = less(var(i), var(j));
    body(block(nest(block(store(
        y, place(),
        tir::make_cast(int32_type, tir::testing::make_operator(ExprKind::or_, tir::bool_type, {first, second})))))));
  }
  SUBCASE("behind an and") {
    const ExprRef second = less(choice(less(var(j), 2), var(i), var(j)), 3);
    body(block(nest(block(store(y, place(), tir::make_cast(int32_type, both(less(var(i), var(j)), second)))))));
  }
  SUBCASE("of a variable that the expression binds") {
    const ExprRef chosen_by = choice(less(var(t), 2), var(i), var(j));
    body(block(nest(block(store(y, place(), let_in(t, load(p, var(j)), chosen_by))))));
  }
  SUBCASE("one iteration") { body(block(nest(block(chosen(less(var(j), 2))), 1))); }
  SUBCASE("a loop that is not the innermost") {
    body(block(loop(j, 4, block(loop(i, 8, block(loop(t, 1, block(chosen(less(var(i), 2))))))))));
  }
  CHECK_FALSE(made(shape::unswitch));
}

TEST_CASE_FIXTURE(LoopFixture, "unswitch: loops side by side may bind one variable, each to a value of its own") {
  const VarId t = number("t");
  const auto row = [&](std::int64_t divisor, std::int64_t first) {
    const ExprRef at = add(place(), first);
    return loop(i, 8, block(let(t, remainder(var(j), divisor)), store(y, at, choice(less(var(t), 1), var(i), var(j)))));
  };
  body(block(loop(j, 4, block(row(2, 0), row(3, 128), row(4, 256)))));
  CHECK(made(shape::unswitch));
  const tir::Block& rows = std::get<tir::For>(op().body[0].node).body;
  REQUIRE(rows.size() == 4);
  CHECK(std::holds_alternative<tir::Scope>(rows[0].node));
  CHECK(std::holds_alternative<tir::Scope>(rows[1].node));
  CHECK(std::holds_alternative<tir::Let>(rows[2].node));
  CHECK(std::holds_alternative<tir::IfThenElse>(rows[3].node));
}

TEST_CASE_FIXTURE(LoopFixture, "unswitch: conditions up to 200 nodes") {
  // Each addition is two nodes; the variable, the comparison with its bound and the negation are four.
  const auto of_size = [&](std::size_t nodes) {
    ExprRef sum = var(j);
    for (std::size_t k = 4; k < nodes; k += 2) sum = add(sum, 1);
    const ExprRef condition = tir::testing::make_operator(ExprKind::not_, tir::bool_type, {less(sum, 100)});
    std::size_t counted = 0;
    tir::for_each_expr(*condition, [&](const tir::Expr&) { ++counted; });
    REQUIRE(counted == nodes);
    return store(y, place(), choice(condition, var(i), var(j)));
  };
  SUBCASE("as large as that") {
    body(block(nest(block(of_size(200)))));
    CHECK(made(shape::unswitch));
  }
  SUBCASE("larger") {
    body(block(nest(block(of_size(202)))));
    CHECK_FALSE(made(shape::unswitch));
  }
  SUBCASE("a smaller one behind a larger one") {
    body(block(nest(block(of_size(202), of_size(20)))));
    CHECK(made(shape::unswitch));
  }
}

TEST_CASE_FIXTURE(LoopFixture, "unswitch: loops of up to 200 choices") {
  const auto of_choices = [&](int choices) {
    ExprRef sum = tir::make_int(0);
    for (int k = 0; k < choices; ++k) sum = add(sum, choice(less(var(j), k % 5), var(i), tir::make_int(k)));
    return store(y, place(), sum);
  };
  SUBCASE("as many as that") {
    body(block(nest(block(of_choices(150), of_choices(50)))));
    CHECK(made(shape::unswitch));
  }
  SUBCASE("one more") {
    body(block(nest(block(of_choices(150), of_choices(51)))));
    CHECK_FALSE(made(shape::unswitch));
  }
}

TEST_CASE_FIXTURE(LoopFixture, "unswitch: a loop whose number of iterations may be zero asks nothing before") {
  const ExprRef asked = less(tir::make_binary(ExprKind::div, tir::make_int(8), var(j)), 4);
  body(block(loop(j, 4, block(loop_to(i, var(j), block(store(y, place(), choice(asked, var(i), var(j)))))))));
  CHECK_FALSE(made(shape::unswitch));
}

// 16 loops side by side, each adding to four sums of int32: 256 bytes.
struct SumsFixture : LoopFixture {
  std::int64_t apart = 4;
  std::size_t loops = 16;
  bool alone = true;
  std::function<tir::Stmt(const ExprRef&)> sum = [&](const ExprRef& at) {
    return store(y, at, add(load(y, at), mul(x_at(add(var(j), at)), 3)));
  };

  bool made_of_sums() {
    tir::Block all;
    for (std::size_t n = 0; n < loops; ++n) {
      const VarId c = number("c");
      const VarId at = number("at");
      const auto first = static_cast<std::int64_t>(n) * apart;
      all.push_back(loop(c, 4, block(let(at, add(var(c), first)), sum(var(at)))));
    }
    body(block(filled(), loop(i, 3, block(loop(j, 4, std::move(all))))));
    for (tir::Param& param : op().params) param.no_alias = alone;
    return made(shape::split_sums);
  }
};

TEST_CASE_FIXTURE(SumsFixture, "split: as many sums as registers hold, then the rest") {
  REQUIRE(made_of_sums());
  REQUIRE(op().body.size() == 3);
  const auto sums_in = [&](std::size_t n) {
    const auto& outer = std::get<tir::For>(op().body[n].node);
    REQUIRE(outer.body.size() == 1);
    return std::get<tir::For>(outer.body[0].node).body.size();
  };
  CHECK(sums_in(1) == 12);
  CHECK(sums_in(2) == 4);
}

TEST_CASE_FIXTURE(SumsFixture, "split: what registers hold stays together") {
  loops = 12;
  CHECK_FALSE(made_of_sums());
}

TEST_CASE_FIXTURE(SumsFixture, "split: sums that other loops of the block reach stay") {
  SUBCASE("elements shared with the next loop") { apart = 3; }
  SUBCASE("another pointer to the sums") { alone = false; }
  SUBCASE("sums that are read for others") {
    sum = [&](const ExprRef& at) { return store(y, at, add(load(y, at), load(y, quotient(at, 16)))); };
  }
  SUBCASE("the place of another sum") {
    sum = [&](const ExprRef& at) { return store(y, at, add(load(y, quotient(at, 16)), x_at(at))); };
  }
  SUBCASE("no sums") {
    sum = [&](const ExprRef& at) { return store(y, at, sub(load(y, at), x_at(at))); };
  }
  SUBCASE("places that an outer loop moves") {
    sum = [&](const ExprRef& at) {
      const ExprRef moved = add(at, mul(var(j), 4));
      return store(y, moved, add(load(y, moved), x_at(at)));
    };
  }
  CHECK_FALSE(made_of_sums());
}

TEST_CASE_FIXTURE(SumsFixture, "split: a value that a let reads of the sums") {
  tir::Block all;
  for (std::int64_t n = 0; n < 16; ++n) {
    const VarId c = number("c");
    const VarId read = number("read");
    const ExprRef at = add(var(c), n * 4);
    all.push_back(loop(c, 4, block(let(read, load(y, tir::make_int(60))), store(y, at, add(load(y, at), var(read))))));
  }
  body(block(filled(), loop(j, 4, std::move(all))));
  for (tir::Param& param : op().params) param.no_alias = true;
  CHECK_FALSE(made(shape::split_sums));
}

TEST_CASE_FIXTURE(SumsFixture, "split: sums of two storages, of which one is read for the other") {
  const VarId z = output("z", 512);
  tir::Block all;
  for (std::int64_t n = 0; n < 16; ++n) {
    const VarId c = number("c");
    const VarId to = n < 8 ? y : z;
    const ExprRef at = add(var(c), n * 4);
    const ExprRef term = n < 8 ? x_at(at) : load(y, sub(at, 32));
    all.push_back(loop(c, 4, block(store(to, at, add(load(to, at), term)))));
  }
  const VarId n = number("n");
  body(block(filled(), loop(n, 512, block(store(z, var(n), var(n)))), loop(j, 4, std::move(all))));
  for (tir::Param& param : op().params) param.no_alias = true;
  CHECK_FALSE(made(shape::split_sums));
}

TEST_CASE_FIXTURE(SumsFixture, "split: a loop whose count is read from the sums") {
  tir::Block all;
  for (std::int64_t n = 0; n < 60; ++n) {
    const ExprRef at = tir::make_int(n);
    all.push_back(
        loop_to(number("c"), load(y, tir::make_int(5)), block(store(y, at, add(load(y, at), tir::make_int(1))))));
  }
  body(block(filled(), loop(j, 2, std::move(all))));
  for (tir::Param& param : op().params) param.no_alias = true;
  CHECK_FALSE(made(shape::split_sums));
}

TEST_CASE_FIXTURE(SumsFixture, "split: a loop around whose count is read from the sums") {
  tir::Block all;
  for (std::int64_t n = 0; n < 16; ++n) {
    const VarId c = number("c");
    const ExprRef at = add(var(c), n * 4);
    all.push_back(loop(c, 4, block(store(y, at, add(load(y, at), tir::make_int(1))))));
  }
  tir::Stmt counted = loop_to(j, load(y, tir::make_int(2)), std::move(all));
  SUBCASE("the outermost") { body(block(filled(), std::move(counted))); }
  SUBCASE("another") { body(block(filled(), loop(i, 2, block(std::move(counted))))); }
  SUBCASE("or whose first number is") {
    std::get<tir::For>(counted.node).extent = tir::make_int(2);
    std::get<tir::For>(counted.node).min = load(y, tir::make_int(2));
    body(block(filled(), loop(i, 2, block(std::move(counted)))));
  }
  for (tir::Param& param : op().params) param.no_alias = true;
  CHECK_FALSE(made(shape::split_sums));
}

}  // namespace
}  // namespace usmp::transform::testing::shape_loops_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Estimates of work against operations counted by hand.
#include "usmp/loops/cost.hpp"

#include <doctest/doctest.h>

#include "transform/program.hpp"

namespace usmp::transform::testing::work_test {
namespace {

struct Fixture : Program {
  VarId a = input("a", 8);
  VarId c = output("c", 8);
  VarId i = number("i");
  VarId j = number("j");
  // The work of a function with this body.
  [[nodiscard]] std::optional<double> of(tir::Block what) const {
    tir::Function function;
    function.body = std::move(what);
    return loops::work_of(function);
  }
};

TEST_CASE_FIXTURE(Fixture, "work: an operation is one, as often as it runs") {
  CHECK(of(block(store(c, 0, tir::make_int(1)))) == 1);
  CHECK(of(block(loop(i, 8, block(store(c, var(i), add(load(a, var(i)), 1)))))) == 8 * 3);
  CHECK(of(block(loop(i, 8, block(loop(j, 5, block(store(c, var(i), load(a, var(i))))))))) == 8 * 5 * 2);
}

TEST_CASE_FIXTURE(Fixture, "work: divisions are more, in indices too, where sums are nothing") {
  CHECK(of(block(loop(i, 8, block(store(c, add(mul(var(i), 1), 0), tir::make_int(1)))))) == 8);
  CHECK(of(block(loop(i, 8, block(store(c, quotient(var(i), 2), load(a, remainder(var(i), 3))))))) == 8 * (2 + 4 + 4));
  CHECK(of(block(loop(i, 8, block(store(c, var(i), quotient(load(a, var(i)), 3)))))) == 8 * (2 + 4));
}

TEST_CASE_FIXTURE(Fixture, "work: index arithmetic is computed outside of loops that do not change it") {
  const ExprRef index = quotient(var(i), 2);
  const VarId t = number("t");
  CHECK(of(block(loop(i, 8, block(loop(j, 5, block(store(c, index, tir::make_int(1)))))))) == 8 * 5 + 8 * 4);
  CHECK(of(block(
            loop(i, 8, block(loop(j, 5, block(let(t, index), store(c, remainder(var(t), 3), tir::make_int(1)))))))) ==
        8 * 5 + 2 * 8 * 4);
  CHECK(of(block(loop(i, 8, block(loop(j, 5, block(store(c, quotient(add(var(i), var(j)), 2), tir::make_int(1)))))))) ==
        8 * 5 * (1 + 4));
}

TEST_CASE_FIXTURE(Fixture, "work: a choice is its condition, both values and one for the decision") {
  const ExprRef chosen = choice(less(var(i), 4), load(a, var(i)), tir::make_int(0));
  CHECK(of(block(loop(i, 8, block(store(c, var(i), chosen))))) == 8 * (1 + 1 + 1 + 1));
  CHECK(of(block(loop(i, 8, block(when(less(var(i), 4), block(store(c, var(i), tir::make_int(1)))))))) == 8 * 3);
}

TEST_CASE_FIXTURE(Fixture, "work: what loops do that memory bounds is not known") {
  CHECK(!of(block(loop_to(i, load(a, 0), block(store(c, 0, tir::make_int(1)))))));
}

TEST_CASE_FIXTURE(Fixture, "work: a module's is that of what its entry calls") {
  body(block(loop(i, 8, block(store(c, var(i), load(a, var(i)))))));
  CHECK(loops::work_of(changed()) == 16);
}

}  // namespace
}  // namespace usmp::transform::testing::work_test

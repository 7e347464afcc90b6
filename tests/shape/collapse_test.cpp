// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Nests collapsed and loops unrolled, as text, and nests that stay.
#include "shape/collapse.hpp"

#include <doctest/doctest.h>

#include "shape/loop_fixture.hpp"
#include "shape/unroll.hpp"

namespace usmp::transform::testing::collapse_test {
namespace {

TEST_CASE_FIXTURE(LoopFixture, "collapse: two loops over one range") {
  body(block(nest(block(store(y, place(), add(x_at(place()), 1))))));
  CHECK(made(shape::collapse));
  CHECK(text() == R"(
  for j_i in [0, 32) {
    y[j_i] = int32(x[j_i]) + 1
  }
)");
}

TEST_CASE_FIXTURE(LoopFixture, "collapse: a whole nest, with lets and branches") {
  const VarId k = number("k");
  const VarId t = number("t");
  const ExprRef whole = add(mul(var(k), 32), place());
  body(block(loop(k, 3, block(nest(block(let(t, whole), store(y, var(t), choice(less(var(t), 7), var(t), whole))))))));
  CHECK(made(shape::collapse));
  CHECK(text() == R"(
  for k_j_i in [0, 96) {
    let t: int32 = k_j_i
    y[t] = tir.if_then_else(t < 7, t, k_j_i)
  }
)");
}

TEST_CASE_FIXTURE(LoopFixture, "collapse: other terms of an index may be of any kind, lets without use of any form") {
  const VarId t = number("t");
  const ExprRef other = remainder(load(p, tir::make_int(0)), 4);
  body(block(nest(block(let(t, var(i)), store(y, place(), x_at(add(mul(other, 64), place())))))));
  CHECK(made(shape::collapse));
  CHECK(text() == R"(
  for j_i in [0, 32) {
    y[j_i] = int32(x[floormod(p[0], 4) * 64 + j_i])
  }
)");
}

TEST_CASE_FIXTURE(LoopFixture, "collapse: pointers that are stored through stay") {
  const VarId same = pointer("same", int32_type);
  body(block(nest(block(let(same, var(y)), store(same, place(), x_at(place()))))));
  CHECK(made(shape::collapse));
  CHECK(text().find("same[j_i] = int32(x[j_i])") != std::string::npos);
}

TEST_CASE_FIXTURE(LoopFixture, "collapse: only the inner two of three") {
  const VarId k = number("k");
  const ExprRef apart = add(mul(var(k), 48), place());
  body(block(loop(k, 3, block(nest(block(store(y, apart, x_at(place()))))))));
  CHECK(made(shape::collapse));
  CHECK(text() == R"(
  for k in [0, 3) {
    for j_i in [0, 32) {
      y[k * 48 + j_i] = int32(x[j_i])
    }
  }
)");
}

TEST_CASE_FIXTURE(LoopFixture, "collapse: everything else stays") {
  const tir::Stmt stored = store(y, place(), x_at(place()));
  SUBCASE("rows that lie apart") { body(block(nest(block(store(y, add(mul(var(j), 9), var(i)), x_at(place())))))); }
  SUBCASE("a variable of its own") { body(block(nest(block(store(y, place(), x_at(var(i))))))); }
  SUBCASE("a value of the outer one") { body(block(nest(block(store(y, place(), var(j)))))); }
  SUBCASE("a condition") { body(block(nest(block(store(y, place(), choice(less(var(i), 3), var(i), var(j))))))); }
  SUBCASE("a statement beside the inner loop") {
    body(block(loop(j, 4, block(loop(i, 8, block(stored)), store(y, add(var(j), 40), var(j))))));
  }
  SUBCASE("an inner loop from another place") {
    body(block(loop(j, 4, block(tir::Stmt{tir::For{i, tir::make_int(1), tir::make_int(8), block(stored)}}))));
  }
  SUBCASE("a number of iterations that is read") {
    body(block(tir::Stmt{
        tir::For{j, tir::make_int(0), remainder(load(p, tir::make_int(0)), 4), block(loop(i, 8, block(stored)))}}));
  }
  SUBCASE("fewer iterations than the factor says") { body(block(nest(block(stored), 7))); }
  CHECK_FALSE(made(shape::collapse));
}

TEST_CASE_FIXTURE(LoopFixture, "unroll: a loop of few elements") {
  const VarId t = number("t");
  body(
      block(loop(j, 4, block(loop(i, 3, block(let(t, add(mul(var(j), 3), var(i))), store(y, var(t), x_at(var(i)))))))));
  CHECK(made(shape::unroll));
  CHECK(text() == R"(
  for j in [0, 4) {
    let t: int32 = j * 3
    y[t] = int32(x[0])
    let t_1: int32 = j * 3 + 1
    y[t_1] = int32(x[1])
    let t_2: int32 = j * 3 + 2
    y[t_2] = int32(x[2])
  }
)");
}

TEST_CASE_FIXTURE(LoopFixture, "unroll: beside other statements, from another place") {
  body(block(
      loop(j, 4,
           block(tir::Stmt{tir::For{i, tir::make_int(5), tir::make_int(2), block(store(y, place(), x_at(place())))}},
                 store(y, var(j), var(j))))));
  CHECK(made(shape::unroll));
  CHECK(text() == R"(
  for j in [0, 4) {
    scope {
      y[j * 8 + 5] = int32(x[j * 8 + 5])
      y[j * 8 + 6] = int32(x[j * 8 + 6])
    }
    y[j] = j
  }
)");
}

TEST_CASE_FIXTURE(LoopFixture, "unroll: everything else stays") {
  const tir::Stmt stored = store(y, place(), x_at(place()));
  SUBCASE("more iterations") { body(block(nest(block(stored), 5))); }
  SUBCASE("one") { body(block(loop(j, 1, block(loop(i, 1, block(stored)))))); }
  SUBCASE("a value made of the variable") {
    body(block(nest(block(store(y, place(), remainder(add(x_at(place()), var(i)), 5))), 3)));
  }
  SUBCASE("a pointer") {
    const VarId row = pointer("row", int32_type);
    body(block(nest(block(let(row, address_of(y, mul(var(j), 8))), store(row, var(i), x_at(place()))), 3)));
  }
  SUBCASE("two stores") { body(block(nest(block(stored, store(y, add(place(), 64), var(i))), 3))); }
  SUBCASE("a large value") {
    ExprRef value = x_at(place());
    for (int n = 0; n < 12; ++n) value = add(mul(value, 3), var(i));
    body(block(nest(block(store(y, place(), value)), 3)));
  }
  CHECK_FALSE(made(shape::unroll));
}

}  // namespace
}  // namespace usmp::transform::testing::collapse_test

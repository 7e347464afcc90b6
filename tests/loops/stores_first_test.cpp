// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops that store all elements before any is loaded, and loops that do not.
#include "usmp/loops/stores_first.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "tir_support/module_builder.hpp"

namespace usmp::loops::stores_first_test {
namespace {

using namespace tir::testing;  // the words for expressions
using tir::VarId;

// t has 8 elements.
struct Fill : ModuleBuilder {
  VarId t = pointer("t");
  VarId in = pointer("in");
  VarId out = pointer("out");
  VarId i = integer("i");
  VarId j = integer("j");

  // for i in [0, count) { t[index] = value }
  [[nodiscard]] tir::Stmt fill(std::int64_t count, tir::ExprRef index, tir::ExprRef value) const {
    return loop(i, count, block(store(t, std::move(index), std::move(value))));
  }
  [[nodiscard]] tir::Stmt fill() const { return fill(8, var(i), load(in, var(i))); }
  [[nodiscard]] tir::Stmt read() const { return store(out, 0, load(t, 7)); }

  [[nodiscard]] bool holds(tir::Block body) const { return stores_first(module(), body, t, 8); }
};

TEST_CASE_FIXTURE(Fill, "stores first: every element, before one is loaded") {
  CHECK(holds(block(fill(), read())));
  CHECK(holds(block(store(out, 0, load(in, 0)), fill(), read())));
  CHECK(holds(block(store(out, 0, load(in, 0)))));  // it is not accessed
  CHECK(holds(block(loop(j, 3, block(fill(), read())))));
  const auto row = add(mul(var(j), tir::make_int(4)), var(i));
  CHECK(holds(block(loop(j, 2, block(loop(i, 4, block(store(t, row, load(in, 0)))))), read())));
}

TEST_CASE_FIXTURE(Fill, "stores first: not what is loaded before, or left out") {
  SUBCASE("loaded before") { CHECK_FALSE(holds(block(read(), fill()))); }
  SUBCASE("the first element is left out") {
    CHECK_FALSE(holds(block(fill(7, add(var(i), 1), load(in, var(i))), read())));
  }
  SUBCASE("the last element is left out") { CHECK_FALSE(holds(block(fill(7, var(i), load(in, var(i))), read()))); }
  SUBCASE("more than there is") { CHECK_FALSE(holds(block(fill(9, var(i), load(in, var(i))), read()))); }
  SUBCASE("made of what is there") { CHECK_FALSE(holds(block(fill(8, var(i), load(t, var(i))), read()))); }
  SUBCASE("at a place that is there") {
    const auto place = tir::make_cast(tir::int32_type, load(t, 0));
    CHECK_FALSE(holds(block(fill(8, add(mul(place, tir::make_int(0)), var(i)), load(in, var(i))), read())));
  }
  SUBCASE("under a condition") {
    const auto condition = less(load(in, 0), tir::make_int(3, int8_type));
    CHECK_FALSE(holds(block(loop(i, 8, block(when(condition, block(store(t, var(i), load(in, 0)))))), read())));
  }
  SUBCASE("with a predicate") {
    tir::Stmt one = store(t, var(i), load(in, var(i)));
    std::get<tir::Store>(one.node).predicate = less(load(in, 0), tir::make_int(3, int8_type));
    CHECK_FALSE(holds(block(loop(i, 8, block(std::move(one))), read())));
  }
  SUBCASE("beside a load in the same loop") {
    CHECK_FALSE(holds(block(loop(i, 8, block(store(t, var(i), load(in, var(i))), read())), read())));
  }
  SUBCASE("in a loop that may not run") {
    CHECK_FALSE(holds(block(loop(j, 0, block(fill())), read())));
    tir::Stmt some = loop(j, 1, block(fill()));
    std::get<tir::For>(some.node).extent = tir::make_cast(tir::int32_type, load(in, 0));
    CHECK_FALSE(holds(block(std::move(some), read())));
  }
  SUBCASE("another storage") {
    CHECK_FALSE(holds(block(loop(i, 8, block(store(out, var(i), load(in, var(i))))), read())));
  }
}

}  // namespace
}  // namespace usmp::loops::stores_first_test

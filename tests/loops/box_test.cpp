// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Boxes against all points that are put into them.
#include "usmp/loops/box.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "tir_support/c_value.hpp"
#include "tir_support/module_builder.hpp"

namespace usmp::loops::box_test {
namespace {

using namespace tir::testing;  // the words for expressions
using tir::ExprRef;
using tir::VarId;

// Outer loops i and j stand still while k in [0, 3] and l in [1, 2] move.
struct Fixture : ModuleBuilder {
  VarId i = integer("i");
  VarId j = integer("j");
  VarId k = integer("k");
  VarId l = integer("l");
  arith::Facts facts{module()};
  Box box{std::set<VarId>{k, l}};

  Fixture() {
    facts.bind_interval(i, Interval{0, 9});
    facts.bind_interval(j, Interval{0, 9});
    facts.bind_interval(k, Interval{0, 3});
    facts.bind_interval(l, Interval{1, 2});
  }

  [[nodiscard]] arith::Affine sum_of(const ExprRef& expr) const { return facts.affine(*expr).value(); }
  [[nodiscard]] bool put(const std::vector<ExprRef>& point) {
    std::vector<arith::Affine> sums;
    for (const ExprRef& part : point) sums.push_back(sum_of(part));
    return box.add(sums, facts);
  }
};

std::int64_t value(const ExprRef& expr, const std::map<VarId, std::int64_t>& variables) {
  return c_value(*expr, variables).value();
}

TEST_CASE_FIXTURE(Fixture, "boxes: the base stands still, the rest moves; the constant is of the rest") {
  const auto parts = parted(sum_of(add(add(mul(var(i), 4), mul(var(k), 2)), 7)), {k, l});
  CHECK(parts.base == sum_of(mul(var(i), 4)));
  CHECK(parts.rest == sum_of(add(mul(var(k), 2), 7)));
  // A quotient moves with what is divided.
  const auto mixed = parted(sum_of(add(quotient(add(var(i), var(k)), 3), quotient(var(j), 3))), {k});
  CHECK(mixed.base == sum_of(quotient(var(j), 3)));
  CHECK(mixed.rest == sum_of(quotient(add(var(i), var(k)), 3)));
}

TEST_CASE_FIXTURE(Fixture, "boxes: the smallest that holds all points") {
  const std::vector<std::vector<ExprRef>> points = {{add(var(i), var(k)), sub(mul(var(j), 2), var(l))},
                                                    {sub(var(i), 2), add(mul(var(j), 2), 3)},
                                                    {add(var(i), 1), add(mul(var(j), 2), var(k))}};
  CHECK(box.is_empty());
  for (const auto& point : points) CHECK(put(point));
  CHECK_FALSE(box.is_empty());
  REQUIRE(box.sides().size() == 2);
  std::vector<std::set<std::int64_t>> reached(2);
  for (const auto& point : points) {
    for (std::int64_t a = 0; a <= 3; ++a) {
      for (std::int64_t b = 1; b <= 2; ++b) {
        const std::map<VarId, std::int64_t> at = {{i, 5}, {j, 4}, {k, a}, {l, b}};
        reached[0].insert(value(point[0], at) - 5);
        reached[1].insert(value(point[1], at) - 8);
      }
    }
  }
  for (std::size_t side = 0; side < 2; ++side) {
    CHECK(box.sides()[side].reach == Interval{*reached[side].begin(), *reached[side].rbegin()});
  }
  CHECK(box.sides()[0].base == sum_of(var(i)));
  CHECK(box.sides()[1].base == sum_of(mul(var(j), 2)));
  CHECK(box.size() == box.sides()[0].extent() * box.sides()[1].extent());
}

TEST_CASE_FIXTURE(Fixture, "boxes: every point has a place of its own, from 0 on") {
  // A dimension of one position between two others takes no room.
  const std::vector<ExprRef> point = {add(add(var(i), var(k)), 3), var(j), sub(var(l), 5)};
  REQUIRE(put(point));
  CHECK(box.size() == 8);
  CHECK(box.stride(2) == 1);
  CHECK(box.stride(0) == 2);
  const auto position = box.position({sum_of(point[0]), sum_of(point[1]), sum_of(point[2])});
  REQUIRE(position);
  const ExprRef written = facts.expr(*position, i32);
  std::set<std::int64_t> places;
  for (std::int64_t a = 0; a <= 3; ++a) {
    for (std::int64_t b = 1; b <= 2; ++b) places.insert(value(written, {{i, 5}, {j, 4}, {k, a}, {l, b}}));
  }
  CHECK(places == std::set<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE_FIXTURE(Fixture, "boxes: points around another base have no box in common") {
  CHECK(put({add(var(i), var(k))}));
  CHECK_FALSE(put({add(var(j), var(k))}));
  Box again{{k, l}};
  CHECK(again.add({sum_of(var(i))}, facts));
  CHECK_FALSE(again.add({sum_of(mul(var(i), 2))}, facts));
}

TEST_CASE_FIXTURE(Fixture, "boxes: a reach that is not known gives none") {
  const VarId n = integer("n");
  Box moving{{n}};
  CHECK_FALSE(moving.add({sum_of(add(var(i), var(n)))}, facts));
}

TEST_CASE_FIXTURE(Fixture, "boxes: more points than int64 counts have no size") {
  constexpr std::int64_t large = std::int64_t{1} << 40;
  facts.bind_interval(k, Interval{0, large - 1});
  REQUIRE(put({var(k), var(k)}));
  CHECK_FALSE(box.size());
}

}  // namespace
}  // namespace usmp::loops::box_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Conditions without the digits that decide nothing, against all values of the variables.
#include "usmp/arith/low_digits.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <string>

#include "transform/program.hpp"

namespace usmp::transform::testing::low_digits_test {
namespace {

struct Fixture : Program {
  VarId row = number("row");
  VarId column = number("column");
  arith::Facts facts{module()};

  void bind(std::int64_t rows, std::int64_t columns) {
    facts.bind_interval(row, Interval{0, rows - 1});
    facts.bind_interval(column, Interval{0, columns - 1});
  }
  [[nodiscard]] ExprRef place(std::int64_t width) const { return add(mul(var(row), width), var(column)); }
  [[nodiscard]] std::string without(ExprKind kind, const ExprRef& a, const ExprRef& b) const {
    const auto bound = arith::bound_of(facts, *tir::make_binary(kind, a, b));
    REQUIRE(bound);
    const arith::Bound result = arith::without_low_digits(*bound, facts);
    return tir::print_expr(module(), *facts.expr(result.value, int64_type)) + " <= " + std::to_string(result.most);
  }
};

TEST_CASE_FIXTURE(Fixture, "low digits: a column decides nothing between whole rows") {
  bind(20, 12);
  CHECK(without(ExprKind::ge, place(12), tir::make_int(48)) == "0i64 - int64(row) <= -4");
  CHECK(without(ExprKind::lt, place(12), tir::make_int(48)) == "int64(row) <= 3");
  CHECK(without(ExprKind::le, place(12), tir::make_int(47)) == "int64(row) <= 3");
  CHECK(without(ExprKind::le, add(place(12), 3), tir::make_int(50)) == "int64(row) <= 3");
}

TEST_CASE_FIXTURE(Fixture, "low digits: stay where they decide") {
  bind(20, 12);
  CHECK(without(ExprKind::ge, place(12), tir::make_int(49)).find("column") != std::string::npos);
  CHECK(without(ExprKind::le, place(12), tir::make_int(48)).find("column") != std::string::npos);
  CHECK(without(ExprKind::ge, place(11), tir::make_int(44)).find("column") != std::string::npos);
  facts.bind_interval(column, std::nullopt);
  CHECK(without(ExprKind::ge, place(12), tir::make_int(48)).find("column") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "low digits: at the ends of int64") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  bind(20, 12);
  arith::Bound bound{arith::variable(column), -1};
  bound.value.terms.add({arith::Atom{.kind = arith::Atom::Kind::var, .var = row, .whole = {}, .by = 1}, -most - 1});
  bound.value.measure();
  CHECK(arith::without_low_digits(bound, facts).value == bound.value);
  bound.value = arith::variable(column);
  bound.value.terms.emplace(arith::Atom{.kind = arith::Atom::Kind::var, .var = row, .whole = {}, .by = 1}, 12);
  bound.value.constant = most;
  bound.most = -2;
  CHECK(arith::without_low_digits(bound, facts).value == bound.value);
  bound.value.constant = 0;
  bound.most = -most - 1;
  CHECK(arith::without_low_digits(bound, facts).value == bound.value);
}

// Sums of three variables against all of their values.
TEST_CASE("low digits: the same for all values") {
  std::mt19937 random(7);
  const auto any = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  int shorter = 0;
  for (int round = 0; round < 3000; ++round) {
    Program program;
    arith::Facts facts{program.module()};
    std::vector<VarId> vars;
    std::vector<std::pair<int, int>> ranges;
    std::vector<int> factors;
    arith::Bound bound;
    bound.value.constant = any(-40, 40);
    bound.most = any(-40, 40);
    for (const int scale : {1, any(2, 6), any(7, 30)}) {
      vars.push_back(program.number("v"));
      const int low = any(-3, 3);
      ranges.emplace_back(low, low + any(0, 6));
      factors.push_back(scale * (any(0, 1) == 0 ? 1 : -1));
      facts.bind_interval(vars.back(), Interval{ranges.back().first, ranges.back().second});
      bound.value.terms.emplace(arith::Atom{.kind = arith::Atom::Kind::var, .var = vars.back(), .whole = {}, .by = 1},
                                factors.back());
    }
    bound.value.measure();
    const arith::Bound result = arith::without_low_digits(bound, facts);
    if (result.value.terms.size() < 3) ++shorter;
    for (int a = ranges[0].first; a <= ranges[0].second; ++a) {
      for (int b = ranges[1].first; b <= ranges[1].second; ++b) {
        for (int c = ranges[2].first; c <= ranges[2].second; ++c) {
          const std::int64_t before = bound.value.constant + factors[0] * a + factors[1] * b + factors[2] * c;
          const std::int64_t after = result.value.constant + result.value.factor(vars[0]) * a +
                                     result.value.factor(vars[1]) * b + result.value.factor(vars[2]) * c;
          REQUIRE((before <= bound.most) == (after <= result.most));
        }
      }
    }
  }
  CHECK(shorter > 300);
}

}  // namespace
}  // namespace usmp::transform::testing::low_digits_test

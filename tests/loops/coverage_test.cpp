// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Mixed radices against all numbers that they stand for.
#include "usmp/loops/coverage.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "tir_support/module_builder.hpp"
#include "usmp/arith/facts.hpp"

namespace usmp::loops::coverage_test {
namespace {

using namespace tir::testing;  // the words for expressions
using tir::VarId;

// The numbers, one for each way to count.
std::vector<std::int64_t> all_numbers(const MixedRadix& numbers) {
  std::vector<std::int64_t> all = {numbers.start};
  for (const Digit& digit : numbers.digits) {
    std::vector<std::int64_t> next;
    for (const std::int64_t number : all) {
      for (std::int64_t count = 0; count < digit.extent; ++count) next.push_back(number + digit.factor * count);
    }
    all = std::move(next);
  }
  return all;
}

bool comes_twice(const std::vector<std::int64_t>& all) {
  return std::set<std::int64_t>(all.begin(), all.end()).size() < all.size();
}

bool is_all_of(const std::vector<std::int64_t>& all, const Interval& interval) {
  const std::set<std::int64_t> numbers(all.begin(), all.end());
  return *numbers.begin() == interval.low && *numbers.rbegin() == interval.high &&
         static_cast<std::int64_t>(numbers.size()) == interval.high - interval.low + 1;
}

// What the ascending order shows, from the definitions and with the digits sorted by hand.
bool is_ascending(MixedRadix numbers, bool is_exact) {
  std::erase_if(numbers.digits, [&](const Digit& d) { return d.extent == 1 || (is_exact && d.factor == 0); });
  std::ranges::sort(numbers.digits, {}, &Digit::factor);
  std::int64_t below = 1;
  for (const Digit& digit : numbers.digits) {
    if (is_exact ? digit.factor != below : digit.factor < below) return false;
    below = digit.factor * digit.extent;
  }
  return true;
}

struct Fixture : ModuleBuilder {
  VarId i = integer("i");
  VarId j = integer("j");
  arith::Facts facts{module()};

  std::optional<MixedRadix> radix(const tir::ExprRef& index, const std::map<VarId, Interval>& ranges) {
    return mixed_radix(facts.affine(*index).value(), ranges);
  }
};

TEST_CASE("coverage: few small digits, against all their numbers") {
  std::mt19937 random(7);
  const auto below = [&](int count) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(count)); };
  int injective = 0;
  int dense = 0;
  for (int round = 0; round < 4000; ++round) {
    MixedRadix numbers{.start = below(7) - 3, .digits = {}};
    // Half of them as a nest that writes a tensor: each factor what is below it, some left out or doubled.
    const bool is_nest = round % 2 == 0;
    std::int64_t factor = 1;
    for (std::int64_t n = below(4) + 1; n > 0; --n) {
      const Digit digit{.factor = is_nest ? factor : below(13) - 1, .extent = below(4) + 1};
      if (below(8) != 0) factor *= digit.extent;
      if (below(8) == 0) factor *= 2;
      numbers.digits.push_back(digit);
    }
    std::shuffle(numbers.digits.begin(), numbers.digits.end(), random);
    const auto all = all_numbers(numbers);
    if (is_injective(numbers)) {
      ++injective;
      CHECK_FALSE(comes_twice(all));
    }
    CHECK(is_injective(numbers) == is_ascending(numbers, false));
    const auto values = dense_values(numbers);
    CHECK(values.has_value() == is_ascending(numbers, true));
    if (!values) continue;
    ++dense;
    CHECK(is_all_of(all, *values));
  }
  CHECK(injective > 500);
  CHECK(dense > 500);
}

TEST_CASE("coverage: a loop of one count is no digit, one that the index leaves out repeats every number") {
  const MixedRadix once{.start = 4, .digits = {{.factor = 0, .extent = 1}, {.factor = 1, .extent = 5}}};
  CHECK(is_injective(once));
  CHECK(dense_values(once) == Interval{4, 8});
  const MixedRadix often{.start = 4, .digits = {{.factor = 0, .extent = 2}, {.factor = 1, .extent = 5}}};
  CHECK_FALSE(is_injective(often));
  CHECK(dense_values(often) == Interval{4, 8});
  CHECK(dense_values({.start = 3, .digits = {}}) == Interval{3, 3});
}

TEST_CASE_FIXTURE(Fixture, "coverage: only quotients of a variable that counts from 0 are digits") {
  const auto is_taken = [&](const tir::ExprRef& index, Interval counted) {
    facts.bind_interval(i, Interval{0, 63});
    facts.bind_interval(j, Interval{0, 63});
    return radix(index, {{i, counted}, {j, {0, 3}}}).has_value();
  };
  CHECK(is_taken(add(mul(quotient(var(i), 4), 8), remainder(var(i), 4)), {0, 15}));
  CHECK_FALSE(is_taken(add(mul(quotient(var(i), 4), 8), remainder(var(i), 4)), {4, 19}));
  CHECK_FALSE(is_taken(quotient(add(var(i), 1), 4), {0, 15}));
  CHECK_FALSE(is_taken(quotient(mul(var(i), 3), 4), {0, 15}));
  CHECK_FALSE(is_taken(quotient(add(var(i), var(j)), 4), {0, 15}));
  CHECK_FALSE(is_taken(quotient(remainder(var(i), 6), 4), {0, 23}));
}

TEST_CASE("coverage: nothing is said of numbers beyond int64") {
  constexpr std::int64_t large = std::int64_t{1} << 62;
  const MixedRadix wide{.start = 0, .digits = {{.factor = 1, .extent = large}, {.factor = large, .extent = 4}}};
  CHECK_FALSE(is_injective(wide));
  CHECK_FALSE(dense_values(wide));
  const std::int64_t last = std::numeric_limits<std::int64_t>::max();
  CHECK(dense_values({.start = last - 1, .digits = {{.factor = 1, .extent = 2}}}) == Interval{last - 1, last});
  CHECK_FALSE(dense_values({.start = last - 1, .digits = {{.factor = 1, .extent = 3}}}));
}

TEST_CASE_FIXTURE(Fixture, "coverage: an index as digits has the same values") {
  const auto index = add(add(mul(var(i), 5), var(j)), 2);
  for (const Interval range_i : {Interval{0, 3}, Interval{2, 4}, Interval{-3, -1}}) {
    const Interval range_j{-1, 3};
    const auto numbers = radix(index, {{i, range_i}, {j, range_j}});
    REQUIRE(numbers);
    std::vector<std::int64_t> expected;
    for (std::int64_t a = range_i.low; a <= range_i.high; ++a) {
      for (std::int64_t b = range_j.low; b <= range_j.high; ++b) expected.push_back(a * 5 + b + 2);
    }
    auto all = all_numbers(*numbers);
    std::ranges::sort(all);
    std::ranges::sort(expected);
    CHECK(all == expected);
    CHECK(dense_values(*numbers) == Interval{expected.front(), expected.back()});
  }
}

TEST_CASE_FIXTURE(Fixture, "coverage: a variable that the index leaves out is a digit of factor 0") {
  const auto numbers = radix(var(i), {{i, {0, 3}}, {j, {0, 2}}});
  REQUIRE(numbers);
  CHECK(all_numbers(*numbers).size() == 12);
  CHECK_FALSE(is_injective(*numbers));
}

TEST_CASE_FIXTURE(Fixture, "coverage: an index with terms of something else has no digits") {
  CHECK_FALSE(radix(add(var(i), var(j)), {{i, {0, 3}}}));
  CHECK_FALSE(radix(quotient(var(i), 3), {{i, {0, 30}}}));
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  CHECK_FALSE(radix(mul(var(i), 2), {{i, {last, last}}}));
  CHECK_FALSE(radix(var(i), {{i, {std::numeric_limits<std::int64_t>::min(), last}}}));
}

TEST_CASE_FIXTURE(Fixture, "coverage: quotients and remainders of a fused loop are digits") {
  const auto div = [&](const tir::ExprRef& a, std::int64_t by) { return quotient(a, tir::make_int(by)); };
  const auto mod = [&](const tir::ExprRef& a, std::int64_t by) { return remainder(a, tir::make_int(by)); };
  std::mt19937 random(9);
  const auto below = [&](int count) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(count)); };
  int known = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::int64_t extent = below(24) + 1;
    const std::int64_t a = below(5) + 1;
    const std::int64_t b = below(5) + 1;
    const std::int64_t factors[] = {below(7) - 2, below(7) - 2, below(7) - 2, below(7) - 2};
    const std::size_t mark = facts.mark();
    facts.bind_loop({i, tir::make_int(0), tir::make_int(extent), {}});
    auto index = add(mul(div(var(i), a * b), factors[0]), mul(mod(div(var(i), a), b), factors[1]));
    index = add(add(index, mul(mod(var(i), a), factors[2])), mul(var(i), factors[3]));
    const auto numbers = radix(index, {{i, {0, extent - 1}}});
    facts.restore(mark);
    if (!numbers) continue;
    ++known;
    std::multiset<std::int64_t> wanted;
    for (std::int64_t v = 0; v < extent; ++v) {
      wanted.insert(v / (a * b) * factors[0] + v / a % b * factors[1] + v % a * factors[2] + v * factors[3]);
    }
    const auto all = all_numbers(*numbers);
    CHECK(std::multiset<std::int64_t>(all.begin(), all.end()) == wanted);
  }
  CHECK(known > 800);
}

TEST_CASE("covered values are those of copies of several intervals") {
  std::mt19937 random(5);
  const auto below = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
  std::size_t whole = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<Digit> digits;
    for (std::int64_t i = below(4); i > 0; --i) digits.push_back({below(14) - 4, 1 + below(4)});
    std::set<std::int64_t> numbers;
    std::vector<Interval> firsts;
    std::vector<Digit> rest;
    for (std::int64_t i = 1 + below(3); i > 0; --i) {
      const MixedRadix one{below(12) - 3, digits};
      const auto copies = copies_of(one);
      REQUIRE(copies.has_value());
      rest = copies->digits;
      firsts.push_back(copies->first);
      for (const std::int64_t number : all_numbers(one)) numbers.insert(number);
    }
    std::set<std::int64_t> covered;
    std::int64_t last = INT64_MIN;
    const auto intervals = covered_values(firsts, rest);
    for (const Interval& interval : intervals) {
      CHECK(interval.low > last);  // no neighbours
      last = interval.high + 1;
      for (std::int64_t number = interval.low; number <= interval.high; ++number) covered.insert(number);
    }
    CHECK(covered == numbers);
    if (intervals.size() == 1 && !rest.empty()) ++whole;
  }
  CHECK(whole > 100);
}

TEST_CASE("too many intervals are left out, and numbers beyond 64 bits") {
  const auto few = covered_values({{0, 0}}, {{2, 4096}});
  CHECK(few.size() == 4096);
  const auto many = covered_values({{0, 0}}, {{2, 4097}});
  REQUIRE(many.size() == 1);  // the first copy is there in any case
  CHECK(many[0].high == 0);
  CHECK(covered_values({{0, 0}, {1, 1}}, {{2, 1'000'000'000}}).at(0).high == 1'999'999'999);
  CHECK(covered_values({{0, 0}}, {{INT64_MAX / 2, 4}}).empty());
  CHECK(!copies_of({0, {{INT64_MAX / 2, 4}}}));
}

}  // namespace
}  // namespace usmp::loops::coverage_test

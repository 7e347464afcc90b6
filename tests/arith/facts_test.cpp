// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums, divisions and conditions with numbers written down, and random indices against all their values.
#include "usmp/arith/facts.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "tir_support/c_value.hpp"
#include "transform/program.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform::testing::facts_test {
namespace {

constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();

struct Fixture : Program {
  VarId i = number("i");
  VarId j = number("j");
  VarId n = number("n");  // nothing is known of it
  arith::Facts facts{module()};

  void bind(VarId id, std::int64_t low, std::int64_t high) { facts.bind_interval(id, Interval{low, high}); }
  [[nodiscard]] std::string simple(const ExprRef& expr) { return tir::print_expr(module(), *facts.simplified(expr)); }
  [[nodiscard]] std::optional<Interval> reach(const ExprRef& expr) const {
    const auto value = facts.affine(*expr);
    return value ? facts.interval(*value) : std::nullopt;
  }
};

// --- Sums ------------------------------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "sums are put together and written largest factor first") {
  bind(i, 0, 9);
  bind(j, 0, 9);
  CHECK(simple(add(mul(add(var(i), var(j)), 3), sub(var(i), 2))) == "i * 4 + j * 3 - 2");
  CHECK(simple(sub(var(i), var(i))) == "0");
  CHECK(simple(sub(tir::make_int(3), var(i))) == "3 - i");
  CHECK(simple(mul(var(i), var(j))) == "i * j");  // no sum
  CHECK(simple(binary(ExprKind::div, var(i), 2)) == tir::print_expr(module(), *binary(ExprKind::div, var(i), 2)));
}

TEST_CASE_FIXTURE(Fixture, "types that wrap around are no sums") {
  const VarId small = number("small", int16_type);
  const VarId size = number("size", {tir::TypeCode::uint, 32, 1});
  const VarId wide = number("wide", int64_type);
  CHECK_FALSE(facts.affine(*var(small)));
  CHECK_FALSE(facts.affine(*var(size)));
  CHECK_FALSE(facts.affine(*tir::make_cast(int32_type, var(size))));
  CHECK_FALSE(facts.affine(*tir::make_cast(int32_type, var(wide))));
  CHECK(facts.affine(*tir::make_cast(int64_type, var(i))));
  CHECK_FALSE(facts.affine(*tir::make_load(int32_type, buffer("b"), var(i))));
}

TEST_CASE_FIXTURE(Fixture, "numbers that leave int64 give nothing") {
  const ExprRef wide = var(number("wide", int64_type));
  CHECK_FALSE(facts.affine(*mul(mul(wide, int64_max), 2)));
  CHECK_FALSE(facts.affine(*sub(wide, int64_min)));
  CHECK_FALSE(facts.affine(*add(add(wide, int64_max), 1)));
  facts.bind_interval(wide->var, Interval{0, 4});
  CHECK_FALSE(reach(mul(wide, int64_max / 2)));
  CHECK(reach(mul(wide, int64_max / 4)) == Interval{0, int64_max / 4 * 4});
}

TEST_CASE_FIXTURE(Fixture, "division and bounds at the ends of int64") {
  const VarId wide = number("wide", int64_type);
  facts.bind_interval(wide, Interval{0, 4});
  const ExprRef lowest = add(var(wide), int64_min);
  CHECK(reach(lowest) == Interval{int64_min, int64_min + 4});
  const auto rest = reach(remainder(lowest, 3));  // int64_min is 1 more than a multiple of 3
  REQUIRE(rest);
  CHECK(Interval{0, 2}.within(*rest));
  CHECK(reach(remainder(tir::make_int(int64_min, int64_type), 3)) == Interval{1, 1});
  // Conditions with such numbers: no crash, nothing wrong learnt.
  facts.assume(*less(lowest, 0));
  facts.assume(*less(mul(var(wide), int64_min), var(wide)));
  facts.assume(*at_least(mul(var(wide), int64_min), int64_min));
  const auto left = reach(var(wide));
  REQUIRE(left);
  CHECK(Interval{0, 1}.within(*left));
}

// --- Division --------------------------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "division takes an index apart once the rest is known to stay below the divisor") {
  bind(i, 0, 3);
  bind(j, 0, 7);
  const ExprRef index = add(mul(var(i), 8), var(j));
  CHECK(simple(quotient(index, 8)) == "i");
  CHECK(simple(remainder(index, 8)) == "j");
  CHECK(simple(quotient(add(mul(var(i), 96), add(mul(var(j), 8), 5)), 8)) == "i * 12 + j");
  CHECK(simple(quotient(sub(index, 32), 8)) == "i - 4");
  bind(j, 0, 8);
  CHECK(simple(quotient(index, 8)) == "i + floordiv(j, 8)");
  CHECK(simple(remainder(index, 8)) == "floormod(j, 8)");
  bind(j, -1, 7);
  CHECK(simple(quotient(index, 8)) == "i + floordiv(j, 8)");
}

TEST_CASE_FIXTURE(Fixture, "quotient and remainder of the same sum are joined") {
  bind(i, 0, 99);
  bind(j, 0, 99);
  CHECK(simple(add(mul(quotient(var(i), 7), 7), remainder(var(i), 7))) == "i");
  CHECK(simple(add(mul(quotient(var(i), 7), 21), mul(remainder(var(i), 7), 3))) == "i * 3");
  const ExprRef other = add(mul(quotient(var(i), 7), 7), remainder(var(j), 7));
  CHECK(simple(other) == "floordiv(i, 7) * 7 + floormod(j, 7)");
  const ExprRef factor = add(mul(quotient(var(i), 7), 6), remainder(var(i), 7));
  CHECK(simple(factor) == "floordiv(i, 7) * 6 + floormod(i, 7)");
}

TEST_CASE_FIXTURE(Fixture, "only division by positive constants is looked into") {
  bind(i, 0, 9);
  CHECK_FALSE(facts.affine(*quotient(var(i), 0)));
  CHECK_FALSE(facts.affine(*quotient(var(i), -2)));
  CHECK_FALSE(facts.affine(*quotient(var(i), var(j))));
  CHECK_FALSE(facts.affine(*binary(ExprKind::div, var(i), 2)));
  CHECK_FALSE(facts.affine(*binary(ExprKind::mod, var(i), 2)));
}

// --- Facts -----------------------------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "conditions narrow what is known, and only until the mark is restored") {
  bind(i, 0, 9);
  const std::size_t mark = facts.mark();
  facts.assume(*both(at_least(var(i), 3), less(mul(var(i), 2), 13)));
  CHECK(reach(var(i)) == Interval{3, 6});
  CHECK(facts.truth(*less(var(i), 7)) == true);
  CHECK(facts.truth(*less(var(i), 3)) == false);
  CHECK_FALSE(facts.truth(*less(var(i), 4)));
  facts.restore(mark);
  CHECK(reach(var(i)) == Interval{0, 9});
}

TEST_CASE_FIXTURE(Fixture, "conditions on sums of several variables hold for the sum, shifted too") {
  bind(i, 0, 9);
  bind(j, 0, 9);
  facts.assume(*both(at_least(add(var(i), var(j)), 3), less(add(var(i), var(j)), 7)));
  CHECK(reach(add(var(i), var(j))) == Interval{3, 6});
  CHECK(reach(sub(add(var(j), var(i)), 3)) == Interval{0, 3});
  CHECK(reach(sub(var(i), var(j))) == Interval{-9, 9});
  CHECK(reach(var(i)) == Interval{0, 9});
}

TEST_CASE_FIXTURE(Fixture, "what conditions say of a sum holds for multiples of it, beside other terms") {
  bind(i, 0, 9);
  bind(j, 0, 9);
  bind(n, 0, 1);
  facts.assume(*both(at_least(add(var(i), var(j)), 3), less(add(var(i), var(j)), 7)));
  CHECK(reach(add(mul(add(var(i), var(j)), 4), var(n))) == Interval{12, 25});
  CHECK(reach(sub(var(n), mul(add(var(i), var(j)), 2))) == Interval{-12, -5});
  CHECK(reach(add(mul(var(i), 4), mul(var(j), 2))) == Interval{0, 54});
  facts.assume(*less(add(var(n), mul(var(i), 2)), 4));
  CHECK(reach(add(var(i), mul(var(j), 2))) == Interval{0, 27});
}

TEST_CASE_FIXTURE(Fixture, "a variable is taken apart where conditions speak of its remainder") {
  // A window of three rows on planes of 24, of which only rows that are there are read.
  bind(i, 0, 95);
  bind(j, 0, 2);
  const ExprRef row = add(var(j), remainder(var(i), 24));
  const auto index = facts.affine(*sub(add(mul(var(j), 96), mul(var(i), 96)), 96));
  REQUIRE(index);
  CHECK(facts.interval(*index) == Interval{-96, 9216});
  facts.assume(*less(imm(0), row));
  facts.assume(*less(row, 25));
  CHECK(facts.interval(*index) == Interval{0, 9120});
}

TEST_CASE_FIXTURE(Fixture, "loops between limits: each of them is one") {
  bind(i, 0, 9);
  const ExprRef first = larger(sub(3, var(i)), 0);
  const ExprRef end = smaller(sub(12, var(i)), 5);
  SUBCASE("extent is end - first") {
    facts.bind_loop({j, first, sub(end, first), {}});
    CHECK(reach(var(j)) == Interval{0, 4});
    CHECK(reach(add(var(i), var(j))) == Interval{3, 11});
    CHECK(reach(mul(add(var(i), var(j)), 2)) == Interval{6, 22});
  }
  SUBCASE("from zero") {
    facts.bind_loop({j, imm(0), end, {}});
    CHECK(reach(add(var(i), var(j))) == Interval{0, 11});
  }
  SUBCASE("the larger of two") {
    facts.bind_loop({j, imm(0), larger(imm(2), sub(var(i), 4)), {}});
    CHECK(reach(var(j)) == Interval{0, 4});
  }
  SUBCASE("the smaller of two, in a larger one") {
    facts.bind_loop({j, smaller(imm(4), var(i)), sub(12, smaller(imm(4), var(i))), {}});
    CHECK(reach(var(j)) == Interval{0, 11});
  }
  SUBCASE("any other difference is no end") {
    facts.bind_loop({j, first, sub(end, imm(1)), {}});
    CHECK_FALSE(reach(var(j)));
  }
  SUBCASE("a limit may be a choice of limits") {
    const ExprRef other = smaller(sub(var(i), 2), 7);
    const ExprRef chosen = select(less(var(i), 1), imm(1), other);
    facts.bind_loop({j, chosen, sub(end, chosen), {}});
    CHECK(reach(var(j)) == Interval{-2, 4});
    const ExprRef unknown = select(less(var(i), 1), imm(-1), smaller(var(n), 7));
    facts.bind_loop({j, unknown, sub(end, unknown), {}});
    CHECK_FALSE(reach(var(j)));
  }
  SUBCASE("what is not known bounds nothing") {
    facts.bind_loop({j, first, sub(smaller(var(n), var(n)), first), {}});
    CHECK_FALSE(reach(var(j)));
  }
}

TEST_CASE_FIXTURE(Fixture, "a sum of a variable is one of its quotient and its remainder, too") {
  // A window of 3 x 3 in lines of 8: no pixel is before the first one.
  bind(n, 0, 63);
  bind(i, 0, 2);
  bind(j, 0, 2);
  const ExprRef pixel = sub(add(add(mul(var(i), 8), var(n)), var(j)), 9);
  CHECK(reach(pixel) == Interval{-9, 72});
  facts.assume(*at_least(add(quotient(var(n), 8), var(i)), 1));
  facts.assume(*less(add(quotient(var(n), 8), var(i)), 9));
  CHECK(reach(pixel) == Interval{-1, 64});
  facts.assume(*at_least(add(remainder(var(n), 8), var(j)), 1));
  facts.assume(*less(add(remainder(var(n), 8), var(j)), 9));
  CHECK(reach(pixel) == Interval{0, 63});
}

TEST_CASE_FIXTURE(Fixture, "of conditions that do not hold, the opposite does") {
  bind(i, 0, 9);
  bind(j, 0, 9);
  const std::size_t mark = facts.mark();
  facts.assume(*binary(ExprKind::or_, less(var(i), 3), negation(binary(ExprKind::le, var(j), 5))), false);
  CHECK(reach(var(i)) == Interval{3, 9});
  CHECK(reach(var(j)) == Interval{0, 5});
  facts.restore(mark);
  facts.assume(*negation(binary(ExprKind::gt, var(i), 4)));
  facts.assume(*at_least(var(j), 7), false);
  CHECK(reach(var(i)) == Interval{0, 4});
  CHECK(reach(var(j)) == Interval{0, 6});
  facts.restore(mark);
  facts.assume(*both(less(var(i), 3), less(var(j), 3)), false);  // one of them may hold
  CHECK(reach(var(i)) == Interval{0, 9});
}

TEST_CASE_FIXTURE(Fixture, "alternatives tell nothing, and unknown variables stay unknown") {
  bind(i, 0, 9);
  facts.assume(*binary(ExprKind::or_, less(var(i), 3), less(var(j), 3)));
  facts.assume(*binary(ExprKind::eq, var(i), 3));
  CHECK(reach(var(i)) == Interval{0, 9});
  facts.assume(*less(var(n), 3));
  CHECK_FALSE(reach(var(n)));
}

TEST_CASE_FIXTURE(Fixture, "loops bind what runs, lets what they stand for") {
  tir::For loop{i, tir::make_int(2), tir::make_int(5), {}};
  facts.bind_loop(loop);
  CHECK(reach(var(i)) == Interval{2, 6});
  facts.bind_value(j, *mul(var(i), 3));
  CHECK(reach(var(j)) == Interval{6, 18});
  CHECK(simple(add(var(j), var(i))) == "i * 4");
  loop.extent = tir::make_int(0);
  facts.bind_loop(loop);
  CHECK_FALSE(reach(var(i)));
  loop.extent = var(n);
  facts.bind_loop(loop);
  CHECK_FALSE(reach(var(i)));
}

TEST_CASE_FIXTURE(Fixture, "loops whose ends are only known roughly bind all that may run") {
  const VarId k = number("k");
  bind(i, 0, 7);
  SUBCASE("the end") {
    facts.bind_loop(std::get<tir::For>(loop_to(k, add(var(i), 1), {}).node));
    CHECK(reach(var(k)) == Interval{0, 7});
  }
  SUBCASE("both") {
    facts.bind_loop(tir::For{k, var(i), add(var(i), 2), {}});
    CHECK(reach(var(k)) == Interval{0, 15});
  }
}

TEST_CASE_FIXTURE(Fixture, "a sum fits if no part of it, in any order, leaves half of the type") {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  bind(i, 0, most);
  bind(j, -most, 0);
  CHECK(facts.fits(*facts.affine(*var(i)), int32_type));
  CHECK(facts.fits(*facts.affine(*var(j)), int32_type));
  CHECK_FALSE(facts.fits(*facts.affine(*add(var(i), 1)), int32_type));
  CHECK_FALSE(facts.fits(*facts.affine(*sub(var(j), 1)), int32_type));
  CHECK_FALSE(facts.fits(*facts.affine(*add(var(i), var(j))), int32_type));
}

TEST_CASE_FIXTURE(Fixture, "sums that grow without end are given up") {
  bind(i, 0, 1000000);
  // Each let holds many quotients of the one before: as a tree, more than anybody can look at.
  VarId before = i;
  for (int level = 0; level < 12; ++level) {
    ExprRef total = var(before);
    for (std::int64_t k = 2; k < 40; ++k) total = add(total, quotient(add(var(before), k), k));
    const VarId next = number("l" + std::to_string(level));
    facts.bind_value(next, *total);
    before = next;
  }
  const auto value = facts.affine(*var(before));
  REQUIRE(value);
  CHECK(value->terms.size() == 1);  // the last let itself, of which nothing is known
}

// --- Against evaluation ----------------------------------------------------------------------------------------------

class RandomIndex {
 public:
  RandomIndex(std::uint32_t seed, std::vector<ExprRef> leaves) : random_(seed), leaves_(std::move(leaves)) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  std::int64_t factor() {
    if (between(0, 30) == 0) return between(0, 2000000000);
    return between(-9, 12);
  }
  // NOLINTNEXTLINE(misc-no-recursion): a few levels
  ExprRef expr(int depth) {
    if (depth == 0) return leaves_[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(leaves_.size()) - 1))];
    const ExprRef a = expr(depth - 1);
    switch (between(0, 6)) {
      case 0:
        return add(a, expr(depth - 1));
      case 1:
        return sub(a, expr(depth - 1));
      case 2:
        return mul(a, factor());
      case 3:
        return quotient(a, between(1, 9));
      case 4:
        return remainder(a, between(1, 9));
      default:
        return add(a, factor());
    }
  }

 private:
  std::mt19937 random_;
  std::vector<ExprRef> leaves_;
};

TEST_CASE_FIXTURE(Fixture, "random indices: sums, intervals, simplification and truth against evaluation") {
  bind(i, 0, 6);
  bind(j, -2, 4);
  std::size_t sums = 0;
  std::size_t decided = 0;
  std::size_t overflowing = 0;
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    CAPTURE(seed);
    RandomIndex random(seed, {var(i), var(j)});
    const ExprRef index = random.expr(4);
    const std::size_t mark = facts.mark();
    const ExprRef condition = less(random.expr(2), random.expr(1));
    if (seed % 2 == 0) facts.assume(*condition);
    const auto value = facts.affine(*index);
    const auto interval = value ? facts.interval(*value) : std::nullopt;
    const ExprRef written = facts.simplified(index);
    const ExprRef comparison = less(index, random.factor());
    const auto truth = facts.truth(*comparison);
    sums += value ? 1U : 0U;
    decided += truth ? 1U : 0U;
    std::string wrong;
    for (std::int64_t x = 0; x <= 6; ++x) {
      for (std::int64_t y = -2; y <= 4; ++y) {
        const std::map<VarId, std::int64_t> values = {{i, x}, {j, y}};
        const auto left = c_value(*condition->operands[0], values);
        const auto right = c_value(*condition->operands[1], values);
        if (seed % 2 == 0 && (!left || !right || *left >= *right)) continue;
        const auto wanted = c_value(*index, values);
        if (!wanted) {
          ++overflowing;
          continue;
        }
        if (c_value(*written, values) != wanted) wrong = "simplified";
        if (interval && (*wanted < interval->low || *wanted > interval->high)) wrong = "interval";
        if (truth && *truth != (*wanted < comparison->operands[1]->int_value)) wrong = "truth";
      }
    }
    CHECK_MESSAGE(wrong.empty(), wrong << ": " << tir::print_expr(module(), *index) << "  ->  "
                                       << tir::print_expr(module(), *written));
    facts.restore(mark);
  }
  CHECK(sums > 3000);
  CHECK(decided > 300);
  CHECK(overflowing > 300);
}

}  // namespace
}  // namespace usmp::transform::testing::facts_test

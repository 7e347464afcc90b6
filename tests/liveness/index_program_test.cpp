// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Index expressions over intervals, against their evaluation at every point.
#include "liveness/index_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tir_support/c_value.hpp"
#include "tir_support/module_builder.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/printer.hpp"

namespace usmp::liveness::testing::index_program_test {
namespace {

using tir::bool_type;
using tir::ExprKind;
using tir::ExprRef;
using tir::int32_type;
using tir::int64_type;
using tir::make_binary;
using tir::make_cast;
using tir::make_int;
using tir::uint8_type;
using tir::VarId;
using namespace tir::testing;  // NOLINT(google-build-using-namespace)

constexpr std::int64_t int32_max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();

bool is_nothing(const IndexRange& interval) { return interval.low == int64_min && interval.high == int64_max; }

ExprRef choice(bool is_lazy, const ExprRef& condition, const ExprRef& yes, const ExprRef& no) {
  return is_lazy ? tir::testing::choice(condition, yes, no) : select(condition, yes, no);
}

// Variables with their intervals, and one program over them.
class Bench : public ModuleBuilder {
 public:
  VarId variable(tir::DataType type, IndexRange values) {
    const VarId var = integer("v" + std::to_string(variables_.size()));
    module().vars[var.index()].type = type;
    variables_.push_back({var, values});
    return var;
  }
  ExprRef variable_of(tir::DataType type, IndexRange values) { return var(variable(type, values)); }

  [[nodiscard]] IndexRange run(const ExprRef& expr) const {
    VariableNumbers numbers;
    IndexProgram program(*expr, numbers);
    const Environment values = environment(numbers);
    const IndexRange range = program.run(values);
    const IndexRange plain = program.run_plainly(values);
    CHECK(range.low == plain.low);
    CHECK(range.high == plain.high);
    return range;
  }

  [[nodiscard]] Environment environment(VariableNumbers& numbers) const {
    Environment result;
    for (const auto& [var, values] : variables_) {
      const std::uint32_t number = numbers.of(var);
      if (result.size() <= number) result.resize(number + 1);
      result[number] = values;
    }
    return result;
  }

  // For each point of the variables' intervals; they must be small.
  template <class Visit>
  void for_each_point(const Visit& visit) const {
    std::map<VarId, std::int64_t> point;
    for (const auto& [var, values] : variables_) point[var] = values.low;
    while (true) {
      visit(std::as_const(point));
      std::size_t next = 0;
      while (next < variables_.size() && point[variables_[next].first] == variables_[next].second.high) {
        point[variables_[next].first] = variables_[next].second.low;
        ++next;
      }
      if (next == variables_.size()) return;
      ++point[variables_[next].first];
    }
  }

 private:
  std::vector<std::pair<VarId, IndexRange>> variables_;
};

// Random expressions of every kind that the program knows.
class Expressions {
 public:
  Expressions(Bench& bench, std::uint32_t seed, std::int64_t widest) : bench_(bench), rng_(seed) {
    for (const tir::DataType type : {int32_type, int32_type, int8_type, uint8_type, u32, int64_type}) {
      const auto range = tir::range_of_type(type);
      std::int64_t low = between(-6, 6);
      if (chance(8)) low = range->high - between(0, 20);
      if (chance(8)) low = range->low + between(0, 20);
      low = std::clamp(low, range->low, range->high - 1);
      // Both ends of int64 stand for "not known".
      if (type == int64_type) low = std::clamp(low, int64_min + 1, int64_max - 20);
      const std::int64_t high = low > range->high - widest ? range->high : low + between(0, widest);
      if (pick_[type.bits + (type.is_int() ? 1 : 0)].size() < 2 && chance(2)) {
        pick_[type.bits + (type.is_int() ? 1 : 0)].push_back(bench.variable_of(type, {low, high}));
      }
    }
  }

  // NOLINTBEGIN(misc-no-recursion): a level at a time, a few of them.
  ExprRef number(tir::DataType type, int depth) {
    if (depth == 0 || chance(8)) return leaf(type);
    switch (between(0, 11)) {
      case 0:
      case 1:
        return make_cast(type, number(one_of({int32_type, int8_type, uint8_type, u32, int64_type}), depth - 1));
      case 2:
        return choice(chance(2), truth(depth - 1), number(type, depth - 1), number(type, depth - 1));
      case 3:
      case 4: {
        const ExprKind kind = one_of({ExprKind::div, ExprKind::mod, ExprKind::floor_div, ExprKind::floor_mod});
        const bool is_usual = !chance(5);
        return make_binary(kind, number(type, depth - 1),
                           is_usual ? make_int(between(1, 7), type) : number(type, depth - 1));
      }
      case 5: {
        const ExprRef shared = number(type, depth - 1);
        return make_binary(one_of(arithmetic), shared, shared);
      }
      default:
        return make_binary(one_of(arithmetic), number(type, depth - 1), number(type, depth - 1));
    }
  }

  ExprRef truth(int depth) {
    if (depth == 0) return make_cast(bool_type, leaf(int32_type));
    switch (between(0, 5)) {
      case 0:
        return negation(truth(depth - 1));
      case 1:
        return make_binary(one_of({ExprKind::and_, ExprKind::or_}), truth(depth - 1), truth(depth - 1));
      default: {
        const tir::DataType type = one_of({int32_type, int8_type, u32, int64_type});
        return make_binary(one_of({ExprKind::lt, ExprKind::le, ExprKind::gt, ExprKind::ge, ExprKind::eq, ExprKind::ne}),
                           number(type, depth - 1), number(type, depth - 1));
      }
    }
  }
  // NOLINTEND(misc-no-recursion)

 private:
  static constexpr std::initializer_list<ExprKind> arithmetic = {ExprKind::add, ExprKind::sub, ExprKind::mul,
                                                                 ExprKind::min, ExprKind::max, ExprKind::add};

  ExprRef leaf(tir::DataType type) {
    const auto& known = pick_[type.bits + (type.is_int() ? 1 : 0)];
    if (!known.empty() && !chance(4)) return known[static_cast<std::size_t>(between(0, 1)) % known.size()];
    const auto range = tir::range_of_type(type);
    return make_int(std::clamp<std::int64_t>(between(-9, 9), range->low, range->high), type);
  }

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(rng_() % static_cast<std::uint32_t>(high - low + 1));
  }
  bool chance(int in) { return between(1, in) == 1; }
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[between(0, static_cast<std::int64_t>(list.size()) - 1)];
  }

  Bench& bench_;
  std::mt19937 rng_;
  std::map<int, std::vector<ExprRef>> pick_;  // variables by type
};

TEST_CASE("random expressions: the interval holds every value that C computes") {
  int known = 0;
  int values = 0;
  int points = 0;
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    Bench bench;
    Expressions expressions(bench, seed, 3);
    const ExprRef expr = seed % 4 == 0 ? expressions.truth(3) : expressions.number(int32_type, 4);
    const IndexRange result = bench.run(expr);
    if (!is_nothing(result)) ++known;
    std::set<std::int64_t> taken;
    bench.for_each_point([&](const std::map<VarId, std::int64_t>& point) {
      const auto value = c_value(*expr, point);
      if (value) taken.insert(*value);
      ++points;
    });
    values += static_cast<int>(taken.size());
    if (taken.empty() || (result.low <= *taken.begin() && *taken.rbegin() <= result.high)) continue;
    CAPTURE(seed);
    FAIL_CHECK(tir::print_expr(bench.module(), *expr), " gives [", result.low, ", ", result.high, "], but takes ",
               *taken.begin(), " and ", *taken.rbegin());
  }
  CHECK(known > 2000);
  CHECK(values > 5000);
  CHECK(points > 40000);
}

TEST_CASE("random expressions: one value for each variable gives one value") {
  int exact = 0;
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    Bench bench;
    Expressions expressions(bench, seed, 0);
    const ExprRef expr = seed % 4 == 0 ? expressions.truth(3) : expressions.number(int32_type, 4);
    bench.for_each_point([&](const std::map<VarId, std::int64_t>& point) {
      bool is_plain = true;
      const auto value = c_value(*expr, point, &is_plain);
      if (!is_plain) return;
      ++exact;
      const IndexRange result = bench.run(expr);
      CAPTURE(seed);
      CAPTURE(tir::print_expr(bench.module(), *expr));
      CHECK(result.low == *value);
      CHECK(result.high == *value);
    });
  }
  CHECK(exact > 1500);
}

// `expr` of one variable in an interval.
void check_interval(const ExprRef& expr, const Bench& bench, std::int64_t low, std::int64_t high) {
  const IndexRange result = bench.run(expr);
  CAPTURE(tir::print_expr(bench.module(), *expr));
  CHECK(result.low == low);
  CHECK(result.high == high);
}

TEST_CASE("sums of variables that occur once are exact") {
  Bench bench;
  const ExprRef i = bench.variable_of(int32_type, {2, 5});
  const ExprRef j = bench.variable_of(int32_type, {-3, 4});
  check_interval(make_binary(ExprKind::add, mul(i, 3), mul(j, -2)), bench, 6 - 8, 15 + 6);
  check_interval(make_binary(ExprKind::sub, mul(i, 3), mul(j, 2)), bench, 6 - 8, 15 + 6);
  check_interval(make_binary(ExprKind::mul, i, j), bench, -15, 20);
  check_interval(make_binary(ExprKind::min, i, j), bench, -3, 4);
  check_interval(make_binary(ExprKind::max, i, j), bench, 2, 5);
}

TEST_CASE("sums at once: as one by one") {
  Bench bench;
  const ExprRef i = bench.variable_of(int32_type, {2, 5});
  const ExprRef j = bench.variable_of(int32_type, {-30000, 30000});
  const ExprRef sum = make_binary(ExprKind::add, mul(i, 100), j);
  check_interval(make_binary(ExprKind::sub, i, i), bench, -3, 3);
  check_interval(make_binary(ExprKind::sub, mul(i, 3), mul(i, -2)), bench, 10, 25);
  check_interval(make_binary(ExprKind::mul, make_binary(ExprKind::sub, i, j), make_int(-4)), bench, -120'020, 119'992);
  check_interval(make_binary(ExprKind::floor_div, make_binary(ExprKind::add, mul(i, 8), i), make_int(5)), bench, 3, 9);
  // The whole is in its type, a part is not.
  const ExprRef product = mul(j, 100'000);
  CHECK(is_nothing(bench.run(product)));
  CHECK(is_nothing(bench.run(make_binary(ExprKind::add, product, i))));
  const ExprRef narrow = make_cast(int8_type, sum);
  CHECK(is_nothing(bench.run(narrow)));
  CHECK(is_nothing(bench.run(make_binary(ExprKind::sub, narrow, sum))));
  check_interval(make_cast(int8_type, mul(i, 25)), bench, 50, 125);
  CHECK(is_nothing(bench.run(make_cast(int8_type, mul(i, 26)))));
}

TEST_CASE("quotients and remainders within one period are exact, of several the whole period") {
  const auto of = [](ExprKind kind, IndexRange values, std::int64_t by) {
    Bench bench;
    const ExprRef i = bench.variable_of(int32_type, values);
    const IndexRange result = bench.run(make_binary(kind, i, make_int(by)));
    return std::pair(result.low, result.high);
  };
  CHECK(of(ExprKind::floor_div, {-5, 9}, 4) == std::pair<std::int64_t, std::int64_t>(-2, 2));
  CHECK(of(ExprKind::div, {-5, 9}, 4) == std::pair<std::int64_t, std::int64_t>(-1, 2));
  CHECK(of(ExprKind::floor_mod, {9, 11}, 4) == std::pair<std::int64_t, std::int64_t>(1, 3));
  CHECK(of(ExprKind::floor_mod, {-7, -6}, 4) == std::pair<std::int64_t, std::int64_t>(1, 2));
  CHECK(of(ExprKind::floor_mod, {7, 8}, 4) == std::pair<std::int64_t, std::int64_t>(0, 3));
  CHECK(of(ExprKind::mod, {9, 11}, 4) == std::pair<std::int64_t, std::int64_t>(1, 3));
  CHECK(of(ExprKind::mod, {7, 8}, 4) == std::pair<std::int64_t, std::int64_t>(0, 3));
  CHECK(of(ExprKind::mod, {-7, -6}, 4) == std::pair<std::int64_t, std::int64_t>(-3, -2));
  CHECK(of(ExprKind::mod, {-7, 6}, 4) == std::pair<std::int64_t, std::int64_t>(-3, 3));
  for (const ExprKind kind : {ExprKind::div, ExprKind::mod, ExprKind::floor_div, ExprKind::floor_mod}) {
    for (const std::int64_t by : {0, -2}) CHECK(of(kind, {4, 5}, by) == std::pair(int64_min, int64_max));
  }
}

TEST_CASE("remainders at the ends of int64 do not overflow") {
  Bench bench;
  const ExprRef low = bench.variable_of(int64_type, {int64_min + 2, int64_min + 4});
  // The lowest number is 192 above a multiple of 1000, which int64 does not have.
  const IndexRange rest = bench.run(make_binary(ExprKind::floor_mod, low, make_int(1000, int64_type)));
  CHECK(rest.low <= 194);
  CHECK(rest.high >= 196);
  check_interval(make_binary(ExprKind::floor_mod, low, make_int(int64_max - 1, int64_type)), bench, 0, 2);
}

TEST_CASE("what is not known stays so, but where it makes no difference") {
  Bench bench;
  const ExprRef i = bench.variable_of(int32_type, {2, 5});
  const VarId storage = bench.pointer("storage", int32_type);
  const ExprRef unknown = bench.load(storage, i);
  const VarId free = bench.integer("free");  // not in the environment
  for (const ExprRef& nothing : {unknown, bench.var(free), bench.variable_of(u64, {1, 2}), make_int(1, u64),
                                 tir::make_call(int32_type, "tir.shift_left", {i, i}),
                                 make_cast(int32_type, tir::make_float(1, tir::testing::float32_type))}) {
    CAPTURE(tir::print_expr(bench.module(), *nothing));
    CHECK(is_nothing(bench.run(nothing)));
    for (const ExprKind kind : {ExprKind::add, ExprKind::sub, ExprKind::mul, ExprKind::div, ExprKind::floor_mod,
                                ExprKind::min, ExprKind::max}) {
      CHECK(is_nothing(bench.run(make_binary(kind, make_cast(int32_type, nothing), i))));
      CHECK(is_nothing(bench.run(make_binary(kind, i, make_cast(int32_type, nothing)))));
    }
    check_interval(make_binary(ExprKind::lt, nothing, make_int(0, nothing->type)), bench, 0, 1);
    check_interval(make_binary(ExprKind::ne, nothing, make_int(0, nothing->type)), bench, 0, 1);
    check_interval(negation(make_cast(bool_type, nothing)), bench, 0, 1);
  }
  const ExprRef yes = make_binary(ExprKind::lt, i, make_int(6));
  const ExprRef no = make_binary(ExprKind::gt, i, make_int(5));
  const ExprRef open = make_binary(ExprKind::gt, i, make_int(4));
  for (const bool is_lazy : {false, true}) {
    check_interval(choice(is_lazy, yes, i, unknown), bench, 2, 5);
    check_interval(choice(is_lazy, no, unknown, i), bench, 2, 5);
    check_interval(choice(is_lazy, open, i, make_int(9)), bench, 2, 9);
    CHECK(is_nothing(bench.run(choice(is_lazy, open, i, unknown))));
    CHECK(is_nothing(bench.run(choice(is_lazy, open, unknown, i))));
  }
}

TEST_CASE("comparisons and logic: certain where the intervals say so") {
  Bench bench;
  const ExprRef low = bench.variable_of(int32_type, {1, 3});
  const ExprRef high = bench.variable_of(int32_type, {3, 5});
  const auto sure = [&](ExprKind kind, const ExprRef& a, const ExprRef& b, std::int64_t from, std::int64_t to) {
    check_interval(make_binary(kind, a, b), bench, from, to);
  };
  sure(ExprKind::le, low, high, 1, 1);
  sure(ExprKind::lt, low, high, 0, 1);
  sure(ExprKind::gt, low, high, 0, 0);
  sure(ExprKind::ge, low, high, 0, 1);
  sure(ExprKind::lt, high, low, 0, 0);
  sure(ExprKind::eq, low, high, 0, 1);
  sure(ExprKind::eq, low, make_int(4), 0, 0);
  sure(ExprKind::ne, make_int(0), low, 1, 1);
  sure(ExprKind::ne, low, low, 0, 1);
  sure(ExprKind::eq, make_int(4), make_int(4), 1, 1);
  const ExprRef yes = make_binary(ExprKind::le, low, high);
  const ExprRef no = negation(yes);
  const ExprRef open = make_binary(ExprKind::lt, low, high);
  check_interval(no, bench, 0, 0);
  check_interval(negation(no), bench, 1, 1);
  sure(ExprKind::and_, yes, yes, 1, 1);
  sure(ExprKind::and_, yes, open, 0, 1);
  sure(ExprKind::and_, open, no, 0, 0);
  sure(ExprKind::and_, no, open, 0, 0);
  sure(ExprKind::or_, no, no, 0, 0);
  sure(ExprKind::or_, open, yes, 1, 1);
  sure(ExprKind::or_, yes, open, 1, 1);
  sure(ExprKind::or_, open, no, 0, 1);
}

TEST_CASE("what may leave its type is not known: of narrow types that is int") {
  Bench bench;
  const ExprRef top = bench.variable_of(int32_type, {int32_max - 1, int32_max});
  check_interval(make_binary(ExprKind::add, top, make_int(0)), bench, int32_max - 1, int32_max);
  CHECK(is_nothing(bench.run(make_binary(ExprKind::add, top, make_int(1)))));
  CHECK(is_nothing(bench.run(make_binary(ExprKind::mul, top, make_int(2)))));
  const ExprRef wide = make_cast(int64_type, top);
  check_interval(make_binary(ExprKind::add, wide, make_int(1, int64_type)), bench, int32_max, int32_max + 1);
  const ExprRef large = make_int(int64_max / 2, int64_type);
  CHECK(is_nothing(bench.run(make_binary(ExprKind::mul, large, make_int(3, int64_type)))));
  CHECK(is_nothing(bench.run(make_binary(ExprKind::sub, make_binary(ExprKind::sub, make_int(0, int64_type), large),
                                         make_binary(ExprKind::add, large, make_int(5, int64_type))))));
  const ExprRef small = bench.variable_of(u32, {1, 3});
  CHECK(is_nothing(bench.run(make_binary(ExprKind::sub, small, make_int(2, u32)))));
  const ExprRef byte = bench.variable_of(int8_type, {100, 120});
  const ExprRef sum = make_binary(ExprKind::add, byte, make_int(10, int8_type));
  check_interval(sum, bench, 110, 130);
  CHECK(is_nothing(bench.run(make_cast(int8_type, sum))));
  check_interval(make_cast(uint8_type, sum), bench, 110, 130);
  CHECK(is_nothing(bench.run(make_cast(bool_type, sum))));
  check_interval(make_cast(bool_type, make_binary(ExprKind::sub, small, make_int(1, u32))), bench, int64_min,
                 int64_max);
}

TEST_CASE("vectors are not known") {
  Bench bench;
  const ExprRef i = bench.variable_of(int32_type, {2, 5});
  CHECK(is_nothing(bench.run(make_operator(ExprKind::ramp, int32_type.with_lanes(4), {i, make_int(1)}))));
}

TEST_CASE("shared expressions are computed once") {
  Bench bench;
  ExprRef expr = bench.variable_of(int32_type, {2, 5});
  for (int i = 0; i < 200; ++i) expr = make_binary(i % 2 == 0 ? ExprKind::max : ExprKind::min, expr, expr);
  VariableNumbers numbers;
  IndexProgram program(*expr, numbers);
  CHECK(program.size() == 201);
  CHECK(program.run(bench.environment(numbers)).high == 5);
}

TEST_CASE("a program runs anew with other values") {
  Bench bench;
  const VarId i = bench.variable(int32_type, {0, 0});
  VariableNumbers numbers;
  IndexProgram program(*make_binary(ExprKind::mul, bench.var(i), make_int(3)), numbers);
  IndexProgram other(*make_binary(ExprKind::add, bench.var(i), make_int(1)), numbers);
  CHECK(numbers.size() == 1);
  for (const std::int64_t value : {4, -7, 4}) {
    CHECK(program.run({IndexRange{value, value + 1}}).high == 3 * value + 3);
    CHECK(other.run({IndexRange{value, value + 1}}).low == value + 1);
  }
  CHECK(is_nothing(program.run({})));
}

}  // namespace
}  // namespace usmp::liveness::testing::index_program_test

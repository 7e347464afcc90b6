// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Interval analysis against brute force: every value that an expression takes lies in its range.
#include "usmp/arith/ranges.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <map>
#include <random>

#include "tir_support/c_value.hpp"
#include "tir_support/expressions.hpp"
#include "usmp/tir/builder.hpp"
#include "usmp/tir/integer_types.hpp"

namespace usmp::arith::ranges_test {
namespace {

using namespace tir;           // NOLINT(google-build-using-namespace)
using namespace tir::testing;  // NOLINT(google-build-using-namespace)

class Variables {
 public:
  VarId var(std::string name, DataType type) {
    module_.vars.push_back({std::move(name), type, {}, {}});
    return VarId(module_.vars.size() - 1);
  }
  [[nodiscard]] ExprRef ref(VarId id) const { return make_var(module_, id); }

 private:
  Module module_;
};

class Generator {
 public:
  Generator(Variables& program, DataType type, std::mt19937& random)
      : program_(program), type_(type), random_(random) {}

  ExprRef expr(const std::vector<VarId>& vars, int depth) {
    if (depth == 0 || pick(5) == 0) {
      if (pick(3) != 0) return program_.ref(vars[pick(vars.size())]);
      return imm(static_cast<std::int64_t>(pick(9)) - (type_.is_uint() ? 0 : 3), type_);
    }
    const auto sub = [&] { return expr(vars, depth - 1); };
    static constexpr std::array kinds = {ExprKind::add,       ExprKind::sub, ExprKind::mul,
                                         ExprKind::div,       ExprKind::mod, ExprKind::floor_div,
                                         ExprKind::floor_mod, ExprKind::min, ExprKind::max};
    switch (pick(13)) {
      case 0: {
        ExprRef condition = make_cast(bool_type, imm(static_cast<std::int64_t>(pick(2))));
        return select(std::move(condition), sub(), sub());
      }
      case 1:
        return make_cast(type_, make_cast(pick(2) == 0 ? i8 : u8, sub()));
      case 2:
        return op("bitwise_and", type_, {sub(), imm(static_cast<std::int64_t>(pick(16)), type_)});
      case 3:
        return op("shift_right", type_, {sub(), imm(static_cast<std::int64_t>(pick(4)), type_)});
      case 4:
        return op("likely", type_, {sub()});
      case 5:
        return op("bitwise_not", type_, {sub()});
      default:
        return make_binary(kinds[pick(kinds.size())], sub(), sub());
    }
  }

 private:
  std::size_t pick(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  Variables& program_;
  DataType type_;
  std::mt19937& random_;
};

TEST_CASE("every value lies in the range") {
  std::mt19937 random(1);
  Variables program;
  std::size_t tight = 0;
  for (int round = 0; round < 3000; ++round) {
    const DataType type = std::array{i32, i64, i8, u8, u32, i16}[static_cast<std::size_t>(round) % 6];
    const VarId i = program.var("i", type);
    const VarId j = program.var("j", type);
    Ranges ranges;
    const std::int64_t first = type.is_uint() ? 1 : -2;
    ranges.bind_loop(i, *imm(first, type), *imm(5, type));
    ranges.bind(j, Interval{0, 3});
    const ExprRef expr = Generator(program, type, random).expr({i, j}, 4);
    const auto range = ranges.of(*expr);
    REQUIRE(range);
    bool reached = false;
    for (std::int64_t a = first; a < first + 5; ++a) {
      for (std::int64_t b = 0; b < 4; ++b) {
        const auto value = c_value(*expr, {{i, a}, {j, b}});
        if (!value) continue;
        CHECK(*value >= range->low);
        CHECK(*value <= range->high);
        reached = reached || *value == range->high;
        if (*value < 0) CHECK(!ranges.never_negative(*expr));
      }
    }
    tight += reached ? 1 : 0;
  }
  CHECK(tight > 1000);  // not simply everything
}

TEST_CASE("index arithmetic as TVM writes it is known to be non-negative") {
  Variables program;
  const VarId outer = program.var("ax0_ax1_fused", i32);
  const VarId inner = program.var("ax2", i32);
  Ranges ranges;
  ranges.bind_loop(outer, *imm(0), *imm(1024));
  ranges.bind_loop(inner, *imm(0), *imm(7));
  const ExprRef index =
      add(mul(make_binary(ExprKind::floor_div, program.ref(outer), imm(7)), imm(3)), program.ref(inner));
  CHECK(ranges.of(*index) == Interval{0, 146 * 3 + 6});
  CHECK(ranges.never_negative(*index));
  CHECK_FALSE(ranges.never_negative(*add(index, imm(-1))));
  CHECK(ranges.of(*make_binary(ExprKind::floor_mod, index, imm(7))) == Interval{0, 6});
}

TEST_CASE("what is not known") {
  Variables program;
  const VarId n = program.var("n", i64);
  const VarId u = program.var("u", u64);
  Ranges ranges;
  CHECK(ranges.of(*program.ref(n)) == range_of_type(i64));
  CHECK(ranges.of(*mul(program.ref(n), program.ref(n))) == range_of_type(i64));
  CHECK_FALSE(ranges.of(*program.ref(u)));
  CHECK(ranges.never_negative(*program.ref(u)));
  CHECK(ranges.of(*imm(7, u64)) == Interval{7, 7});
  CHECK_FALSE(ranges.of(*imm(-1, u64)));
  CHECK_FALSE(ranges.of(*make_float(1, type_of(TypeCode::float_, 32))));
  const VarId i = program.var("i", i32);
  ranges.bind_loop(i, *imm(0), *program.ref(n));
  CHECK(ranges.of(*program.ref(i)) == Interval{0, std::numeric_limits<std::int32_t>::max()});
  ranges.bind_loop(i, *program.ref(n), *imm(4));
  CHECK(ranges.of(*program.ref(i)) == range_of_type(i32));
}

TEST_CASE("a variable bound again forgets what was derived from it") {
  Variables program;
  const VarId i = program.var("i", i32);
  const ExprRef next = mul(add(program.ref(i), imm(1)), imm(2));
  Ranges ranges;
  ranges.bind_loop(i, *imm(0), *imm(4));
  CHECK(ranges.of(*next) == Interval{2, 8});
  ranges.bind_loop(i, *imm(-5), *imm(3));
  CHECK(ranges.of(*next) == Interval{-8, -4});
}

TEST_CASE("elements of a storage are known by their type alone") {
  Variables program;
  const VarId storage = program.var("table", handle_type);
  const ExprRef wide = make_load(i32, storage, imm(0));
  const ExprRef sum = add(wide, imm(1));
  Ranges ranges;
  CHECK(ranges.of(*sum) == Interval{range_of_type(i32)->low + 1, range_of_type(i32)->high});
  ranges.bind_storage(storage, i32, Interval{-3, 9});
  CHECK(ranges.of(*sum) == Interval{-2, 10});
  CHECK(ranges.of(*make_load(i8, storage, imm(0))) == range_of_type(i8));
  CHECK(ranges.of(*make_load(i32, program.var("other", handle_type), imm(0))) == range_of_type(i32));
}

// What the emitted C computes; see q_multiply_shift_text and round_shift_text of codegen.
std::int64_t q_multiply_shift(std::int64_t x, std::int64_t y, std::int64_t q, std::int64_t s) {
  if (y == std::int64_t{1} << 30) {
    if (s >= 1) return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << (s - 1));
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) + (1U << -s)) >> (1 - s);
  }
  const std::int64_t shift = (s > 0 ? 0 : -s) + q;
  const std::uint64_t shifted = static_cast<std::uint64_t>(x) << (s > 0 ? s : 0);
  const std::uint64_t sum = shifted * static_cast<std::uint64_t>(y) + (std::uint64_t{1} << (shift - 1));
  return static_cast<std::int32_t>(static_cast<std::int64_t>(sum) >> shift);
}

TEST_CASE("constants of narrow types are computed as TVM's C computes them") {
  Ranges ranges;
  const auto value = [&](const ExprRef& expr) { return ranges.constant(*expr); };
  const auto sum = [&](DataType type, std::int64_t a, std::int64_t b) {
    return make_binary(ExprKind::add, imm(a, type), imm(b, type));
  };
  CHECK(value(sum(i8, 100, 100)) == 200);
  CHECK(value(make_binary(ExprKind::max, sum(i8, 100, 100), imm(0, i8))) == 0);
  CHECK(value(make_binary(ExprKind::min, imm(7, u8), make_binary(ExprKind::sub, imm(1, u8), imm(2, u8)))) == 7);
  CHECK(value(make_cast(i32, make_binary(ExprKind::max, sum(i16, -32768, -1), imm(5, i16)))) == 32767);
  CHECK(value(op("bitwise_not", u8, {imm(0, u8)})) == -1);
  CHECK(value(op("shift_right", u8, {op("bitwise_not", u8, {imm(36, u8)}), imm(2, u8)})) == -10);
  CHECK(value(op("shift_left", i8, {imm(100, i8), imm(2, i8)})) == 400);
  CHECK(value(make_cast(i8, op("shift_left", i8, {imm(100, i8), imm(2, i8)}))) == -112);
}

TEST_CASE("fixed-point products by constants lie between those of the ends") {
  std::mt19937 random(2);
  Variables program;
  const VarId i = program.var("i", i32);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  std::size_t known = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::int64_t reach = std::int64_t{1} << pick(3, 31);
    const std::int64_t low = pick(-reach, reach - 1);
    const std::int64_t high = pick(low, reach - 1);
    const std::int64_t factor =
        pick(0, 3) == 0 ? std::int64_t{1} << 30 : pick(-(std::int64_t{1} << 31), (std::int64_t{1} << 31) - 1);
    const std::int64_t q = pick(0, 5) == 0 ? 15 : 31;
    const std::int64_t shift = pick(-20, 6);
    if (factor == std::int64_t{1} << 30 && q != 31) continue;
    Ranges ranges;
    ranges.bind(i, Interval{low, high});
    const std::vector<ExprRef> operands = {program.ref(i), imm(factor), imm(q), imm(shift)};
    const ExprRef expr = make_call(i32, fixed_point_op(operands), operands);
    const auto range = ranges.of(*expr);
    REQUIRE(range);
    if (range != range_of_type(i32)) ++known;
    for (int value = 0; value < 8; ++value) {
      const std::int64_t x = value == 0 ? low : value == 1 ? high : pick(low, high);
      const std::int64_t y = q_multiply_shift(x, factor, q, shift);
      CHECK(y >= range->low);
      CHECK(y <= range->high);
    }
  }
  CHECK(known > 1000);
  // By one half, near the top, what is added for rounding wraps.
  const std::int64_t top = (std::int64_t{1} << 31) - 1;
  for (std::int64_t shift = 0; shift >= -20; --shift) {
    CAPTURE(shift);
    for (const std::int64_t distance : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << -shift}) {
      Ranges near_top;
      near_top.bind(i, Interval{0, top - distance});
      const auto range = near_top.of(*make_call(i32, Op::q_multiply_shift_half,
                                                {program.ref(i), imm(std::int64_t{1} << 30), imm(31), imm(shift)}));
      REQUIRE(range);
      const std::int64_t y = q_multiply_shift(top - distance, std::int64_t{1} << 30, 31, shift);
      CHECK(y >= range->low);
      CHECK(y <= range->high);
    }
  }
  Ranges ranges;
  ranges.bind(i, Interval{-255, 255});
  CHECK(ranges.of(*op("q_multiply_shift", i32, {program.ref(i), imm(1660533717), imm(31), imm(0)})) ==
        Interval{-197, 197});
  CHECK(ranges.of(*op("q_multiply_shift", i32, {program.ref(i), program.ref(i), imm(31), imm(0)})) ==
        range_of_type(i32));
}

}  // namespace
}  // namespace usmp::arith::ranges_test

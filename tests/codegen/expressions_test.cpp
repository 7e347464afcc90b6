// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Every expression kind and operator, compiled and run: the values are those of TVM's C, computed here.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#include "codegen/case_program.hpp"
#include "usmp/tir/builder.hpp"

namespace usmp::codegen::testing::expressions_test {
namespace {

constexpr std::int32_t int_min = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t int_max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t long_min = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t long_max = std::numeric_limits<std::int64_t>::max();
constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <class T, class F>
auto map(const std::vector<T>& values, F function) {
  std::vector<decltype(function(values[0]))> result;
  for (const T& value : values) result.push_back(function(value));
  return result;
}

template <class T, class F>
auto zip(const std::vector<T>& a, const std::vector<T>& b, F function) {
  std::vector<decltype(function(a[0], b[0]))> result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(function(a[i], b[i]));
  return result;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const auto quotient =
      static_cast<std::int64_t>(std::floor(static_cast<long double>(a) / static_cast<long double>(b)));
  return quotient;
}

TEST_CASE("integer arithmetic, division and comparison") {
  CaseProgram program;
  const std::vector<std::int32_t> a = {0, 1, -1, 7, -7, 100, -100, 12345, -12345, 6};
  const std::vector<std::int32_t> b = {1, -1, 3, 2, 2, -7, 7, 100, -100, -6};
  const auto check = [&](const char* name, ExprKind kind, auto expected) {
    program.elementwise(name, {ints(a), ints(b)}, ints(zip(a, b, expected)),
                        [&](const auto& x) { return binary(kind, x[0], x[1]); });
  };
  check("add", ExprKind::add, [](std::int32_t x, std::int32_t y) { return x + y; });
  check("sub", ExprKind::sub, [](std::int32_t x, std::int32_t y) { return x - y; });
  const auto nested = [&](const char* name, ExprKind outer, ExprKind inner, auto expected) {
    program.elementwise(name, {ints(a), ints(b)}, ints(zip(a, b, expected)),
                        [&](const auto& x) { return binary(outer, x[0], binary(inner, x[1], x[0])); });
  };
  nested("a - (b - a)", ExprKind::sub, ExprKind::sub, [](std::int32_t x, std::int32_t y) { return x - (y - x); });
  nested("a - (b + a)", ExprKind::sub, ExprKind::add, [](std::int32_t x, std::int32_t y) { return x - (y + x); });
  nested("a + (b - a)", ExprKind::add, ExprKind::sub, [](std::int32_t x, std::int32_t y) { return x + (y - x); });
  check("mul", ExprKind::mul, [](std::int32_t x, std::int32_t y) { return x * y; });
  check("div", ExprKind::div, [](std::int32_t x, std::int32_t y) { return x / y; });
  check("mod", ExprKind::mod, [](std::int32_t x, std::int32_t y) { return x % y; });
  check("min", ExprKind::min, [](std::int32_t x, std::int32_t y) { return std::min(x, y); });
  check("max", ExprKind::max, [](std::int32_t x, std::int32_t y) { return std::max(x, y); });
  check("floordiv", ExprKind::floor_div,
        [](std::int32_t x, std::int32_t y) { return static_cast<std::int32_t>(floor_div(x, y)); });
  check("floormod", ExprKind::floor_mod,
        [](std::int32_t x, std::int32_t y) { return static_cast<std::int32_t>(x - floor_div(x, y) * y); });
  for (const std::int32_t divisor : {1, 2, 64, 3, 100, -3}) {
    program.elementwise("floordiv by " + std::to_string(divisor), {ints(a)},
                        ints(map(a, [&](auto x) { return static_cast<std::int32_t>(floor_div(x, divisor)); })),
                        [&](const auto& x) { return binary(ExprKind::floor_div, x[0], imm(divisor)); });
    program.elementwise(
        "floormod by " + std::to_string(divisor), {ints(a)},
        ints(map(a, [&](auto x) { return static_cast<std::int32_t>(x - floor_div(x, divisor) * divisor); })),
        [&](const auto& x) { return binary(ExprKind::floor_mod, x[0], imm(divisor)); });
  }
  const std::vector<std::int64_t> wide = {long_min, long_max, -5, 5, 0};
  program.elementwise(
      "floordiv int64", {ints64(wide)}, ints64(map(wide, [](auto x) { return floor_div(x / 3, 7); })),
      [](const auto& x) { return binary(ExprKind::floor_div, binary(ExprKind::div, x[0], imm(3, i64)), imm(7, i64)); });
  const auto compare = [&](const char* name, ExprKind kind, auto expected) {
    program.elementwise(name, {ints(a), ints(b)},
                        bools(zip(a, b, [&](auto x, auto y) -> std::uint8_t { return expected(x, y) ? 1 : 0; })),
                        [&](const auto& x) { return binary(kind, x[0], x[1]); });
  };
  compare("eq", ExprKind::eq, [](auto x, auto y) { return x == y; });
  compare("ne", ExprKind::ne, [](auto x, auto y) { return x != y; });
  compare("lt", ExprKind::lt, [](auto x, auto y) { return x < y; });
  compare("le", ExprKind::le, [](auto x, auto y) { return x <= y; });
  compare("gt", ExprKind::gt, [](auto x, auto y) { return x > y; });
  compare("ge", ExprKind::ge, [](auto x, auto y) { return x >= y; });
  // Parentheses: every operator inside every other.
  const std::array kinds = {ExprKind::add, ExprKind::sub, ExprKind::mul, ExprKind::div, ExprKind::mod};
  const auto apply = [](ExprKind kind, std::int32_t x, std::int32_t y) {
    switch (kind) {
      case ExprKind::add:
        return x + y;
      case ExprKind::sub:
        return x - y;
      case ExprKind::mul:
        return x * y;
      case ExprKind::div:
        return x / y;
      default:
        return x % y;
    }
  };
  const std::vector<std::int32_t> p = {17, -23};
  const std::vector<std::int32_t> q = {5, 4};
  for (const ExprKind outer : kinds) {
    for (const ExprKind inner : kinds) {
      const bool quotient = inner == ExprKind::mod || inner == ExprKind::sub || inner == ExprKind::div;
      program.elementwise("left nesting", {ints(p), ints(q)},
                          ints(zip(p, q, [&](auto x, auto y) { return apply(outer, apply(inner, x, y), 2); })),
                          [&](const auto& x) { return binary(outer, binary(inner, x[0], x[1]), imm(2)); });
      const std::int32_t shift = quotient ? 29 : 0;  // no division by zero
      program.elementwise(
          "right nesting", {ints(p), ints(q)},
          ints(zip(p, q, [&](auto x, auto y) { return apply(outer, x, apply(inner, x + shift, y)); })),
          [&](const auto& x) { return binary(outer, x[0], binary(inner, add(x[0], imm(shift)), x[1])); });
    }
  }
  program.run();
}

TEST_CASE("literals, widths and promotion") {
  CaseProgram program;
  const auto literal = [&](const char* name, const Data& expected, const std::vector<ExprRef>& values) {
    program.operation(name, {}, expected, [&](const auto&, VarId out) {
      Block body;
      for (std::size_t i = 0; i < values.size(); ++i) body.push_back(store(out, imm(static_cast<int>(i)), values[i]));
      return body;
    });
  };
  literal("int32", ints({int_min, int_max, 0, -1}), {imm(int_min), imm(int_max), imm(0), imm(-1)});
  literal("int64", ints64({long_min, long_max, int_min, -3, 1LL << 40}),
          {imm(long_min, i64), imm(long_max, i64), imm(int_min, i64), imm(-3, i64), imm(1LL << 40, i64)});
  literal("int8", ints8({-128, 127}), {imm(-128, i8), imm(127, i8)});
  literal("uint8", data<std::uint8_t>(u8, {255, 0}), {imm(255, u8), imm(0, u8)});
  literal("uint32", data<std::uint32_t>(u32, {4294967295U, 3000000000U}), {imm(4294967295, u32), imm(3000000000, u32)});
  literal("uint64", data<std::uint64_t>(u64, {~0ULL, 5, 1ULL << 63}),
          {imm(-1, u64), imm(5, u64), op("large_uint_imm", u64, {imm(0, u64), imm(1LL << 31, u64)})});
  literal("bool", bools({1, 0}), {imm(1, boolean), imm(0, boolean)});
  literal("float32", floats({0.1F, -2.5F, 1e20F, 3.0F, inf, -inf, nan, -0.0F, 1.17549435e-38F, 16777216.0F}),
          {fimm(0.1), fimm(-2.5), fimm(1e20), fimm(3), fimm(inf), fimm(-inf), fimm(nan), fimm(-0.0),
           fimm(1.17549435e-38), fimm(16777216)});
  // A double that is no float is rounded first: half of the result must not be rounded again.
  literal("float32 that is rounded", floats({0.1F * 3.0F, inf, std::numeric_limits<float>::max()}),
          {mul(fimm(0.1), fimm(3)), fimm(1e39), fimm(3.4028234e38)});
  literal("float64", doubles({0.1, -1e300, 5, std::numeric_limits<double>::infinity()}),
          {fimm(0.1, f64), fimm(-1e300, f64), fimm(5, f64), fimm(inf, f64)});
  // Arithmetic of the operand's width, whatever the literal looks like.
  const std::vector<std::int64_t> big = {1LL << 33, -(1LL << 35)};
  program.elementwise("int64 with short literals", {ints64(big)}, ints64(map(big, [](auto x) { return x * 8 - 3; })),
                      [](const auto& x) { return add(mul(x[0], imm(8, i64)), imm(-3, i64)); });
  literal("int64 of literals only", ints64({3000000000LL * 4, 1LL << 32}),
          {mul(imm(3000000000, i64), imm(4, i64)), mul(imm(65536, i64), imm(65536, i64))});
  literal("constants wrap", ints({int_min, int_max}),
          {add(imm(int_max), imm(1)), binary(ExprKind::sub, imm(int_min), imm(1))});
  const std::vector<std::uint32_t> u = {0, 1, 4294967295U};
  program.elementwise("uint32 wraps", {data(u32, u)}, data(u32, map(u, [](auto x) { return x - 1U; })),
                      [](const auto& x) { return binary(ExprKind::sub, x[0], imm(1, u32)); });
  program.elementwise("uint32 compares unsigned", {data(u32, u)}, bools({0, 0, 1}),
                      [](const auto& x) { return binary(ExprKind::gt, x[0], imm(2147483648LL, u32)); });
  const std::vector<std::int8_t> narrow = {127, -128, 5};
  program.elementwise("int8 is promoted", {ints8(narrow)}, ints({127 + 127, -256, 10}),
                      [](const auto& x) { return tir::make_cast(i32, add(x[0], x[0])); });
  program.elementwise("int8 is cut when stored", {ints8(narrow)}, ints8({-2, 0, 10}),
                      [](const auto& x) { return add(x[0], x[0]); });
  program.elementwise("int8 sum with the least number is promoted", {ints8(narrow)}, ints8({0, -64, -30}),
                      [](const auto& x) { return binary(ExprKind::div, add(x[0], imm(-128, i8)), imm(4, i8)); });
  program.elementwise(
      "int8 difference from the least number is promoted", {ints8(narrow)}, ints8({63, 0, 33}),
      [](const auto& x) { return binary(ExprKind::div, binary(ExprKind::sub, x[0], imm(-128, i8)), imm(4, i8)); });
  const std::vector<std::uint8_t> bytes = {0, 200, 255};
  program.elementwise("uint8 difference is promoted", {data(u8, bytes)}, bools({1, 0, 0}), [](const auto& x) {
    return binary(ExprKind::lt, binary(ExprKind::sub, x[0], imm(1, u8)), imm(0, u8));
  });
  program.run();
}

// What TVM's own C computed on these inputs: int8_t v_ = a + b; v_ > 0 ? v_ : 0.
TEST_CASE("operands of min and max are cut to their type, what other operators take is not") {
  CaseProgram program;
  const auto max = [](const ExprRef& a, const ExprRef& b) { return binary(ExprKind::max, a, b); };
  const auto min = [](const ExprRef& a, const ExprRef& b) { return binary(ExprKind::min, a, b); };
  const std::vector<std::int8_t> a = {-100, 100, -3, 127};
  const std::vector<std::int8_t> b = {-64, 100, 0, 1};
  program.elementwise("relu of a sum", {ints8(a), ints8(b)}, ints8({92, 0, 0, 0}),
                      [&](const auto& x) { return max(add(x[0], x[1]), imm(0, i8)); });
  program.elementwise("as another type", {ints8(a), ints8(b)}, ints({92, -56, -3, -128}),
                      [&](const auto& x) { return tir::make_cast(i32, max(imm(-128, i8), add(x[0], x[1]))); });
  program.elementwise("beside another", {ints8(a), ints8(b)}, ints8({92, 100, -3, 127}),
                      [&](const auto& x) { return max(x[0], add(x[0], x[1])); });
  program.elementwise("a bound that only the uncut operand keeps", {data<std::uint8_t>(u8, {5, 200})},
                      data<std::uint8_t>(u8, {6, 201}),
                      [&](const auto& x) { return max(sub(x[0], imm(255, u8)), imm(0, u8)); });
  program.elementwise("a complement of a sum", {ints8(a), ints8(b)}, ints({163, -201, 2, -129}),
                      [&](const auto& x) { return tir::make_cast(i32, op("bitwise_not", i8, {add(x[0], x[1])})); });
  program.elementwise("clip of a difference", {data<std::uint8_t>(u8, {5, 200}), data<std::uint8_t>(u8, {6, 1})},
                      data<std::uint8_t>(u8, {100, 100}),
                      [&](const auto& x) { return max(min(sub(x[0], x[1]), imm(100, u8)), imm(0, u8)); });
  program.elementwise("of a product", {data<std::int16_t>(i16, {300, -300, 7})},
                      data<std::int16_t>(i16, {24464, 24464, 49}),
                      [&](const auto& x) { return max(mul(x[0], x[0]), imm(1, i16)); });
  program.elementwise("of a let", {ints8(a), ints8(b)}, bools({0, 1, 1, 1}), [&](const auto& x) {
    const VarId sum = program.var("sum", i8);
    return make_operator(ExprKind::let, boolean, {add(x[0], x[1]), binary(ExprKind::lt, program.ref(sum), imm(0, i8))},
                         sum);
  });
  program.elementwise("of a let with two uses", {ints8(a), ints8(b)}, ints({184, -112, -6, -256}), [&](const auto& x) {
    const VarId sum = program.var("sum", i8);
    return tir::make_cast(
        i32, make_operator(ExprKind::let, i8, {add(x[0], x[1]), add(program.ref(sum), program.ref(sum))}, sum));
  });
  program.elementwise("of a reinterpretation", {ints8(a), ints8(b)}, ints({92, 200, 253, 128}),
                      [&](const auto& x) { return tir::make_cast(i32, op("reinterpret", u8, {add(x[0], x[1])})); });
  program.elementwise("of the same type", {ints8(a), ints8(b)}, ints({92, -56, -3, -128}),
                      [&](const auto& x) { return tir::make_cast(i32, op("reinterpret", i8, {add(x[0], x[1])})); });
  program.elementwise("a comparison", {ints8(a), ints8(b)}, bools({1, 0, 1, 0}),
                      [&](const auto& x) { return binary(ExprKind::lt, add(x[0], x[1]), imm(0, i8)); });
  program.elementwise("a quotient", {ints8(a), ints8(b)}, ints8({-82, 100, -1, 64}),
                      [&](const auto& x) { return binary(ExprKind::div, add(x[0], x[1]), imm(2, i8)); });
  program.elementwise("a right shift", {data<std::uint8_t>(u8, {9, 255})}, data<std::uint8_t>(u8, {253, 192}),
                      [&](const auto& x) {
                        return op("shift_right", u8, {op("bitwise_not", u8, {x[0]}), imm(2, u8)});
                      });
  program.elementwise("a left shift", {ints8(a)}, bools({1, 0, 1, 0}), [&](const auto& x) {
    return binary(ExprKind::lt, op("shift_left", i8, {x[0], imm(3, i8)}), imm(0, i8));
  });
  program.elementwise("a conversion", {ints8(a), ints8(b)}, floats({-164, 200, -3, 128}),
                      [&](const auto& x) { return tir::make_cast(f32, add(x[0], x[1])); });
  program.elementwise("a choice", {ints8(a), ints8(b)}, ints({-164, 200, -3, 128}), [&](const auto& x) {
    return tir::make_cast(i32, select(binary(ExprKind::eq, x[0], x[0]), add(x[0], x[1]), x[0]));
  });
  program.run();
}

TEST_CASE("comparisons that always hold become constants") {
  CaseProgram program;
  const std::vector<std::uint8_t> bytes = {0, 200};
  program.elementwise("uint8 < 256 and >= 0", {data(u8, bytes)}, bools({1, 1}), [](const auto& x) {
    const ExprRef wide = tir::make_cast(i32, x[0]);
    return binary(ExprKind::and_, binary(ExprKind::lt, wide, imm(256)), binary(ExprKind::ge, wide, imm(0)));
  });
  const std::vector<std::uint64_t> longs = {0, ~0ULL};
  program.elementwise("uint64 >= 0", {data(u64, longs)}, bools({1, 1}),
                      [](const auto& x) { return binary(ExprKind::ge, x[0], imm(0, u64)); });
  program.elementwise("0 > uint32", {data(u32, std::vector<std::uint32_t>{0, 7})}, bools({0, 0}),
                      [](const auto& x) { return binary(ExprKind::gt, imm(0, u32), x[0]); });
  program.elementwise("x == x, x < x", {ints({1, 2})}, bools({1, 1}), [](const auto& x) {
    return binary(ExprKind::and_, binary(ExprKind::eq, x[0], x[0]), negation(binary(ExprKind::lt, x[0], x[0])));
  });
  program.elementwise("NaN differs from itself", {floats({nan, 1})}, bools({0, 1}),
                      [](const auto& x) { return binary(ExprKind::eq, x[0], x[0]); });
  program.elementwise("clip within the range", {ints8({-128, 127})}, ints8({-128, 127}), [](const auto& x) {
    const ExprRef wide = tir::make_cast(i32, x[0]);
    return tir::make_cast(i8, binary(ExprKind::max, binary(ExprKind::min, wide, imm(127)), imm(-128)));
  });
  // The variable is left without use.
  program.operation("unused after folding", {ints({5})}, ints({1}), [&](const auto& in, VarId out) {
    const VarId x = program.var("x", u8);
    return Block{let(x, tir::make_cast(u8, program.load(in[0], 0))),
                 store(out, imm(0), select(binary(ExprKind::le, program.ref(x), imm(255, u8)), imm(1), imm(2)))};
  });
  program.run();
}

TEST_CASE("logic, selection, casts") {
  CaseProgram program;
  const std::vector<std::uint8_t> p = {0, 0, 1, 1, 2, 255};  // bytes other than 0 and 1 count as true
  const std::vector<std::uint8_t> q = {0, 1, 0, 1, 0, 7};
  program.elementwise("and", {bools(p), bools(q)}, bools({0, 0, 0, 1, 0, 1}),
                      [](const auto& x) { return binary(ExprKind::and_, x[0], x[1]); });
  program.elementwise("or", {bools(p), bools(q)}, bools({0, 1, 1, 1, 1, 1}),
                      [](const auto& x) { return binary(ExprKind::or_, x[0], x[1]); });
  program.elementwise("not", {bools(p)}, bools({1, 1, 0, 0, 0, 0}), [](const auto& x) { return negation(x[0]); });
  program.elementwise("mixed logic", {bools(p), bools(q)}, bools({0, 1, 1, 1, 1, 1}), [](const auto& x) {
    const ExprRef both = binary(ExprKind::and_, x[0], binary(ExprKind::or_, x[1], x[0]));
    return binary(ExprKind::or_, binary(ExprKind::and_, both, x[0]), x[1]);
  });
  const std::vector<std::int32_t> a = {3, -4, 5, 0};
  program.elementwise("select", {ints(a)}, ints({3, 4, 5, 0}), [](const auto& x) {
    return select(binary(ExprKind::lt, x[0], imm(0)), binary(ExprKind::sub, imm(0), x[0]), x[0]);
  });
  program.elementwise("nested select", {ints(a)}, ints({1, -1, 1, 0}), [](const auto& x) {
    const ExprRef inner = select(binary(ExprKind::gt, x[0], imm(0)), imm(1), imm(0));
    return add(select(binary(ExprKind::lt, x[0], imm(0)), imm(-1), inner), imm(0));
  });
  // The untaken side reads far outside of the array.
  program.operation("if_then_else is lazy", {ints(a)}, ints(a), [&](const auto& in, VarId out) {
    const VarId i = program.var("i", i32);
    const ExprRef far = program.load(in[0], mul(add(program.ref(i), imm(1)), imm(100000000)));
    const ExprRef taken = binary(ExprKind::lt, program.ref(i), imm(4));
    return Block{
        loop(i, imm(0), imm(4), {store(out, program.ref(i), choice(taken, program.load(in[0], program.ref(i)), far))})};
  });
  const std::vector<std::int32_t> wide = {-129, -128, -1, 0, 127, 128, 255, 256, 65535, int_min};
  program.elementwise("int32 to int8", {ints(wide)},
                      ints8(map(wide, [](auto x) { return static_cast<std::int8_t>(x); })),
                      [](const auto& x) { return tir::make_cast(i8, x[0]); });
  program.elementwise("int32 to uint16", {ints(wide)},
                      data(u16, map(wide, [](auto x) { return static_cast<std::uint16_t>(x); })),
                      [](const auto& x) { return tir::make_cast(u16, x[0]); });
  program.elementwise(
      "int32 to uint64", {ints(wide)},
      data(u64, map(wide, [](auto x) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)); })),
      [](const auto& x) { return tir::make_cast(u64, x[0]); });
  program.elementwise("int32 to bool", {ints(wide)},
                      bools(map(wide, [](auto x) -> std::uint8_t { return x != 0 ? 1 : 0; })),
                      [](const auto& x) { return tir::make_cast(boolean, x[0]); });
  program.elementwise("bool to int32", {bools(p)}, ints({0, 0, 1, 1, 1, 1}),
                      [](const auto& x) { return tir::make_cast(i32, x[0]); });
  const std::vector<float> f = {0.0F, -0.0F, 1.9F, -1.9F, 100.5F, -100.5F};
  program.elementwise("float to int32", {floats(f)}, ints(map(f, [](auto x) { return static_cast<std::int32_t>(x); })),
                      [](const auto& x) { return tir::make_cast(i32, x[0]); });
  program.elementwise("float to int8", {floats(f)}, ints8(map(f, [](auto x) { return static_cast<std::int8_t>(x); })),
                      [](const auto& x) { return tir::make_cast(i8, x[0]); });
  program.elementwise("float to bool", {floats({0.0F, -0.0F, 0.5F, nan})}, bools({0, 0, 1, 1}),
                      [](const auto& x) { return tir::make_cast(boolean, x[0]); });
  program.elementwise("int32 to float", {ints({16777217, -3})}, floats({16777216.0F, -3.0F}),
                      [](const auto& x) { return tir::make_cast(f32, x[0]); });
  program.elementwise("float to double and back", {floats({0.1F})},
                      floats({static_cast<float>(static_cast<double>(0.1F) * 3.0)}),
                      [](const auto& x) { return tir::make_cast(f32, mul(tir::make_cast(f64, x[0]), fimm(3, f64))); });
  program.run();
}

TEST_CASE("floats: min and max, division, remainders, math functions") {
  CaseProgram program;
  const std::vector<float> a = {1.0F, nan, 2.0F, -0.0F, 0.0F, inf, -5.5F, 7.25F};
  const std::vector<float> b = {2.0F, 1.0F, nan, 0.0F, -0.0F, -inf, 2.0F, -2.0F};
  program.elementwise("min", {floats(a), floats(b)}, floats(zip(a, b, [](auto x, auto y) { return x < y ? x : y; })),
                      [](const auto& x) { return binary(ExprKind::min, x[0], x[1]); });
  program.elementwise("max", {floats(a), floats(b)}, floats(zip(a, b, [](auto x, auto y) { return x > y ? x : y; })),
                      [](const auto& x) { return binary(ExprKind::max, x[0], x[1]); });
  const std::vector<float> c = {7.5F, -7.5F, 1.0F, -0.3F};
  const std::vector<float> d = {2.0F, 2.0F, -3.0F, 0.1F};
  program.elementwise("mod", {floats(c), floats(d)}, floats(zip(c, d, [](auto x, auto y) { return std::fmod(x, y); })),
                      [](const auto& x) { return binary(ExprKind::mod, x[0], x[1]); });
  program.elementwise("floordiv", {floats(c), floats(d)},
                      floats(zip(c, d, [](auto x, auto y) { return std::floor(x / y); })),
                      [](const auto& x) { return binary(ExprKind::floor_div, x[0], x[1]); });
  program.elementwise("floormod", {floats(c), floats(d)},
                      floats(zip(c, d, [](auto x, auto y) { return x - std::floor(x / y) * y; })),
                      [](const auto& x) { return binary(ExprKind::floor_mod, x[0], x[1]); });
  program.elementwise("division by a constant", {floats(c)}, floats(map(c, [](auto x) { return x / 49.0F; })),
                      [](const auto& x) { return binary(ExprKind::div, x[0], fimm(49)); });
  program.elementwise("sums are not regrouped", {floats({1e8F, 3.0F}), floats({-1e8F, 5.0F})}, floats({1.0F, 9.0F}),
                      [](const auto& x) { return add(add(x[0], x[1]), fimm(1)); });
  program.elementwise("sums are not regrouped to the left", {floats({1e8F, 3.0F}), floats({-1e8F, 5.0F})},
                      floats({1e8F + (-1e8F + 1.0F), 9.0F}),
                      [](const auto& x) { return add(x[0], add(x[1], fimm(1))); });
  struct Function {
    const char* name;
    float (*of_float)(float);
    double (*of_double)(double);
  };
  const Function functions[] = {{"exp", std::exp, std::exp},       {"exp2", std::exp2, std::exp2},
                                {"erf", std::erf, std::erf},       {"log", std::log, std::log},
                                {"log2", std::log2, std::log2},    {"log10", std::log10, std::log10},
                                {"log1p", std::log1p, std::log1p}, {"sqrt", std::sqrt, std::sqrt},
                                {"tan", std::tan, std::tan},       {"tanh", std::tanh, std::tanh},
                                {"atan", std::atan, std::atan},    {"sin", std::sin, std::sin},
                                {"cos", std::cos, std::cos},       {"asin", std::asin, std::asin},
                                {"acos", std::acos, std::acos},    {"sinh", std::sinh, std::sinh},
                                {"cosh", std::cosh, std::cosh},    {"asinh", std::asinh, std::asinh},
                                {"acosh", std::acosh, std::acosh}, {"atanh", std::atanh, std::atanh},
                                {"floor", std::floor, std::floor}, {"ceil", std::ceil, std::ceil},
                                {"round", std::round, std::round}, {"nearbyint", std::nearbyint, std::nearbyint},
                                {"trunc", std::trunc, std::trunc}, {"fabs", std::fabs, std::fabs}};
  const std::vector<float> e = {0.25F, 2.5F, 0.5F, 1.0F, 1.75F};
  const std::vector<double> g = {0.25, 2.5, 0.5, -0.75, 1.75};
  for (const Function& function : functions) {
    program.elementwise(function.name, {floats(e)}, floats(map(e, function.of_float)),
                        [&](const auto& x) { return op(function.name, f32, {x[0]}); });
    program.elementwise(std::string(function.name) + " double", {doubles(g)}, doubles(map(g, function.of_double)),
                        [&](const auto& x) { return op(function.name, f64, {x[0]}); });
  }
  program.elementwise("pow", {floats(e), floats(e)}, floats(zip(e, e, [](auto x, auto y) { return std::pow(x, y); })),
                      [](const auto& x) {
                        return op("pow", f32, {x[0], x[1]});
                      });
  program.elementwise("atan2", {floats(e), floats(d)},
                      floats({std::atan2(0.25F, 2.0F), std::atan2(2.5F, 2.0F), std::atan2(0.5F, -3.0F)}),
                      [](const auto& x) {
                        return op("atan2", f32, {x[0], x[1]});
                      });
  program.elementwise("fma", {floats(e)}, floats(map(e, [](auto x) { return std::fma(x, x, -1.0F); })),
                      [](const auto& x) {
                        return op("fma", f32, {x[0], x[0], fimm(-1)});
                      });
  program.elementwise("rsqrt", {floats(e)}, floats(map(e, [](auto x) { return 1.0F / std::sqrt(x); })),
                      [](const auto& x) { return op("rsqrt", f32, {x[0]}); });
  program.elementwise("sigmoid", {floats(e)}, floats(map(e, [](auto x) { return 1.0F / (1.0F + std::exp(-x)); })),
                      [](const auto& x) { return op("sigmoid", f32, {x[0]}); });
  program.elementwise(
      "sigmoid of a difference", {floats(e)},
      floats(map(e, [](auto x) { return 2.0F * (1.0F / (1.0F + std::exp(-(x - 1.0F)))); })),
      [](const auto& x) { return mul(fimm(2), op("sigmoid", f32, {binary(ExprKind::sub, x[0], fimm(1))})); });
  program.elementwise("sigmoid of minus one", {floats({0})}, floats({1.0F / (1.0F + std::exp(1.0F))}),
                      [](const auto&) { return op("sigmoid", f32, {fimm(-1)}); });
  program.elementwise("exp10", {floats(e)}, floats(map(e, [](auto x) { return std::pow(10.0F, x); })),
                      [](const auto& x) { return op("exp10", f32, {x[0]}); });
  const std::vector<float> t = {1.0F, nan, inf, -inf};
  program.elementwise("isnan", {floats(t)}, bools({0, 1, 0, 0}),
                      [](const auto& x) { return op("isnan", boolean, {x[0]}); });
  program.elementwise("isinf as a number", {floats(t)}, ints({0, 0, 1, 1}),
                      [](const auto& x) { return tir::make_cast(i32, op("isinf", boolean, {x[0]})); });
  program.elementwise("isfinite", {floats(t)}, bools({1, 0, 0, 0}),
                      [](const auto& x) { return op("isfinite", boolean, {x[0]}); });
  program.run();
}

std::int32_t q_multiply_shift(std::int32_t x, std::int32_t y, int q, int s) {
  if (y == 1 << 30) {
    const int e = s - 1;
    if (e > 0) return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << e);
    if (e == 0) return x;
    return (x + (1 << (-e - 1))) >> -e;
  }
  const std::int64_t v = (s > 0 ? static_cast<std::int64_t>(x) * (std::int64_t{1} << s) : x) * y;
  const int t = std::max(-s, 0) + q;
  return static_cast<std::int32_t>((v + (std::int64_t{1} << (t - 1))) >> t);
}

TEST_CASE("fixed point multiplication and bits") {
  CaseProgram program;
  const std::vector<std::int32_t> x = {0,    1,     -1,        2,          -2,          3,          -3,
                                       1000, -1000, 123456789, -123456789, int_max / 2, int_min / 2};
  struct Factor {
    std::int32_t y;
    int s;
  };
  for (const Factor& f :
       {Factor{1 << 30, 1}, Factor{1 << 30, 3}, Factor{1 << 30, 0}, Factor{1 << 30, -4}, Factor{1099511584, -7},
        Factor{1395864371, 2}, Factor{2147483647, 0}, Factor{1073741825, -30}}) {
    const bool grows = f.s > 1;
    const auto input = grows ? map(x, [](auto v) { return v / 8; }) : x;
    program.elementwise("q_multiply_shift " + std::to_string(f.y) + " " + std::to_string(f.s), {ints(input)},
                        ints(map(input, [&](auto v) { return q_multiply_shift(v, f.y, 31, f.s); })),
                        [&](const auto& v) {
                          const std::vector<tir::ExprRef> operands = {v[0], imm(f.y), imm(31), imm(f.s)};
                          return tir::make_call(i32, tir::fixed_point_op(operands), operands);
                        });
  }
  const std::vector<std::int32_t> y(x.size(), 1518500250);
  const std::vector<std::int32_t> right = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const std::vector<std::int32_t> left = {0, 1, 2, 3, 4, 5, 6, 7, 3, 2, 1, 0, 0};
  std::vector<std::int32_t> shifted_right;
  std::vector<std::int32_t> shifted_left;
  for (std::size_t i = 0; i < x.size(); ++i) {
    shifted_right.push_back(q_multiply_shift(x[i], y[i], 31, -right[i]));
    shifted_left.push_back(q_multiply_shift(x[i], y[i], 31, left[i]));
  }
  program.elementwise("per axis, right", {ints(x), ints(y), ints(right)}, ints(shifted_right), [](const auto& v) {
    return op("q_multiply_shift_per_axis", i32, {v[0], v[1], imm(0), v[2], imm(31), imm(0, boolean), imm(1, boolean)});
  });
  program.elementwise("per axis, left", {ints(x), ints(y), ints(left)}, ints(shifted_left), [](const auto& v) {
    return op("q_multiply_shift_per_axis", i32, {v[0], v[1], v[2], imm(0), imm(31), imm(1, boolean), imm(0, boolean)});
  });
  // 2^-64 and less of any product rounds to 0; channels that are always zero have such shifts.
  program.elementwise("per axis, right beyond 64 bits", {ints({5, -5, INT32_MAX, INT32_MIN}), ints({33, 34, 35, 60})},
                      ints({0, 0, 0, 0}), [](const auto& v) {
                        return op("q_multiply_shift_per_axis", i32,
                                  {v[0], imm(INT32_MAX), imm(0), v[1], imm(31), imm(0, boolean), imm(1, boolean)});
                      });
  const auto high = [&](int n) {
    return ints(zip(x, y, [&](std::int64_t a, std::int64_t b) {
      return static_cast<std::int32_t>((a * b + (std::int64_t{1} << (n + 31))) >> (n + 32));
    }));
  };
  program.elementwise("the high half, rounded", {ints(x), ints(y)}, high(0), [&](const auto& v) {
    return tir::make_call(i32, tir::Op::multiply_high, {v[0], v[1], imm(0)});
  });
  for (const int n : {1, 3, 30}) {
    program.elementwise("the high half of a product", {ints(x), ints(y)}, high(n), [&](const auto& v) {
      return tir::make_call(i32, tir::Op::multiply_high, {v[0], v[1], imm(n)});
    });
    program.elementwise("the high half by a variable", {ints(x), ints(y), ints(std::vector(x.size(), n))}, high(n),
                        [](const auto& v) {
                          return tir::make_call(i32, tir::Op::multiply_high, {v[0], v[1], v[2]});
                        });
  }
  const std::vector<std::int32_t> firsts = {0, 1, -1, 127, -127, -128, 5, -7, 100, -100, 64, -64, 3};
  const std::vector<std::int32_t> seconds = {0, -128, 127, -128, 127, 0, -1, 1, -2, 2, -3, 3, 77};
  const auto pairs =
      zip(firsts, seconds, [](std::int64_t a, std::int64_t b) { return static_cast<std::int32_t>(256 * a + b); });
  for (const int k : {0, 1, 2, 5}) {
    program.elementwise("a weight of a pair", {ints(pairs)}, ints(k % 2 == 0 ? firsts : seconds), [&](const auto& v) {
      return tir::make_call(i32, tir::Op::paired_weight, {tir::make_cast({tir::TypeCode::int_, 16, 1}, v[0]), imm(k)});
    });
  }
  const std::vector<std::int32_t> far = {0, 127, 128, -128, -129, 255, 256, -1, 32767, 32768, -32768, -32769, int_max};
  const auto clipped = [&](std::int32_t low, std::int32_t high_limit) {
    return ints(map(far, [&](auto v) { return std::clamp(v, low, high_limit); }));
  };
  for (const auto& [low, high_limit] :
       {std::pair(-128, 127), std::pair(0, 255), std::pair(-32768, 32767), std::pair(0, 65535), std::pair(-128, 100)}) {
    program.elementwise("clip, min inside", {ints(far)}, clipped(low, high_limit), [&](const auto& v) {
      return binary(ExprKind::max, binary(ExprKind::min, v[0], imm(high_limit)), imm(low));
    });
    program.elementwise("clip, max inside", {ints(far)}, clipped(low, high_limit), [&](const auto& v) {
      return binary(ExprKind::min, binary(ExprKind::max, v[0], imm(low)), imm(high_limit));
    });
  }
  const std::vector<std::int32_t> n = {0, 1, 5, 31, 30, 7, 3, 2, 1, 4, 9, 16, 24};
  const auto with_n = [&](const char* name, auto expected) {
    program.elementwise(name, {ints(x), ints(n)}, ints(zip(x, n, expected)), [&](const auto& v) {
      return op(name, i32, {v[0], v[1]});
    });
  };
  with_n("bitwise_and", [](auto a, auto b) { return a & b; });
  with_n("bitwise_or", [](auto a, auto b) { return a | b; });
  with_n("bitwise_xor", [](auto a, auto b) { return a ^ b; });
  with_n("shift_right", [](auto a, auto b) { return a >> b; });
  with_n("shift_left", [](auto a, auto b) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << b); });
  program.elementwise("bitwise_not", {ints(x)}, ints(map(x, [](auto a) { return ~a; })),
                      [](const auto& v) { return op("bitwise_not", i32, {v[0]}); });
  program.elementwise("bitwise_not uint8", {data<std::uint8_t>(u8, {0, 1, 255})}, ints({-1, -2, -256}),
                      [](const auto& v) { return tir::make_cast(i32, op("bitwise_not", u8, {v[0]})); });
  program.elementwise("shift_left int8", {ints8({-3, 64, 1})}, ints8({-24, 0, 8}), [](const auto& v) {
    return op("shift_left", i8, {v[0], imm(3, i8)});
  });
  program.elementwise("shift_left int64", {ints64({-3, 1})}, ints64({-(3LL << 40), 1LL << 40}), [](const auto& v) {
    return op("shift_left", i64, {v[0], imm(40, i64)});
  });
  program.elementwise("shift_left of int32 in int64", {ints({int_min, 3})}, ints64({int_min * 4LL, 12}),
                      [](const auto& v) {
                        return op("shift_left", i64, {tir::make_cast(i64, v[0]), imm(2, i64)});
                      });
  program.elementwise("bitwise_xor of uint64 literals", {ints({0, 1})}, data<std::uint64_t>(u64, {15, 15}),
                      [](const auto&) {
                        return op("bitwise_xor", u64, {imm(10, u64), imm(5, u64)});
                      });
  program.elementwise("mixed bits", {ints(x)}, ints(map(x, [](auto a) { return ((a & 12) | 3) ^ (a >> 2); })),
                      [](const auto& v) {
                        const ExprRef masked = op("bitwise_and", i32, {v[0], imm(12)});
                        return op("bitwise_xor", i32,
                                  {op("bitwise_or", i32, {masked, imm(3)}), op("shift_right", i32, {v[0], imm(2)})});
                      });
  program.elementwise("popcount", {ints(x)},
                      ints(map(x, [](auto a) { return std::popcount(static_cast<std::uint32_t>(a)); })),
                      [](const auto& v) { return op("popcount", i32, {v[0]}); });
  program.elementwise("popcount int8", {ints8({-1, -128, 3})}, ints({8, 1, 2}),
                      [](const auto& v) { return tir::make_cast(i32, op("popcount", i8, {v[0]})); });
  program.elementwise("clz", {ints(x)},
                      ints(map(x, [](auto a) { return std::countl_zero(static_cast<std::uint32_t>(a)); })),
                      [](const auto& v) { return op("clz", i32, {v[0]}); });
  program.elementwise("clz int64", {ints64({1, -1, 1LL << 40, 0})}, ints({63, 0, 23, 64}),
                      [](const auto& v) { return op("clz", i32, {v[0]}); });
  const std::vector<float> f = {1.0F, -0.0F, 3.14F};
  program.elementwise("reinterpret float", {floats(f)},
                      ints(map(f, [](auto a) { return std::bit_cast<std::int32_t>(a); })),
                      [](const auto& v) { return op("reinterpret", i32, {v[0]}); });
  program.elementwise("reinterpret int", {ints({0x3f800000, -1082130432})}, floats({1.0F, -1.0F}),
                      [](const auto& v) { return op("reinterpret", f32, {v[0]}); });
  program.elementwise("reinterpret sign", {ints({-1})}, data<std::uint32_t>(u32, {~0U}),
                      [](const auto& v) { return op("reinterpret", u32, {v[0]}); });
  program.elementwise("reinterpret double", {doubles({-2.0})}, ints64({std::bit_cast<std::int64_t>(-2.0)}),
                      [](const auto& v) { return op("reinterpret", i64, {v[0]}); });
  program.run();
}

// --- Half precision: a slow reference by search over all 65536 bit patterns
// -------------------------------------------

double half_value(std::uint16_t bits, bool is_bfloat) {
  const int exponent_bits = is_bfloat ? 8 : 5;
  const int mantissa_bits = 15 - exponent_bits;
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  if (exponent == (1 << exponent_bits) - 1)
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

// Nearest, ties to the even pattern; as if the largest finite number were followed by one more.
std::uint16_t to_half(double value, bool is_bfloat) {
  const auto infinity = static_cast<std::uint16_t>(is_bfloat ? 0x7f80 : 0x7c00);
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (is_bfloat ? 0x40 : 0x200));
  const double magnitude = std::fabs(value);
  std::uint16_t low = 0;  // the largest pattern that is not above
  std::uint16_t high = infinity;
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (half_value(middle, is_bfloat) <= magnitude ? low : high) = middle;
  }
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | infinity);
  const double below = half_value(low, is_bfloat);
  const double above = high == infinity ? std::ldexp(1.0, is_bfloat ? 128 : 16) : half_value(high, is_bfloat);
  const bool up = magnitude - below > above - magnitude || (magnitude - below == above - magnitude && low % 2 == 1);
  return static_cast<std::uint16_t>(sign | (up ? high : low));
}

TEST_CASE("float16 and bfloat16") {
  CaseProgram program;
  for (const bool is_bfloat : {false, true}) {
    const DataType half = is_bfloat ? bf16 : f16;
    std::vector<std::uint16_t> all(65536);
    std::vector<float> values;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<std::uint16_t>(i);
      values.push_back(static_cast<float>(half_value(all[i], is_bfloat)));
    }
    program.elementwise("all patterns to float", {data(half, all)}, floats(values),
                        [](const auto& x) { return tir::make_cast(f32, x[0]); });
    std::vector<float> near;  // all midpoints and their neighbours
    for (std::size_t i = 0; i + 1 < 0x7c01; i += 7) {
      const double middle = (half_value(static_cast<std::uint16_t>(i), is_bfloat) +
                             half_value(static_cast<std::uint16_t>(i + 1), is_bfloat)) /
                            2;
      const auto m = static_cast<float>(middle);
      for (const float v : {m, std::nextafter(m, inf), std::nextafter(m, 0.0F), -m}) near.push_back(v);
    }
    for (const float v : {65504.0F, 65519.0F, 65520.0F, 1e20F, 3.4e38F, inf, -inf, nan, 0.0F, -0.0F, 1e-40F}) {
      near.push_back(v);
    }
    program.elementwise("float to half", {floats(near)},
                        data(half, map(near, [&](auto x) { return to_half(static_cast<double>(x), is_bfloat); })),
                        [&](const auto& x) { return tir::make_cast(half, x[0]); });
    // Just beside a midpoint by less than a float can tell.
    const double tie = is_bfloat ? 1.0 + std::ldexp(1.0, -8) : 1.0 + std::ldexp(1.0, -11);
    const std::vector<double> beside = {tie, tie + 1e-15, tie - 1e-15, -tie - 1e-15, 1e-320, 1e300, 0.1, -tie + 1e-15};
    program.elementwise("double to half", {doubles(beside)},
                        data(half, map(beside, [&](auto x) { return to_half(x, is_bfloat); })),
                        [&](const auto& x) { return tir::make_cast(half, x[0]); });
    program.elementwise("int32 to half", {ints({2049, 65519, 65520, 16777217, -3})},
                        data(half, map(std::vector<std::int32_t>{2049, 65519, 65520, 16777217, -3},
                                       [&](auto x) { return to_half(x, is_bfloat); })),
                        [&](const auto& x) { return tir::make_cast(half, x[0]); });
    // A product just above a midpoint, by less than a float can tell.
    const std::vector<std::int16_t> factor = {16601};
    const std::vector<std::int16_t> other = {32466};
    program.elementwise("a product of int16 to half", {data(i16, factor), data(i16, other)},
                        data(half, std::vector<std::uint16_t>{to_half(16601.0 * 32466.0, is_bfloat)}),
                        [&](const auto& x) { return tir::make_cast(half, mul(x[0], x[1])); });
    const std::vector<std::uint16_t> a = {to_half(1.0, is_bfloat), to_half(1000.0, is_bfloat),
                                          to_half(-2.5, is_bfloat)};
    const std::vector<std::uint16_t> b = {to_half(1.0 / 1024, is_bfloat), to_half(0.7, is_bfloat),
                                          to_half(3, is_bfloat)};
    const auto check = [&](const char* name, ExprKind kind, auto expected) {
      program.elementwise(name, {data(half, a), data(half, b)},
                          data(half, zip(a, b,
                                         [&](auto x, auto y) {
                                           return to_half(expected(half_value(x, is_bfloat), half_value(y, is_bfloat)),
                                                          is_bfloat);
                                         })),
                          [&](const auto& x) { return binary(kind, x[0], x[1]); });
    };
    check("half add", ExprKind::add, [](double x, double y) { return x + y; });
    check("half sub", ExprKind::sub, [](double x, double y) { return x - y; });
    check("half mul", ExprKind::mul, [](double x, double y) { return x * y; });
    check("half max", ExprKind::max, [](double x, double y) { return x > y ? x : y; });
    // Rounded after each operation: (x + tiny) - x is 0.
    program.elementwise("half rounds in between", {data(half, a)}, floats({0, 0, 0}), [&](const auto& x) {
      return tir::make_cast(f32, binary(ExprKind::sub, add(x[0], fimm(0.0001, half)), x[0]));
    });
    program.elementwise(
        "half literal", {data(half, a)},
        floats(std::vector<float>(3, static_cast<float>(half_value(to_half(0.1, is_bfloat), is_bfloat)))),
        [&](const auto&) { return tir::make_cast(f32, fimm(0.1, half)); });
    program.elementwise("half exp", {data(half, b)},
                        data(half, map(b,
                                       [&](auto x) {
                                         const auto v = static_cast<float>(half_value(x, is_bfloat));
                                         return to_half(static_cast<double>(std::exp(v)), is_bfloat);
                                       })),
                        [&](const auto& x) { return op("exp", half, {x[0]}); });
    program.elementwise("half bits", {data(half, a)}, data(u16, a),
                        [](const auto& x) { return op("reinterpret", u16, {x[0]}); });
    program.elementwise("half from bits", {data(u16, a)}, data(half, a),
                        [&](const auto& x) { return op("reinterpret", half, {x[0]}); });
  }
  program.run();
}

TEST_CASE("round_to_half agrees with the reference") {
  for (const bool is_bfloat : {false, true}) {
    for (const double value : {0.1, 65519.99, 65520.0, 1e-8, 2.98e-8, 3e-8, 1.0 + 1.0 / 2048, 1.0 + 3.0 / 2048, -7.3e4,
                               3.39e38, 3.4e38, 1e-45, 0.0}) {
      CHECK(round_to_half(value, is_bfloat ? bf16 : f16) == half_value(to_half(value, is_bfloat), is_bfloat));
    }
  }
}

// --- Vectors and lets ------------------------------------------------------------------------------------------------

TEST_CASE("vectors are printed lane by lane") {
  CaseProgram program;
  const std::vector<std::int32_t> a = {1, 2, 3, 4, 5, 6, 7, 8};
  const DataType i32x4 = i32.with_lanes(4);
  const auto load4 = [&](VarId storage, ExprRef index) { return tir::make_load(i32x4, storage, std::move(index)); };
  program.operation("ramp and broadcast", {ints(a)}, ints({12, 13, 14, 15, 16, 17, 18, 19}),
                    [&](const auto& in, VarId out) {
                      const VarId i = program.var("i", i32);
                      const ExprRef index = ramp(mul(program.ref(i), imm(4)), 1, 4);
                      const ExprRef value = add(load4(in[0], index), broadcast(imm(11), 4));
                      return Block{loop(i, imm(0), imm(2), {store(out, index, value)})};
                    });
  program.operation(
      "all lanes are read before one is written", {ints({0})}, ints({4, 1, 2, 3}), [&](const auto&, VarId out) {
        Block body = {store(out, ramp(imm(0), 1, 4), add(ramp(imm(1), 1, 4), broadcast(imm(0), 4)))};
        // Rotates in place: out[lane + 1] = out[lane].
        const ExprRef from = make_operator(ExprKind::shuffle, i32x4,
                                           {load4(out, ramp(imm(0), 1, 4)), imm(3), imm(0), imm(1), imm(2)}, {}, 1);
        body.push_back(store(out, ramp(imm(0), 1, 4), from));
        return body;
      });
  program.operation("negative stride and gather", {ints(a)}, ints({8, 6, 4, 2}), [&](const auto& in, VarId out) {
    return Block{store(out, ramp(imm(0), 1, 4), load4(in[0], ramp(imm(7), -2, 4)))};
  });
  program.operation("predicates", {ints(a)}, ints({1, -1515870811, 3, -1515870811}), [&](const auto& in, VarId out) {
    const ExprRef lanes = ramp(imm(0), 1, 4);
    const ExprRef even =
        binary(ExprKind::eq, binary(ExprKind::floor_mod, lanes, broadcast(imm(2), 4)), broadcast(imm(0), 4));
    const ExprRef far = binary(ExprKind::mul, lanes, broadcast(imm(1), 4));
    const ExprRef loaded = make_operator(ExprKind::load, i32x4, {far, even}, in[0]);
    return Block{store(out, lanes, loaded, even)};
  });
  program.operation("a scalar chooses between vectors", {ints(a)}, ints({1, 2, 8, 8}), [&](const auto& in, VarId out) {
    const VarId i = program.var("i", i32);
    const DataType i32x2 = i32.with_lanes(2);
    const ExprRef index = ramp(mul(program.ref(i), imm(2)), 1, 2);
    const ExprRef first = binary(ExprKind::lt, program.ref(i), imm(1));
    const ExprRef loaded = tir::make_load(i32x2, in[0], index);
    const ExprRef lazy = choice(first, loaded, broadcast(imm(8), 2));
    return Block{loop(i, imm(0), imm(2), {store(out, index, select(first, lazy, lazy))})};
  });
  program.operation("vector let and select", {ints(a)}, ints({1, 2, 30, 40}), [&](const auto& in, VarId out) {
    const VarId v = program.var("v", i32x4);
    const ExprRef lanes = ramp(imm(0), 1, 4);
    const ExprRef value = program.ref(v);
    return Block{let(v, load4(in[0], lanes)), store(out, lanes,
                                                    select(binary(ExprKind::lt, value, broadcast(imm(3), 4)), value,
                                                           mul(value, broadcast(imm(10), 4))))};
  });
  program.operation("shuffle of two vectors", {ints(a)}, ints({8, 1, 5, 4}), [&](const auto& in, VarId out) {
    const ExprRef low = load4(in[0], ramp(imm(0), 1, 4));
    const ExprRef high = load4(in[0], ramp(imm(4), 1, 4));
    const ExprRef mixed = make_operator(ExprKind::shuffle, i32x4, {low, high, imm(7), imm(0), imm(4), imm(3)}, {}, 2);
    return Block{store(out, ramp(imm(0), 1, 4), mixed)};
  });
  program.operation("element of a vector", {ints(a)}, ints({3}), [&](const auto& in, VarId out) {
    const ExprRef one = make_operator(ExprKind::shuffle, i32, {load4(in[0], ramp(imm(0), 1, 4)), imm(2)}, {}, 1);
    return Block{store(out, imm(0), one)};
  });
  program.operation(
      "vector math and cast", {ints({1, 4, 9, 16})}, floats({1, 2, 3, 4}), [&](const auto& in, VarId out) {
        const ExprRef lanes = ramp(imm(0), 1, 4);
        return Block{
            store(out, lanes, op("sqrt", f32.with_lanes(4), {tir::make_cast(f32.with_lanes(4), load4(in[0], lanes))}))};
      });
  program.run();
}

TEST_CASE("a wide literal is shifted in its own type") {
  CaseProgram program;
  program.elementwise("to the right", {ints64({36, 3, 0})}, ints64({-1, -1, -1}), [&](const auto& in) {
    const ExprRef count = op("bitwise_and", i64, {in[0], imm(63, i64)});
    return op("shift_right", i64, {imm(-1, i64), count});
  });
  program.run();
}

TEST_CASE("let expressions") {
  CaseProgram program;
  const std::vector<std::int32_t> a = {1, -2, 3};
  const auto let_expr = [&](VarId var, ExprRef value, ExprRef body) {
    const DataType type = body->type;
    return make_operator(ExprKind::let, type, {std::move(value), std::move(body)}, var);
  };
  program.elementwise("used once", {ints(a)}, ints({6, 0, 10}), [&](const auto& in) {
    const VarId x = program.var("x", i32);
    return let_expr(x, add(in[0], imm(2)), mul(program.ref(x), imm(2)));
  });
  program.elementwise("used twice", {ints(a)}, ints({9, 0, 25}), [&](const auto& in) {
    const VarId v = program.var("v", i32);
    return let_expr(v, add(in[0], imm(2)), mul(program.ref(v), program.ref(v)));
  });
  program.elementwise(
      "nested, with the inner value made of the outer", {ints(a)}, ints({3 * 3 + 7 * 7 + 1, 49 - 2, 5 * 5 + 7 * 7 + 3}),
      [&](const auto& in) {
        const VarId v = program.var("v", i32);
        const VarId w = program.var("w", i32);
        const ExprRef squares = add(mul(program.ref(v), program.ref(v)), mul(program.ref(w), program.ref(w)));
        const ExprRef inner = let_expr(w, binary(ExprKind::sub, imm(7), mul(imm(0), program.ref(v))), squares);
        return add(let_expr(v, add(in[0], imm(2)), inner), in[0]);
      });
  // A load that must not happen unless the side is taken.
  program.operation("inside a side that is not taken", {ints(a)}, ints({1, -2, 3}), [&](const auto& in, VarId out) {
    const VarId i = program.var("i", i32);
    const VarId v = program.var("v", i32);
    const ExprRef far = program.load(in[0], mul(add(program.ref(i), imm(1)), imm(50000000)));
    const ExprRef not_taken = let_expr(v, far, add(program.ref(v), program.ref(v)));
    const ExprRef value =
        choice(binary(ExprKind::lt, program.ref(i), imm(3)), program.load(in[0], program.ref(i)), not_taken);
    return Block{loop(i, imm(0), imm(3), {store(out, program.ref(i), value)})};
  });
  // let v0 = x + 1 in let v1 = v0 + v0 in … : as text the value would be 2^40 long.
  program.elementwise("forty deep, each used twice", {ints64({1, -3})}, ints64({2LL << 40, -(2LL << 40)}),
                      [&](const auto& in) {
                        std::vector<VarId> vars;
                        for (int i = 0; i <= 40; ++i) vars.push_back(program.var("v" + std::to_string(i), i64));
                        ExprRef body = program.ref(vars[40]);
                        for (std::size_t i = 40; i > 0; --i) {
                          body = let_expr(vars[i], add(program.ref(vars[i - 1]), program.ref(vars[i - 1])), body);
                        }
                        return let_expr(vars[0], add(in[0], imm(1, i64)), body);
                      });
  program.elementwise("the same variable inside its own value", {ints(a)}, ints({4, 1, 6}), [&](const auto& in) {
    const VarId y = program.var("y", i32);
    const ExprRef shadowed = let_expr(y, add(program.ref(y), imm(1)), program.ref(y));
    return let_expr(y, add(in[0], imm(2)), shadowed);
  });
  // The value of y is printed where y is used: inside another let of x.
  program.operation("one variable in two scopes, the first a function", {ints({10})}, ints({12 * 12 + 5}),
                    [&](const auto& in, VarId out) {
                      const VarId x = program.var("x", i32);
                      const VarId y = program.var("y", i32);
                      const ExprRef first =
                          let_expr(x, add(program.load(in[0], 0), imm(2)), mul(program.ref(x), program.ref(x)));
                      const ExprRef second = let_expr(x, imm(5), add(program.ref(y), program.ref(x)));
                      return Block{store(out, imm(0), let_expr(y, first, second))};
                    });
  program.operation(
      "one variable in two scopes, of other ranges", {ints({10})}, ints({110 + 1}), [&](const auto& in, VarId out) {
        const VarId x = program.var("x", i32);
        const VarId y = program.var("y", i32);
        const ExprRef first = let_expr(x, imm(100), add(program.ref(x), program.load(in[0], 0)));
        const ExprRef small =
            make_operator(ExprKind::select, i32, {binary(ExprKind::lt, program.ref(x), imm(50)), imm(1), imm(0)});
        const ExprRef second = let_expr(x, imm(5), add(program.ref(y), small));
        return Block{store(out, imm(0), let_expr(y, first, second))};
      });
  // Operands that can be printed twice need no helper.
  program.operation(
      "min and max of variables", {ints(a), ints({3, -5, 3})}, ints({1, 3, 1, -5, -2, -2, 3, 3, 2}),
      [&](const auto& in, VarId out) {
        const VarId i = program.var("i", i32);
        const VarId x = program.var("x", i32);
        const VarId y = program.var("y", i32);
        const auto put = [&](int place, ExprRef value) {
          return store(out, add(mul(program.ref(i), imm(3)), imm(place)), std::move(value));
        };
        return Block{loop(i, imm(0), imm(3),
                          {let(x, program.load(in[0], program.ref(i))), let(y, program.load(in[1], program.ref(i))),
                           put(0, binary(ExprKind::min, program.ref(x), program.ref(y))),
                           put(1, binary(ExprKind::max, program.ref(x), program.ref(y))),
                           put(2, binary(ExprKind::min, program.ref(x), imm(2)))})};
      });
  program.elementwise("min of min of min, sixty deep", {ints(a)}, ints({1, -2, 3}), [&](const auto& in) {
    ExprRef value = in[0];
    for (int i = 1; i < 60; ++i) value = binary(ExprKind::min, add(value, imm(1)), add(in[0], imm(0)));
    return value;
  });
  program.run();
}

}  // namespace
}  // namespace usmp::codegen::testing::expressions_test

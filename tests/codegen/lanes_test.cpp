// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops over neighbours: which vectors may take, and what they compute.
#include "codegen/lanes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "codegen/case_program.hpp"
#include "codegen/fours.hpp"

namespace usmp::codegen::testing::lanes_test {
namespace {

constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();

ExprRef high(const ExprRef& x, const ExprRef& y, const ExprRef& n) {
  return tir::make_call(i32, tir::Op::multiply_high, {x, y, n});
}
ExprRef doubled(const ExprRef& x, std::int64_t y, std::int64_t shift) {
  return tir::make_call(i32, tir::Op::q_multiply_shift, {x, imm(y), imm(31), imm(shift)});
}
ExprRef clip(const ExprRef& x, std::int64_t low, std::int64_t up) {
  return binary(ExprKind::max, binary(ExprKind::min, x, imm(up)), imm(low));
}

// Numbers of all sizes, and those around which results change.
std::vector<std::int32_t> numbers() {
  std::vector<std::int32_t> all = {0, 1, -1, most, least, most - 1, least + 1, 1 << 30, -(1 << 30)};
  std::uint32_t state = 12345;
  while (all.size() < 200) {
    state = state * 1664525U + 1013904223U;
    all.push_back(static_cast<std::int32_t>(state) >> (state >> 5U) % 31);
  }
  return all;
}
// x · y · 2^-n, halves up.
std::int32_t product(std::int64_t x, std::int64_t y, int n) {
  return static_cast<std::int32_t>((x * y + (std::int64_t{1} << (n - 1))) >> n);
}

struct LanesProgram : CaseProgram {
  // As `elementwise`, with an output that nothing else reaches.
  void lanes(const std::string& name, const std::vector<Data>& inputs, const Data& expected,
             const std::function<ExprRef(const std::vector<ExprRef>& x)>& value) {
    elementwise(name, inputs, expected, value);
    last_operation().params.back().no_alias = true;
  }
};

TEST_CASE("lanes: fixed-point products, sums and clips on an emulated core") {
  LanesProgram program;
  const std::vector<std::int32_t> x = numbers();
  std::vector<std::int32_t> y(x.rbegin(), x.rend());
  for (std::int32_t& one : y) one = one == least ? most : one < 0 ? -one : one;
  std::vector<std::int8_t> shifts;
  for (std::size_t i = 0; i < x.size(); ++i) shifts.push_back(static_cast<std::int8_t>(i % 31 + 1));
  std::vector<std::int32_t> by_lane, by_7, whole, doubles, left, sums;
  std::vector<std::int8_t> clipped, small;
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < x.size(); ++i) {
    by_lane.push_back(product(x[i], y[i], 32 + shifts[i]));
    by_7.push_back(product(x[i], y[i], 39));
    whole.push_back(product(x[i], y[i], 32));
    doubles.push_back(product(x[i], 1518500249, 31));
    small.push_back(static_cast<std::int8_t>(x[i]));
    left.push_back(product(std::int64_t{small[i] + 5} << 20, 1140768826, 31));
    const std::int32_t scaled = product(x[i], y[i], 33) - 3;
    clipped.push_back(static_cast<std::int8_t>(scaled < -128 ? -128 : scaled > 127 ? 127 : scaled));
    bytes.push_back(static_cast<std::uint8_t>(scaled < 0 ? 0 : scaled > 255 ? 255 : scaled));
    sums.push_back(static_cast<std::int32_t>(small[i] * 77 - static_cast<std::int32_t>(bytes[i])));
  }
  program.lanes("a shift of its own in each lane", {ints(x), ints(y), ints8(shifts)}, ints(by_lane),
                [](const auto& v) { return high(v[0], v[1], cast(i32, v[2])); });
  program.lanes("a shift by a literal", {ints(x), ints(y)}, ints(by_7),
                [](const auto& v) { return high(v[0], v[1], imm(7)); });
  program.lanes("none", {ints(x), ints(y)}, ints(whole), [](const auto& v) { return high(v[0], v[1], imm(0)); });
  program.lanes("by 31 bits", {ints(x)}, ints(doubles), [](const auto& v) { return doubled(v[0], 1518500249, 0); });
  program.lanes("shifted to the left before", {ints8(small)}, ints(left),
                [](const auto& v) { return doubled(add(cast(i32, v[0]), imm(5)), 1140768826, 20); });
  program.lanes("clipped to int8", {ints(x), ints(y)}, ints8(clipped),
                [](const auto& v) { return cast(i8, clip(sub(high(v[0], v[1], imm(1)), imm(3)), -128, 127)); });
  program.lanes("clipped to uint8", {ints(x), ints(y)}, data(u8, bytes),
                [](const auto& v) { return cast(u8, clip(sub(high(v[0], v[1], imm(1)), imm(3)), 0, 255)); });
  program.lanes("bytes of both kinds", {ints8(small), data(u8, bytes)}, ints(sums),
                [](const auto& v) { return sub(mul(cast(i32, v[0]), imm(77)), cast(i32, v[1])); });
  const std::string text = program.text();
  std::size_t loops = 0;
  for (std::size_t at = text.find("usmp_store_lanes_"); at != std::string::npos;
       at = text.find("usmp_store_lanes_", at + 1)) {
    loops += text.compare(at - 2, 2, "  ") == 0 ? 1U : 0U;
  }
  CHECK(loops == 8);
  program.run();
  program.run_on_helium();
  program.run_on_dsp();
}

TEST_CASE("lanes: shifts, and products of what is doubled, on an emulated core") {
  LanesProgram program;
  const std::vector<std::int32_t> x = numbers();
  std::vector<std::int32_t> halves, factors(x.rbegin(), x.rend()), by_5, by_lane, doubles, twice;
  std::vector<std::int8_t> shifts;
  for (std::size_t i = 0; i < x.size(); ++i) {
    halves.push_back(x[i] / 2);
    shifts.push_back(static_cast<std::int8_t>(i % 32));
    by_5.push_back(x[i] >> 5);
    by_lane.push_back(x[i] >> shifts[i]);
    const std::int32_t h = product(std::int64_t{halves[i]} * 2, factors[i], 32);
    doubles.push_back(h);
    twice.push_back((h + (h >> 31)) >> shifts[i]);
  }
  const auto shifted = [](const ExprRef& value, const ExprRef& by) {
    return tir::make_call(i32, tir::Op::shift_right, {value, by});
  };
  program.lanes("by a literal", {ints(x)}, ints(by_5), [&](const auto& v) { return shifted(v[0], imm(5)); });
  program.lanes("by 0", {ints(x)}, ints(x), [&](const auto& v) { return shifted(v[0], imm(0)); });
  program.lanes("by another number in each lane", {ints(x), ints8(shifts)}, ints(by_lane),
                [&](const auto& v) { return shifted(v[0], cast(i32, v[1])); });
  program.lanes("doubled", {ints(halves), ints(factors)}, ints(doubles),
                [](const auto& v) { return high(mul(v[0], imm(2)), v[1], imm(0)); });
  program.lanes("rounded twice", {ints(halves), ints(factors), ints8(shifts)}, ints(twice), [&](const auto& v) {
    const ExprRef h = high(mul(v[0], imm(2)), v[1], imm(0));
    return shifted(add(h, shifted(h, imm(31))), cast(i32, v[2]));
  });
  const std::string text = program.text();
  for (const char* one : {"vshrq_n_s32(", "vshlq_s32(", "vqrdmulhq_s32("}) CHECK(text.find(one) != std::string::npos);
  program.run();
  program.run_on_helium();
  program.run_on_dsp();
}

TEST_CASE("lanes: chains of steps on an emulated core") {
  LanesProgram program;
  const std::vector<std::int32_t> x = numbers();
  std::vector<std::int32_t> y(x.rbegin(), x.rend());
  std::vector<std::int16_t> halves;
  std::vector<std::int8_t> bytes, shifts;
  std::vector<std::uint8_t> others;
  for (std::size_t i = 0; i < x.size(); ++i) {
    halves.push_back(static_cast<std::int16_t>(y[i]));
    bytes.push_back(static_cast<std::int8_t>(x[i] >> 3));
    others.push_back(static_cast<std::uint8_t>(y[i] >> 5));
    shifts.push_back(static_cast<std::int8_t>(i % 31 + 3));
  }
  const auto clipped = [](std::int64_t value, std::int64_t low, std::int64_t up) {
    return value < low ? low : value > up ? up : value;
  };
  const auto wrapped = [](std::int64_t value) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(value)); };
  std::vector<std::int8_t> small, residual, between;
  std::vector<std::uint8_t> positive;
  std::vector<std::int16_t> wide;
  std::vector<std::uint16_t> unsigned_wide;
  std::vector<std::int32_t> sums, of_bytes, of_halves;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int64_t scaled = product(x[i] / 2 + halves[i], y[i], 32 + shifts[i] - 2);
    small.push_back(static_cast<std::int8_t>(clipped(scaled + 17, -128, 127)));
    positive.push_back(static_cast<std::uint8_t>(clipped(product(x[i] / 2 + bytes[i], 1998244353, 37) - 3, 0, 255)));
    const std::int64_t last = clipped(scaled - 20, -128, 127);
    residual.push_back(static_cast<std::int8_t>(
        clipped(product(last + 20, 1140768826, 31 - 2) + product(others[i] - 7, 1805621035, 31 - 3) - 100, -128, 127)));
    between.push_back(static_cast<std::int8_t>(clipped(product(x[i], y[i], 45) + 5, -100, 77)));
    wide.push_back(static_cast<std::int16_t>(clipped(product(bytes[i] + 12, 1140768826, 31 - 9), -32768, 32767)));
    unsigned_wide.push_back(static_cast<std::uint16_t>(clipped(others[i] * std::int64_t{1} + x[i] / 4, 0, 65535)));
    sums.push_back(wrapped(std::int64_t{x[i] / 4} + y[i] / 4));
    of_bytes.push_back(wrapped(std::int64_t{x[i] / 4} + others[i] + bytes[i] - 4095));
    of_halves.push_back(halves[i] + bytes[i]);
  }
  std::vector<std::int32_t> half, fourth, fourth_of_y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    half.push_back(x[i] / 2);
    fourth.push_back(x[i] / 4);
    fourth_of_y.push_back(y[i] / 4);
  }
  const auto shift = [](const ExprRef& n) { return sub(cast(i32, n), imm(2)); };
  program.lanes("a requantisation", {ints(half), data(i16, halves), ints(y), ints8(shifts)}, ints8(small),
                [&](const auto& v) {
                  const ExprRef scaled = high(add(v[0], cast(i32, v[1])), v[2], shift(v[3]));
                  return cast(i8, clip(add(scaled, imm(17)), -128, 127));
                });
  program.lanes("of one factor", {ints(half), ints8(bytes)}, data(u8, positive), [](const auto& v) {
    const ExprRef scaled = high(add(v[0], cast(i32, v[1])), imm(1998244353), imm(5));
    return cast(u8, clip(sub(scaled, imm(3)), 0, 255));
  });
  program.lanes("a sum of two", {ints(half), data(i16, halves), ints(y), ints8(shifts), data(u8, others)},
                ints8(residual), [&](const auto& v) {
                  const ExprRef scaled = high(add(v[0], cast(i32, v[1])), v[2], shift(v[3]));
                  const ExprRef one = doubled(add(clip(sub(scaled, imm(20)), -128, 127), imm(20)), 1140768826, 2);
                  const ExprRef two = doubled(sub(cast(i32, v[4]), imm(7)), 1805621035, 3);
                  return cast(i8, clip(add(one, sub(two, imm(100))), -128, 127));
                });
  program.lanes("limits of no type", {ints(x), ints(y)}, ints8(between),
                [](const auto& v) { return cast(i8, clip(add(high(v[0], v[1], imm(13)), imm(5)), -100, 77)); });
  program.lanes("bytes scaled to 16 bits", {ints8(bytes)}, data(i16, wide), [](const auto& v) {
    return cast(i16, clip(doubled(add(cast(i32, v[0]), imm(12)), 1140768826, 9), -32768, 32767));
  });
  program.lanes("16 bits without sign", {data(u8, others), ints(fourth)}, data(u16, unsigned_wide),
                [](const auto& v) { return cast(u16, clip(add(cast(i32, v[0]), v[1]), 0, 65535)); });
  program.lanes("sums", {ints(fourth), ints(fourth_of_y)}, ints(sums), [](const auto& v) { return add(v[0], v[1]); });
  program.lanes("sums of bytes", {ints(fourth), data(u8, others), ints8(bytes)}, ints(of_bytes),
                [](const auto& v) { return sub(add(add(v[0], cast(i32, v[1])), cast(i32, v[2])), imm(4095)); });
  program.lanes("sums of halves", {data(i16, halves), ints8(bytes)}, ints(of_halves),
                [](const auto& v) { return add(cast(i32, v[0]), cast(i32, v[1])); });
  const std::string text = program.text();
  std::size_t chains = 0;
  for (std::size_t at = text.find("\n  usmp_neighbours_"); at != std::string::npos;
       at = text.find("\n  usmp_neighbours_", at + 1)) {
    ++chains;
  }
  CHECK(chains == 9);
  program.run();
  program.run_on_dsp();
}

// One that no chain is: a product of two elements.
TEST_CASE_FIXTURE(CaseProgram, "lanes: other loops stay as they are for the DSP extension") {
  const VarId x = pointer("x", i32);
  const VarId i = var("i", i32);
  const auto chain = [&](const ExprRef& value) {
    arith::Ranges ranges;
    ranges.bind(i, Interval{0, 15});
    return fours_of({x, ref(i), value, nullptr}, i, ranges).has_value();
  };
  const ExprRef element = load(x, ref(i));
  CHECK(chain(add(element, imm(4095))));
  CHECK_FALSE(chain(add(element, imm(4096))));
  CHECK_FALSE(chain(mul(element, element)));
  CHECK(chain(mul(element, imm(4))));
  CHECK_FALSE(chain(mul(element, imm(6))));
  const auto shifted = [&](const ExprRef& by) { return tir::make_call(i32, tir::Op::shift_right, {element, by}); };
  CHECK(chain(shifted(imm(31))));
  CHECK_FALSE(chain(shifted(imm(32))));
  CHECK_FALSE(chain(shifted(element)));
  CHECK(chain(add(element, shifted(imm(31)))));
  CHECK_FALSE(chain(add(mul(element, imm(2)), shifted(imm(31)))));
  CHECK_FALSE(chain(sub(element, element)));
  CHECK_FALSE(chain(doubled(element, 1140768826, 0)));
  CHECK_FALSE(chain(clip(element, -300, 300)));
  CHECK(chain(high(element, element, imm(1))));
  CHECK_FALSE(chain(high(element, element, element)));
  CHECK(chain(add(add(add(add(element, element), element), element), element)));
  CHECK_FALSE(chain(add(add(add(add(add(element, element), element), element), element), element)));
}

Data elements(DataType type, std::size_t count, std::uint32_t seed, std::vector<std::int64_t>& values) {
  Data all{type, {}};
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    const auto bits = static_cast<std::uint16_t>(seed >> 16U);
    all.bytes.push_back(static_cast<char>(bits & 0xffU));
    if (type.bits == 16) all.bytes.push_back(static_cast<char>(bits >> 8U));
    values.push_back(type.bits == 16 ? static_cast<std::int16_t>(bits)
                     : type.is_int() ? static_cast<std::int8_t>(bits & 0xffU)
                                     : static_cast<std::int64_t>(bits & 0xffU));
  }
  return all;
}

TEST_CASE("lanes: rows of sums on an emulated core") {
  CaseProgram program;
  std::uint32_t seed = 1;
  for (const DataType data_type : {i8, u8, i16}) {
    for (const DataType weight_type : {i8, u8, i16}) {
      for (const std::int64_t terms : {1, 7, 16, 37}) {
        const std::int64_t count = static_cast<std::int64_t>(seed % 7) + 2;
        const std::int64_t distance = terms + static_cast<std::int64_t>(seed % 3);
        const bool keeps = seed % 2 == 0;
        const std::int64_t zero = data_type.bits == 16 ? 0 : std::vector<std::int64_t>{0, 128, -83, -255, 5}[seed % 5];
        const std::int64_t weight_zero = weight_type == u8 && seed % 4 != 2 ? -128 : 0;
        std::vector<std::int64_t> x, w;
        const Data xs = elements(data_type, static_cast<std::size_t>(terms), ++seed, x);
        const Data ws = elements(weight_type, static_cast<std::size_t>(count * distance), seed + 7, w);
        std::vector<std::int32_t> sums;
        for (std::int64_t i = 0; i < count; ++i) {
          std::uint32_t sum = keeps ? 1000U * static_cast<std::uint32_t>(i) : 0U;
          for (std::int64_t k = 0; k < terms; ++k) {
            const std::int64_t weight = w[static_cast<std::size_t>(i * distance + k)] + weight_zero;
            sum += static_cast<std::uint32_t>((x[static_cast<std::size_t>(k)] + zero) * weight);
          }
          sums.push_back(static_cast<std::int32_t>(sum));
        }
        program.operation("rows", {xs, ws}, ints(sums), [&](const std::vector<VarId>& in, VarId out) {
          const VarId i = program.var("i", i32);
          return Block{loop(i, imm(0), imm(count), {store(out, program.ref(i), mul(program.ref(i), imm(1000)))}),
                       evaluate(tir::make_call(
                           tir::void_type, tir::Op::row_run,
                           {program.load(out, 0), program.load(in[0], 0), program.load(in[1], 0), imm(keeps ? 1 : 0),
                            imm(count), imm(distance), imm(terms), imm(zero), imm(weight_zero)}))};
        });
      }
    }
  }
  program.run();
  program.run_on_helium();
}

TEST_CASE("lanes: runs of fours on an emulated core") {
  CaseProgram program;
  std::uint32_t seed = 300;
  for (const DataType data_type : {i8, u8, i16}) {
    for (const DataType weight_type : {i8, u8, i16}) {
      for (const std::int64_t fours : {1, 2, 3, 4, 5, 6, 11}) {
        ++seed;
        const std::int64_t blocks = static_cast<std::int64_t>(seed % 3) + 1;
        const std::int64_t distance = 16 * (fours + static_cast<std::int64_t>(seed % 2));
        const bool keeps = seed % 4 < 2;
        const std::int64_t zero = data_type.bits == 16 ? 0 : std::vector<std::int64_t>{0, 128, -83, -255, 5}[seed % 5];
        std::vector<std::int64_t> x, w;
        const Data xs = elements(data_type, static_cast<std::size_t>(4 * fours), seed, x);
        const Data ws = elements(weight_type, static_cast<std::size_t>(blocks * distance), seed + 7, w);
        std::vector<std::int32_t> sums;
        for (std::int64_t i = 0; i < 4 * blocks; ++i) {
          std::uint32_t sum = keeps ? 1000U * static_cast<std::uint32_t>(i) : 0U;
          for (std::int64_t k = 0; k < 4 * fours; ++k) {
            const std::int64_t place = distance * (i / 4) + 16 * (k / 4) + 4 * (i % 4) + k % 4;
            sum += static_cast<std::uint32_t>((x[static_cast<std::size_t>(k)] + zero) *
                                              w[static_cast<std::size_t>(place)]);
          }
          sums.push_back(static_cast<std::int32_t>(sum));
        }
        program.operation("fours", {xs, ws}, ints(sums), [&](const std::vector<VarId>& in, VarId out) {
          const VarId i = program.var("i", i32);
          return Block{loop(i, imm(0), imm(4 * blocks), {store(out, program.ref(i), mul(program.ref(i), imm(1000)))}),
                       evaluate(tir::make_call(
                           tir::void_type, tir::Op::dot_run,
                           {program.load(out, 0), program.load(in[0], 0), program.load(in[1], 0), imm(keeps ? 1 : 0),
                            imm(blocks), imm(distance), imm(fours), imm(zero), imm(4)}))};
        });
      }
    }
  }
  program.run();
  program.run_on_dsp();
}

TEST_CASE("lanes: pairs of weights on an emulated core") {
  CaseProgram program;
  std::uint32_t seed = 400;
  for (const DataType data_type : {i8, u8}) {
    for (const std::int64_t fours : {1, 2, 3, 4, 5, 6, 11}) {
      for (const std::int64_t in_front : {0, 1}) {  // numbers that words begin behind, or half a word before
        ++seed;
        const std::int64_t blocks = static_cast<std::int64_t>(seed % 3) + 1;
        const std::int64_t zero = std::vector<std::int64_t>{0, 128, -83, -255, 5}[seed % 5];
        std::vector<std::int64_t> x, w;
        const Data xs = elements(data_type, static_cast<std::size_t>(4 * fours), seed, x);
        elements(i8, static_cast<std::size_t>(blocks * 16 * fours), seed + 7, w);
        std::vector<std::uint32_t> halves(static_cast<std::size_t>(in_front));
        std::vector<std::int32_t> sums;
        for (std::int64_t b = 0; b < blocks; ++b) {
          std::vector<std::uint32_t> pairs;
          std::vector<std::int64_t> fronts(4);
          std::vector<std::int64_t> of_block(4);
          for (std::int64_t p = 0; p < 8 * fours; ++p) {
            const auto s = static_cast<std::size_t>(p / 2 % 4);
            const std::int64_t k = p / 8 * 4 + p % 2 * 2;
            const auto place = static_cast<std::size_t>(b * 16 * fours + 2 * p);
            const std::int64_t first = std::max<std::int64_t>(w[place], -127);
            const std::int64_t second = w[place + 1];
            pairs.push_back(static_cast<std::uint32_t>(256 * first + second) & 0xffffU);
            // What products of data that are 0 are away from 256 times the sum.
            fronts[s] += 256 * zero * (first + second) - (data_type == i8 ? 127 : 255 - 256 * 128) * second;
            of_block[s] += (x[static_cast<std::size_t>(k)] + zero) * first;
            of_block[s] += (x[static_cast<std::size_t>(k + 1)] + zero) * second;
          }
          for (const std::int64_t front : fronts) {
            halves.push_back(static_cast<std::uint32_t>(front) & 0xffffU);
            halves.push_back(static_cast<std::uint32_t>(front) >> 16U);
          }
          halves.insert(halves.end(), pairs.begin(), pairs.end());
          for (const std::int64_t sum : of_block) sums.push_back(static_cast<std::int32_t>(sum));
        }
        Data ws{i16, {}};
        for (const std::uint32_t half : halves) {
          ws.bytes.push_back(static_cast<char>(half & 0xffU));
          ws.bytes.push_back(static_cast<char>(half >> 8U));
        }
        program.operation("pairs", {xs, ws}, ints(sums), [&](const std::vector<VarId>& in, VarId out) {
          return Block{evaluate(
              tir::make_call(tir::void_type, tir::Op::pair_run,
                             {program.load(out, 0), program.load(in[0], 0),
                              program.load(in[1], static_cast<int>(in_front)), imm(blocks), imm(fours), imm(zero)}))};
        });
      }
    }
  }
  program.run();
  program.run_on_dsp();
}

TEST_CASE("lanes: windows of rows on an emulated core") {
  CaseProgram program;
  std::uint32_t seed = 500;
  for (const DataType data_type : {i8, u8}) {
    for (const DataType weight_type : {i8, u8}) {
      for (const std::int64_t count : {-1, 1, 3, 4, 8, 9, 14}) {
        ++seed;
        const std::int64_t terms = std::max<std::int64_t>(count, 0);
        const std::int64_t rows = static_cast<std::int64_t>(seed % 4);
        const std::int64_t blocks = static_cast<std::int64_t>(seed % 3) + 1;
        const std::int64_t x_row = terms + static_cast<std::int64_t>(seed % 5);
        const std::int64_t w_row = terms + static_cast<std::int64_t>(seed % 2);
        const std::int64_t distance = w_row * rows + static_cast<std::int64_t>(seed % 3) + 1;
        const bool keeps = seed % 4 < 2;
        const std::int64_t zero = std::vector<std::int64_t>{0, 128, -83, -255, 5}[seed % 5];
        std::vector<std::int64_t> x, w;
        const Data xs = elements(data_type, static_cast<std::size_t>(x_row * rows + 1), seed, x);
        const Data ws = elements(weight_type, static_cast<std::size_t>(4 * blocks * distance), seed + 7, w);
        std::vector<std::int32_t> sums;
        for (std::int64_t i = 0; i < 4 * blocks; ++i) {
          std::uint32_t sum = keeps ? 1000U * static_cast<std::uint32_t>(i) : 0U;
          for (std::int64_t k = 0; k < rows * terms; ++k) {
            const std::int64_t value = x[static_cast<std::size_t>(k / terms * x_row + k % terms)] + zero;
            const std::int64_t place = i * distance + k / terms * w_row + k % terms;
            sum += static_cast<std::uint32_t>(value * w[static_cast<std::size_t>(place)]);
          }
          sums.push_back(static_cast<std::int32_t>(sum));
        }
        program.operation("window", {xs, ws}, ints(sums), [&](const std::vector<VarId>& in, VarId out) {
          const VarId i = program.var("i", i32);
          return Block{loop(i, imm(0), imm(4 * blocks), {store(out, program.ref(i), mul(program.ref(i), imm(1000)))}),
                       evaluate(tir::make_call(
                           tir::void_type, tir::Op::window_run,
                           {program.load(out, 0), program.load(in[0], 0), program.load(in[1], 0), imm(keeps ? 1 : 0),
                            imm(blocks), imm(distance), imm(rows), imm(x_row), imm(w_row), imm(count), imm(zero)}))};
        });
      }
    }
  }
  program.run();
  program.run_on_dsp();
}

TEST_CASE("lanes: sums side by side on an emulated core") {
  CaseProgram program;
  std::uint32_t seed = 100;
  for (const DataType data_type : {i8, u8, i16}) {
    for (const DataType weight_type : {i8, u8, i16}) {
      for (const std::int64_t taps : {1, 2, 3, 3, 3, 3, 5}) {
        ++seed;
        // Three taps also as most windows are: eights of sums, all equally far apart.
        const bool is_window = taps == 3 && seed % 4 != 0;
        const std::int64_t count = (is_window ? 8 : 4) * (static_cast<std::int64_t>(seed % 5) + 1);
        const std::int64_t distance = is_window ? count : count + static_cast<std::int64_t>(seed % 3);
        const bool keeps = seed % 2 == 0;
        const std::int64_t zero = data_type == i8 ? 128 : 0;
        std::vector<std::int64_t> x, w;
        const Data xs = elements(data_type, static_cast<std::size_t>(taps * distance), seed, x);
        const Data ws = elements(weight_type, static_cast<std::size_t>(taps * count), seed + 7, w);
        std::vector<std::int32_t> sums;
        for (std::int64_t i = 0; i < count; ++i) {
          std::uint32_t sum = keeps ? 1000U * static_cast<std::uint32_t>(i) : 0U;
          for (std::int64_t t = 0; t < taps; ++t) {
            const std::int64_t value = x[static_cast<std::size_t>(t * distance + i)] + zero;
            sum += static_cast<std::uint32_t>(value * w[static_cast<std::size_t>(t * count + i)]);
          }
          sums.push_back(static_cast<std::int32_t>(sum));
        }
        program.operation("lanes", {xs, ws}, ints(sums), [&](const std::vector<VarId>& in, VarId out) {
          const VarId i = program.var("i", i32);
          return Block{loop(i, imm(0), imm(count), {store(out, program.ref(i), mul(program.ref(i), imm(1000)))}),
                       evaluate(tir::make_call(
                           tir::void_type, tir::Op::lane_run,
                           {program.load(out, 0), program.load(in[0], 0), program.load(in[1], 0), imm(keeps ? 1 : 0),
                            imm(count / 4), imm(taps), imm(distance), imm(count), imm(zero)}))};
        });
      }
    }
  }
  program.run();
  program.run_on_helium();
  program.run_on_dsp();
}

// As TensorFlow Lite rounds: sums on the stack, into an output that may be anywhere; what is named is used twice.
TEST_CASE("lanes: what is rounded twice on an emulated core") {
  CaseProgram program;
  std::vector<std::int32_t> x = numbers();
  for (std::int32_t& one : x) one /= 8;
  std::vector<std::int32_t> factors(x.rbegin(), x.rend());
  std::vector<std::int8_t> shifts;
  for (std::size_t i = 0; i < x.size(); ++i) shifts.push_back(static_cast<std::int8_t>(i % 27));
  const auto rounded = [&](std::size_t i, int literal) {
    const std::int32_t h = product(std::int64_t{x[i]} * 4, factors[i], 32);
    const std::int32_t shift = literal > 0 ? literal : shifts[i];
    return std::clamp((((h + (h >> 31)) >> shift) + 1) >> 1, -128, 127);
  };
  for (const int literal : {0, 5}) {
    std::vector<std::int8_t> expected;
    for (std::size_t i = 0; i < x.size(); ++i) expected.push_back(static_cast<std::int8_t>(rounded(i, literal)));
    program.operation("rounded", {ints(x)}, ints8(expected), [&](const std::vector<VarId>& in, VarId out) {
      const VarId sums = program.pointer("sums", i32);
      const VarId factor = program.pointer("factor", i32);
      const VarId shift = program.pointer("shift", i8);
      const VarId i = program.var("i", i32);
      const VarId o = program.var("o", i32);
      const VarId h = program.var("h", i32);
      const auto count = static_cast<std::int64_t>(x.size());
      const auto constant = [&](VarId var, const Data& data) {
        return tir::Stmt{tir::AllocateConst{
            var, data.type, std::make_shared<const tir::Constant>(tir::Constant{data.type, {count}, data.bytes}), {}}};
      };
      const auto shifted = [&](const ExprRef& value, const ExprRef& by) {
        return tir::make_call(i32, tir::Op::shift_right, {value, by});
      };
      tir::Allocate array{
          .var = sums, .type = i32, .extents = {imm(count)}, .condition = nullptr, .candidate_pools = {}};
      array.on_stack = array.was_on_stack = true;
      const ExprRef by = literal > 0 ? imm(literal) : cast(i32, program.load(shift, program.ref(o)));
      const ExprRef whole = shifted(add(program.ref(h), shifted(program.ref(h), imm(31))), by);
      const ExprRef value = cast(i8, clip(shifted(add(whole, imm(1)), imm(1)), -128, 127));
      return Block{{std::move(array)},
                   constant(factor, ints(factors)),
                   constant(shift, ints8(shifts)),
                   loop(i, imm(0), imm(count), {store(sums, program.ref(i), program.load(in[0], program.ref(i)))}),
                   loop(o, imm(0), imm(count),
                        {let(h, high(mul(program.load(sums, program.ref(o)), imm(4)),
                                     program.load(factor, program.ref(o)), imm(0))),
                         store(out, program.ref(o), value)})};
    });
  }
  const std::string text = program.text();
  CHECK(text.find("  usmp_neighbours_0(out, sums, m_factor, m_shift, 200);") != std::string::npos);
  CHECK(text.find("  usmp_neighbours_1(out, sums, m_factor_1, 200);") != std::string::npos);
  program.run();
  program.run_on_helium();
  program.run_on_dsp();
}

TEST_CASE("lanes: own storage alone is read before all is stored") {
  CaseProgram program;
  const VarId own = program.pointer("own", i32);
  const VarId other = program.pointer("other", i32);
  const VarId out = program.pointer("out", i32);
  const VarId i = program.var("i", i32);
  const auto fits = [&](VarId from, VarId to, std::int64_t count) {
    const ExprRef value = tir::make_call(i32, tir::Op::shift_right, {program.load(from, program.ref(i)), imm(3)});
    const tir::Stmt nest = loop(i, imm(0), imm(count), {store(to, program.ref(i), value)});
    arith::Ranges ranges;
    return store_of_own(program.module(), std::get<tir::For>(nest.node), ranges, [&](VarId var) { return var == own; })
        .has_value();
  };
  CHECK(fits(own, out, 16));
  CHECK_FALSE(fits(own, out, 18));
  CHECK_FALSE(fits(other, out, 16));
  CHECK_FALSE(fits(own, own, 16));
}

// Up to nine weights a sum, all or some of which have data; a row may end with its ring, or go on at its beginning.
TEST_CASE("lanes: windows of lanes on an emulated core") {
  CaseProgram program;
  std::uint32_t seed = 900;
  const auto drawn = [&](std::int64_t from, std::int64_t to) {
    seed = seed * 1664525U + 1013904223U;
    return from + static_cast<std::int64_t>((seed >> 8U) % static_cast<std::uint32_t>(to - from + 1));
  };
  for (const DataType data_type : {i8, u8}) {
    for (const DataType weight_type : {i8, u8}) {
      for (int one = 0; one < 24; ++one) {
        const bool is_small = one % 4 == 3;  // a window of another size
        const std::int64_t all_rows = is_small ? drawn(1, 5) : 3;
        const std::int64_t all_taps = is_small ? drawn(1, 5) : 3;
        const bool is_whole = one % 2 == 0;
        const std::int64_t rows = is_whole ? all_rows : drawn(0, all_rows);
        const std::int64_t taps = is_whole ? all_taps : drawn(-1, all_taps);
        const std::int64_t distance = 4 * all_rows * all_taps;
        const std::int64_t begin =
            4 * (drawn(0, all_rows - rows) * all_taps + drawn(0, std::min(all_taps, all_taps - taps)));
        const std::int64_t blocks = drawn(1, 3);
        const std::int64_t x_tap = 4 * blocks + drawn(0, 2);
        const std::int64_t row_taps = all_taps + drawn(0, 2);
        const std::int64_t x_row = row_taps * x_tap;
        const bool is_ring = one % 3 != 0;
        const std::int64_t pixels = drawn(row_taps, 3 * row_taps);
        const std::int64_t size = is_ring ? pixels * x_tap : 0;
        const std::int64_t place = is_ring ? drawn(0, pixels - 1) * x_tap : 0;
        const std::int64_t zero = std::vector<std::int64_t>{0, 128, -83, 0}[static_cast<std::size_t>(one / 6)];
        const std::int64_t step = one % 5 < 2 ? drawn(2, 4) : 1;  // sums of a channel
        std::vector<std::int64_t> x, w;
        const std::int64_t elements_of_x = is_ring ? size : x_row * all_rows;
        const Data xs = elements(data_type, static_cast<std::size_t>(elements_of_x), seed, x);
        const Data ws = elements(weight_type, static_cast<std::size_t>(step * blocks * distance), seed + 7, w);
        std::vector<std::int32_t> sums;
        for (std::int64_t n = 0; n < 4 * blocks * step; ++n) {
          const std::int64_t i = n / step;
          const std::int64_t block = i / 4 + n % step * blocks;
          std::uint32_t sum = 0;
          for (std::int64_t k = 0; k < rows * std::max<std::int64_t>(taps, 0); ++k) {
            const std::int64_t at = place + k / taps * x_row + k % taps * x_tap;
            const std::int64_t value = x[static_cast<std::size_t>((is_ring ? at % size : at) + i)] + zero;
            const std::int64_t weight = block * distance + begin + k / taps * 4 * all_taps + k % taps * 4 + i % 4;
            sum += static_cast<std::uint32_t>(value * w[static_cast<std::size_t>(weight)]);
          }
          sums.push_back(static_cast<std::int32_t>(sum));
        }
        program.operation("window", {xs, ws}, ints(sums), [&](const std::vector<VarId>& in, VarId out) {
          return Block{
              evaluate(tir::make_call(tir::void_type, tir::Op::lane_window,
                                      {program.load(out, 0), program.load(in[0], 0), program.load(in[1], 0),
                                       imm(blocks), imm(distance), imm(begin), imm(rows), imm(x_row), imm(4 * all_taps),
                                       imm(taps), imm(x_tap), imm(zero), imm(place), imm(size), imm(step)}))};
        });
      }
    }
  }
  program.run();
  program.run_on_dsp();
}

// for i: out[i] = x[i] + …, changed in one way each.
struct LanesFixture : CaseProgram {
  VarId x = pointer("x", i32);
  VarId out = pointer("out", i32);
  VarId byte = pointer("byte", i8);
  VarId i = var("i", i32);
  VarId n = var("n", i32);
  std::int64_t count = 16;
  bool alone = true;
  ExprRef at = ref(i);
  ExprRef value = add(load(x, ref(i)), imm(1));
  VarId storage = out;
  tir::Block before;

  bool fits() {
    tir::Function function;
    for (const VarId id : {x, out, byte}) {
      tir::Param param;
      param.var = id;
      param.no_alias = alone;
      function.params.push_back(param);
    }
    before.push_back(store(storage, at, value));
    const tir::For nest{i, imm(0), imm(count), before};
    arith::Ranges ranges;
    return store_of_lanes(module(), function, nest, ranges).has_value();
  }
};

TEST_CASE_FIXTURE(LanesFixture, "lanes: loops that vectors may take") {
  SUBCASE("neighbours") {}
  SUBCASE("from a place on") { at = add(mul(ref(n), imm(4)), ref(i)); }
  SUBCASE("what is read is stored again") { value = add(load(out, ref(i)), load(x, ref(i))); }
  SUBCASE("what does not change") { value = add(load(x, ref(n)), load(x, ref(i))); }
  SUBCASE("a product doubled, of a byte") { value = doubled(cast(i32, load(byte, ref(i))), 1140768826, 3); }
  SUBCASE("a variable in front") {
    before.push_back(let(n, add(ref(i), imm(3))));
    at = ref(n);
  }
  SUBCASE("a variable in front that names a value") {
    before.push_back(let(n, high(load(x, ref(i)), imm(5), imm(0))));
    value = add(ref(n), tir::make_call(i32, tir::Op::shift_right, {ref(n), imm(31)}));
  }
  CHECK(fits());
}

TEST_CASE_FIXTURE(LanesFixture, "lanes: loops that vectors may not take") {
  SUBCASE("a number of elements that four does not divide") { count = 18; }
  SUBCASE("elements that are apart") { at = mul(ref(i), imm(2)); }
  SUBCASE("elements backwards") { at = sub(imm(20), ref(i)); }
  SUBCASE("elements read that are apart") { value = load(x, mul(ref(i), imm(2))); }
  SUBCASE("what was stored one element before") { value = add(load(out, sub(ref(i), imm(1))), load(x, ref(i))); }
  SUBCASE("what is stored, always the same") { value = add(load(out, imm(0)), load(x, ref(i))); }
  SUBCASE("another pointer may reach the output") { alone = false; }
  SUBCASE("a sum that wraps in its type") {
    storage = byte;
    value = add(load(byte, ref(i)), load(byte, ref(i)));
  }
  SUBCASE("a cast that cuts") { value = cast(i32, cast(i8, load(x, ref(i)))); }
  SUBCASE("a product doubled of what does not fit") { value = doubled(load(x, ref(i)), 1140768826, 3); }
  SUBCASE("a product doubled with a negative factor") { value = doubled(load(x, ref(i)), -5, 0); }
  SUBCASE("a shift by more bits than there are") {
    value = tir::make_call(i32, tir::Op::shift_right, {load(x, ref(i)), imm(32)});
  }
  SUBCASE("a variable in front that names what was stored one element before") {
    before.push_back(let(n, load(out, sub(ref(i), imm(1)))));
    value = add(ref(n), imm(1));
  }
  SUBCASE("variables that double the value over and over") {
    ExprRef all = load(x, ref(i));
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
      const VarId twice = var(name, i32);
      before.push_back(let(twice, add(all, add(all, all))));
      all = ref(twice);
    }
    value = all;
  }
  SUBCASE("a quotient") { value = binary(ExprKind::div, load(x, ref(i)), imm(3)); }
  SUBCASE("the number of the element") { value = add(load(x, ref(i)), ref(i)); }
  SUBCASE("a comparison") {
    value = tir::make_call(i32, "tir.if_then_else",
                           {binary(ExprKind::lt, load(x, ref(i)), imm(0)), load(x, ref(i)), imm(0)});
  }
  SUBCASE("a variable in front that is read from memory") {
    before.push_back(let(n, load(x, imm(0))));
    at = add(ref(n), ref(i));
  }
  CHECK_FALSE(fits());
}

}  // namespace
}  // namespace usmp::codegen::testing::lanes_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// SOFTMAX over the last dimension. int8: exponentials of the 256 differences to the largest element are a table, the
// reciprocal of their sum takes three Newton steps. int16: two tables of 513 values, between which it interpolates.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "tflite/arithmetic.hpp"
#include "tflite/fixed_point.hpp"
#include "tflite/operators.hpp"
#include "tflite/tables.hpp"

namespace usmp::tflite {
namespace {

constexpr int sum_bits = 12;        // integer bits of the sum
constexpr int difference_bits = 5;  // of the scaled differences

struct Rows {
  std::int64_t count = 0;
  std::int64_t depth = 0;
};

Rows rows_of(Emitter& e) {
  const Value& in = e.input(0);
  e.require(!in.shape.empty() && in.shape.back() > 0, "shape " + text_of(in.shape), "one dimension or more");
  e.require_shape(e.output(), in.shape);
  return {in.count() / in.shape.back(), in.shape.back()};
}

Num largest(Nest& nest, const Array& in, const Rows& rows, const Num& row, tir::DataType type, const Num& least) {
  const Array most = nest.variables("most", type, 1);
  nest.store(most, 0, least);
  nest.loop("c", rows.depth, [&](const Num& c) {
    nest.store(most, 0, max(nest.load(most, 0), cast(type, nest.load(in, row * Num(rows.depth) + c))));
  });
  return nest.let("largest", nest.load(most, 0));
}

void softmax_float(Emitter& e, const Rows& rows) {
  const Array in = e.in(0);
  const Array out = e.out();
  Nest& nest = e.nest();
  nest.loop("r", rows.count, [&](const Num& row) {
    const Num most = largest(nest, in, rows, row, float32_type, float_literal(std::numeric_limits<float>::lowest()));
    const Array sum = nest.variables("sum", float32_type, 1);
    nest.store(sum, 0, float_literal(0));
    nest.loop("c", rows.depth, [&](const Num& c) {
      const Num index = row * Num(rows.depth) + c;
      const Num power =
          call(float32_type, tir::Op::exp, {(nest.load(in, index) - most) * float_literal(e.options().beta)});
      nest.store(out, index, power);
      nest.store(sum, 0, nest.load(sum, 0) + nest.load(out, index));
    });
    nest.loop("c", rows.depth, [&](const Num& c) {
      const Num index = row * Num(rows.depth) + c;
      nest.store(out, index, nest.load(out, index) / nest.load(sum, 0));
    });
  });
}

// x · y with one integer bit more, as fixed-point numbers multiply; both int32.
Num product(const Num& x, const Num& y) { return high_product(x, y); }

// 1 / (1 + x) of x in [0, 1), Q0.31 both.
Num one_over_one_plus(Nest& nest, const Num& x) {
  const Num half =
      nest.let("half", cast(tir::int32_type, (wide(x) + literal(std::int64_t{1} << 31, tir::int64_type)) >> 1));
  Num y = nest.let("y", product(half, fixed::c_neg_32_over_17) + Num(fixed::c_48_over_17));
  for (int step = 0; step < 3; ++step) {
    // Q2.29 times Q2.29 is Q4.27; it is far from the limits.
    const Num rest = nest.let("rest", Num(1 << 29) - product(half, y));
    y = nest.let("y", y + (product(y, rest) << 2));
  }
  constexpr std::int64_t limit = std::int64_t{1} << 30;
  return select(less(y, limit), min(y, limit - 1) << 1, INT32_MAX);
}

// Exponentials of differences −255 … 0 to the largest element, Q0.31; those that do not count are 0.
std::vector<std::int64_t> exponentials(const Value& in, float beta) {
  const double scaled = std::min(static_cast<double>(beta) * in.scale() * (1 << (31 - difference_bits)),
                                 static_cast<double>((std::int64_t{1} << 31) - 1));
  const Multiplier factor = multiplier_of(scaled);
  const double radius = std::floor(1.0 * ((1 << difference_bits) - 1) *
                                   static_cast<double>(1LL << (31 - difference_bits)) / std::ldexp(1.0, factor.shift));
  const double least = -radius;
  std::vector<std::int64_t> result;
  for (int difference = -255; difference <= 0; ++difference) {
    const bool counts = difference >= least;
    result.push_back(counts ? fixed::exp_on_negative_values(multiplied(difference, factor), difference_bits) : 0);
  }
  return result;
}

void softmax_int8(Emitter& e, const Rows& rows) {
  const Value& in = e.input(0);
  const bool to_int16 = e.output().type == Type::int16;
  e.require(e.output().zero_point() == (to_int16 ? -32768 : -128) &&
                std::abs(e.output().scale() - (to_int16 ? 1.0 / 65536 : 1.0 / 256)) < 1e-8,
            "an output with another scale", "1/256 with zero point −128");
  const std::vector<std::int64_t> powers = exponentials(in, e.options().beta);
  std::vector<std::int64_t> terms;
  terms.reserve(powers.size());
  for (const std::int64_t one : powers) terms.push_back(rounding_divide(static_cast<std::int32_t>(one), sum_bits));
  Nest& nest = e.nest();
  const Array source = e.in(0);
  const Array out = e.out();
  const Array power_table = nest.constant("powers", tir::int32_type, powers);
  const Array term_table = nest.constant("terms", tir::int32_type, terms);
  const std::int64_t largest_sum = rows.depth * *std::ranges::max_element(terms);
  e.require(largest_sum < (std::int64_t{1} << 31), std::to_string(rows.depth) + " elements in a row",
            "fewer than 4096");
  const Interval range = range_of(e.output().type);
  const int bits = to_int16 ? 16 : 8;
  nest.loop("r", rows.count, [&](const Num& row) {
    const Num most = largest(nest, source, rows, row, int8_type, literal(-128, int8_type));
    const Array sum = nest.variables("sum", tir::int32_type, 1);
    nest.store(sum, 0, 0);
    const auto place = [&](const Num& index) {
      return nest.load_int(source, index) - cast(tir::int32_type, most) + Num(255);
    };
    nest.loop("c", rows.depth, [&](const Num& c) {
      nest.store(sum, 0, nest.load(sum, 0) + nest.load(term_table, place(row * Num(rows.depth) + c)));
    });
    // 1 / sum = 2^… · 1 / (1 + x): the sum is at least 1.0, 2^19.
    const Num total = nest.let("total", nest.load(sum, 0));
    const Num headroom = nest.let("headroom", call(tir::int32_type, tir::Op::clz, {total}));
    const Num shifted =
        cast(tir::int32_type, call(tir::int64_type, tir::Op::shift_left, {wide(total), wide(headroom)}) -
                                  literal(std::int64_t{1} << 31, tir::int64_type));
    const Num scale = nest.let("scale", one_over_one_plus(nest, nest.let("x", shifted)));
    // Bits over one: sum_bits − headroom; the result has 8 or 16 fraction bits.
    const Num exponent = nest.let("exponent", Num(sum_bits + 31 - bits) - headroom);
    nest.loop("c", rows.depth, [&](const Num& c) {
      const Num index = row * Num(rows.depth) + c;
      const Num h = nest.let("h", product(scale, nest.load(power_table, place(index))));
      // h >= 0.
      const Num half = call(tir::int64_type, tir::Op::shift_right,
                            {call(tir::int64_type, tir::Op::shift_left, {literal(1, tir::int64_type), wide(exponent)}),
                             literal(1, tir::int64_type)});
      const Num result = cast(tir::int32_type, (wide(h) + half) >> wide(exponent));
      nest.store(out, index, clip(result + Num(range.low), range.low, range.high));
    });
  });
}

// Exponentials are kept in the output.
void softmax_int16(Emitter& e, const Rows& rows) {
  const Value& in = e.input(0);
  e.require(e.output().zero_point() == 0 && std::abs(e.output().scale() - 1.0 / 32768) < 1e-7,
            "an output with another scale", "1/32768 with zero point 0");
  Nest& nest = e.nest();
  const auto power = [](float x) { return std::exp(x); };
  const auto inverse = [](float x) { return 1.0F / (1.0F + x); };
  const Array powers = nest.constant("powers", int16_type, samples_of(power, -10, 0, -1, 1));
  const Array inverses = nest.constant("inverses", int16_type, samples_of(inverse, 0, 1, -1, 1));
  const Multiplier factor = multiplier_of(in.scale() * static_cast<double>(e.options().beta) / (10.0 / 65535.0));
  const Array source = e.in(0);
  const Array out = e.out();
  e.require(rows.depth < 1 << 16, std::to_string(rows.depth) + " elements in a row", "fewer than 65536");
  nest.loop("r", rows.count, [&](const Num& row) {
    const Num most = largest(nest, source, rows, row, int16_type, literal(INT16_MIN, int16_type));
    const Array sum = nest.variables("sum", tir::int32_type, 1);
    nest.store(sum, 0, 0);
    nest.loop("c", rows.depth, [&](const Num& c) {
      const Num index = row * Num(rows.depth) + c;
      const Num difference = nest.load_int(source, index) - cast(tir::int32_type, most);
      const Num scaled = multiplied(nest, difference, factor, 1 << 16);
      const Num x = nest.let("x", clip(wide(scaled) + literal(INT16_MAX, tir::int64_type), INT16_MIN, INT16_MAX));
      const Num value = nest.let("power", interpolated(nest, powers, cast(tir::int32_type, x)));
      nest.store(out, index, value);
      nest.store(sum, 0, nest.load(sum, 0) + value);
    });
    // The sum, of 15 fraction bits, as 1 + x in 16 bits.
    const Num total = nest.let("total", nest.load(sum, 0));
    const Num headroom = nest.let("headroom", call(tir::int32_type, tir::Op::clz, {total}));
    const Num shifted =
        call(tir::int64_type, tir::Op::shift_left, {wide(total), wide(headroom) - literal(1, tir::int64_type)});
    const Num rounded = (shifted + literal(1 << 13, tir::int64_type)) >> 14;
    const Num x =
        nest.let("x", clip(cast(tir::int32_type, rounded) - Num((1 << 15) + (1 << 16)), INT16_MIN, INT16_MAX));
    const Num reciprocal = nest.let("reciprocal", interpolated(nest, inverses, x));
    const Num right = nest.let("right", Num(31) - headroom);
    nest.loop("c", rows.depth, [&](const Num& c) {
      const Num index = row * Num(rows.depth) + c;
      const Num half = call(tir::int64_type, tir::Op::shift_left,
                            {literal(1, tir::int64_type), wide(right) - literal(1, tir::int64_type)});
      const Num product = wide(nest.load(out, index)) * wide(reciprocal) + half;
      nest.store(out, index, clip(cast(tir::int32_type, product >> wide(right)), 0, INT16_MAX));
    });
  });
}

}  // namespace

void log_softmax(Emitter& e) {
  e.require_type(e.input(0), {Type::float32});
  e.require_type(e.output(), {Type::float32});
  const Rows rows = rows_of(e);
  const Array in = e.in(0);
  const Array out = e.out();
  Nest& nest = e.nest();
  nest.loop("r", rows.count, [&](const Num& row) {
    const Num most = largest(nest, in, rows, row, float32_type, float_literal(std::numeric_limits<float>::lowest()));
    const Array sum = nest.variables("sum", float32_type, 1);
    nest.store(sum, 0, float_literal(0));
    nest.loop("c", rows.depth, [&](const Num& c) {
      const Num x = nest.load(in, row * Num(rows.depth) + c) - most;
      nest.store(sum, 0, nest.load(sum, 0) + call(float32_type, tir::Op::exp, {x}));
    });
    const Num log = nest.let("log", call(float32_type, tir::Op::log, {nest.load(sum, 0)}));
    nest.loop("c", rows.depth, [&](const Num& c) {
      const Num index = row * Num(rows.depth) + c;
      nest.store(out, index, nest.load(in, index) - most - log);
    });
  });
}

void softmax(Emitter& e) {
  const Value& in = e.input(0);
  e.require_type(in, {Type::float32, Type::int8, Type::int16});
  const Rows rows = rows_of(e);
  if (in.type == Type::float32) {
    e.require_type(e.output(), {Type::float32});
    return softmax_float(e, rows);
  }
  e.require_scale(in);
  e.require_scale(e.output());
  if (in.type == Type::int8) {
    e.require_type(e.output(), {Type::int8, Type::int16});
    return softmax_int8(e, rows);
  }
  e.require_type(e.output(), {Type::int16});
  softmax_int16(e, rows);
}

}  // namespace usmp::tflite

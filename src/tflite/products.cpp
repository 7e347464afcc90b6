// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums of products: int8 and 16x8 with one factor a channel, float32 in the order of the terms.
#include "tflite/products.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

namespace usmp::tflite {
namespace {

constexpr std::int64_t most_int32 = INT32_MAX;

std::int64_t element(const std::string& bytes, std::size_t index) {
  return static_cast<std::int8_t>(static_cast<std::uint8_t>(bytes[index]));
}

}  // namespace

std::int64_t block_of(std::int64_t channels, std::int64_t together) {
  if (channels <= most_sums) return channels;
  for (std::int64_t count = most_sums; count >= 16; --count) {
    if (channels % count == 0 && count % together == 0) return count;
  }
  return channels;
}

void require_wide_factors(const Emitter& e, const std::vector<Multiplier>& factors) {
  e.require(std::ranges::all_of(factors, [](const Multiplier& one) { return one.shift <= most_wide_shift; }),
            "scales whose ratio is 2^14 or more, in 16 bits", "smaller ones");
}

Weights ordered_weights(const Emitter& e, std::size_t i, const std::vector<std::size_t>& order) {
  const Value& value = e.input(i);
  e.require(value.is_constant, "weights that are computed", "constants");
  Weights result{.type = value.type, .shape = {}, .bytes = {}};
  const std::size_t rank = value.shape.size();
  e.require(rank == order.size(), "weights of shape " + text_of(value.shape),
            std::to_string(order.size()) + " dimensions");
  std::vector<std::int64_t> strides(rank);
  std::int64_t stride = 1;
  for (std::size_t d = rank; d-- > 0; stride *= value.shape[d]) strides[d] = stride;
  for (const std::size_t d : order) result.shape.push_back(value.shape[d]);
  const auto width = static_cast<std::size_t>(bytes_of(value.type));
  result.bytes.reserve(value.data.size());
  if (value.count() == 0) return result;
  std::vector<std::int64_t> at(rank, 0);
  std::int64_t place = 0;
  while (true) {
    result.bytes.append(value.data.substr(static_cast<std::size_t>(place) * width, width));
    std::size_t k = rank;
    while (k-- > 0) {
      place += strides[order[k]];
      if (++at[k] < result.shape[k]) break;
      place -= strides[order[k]] * at[k];
      at[k] = 0;
      if (k == 0) return result;
    }
  }
}

void Products::check_types(const Value& data, const Value& weights) const {
  const Value& output = e_.output();
  e_.require_type(data, {Type::int8, Type::int16, Type::float32});
  e_.require_type(output, {data.type});
  if (is_float_) {
    e_.require_type(weights, {Type::float32});
    return;
  }
  e_.require_type(weights, {Type::int8});
  e_.require_scale(data);
  e_.require_scale(output);
  e_.require(weights.quantization.is_there(), "weights without a scale", "weights with scales");
  e_.require(data.type == Type::int8 || (data.zero_point() == 0 && output.zero_point() == 0), "int16 with a zero point",
             "int16 with zero point 0");
}

Products::Products(Emitter& e, std::size_t data, std::size_t weights, std::size_t bias, Weights ordered, Wide wide,
                   bool float_product)
    : e_(e), is_float_(e.input(data).type == Type::float32) {
  const Value& input = e.input(data);
  check_types(input, e.input(weights));
  const std::int64_t channels = ordered.shape.back();
  const bool has_bias = e.has_input(bias);
  if (has_bias) e.require_shape(e.input(bias), {channels});
  const auto activation = e.options().activation;
  e.require(activation <= Activation::relu6, "activation " + std::to_string(static_cast<int>(activation)),
            "none, RELU, RELU_N1_TO_1 or RELU6");
  const bool is_int16 = input.type == Type::int16;
  if (has_bias) {
    const Value& value = e.input(bias);
    if (is_float_) {
      e.require_type(value, {Type::float32});
    } else if (!is_int16) {
      e.require_type(value, {Type::int32});
    } else if (wide == Wide::always) {
      e.require_type(value, {Type::int64});
    } else {
      e.require_type(value, {Type::int32, Type::int64});
    }
  }
  const bool is_wide = is_int16 && (wide == Wide::always || (has_bias && e.input(bias).type == Type::int64));
  weights_zero_ = ordered.zero_point;
  data_type_ = is_float_ ? float32_type : int16_type;
  sum_type_ = is_float_ ? float32_type : tir::int32_type;
  biased_type_ = sum_type_;
  if (is_float_) {
    weights_ = e.nest().constant("weights", float32_type, ordered.shape, std::move(ordered.bytes));
    if (has_bias) bias_ = e.in(bias);
    return;
  }
  offset_ = -input.zero_point();
  const Value& output = e.output();
  range_ = activation_range(activation, output).value();
  const std::vector<float>& scales = e.input(weights).quantization.scales;
  e.require(scales.size() == 1 || static_cast<std::int64_t>(scales.size()) == channels,
            std::to_string(scales.size()) + " scales of weights", "one, or one a channel");
  std::vector<Multiplier> factors;
  for (const float scale : scales) {
    const double product = float_product && scales.size() == 1
                               ? static_cast<double>(input.quantization.scales.front() * scale)
                               : input.scale() * static_cast<double>(scale);
    factors.push_back(multiplier_of(product / output.scale()));
  }
  const std::vector<Interval> sums = sums_of(input, ordered);
  std::vector<std::int64_t> biases;
  if (has_bias) biases = e.integers(bias);
  bool is_other = false;
  for (std::size_t c = 0; !is_wide && c < biases.size() && biases.size() == factors.size(); ++c) {
    is_other = make_small(biases[c], factors[c], sums[c]) || is_other;
  }
  const std::int64_t bound = bound_of(sums, biases);
  if (bound_of(sums, {}) > most_int32) sum_type_ = tir::int64_type;
  biased_type_ = bound > most_int32 ? tir::int64_type : tir::int32_type;
  weights_ = e.nest().constant("weights", data_type_of(ordered.type), ordered.shape, std::move(ordered.bytes));
  if (has_bias) bias_ = is_other ? e.nest().constant("bias", tir::int32_type, biases) : e.in(bias);
  if (is_wide) {
    require_wide_factors(e, factors);
    wide_.emplace(e.nest(), std::move(factors), has_bias ? biased_type_ : sum_type_);
  } else {
    rescale_.emplace(e.nest(), std::move(factors), std::min(bound, most_int32), output.zero_point());
  }
}

// Bounds the sums of all terms, and of any of them.
std::vector<Interval> Products::sums_of(const Value& data, const Weights& ordered) const {
  const Interval values = range_of(data.type);
  const std::int64_t low = std::min<std::int64_t>(values.low + offset_, 0);
  const std::int64_t high = std::max<std::int64_t>(values.high + offset_, 0);
  const auto channels = static_cast<std::size_t>(ordered.shape.back());
  std::vector<Interval> sums(channels, Interval{0, 0});
  for (std::size_t k = 0; k < ordered.bytes.size(); ++k) {
    const std::int64_t weight = element(ordered.bytes, k) - ordered.zero_point;
    Interval& sum = sums[k % channels];
    sum.low += weight * (weight < 0 ? high : low);
    sum.high += weight * (weight < 0 ? low : high);
  }
  return sums;
}

// Channels that no input changes have biases of 2^30 in trained models: others, and another factor, give the same, and
// twice the sum fits 32 bits.
bool Products::make_small(std::int64_t& bias, Multiplier& factor, const Interval& sum) const {
  const std::int64_t low = sum.low + bias;
  const std::int64_t high = sum.high + bias;
  const std::int64_t limit = (most_int32 + 1) >> (std::max(factor.shift, 0) + 1);
  if ((-low < limit && high < limit) || low < -limit * 2 || high >= limit * 2 || factor.multiplier < 0) return false;
  const std::int64_t zero = e_.output().zero_point();
  const auto output = [&](std::int64_t x, Multiplier by) {
    return std::clamp(multiplied(x, by) + zero, range_.low, range_.high);
  };
  const std::int64_t value = output(low, factor);
  const std::int64_t most = std::max(-sum.low, sum.high);
  if (value != output(high, factor) || most >= limit) return false;
  const int right = std::max(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most))), 1);
  const std::int64_t other_bias = (value - zero) * (std::int64_t{2} << right);
  if (std::abs(other_bias) + most >= limit) return false;
  const Multiplier other{1 << 30, -right};
  if (output(sum.low + other_bias, other) != value || output(sum.high + other_bias, other) != value) return false;
  bias = other_bias;
  factor = other;
  return true;
}

std::int64_t Products::bound_of(const std::vector<Interval>& sums, const std::vector<std::int64_t>& biases) {
  std::int64_t bound = 0;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    bound = std::max({bound, -sums[c].low, sums[c].high});
    if (biases.empty()) continue;
    constexpr std::int64_t far = std::int64_t{1} << 62;
    if (std::abs(biases[c] / 2) > far / 2) return far;
    bound = std::max({bound, std::abs(biases[c] + sums[c].low), std::abs(biases[c] + sums[c].high)});
  }
  return bound;
}

Num Products::centred(Nest& nest, const Array& array, const Num& index) const {
  if (is_float_) return nest.load(array, index);
  const Num value = cast(sum_type_, nest.load(array, index));
  return array.element == int16_type ? value : value + Num(offset_);
}

void Products::block(const Array& out, std::int64_t count, const Num& first, const Num& place,
                     const Terms& terms) const {
  Nest& nest = e_.nest();
  const Array sums = nest.variables("sums", sum_type_, count);
  nest.loop("o", count, [&](const Num& o) {
    nest.store(sums, o, is_float_ ? float_literal(0) : literal(0, sum_type_));
    terms(o, [&](const Num& x, const Num& weight) {
      Num w = nest.load(weights_, weight);
      if (!is_float_) w = cast(sum_type_, w) + Num(-weights_zero_);
      nest.store(sums, o, nest.load(sums, o) + x * w);
    });
  });
  nest.loop("c", count, [&](const Num& c) { finish(out, place + c, nest.load(sums, c), first + c); });
}

void Products::finish(const Array& out, const Num& place, const Num& sum, const Num& channel) const {
  Nest& nest = e_.nest();
  Num value = sum;
  if (bias_) value = cast(biased_type_, value) + cast(biased_type_, nest.load(*bias_, channel));
  if (is_float_) return nest.store(out, place, activated(value, e_.options().activation));
  if (wide_) {
    value = (*wide_)(nest, value, channel) + Num(e_.output().zero_point());
  } else {
    value = (*rescale_)(nest, cast(tir::int32_type, value), channel);
  }
  nest.store(out, place, clip(value, range_.low, range_.high));
}

}  // namespace usmp::tflite

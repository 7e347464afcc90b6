// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What convolutions and dense layers have in common: sums of products of inputs and weights, in accumulators of a
// block of outputs, and what becomes of a sum.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tflite/arithmetic.hpp"
#include "tflite/operators.hpp"

namespace usmp::tflite {

// Weights in the order in which they are used: [taps …][channels], so that those of neighbouring channels are side by
// side.
struct Weights {
  Type type = Type::unknown;
  Shape shape;        // the last extent: channels
  std::string bytes;  // of the type
  std::int64_t zero_point = 0;
};

// The largest number of accumulators.
inline constexpr std::int64_t most_sums = 64;

// Channels of a block: the largest divisor of their number that is at most `most_sums`, all of them if it is small.
// Blocks do not part those of which so many belong `together`.
[[nodiscard]] std::int64_t block_of(std::int64_t channels, std::int64_t together = 1);

// For multiplied_wide.
void require_wide_factors(const Emitter& e, const std::vector<Multiplier>& factors);

class Products {
 public:
  // How sums of 16x8 are scaled: in 64 bits, rounded once, or only where the bias has 64 bits.
  enum class Wide : std::uint8_t { always, with_bias };

  // Checks types and scales of input `data`, `weights` (its scales; its elements are `ordered`), `bias`, which may be
  // left out, and output 0. Declares the constants. `float_product`: the product of the scales is a float32.
  Products(Emitter& e, std::size_t data, std::size_t weights, std::size_t bias, Weights ordered, Wide wide,
           bool float_product = false);

  [[nodiscard]] const Array& weights() const { return weights_; }
  [[nodiscard]] tir::DataType data_type() const { return data_type_; }  // of padded copies
  // An element of the input, as it is multiplied: less its zero point.
  [[nodiscard]] Num centred(Nest& nest, const Array& array, const Num& index) const;

  // The sums of a block of channels from `first` on, and their outputs. `terms` opens the loops over the terms of
  // channel first + o and calls `add(x, w)` with a centred input and the index of a weight. Output i is stored at
  // `place` + i, for i in the block.
  using Add = std::function<void(const Num& x, const Num& weight)>;
  using Terms = std::function<void(const Num& o, const Add& add)>;
  void block(const Array& out, std::int64_t count, const Num& first, const Num& place, const Terms& terms) const;

 private:
  void finish(const Array& out, const Num& place, const Num& sum, const Num& channel) const;
  void check_types(const Value& data, const Value& weights) const;
  [[nodiscard]] std::vector<Interval> sums_of(const Value& data, const Weights& ordered) const;
  bool make_small(std::int64_t& bias, Multiplier& factor, const Interval& sum) const;
  [[nodiscard]] static std::int64_t bound_of(const std::vector<Interval>& sums,
                                             const std::vector<std::int64_t>& biases);

  Emitter& e_;
  Array weights_;
  std::optional<Array> bias_;
  tir::DataType data_type_;
  tir::DataType sum_type_;     // of the terms: 32 bits where those of the weights fit
  tir::DataType biased_type_;  // of the sum and its bias
  std::int64_t offset_ = 0;
  std::int64_t weights_zero_ = 0;
  std::optional<Rescale> rescale_;
  std::optional<WideRescale> wide_;
  Interval range_{0, 0};
  bool is_float_ = false;
};

// Input i, a constant of four or two dimensions: its elements in the order of `order`, which names dimensions.
[[nodiscard]] Weights ordered_weights(const Emitter& e, std::size_t i, const std::vector<std::size_t>& order);

}  // namespace usmp::tflite

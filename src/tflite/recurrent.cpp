// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// SVDF, UNIDIRECTIONAL_SEQUENCE_LSTM: operators with a state that they read and write.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tflite/arithmetic.hpp"
#include "tflite/operators.hpp"
#include "tflite/products.hpp"
#include "tflite/tables.hpp"

namespace usmp::tflite {
namespace {

float scale_of(const Value& value) { return value.quantization.scales.front(); }

// Bounds sums of a constant's rows: the largest sum of magnitudes, times the largest value that is multiplied.
std::int64_t bound_of(Emitter& e, std::size_t weights, std::int64_t most) {
  const std::vector<std::int64_t> values = e.integers(weights);
  const auto row = static_cast<std::size_t>(std::max<std::int64_t>(e.input(weights).shape.back(), 1));
  std::int64_t largest = 0;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % row == 0) sum = 0;
    sum += std::abs(values[i]);
    largest = std::max(largest, sum);
  }
  return largest * most;
}

constexpr std::int64_t sums_limit = std::int64_t{1} << 31;

}  // namespace

void svdf(Emitter& e) {
  const Value& in = e.input(0);
  const Value& feature = e.input(1);
  const Value& time = e.input(2);
  const Value& state = e.input(4);
  const Value& out = e.output();
  const bool is_float = in.type == Type::float32;
  e.require_type(in, {Type::float32, Type::int8});
  e.require_type(out, {in.type});
  e.require_type(feature, {in.type});
  e.require(is_float ? time.type == Type::float32 && state.type == Type::float32
                     : (time.type == Type::int8 || time.type == Type::int16) && state.type == time.type,
            std::string("time weights of type ") + name_of(time.type) + " and a state of type " + name_of(state.type),
            "int8 or int16, both alike");
  const std::int64_t rank = e.options().rank;
  e.require(in.shape.size() == 2 && feature.shape.size() == 2 && time.shape.size() == 2 && rank > 0 &&
                feature.shape[0] % rank == 0 && feature.shape[0] == time.shape[0] && feature.shape[1] == in.shape[1],
            text_of(feature.shape) + " and " + text_of(time.shape) + " of rank " + std::to_string(rank),
            "filters that fit");
  e.require(state.storage.has_value(), "a state that is no variable", "variables");
  const std::int64_t batches = in.shape[0];
  const std::int64_t inputs = in.shape[1];
  const std::int64_t filters = feature.shape[0];
  const std::int64_t units = filters / rank;
  const std::int64_t memory = time.shape[1];
  e.require_shape(out, {batches, units});
  e.require(state.count() == batches * filters * memory && memory > 0, "a state of " + text_of(state.shape),
            std::to_string(batches * filters * memory) + " elements");
  const bool has_bias = e.has_input(3);
  if (has_bias) {
    e.require_type(e.input(3), {is_float ? Type::float32 : Type::int32});
    e.require_shape(e.input(3), {units});
  }
  const Activation activation = e.options().activation;
  e.require(activation <= Activation::relu6, "another activation", "none, RELU, RELU_N1_TO_1 or RELU6");
  Nest& nest = e.nest();
  Weights ordered = ordered_weights(e, 1, {1, 0});
  const tir::DataType type = is_float ? float32_type : tir::int32_type;
  Multiplier to_state;
  Multiplier to_out;
  std::int64_t sum_bound = 0;
  std::int64_t out_bound = 0;
  if (!is_float) {
    for (const Value* value : {&in, &feature, &time, &state, &out}) e.require_scale(*value);
    to_state = multiplier_of(static_cast<double>(scale_of(in) * scale_of(feature) / scale_of(state)));
    to_out = multiplier_of(static_cast<double>(scale_of(state) * scale_of(time) / scale_of(out)));
    sum_bound = bound_of(e, 1, magnitude(in));
    out_bound = bound_of(e, 2, magnitude(state)) * rank;
    if (has_bias) {
      std::int64_t most = 0;
      for (const std::int64_t one : e.integers(3)) most = std::max(most, std::abs(one));
      out_bound += most;
    }
    e.require(sum_bound < sums_limit && out_bound < sums_limit, "sums that may leave 32 bits", "smaller weights");
  }
  const Array weights = nest.constant("weights", data_type_of(ordered.type), ordered.shape, std::move(ordered.bytes));
  const Array time_weights = e.in(2);
  const Array bias = has_bias ? e.in(3) : Array{};
  const Array source = e.in(0);
  const Array memories = e.in(4);
  const Array target = e.out();
  const Num zero = is_float ? float_literal(0) : Num(0);
  const auto centred = [&](const Array& array, const Value& value, const Num& index) {
    return is_float ? nest.load(array, index) : nest.load_int(array, index) - Num(value.zero_point());
  };
  const std::int64_t count = block_of(filters);
  nest.loop("n", batches, [&](const Num& n) {
    // The newest value of each filter; the others move up.
    nest.loop("b", filters / count, [&](const Num& b) {
      const Array sums = nest.variables("sums", type, count);
      nest.loop("o", count, [&](const Num& o) {
        nest.store(sums, o, zero);
        nest.loop("k", inputs, [&](const Num& k) {
          const Num w = cast(type, nest.load(weights, k * Num(filters) + b * Num(count) + o));
          nest.store(sums, o, nest.load(sums, o) + centred(source, in, n * Num(inputs) + k) * w);
        });
      });
      nest.loop("o", count, [&](const Num& o) {
        const Num row = (n * Num(filters) + b * Num(count) + o) * Num(memory);
        nest.loop("m", memory - 1,
                  [&](const Num& m) { nest.store(memories, row + m, nest.load(memories, row + m + Num(1))); });
        Num value = nest.load(sums, o);
        if (!is_float) {
          const Interval range = range_of(state.type);
          value = clip(multiplied(nest, value, to_state, sum_bound) + Num(state.zero_point()), range.low, range.high);
        }
        nest.store(memories, row + Num(memory - 1), value);
      });
    });
    nest.loop("u", units, [&](const Num& u) {
      const Array sum = nest.variables("sum", type, 1);
      nest.store(sum, 0, has_bias ? nest.load(bias, u) : zero);
      nest.loop("r", rank, [&](const Num& r) {
        const Num filter = u * Num(rank) + r;
        const Array part = nest.variables("part", type, 1);
        nest.store(part, 0, zero);
        nest.loop("m", memory, [&](const Num& m) {
          const Num w = cast(type, nest.load(time_weights, filter * Num(memory) + m));
          const Num x = centred(memories, state, (n * Num(filters) + filter) * Num(memory) + m);
          nest.store(part, 0, nest.load(part, 0) + w * x);
        });
        nest.store(sum, 0, nest.load(sum, 0) + nest.load(part, 0));
      });
      const Num place = n * Num(units) + u;
      if (is_float) return nest.store(target, place, activated(nest.load(sum, 0), activation));
      const Num value = multiplied(nest, nest.load(sum, 0), to_out, out_bound);
      nest.store(target, place, clip(value + Num(out.zero_point()), INT8_MIN, INT8_MAX));
    });
  });
}

namespace {

enum Gate : std::size_t { input_gate, forget_gate, cell_gate, output_gate };

// Places of the operands.
constexpr std::size_t first_input_weights = 1;
constexpr std::size_t first_recurrent_weights = 5;
constexpr std::size_t first_bias = 12;
constexpr std::size_t hidden_operand = 18;
constexpr std::size_t cell_operand = 19;

class Lstm {
 public:
  explicit Lstm(Emitter& e) : e_(e), nest_(e.nest()), is_float_(e.input(0).type == Type::float32) {
    check();
    type_ = is_float_ ? float32_type : tir::int32_type;
    gate_type_ = is_float_ ? float32_type : int16_type;
    for (std::size_t gate = 0; gate < 4; ++gate) {
      factors_[gate] = {.of_input = {}, .of_hidden = {}, .input_bound = 0, .hidden_bound = 0};
      weights_[gate] = ordered(first_input_weights + gate);
      recurrent_[gate] = ordered(first_recurrent_weights + gate);
      bias_[gate] = e.in(first_bias + gate);
      if (!is_float_) scale_gate(gate);
    }
    if (!is_float_) {
      samples_ = nest_.constant("sigmoid", sigmoid_type, sigmoid_samples());
      scale_states();
    }
    in_ = e.in(0);
    hidden_ = e.in(hidden_operand);
    cell_ = e.in(cell_operand);
    out_ = e.out();
  }

  void emit() {
    const bool is_time_major = e_.options().is_time_major;
    nest_.loop("n", batches_, [&](const Num& n) {
      nest_.loop("t", steps_, [&](const Num& t) {
        const Num row = is_time_major ? t * Num(batches_) + n : n * Num(steps_) + t;
        const Array next = nest_.allocate("next", hidden_.element, state_);
        const std::int64_t count = block_of(state_);
        nest_.loop("b", state_ / count, [&](const Num& b) { step(n, row, b * Num(count), count, next); });
        nest_.loop("s", state_, [&](const Num& s) {
          nest_.store(hidden_, n * Num(state_) + s, nest_.load(next, s));
          nest_.store(out_, row * Num(state_) + s, nest_.load(next, s));
        });
      });
    });
  }

 private:
  void check() {
    const Value& in = e_.input(0);
    const Value& hidden = e_.input(hidden_operand);
    const Value& cell = e_.input(cell_operand);
    e_.require_type(in, {Type::float32, Type::int8});
    for (const std::size_t left_out : std::initializer_list<std::size_t>{9, 10, 11, 16, 17, 20, 21, 22, 23}) {
      e_.require(!e_.has_input(left_out), "peepholes, a projection or layer normalisation", "none of them");
    }
    e_.require(!e_.options().is_diagonal && e_.options().activation == Activation::tanh, "another activation", "TANH");
    e_.require(in.shape.size() == 3, "shape " + text_of(in.shape), "three dimensions");
    const bool is_time_major = e_.options().is_time_major;
    batches_ = in.shape[is_time_major ? 1 : 0];
    steps_ = in.shape[is_time_major ? 0 : 1];
    inputs_ = in.shape[2];
    e_.require(e_.input(first_input_weights).shape.size() == 2, "weights of another shape", "two dimensions");
    state_ = e_.input(first_input_weights).shape[0];
    e_.require(state_ > 0 && inputs_ > 0, "no elements", "one or more");
    e_.require(hidden.count() == batches_ * state_ && cell.count() == batches_ * state_ && hidden.storage.has_value() &&
                   cell.storage.has_value(),
               "states of " + text_of(hidden.shape) + " and " + text_of(cell.shape),
               "variables of " + std::to_string(batches_ * state_) + " elements");
    e_.require_shape(e_.output(), {in.shape[0], in.shape[1], state_});
    e_.require_type(hidden, {in.type});
    e_.require_type(e_.output(), {in.type});
    e_.require_type(cell, {is_float_ ? Type::float32 : Type::int16});
    for (std::size_t gate = 0; gate < 4; ++gate) {
      e_.require_type(e_.input(first_input_weights + gate), {in.type});
      e_.require_shape(e_.input(first_input_weights + gate), {state_, inputs_});
      e_.require_type(e_.input(first_recurrent_weights + gate), {in.type});
      e_.require_shape(e_.input(first_recurrent_weights + gate), {state_, state_});
      e_.require_type(e_.input(first_bias + gate), {is_float_ ? Type::float32 : Type::int32});
      e_.require_shape(e_.input(first_bias + gate), {state_});
    }
    if (is_float_) return;
    e_.require_scale(in);
    e_.require_scale(hidden);
    e_.require_scale(cell);
    e_.require(cell.zero_point() == 0, "a cell state with a zero point", "zero point 0");
  }

  Array ordered(std::size_t i) {
    Weights weights = ordered_weights(e_, i, {1, 0});
    return nest_.constant("weights", data_type_of(weights.type), weights.shape, std::move(weights.bytes));
  }

  // Sums of a gate in 12 fraction bits. The scales' product is a float32.
  void scale_gate(std::size_t gate) {
    const Value& weights = e_.input(first_input_weights + gate);
    const Value& recurrent = e_.input(first_recurrent_weights + gate);
    const Value& in = e_.input(0);
    const Value& hidden = e_.input(hidden_operand);
    e_.require_scale(weights);
    e_.require_scale(recurrent);
    const double unit = std::ldexp(1.0, -12);
    Factors& factors = factors_[gate];
    factors.of_input = multiplier_of(static_cast<double>(scale_of(in) * scale_of(weights)) / unit);
    factors.of_hidden = multiplier_of(static_cast<double>(scale_of(hidden) * scale_of(recurrent)) / unit);
    std::int64_t most = 0;
    for (const std::int64_t one : e_.integers(first_bias + gate)) most = std::max(most, std::abs(one));
    factors.input_bound = bound_of(e_, first_input_weights + gate, magnitude(in)) + most;
    factors.hidden_bound = bound_of(e_, first_recurrent_weights + gate, magnitude(hidden));
    e_.require(factors.input_bound < sums_limit && factors.hidden_bound < sums_limit, "sums that may leave 32 bits",
               "smaller weights");
  }

  void scale_states() {
    const Value& hidden = e_.input(hidden_operand);
    const double cell = e_.input(cell_operand).scale();
    const double unit = std::ldexp(1.0, -15);
    forget_factor_ = multiplier_of(unit * cell / cell);
    input_factor_ = multiplier_of(unit * unit / cell);
    hidden_factor_ = multiplier_of(unit * unit / hidden.scale());
    const float log2 = std::log(static_cast<float>(cell)) * (1.0F / std::log(2.0F));
    const int left = 12 + static_cast<int>(std::round(log2));
    tanh_multiplier_ = left < 0 ? 3 : std::int64_t{3} << left;
    tanh_shift_ = left < 0 ? -left : 0;
    e_.require(left <= 12 && left >= -30, "a cell state with the scale " + std::to_string(cell), "up to 1");
    const double clip_at = static_cast<double>(e_.options().cell_clip) / cell;
    quantized_clip_ = static_cast<std::int64_t>(std::min(std::max(clip_at, -32768.0), 32767.0));
  }

  Num activation(const Num& x, bool is_tanh) const {
    if (!is_float_) return sigmoid_of(nest_, samples_, x, 3, 0, is_tanh);
    if (is_tanh) return call(float32_type, tir::Op::tanh, {x});
    return float_literal(1) / (float_literal(1) + call(float32_type, tir::Op::exp, {float_literal(0) - x}));
  }

  // A gate of `count` elements from `first` on.
  void add_gate(std::size_t gate, const Num& n, const Num& row, const Num& first, std::int64_t count,
                const Array& result) {
    const auto centred = [&](const Array& array, const Value& value, const Num& index) {
      return is_float_ ? nest_.load(array, index) : nest_.load_int(array, index) - Num(value.zero_point());
    };
    const auto sums_of = [&](const Array& array, const Value& value, const Num& place, std::int64_t depth,
                             const Array& weights) {
      const Array sums = nest_.variables("sums", type_, count);
      nest_.loop("o", count, [&](const Num& o) {
        nest_.store(sums, o, is_float_ ? float_literal(0) : Num(0));
        nest_.loop("k", depth, [&](const Num& k) {
          const Num w = cast(type_, nest_.load(weights, k * Num(state_) + first + o));
          nest_.store(sums, o, nest_.load(sums, o) + centred(array, value, place + k) * w);
        });
      });
      return sums;
    };
    nest_.scope([&] {
      const Array of_input = sums_of(in_, e_.input(0), row * Num(inputs_), inputs_, weights_[gate]);
      const Array of_hidden = sums_of(hidden_, e_.input(hidden_operand), n * Num(state_), state_, recurrent_[gate]);
      nest_.loop("o", count, [&](const Num& o) {
        Num x = nest_.load(of_input, o) + nest_.load(bias_[gate], first + o);
        Num h = nest_.load(of_hidden, o);
        if (!is_float_) {
          const Factors& factors = factors_[gate];
          x = clip(multiplied(nest_, x, factors.of_input, factors.input_bound), INT16_MIN, INT16_MAX);
          h = clip(multiplied(nest_, h, factors.of_hidden, factors.hidden_bound), INT16_MIN, INT16_MAX);
        }
        const Num sum = is_float_ ? nest_.let("sum", x + h) : nest_.let("sum", clip(x + h, INT16_MIN, INT16_MAX));
        nest_.store(result, o, activation(sum, gate == cell_gate));
      });
    });
  }

  void step(const Num& n, const Num& row, const Num& first, std::int64_t count, const Array& next) {
    std::array<Array, 4> gates;
    constexpr std::array names = {"input_gate", "forget_gate", "cell_gate", "output_gate"};
    for (std::size_t gate = 0; gate < 4; ++gate) gates[gate] = nest_.variables(names[gate], gate_type_, count);
    for (std::size_t gate = 0; gate < 4; ++gate) add_gate(gate, n, row, first, count, gates[gate]);
    nest_.loop("o", count, [&](const Num& o) {
      const Num place = n * Num(state_) + first + o;
      const auto gate = [&](std::size_t i) {
        return is_float_ ? nest_.load(gates[i], o) : nest_.load_int(gates[i], o);
      };
      const auto product = [&](const Num& a, const Num& b, Multiplier factor) {
        return clip(multiplied(nest_, a * b, factor, std::int64_t{1} << 30), INT16_MIN, INT16_MAX);
      };
      const float cell_clip = e_.options().cell_clip;
      Num cell;
      if (is_float_) {
        cell = gate(forget_gate) * nest_.load(cell_, place) + gate(input_gate) * gate(cell_gate);
        if (cell_clip > 0) cell = max(min(cell, float_literal(cell_clip)), float_literal(-cell_clip));
      } else {
        cell = product(gate(forget_gate), nest_.load_int(cell_, place), forget_factor_) +
               product(gate(input_gate), gate(cell_gate), input_factor_);
        cell = clip(cell, INT16_MIN, INT16_MAX);
        if (cell_clip > 0) cell = clip(cell, -quantized_clip_, quantized_clip_);
      }
      cell = nest_.let("cell", cell);
      nest_.store(cell_, place, cell);
      if (is_float_) return nest_.store(next, first + o, activation(cell, true) * gate(output_gate));
      const Num squashed =
          nest_.let("squashed", sigmoid_of(nest_, samples_, cell, tanh_multiplier_, tanh_shift_, true));
      const Num value = multiplied(nest_, squashed * gate(output_gate), hidden_factor_, std::int64_t{1} << 30);
      nest_.store(next, first + o, clip(value + Num(e_.input(hidden_operand).zero_point()), INT8_MIN, INT8_MAX));
    });
  }

  struct Factors {
    Multiplier of_input;
    Multiplier of_hidden;
    std::int64_t input_bound = 0;
    std::int64_t hidden_bound = 0;
  };

  Emitter& e_;
  Nest& nest_;
  bool is_float_;
  tir::DataType type_;
  tir::DataType gate_type_;
  std::int64_t batches_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t inputs_ = 0;
  std::int64_t state_ = 0;
  std::array<Factors, 4> factors_;
  std::array<Array, 4> weights_;
  std::array<Array, 4> recurrent_;
  std::array<Array, 4> bias_;
  Array samples_;
  Array in_;
  Array hidden_;
  Array cell_;
  Array out_;
  Multiplier forget_factor_;
  Multiplier input_factor_;
  Multiplier hidden_factor_;
  std::int64_t tanh_multiplier_ = 0;
  int tanh_shift_ = 0;
  std::int64_t quantized_clip_ = 0;
};

}  // namespace

void unidirectional_sequence_lstm(Emitter& e) { Lstm(e).emit(); }

}  // namespace usmp::tflite

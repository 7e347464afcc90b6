// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// SVDF and the LSTM layer, which keep a state.
#include <algorithm>
#include <array>
#include <cmath>

#include "tflite_random/fixed_point.hpp"
#include "tflite_random/interpreter.hpp"

namespace usmp::tflite_random {
namespace {

using Whole = std::int64_t;

void svdf(const Call& call) {
  const Tensor& input = *call.inputs[0];
  const Tensor& features = *call.inputs[1];
  const Tensor& times = *call.inputs[2];
  const Tensor& state = *call.inputs[4];
  const Tensor& output = *call.outputs[0];
  const auto rank = static_cast<std::size_t>(call.integer("rank"));
  const int activation = call.integer("activation");
  const auto batches = static_cast<std::size_t>(input.shape[0]);
  const auto depth = static_cast<std::size_t>(input.shape[1]);
  const auto filters = static_cast<std::size_t>(features.shape[0]);
  const auto memory = static_cast<std::size_t>(times.shape[1]);
  Values& kept = *call.in[4];
  const bool is_float = call.is_float();
  Factor of_feature;
  Factor of_output;
  Limits state_limits;
  if (!is_float) {
    of_feature = factor_of(wide(input.scale() * features.scale() / state.scale()));
    of_output = factor_of(wide(state.scale() * times.scale() / output.scale()));
    state_limits = limits_of(state.type);
  }
  for (std::size_t b = 0; b < batches; ++b) {
    for (std::size_t unit = 0; unit < filters / rank; ++unit) {
      Whole sum = !is_float && call.has(3) ? call.in[3]->whole[unit] : 0;
      float total = is_float && call.has(3) ? call.in[3]->real[unit] : 0.0F;
      for (std::size_t f = unit * rank; f < (unit + 1) * rank; ++f) {
        const std::size_t row = (b * filters + f) * memory;
        Whole feature = 0;
        float real_feature = 0;
        for (std::size_t k = 0; k < depth; ++k) {
          if (is_float) {
            real_feature += call.in[1]->real[f * depth + k] * call.in[0]->real[b * depth + k];
          } else {
            feature += call.in[1]->whole[f * depth + k] * (call.in[0]->whole[b * depth + k] - input.zero_point());
          }
        }
        Whole part = 0;
        float real_part = 0;
        for (std::size_t t = 0; t < memory; ++t) {
          if (is_float) {
            kept.real[row + t] = t + 1 < memory ? kept.real[row + t + 1] : real_feature;
            real_part += call.in[2]->real[f * memory + t] * kept.real[row + t];
          } else {
            kept.whole[row + t] = t + 1 < memory ? kept.whole[row + t + 1]
                                                 : std::clamp(scaled(feature, of_feature) + state.zero_point(),
                                                              state_limits.low, state_limits.high);
            part += call.in[2]->whole[f * memory + t] * (kept.whole[row + t] - state.zero_point());
          }
        }
        sum += part;
        total += real_part;
      }
      if (is_float) {
        call.out[0]->real.push_back(activated(activation, total));
      } else {
        call.out[0]->whole.push_back(std::clamp<Whole>(Whole{scaled(sum, of_output)} + output.zero_point(), -128, 127));
      }
    }
  }
}

// In the order of the operator's inputs.
constexpr std::size_t input_gate = 0;
constexpr std::size_t forget_gate = 1;
constexpr std::size_t cell_gate = 2;
constexpr std::size_t output_gate = 3;

class Lstm {
 public:
  explicit Lstm(const Call& call)
      : call_(call),
        input_(*call.inputs[0]),
        hidden_(*call.inputs[18]),
        cell_(*call.inputs[19]),
        is_float_(call.is_float()),
        depth_(static_cast<std::size_t>(input_.shape[2])),
        units_(static_cast<std::size_t>(call.inputs[5]->shape[0])) {
    for (const std::size_t i : {9U, 10U, 11U, 16U, 17U, 20U, 21U, 22U, 23U}) {
      if (call.has(i)) throw Unknown("LSTM with peephole, projection or normalisation");
    }
    if (!call.has(1)) throw Unknown("LSTM without input gate");
    if (is_float_) return;
    const float scale = cell_.scale();
    constexpr double whole_one = 1.0 / 32768.0;
    const float log = std::log(scale) * (1.0F / std::log(2.0F));
    cell_power_ = static_cast<int>(std::round(log));
    forget_ = factor_of(whole_one * wide(scale) / wide(scale));
    update_ = factor_of(whole_one * whole_one / wide(scale));
    output_ = factor_of(whole_one * whole_one / wide(hidden_.scale()));
    clip_ = static_cast<Whole>(std::clamp(call.real("cell_clip") / wide(scale), -32768.0, 32767.0));
  }

  void run() {
    const bool by_time = call_.integer("time_major") != 0;
    const auto batches = static_cast<std::size_t>(input_.shape[by_time ? 1 : 0]);
    const auto steps = static_cast<std::size_t>(input_.shape[by_time ? 0 : 1]);
    Values& out = *call_.out[0];
    (is_float_ ? out.real.resize(batches * steps * units_) : out.whole.resize(batches * steps * units_));
    for (std::size_t b = 0; b < batches; ++b) {
      for (std::size_t t = 0; t < steps; ++t) {
        const std::size_t row = by_time ? t * batches + b : b * steps + t;
        is_float_ ? step_floats(b, row) : step(b, row);
      }
    }
  }

 private:
  // Gates of integers have 12 fraction bits, then 15.
  [[nodiscard]] Whole gate(std::size_t kind, std::size_t unit, std::size_t batch, std::size_t row) const {
    const Tensor& weights = *call_.inputs[1 + kind];
    const Tensor& recurrent = *call_.inputs[5 + kind];
    constexpr double unit_scale = 1.0 / 4096.0;
    Whole sum = call_.in[12 + kind]->whole[unit];
    for (std::size_t k = 0; k < depth_; ++k) {
      sum +=
          call_.in[1 + kind]->whole[unit * depth_ + k] * (call_.in[0]->whole[row * depth_ + k] - input_.zero_point());
    }
    Whole back = 0;
    for (std::size_t k = 0; k < units_; ++k) {
      back += call_.in[5 + kind]->whole[unit * units_ + k] *
              (call_.in[18]->whole[batch * units_ + k] - hidden_.zero_point());
    }
    const auto cut = [](Whole x) { return std::clamp<Whole>(x, -32768, 32767); };
    const auto scale = [&](Whole x, Factor by) {
      return cut(input_.type == Type::int16 ? scaled_wide(x, by) : scaled(x, by));
    };
    const Whole a = scale(sum, factor_of(wide(input_.scale() * weights.scale()) / unit_scale));
    const Whole b = scale(back, factor_of(wide(hidden_.scale() * recurrent.scale()) / unit_scale));
    const auto x = static_cast<std::int32_t>(cut(a + b));
    if (kind != cell_gate) return logistic_of_short(x, {});
    if (call_.integer("activation") == 4) return tanh_of_short(x, {});
    throw Unknown("LSTM with this activation");
  }

  void step(std::size_t batch, std::size_t row) const {
    const auto cut = [](Whole x) { return std::clamp<Whole>(x, -32768, 32767); };
    const Limits hidden_limits = limits_of(hidden_.type);
    std::vector<Whole> next(units_);
    for (std::size_t unit = 0; unit < units_; ++unit) {
      Whole& cell = call_.in[19]->whole[batch * units_ + unit];
      const Whole kept = cut(scaled(gate(forget_gate, unit, batch, row) * cell, forget_));
      const Whole added = cut(scaled(gate(input_gate, unit, batch, row) * gate(cell_gate, unit, batch, row), update_));
      cell = cut(kept + added);
      if (clip_ > 0) cell = std::clamp(cell, -clip_, clip_);
      const int shift = 15 + cell_power_ - 3;
      const ShortInput short_input = shift < 0 ? ShortInput{3, -shift} : ShortInput{0, shift};
      const Whole y = tanh_of_short(static_cast<std::int32_t>(cell), short_input);
      const Whole hidden = scaled(y * gate(output_gate, unit, batch, row), output_) + hidden_.zero_point();
      next[unit] = std::clamp(hidden, hidden_limits.low, hidden_limits.high);
    }
    for (std::size_t unit = 0; unit < units_; ++unit) {
      call_.in[18]->whole[batch * units_ + unit] = next[unit];
      call_.out[0]->whole[row * units_ + unit] = next[unit];
    }
  }

  [[nodiscard]] float float_gate(std::size_t kind, std::size_t unit, std::size_t batch, std::size_t row) const {
    float sum = 0;
    for (std::size_t k = 0; k < depth_; ++k) {
      sum += call_.in[0]->real[row * depth_ + k] * call_.in[1 + kind]->real[unit * depth_ + k];
    }
    sum += call_.in[12 + kind]->real[unit];
    float back = 0;
    for (std::size_t k = 0; k < units_; ++k) {
      back += call_.in[18]->real[batch * units_ + k] * call_.in[5 + kind]->real[unit * units_ + k];
    }
    const float x = sum + back;
    return kind == cell_gate ? std::tanh(x) : 1.0F / (1.0F + std::exp(-x));
  }

  void step_floats(std::size_t batch, std::size_t row) const {
    const auto clip = static_cast<float>(call_.real("cell_clip"));
    std::vector<float> next(units_);
    for (std::size_t unit = 0; unit < units_; ++unit) {
      float& cell = call_.in[19]->real[batch * units_ + unit];
      cell = float_gate(forget_gate, unit, batch, row) * cell +
             float_gate(input_gate, unit, batch, row) * float_gate(cell_gate, unit, batch, row);
      if (clip > 0) cell = std::clamp(cell, -clip, clip);
      next[unit] = std::tanh(cell) * float_gate(output_gate, unit, batch, row);
    }
    for (std::size_t unit = 0; unit < units_; ++unit) {
      call_.in[18]->real[batch * units_ + unit] = next[unit];
      call_.out[0]->real[row * units_ + unit] = next[unit];
    }
  }

  const Call& call_;
  const Tensor& input_;
  const Tensor& hidden_;
  const Tensor& cell_;
  bool is_float_;
  std::size_t depth_;
  std::size_t units_;
  int cell_power_ = 0;
  Factor forget_;
  Factor update_;
  Factor output_;
  Whole clip_ = 0;
};

}  // namespace

bool interpret_recurrent(const Call& call) {
  switch (call.op->code) {
    case Code::svdf:
      svdf(call);
      return true;
    case Code::unidirectional_sequence_lstm:
      Lstm(call).run();
      return true;
    default:
      return false;
  }
}

}  // namespace usmp::tflite_random

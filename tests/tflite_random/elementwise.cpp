// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions of one element, and of pairs of elements.
#include <algorithm>
#include <cmath>
#include <functional>

#include "tflite_random/fixed_point.hpp"
#include "tflite_random/interpreter.hpp"

namespace usmp::tflite_random {
namespace {

// --- Pairs

template <class F>
void each_pair(const Call& call, F f) {
  const std::vector<std::size_t> a = broadcast(call.outputs[0]->shape, call.inputs[0]->shape);
  const std::vector<std::size_t> b = broadcast(call.outputs[0]->shape, call.inputs[1]->shape);
  for (std::size_t i = 0; i < a.size(); ++i) f(a[i], b[i]);
}

void float_pairs(const Call& call, const std::function<float(float, float)>& f, int activation = 0) {
  each_pair(call, [&](std::size_t a, std::size_t b) {
    call.out[0]->real.push_back(activated(activation, f(call.in[0]->real[a], call.in[1]->real[b])));
  });
}

using Whole = std::int64_t;

void whole_pairs(const Call& call, const std::function<Whole(Whole, Whole)>& f, Limits limits) {
  const Whole zero_a = call.inputs[0]->zero_point();
  const Whole zero_b = call.inputs[1]->zero_point();
  each_pair(call, [&](std::size_t a, std::size_t b) {
    const Whole result = f(call.in[0]->whole[a] - zero_a, call.in[1]->whole[b] - zero_b);
    call.out[0]->whole.push_back(std::clamp(result + call.outputs[0]->zero_point(), limits.low, limits.high));
  });
}

void sum(const Call& call, bool is_difference) {
  const int activation = call.integer("activation");
  if (call.is_float()) {
    float_pairs(
        call, [&](float a, float b) { return is_difference ? a - b : a + b; }, activation);
    return;
  }
  const Tensor& output = *call.outputs[0];
  const int left = output.type == Type::int16 ? 15 : 20;
  const float a = call.inputs[0]->scale();
  const float b = call.inputs[1]->scale();
  Factor of_a;
  Factor of_b;
  Factor of_sum;
  if (is_difference) {
    // These are quotients of floats, those of sums of doubles.
    const float twice = 2 * std::max(a, b);
    of_a = factor_of(wide(a / twice));
    of_b = factor_of(wide(b / twice));
    of_sum = factor_of(wide(twice / (static_cast<float>(1 << left) * output.scale())));
  } else {
    const double twice = 2 * wide(std::max(a, b));
    of_a = factor_of(wide(a) / twice);
    of_b = factor_of(wide(b) / twice);
    of_sum = factor_of(twice / ((1 << left) * wide(output.scale())));
  }
  if (of_sum.shift > 0) throw Undefined("a sum that is scaled up");
  const auto f = [&](Whole x, Whole y) {
    const std::int32_t p = scaled(x * (Whole{1} << left), of_a);
    const std::int32_t q = scaled(y * (Whole{1} << left), of_b);
    return Whole{scaled(is_difference ? Whole{p} - q : Whole{p} + q, of_sum)};
  };
  whole_pairs(call, f, limits_of(activation, output));
}

void product(const Call& call) {
  const int activation = call.integer("activation");
  if (call.is_float()) {
    float_pairs(
        call, [](float a, float b) { return a * b; }, activation);
    return;
  }
  const Factor factor =
      factor_of(wide(call.inputs[0]->scale()) * wide(call.inputs[1]->scale()) / wide(call.outputs[0]->scale()));
  whole_pairs(
      call, [&](Whole x, Whole y) { return Whole{scaled(x * y, factor)}; }, limits_of(activation, *call.outputs[0]));
}

void extreme(const Call& call, bool is_max) {
  if (call.is_float()) {
    float_pairs(call, [&](float a, float b) { return is_max ? std::max(a, b) : std::min(a, b); });
    return;
  }
  each_pair(call, [&](std::size_t a, std::size_t b) {
    const Whole x = call.in[0]->whole[a];
    const Whole y = call.in[1]->whole[b];
    call.out[0]->whole.push_back(is_max ? std::max(x, y) : std::min(x, y));
  });
}

void squared_difference(const Call& call) {
  if (call.is_float()) {
    float_pairs(call, [](float a, float b) { return (a - b) * (a - b); });
    return;
  }
  const Tensor& output = *call.outputs[0];
  const int left = output.type == Type::int16 ? 0 : 7;
  const double twice = 2 * wide(std::max(call.inputs[0]->scale(), call.inputs[1]->scale()));
  const Factor of_a = factor_of(wide(call.inputs[0]->scale()) / twice);
  const Factor of_b = factor_of(wide(call.inputs[1]->scale()) / twice);
  const Factor of_square = factor_of(twice * twice / ((1 << (2 * left)) * wide(output.scale())));
  const auto f = [&](Whole x, Whole y) {
    const Whole difference = Whole{scaled(x * (1 << left), of_a)} - scaled(y * (1 << left), of_b);
    return Whole{scaled(difference * difference, of_square)};
  };
  whole_pairs(call, f, limits_of(output.type));
}

template <class T>
bool compared(Code code, T a, T b) {
  switch (code) {
    case Code::equal:
      return a == b;
    case Code::not_equal:
      return a != b;
    case Code::less:
      return a < b;
    case Code::less_equal:
      return a <= b;
    case Code::greater:
      return a > b;
    default:
      return a >= b;
  }
}

void compare(const Call& call) {
  const Code code = call.op->code;
  Factor of_a;
  Factor of_b;
  const bool is_scaled = call.inputs[0]->type == Type::int8;
  if (is_scaled) {
    of_a = factor_of(wide(call.inputs[0]->scale()));
    of_b = factor_of(wide(call.inputs[1]->scale()));
    if (of_a.shift > 0 || of_b.shift > 0) throw Undefined("a scale of 1 or more");
  }
  each_pair(call, [&](std::size_t a, std::size_t b) {
    bool result = false;
    if (call.is_float()) {
      result = compared(code, call.in[0]->real[a], call.in[1]->real[b]);
    } else if (is_scaled) {
      const Whole x = call.in[0]->whole[a] - call.inputs[0]->zero_point();
      const Whole y = call.in[1]->whole[b] - call.inputs[1]->zero_point();
      result = compared(code, scaled(x * 256, of_a), scaled(y * 256, of_b));
    } else {
      result = compared(code, call.in[0]->whole[a], call.in[1]->whole[b]);
    }
    call.out[0]->whole.push_back(result ? 1 : 0);
  });
}

void prelu(const Call& call) {
  if (call.is_float()) {
    float_pairs(call, [](float x, float alpha) { return x >= 0 ? x : x * alpha; });
    return;
  }
  const double ratio = wide(call.inputs[0]->scale()) / wide(call.outputs[0]->scale());
  const Factor positive = factor_of(ratio);
  const Factor negative =
      factor_of(wide(call.inputs[0]->scale()) * wide(call.inputs[1]->scale()) / wide(call.outputs[0]->scale()));
  const auto f = [&](Whole x, Whole alpha) {
    return Whole{x >= 0 ? scaled(x, positive) : scaled(x * alpha, negative)};
  };
  whole_pairs(call, f, limits_of(call.outputs[0]->type));
}

// --- One element

void each_float(const Call& call, const std::function<float(float)>& f) {
  for (const float x : call.in[0]->real) call.out[0]->real.push_back(f(x));
}

// `f` of the element without its zero point, plus that of the output.
void each_whole(const Call& call, const std::function<Whole(Whole)>& f, Limits limits) {
  for (const Whole x : call.in[0]->whole) {
    const Whole result = f(x - call.inputs[0]->zero_point()) + call.outputs[0]->zero_point();
    call.out[0]->whole.push_back(std::clamp(result, limits.low, limits.high));
  }
}

void relu(const Call& call) {
  if (call.is_float()) {
    each_float(call, [](float x) { return activated(1, x); });
    return;
  }
  const Factor factor = factor_of(wide(call.inputs[0]->scale()) / wide(call.outputs[0]->scale()));
  each_whole(
      call, [&](Whole x) { return Whole{scaled(x, factor)}; }, limits_of(1, *call.outputs[0]));
}

// Cut where the input has 0 and 6, whatever the output's scale.
void relu6(const Call& call) {
  if (call.is_float()) {
    each_float(call, [](float x) { return activated(3, x); });
    return;
  }
  const Tensor& input = *call.inputs[0];
  const Limits limits = limits_of(input.type);
  const Whole six =
      std::clamp(input.zero_point() + static_cast<Whole>(std::round(6.0F / input.scale())), limits.low, limits.high);
  for (const Whole x : call.in[0]->whole) call.out[0]->whole.push_back(std::clamp(x, input.zero_point(), six));
}

// The input's factor for the tables of 16 bits; `powers`: shifts that need none.
ShortInput short_input_of(float scale, int powers) {
  const float log = std::log(scale) * (1.0F / std::log(2.0F));
  const float rounded_log = std::round(log);
  const int shift = 12 + static_cast<int>(rounded_log);
  if (std::abs(log - rounded_log) < 1e-3F && shift >= 0 && shift < powers) return {0, shift};
  ShortInput result;
  double factor = wide(scale) * 4096.0 * 3.0;
  while (factor <= 32767.0 / 2.0 && result.shift <= 30) {
    ++result.shift;
    factor *= 2.0;
  }
  if (factor > 32767.0) throw Undefined("too large a scale");
  result.multiplier = static_cast<std::int32_t>(factor);
  return result;
}

void sigmoid(const Call& call, bool is_tanh) {
  const Tensor& input = *call.inputs[0];
  if (call.is_float()) {
    each_float(call, [&](float x) {
      if (is_tanh) return std::tanh(x);
      if (x > 16.619047164916992188F) return 1.0F;
      return x < -9.0F ? std::exp(x) : 1.0F / (1.0F + std::exp(-x));
    });
    return;
  }
  if (input.type == Type::int16) {
    const ShortInput short_input = short_input_of(input.scale(), is_tanh ? 2 : 1);
    for (const Whole x : call.in[0]->whole) {
      const auto narrowed = static_cast<std::int32_t>(x);
      call.out[0]->whole.push_back(is_tanh ? tanh_of_short(narrowed, short_input)
                                           : logistic_of_short(narrowed, short_input));
    }
    return;
  }
  const Factor factor = factor_of(wide(input.scale()) * (1 << 27));
  const Whole radius = input_radius(4, factor.shift);
  const Limits limits = limits_of(Type::int8);
  for (const Whole given : call.in[0]->whole) {
    const Whole x = given - input.zero_point();
    Whole result = 0;
    if (x <= -radius) {
      result = limits.low;
    } else if (x >= radius) {
      result = limits.high;
    } else {
      const std::int32_t y = scaled(x, factor);
      result = is_tanh ? Whole{rounded_half(tanh_of(y, 4), 24)} : Whole{rounded_half(logistic_of(y, 4), 23)} - 128;
    }
    call.out[0]->whole.push_back(std::clamp(result, limits.low, limits.high));
  }
}

void absolute(const Call& call) {
  if (call.is_float()) {
    each_float(call, [](float x) { return std::abs(x); });
    return;
  }
  const float in = call.inputs[0]->scale();
  const float out = call.outputs[0]->scale();
  const Factor factor = factor_of(wide(in) / wide(out));
  each_whole(
      call, [&](Whole x) { return in == out ? std::abs(x) : Whole{scaled(std::abs(x), factor)}; },
      limits_of(call.outputs[0]->type));
}

void reciprocal_root(const Call& call) {
  if (call.is_float()) {
    each_float(call, [](float x) { return 1.0F / std::sqrt(x); });
    return;
  }
  const Limits limits = limits_of(call.outputs[0]->type);
  const Factor factor = factor_of(1.0 / (std::sqrt(wide(call.inputs[0]->scale())) * wide(call.outputs[0]->scale())));
  const Whole zero = call.outputs[0]->zero_point();
  each_whole(
      call,
      [&](Whole x) {
        if (x < 0) throw Undefined("the root of a negative number");
        if (x == 0) return limits.high - zero;
        const Factor root = inverse_root(static_cast<std::int32_t>(x));
        const std::int32_t y = scaled(1, {root.multiplier, root.shift + 20});
        return Whole{scaled(y, {factor.multiplier, factor.shift - 20})};
      },
      limits);
}

void elu(const Call& call) {
  if (call.is_float()) {
    each_float(call, [](float x) { return x < 0.0F ? std::expm1(x) : x; });
    return;
  }
  const float inverse = 1 / call.outputs[0]->scale();
  const auto f = [&](Whole x) {
    const float y = call.inputs[0]->scale() * static_cast<float>(x);
    return static_cast<Whole>(std::round((y < 0.0F ? std::exp(y) - 1.0F : y) * inverse));
  };
  each_whole(call, f, limits_of(Type::int8));
}

std::int16_t upper_half(std::int32_t multiplier) {
  if (multiplier >= 0x7FFFFFFF - (1 << 15)) return 0x7FFF;
  return static_cast<std::int16_t>((multiplier + (1 << 15)) >> 16);
}
Whole short_product(Whole a, Whole b) {
  const Whole product = a * b;
  return (product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15);
}
Whole short_shift(Whole x, int left) { return std::clamp<Whole>(x * (Whole{1} << left), -32768, 32767); }

void hard_swish(const Call& call) {
  if (call.is_float()) {
    each_float(call, [](float x) { return x * std::min(6.0F, std::max(0.0F, x + 3)) / 6; });
    return;
  }
  const float fine = (1.0F / 128.0F) * call.inputs[0]->scale();
  const Factor output = factor_of(wide(fine / call.outputs[0]->scale()));
  const Factor part = factor_of(wide(fine / (3.0F / 32768.0F)));
  if (output.shift > 0) throw Undefined("an output that is scaled up");
  each_whole(
      call,
      [&](Whole given) {
        const Whole x = given * 128;
        const Whole product = short_product(x, upper_half(output.multiplier));
        Whole share = part.shift > 0 ? short_shift(x, part.shift - 1) : x;
        share = short_product(share, upper_half(part.multiplier));
        if (part.shift > 0) share = short_shift(share, 1);
        if (part.shift < 0) share = rounded_half(static_cast<std::int32_t>(share), -part.shift);
        share = (share + (1 << 15)) >> 1;
        const Whole result = share * product / (1 << 15);
        return Whole{rounded_half(static_cast<std::int32_t>(result), -output.shift)};
      },
      limits_of(Type::int8));
}

void leaky_relu(const Call& call) {
  const auto alpha = static_cast<float>(call.real("alpha"));
  if (call.is_float()) {
    each_float(call, [&](float x) { return x > 0 ? x : x * alpha; });
    return;
  }
  const float in = call.inputs[0]->scale();
  const float out = call.outputs[0]->scale();
  const Factor positive = factor_of(wide(in / out));
  const Factor negative = factor_of(wide(in * alpha / out));
  each_whole(
      call, [&](Whole x) { return Whole{scaled(x, x >= 0 ? positive : negative)}; }, limits_of(call.outputs[0]->type));
}

void quantize(const Call& call) {
  const Tensor& output = *call.outputs[0];
  const Limits limits = limits_of(output.type);
  if (call.is_float()) {
    for (const float x : call.in[0]->real) {
      const double y = wide(std::round(x / output.scale())) + static_cast<double>(output.zero_point());
      if (!(std::abs(y) < 2147483648.0)) throw Undefined("a float too large for an integer");
      call.out[0]->whole.push_back(std::clamp(static_cast<Whole>(y), limits.low, limits.high));
    }
    return;
  }
  const Factor factor = factor_of(wide(call.inputs[0]->scale()) / wide(output.scale()));
  each_whole(
      call, [&](Whole x) { return Whole{scaled(x, factor)}; }, limits);
}

void dequantize(const Call& call) {
  const Tensor& input = *call.inputs[0];
  for (const Whole x : call.in[0]->whole) {
    call.out[0]->real.push_back(static_cast<float>(wide(input.scale()) * static_cast<double>(x - input.zero_point())));
  }
}

void cast(const Call& call) {
  const Type to = call.outputs[0]->type;
  const bool is_float = to == Type::float32;
  if (call.is_float()) {
    for (const float x : call.in[0]->real) {
      if (is_float) {
        call.out[0]->real.push_back(x);
        continue;
      }
      const Limits limits = limits_of(to);
      const double whole = std::trunc(wide(x));
      if (!(whole >= static_cast<double>(limits.low) && whole <= static_cast<double>(limits.high))) {
        throw Undefined("a float outside of the integer's range");
      }
      call.out[0]->whole.push_back(static_cast<Whole>(whole));
    }
    return;
  }
  for (const Whole x : call.in[0]->whole) {
    switch (to) {
      case Type::float32:
        call.out[0]->real.push_back(static_cast<float>(x));
        break;
      case Type::int8:
        call.out[0]->whole.push_back(static_cast<std::int8_t>(x));
        break;
      case Type::int16:
        call.out[0]->whole.push_back(static_cast<std::int16_t>(x));
        break;
      case Type::int32:
        call.out[0]->whole.push_back(static_cast<std::int32_t>(x));
        break;
      case Type::boolean:
        call.out[0]->whole.push_back(x != 0 ? 1 : 0);
        break;
      default:
        throw Unknown("CAST to this type");
    }
  }
}

}  // namespace

bool interpret_elementwise(const Call& call) {
  switch (call.op->code) {
    case Code::add:
      sum(call, false);
      return true;
    case Code::sub:
      sum(call, true);
      return true;
    case Code::mul:
      product(call);
      return true;
    case Code::div:
      float_pairs(
          call, [](float a, float b) { return a / b; }, call.integer("activation"));
      return true;
    case Code::maximum:
      extreme(call, true);
      return true;
    case Code::minimum:
      extreme(call, false);
      return true;
    case Code::squared_difference:
      squared_difference(call);
      return true;
    case Code::equal:
    case Code::not_equal:
    case Code::less:
    case Code::less_equal:
    case Code::greater:
    case Code::greater_equal:
      compare(call);
      return true;
    case Code::prelu:
      prelu(call);
      return true;
    case Code::relu:
      relu(call);
      return true;
    case Code::relu6:
      relu6(call);
      return true;
    case Code::relu_n1_to_1:
      each_float(call, [](float x) { return activated(2, x); });
      return true;
    case Code::logistic:
      sigmoid(call, false);
      return true;
    case Code::tanh:
      sigmoid(call, true);
      return true;
    case Code::exp:
      each_float(call, [](float x) { return std::exp(x); });
      return true;
    case Code::neg:
      each_float(call, [](float x) { return -x; });
      return true;
    case Code::abs:
      absolute(call);
      return true;
    case Code::rsqrt:
      reciprocal_root(call);
      return true;
    case Code::elu:
      elu(call);
      return true;
    case Code::hard_swish:
      hard_swish(call);
      return true;
    case Code::leaky_relu:
      leaky_relu(call);
      return true;
    case Code::quantize:
      quantize(call);
      return true;
    case Code::dequantize:
      dequantize(call);
      return true;
    case Code::cast:
      cast(call);
      return true;
    default:
      return false;
  }
}

}  // namespace usmp::tflite_random

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Random functions of elements and of pairs, pools, reductions.
#include <algorithm>
#include <cmath>

#include "tflite_random/interpreter.hpp"
#include "tflite_random/maker.hpp"

namespace usmp::tflite_random {
namespace {

// What numpy makes of two shapes.
Shape joint(const Shape& a, const Shape& b) {
  Shape result = a.size() >= b.size() ? a : b;
  const Shape& other = a.size() >= b.size() ? b : a;
  for (std::size_t i = 1; i <= other.size(); ++i) {
    int& extent = result[result.size() - i];
    extent = std::max(extent, other[other.size() - i]);
  }
  return result;
}

}  // namespace

bool Maker::pool(int x) {
  if (!is_main(x) || rank_of(x) != 4) return false;
  const Shape in = shape_of(x);
  const bool is_average = r_.chance(50);
  if (is_average && is_inexact(x)) return false;
  const bool is_same = r_.chance(50);
  Shape out = in;
  int kernel[2] = {1, 1};
  int stride[2] = {1, 1};
  for (int i = 0; i < 2; ++i) {
    const int extent = in[index(i + 1)];
    kernel[i] = static_cast<int>(r_.chance(20) ? extent : r_.between(1, std::min(extent, 4)));
    if (is_same && r_.chance(30)) kernel[i] = static_cast<int>(r_.between(1, 5));
    stride[i] = static_cast<int>(r_.chance(20) ? kernel[i] : r_.between(1, 3));
    out[index(i + 1)] = is_same ? (extent + stride[i] - 1) / stride[i] : (extent - kernel[i]) / stride[i] + 1;
  }
  const int y = like(x, out);
  const int act = fused();
  return emit_one(is_average ? Code::average_pool_2d : Code::max_pool_2d, {x}, y,
                  {{"padding", is_same ? 0 : 1},
                   {"stride_h", stride[0]},
                   {"stride_w", stride[1]},
                   {"filter_height", kernel[0]},
                   {"filter_width", kernel[1]},
                   {"activation", act}});
}

bool Maker::sum(int x) {
  if (!is_main(x) || rank_of(x) > 4 || is_inexact(x)) return false;
  const int other = operand(x, false);
  const Scaling own = scaling(at(x).type);
  const float most = std::max(at(x).scale(), at(other).scale());
  const float s = powers_of_two_ ? most : most * static_cast<float>(r_.between(300, 2500)) / 1000.0F;
  const int y = activation(at(x).type, joint(shape_of(x), shape_of(other)), Scaling{s, own.zero_point});
  const bool turned = r_.chance(30);
  const int act = fused();
  return emit_one(r_.chance(60) ? Code::add : Code::sub, {turned ? other : x, turned ? x : other}, y,
                  {{"activation", act}});
}

bool Maker::product(int x) {
  if (!is_main(x) || rank_of(x) > 4) return false;
  const int other = operand(x, false);
  const Scaling own = scaling(at(x).type);
  const float factor = static_cast<float>(r_.between(200, 3000)) / 1000.0F;
  const float middle = at(x).type == Type::int16 ? 9000.0F : 50.0F;
  float s = at(x).scale() * at(other).scale() * middle * factor;
  if (powers_of_two_ && s > 0) s = std::ldexp(1.0F, static_cast<int>(std::round(std::log2(s))));
  const int y = activation(at(x).type, joint(shape_of(x), shape_of(other)), Scaling{s, own.zero_point});
  const bool turned = r_.chance(30);
  const int act = fused();
  return emit_one(Code::mul, {turned ? other : x, turned ? x : other}, y, {{"activation", act}});
}

bool Maker::extreme(int x) {
  if (!is_main(x) || rank_of(x) > 4) return false;
  const int other = operand(x, true);
  const int y = like(x, joint(shape_of(x), shape_of(other)));
  return emit_one(r_.chance(50) ? Code::maximum : Code::minimum, {x, other}, y);
}

bool Maker::squared_difference(int x) {
  if (!is_main(x) || rank_of(x) > 4 || is_inexact(x)) return false;
  const int other = operand(x, false);
  const Scaling own = scaling(at(x).type);
  const float most = std::max(at(x).scale(), at(other).scale());
  const float middle = at(x).type == Type::int16 ? 20000.0F : 90.0F;
  float s = most * most * middle * static_cast<float>(r_.between(300, 2500)) / 1000.0F;
  if (powers_of_two_ && s > 0) s = std::ldexp(1.0F, static_cast<int>(std::round(std::log2(s))));
  const int y = activation(at(x).type, joint(shape_of(x), shape_of(other)), Scaling{s, own.zero_point});
  return emit_one(Code::squared_difference, {x, other}, y);
}

bool Maker::quotient(int x) {
  if (!is(x, {Type::float32}) || rank_of(x) > 4) return false;
  const int other = operand(x, false);
  Tensor& divisor = graph_.tensors[static_cast<std::size_t>(other)];
  if (!divisor.data) return false;
  Values values = values_of(*divisor.data, Type::float32);
  for (float& value : values.real) value = value < 0 ? value - 0.25F : value + 0.25F;
  divisor.data = bytes_of(values, Type::float32);
  const int y = activation(Type::float32, joint(shape_of(x), shape_of(other)));
  const int act = fused();
  return emit_one(Code::div, {x, other}, y, {{"activation", act}});
}

bool Maker::comparison(int x) {
  if (!is(x, {Type::float32, Type::int8}) || rank_of(x) > 4 || is_inexact(x)) return false;
  if (at(x).scale() >= 1.0F) return false;
  const int other = operand(x, r_.chance(50));
  if (at(other).scale() >= 1.0F) return false;
  static const std::vector<Code> codes = {Code::equal,      Code::not_equal, Code::less,
                                          Code::less_equal, Code::greater,   Code::greater_equal};
  const Code code = r_.pick(codes);
  return emit_one(code, {x, other}, activation(Type::boolean, joint(shape_of(x), shape_of(other))));
}

bool Maker::prelu(int x) {
  if (!is(x, {Type::float32, Type::int8}) || rank_of(x) != 4) return false;
  Shape shape = {1, 1, shape_of(x)[3]};
  if (r_.chance(30)) shape = {shape_of(x)[1], shape_of(x)[2], shape_of(x)[3]};
  const int alpha = random_constant(x, shape, std::nullopt);
  const Scaling own = scaling(at(x).type);
  const float s = at(x).scale() * static_cast<float>(r_.between(500, 2000)) / 1000.0F;
  return emit_one(Code::prelu, {x, alpha}, activation(at(x).type, shape_of(x), Scaling{s, own.zero_point}));
}

bool Maker::relu(int x) {
  if (!is_main(x)) return false;
  if (at(x).type == Type::float32 && r_.chance(30)) {
    return emit_one(Code::relu_n1_to_1, {x}, activation(Type::float32, shape_of(x)));
  }
  if (r_.chance(40)) return emit_one(Code::relu, {x}, like(x, shape_of(x)));
  const Scaling own = scaling(at(x).type);
  const float s = at(x).scale() * static_cast<float>(r_.between(400, 2500)) / 1000.0F;
  return emit_one(Code::relu, {x}, activation(at(x).type, shape_of(x), Scaling{s, own.zero_point}));
}

bool Maker::relu6(int x) {
  if (!is_main(x)) return false;
  return emit_one(Code::relu6, {x}, like(x, shape_of(x)));
}

bool Maker::sigmoid(int x) {
  if (!is_main(x) || is_inexact(x)) return false;
  const bool is_tanh = r_.chance(50);
  const bool is_short = at(x).type == Type::int16;
  if (is_short && at(x).scale() > 2.0F) return false;
  const Scaling out = is_short  ? Scaling{1.0F / 32768, 0}
                      : is_tanh ? Scaling{1.0F / 128, 0}
                                : Scaling{1.0F / 256, -128};
  return emit_one(is_tanh ? Code::tanh : Code::logistic, {x}, activation(at(x).type, shape_of(x), out), {}, true);
}

bool Maker::softmax(int x) {
  if (!is_main(x) || rank_of(x) < 1 || is_inexact(x)) return false;
  if (at(x).type == Type::float32 && r_.chance(30)) {
    return emit_one(Code::log_softmax, {x}, activation(Type::float32, shape_of(x)), {}, true);
  }
  const double beta = r_.chance(70) ? 1.0 : static_cast<double>(r_.between(1, 8)) / 4.0;
  if (at(x).type == Type::int8 && r_.chance(20)) {
    const int y = activation(Type::int16, shape_of(x), Scaling{1.0F / 65536, -32768});
    return emit_one(Code::softmax, {x}, y, {{"beta", beta}});
  }
  const Scaling out = at(x).type == Type::int16 ? Scaling{1.0F / 32768, 0} : Scaling{1.0F / 256, -128};
  return emit_one(Code::softmax, {x}, activation(at(x).type, shape_of(x), out), {{"beta", beta}}, true);
}

bool Maker::smooth(int x) {
  if (!is(x, {Type::float32, Type::int8}) || is_inexact(x)) return false;
  const bool is_float = at(x).type == Type::float32;
  const std::int64_t way = r_.below(is_float ? 3 : 2);
  const Scaling own = scaling(at(x).type);
  const float s = at(x).scale() * static_cast<float>(r_.between(600, 2000)) / 1000.0F;
  const int y = activation(at(x).type, shape_of(x), Scaling{s, own.zero_point});
  if (way == 0) return emit_one(Code::hard_swish, {x}, y);
  if (way == 1) return emit_one(Code::elu, {x}, y, {}, true);
  return emit_one(Code::exp, {x}, y, {}, true);
}

bool Maker::leaky_relu(int x) {
  if (!is_main(x)) return false;
  const Scaling own = scaling(at(x).type);
  const bool keeps = r_.chance(30);
  const float s = keeps ? at(x).scale() : at(x).scale() * static_cast<float>(r_.between(400, 2500)) / 1000.0F;
  const double alpha = static_cast<double>(static_cast<float>(r_.between(-500, 1500)) / 1000.0F);
  return emit_one(Code::leaky_relu, {x}, activation(at(x).type, shape_of(x), Scaling{s, own.zero_point}),
                  {{"alpha", alpha}});
}

bool Maker::sign(int x) {
  if (!is_main(x)) return false;
  if (at(x).type == Type::float32 && r_.chance(50)) {
    return emit_one(Code::neg, {x}, activation(Type::float32, shape_of(x)));
  }
  const Scaling own = scaling(at(x).type);
  const bool keeps = r_.chance(40);
  const float s = keeps ? at(x).scale() : at(x).scale() * static_cast<float>(r_.between(400, 2500)) / 1000.0F;
  return emit_one(Code::abs, {x}, activation(at(x).type, shape_of(x), Scaling{s, own.zero_point}));
}

bool Maker::root(int x) {
  if (!is(x, {Type::float32, Type::int8}) || is_inexact(x)) return false;
  if (at(x).type == Type::float32) {
    // The root is taken of something positive.
    const int square = activation(Type::float32, shape_of(x));
    emit_one(Code::mul, {x, x}, square);
    const int one = constant(Shape{}, std::vector<float>{0.5F});
    const int positive = activation(Type::float32, shape_of(x));
    emit_one(Code::add, {square, one}, positive);
    return emit_one(Code::rsqrt, {positive}, activation(Type::float32, shape_of(x)), {}, true);
  }
  if (at(x).zero_point() != -128) return false;
  const auto middle = 1.0 / std::sqrt(static_cast<double>(at(x).scale()) * 20.0) / 60.0;
  const auto s = static_cast<float>(middle * static_cast<double>(r_.between(300, 4000)) / 1000.0);
  return emit_one(Code::rsqrt, {x}, activation(Type::int8, shape_of(x), Scaling{s, zero_point(Type::int8)}));
}

bool Maker::conversion(int x) {
  if (!is_main(x) || is_inexact(x)) return false;
  if (at(x).type == Type::float32) {
    const Type to = r_.chance(70) ? Type::int8 : Type::int16;
    const Scaling own = scaling(to);
    return emit_one(Code::quantize, {x}, activation(to, shape_of(x), own));
  }
  if (at(x).type == Type::int8 && r_.chance(15)) {
    const Scaling outside = {at(x).scale(), at(x).zero_point() + 128};
    return emit_one(Code::quantize, {x}, activation(Type::uint8, shape_of(x), outside));
  }
  if (r_.chance(40)) return emit_one(Code::dequantize, {x}, activation(Type::float32, shape_of(x)));
  const Type to = r_.chance(20) ? Type::int32 : r_.chance(75) ? at(x).type : Type::int8;
  const bool keeps = r_.chance(20);
  float s = at(x).scale() * static_cast<float>(r_.between(300, 3000)) / 1000.0F;
  if (at(x).type == Type::int16 && to == Type::int8) s *= 200;
  if (keeps) s = at(x).scale();
  const int y = activation(to, shape_of(x), Scaling{s, zero_point(to)});
  Tensor& tensor = graph_.tensors[static_cast<std::size_t>(y)];
  if (to == Type::int32) {
    tensor.scales = {s / 100};
    tensor.zero_points = {0};
  }
  return emit_one(Code::quantize, {x}, y);
}

bool Maker::cast(int x) {
  if (!is(x, {Type::float32, Type::int8, Type::int16, Type::boolean, Type::int32}) || is_inexact(x)) return false;
  if (at(x).type == Type::int32) {
    return emit_one(Code::cast, {x}, activation(Type::float32, shape_of(x)), {{"in_data_type", 2}});
  }
  static const std::vector<Type> types = {Type::float32, Type::int32, Type::int8, Type::int16};
  const Type to = at(x).type == Type::float32 ? Type::int32 : r_.pick(types);
  if (to == at(x).type) return false;
  const int y = activation(to, shape_of(x));
  return emit_one(Code::cast, {x}, y,
                  {{"in_data_type", static_cast<double>(at(x).type)}, {"out_data_type", static_cast<double>(to)}});
}

bool Maker::reduction(int x) {
  if (!is_main(x) || rank_of(x) < 1 || rank_of(x) > 4 || is_inexact(x)) return false;
  const Shape in = shape_of(x);
  std::vector<int> axes;
  if (rank_of(x) == 4 && r_.chance(50)) {
    axes = {1, 2};
  } else {
    for (int i = 0; i < rank_of(x); ++i) {
      if (r_.chance(40)) axes.push_back(r_.chance(30) ? i - rank_of(x) : i);
    }
    if (axes.empty()) axes = {rank_of(x) - 1};
  }
  const bool keeps = r_.chance(50);
  Shape out;
  int count = 1;
  for (int i = 0; i < rank_of(x); ++i) {
    const bool is_gone =
        std::any_of(axes.begin(), axes.end(), [&](int a) { return (a + rank_of(x)) % rank_of(x) == i; });
    if (is_gone) count *= in[static_cast<std::size_t>(i)];
    if (!is_gone || keeps) out.push_back(is_gone ? 1 : in[static_cast<std::size_t>(i)]);
  }
  std::int64_t way = r_.below(at(x).type == Type::int16 ? 2 : 4);
  if (r_.chance(30)) way = 0;
  int y = -1;
  if (way >= 2 || r_.chance(20)) {
    y = like(x, out);
  } else {
    const float spread = way == 1 ? std::sqrt(static_cast<float>(count)) : 1.0F / std::sqrt(static_cast<float>(count));
    const float s = at(x).scale() * spread * static_cast<float>(r_.between(500, 2500)) / 1000.0F;
    y = activation(at(x).type, out, Scaling{s, zero_point(at(x).type)});
  }
  static const std::vector<Code> codes = {Code::mean, Code::sum, Code::reduce_max, Code::reduce_min};
  const bool is_scalar = axes.size() == 1 && r_.chance(30);
  const int list = is_scalar ? constant(Type::int32, {}, {axes[0]}) : numbers(axes);
  return emit_one(codes[static_cast<std::size_t>(way)], {x, list}, y, {{"keep_dims", keeps ? 1 : 0}});
}

bool Maker::arg(int x) {
  if (!is(x, {Type::float32, Type::int8}) || rank_of(x) < 1 || is_inexact(x)) return false;
  const int axis = static_cast<int>(r_.between(-rank_of(x), rank_of(x) - 1));
  Shape out = shape_of(x);
  out.erase(out.begin() + (axis + rank_of(x)) % rank_of(x));
  const int list = r_.chance(50) ? constant(Type::int32, {}, {axis}) : numbers({axis});
  const int y = activation(Type::int32, out);
  return emit_one(r_.chance(60) ? Code::arg_max : Code::arg_min, {x, list}, y, {{"output_type", 2}});
}

}  // namespace usmp::tflite_random

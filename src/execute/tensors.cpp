// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes random elements from their bits, and compares them by bits, but for NaNs.
#include "execute/tensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "usmp/support/error.hpp"
#include "usmp/support/random.hpp"
#include "usmp/support/text.hpp"

namespace usmp::execute {
namespace {

using tir::DataType;
using tir::TypeCode;

std::optional<DataType> element_of(const codegen::EmissionInput& module, const codegen::InterfaceTensor& tensor,
                                   const std::vector<model::Tensor>& described) {
  const tir::Param& param = module.source.functions[module.source.entry].params[tensor.param];
  if (param.is_tensor && !param.element.is_void()) return param.element.element();
  for (const model::Tensor& description : described) {
    if (description.name != tensor.name) continue;
    if (const auto type = tir::parse_data_type(description.dtype)) return type->element();
  }
  const DataType pointee = module.source.var(param.var).element;
  return pointee.is_void() ? std::nullopt : std::optional(pointee.element());
}

std::vector<Tensor> described(const codegen::EmissionInput& module, const std::vector<codegen::TensorLayout>& layouts,
                              const std::vector<model::Tensor>& descriptions, const std::string& what) {
  std::vector<Tensor> tensors;
  for (const codegen::TensorLayout& layout : layouts) {
    const codegen::InterfaceTensor& tensor = layout.tensor;
    const auto fail = [&](const char* part) {
      throw Error(ErrorKind::archive, {},
                  "the " + std::string(part) + " of " + what + " '" + tensor.name +
                      "' is not known, so the module cannot be run");
    };
    const auto element = element_of(module, tensor, descriptions);
    const bool is_plain = element && !element->is_handle() && element->bits > 0 && element->bits <= 64;
    if (!is_plain) fail("type");
    if (tensor.size <= 0 || tensor.size % element->element_bytes() != 0) fail("size");
    tensors.push_back({tensor.name, tensor.member, *element, tensor.size});
  }
  return tensors;
}

// How a float of so many bits is laid out; nothing for widths that are no IEEE type (or bfloat16).
struct FloatLayout {
  unsigned mantissa = 0;  // bits, without the hidden one
  unsigned exponent = 0;
};

std::optional<FloatLayout> float_layout(const DataType& type) {
  if (type.code == TypeCode::bfloat && type.bits == 16) return FloatLayout{7, 8};
  if (type.code != TypeCode::float_) return std::nullopt;
  switch (type.bits) {
    case 16:
      return FloatLayout{10, 5};
    case 32:
      return FloatLayout{23, 8};
    case 64:
      return FloatLayout{52, 11};
    default:
      return std::nullopt;
  }
}

// A float from [-4, 4) as its bits: a whole number of mantissa + 1 random bits and a sign, times a power of two.
std::uint64_t random_float(const FloatLayout& layout, std::uint64_t random) {
  const unsigned magnitude_bits = layout.mantissa + 1;
  const std::uint64_t sign = random >> 63U;
  const std::uint64_t magnitude = random & ((std::uint64_t{1} << magnitude_bits) - 1);
  if (magnitude == 0) return 0;
  const unsigned top = static_cast<unsigned>(std::bit_width(magnitude)) - 1;
  const std::uint64_t fraction = (magnitude << (layout.mantissa - top)) & ((std::uint64_t{1} << layout.mantissa) - 1);
  // The value is magnitude * 2^(2 - magnitude_bits), below 4; its highest bit has the weight 2^(top + 2 -
  // magnitude_bits).
  const std::uint64_t bias = (std::uint64_t{1} << (layout.exponent - 1)) - 1;
  if (bias + top + 2 <= magnitude_bits) return 0;  // would be a subnormal number
  const std::uint64_t exponent = bias + top + 2 - magnitude_bits;
  return (sign << (layout.mantissa + layout.exponent)) | (exponent << layout.mantissa) | fraction;
}

std::uint64_t random_element(const DataType& element, std::uint64_t random) {
  if (element.is_bool()) return random & 1U;
  if (const auto layout = float_layout(element)) return random_float(*layout, random);
  // Sums and products of 64 bits must not overflow, which C does not define.
  if (element.is_int() && element.bits == 64) {
    return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(random))});
  }
  return random;
}

bool is_nan(const FloatLayout& layout, std::uint64_t bits) {
  const std::uint64_t exponents = ((std::uint64_t{1} << layout.exponent) - 1) << layout.mantissa;
  const std::uint64_t fractions = (std::uint64_t{1} << layout.mantissa) - 1;
  return (bits & exponents) == exponents && (bits & fractions) != 0;
}

double float_value(const FloatLayout& layout, std::uint64_t bits) {
  const std::uint64_t largest = (std::uint64_t{1} << layout.exponent) - 1;
  const std::uint64_t exponent = (bits >> layout.mantissa) & largest;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << layout.mantissa) - 1);
  const int bias = (1 << (layout.exponent - 1)) - 1;
  const bool is_negative = ((bits >> (layout.mantissa + layout.exponent)) & 1U) != 0;
  double value = 0;
  if (exponent == largest) {
    value = fraction != 0 ? std::nan("") : HUGE_VAL;
  } else {
    const std::uint64_t hidden = exponent == 0 ? 0 : std::uint64_t{1} << layout.mantissa;
    const int scale = (exponent == 0 ? 1 : static_cast<int>(exponent)) - bias - static_cast<int>(layout.mantissa);
    value = std::ldexp(static_cast<double>(fraction + hidden), scale);
  }
  return is_negative ? -value : value;
}

std::string hexadecimal(std::uint64_t bits, std::size_t width) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "0x";
  for (std::size_t i = 2 * width; i-- > 0;) text += digits[(bits >> (4 * i)) & 0xfU];
  return text;
}

}  // namespace

Tensors tensors_of(const codegen::EmissionInput& module, const codegen::ModuleLayout& layout) {
  return {described(module, layout.inputs, module.info.inputs, "input"),
          described(module, layout.outputs, module.info.outputs, "output")};
}

std::string random_inputs(const std::vector<Tensor>& inputs, std::uint32_t rounds, std::uint64_t seed) {
  Random random(seed);
  std::string bytes;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (const Tensor& tensor : inputs) {
      const auto width = static_cast<std::size_t>(tensor.element.element_bytes());
      for (Bytes at = 0; at < tensor.size; at += tensor.element.element_bytes()) {
        append_little_endian(bytes, random_element(tensor.element, random.next()), width);
      }
    }
  }
  return bytes;
}

Comparison compare_elements(const DataType& element, std::string_view a, std::string_view b) {
  assert(a.size() == b.size());
  Comparison result;
  if (a == b) return result;
  const auto width = static_cast<std::size_t>(element.element_bytes());
  const auto layout = float_layout(element);
  for (std::size_t i = 0; i < a.size() / width; ++i) {
    if (a.substr(i * width, width) == b.substr(i * width, width)) continue;
    if (layout && is_nan(*layout, little_endian(a, i * width, width)) &&
        is_nan(*layout, little_endian(b, i * width, width))) {
      continue;
    }
    if (result.count++ == 0) result.first = i;
  }
  return result;
}

std::string element_text(const DataType& element, std::string_view bytes, std::size_t index) {
  const auto width = static_cast<std::size_t>(element.element_bytes());
  const std::uint64_t bits = little_endian(bytes, index * width, width);
  if (const auto layout = float_layout(element)) {
    const double value = float_value(*layout, bits);
    return (element.bits <= 32 ? shortest_decimal(static_cast<float>(value)) : shortest_decimal(value)) + " (" +
           hexadecimal(bits, width) + ")";
  }
  if (element.is_int()) {
    const unsigned unused = 64 - static_cast<unsigned>(8 * width);
    return std::to_string(static_cast<std::int64_t>(bits << unused) >> unused);
  }
  return element.is_uint() ? std::to_string(bits) : hexadecimal(bits, width);
}

}  // namespace usmp::execute

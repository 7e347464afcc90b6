// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Spells literals so that C gives them the value and type that are meant, without warnings.
#include "codegen/c_types.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "usmp/support/text.hpp"

namespace usmp::codegen {
namespace {

using tir::DataType;
using tir::TypeCode;

bool is_power_of_two_width(int bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64; }

std::string with_fraction(std::string digits) {
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return digits;
}

}  // namespace

bool is_half(DataType type) { return type.is_float() && type.bits == 16; }

bool has_c_type(DataType scalar) {
  switch (scalar.code) {
    case TypeCode::int_:
      return is_power_of_two_width(scalar.bits);
    case TypeCode::uint:
      return scalar.bits == 1 || is_power_of_two_width(scalar.bits);
    case TypeCode::float_:
      return scalar.bits == 16 || scalar.bits == 32 || scalar.bits == 64;
    case TypeCode::bfloat:
      return scalar.bits == 16;
    default:
      return false;
  }
}

std::string value_type(DataType scalar) {
  if (scalar.is_bool()) return "bool";
  if (scalar.is_float()) return scalar.bits == 64 ? "double" : "float";
  if (scalar.is_handle()) return "void*";
  if (scalar.is_void()) return "void";
  return (scalar.is_uint() ? "uint" : "int") + std::to_string(scalar.bits) + "_t";
}

std::string storage_type(DataType scalar) {
  if (scalar.is_bool()) return "uint8_t";
  if (is_half(scalar)) return "uint16_t";
  return value_type(scalar);
}

std::optional<Bytes> size_of_storage_type(const std::string& type) {
  if (type == "float") return 4;
  if (type == "double") return 8;
  for (const int bits : {8, 16, 32, 64}) {
    if (type.ends_with("int" + std::to_string(bits) + "_t")) return bits / 8;
  }
  return std::nullopt;
}

std::string to_string(const PointerType& type) { return (type.is_const ? "const " : "") + type.element + "*"; }

std::string int_literal(std::int64_t value, DataType type, bool wide_sibling) {
  if (type.is_bool()) return value != 0 ? "true" : "false";
  if (type.is_uint()) {
    auto bits = static_cast<std::uint64_t>(value);
    if (type.bits < 64) bits &= (std::uint64_t{1} << type.bits) - 1;
    std::string digits = std::to_string(bits);
    if (type.bits < 32) return digits;
    if (bits > UINT32_MAX || (type.bits == 64 && !wide_sibling)) return digits + "ULL";
    return digits + "U";
  }
  if (type.bits < 64) {  // reduce to the type's range: the module may hold any int64
    const int unused = 64 - type.bits;
    value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused;
  }
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807LL - 1)";
  if (value == std::numeric_limits<std::int32_t>::min()) {
    return type.bits == 64 && !wide_sibling ? "-2147483648LL" : "(-2147483647 - 1)";
  }
  const bool fits_int =
      value > std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
  const bool plain = type.bits < 64 || (wide_sibling && fits_int);
  return std::to_string(value) + (plain ? "" : "LL");
}

std::string float_literal(double value, DataType type) {
  if (is_half(type)) value = round_to_half(value, type);
  // Conversion of a double beyond float's range is undefined in C++, so infinity is decided first: everything from
  // FLT_MAX plus half a unit in the last place rounds to it.
  if (type.bits != 64 && std::fabs(value) >= 0x1.ffffffp127) value = std::copysign(HUGE_VAL, value);
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
  if (type.bits == 64) return with_fraction(shortest_decimal(value));
  return with_fraction(shortest_decimal(static_cast<float>(value))) + "f";
}

double round_to_half(double value, DataType type) {
  if (std::isnan(value) || std::isinf(value) || value == 0) return value;
  const bool is_bfloat = type.code == TypeCode::bfloat;
  const int precision = is_bfloat ? 8 : 11;
  const int min_exponent = is_bfloat ? -126 : -14;  // of the smallest normal number
  const double largest = is_bfloat ? 0x1.fep127 : 65504.0;
  int exponent = 0;
  std::frexp(value, &exponent);  // |value| in [2^(exponent-1), 2^exponent)
  const int unit = std::max(exponent - 1, min_exponent) - (precision - 1);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return std::fabs(rounded) > largest ? std::copysign(HUGE_VAL, value) : rounded;
}

std::string string_literal(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?') {  // '?': no trigraphs
      result += '\\';
      result += c;
    } else if (byte >= 0x20 && byte < 0x7f) {
      result += c;
    } else {  // three octal digits end by themselves, whatever follows
      result += '\\';
      for (const int shift : {6, 3, 0}) result += static_cast<char>('0' + ((byte >> shift) & 7));
    }
  }
  return result + "\"";
}

std::string comment_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool plain = c >= 0x20 && c < 0x7f && c != '\\' && c != '?' && c != '*';
    result += plain ? c : '_';
  }
  return result;
}

}  // namespace usmp::codegen

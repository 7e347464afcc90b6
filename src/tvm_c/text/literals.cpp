// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Converts literals of integers, floats and strings.
#include "tvm_c/text/literals.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "usmp/c/constants.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

bool is_hex(std::string_view text) { return text.starts_with("0x") || text.starts_with("0X"); }

}  // namespace

bool is_real(const Token& number) {
  return number.text.find_first_of(is_hex(number.text) ? ".pP" : ".eE") != std::string_view::npos;
}

IntegerLiteral integer_literal(const Token& token) {
  const auto found = c::integer_literal(token.text);
  if (!found) {
    throw SyntaxError{token.offset, "found " + shown(token.text) + ", expected an integer of at most 64 bits"};
  }
  // long has 64 bits where TVM runs.
  const std::uint8_t bits = found->bits == 0 ? std::uint8_t{64} : found->bits;
  const tir::TypeCode code = found->is_unsigned ? tir::TypeCode::uint : tir::TypeCode::int_;
  return {static_cast<std::int64_t>(static_cast<std::uint64_t>(found->value)), {code, bits, 1}, found->bits == 0};
}

bool has_float_suffix(const Token& real) { return real.text.ends_with('f') || real.text.ends_with('F'); }

double real_literal(const Token& token, bool is_float) {
  const bool hex = is_hex(token.text);
  std::string_view digits = token.text.substr(hex ? 2 : 0);
  if (has_float_suffix(token)) digits.remove_suffix(1);
  const auto parsed = [&](auto number) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number,
                                              hex ? std::chars_format::hex : std::chars_format::general);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      throw SyntaxError{token.offset, "found " + shown(token.text) + ", expected a number that its type holds"};
    }
    return static_cast<double>(number);
  };
  const double value = has_float_suffix(token) ? parsed(float{}) : parsed(double{});
  if (!is_float) return value;
  if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max())) {
    throw SyntaxError{token.offset, "found " + shown(token.text) + ", expected a number that float holds"};
  }
  return static_cast<double>(static_cast<float>(value));
}

std::string text_of_string(const Token& token) {
  constexpr std::string_view names = "ntr\"'\\0";
  constexpr std::string_view characters("\n\t\r\"'\\\0", 7);
  const std::string_view inside = token.text.substr(1, token.text.size() - 2);
  std::string text;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != '\\') {
      text += inside[i];
      continue;
    }
    const std::size_t name = ++i < inside.size() ? names.find(inside[i]) : std::string_view::npos;
    if (name == std::string_view::npos) {
      throw SyntaxError{token.offset, "found an escape in " + shown(token.text) + " that is not read here"};
    }
    text += characters[name];
  }
  return text;
}

}  // namespace usmp::tvm_c

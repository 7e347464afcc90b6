// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Three bytes for four characters of the alphabet, and back.
#include "usmp/support/base64.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace usmp {
namespace {

constexpr std::string_view base64_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t not_base64 = 0xFF;

constexpr std::array<std::uint8_t, 256> make_base64_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(not_base64);
  for (std::size_t i = 0; i < base64_alphabet.size(); ++i) {
    values[static_cast<unsigned char>(base64_alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}
constexpr auto base64_values = make_base64_values();

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8U | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) text += k > count ? '=' : base64_alphabet[group >> (18U - 6U * k) & 0x3FU];
  }
  return text;
}

DecodedBase64 decode_base64(std::string_view text) {
  DecodedBase64 result;
  if (text.size() % 4 != 0) {
    result.fault = "base64 text of " + std::to_string(text.size()) + " characters is cut off, expected a multiple of 4";
    return result;
  }
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes(text.size() / 4 * 3, '\0');
  std::size_t out = 0;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::array<std::uint32_t, 4> values{};
    for (std::size_t k = 0; k < 4; ++k) values[k] = base64_values[static_cast<unsigned char>(text[i + k])];
    if (i + 4 == text.size() && padding > 0) values[3] = 0;
    if (i + 4 == text.size() && padding > 1) values[2] = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      if (values[k] != not_base64) continue;
      result.fault = "character " + std::to_string(i + k) + " of the base64 text is not a base64 character";
      return result;
    }
    const std::uint32_t group = values[0] << 18U | values[1] << 12U | values[2] << 6U | values[3];
    bytes[out++] = static_cast<char>(group >> 16U & 0xFFU);
    bytes[out++] = static_cast<char>(group >> 8U & 0xFFU);
    bytes[out++] = static_cast<char>(group & 0xFFU);
  }
  bytes.resize(bytes.size() - padding);
  result.bytes = std::move(bytes);
  return result;
}

}  // namespace usmp

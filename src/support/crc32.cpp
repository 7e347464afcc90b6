// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes a byte a step, by a table of 256 remainders that the compiler computes.
#include "usmp/support/crc32.hpp"

#include <array>

namespace usmp {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) != 0 ? 0xedb88320U : 0U);
    table[i] = value;
  }
  return table;
}

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  static constexpr std::array<std::uint32_t, 256> table = make_table();
  std::uint32_t crc = ~before;
  for (const char byte : bytes) crc = (crc >> 8U) ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xffU];
  return ~crc;
}

}  // namespace usmp

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Shifts bits to the top of 64 and back, which cuts them to the type and extends their sign.
#include "usmp/tir/integer_types.hpp"

#include "usmp/support/text.hpp"

#include <limits>

namespace usmp::tir {

std::optional<Interval> range_of_type(DataType type) {
  if (type.is_bool()) return Interval{0, 1};
  if (type.is_int() && type.bits > 0 && type.bits <= 64) {
    const std::int64_t high = std::numeric_limits<std::int64_t>::max() >> (64 - type.bits);
    return Interval{-high - 1, high};
  }
  if (type.is_uint() && type.bits > 0 && type.bits < 64) {
    return Interval{0, std::numeric_limits<std::int64_t>::max() >> (63 - type.bits)};
  }
  return std::nullopt;
}

DataType promoted(DataType type) {
  const bool narrow = type.is_integer() && type.bits < 32 && !type.is_bool();
  return narrow ? int32_type : type.element();
}

bool is_c_integer(DataType type) {
  const bool is_wide = type.bits == 8 || type.bits == 16 || type.bits == 32 || type.bits == 64;
  return type.is_bool() || (type.is_integer() && is_wide);
}

// The value that has the same bits in the type.
std::optional<std::int64_t> value_in_type(std::int64_t bits, DataType type) {
  if (type.is_bool()) return bits != 0 ? 1 : 0;
  constexpr int most_bits = 64;
  if (type.bits == 0 || type.bits > most_bits) return std::nullopt;
  const int unused = most_bits - type.bits;
  const std::uint64_t kept = static_cast<std::uint64_t>(bits) << unused;
  if (type.is_int()) return static_cast<std::int64_t>(kept) >> unused;
  const std::uint64_t value = kept >> unused;
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::uint64_t element_bits(const Constant& constant, std::size_t index) {
  const auto size = static_cast<std::size_t>(constant.type.element_bytes());
  return little_endian(constant.bytes, index * size, size);
}

std::int64_t integer_of(std::uint64_t bits, DataType type) {
  const auto unused = static_cast<unsigned>(64 - 8 * type.element_bytes());
  if (type.is_uint()) return static_cast<std::int64_t>(bits);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

}  // namespace usmp::tir

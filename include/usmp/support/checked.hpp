// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Arithmetic on byte counts and offsets with overflow checks.
#pragma once

#include <cstdint>
#include <optional>

namespace usmp {

// Sizes, offsets and alignments in bytes. Never negative in a valid value.
using Bytes = std::int64_t;

[[nodiscard]] constexpr std::optional<Bytes> checked_add(Bytes a, Bytes b) {
  Bytes sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

[[nodiscard]] constexpr std::optional<Bytes> checked_sub(Bytes a, Bytes b) {
  Bytes difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}

[[nodiscard]] constexpr std::optional<Bytes> checked_mul(Bytes a, Bytes b) {
  Bytes product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// The smallest multiple of `alignment` (>= 1) that is not below `value` (>= 0); nothing on overflow.
[[nodiscard]] constexpr std::optional<Bytes> checked_align_up(Bytes value, Bytes alignment) {
  const Bytes rest = value % alignment;
  return rest == 0 ? std::optional(value) : checked_add(value, alignment - rest);
}

// The same for values known not to overflow: all offsets of a valid Problem (see Problem::max_total_bytes).
[[nodiscard]] constexpr Bytes align_up(Bytes value, Bytes alignment) {
  const Bytes rest = value % alignment;
  return rest == 0 ? value : value + alignment - rest;
}

}  // namespace usmp

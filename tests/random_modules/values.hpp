// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Scalars as the reference interpreter holds them, and their bytes in memory.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "tir_support/c_integers.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::random_modules {

using tir::testing::highest;
using tir::testing::lowest;
using tir::testing::promoted_type;
using tir::testing::Wide;
using tir::testing::widened;
using tir::testing::wrapped;

// What the program does has no defined meaning (or none that C and TIR agree on): it is no test.
struct Undefined : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr std::uint32_t no_instance = UINT32_MAX;

struct Scalar {
  union {
    std::int64_t integer = 0;  // integers and bools (uint64 in two's complement); of a pointer its byte offset
    double real;               // floats of all widths, exactly
  };
  std::uint32_t instance = no_instance;  // of a pointer: the storage that it points into; none: NULL
};

inline Scalar integer(std::int64_t value) {
  Scalar scalar;
  scalar.integer = value;
  return scalar;
}
inline Scalar real(double value) {
  Scalar scalar;
  scalar.real = value;
  return scalar;
}

// The nearest value of a float type, ties to even.
[[nodiscard]] double rounded(double value, tir::DataType type);

// Bytes of an element, little endian, in the lower bits. A NaN has the quiet pattern.
[[nodiscard]] std::uint64_t bits_of(Scalar value, tir::DataType type);
[[nodiscard]] Scalar scalar_of(std::uint64_t bits, tir::DataType type);

}  // namespace usmp::random_modules

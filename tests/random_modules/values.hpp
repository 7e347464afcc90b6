// Scalars as the reference interpreter holds them, and their bytes in memory.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "usmp/tir/ir.hpp"

namespace usmp::random_modules {

// 128 bits hold every sum and product of two 64-bit integers.
__extension__ typedef __int128 Wide;

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

// What C computes with: integers narrower than int are promoted to it.
[[nodiscard]] tir::DataType promoted(tir::DataType type);

// Least and greatest value of an integer type (bool: 0 and 1).
[[nodiscard]] Wide lowest(tir::DataType type);
[[nodiscard]] Wide highest(tir::DataType type);
// The integer as a number: uint64 is stored in two's complement.
[[nodiscard]] Wide widened(std::int64_t value, tir::DataType type);
// Reduced to the type's bits.
[[nodiscard]] std::int64_t wrapped(Wide value, tir::DataType type);

// The nearest value of a float type, ties to even.
[[nodiscard]] double rounded(double value, tir::DataType type);

// Bytes of an element, little endian, in the lower bits. A NaN has the quiet pattern.
[[nodiscard]] std::uint64_t bits_of(Scalar value, tir::DataType type);
[[nodiscard]] Scalar scalar_of(std::uint64_t bits, tir::DataType type);

}  // namespace usmp::random_modules

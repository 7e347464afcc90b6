// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Weights as pairs: two of 8 bits in a number of 16, so that Arm's DSP extension unpacks half as many.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/product_sum.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::kernels {

// Idea: SMLAD adds two products of halves of words. Of the terms x·a + y·b, where a pair p = 256·a + b is one such
// half, and the data x and y are another one, 256·y + x, unpacking gives x, and one instruction more z = 256·y - x + c:
//   x·p + z·b = 256·(x·a + y·b) + c·b.
// So only b is unpacked, not a. In 32 bits, 256 times a sum is known if the sum fits 24. What the constant c and the
// zero points of the data add up to depends on weights alone, so a sum begins with it.

inline constexpr tir::DataType pair_type = tir::int16_type;

// 16-bit numbers in front of the pairs of a block of four sums: what each of its sums begins with.
inline constexpr std::int64_t numbers_in_front = 8;

// Turns int8 weights in the order of Op::dot_run, blocks of four sums of so many terms, into blocks of pairs
// (Op::pair_run): their bytes. Nothing: a pair does not fit 16 bits, or a sum 24. O(bytes).
[[nodiscard]] std::optional<std::string> paired(std::string_view weights, std::int64_t terms, tir::DataType data,
                                                std::int64_t zero_point);

// Whether a nest of the form `dot` may become one call of Op::pair_run, as far as its loops tell: of bytes, all terms
// side by side, none left out by a border.
[[nodiscard]] bool may_be_paired(const ProductSum& sum);

}  // namespace usmp::kernels

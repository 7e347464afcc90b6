// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// TIR's integer types in C.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "usmp/support/interval.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tir {

// The range of an integer type; nothing for uint64 (its values do not fit) and for other types.
[[nodiscard]] std::optional<Interval> range_of_type(DataType type);

// C's integer promotion: the result of an operation may leave the range of a narrow type, but not that of int.
[[nodiscard]] DataType promoted(DataType type);

// Whether C has a type for it: some integers, and bool.
[[nodiscard]] bool is_c_integer(DataType type);

// The value of a literal of the type; modules may contain any bits. Nothing: beyond int64.
[[nodiscard]] std::optional<std::int64_t> value_in_type(std::int64_t bits, DataType type);

// The bits of an element of scalar type, as they are stored.
[[nodiscard]] std::uint64_t element_bits(const Constant& constant, std::size_t index);
// The value of the stored bits of an integer; a uint64 above INT64_MAX in two's complement, as in Expr::int_value.
[[nodiscard]] std::int64_t integer_of(std::uint64_t bits, DataType type);

}  // namespace usmp::tir

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The values that a constant has, which are looked at in bulk: tables of constants have megabytes.
#pragma once

#include <optional>

#include "usmp/support/interval.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tir {

// From the least to the greatest element of a constant of integers in 1, 2, 4 or 8 bytes each (integer_of). Nothing: it
// has no elements, or one beyond int64. O(bytes).
[[nodiscard]] std::optional<Interval> range_of_elements(const Constant& constant);

}  // namespace usmp::tir

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Constants whose elements stand in another order.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "usmp/tir/ir.hpp"

namespace usmp::tir {

// A digit of the number of an element: the distance of elements that differ by one in it.
struct ElementDigit {
  std::int64_t before = 1;
  std::int64_t after = 1;
};

// The bytes of the constant with its elements in another order. The digits are all that their numbers have, those of
// the largest distance before first; no two elements have one place afterwards. O(bytes · digits).
[[nodiscard]] std::string reordered(const Constant& data, std::span<const ElementDigit> digits);

}  // namespace usmp::tir

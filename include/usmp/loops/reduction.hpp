// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Stores that add to what they store to: a[i] = a[i] + term.
#pragma once

#include <cstddef>

#include "usmp/tir/ir.hpp"

namespace usmp::loops {

// Whether the value is a sum of the element that the store overwrites, as its operand `side` (0 or 1), and of something
// else, all of one type and without predicate.
[[nodiscard]] bool adds_to_element(const tir::Store& store, std::size_t side);

// The term of a[i] = a[i] + term, in this order; null: the store is not such a sum.
[[nodiscard]] const tir::Expr* added_term(const tir::Store& store);

}  // namespace usmp::loops

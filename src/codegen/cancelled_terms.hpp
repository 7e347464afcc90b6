// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums whose terms cancel each other.
//
// GCC takes "x * -3 + x + x * 2", which it finds to be 0, for an overflow, and warns of it. What cancels is therefore
// left out; a sum without it overflows nowhere where the whole one does not.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::codegen {

// The sum or difference without the terms that add up to nothing; null if there are none, or it is no sum. Terms are
// told apart as trees; sums of more than 16 terms are left alone.
[[nodiscard]] tir::ExprRef without_cancelled_terms(const tir::Expr& expr);

}  // namespace usmp::codegen

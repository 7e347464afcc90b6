// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Bounds of numbers of several digits, of which the low ones decide nothing.
#pragma once

#include "usmp/arith/facts.hpp"

namespace usmp::arith {

// The bound without terms that cannot decide it: 12·a + b >= 48 with b in [0, 12) is a >= 4. TVM writes the border of
// an image so, whose lines and columns it counts with one number.
[[nodiscard]] Bound without_low_digits(Bound bound, const Facts& facts);

}  // namespace usmp::arith

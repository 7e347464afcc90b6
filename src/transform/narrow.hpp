// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The step `narrow`: tensors between operators in the smallest exact type, and no operators that only copy.
#pragma once

#include <vector>

#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform {

// Stores tensors between operators narrower, then removes copies (narrow_copies.hpp). What it did, in order.
[[nodiscard]] std::vector<Change> narrow(tir::Module& module);

}  // namespace usmp::transform

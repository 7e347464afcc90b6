// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A load that no order avoids.
#pragma once

#include "transform/reorder_problem.hpp"

namespace usmp::transform {

// Whatever the order, while a task runs everything is held that it accesses itself at that time, and everything that
// one of its ancestors and one of its descendants access. The largest sum of these. O(edges · storages / 64).
[[nodiscard]] Bytes order_bound(const OrderProblem& problem);

}  // namespace usmp::transform

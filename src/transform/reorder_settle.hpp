// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// No more calls in other places than it takes.
#pragma once

#include <cstddef>
#include <vector>

#include "transform/reorder_problem.hpp"

namespace usmp::transform {

// The order after neighbours have changed places, as long as some stand the other way round than they were given (the
// larger number first) and no load exceeds `peak` then: tasks wait for smaller numbers only. `effort` bounds the work,
// in passes over tasks and their touches. O(effort).
[[nodiscard]] std::vector<std::size_t> settled(const OrderProblem& problem, std::vector<std::size_t> order, Bytes peak,
                                               std::size_t effort);

}  // namespace usmp::transform

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans of thousands of buffers, for which the searches of `optimal` are too slow.
// Tests: tests/planners/large_test.cpp.
#pragma once

#include <cstddef>

#include "usmp/planners/planner.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::planners {

// Below, the searches of `optimal` do as well.
inline constexpr std::size_t large_problem = 1000;  // buffers

// `first`, or a better plan: see large.cpp, which also says what it costs. Of groups with several pools the part that
// `first` has, if it has one. Ends with the best plan so far when Options::time_limit has passed or the user
// interrupts; otherwise deterministic.
[[nodiscard]] PlanResult improve_large(const Problem& problem, const Options& options, PlanResult first);

}  // namespace usmp::planners

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a task needs whose buffers may share bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transform/reorder_problem.hpp"

namespace usmp::transform {

// A bit a touch of the task.
using TouchSet = std::uint32_t;
static_assert(max_sharing_touches <= 32);

// The largest load of what the task accesses, inner buffers included, while it runs: storages of `before` are held from
// its start, those of `after` to its end. The task has sharing. As bounds::load.
[[nodiscard]] Bytes load_of_task(const OrderProblem& problem, std::size_t task, TouchSet before, TouchSet after);

}  // namespace usmp::transform

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A plan as the stages after planning see it.
#pragma once

#include "usmp/assemble/assemble.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/placement/placement.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::assemble {

// By BufferId and PoolId, so that StorageId i is BufferId i. The assembly is from this analysis, and the plan is
// complete. O(buffers + pools).
[[nodiscard]] placement::Table placements_of(const liveness::Analysis& analysis, const Assembly& assembly,
                                             const Plan& plan);

}  // namespace usmp::assemble

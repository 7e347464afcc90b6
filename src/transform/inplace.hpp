// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The step that changes nothing in the program: which buffers may share bytes, and what that is worth.
#pragma once

#include <vector>

#include "usmp/bounds/load.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform {

// A change for each of the module's distances. `load` is that of the module as it is, `analysis` without inputs and
// outputs.
[[nodiscard]] StepResult describe_shared_bytes(const tir::Module& module, const liveness::Analysis& analysis,
                                               const std::vector<liveness::StorageDistance>& distances, Bytes load);

// The load of the workspace from each tick on at which it changes, inputs and outputs left out, when buffers share what
// the distances let them.
[[nodiscard]] std::vector<bounds::Load> load_over_time(const liveness::Analysis& analysis,
                                                       const std::vector<liveness::StorageDistance>& distances);

}  // namespace usmp::transform

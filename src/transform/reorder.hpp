// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The step "reorder": calls of the entry change places.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform {

// Puts the statements of the entry's body into an order of lower peak load, if one is found; otherwise the module
// stays as it is. docs/transformations.md says when statements may change places. Throws as liveness::analyse does.
[[nodiscard]] std::vector<Change> reorder(tir::Module& module, const Options& options);

// StepResult::too_large: reorder is not to be called. Nothing: it may be.
[[nodiscard]] std::optional<std::string> too_large_to_reorder(const tir::Module& module);

}  // namespace usmp::transform

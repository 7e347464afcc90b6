// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Packings without a hole: where the items fill the whole height at every tick, little is left to choose.
#pragma once

#include <optional>
#include <vector>

#include "planners/exact/packing.hpp"

namespace usmp::planners::exact {

// Offsets with which the items fill [packing.reserved, height) at every tick from the first to the last one. Nothing:
// they do not, as the sum of their sizes is not height - reserved throughout, an item is pinned, has several ranges or
// no size; or none were found within the budget and a work limit of its own, about a third of a second. Proves nothing
// then. Which offsets are found does not depend on the order of equal items only; deterministic.
[[nodiscard]] std::optional<std::vector<Bytes>> tile(const Packing& packing, Bytes height, Budget& budget);

}  // namespace usmp::planners::exact

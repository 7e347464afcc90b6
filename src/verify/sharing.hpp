// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a problem says of two buffers that share bytes while both are live.
#pragma once

#include <optional>

#include "usmp/problem/problem.hpp"

namespace usmp::verify {

// The first tick at which both are live. Ranges are sorted and apart. O(ranges).
[[nodiscard]] std::optional<Tick> both_live(const Buffer& a, const Buffer& b);

// Whether one may start so little above the other. O(log distances).
[[nodiscard]] bool may_share(const Problem& problem, BufferId a, Bytes offset_a, BufferId b, Bytes offset_b);

}  // namespace usmp::verify

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which buffers of a pool share bytes, and what each holds if every byte counts once.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "usmp/compare/figures.hpp"

namespace usmp::compare {

// By the name of the pool, in the order that PoolFigures::shared_bytes has. Every buffer says when it is live.
// O((distances + live ranges of their buffers) log distances).
[[nodiscard]] std::map<std::string, std::vector<PoolFigures::SharedBytes>> shared_bytes_of(
    const plan_file::PlanDocument& document);

// Those of the buffers that are live at the tick, largest first. Every buffer says when it is live.
[[nodiscard]] std::vector<std::size_t> live_at(const plan_file::PlanDocument& document,
                                               const std::vector<std::size_t>& buffers, Tick tick);

// [i]: bytes of chosen[i] that none in front of it holds. The buffers are in one pool. O(n log n).
[[nodiscard]] std::vector<Bytes> bytes_counted_once(const plan_file::PlanDocument& document,
                                                    const std::vector<std::size_t>& chosen);

}  // namespace usmp::compare

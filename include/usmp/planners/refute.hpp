// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Why buffers do not fit: a search that keeps what it learns.
#pragma once

#include <cstdint>
#include <optional>

#include "usmp/bounds/certificate.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::planners {

inline constexpr std::uint64_t most_refuting_nodes = 200'000;

struct RefuteResult {
  std::optional<bounds::Refutation> refutation;
  bool fits = false;  // a place for all of them was found
};

// Whether the pool's bounds::certified_buffers fit into `capacity` bytes (>= 0). Neither is known if the search took
// all `nodes`, or what it learned more than bounds::most_proof_lines. Throws as bounds::certified_buffers. Source and
// cost: src/planners/exact/pair_search.hpp. Deterministic.
[[nodiscard]] RefuteResult refute(const Problem& problem, PoolId pool, Bytes capacity,
                                  std::uint64_t nodes = most_refuting_nodes);

}  // namespace usmp::planners

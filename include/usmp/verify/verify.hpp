// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Checks a plan against its problem: deliberately naive, and independent of the planners. Only plans that pass are
// written.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::verify {

enum class ViolationKind {
  wrong_count,  // not one allocation per buffer
  not_placed,
  unknown_pool,
  not_a_candidate,  // pool exists, but the buffer may not be there
  negative_offset,
  misaligned,
  reserved,       // in the pool's reserved bytes
  not_at_pin,     // pinned to another place
  over_capacity,  // end beyond a bounded pool, or beyond what an offset can express
  overlap,        // with `other`: live together and sharing bytes of one pool
};

struct Violation {
  ViolationKind kind = ViolationKind::not_placed;
  BufferId buffer;
  BufferId other;       // overlap only
  std::string message;  // "buffers 'a' and 'b' overlap in pool 'sram': [0, 32) and [16, 48), both live at 7"
};

// How to search for overlaps. Both methods find the same.
enum class Method {
  pairs,  // every pair of buffers is compared: O(buffers · live ranges of all)
  sweep,  // only those that are live together and share bytes: O(n log n) for n live ranges, and more for each
          // violation
};

inline constexpr std::size_t all_violations = std::numeric_limits<std::size_t>::max();

// The violations, ordered by buffer, then kind, then the other buffer; none means that the plan is correct. At most
// `most` are returned: the first ones with pairs, some of them with sweep, which stops early.
[[nodiscard]] std::vector<Violation> check(const Problem& problem, const Plan& plan, Method method,
                                           std::size_t most = all_violations);

// The same, with pairs for up to most_paired buffers and 100 times as many live ranges, else with sweep.
inline constexpr std::size_t most_paired = 1000;
[[nodiscard]] std::vector<Violation> check(const Problem& problem, const Plan& plan, std::size_t most = all_violations);

// Unordered pairs of buffers that are live together. Compares every pair, O(buffers · live ranges of all): nothing if
// that exceeds 200 million, about a second.
[[nodiscard]] std::optional<std::size_t> conflicting_pairs(const Problem& problem);

}  // namespace usmp::verify

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Merges the live ranges of two buffers, and looks their distance up.
#include "verify/sharing.hpp"

#include <algorithm>
#include <tuple>

namespace usmp::verify {

// The one of two ranges that ends first meets no more.
std::optional<Tick> both_live(const Buffer& a, const Buffer& b) {
  auto one = a.live.begin();
  auto other = b.live.begin();
  while (one != a.live.end() && other != b.live.end()) {
    const Tick begin = std::max(one->begin, other->begin);
    if (begin < std::min(one->end, other->end)) return begin;
    ++(one->end < other->end ? one : other);
  }
  return std::nullopt;
}

bool may_share(const Problem& problem, BufferId a, Bytes offset_a, BufferId b, Bytes offset_b) {
  for (const auto& [below, above, rise] :
       {std::tuple(a, b, offset_b - offset_a), std::tuple(b, a, offset_a - offset_b)}) {
    const auto known = std::ranges::lower_bound(problem.distances, Distance{below, above, 0});
    if (known == problem.distances.end() || known->below != below || known->above != above) continue;
    if (rise >= known->bytes) return true;
  }
  return false;
}

}  // namespace usmp::verify

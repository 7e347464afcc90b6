// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lets buffers stand where TVM has left room for them in one whose size is not known.
#include "pipeline/tvm_bounds.hpp"

#include <cstddef>

namespace usmp::pipeline {

bool let_others_inside(Problem& problem, BufferId buffer, std::span<const std::optional<Allocation>> places,
                       Bytes above) {
  const std::optional<Allocation>& own = places[buffer.index()];
  if (!own) return false;
  bool is_any = false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::optional<Allocation>& other = places[i];
    if (!other || BufferId(i) == buffer || other->pool != own->pool) continue;
    const Bytes distance = other->offset - own->offset;
    if (distance < above || distance >= problem.buffer(buffer).size) continue;
    if (!overlap(problem.buffer(buffer).live, problem.buffers[i].live)) continue;
    problem.distances.push_back({.below = buffer, .above = BufferId(i), .bytes = distance});
    is_any = true;
  }
  return is_any;
}

}  // namespace usmp::pipeline

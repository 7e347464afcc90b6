#include "verify/sharing.hpp"

#include <algorithm>
#include <tuple>

namespace usmp::verify {

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

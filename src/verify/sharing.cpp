#include "verify/sharing.hpp"

namespace usmp::verify {

bool may_share(const Problem& problem, BufferId a, Bytes offset_a, BufferId b, Bytes offset_b) {
  for (const Distance& known : problem.distances) {
    if (known.below == a && known.above == b && offset_b - offset_a >= known.bytes) return true;
    if (known.below == b && known.above == a && offset_a - offset_b >= known.bytes) return true;
  }
  return false;
}

}  // namespace usmp::verify

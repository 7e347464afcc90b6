// The parts of hill_climb.cpp that other algorithms start from.
#pragma once

#include <cstdint>
#include <vector>

#include "planners/first_fit.hpp"
#include "usmp/support/random.hpp"

namespace usmp::planners {

// First fit under every order of the portfolio and every fit: at least as good as the greedy algorithms.
[[nodiscard]] std::vector<Attempt> first_attempts(const Problem& problem, const Conflicts& conflicts,
                                                  const Group& group);

struct Climbed {
  Attempt attempt;
  Score score;
  std::uint64_t iterations = 0;
};

// The best of `start` and what at most `limit` changes of its order find.
[[nodiscard]] Climbed climb(FirstFit& placer, const Group& group, const Attempt& start, Random& random,
                            std::uint64_t limit);

}  // namespace usmp::planners

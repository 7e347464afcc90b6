// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The parts of hill_climb.cpp that other algorithms start from.
#pragma once

#include <cstdint>
#include <functional>
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

// Changes that take no more than a fixed number of looks at neighbours.
[[nodiscard]] std::uint64_t climb_limit(const FirstFit& placer, const Group& group);

// The best of `start` and what at most `limit` changes of its order find, as long as `is_over`, if there is one, says
// no.
[[nodiscard]] Climbed climb(FirstFit& placer, const Group& group, const Attempt& start, Random& random,
                            std::uint64_t limit, const std::function<bool()>& is_over = {});

}  // namespace usmp::planners

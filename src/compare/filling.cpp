// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Looks up the pool and the place of each buffer among its choices.
#include "usmp/compare/filling.hpp"

#include <algorithm>
#include <string>

#include "usmp/problem/storage.hpp"

namespace usmp::compare {

template <class Pool>
void Filling<Pool>::add(const std::vector<Pool>& choices, const Pool& place, bool pinned) {
  if (place == pool_) {
    is_preferred_ = is_preferred_ || (!pinned && !choices.empty() && choices.back() != pool_);
    return;
  }
  const auto here = std::ranges::find(choices, pool_);
  overflows_ = overflows_ || (here != choices.end() && std::find(here + 1, choices.end(), place) != choices.end());
}

template class Filling<PoolId>;
template class Filling<std::string>;

}  // namespace usmp::compare

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The pools that test modules are planned into.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "usmp/config/pools.hpp"

namespace usmp::random_modules {

struct PoolSet {
  std::string name;
  config::PoolsConfig pools;
  bool workspace_io = false;
  int pinned_percent = 0;  // of the buffers are pinned where the plan without sharing has them
};

// "one": an unbounded internal pool, constants in the code. "two": external pools, a small fast and a slow one, and one
// of constants. "io": inputs and outputs in internal pools of which a part is reserved. "pinned": half of the buffers.
// Capacities and alignments are drawn.
[[nodiscard]] std::vector<PoolSet> pool_sets(std::uint64_t seed);

}  // namespace usmp::random_modules

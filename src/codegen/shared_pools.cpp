// SPDX-License-Identifier: Apache-2.0
#include "codegen/shared_pools.hpp"

#include <algorithm>
#include <numeric>

namespace usmp::codegen {

std::vector<SharedPool> shared_pools(const std::vector<ModuleLayout>& layouts) {
  std::vector<SharedPool> pools;
  for (const ModuleLayout& layout : layouts) {
    for (const PoolLayout& pool : layout.pools) {
      const bool has_array = pool.has_shared_array && pool.in_use;
      const auto known = std::find_if(pools.begin(), pools.end(), [&](const SharedPool& other) {
        return other.pool.macro == pool.macro && other.pool.kind == pool.kind;
      });
      if (known == pools.end()) {
        pools.push_back({.pool = pool, .largest = layout.symbol, .has_array = has_array});
        continue;
      }
      if (pool.used > known->pool.used) known->largest = layout.symbol;
      const bool all_are_there = pool.kind == PoolKind::constant;
      known->pool.used = all_are_there ? known->pool.used + pool.used : std::max(known->pool.used, pool.used);
      known->pool.alignment = std::lcm(known->pool.alignment, pool.alignment);
      known->has_array = known->has_array || has_array;
    }
  }
  return pools;
}

}  // namespace usmp::codegen

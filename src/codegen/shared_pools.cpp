// SPDX-License-Identifier: Apache-2.0
#include "codegen/shared_pools.hpp"

#include <algorithm>
#include <numeric>

namespace usmp::codegen {

std::vector<SharedPool> shared_pools(const std::vector<ModuleLayout>& layouts) {
  std::vector<SharedPool> pools;
  for (const ModuleLayout& layout : layouts) {
    for (const PoolLayout& pool : layout.pools) {
      const auto known = std::find_if(pools.begin(), pools.end(), [&](const SharedPool& other) {
        return other.macro == pool.macro && other.kind == pool.kind;
      });
      if (known == pools.end()) {
        pools.push_back({.name = pool.name,
                         .kind = pool.kind,
                         .section = pool.section,
                         .region = pool.region,
                         .macro = pool.macro,
                         .used = pool.used,
                         .alignment = pool.alignment});
      } else {
        known->used = std::max(known->used, pool.used);
        known->alignment = std::lcm(known->alignment, pool.alignment);
      }
    }
  }
  return pools;
}

}  // namespace usmp::codegen

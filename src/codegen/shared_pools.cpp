// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Merges layouts pool by pool: the largest workspace, and the size of a section with all constants.
#include "codegen/shared_pools.hpp"

#include <algorithm>
#include <numeric>

#include "usmp/support/section_size.hpp"

namespace usmp::codegen {

namespace {

std::optional<Bytes> end_of(const PoolLayout& pool) {
  return pool.address ? std::optional(*pool.address + pool.used) : std::nullopt;
}

}  // namespace

std::vector<SharedPool> shared_pools(const std::vector<ModuleLayout>& layouts) {
  std::vector<SharedPool> pools;
  std::vector<std::vector<SectionArray>> arrays;  // [i]: those of pools[i]
  for (const ModuleLayout& layout : layouts) {
    for (const PoolLayout& pool : layout.pools) {
      const bool has_array = pool.has_shared_array && pool.in_use;
      const auto known = std::find_if(pools.begin(), pools.end(), [&](const SharedPool& other) {
        return other.pool.macro == pool.macro && other.pool.kind == pool.kind;
      });
      if (known == pools.end()) {
        pools.push_back(
            {.pool = pool, .least = pool.used, .largest = layout.symbol, .end = end_of(pool), .has_array = has_array});
        arrays.push_back({{pool.used, pool.alignment}});
        continue;
      }
      if (pool.address && pool.used > 0) {
        known->pool.address = known->pool.used > 0 ? std::min(*known->pool.address, *pool.address) : pool.address;
        known->end = known->pool.used > 0 ? std::max(known->end, end_of(pool)) : end_of(pool);
      }
      if (pool.used > known->pool.used) known->largest = layout.symbol;
      if (pool.kind == PoolKind::constant) {
        std::vector<SectionArray>& row = arrays[static_cast<std::size_t>(known - pools.begin())];
        row.push_back({pool.used, pool.alignment});
        known->pool.used = section_size(row);
        known->least += pool.used;
      } else {
        known->pool.used = known->least = std::max(known->pool.used, pool.used);
      }
      known->pool.alignment = std::lcm(known->pool.alignment, pool.alignment);
      known->has_array = known->has_array || has_array;
    }
  }
  return pools;
}

}  // namespace usmp::codegen

// SPDX-License-Identifier: Apache-2.0
#include "usmp/compare/shared_pools.hpp"

#include <algorithm>

namespace usmp::compare {
namespace {

using plan_file::PlanDocument;

// The modules that a workspace pool's size is made of, from the lowest to the one that ends last.
std::vector<std::string> stack_below(const SharedPool& pool, std::size_t top,
                                     const std::vector<config::ConcurrentModules>& concurrent) {
  std::vector<std::string> stack = {pool.uses[top].module};
  for (bool found = true; found;) {
    found = false;
    std::size_t below = top;
    for (std::size_t i = 0; i < top; ++i) {
      if (pool.uses[i].used == 0 || !run_side_by_side(concurrent, pool.uses[i].module, pool.uses[top].module)) continue;
      if (!found || pool.uses[i].used > pool.uses[below].used) below = i;
      found = true;
    }
    if (found) stack.insert(stack.begin(), pool.uses[below].module);
    top = below;
  }
  return stack;
}

PlanDocument::Pool::AllModules all_of(const SharedPool& pool,
                                      const std::vector<config::ConcurrentModules>& concurrent) {
  PlanDocument::Pool::AllModules all;
  if (pool.kind == PoolKind::constant) {
    for (const SharedPool::Use& use : pool.uses) {
      all.used += use.used;
      if (use.used > 0) all.set_by.push_back(use.module);
    }
    return all;
  }
  const auto largest = std::max_element(pool.uses.begin(), pool.uses.end(),
                                        [](const auto& one, const auto& other) { return one.used < other.used; });
  all.used = largest->used;
  if (all.used > 0) {
    all.set_by = stack_below(pool, static_cast<std::size_t>(largest - pool.uses.begin()), concurrent);
  }
  return all;
}

}  // namespace

bool run_side_by_side(const std::vector<config::ConcurrentModules>& concurrent, const std::string& one,
                      const std::string& other) {
  return std::any_of(concurrent.begin(), concurrent.end(), [&](const config::ConcurrentModules& group) {
    const auto has = [&](const std::string& name) {
      return std::find(group.modules.begin(), group.modules.end(), name) != group.modules.end();
    };
    return has(one) && has(other);
  });
}

std::vector<SharedPool> shared_pools(const std::vector<const PlanDocument*>& plans,
                                     const std::vector<config::ConcurrentModules>& concurrent) {
  std::vector<SharedPool> shared;
  for (const PlanDocument* plan : plans) {
    for (const PlanDocument::Pool& pool : plan->pools) {
      auto known = std::find_if(shared.begin(), shared.end(), [&](const SharedPool& other) {
        return other.name == pool.name && other.kind == pool.kind;
      });
      if (known == shared.end()) {
        known = shared.insert(shared.end(),
                              {.name = pool.name, .kind = pool.kind, .capacity = pool.capacity, .uses = {}, .all = {}});
      }
      known->uses.push_back({plan->module, pool.used});
    }
  }
  for (SharedPool& pool : shared) pool.all = all_of(pool, concurrent);
  return shared;
}

}  // namespace usmp::compare

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Collects what each module uses of a pool, and takes the maximum, or the size of a section with all.
#include "usmp/compare/shared_pools.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

#include "usmp/support/section_size.hpp"

namespace usmp::compare {
namespace {

using plan_file::PlanDocument;

// [i][j]: whether module i runs beside module j.
using Beside = std::vector<std::vector<bool>>;

Beside beside_of(const std::vector<const PlanDocument*>& plans,
                 const std::vector<config::ConcurrentModules>& concurrent) {
  std::map<std::string, std::size_t> indices;
  for (std::size_t i = 0; i < plans.size(); ++i) indices.emplace(plans[i]->module, i);
  Beside beside(plans.size(), std::vector<bool>(plans.size()));
  for (const config::ConcurrentModules& group : concurrent) {
    std::vector<std::size_t> members;
    for (const std::string& name : group.modules) {
      if (const auto found = indices.find(name); found != indices.end()) members.push_back(found->second);
    }
    for (const std::size_t one : members) {
      for (const std::size_t other : members) beside[one][other] = true;
    }
  }
  return beside;
}

// The modules that a workspace pool's size is made of, from the lowest to `top`, which ends last. `owners`: of the
// uses.
std::vector<std::string> stack_below(const SharedPool& pool, std::size_t top, const std::vector<std::size_t>& owners,
                                     const Beside& beside) {
  std::vector<std::string> stack = {pool.uses[top].module};
  for (bool found = true; found;) {
    found = false;
    std::size_t below = top;
    for (std::size_t i = 0; i < top; ++i) {
      if (pool.uses[i].used == 0 || !beside[owners[i]][owners[top]]) continue;
      if (!found || pool.uses[i].used > pool.uses[below].used) below = i;
      found = true;
    }
    if (found) stack.push_back(pool.uses[below].module);
    top = below;
  }
  std::reverse(stack.begin(), stack.end());
  return stack;
}

PlanDocument::Pool::AllModules all_of(const SharedPool& pool, const std::vector<std::size_t>& owners,
                                      const Beside& beside) {
  PlanDocument::Pool::AllModules all;
  if (pool.is_sum()) {
    std::vector<SectionArray> arrays;
    for (const SharedPool::Use& use : pool.uses) {
      arrays.push_back({use.used, use.alignment});
      if (use.used > 0) all.set_by.push_back(use.module);
    }
    all.used = section_size(arrays);
    return all;
  }
  const auto largest = std::max_element(pool.uses.begin(), pool.uses.end(),
                                        [](const auto& one, const auto& other) { return one.used < other.used; });
  all.used = largest->used;
  if (all.used > 0) {
    all.set_by = stack_below(pool, static_cast<std::size_t>(largest - pool.uses.begin()), owners, beside);
  }
  return all;
}

Bytes start_alignment(const PlanDocument& plan, const PlanDocument::Pool& pool) {
  Bytes alignment = pool.alignment;
  for (const PlanDocument::Buffer& buffer : plan.buffers) {
    if (buffer.pool == pool.name) alignment = std::max(alignment, buffer.alignment);
  }
  return alignment;
}

}  // namespace

Bytes SharedPool::padding() const {
  if (!is_sum()) return 0;
  Bytes padding = all.used;
  for (const Use& use : uses) padding -= use.used;
  return padding;
}

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
                                     const std::vector<config::ConcurrentModules>& concurrent, bool own_arrays) {
  std::vector<SharedPool> shared;
  std::vector<std::vector<std::size_t>> owners;  // [i][j]: index of the plan that shared[i].uses[j] is of
  for (std::size_t plan = 0; plan < plans.size(); ++plan) {
    for (const PlanDocument::Pool& pool : plans[plan]->pools) {
      auto known = std::find_if(shared.begin(), shared.end(), [&](const SharedPool& other) {
        return other.name == pool.name && other.kind == pool.kind;
      });
      if (known == shared.end()) {
        known = shared.insert(shared.end(),
                              {.name = pool.name,
                               .kind = pool.kind,
                               .capacity = pool.capacity,
                               .uses = {},
                               .all = {},
                               .own_arrays = own_arrays && pool.internal && pool.kind == PoolKind::workspace});
        owners.emplace_back();
      }
      known->uses.push_back({plans[plan]->module, pool.used, start_alignment(*plans[plan], pool)});
      owners[static_cast<std::size_t>(known - shared.begin())].push_back(plan);
    }
  }
  const Beside beside = beside_of(plans, concurrent);
  for (std::size_t i = 0; i < shared.size(); ++i) shared[i].all = all_of(shared[i], owners[i], beside);
  return shared;
}

}  // namespace usmp::compare

// SPDX-License-Identifier: Apache-2.0
#include "usmp/report/shared_pools.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {
namespace {

using plan_file::PlanDocument;

struct Use {
  std::string module;
  Bytes used = 0;
};

struct Shared {
  std::string pool;
  PoolKind kind = PoolKind::workspace;
  std::optional<Bytes> capacity;
  std::vector<Use> uses;  // in the order of the modules
};

std::vector<Shared> shared_of(const std::vector<const PlanDocument*>& plans) {
  std::vector<Shared> shared;
  for (const PlanDocument* plan : plans) {
    for (const PlanDocument::Pool& pool : plan->pools) {
      auto known = std::find_if(shared.begin(), shared.end(), [&](const Shared& other) {
        return other.pool == pool.name && other.kind == pool.kind;
      });
      if (known == shared.end()) {
        known =
            shared.insert(shared.end(), {.pool = pool.name, .kind = pool.kind, .capacity = pool.capacity, .uses = {}});
      }
      known->uses.push_back({plan->module, pool.used});
    }
  }
  return shared;
}

Bytes sum_of(const Shared& pool) {
  Bytes sum = 0;
  for (const Use& use : pool.uses) sum += use.used;
  return sum;
}

std::string line_of(const Shared& pool) {
  std::string text = printable(pool.pool) + ": ";
  std::vector<std::string> parts;
  if (pool.kind == PoolKind::constant) {
    for (const Use& use : pool.uses) parts.push_back(std::to_string(use.used) + " " + printable(use.module));
    return text + bytes_text(sum_of(pool)) + " of constants = " + joined(parts, " + ") + "\n";
  }
  const auto largest =
      std::max_element(pool.uses.begin(), pool.uses.end(), [](const Use& a, const Use& b) { return a.used < b.used; });
  for (auto use = pool.uses.begin(); use != pool.uses.end(); ++use) {
    if (use != largest) parts.push_back(printable(use->module) + " needs " + std::to_string(use->used));
  }
  text += bytes_text(largest->used);
  if (largest->used > 0) text += ", set by " + printable(largest->module);
  return text + (parts.empty() ? "" : "; " + joined(parts)) + "\n";
}

}  // namespace

std::string shared_pools_text(const std::vector<const PlanDocument*>& plans) {
  std::string text = "Pools of all " + std::to_string(plans.size()) + " modules\n";
  for (const Shared& pool : shared_of(plans)) text += "  " + line_of(pool);
  return text;
}

std::optional<std::string> constants_without_room(const std::vector<const PlanDocument*>& plans) {
  for (const Shared& pool : shared_of(plans)) {
    if (pool.kind != PoolKind::constant || !pool.capacity || sum_of(pool) <= *pool.capacity) continue;
    std::vector<std::string> parts;
    for (const Use& use : pool.uses) parts.push_back("module '" + use.module + "' " + std::to_string(use.used));
    return "pool '" + pool.pool + "' has " + bytes_text(*pool.capacity) + ", but the constants of all modules need " +
           std::to_string(sum_of(pool)) + ": " + joined(parts);
  }
  return std::nullopt;
}

}  // namespace usmp::report

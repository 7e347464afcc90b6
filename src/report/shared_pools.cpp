// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes a line for each pool with the modules that set its size, or the sum of their constants.
#include "usmp/report/shared_pools.hpp"

#include <algorithm>

#include "report/all_modules.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {
namespace {

using compare::SharedPool;

std::string line_of(const SharedPool& pool) {
  if (pool.kind == PoolKind::constant) {
    return printable(pool.name + ": " + bytes_text(pool.all.used) + " of constants = " + summands_text(pool)) + "\n";
  }
  std::vector<std::string> parts;
  for (const SharedPool::Use& use : pool.uses) {
    const bool sets = std::find(pool.all.set_by.begin(), pool.all.set_by.end(), use.module) != pool.all.set_by.end();
    if (!sets) parts.push_back(use.module + " needs " + std::to_string(use.used));
  }
  return printable(pool.name + ": " + all_modules_text(pool.all, pool.kind) +
                   (parts.empty() ? "" : "; " + joined(parts))) +
         "\n";
}

}  // namespace

std::string summands_text(const SharedPool& pool) {
  std::vector<std::string> parts;
  for (const SharedPool::Use& use : pool.uses) parts.push_back(std::to_string(use.used) + " " + use.module);
  if (pool.padding() > 0) parts.push_back(std::to_string(pool.padding()) + " padding");
  return joined(parts, " + ");
}

std::string shared_pools_text(const std::vector<SharedPool>& pools, std::size_t modules) {
  std::string text =
      "Pools of " + (modules == 2 ? std::string("both") : "all " + std::to_string(modules)) + " modules\n";
  for (const SharedPool& pool : pools) text += "  " + line_of(pool);
  return text;
}

std::optional<std::string> without_room(const SharedPool& pool) {
  if (!pool.is_sum() || !pool.capacity || pool.all.used <= *pool.capacity) return std::nullopt;
  return pool.name + " is too small for the " + (pool.kind == PoolKind::constant ? "constants" : "workspace") +
         " of all modules: " + bytes_text(pool.all.used) + " needed, " + std::to_string(*pool.capacity) +
         " available, " + std::to_string(pool.all.used - *pool.capacity) + " missing (" + summands_text(pool) + ")";
}

}  // namespace usmp::report

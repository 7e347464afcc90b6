// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Checks the section of each pool, and whether its region overlaps that of another one.
#include <algorithm>
#include <utility>

#include "config/section.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/support/text.hpp"

namespace usmp::config {
namespace {

// ".bss.dtcm" for ".dtcm".
std::string suggestion(const std::string& section) { return (section.starts_with('.') ? ".bss" : ".bss.") + section; }

std::string warning_of(const PoolSpec& pool) {
  if (pool.section.empty()) return {};
  const std::string start = "pool " + in_quotes(pool.name) + ": section " + pool.section;
  if (pool.is_binary) return {};
  if (!pool.internal) return start + " has no effect, since the application defines the array: internal is false";
  if (pool.kind == PoolKind::constant || stays_out_of_image(pool.section)) return {};
  return start + " takes space in the image for zeros unless the linker script marks it NOLOAD; " +
         suggestion(pool.section) + " takes none";
}

// The region that gave the pool its size, by its own name; nullptr if none did.
const MemoryRegion* region_of(const PoolsConfig& config, const PoolSpec& pool) {
  const auto named = std::ranges::find(config.regions, pool.region, &MemoryRegion::name);
  if (pool.region.empty() || named == config.regions.end()) return nullptr;
  const auto own = std::ranges::find(config.regions, named->alias_of, &MemoryRegion::name);
  return own == config.regions.end() ? &*named : &*own;
}

// Several pools of one region are counted together (RegionUse); what lies in two regions is not. Of each pool, the
// first one that it overlaps.
void warn_of_overlaps(const PoolsConfig& config, std::vector<std::string>& warnings) {
  std::vector<std::pair<const PoolSpec*, const MemoryRegion*>> placed;
  for (const auto* pools : {&config.workspace_pools, &config.parameter_pools}) {
    for (const PoolSpec& pool : *pools) {
      const MemoryRegion* const region = region_of(config, pool);
      if (region == nullptr) continue;
      for (const auto& [other, before] : placed) {
        const Bytes shared = before == region ? 0 : overlap_of(*before, *region);
        if (shared == 0) continue;
        warnings.push_back("pools " + in_quotes(other->name) + " and " + in_quotes(pool.name) + ": regions " +
                           in_quotes(before->name) + " and " + in_quotes(region->name) +
                           " of the linker script overlap in " + std::to_string(shared) +
                           " bytes, which are counted for both");
        break;
      }
      placed.emplace_back(&pool, region);
    }
  }
}

}  // namespace

std::vector<std::string> warnings_of(const PoolsConfig& config) {
  std::vector<std::string> warnings;
  for (const auto* pools : {&config.workspace_pools, &config.parameter_pools}) {
    for (const PoolSpec& pool : *pools) {
      std::string warning = warning_of(pool);
      if (!warning.empty()) warnings.push_back(std::move(warning));
    }
  }
  if (config.state_pool) {
    std::string warning = warning_of(*config.state_pool);
    if (!warning.empty()) warnings.push_back(std::move(warning));
  }
  warn_of_overlaps(config, warnings);
  return warnings;
}

}  // namespace usmp::config

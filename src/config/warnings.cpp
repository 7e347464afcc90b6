// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
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
  return warnings;
}

}  // namespace usmp::config

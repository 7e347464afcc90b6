// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Adds up what the plans of a program's modules say of RAM, flash, stack and time, by what the pools file says of
// where things are.
#include "usmp/compare/whole.hpp"

#include <algorithm>
#include <set>

#include "usmp/compare/shared_pools.hpp"
#include "usmp/support/text.hpp"

namespace usmp::compare {
namespace {

using plan_file::PlanDocument;
using Plans = std::vector<const PlanDocument*>;

const config::PoolSpec* spec_of(const config::PoolsConfig& config, const std::string& name) {
  for (const auto* pools : {&config.workspace_pools, &config.parameter_pools}) {
    const auto found = std::ranges::find(*pools, name, &config::PoolSpec::name);
    if (found != pools->end()) return &*found;
  }
  return nullptr;
}

// The region itself where the name is an alias; "": none.
std::string region_named(const config::PoolsConfig& config, const std::string& name) {
  const auto found = std::ranges::find(config.regions, name, &config::MemoryRegion::name);
  if (found == config.regions.end()) return {};
  return found->alias_of.empty() ? found->name : found->alias_of;
}

// The region that all workspace pools are in; "": there is none.
std::string region_of_workspace(const config::PoolsConfig& config) {
  std::set<std::string> regions;
  for (const config::PoolSpec& pool : config.workspace_pools) regions.insert(region_named(config, pool.region));
  return regions.size() == 1 ? *regions.begin() : std::string();
}

void add_io(const std::vector<PlanDocument::Tensor>& tensors, WholeFigures& figures) {
  for (const PlanDocument::Tensor& tensor : tensors) {
    if (tensor.in_pool) continue;
    figures.io += tensor.size.value_or(0);
    figures.knows_ram = figures.knows_ram && tensor.size.has_value();
  }
}

// Those that run beside a module are on stacks of their own.
Bytes stack_of(const Plans& plans, const config::PoolsConfig& config) {
  Bytes most = 0;
  for (const PlanDocument* const plan : plans) {
    Bytes sum = 0;
    for (const PlanDocument* const other : plans) {
      if (other == plan || run_side_by_side(config.concurrent, plan->module, other->module)) {
        sum += other->stack_estimate.value_or(0);
      }
    }
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

WholeFigures whole_figures(const Plans& plans, const config::PoolsConfig& config) {
  WholeFigures figures;
  for (const SharedPool& pool : shared_pools(plans, config.concurrent)) {
    if (pool.kind == PoolKind::workspace) figures.workspace += pool.all.used;
  }
  for (const PlanDocument* const plan : plans) {
    add_io(plan->inputs, figures);
    add_io(plan->outputs, figures);
    (config.state_pool ? figures.state : figures.io) += plan->state_bytes.value_or(0);
    figures.knows_ram = figures.knows_ram && plan->unplanned.empty();
    figures.knows_stack = figures.knows_stack && plan->stack_estimate.has_value();
    figures.constants += plan->constant_bytes.value_or(0);
    figures.knows_constants = figures.knows_constants && plan->constant_bytes.has_value();
    figures.knows_instructions = figures.knows_instructions && plan->instructions.has_value();
    if (plan->instructions.value_or(0) <= figures.instructions && !figures.slowest.empty()) continue;
    figures.instructions = plan->instructions.value_or(0);
    figures.slowest = plan->module;
  }
  figures.stack = stack_of(plans, config);
  return figures;
}

std::vector<RegionUse> region_uses(const Plans& plans, const config::PoolsConfig& config) {
  const WholeFigures figures = whole_figures(plans, config);
  const std::vector<SharedPool> pools = shared_pools(plans, config.concurrent);
  const std::string common = region_of_workspace(config);
  std::vector<RegionUse> uses;
  for (const config::MemoryRegion& region : config.regions) {
    if (!region.alias_of.empty()) continue;
    RegionUse use{.name = region.name, .length = region.length, .position = {}};
    bool is_used = false;
    const auto add_pool = [&](const config::PoolSpec& spec, Bytes used) {
      if (region_named(config, spec.region) != region.name) return;
      is_used = true;
      use.pools += used;
      const config::Position position = spec.size_position.line > 0 ? spec.size_position : spec.position;
      if (use.position.line == 0) use.position = position;
    };
    for (const SharedPool& pool : pools) {
      if (const config::PoolSpec* const spec = spec_of(config, pool.name)) add_pool(*spec, pool.all.used);
    }
    if (config.state_pool) add_pool(*config.state_pool, figures.state);
    const auto add_part = [&](const std::string& said, Bytes bytes, Bytes& part) {
      if ((said.empty() ? common : said) != region.name) return;
      is_used = true;
      part = bytes;
      if (said.empty()) use.assumed += bytes;
    };
    add_part(config.io_region, figures.io, use.io);
    add_part(config.stack_region, figures.stack, use.stack);
    if (is_used) uses.push_back(std::move(use));
  }
  return uses;
}

std::string parts_text(const RegionUse& use) {
  std::string text = std::to_string(use.pools) + " pools";
  if (use.io > 0) text += " + " + std::to_string(use.io) + " inputs and outputs";
  if (use.stack > 0) text += " + " + std::to_string(use.stack) + " stack";
  return text;
}

std::vector<std::string> full_regions(const std::vector<RegionUse>& uses) {
  std::vector<std::string> sentences;
  for (const RegionUse& use : uses) {
    if (use.total() <= use.length) continue;
    sentences.push_back("region " + use.name + " of " + bytes_text(use.length) + " is too small for " +
                        bytes_text(use.total()) + " = " + parts_text(use) +
                        (use.assumed > 0 ? "; io_region and stack_region in the pools file say where these are, if not "
                                           "there"
                                         : ""));
  }
  return sentences;
}

}  // namespace usmp::compare

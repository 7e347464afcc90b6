// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Draws capacities, alignments and reserved bytes for each set of pools.
#include "random_modules/pool_sets.hpp"

#include "random_modules/random.hpp"

namespace usmp::random_modules {
namespace {

config::PoolSpec pool(std::string name, PoolKind kind, bool internal, Bytes alignment = 1) {
  config::PoolSpec spec;
  spec.name = std::move(name);
  spec.kind = kind;
  spec.internal = internal;
  spec.alignment = alignment;
  return spec;
}

}  // namespace

std::vector<PoolSet> pool_sets(std::uint64_t seed) {
  Random random(seed ^ 0x9001U);
  static const std::vector<Bytes> alignments = {1, 1, 8, 32};
  static const std::vector<Bytes> capacities = {24, 64, 128, 256, 512, 1024};
  std::vector<PoolSet> sets;
  sets.push_back({.name = "one", .pools = config::default_pools()});

  PoolSet two{.name = "two", .pools = {}};
  two.pools.workspace_pools.push_back(pool("fast", PoolKind::workspace, false, random.pick(alignments)));
  two.pools.workspace_pools.back().size_hint = random.pick(capacities);
  two.pools.workspace_pools.push_back(pool("slow", PoolKind::workspace, false, random.pick(alignments)));
  two.pools.parameter_pools.push_back(pool("flash", PoolKind::constant, false));
  sets.push_back(std::move(two));

  PoolSet io{.name = "io", .pools = {}, .workspace_io = true};
  io.pools.workspace_pools.push_back(pool("fast", PoolKind::workspace, true, random.pick(alignments)));
  io.pools.workspace_pools.back().size_hint = 64 + random.pick(capacities);
  io.pools.workspace_pools.back().reserved = random.below(48);
  io.pools.workspace_pools.push_back(pool("slow", PoolKind::workspace, true));
  io.pools.workspace_pools.back().reserved = random.below(20);
  io.pools.parameter_pools.push_back(pool("flash", PoolKind::constant, true, 16));
  sets.push_back(std::move(io));

  PoolSet pinned{.name = "pinned", .pools = {}, .workspace_io = random.chance(50), .pinned_percent = 50};
  pinned.pools.workspace_pools.push_back(pool("slow", PoolKind::workspace, false));
  pinned.pools.workspace_pools.push_back(pool("fast", PoolKind::workspace, false));
  sets.push_back(std::move(pinned));
  return sets;
}

}  // namespace usmp::random_modules

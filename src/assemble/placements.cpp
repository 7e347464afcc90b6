// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Copies the assembly into a table: each buffer with its place in the plan and all its declarations.
#include "usmp/assemble/placements.hpp"

#include <cassert>
#include <utility>

namespace usmp::assemble {
namespace {

placement::Storage storage_of(const liveness::Site& site, const Buffer& buffer, const Allocation& place) {
  assert(place.placed());
  placement::Storage storage{.name = buffer.name,
                             .declarations = {{site.var, site.function}},
                             .kind = buffer.kind,
                             .size = buffer.size,
                             .alignment = buffer.alignment,
                             .live = buffer.live,
                             .place = place,
                             .rows = liveness::rows_held(site)};
  for (const liveness::Site::Twin& twin : site.twins) storage.declarations.push_back({twin.var, twin.function});
  return storage;
}

}  // namespace

placement::Table placements_of(const liveness::Analysis& analysis, const Assembly& assembly, const Plan& plan) {
  assert(plan.allocations.size() == assembly.problem.buffers.size());
  placement::Table table;
  for (const config::PoolSpec& pool : assembly.pools) {
    table.pools.push_back({.name = pool.name,
                           .kind = pool.kind,
                           .alignment = pool.alignment,
                           .section = pool.section,
                           .region = pool.region,
                           .internal = pool.internal,
                           .is_binary = pool.is_binary,
                           .address = pool.address});
  }
  for (std::size_t i = 0; i < assembly.sites.size(); ++i) {
    table.storages.push_back(
        storage_of(analysis.sites[assembly.sites[i].index()], assembly.problem.buffers[i], plan.allocations[i]));
  }
  return table;
}

}  // namespace usmp::assemble

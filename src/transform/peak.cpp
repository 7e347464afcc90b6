// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Adds up what begins and ends at each tick, and collects what is live at the highest ones.
#include "transform/peak.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "usmp/liveness/liveness.hpp"

namespace usmp::transform {

Peak peak_of(const tir::Module& module) {
  const liveness::Analysis analysis = liveness::analyse(module);
  std::map<Tick, Bytes> steps;  // what the load changes by at a tick
  for (const liveness::Site& site : analysis.sites) {
    if (site.kind == BufferKind::constant) continue;
    for (const LiveRange& range : site.live) {
      steps[range.begin] += site.size;
      steps[range.end] -= site.size;
    }
  }
  Peak peak;
  Bytes load = 0;
  for (const auto& [tick, change] : steps) {
    load += change;
    peak.load = std::max(peak.load, load);
  }
  if (peak.load == 0) return peak;
  std::vector<Tick> busiest;
  for (const auto& [tick, change] : steps) {
    load += change;
    if (load == peak.load) busiest.push_back(tick);
  }
  for (const liveness::Site& site : analysis.sites) {
    if (site.kind == BufferKind::constant) continue;
    const bool is_live = std::any_of(site.live.begin(), site.live.end(), [&](const LiveRange& range) {
      const auto next = std::lower_bound(busiest.begin(), busiest.end(), range.begin);
      return next != busiest.end() && *next < range.end;
    });
    if (is_live) peak.live.insert(site.var);
  }
  return peak;
}

}  // namespace usmp::transform

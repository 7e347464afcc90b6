// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Prints a module twice, and checks that live ranges and distances lie within their limits.
#include "modules.hpp"

#include <map>
#include <string>

#include "fuzz.hpp"
#include "usmp/liveness/distances.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/tir/printer.hpp"

namespace usmp::fuzz {
namespace {

void check_analysis(const tir::Module& module, const liveness::Options& options) {
  const liveness::Analysis analysis = liveness::analyse(module, options);
  require(analysis.horizon >= 1, "no tick");
  for (const liveness::Site& site : analysis.sites) {
    require(site.size >= 0 && site.size <= liveness::max_site_bytes, "a size out of range");
    Tick last = -1;
    for (const LiveRange& range : site.live) {
      require(last < range.begin && range.begin < range.end, "live ranges out of order");
      last = range.end;
    }
    require(last <= analysis.horizon, "live behind the end");
  }
  std::map<tir::VarId, Bytes> sizes;
  for (const liveness::Site& site : analysis.sites) sizes[site.var] = site.size;
  for (const liveness::StorageDistance& distance : liveness::find_distances(module, options)) {
    require(distance.below != distance.above && sizes.contains(distance.above), "a distance to nothing");
    require(distance.bytes >= 0 && distance.bytes < sizes[distance.below], "a distance out of range");
  }
}

}  // namespace

void check_module(const tir::Module& module) {
  require(module.entry < module.functions.size(), "a module without an entry");
  const std::string text = tir::print(module);
  require(text == tir::print(module), "a module is printed in two ways");
  check_analysis(module, {});
  check_analysis(module, {.workspace_io = true, .inputs = {}, .outputs = {}});
}

}  // namespace usmp::fuzz

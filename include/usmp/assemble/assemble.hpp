// SPDX-License-Identifier: Apache-2.0
// Analysis + pools → Problem: which buffers go to planning and which pools each may use.
#pragma once

#include <string>
#include <vector>

#include "usmp/config/pools.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/problem/problem.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::assemble {

struct Assembly {
  Problem problem;
  std::vector<liveness::SiteId> sites;  // by BufferId
  std::vector<config::PoolSpec> pools;  // by PoolId: workspace pools in the file's order, parameter pools, then
                                        // pools that only the module's annotations name
};

// Every workspace site becomes a buffer, even if nothing accesses it. A constant becomes one if the file has parameter
// pools, or the constant's annotation names pools; otherwise it stays in the code.
//
// A buffer's candidates: its annotation if it has one (pools looked up in the file first, then in the module), else all
// pools of its kind in the file's order; in both cases only pools that every target accessing the buffer may access
// ("rw" for workspace, "ro" or "rw" for constants). An unknown target ("") is not filtered. Pools that only the module
// describes are part of the assembly if a buffer's annotation names them, in the module's order.
//
// Throws Error of kind usage when a buffer has no candidate left (the message names targets and pools), or when
// alignments of pools push the problem over Problem::max_total_bytes; of kind archive (place: function name) when an
// annotation names a pool that neither the file nor the module describes, or an alignment or the sizes in the module
// are out of range.
[[nodiscard]] Assembly assemble(const tir::Module& module, const liveness::Analysis& analysis,
                                const config::PoolsConfig& pools);

}  // namespace usmp::assemble

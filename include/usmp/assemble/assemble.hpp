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

// Constants become buffers if there is a parameter pool (of the file or annotated); otherwise they stay in the code.
// A buffer's candidates: its annotation if it has one (pools looked up in the file first, then in the module), else all
// pools of its kind in the file's order; in both cases only pools that every target accessing the buffer may access
// ("rw" for workspace, "ro" or "rw" for constants).
// Throws Error of kind usage when a buffer has no candidate left (says which targets and pools), or when the sizes
// exceed Problem::max_total_bytes.
[[nodiscard]] Assembly assemble(const tir::Module& module, const liveness::Analysis& analysis,
                                const config::PoolsConfig& pools);

}  // namespace usmp::assemble

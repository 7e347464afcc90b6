// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Analysis + pools → Problem: which buffers go to planning and which pools each may use.
#pragma once

#include <string>
#include <vector>

#include "usmp/config/pools.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/liveness/traffic.hpp"
#include "usmp/problem/problem.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::assemble {

struct Assembly {
  Problem problem;
  std::vector<liveness::SiteId> sites;          // by BufferId
  std::vector<config::PoolSpec> pools;          // by PoolId: workspace pools in the file's order, parameter pools, then
                                                // pools that only the module's annotations name
  std::vector<liveness::Traffic> traffic = {};  // by BufferId, in a charged problem; else empty
  bool charges_cycles = false;  // the charges are cycles of the fastest clock; else accesses times the pool's rank
};

// Every workspace site becomes a buffer, even if nothing accesses it. A constant becomes one if the file has parameter
// pools, or the constant's annotation names pools; otherwise it stays in the code.
//
// A buffer's candidates: its annotation if it has one (pools looked up in the file first, then in the module), else all
// pools of its kind in the file's order; in both cases only pools that every target accessing the buffer may access
// ("rw" for workspace, "ro" or "rw" for constants). An unknown target ("") is not filtered. Pools that only the module
// describes are part of the assembly if a buffer's annotation names them, in the module's order.
//
// With PoolsConfig::objective `accesses` the problem is charged. If the speed of every pool is known that a buffer with
// a choice may use, a buffer's charge is the cycles that its accesses take (cycles_of), rounded, and its candidates are
// ordered by them; else the number of its accesses times the rank of the pool among its candidates, from 0. Very large
// charges are scaled down so that their sum fits into the problem.
//
// Throws Error of kind usage when a buffer has no candidate left (the message names targets and pools), or when
// alignments of pools push the problem over Problem::max_total_bytes; of kind archive (place: function name) when an
// annotation names a pool that neither the file nor the module describes, or an alignment or the sizes in the module
// are out of range.
[[nodiscard]] Assembly assemble(const tir::Module& module, const liveness::Analysis& analysis,
                                const config::PoolsConfig& pools);

// An estimate of the cycles that the accesses take in a pool: each waits for the latency, and bytes pass at the
// bandwidth. A property that is not known is that of the other direction, else 0, a bandwidth without limit. Cycles are
// those of `clock_hz`, which the pool's own clock, where known, is scaled to.
[[nodiscard]] double cycles_of(const liveness::Traffic& traffic, const config::Speed& speed,
                               std::optional<std::int64_t> clock_hz);

// The fastest clock of the pools; nothing: none is known.
[[nodiscard]] std::optional<std::int64_t> fastest_clock(const std::vector<config::PoolSpec>& pools);

}  // namespace usmp::assemble

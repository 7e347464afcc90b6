// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a model keeps from run to run, in a pool of its own. It is live at any time, so there is nothing to plan.
#pragma once

#include "usmp/config/pools.hpp"
#include "usmp/pipeline/program.hpp"
#include "usmp/placement/placement.hpp"

namespace usmp::pipeline {

// `module`: the program of `source`, perhaps transformed. Puts a pool for its state behind those of the table, and the
// states side by side in it, each at a multiple of 16 bytes; nothing if the module has no state. Throws Error of kind
// usage if they need more than the pool has. `pool.reserved`: where they begin, behind
// those of other modules. O(states).
void place_states(const SourceModule& source, const tir::Module& module, const config::PoolSpec& pool,
                  placement::Table& table);

}  // namespace usmp::pipeline

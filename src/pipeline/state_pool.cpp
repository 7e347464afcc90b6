// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lays the states of a module side by side.
#include "usmp/pipeline/state_pool.hpp"

#include <algorithm>
#include <string>

#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::pipeline {

void place_states(const SourceModule& source, const tir::Module& module, const config::PoolSpec& pool,
                  placement::Table& table) {
  constexpr Bytes least_alignment = 16;
  const std::vector<codegen::InterfaceTensor>& states = source.interface.states;
  if (states.empty()) return;
  const Bytes alignment = std::max(pool.alignment, least_alignment);
  const PoolId id(table.pools.size());
  table.pools.push_back({.name = pool.name,
                         .kind = PoolKind::workspace,
                         .alignment = alignment,
                         .section = pool.section,
                         .region = pool.region,
                         .internal = pool.internal,
                         .holds_state = true});
  Bytes end = pool.reserved;
  for (const codegen::InterfaceTensor& state : states) {
    const Bytes offset = align_up(end, alignment);
    end = offset + state.size;
    table.storages.push_back({.name = state.name,
                              .declarations = {{module.functions[module.entry].params[state.param].var, module.entry}},
                              .kind = BufferKind::tensor,
                              .size = state.size,
                              .alignment = alignment,
                              .live = {{0, 1}},
                              .place = {id, offset}});
  }
  if (pool.size_hint && end > *pool.size_hint) {
    throw Error(ErrorKind::usage, {},
                "pool '" + pool.name + "' has " + bytes_text(*pool.size_hint) + ", the state of module '" +
                    source.info.name + "' needs " + bytes_text(end) +
                    (pool.reserved > 0 ? ", with that of the modules before it" : ""));
  }
}

}  // namespace usmp::pipeline

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which bytes the pointers of a lowered function may reach, call by call.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "usmp/lower/lower.hpp"
#include "usmp/placement/placement.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::lower {

struct Region {
  enum class Kind {
    pool,         // bytes [begin, end) of a pool
    application,  // a tensor that the application passes: the entry's parameter `index`
    constant,     // an array of the emitted code
    unknown,
  };
  Kind kind = Kind::unknown;
  std::size_t index = 0;  // PoolId's or the parameter's
  Bytes begin = 0;
  Bytes end = 0;

  friend auto operator<=>(const Region&, const Region&) = default;
};

// What one pointer may reach; several where it is chosen at run time.
using Regions = std::vector<Region>;

// The regions of a function's parameters in one call of it; unknown beyond the end.
using Context = std::vector<Regions>;

// Whether no byte is reached by both. The application's tensors may alias each other, but not the pools.
[[nodiscard]] bool are_disjoint(const Regions& a, const Regions& b);

// Whether each reaches a byte that another one reaches. O(n log n) where each has one region, which is the rule.
[[nodiscard]] std::vector<bool> meet_others(const std::vector<Regions>& all);

// By function index, the distinct contexts in which the function runs; empty if it never does. A function with too many
// of them has one in which everything is unknown.
[[nodiscard]] std::vector<std::vector<Context>> find_contexts(const Lowered& lowered, const placement::Table& table);

// The regions of a function's pointer variables in one context.
[[nodiscard]] std::map<tir::VarId, Regions> regions_in(const Lowered& lowered, std::size_t function,
                                                       const Context& context, const placement::Table& table);

}  // namespace usmp::lower

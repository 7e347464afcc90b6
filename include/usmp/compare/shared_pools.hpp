// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What several modules that are linked together need of each pool, and which of them set its size.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "usmp/config/pools.hpp"
#include "usmp/plan_file/plan_document.hpp"

namespace usmp::compare {

struct SharedPool {
  struct Use {
    std::string module;
    Bytes used = 0;
    Bytes alignment = 1;  // of the pool's start, for the module's buffers
  };

  std::string name;
  PoolKind kind = PoolKind::workspace;
  std::optional<Bytes> capacity;  // nothing: unbounded
  std::vector<Use> uses;          // of the modules that have the pool, in their order
  plan_file::PlanDocument::Pool::AllModules all;
  bool own_arrays = false;  // of workspace: each module has an array of its own, as of constants

  [[nodiscard]] bool is_sum() const { return own_arrays || kind == PoolKind::constant; }
  [[nodiscard]] Bytes padding() const;  // of a sum: between what modules have
};

// Whether one list has both modules.
[[nodiscard]] bool run_side_by_side(const std::vector<config::ConcurrentModules>& concurrent, const std::string& one,
                                    const std::string& other);

// The pools in the order of the first module that has them. Of a workspace pool the maximum, since one module runs at a
// time and those side by side lie above each other; of a parameter pool the sum with padding (section_size), and so
// of the C's own workspace if each module has `own_arrays`. `plans`: in the order of planning.
// O(modules · (pools · (modules + pools) + names in `concurrent`) + pools · buffers).
[[nodiscard]] std::vector<SharedPool> shared_pools(const std::vector<const plan_file::PlanDocument*>& plans,
                                                   const std::vector<config::ConcurrentModules>& concurrent,
                                                   bool own_arrays = false);

}  // namespace usmp::compare

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The pools of several modules that run one after another and share them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "usmp/codegen/layout.hpp"

namespace usmp::codegen {

struct SharedPool {
  // As the first module has it, but for `used`, `alignment` and the lowest `address` of all modules: they use workspace
  // in turn, and the constants of each are there, in any order (section_size).
  PoolLayout pool;
  Bytes least = 0;                // `used`, of constants in the best order
  std::string largest;            // symbol of the first module that needs most
  std::optional<Bytes> end = {};  // behind the contents that a programmer writes, of all modules
  bool has_array = false;         // one array serves all modules, and at least one uses it
};

// In the order of the first module that has the pool, by macro and kind.
[[nodiscard]] std::vector<SharedPool> shared_pools(const std::vector<ModuleLayout>& layouts);

}  // namespace usmp::codegen

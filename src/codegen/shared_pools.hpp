// SPDX-License-Identifier: Apache-2.0
// The pools of several modules that run one after another and share them.
#pragma once

#include <string>
#include <vector>

#include "usmp/codegen/layout.hpp"

namespace usmp::codegen {

// What one module after another needs of a pool.
struct SharedPool {
  std::string name;
  PoolKind kind = PoolKind::workspace;
  std::string section;  // empty: none
  std::string region;   // empty: not known
  std::string macro;    // as in PoolLayout
  Bytes used = 0;       // the maximum
  Bytes alignment = 1;  // of all
};

// In the order of the first module that has the pool, by macro and kind.
[[nodiscard]] std::vector<SharedPool> shared_pools(const std::vector<ModuleLayout>& layouts);

}  // namespace usmp::codegen

// SPDX-License-Identifier: Apache-2.0
// What the writers of tvmgen_M.h, M_lib0.c and metadata.h share besides the layout.
#pragma once

#include <string>
#include <vector>

#include "usmp/codegen/layout.hpp"

namespace usmp::codegen {

// "DEFAULT": the module's part of macro names.
[[nodiscard]] std::string module_macro(const std::string& module_name);

// A constant in a parameter pool.
struct PlacedConstant {
  Bytes offset = 0;
  const placement::Storage* storage = nullptr;
  const tir::Constant* data = nullptr;
};

// The constants of a pool that the module's code reads, by offset. They do not overlap.
[[nodiscard]] std::vector<PlacedConstant> constants_in(const PlannedModule& module, PoolId pool);

}  // namespace usmp::codegen

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the writers of tvmgen_M.h, M_lib0.c and metadata.h share besides the layout.
#pragma once

#include <string>
#include <vector>

#include "usmp/codegen/layout.hpp"

namespace usmp::codegen {

// "DEFAULT": the module's part of macro names.
[[nodiscard]] std::string module_macro(const std::string& module_name);

// Bytes of the pool's array: one at least, since C has no empty arrays.
[[nodiscard]] Bytes array_bytes(const PoolLayout& pool);

// Where the array of a pool is for the linker: its section, or for an array of the application, which has none here,
// the one that the documents name.
[[nodiscard]] std::string input_section(const PoolLayout& pool);

// The module's name as part of a file name: TVM's own spelling, but never a path.
[[nodiscard]] std::string file_stem(const std::string& module_name);

// "codegen/host/src/M": how the paths of the module's C files begin.
[[nodiscard]] std::string source_path(const std::string& module_name);

// A constant in a parameter pool.
struct PlacedConstant {
  Bytes offset = 0;
  const placement::Storage* storage = nullptr;
  const tir::Constant* data = nullptr;
};

// The constants of a pool that the module's code reads, by offset. They do not overlap.
[[nodiscard]] std::vector<PlacedConstant> constants_in(const EmissionInput& module, PoolId pool);

}  // namespace usmp::codegen

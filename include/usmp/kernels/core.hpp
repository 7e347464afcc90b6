// SPDX-License-Identifier: Apache-2.0
// Processor cores, as far as kernels differ between them: one table, one row each.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace usmp::kernels {

// How loops are shaped. Results are the same for all.
struct Core {
  std::string_view name;  // as compilers know it: "cortex-m4"
  std::int64_t sums = 4;  // of a block of sums, >= 1: as many as registers hold beside data and weights
  bool blocks_products =
      true;  // false: sums of products of bytes are left to the compiler, which makes vectors of them
};

// All rows, `generic` first.
[[nodiscard]] std::span<const Core> cores();
[[nodiscard]] const Core& generic_core();

// By name; null: there is none.
[[nodiscard]] const Core* find_core(std::string_view name);

// For what compilers get as -mcpu, extensions behind a '+' aside; generic if it is not in the table.
[[nodiscard]] const Core& core_of(std::string_view cpu);

}  // namespace usmp::kernels

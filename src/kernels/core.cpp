// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lists the cores with what was measured of each; what a row leaves out is as on a Cortex-M4.
#include "usmp/kernels/core.hpp"

#include <algorithm>

namespace usmp::kernels {
namespace {

// Vectors of 16 bytes.
constexpr Core helium(std::string_view name) {
  return {.name = name,
          .in_rows = true,
          .row_terms = 0,
          .whole_windows = false,
          .paired_terms = 0,
          .plain = 0.85,
          .lane_run_tap = 1,
          .lanes = 0.25};
}

// docs/kernels.md has the measurements. Cores without a unit for floats call the C library for each operation.
constexpr Core table[] = {
    {.name = "generic",
     .row_terms = 0,
     .whole_windows = false,
     .paired_terms = 0},  // compilers of processors with many registers do as well by themselves
    {.name = "cortex-m0plus",
     .row_terms = 5,  // what less takes depends on -Os
     .whole_windows = false,
     .paired_terms = 0,
     .plain = 0.8,
     .dot_run_four = 20.5,
     .window_four = 56,
     .window_term = 14,
     .lane_run_tap = 20,
     .dot4 = 23,
     .lane_product = 7,
     .lanes = 1,
     .high_product = 15,
     .float_operation = 84,
     .float_call = 800},
    {.name = "cortex-m3",
     .whole_windows = false,
     .paired_terms = 0,
     .plain = 0.7,
     .dot_run_four = 9.5,
     .window_four = 13,
     .window_term = 3.3,
     .lane_run_tap = 6,
     .dot4 = 11,
     .lane_product = 4,
     .lanes = 1,
     .float_operation = 40,
     .float_call = 350},
    {.name = "cortex-m4"},
    {.name = "cortex-m7"},
    {.name = "cortex-m33"},
    helium("cortex-m52"),
    helium("cortex-m55"),
    helium("cortex-m85"),
    {.name = "rv32imc",
     .whole_windows = false,
     .paired_terms = 0,
     .plain = 0.8,
     .dot_run_four = 12.5,
     .window_four = 18,
     .window_term = 4.5,
     .lane_run_tap = 10,
     .dot4 = 14,
     .lane_product = 4,
     .lanes = 1,
     .high_product = 2,
     .float_operation = 82,
     .float_call = 700},
};

}  // namespace

std::span<const Core> cores() { return table; }

const Core& generic_core() { return table[0]; }

const Core* find_core(std::string_view name) {
  const auto* const found = std::ranges::find(table, name, &Core::name);
  return found == std::end(table) ? nullptr : found;
}

const Core& core_of(std::string_view cpu) {
  const Core* found = find_core(cpu.substr(0, cpu.find('+')));
  return found == nullptr ? generic_core() : *found;
}

}  // namespace usmp::kernels

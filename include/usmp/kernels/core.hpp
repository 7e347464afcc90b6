// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Processor cores, as far as kernels differ between them: one table, one row each.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace usmp::kernels {

// How loops are shaped. Results are the same for all.
struct Core {
  std::string_view name;           // as compilers know it: "cortex-m4"
  bool in_rows = false;            // weights lie sum by sum, as vectors of Helium read them
  std::int64_t row_terms = 2;      // the fewest of rows of windows that one call adds (Op::window_run); 0: none does
  bool whole_windows = true;       // those of lanes are one call (Op::lane_window)
  std::int64_t paired_terms = 8;   // the fewest of sums whose weights become pairs (Op::pair_run); 0: none do
  std::int64_t front_percent = 7;  // what pairs may add to the constants
  std::int64_t sums = 4;           // of a block of sums, >= 1: as many as registers hold beside data and weights

  // Instructions, at -O2: the defaults are those of a core with Arm's DSP instructions and a unit for floats.
  double plain = 1;            // an operation of loops::work
  double dot_run_four = 5.3;   // four terms of one sum in a run, with its part of the loop
  double pair_run_four = 4.2;  // likewise, of weights that are pairs
  double window_four = 6.5;    // likewise, in a row of a window of rows
  double window_term = 3;      // one term of one sum that fours leave over there
  double lane_run_tap = 2.6;   // one term of one sum in a run of lanes
  double dot4 = 5.75;          // one load, two unpackings, two products; a quarter of those of the data
  double lane_product = 2.5;   // one product; a quarter of two loads and four unpackings
  double row_sum = 8;          // a sum of a run of rows, apart from its terms
  double row_vector = 2.6;     // 16 terms of one, 8 of 16 bits, or what is left of them
  double lanes = 0.65;         // of a loop over neighbours, the part that four at a time leave of its instructions
  double high_product = 0;     // beside what loops::work counts for it
  double float_operation = 0;  // likewise
  double float_call = 0;       // likewise, of the C library
};

// All rows, `generic` first.
[[nodiscard]] std::span<const Core> cores();
[[nodiscard]] const Core& generic_core();

// By name; null: there is none.
[[nodiscard]] const Core* find_core(std::string_view name);

// For what compilers get as -mcpu, extensions behind a '+' aside; generic if it is not in the table.
[[nodiscard]] const Core& core_of(std::string_view cpu);

}  // namespace usmp::kernels

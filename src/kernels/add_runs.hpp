// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums of products in memory, to which calls add all terms that are side by side.
#pragma once

#include <optional>

#include "kernels/product_sum.hpp"
#include "usmp/kernels/core.hpp"

namespace usmp::kernels {

struct AddedRuns {
  tir::Block statements;     // in the place of the nest
  bool begins_at_0 = false;  // whatever the sums were
};

// for r: for k: for s: sum[s] = sum[s] + data * weight
// becomes, where the loop over k is a run,
// for r: Op::dot_run(sum, data, weight, …) for all s and k
// or, of weights that lie sum by sum (Core::in_rows), Op::row_run,
// and with data and weights side by side in s, `lanes`, Op::lane_run for all s and k.
//
// With Core::row_terms, rows of bytes whose terms fours do not divide, or which borders cut, become one Op::window_run
// for all r, s and k.
//
// Where weights are pairs, all terms are one Op::pair_run; it does not add to sums but sets them.
//
// A window of a ring is a run up to the end of the ring, and if it goes on, another one from the ring's beginning on:
// data[(p + k) mod rows] is data[place + k - first k] in front of the end.
//
// `passes`: a loop around these statements, from 0 on, over sums that share data (shared_data.hpp); one Op::lane_window
// takes its place, too. Null: there is none.
//
// `are_set_to_0`: the statement in front sets all sums to 0; it is not needed where the result begins at 0. Nothing:
// terms are not side by side, or numbers of sums and terms are not multiples of those of a call.
[[nodiscard]] std::optional<AddedRuns> add_runs(tir::Module& module, const ProductSum& sum, const Core& core,
                                                bool are_set_to_0, arith::Facts& facts,
                                                const tir::For* passes = nullptr);

}  // namespace usmp::kernels

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Work for memory: elements that are computed more than once, within a budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform {

// What the search may do; counted, not measured, so that the result depends on the module alone.
struct RecomputeLimits {
  // Candidates that are held at a time, and of which what they may share is looked at, in a round.
  std::size_t looks = 12;
  // Statements and nodes of expressions that may be looked at in all. The most that a network of the archives takes is
  // a quarter of it (randwire), and all of it is about 10 s.
  std::int64_t effort = 100'000'000;
  // Statements and nodes of expressions that the program may grow to: twice what it has, and so many more. Compilers
  // take long over much code, above all with sanitizers. Of networks that gain anything most grow by a tenth.
  std::int64_t code = 1000;
};

// Where the load is highest, buffers inside operators and tensors between them that others decline for the work are
// computed again by their readers (compute_at.hpp), a tensor in each of its readers (merge_calls.hpp). One at a time is
// done: the one that costs least work for a byte that the load falls by, as long as the work of all (loops/cost.hpp)
// stays within options.recompute_percent of that of the module given, less `extra_work` that it does more than once
// already. The load counts what buffers may share if the
// step `inplace` is asked for. What is done lowers the load in the end, or it is not done. Needs the step `fuse`, for
// tensors also `merge`. Nothing: nothing was done.
//
// Throws as liveness::analyse does. The search ends with what it has when it has reached a limit.
std::optional<StepResult> recompute(tir::Module& module, const Options& options, const RecomputeLimits& limits = {},
                                    double extra_work = 0);

// How much `extra` is of `first`, in thousandths, rounded up; 0 if it is less than nothing.
std::int64_t permille_of(double extra, double first);

}  // namespace usmp::transform

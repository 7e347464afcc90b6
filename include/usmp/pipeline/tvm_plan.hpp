// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The plan that TVM made, read from the pool offsets in its C.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "usmp/model/description.hpp"
#include "usmp/pipeline/algorithm.hpp"
#include "usmp/pipeline/planned.hpp"
#include "usmp/pipeline/program.hpp"
#include "usmp/plan_file/plan_document.hpp"

namespace usmp::pipeline {

struct TvmPlan {
  // Buffers are what TVM placed, before storage that several tensors share is taken apart. A pool's capacity is its
  // size in the C; `algorithm` is "TVM". No bound that a wrong plan undercuts, and no status but feasible.
  plan_file::PlanDocument document;
  // What is wrong, one sentence each: buffers that overlap, and a tick at which both are live; constants that overlap;
  // elements that are not aligned as C needs them, whatever TVM was asked for.
  // At most ten and "… and more"; none: the plan is correct.
  std::vector<std::string> violations;
  std::optional<std::size_t> conflicts;  // verify::conflicting_pairs
};

// How much an external function uses of a buffer is not known: such a buffer ends where
// the next one that is live with it begins, and is never found to overlap that. Throws Error of kind archive, with the
// member where there is one, also if TVM has not planned the module. O(n log n) besides reading, verifying and bounds;
// for each buffer of unknown size up to O(buffers).
[[nodiscard]] TvmPlan tvm_plan(const model::Description& info, const std::string& archive, const CFiles& files);

// TVM's plan in the C that was read is a candidate: if ours needs more workspace or does not fit, and nothing else was
// asked for (pins, an objective, a pool to minimize), the program is planned untransformed with every buffer where TVM
// has it, and that plan, verified and replayed like any other, is taken if it needs less; a warning says so. Pools are
// those of TVM's names, or the first one if TVM has one. Throws as `plan`.
void prefer_tvm_plan(PlannedProgram& planned, const Request& request, const Search& how, const Origin& origin,
                     std::uint64_t replay_steps = replay_steps_of_plan);

}  // namespace usmp::pipeline

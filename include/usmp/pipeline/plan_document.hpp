// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A planned module as the document for files and reports.
#pragma once

#include <string>
#include <vector>

#include "usmp/assemble/assemble.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/operators/operators.hpp"
#include "usmp/plan_file/plan_document.hpp"
#include "usmp/problem/problem.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::pipeline {

// Fills in what the module, its operators, its problem and the algorithm's result determine: pools, buffers, calls,
// what is proved and how the search ended. Each lower bound is the maximum of the algorithm's own (its reason names the
// algorithm) and of bounds::pool_bounds. A pool is optimal if it uses no more than its lower bound; without a plan, it
// has the status of the result. The caller fills in the rest (module, archive, inputs, outputs, stack, seed,
// workspace_io, what was minimised, transformed, warnings, the unplanned build). `result` has an allocation for every
// buffer. O(total size) besides pool_bounds.
[[nodiscard]] plan_file::PlanDocument plan_document(const tir::Module& module,
                                                    const std::vector<operators::Operator>& operators,
                                                    const liveness::Analysis& analysis,
                                                    const assemble::Assembly& assembly, const PlanResult& result,
                                                    const std::string& algorithm);

// PlanDocument::constant_bytes.
[[nodiscard]] Bytes constants_read(const liveness::Analysis& analysis);

// PlanDocument::transformed, but for what constants need.
[[nodiscard]] std::vector<plan_file::PlanDocument::StepOutcome> steps_of(
    const std::vector<transform::StepResult>& steps);

}  // namespace usmp::pipeline

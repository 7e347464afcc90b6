// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a plan amounts to for the whole firmware, and its operators, in words that all reports share.
#pragma once

#include <string>
#include <vector>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::report {

// "planned by optimal, proved optimal"; without the proof if there is none.
[[nodiscard]] std::string planned_text(const plan_file::PlanDocument& plan);

// Lines, without newlines: the workspace against what the model took before, all RAM with inputs and outputs, the
// stack, constants, multiply-accumulates. What the plan does not say is left out.
[[nodiscard]] std::vector<std::string> summary_lines(const plan_file::PlanDocument& plan);

// " without inputs and outputs", of figures that never count them, where those of the plan do; else empty.
[[nodiscard]] std::string without_io(const plan_file::PlanDocument& plan);

// Lines, without newlines: which operators run together by rows, and what the rings between them save.
[[nodiscard]] std::vector<std::string> row_lines(const plan_file::PlanDocument& plan);

// "2 to 5: 2 conv2d, add, max pool", "7: conv2d"; empty: the call is one operator.
[[nodiscard]] std::string by_rows_text(const plan_file::PlanDocument::Call& call);

// "int8[1,49,10,1] -> int8[1,25,5,64]"; empty: the plan does not say.
[[nodiscard]] std::string operands_text(const plan_file::PlanDocument::Call& call);

}  // namespace usmp::report

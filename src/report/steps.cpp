// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Joins a step's number of changes with the bytes of constants and the work before and after it.
#include "report/steps.hpp"

#include "report/layout.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {

std::string outcome_text(const plan_file::PlanDocument::StepOutcome& step) {
  constexpr std::int64_t tenths = 10;
  std::string text =
      step.left_out ? "left out, the plan is as small without it" : counted(step.changes.size(), "change");
  if (step.constants && step.changes.empty() && !step.left_out) {
    text = "equal constants count once, " + std::to_string(step.constants->before) + " -> " +
           bytes_text(step.constants->after);
  } else if (step.constants) {
    text += ", constants " + std::to_string(step.constants->before) + " -> " + bytes_text(step.constants->after);
  }
  if (step.extra_work_permille) {
    text += ", " + std::to_string(*step.extra_work_permille / tenths) + "." +
            std::to_string(*step.extra_work_permille % tenths) + "% more work";
  }
  return text;
}

}  // namespace usmp::report

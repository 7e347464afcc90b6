// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What was done to the program before it was planned, in words that all reports share.
#pragma once

#include <string>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::report {

// "39 changes, constants 53296 -> 26072 bytes", "2 changes, 1.5% more work" that equal constants count once, or that it
// was left out.
[[nodiscard]] std::string outcome_text(const plan_file::PlanDocument::StepOutcome& step);

}  // namespace usmp::report

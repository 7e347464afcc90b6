// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A step of PlanDocument::transformed as plan.json has it; the report's JSON has the same.
#pragma once

#include <nlohmann/json.hpp>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::plan_file {

[[nodiscard]] nlohmann::ordered_json step_json(const PlanDocument::StepOutcome& step);

[[nodiscard]] nlohmann::ordered_json changes_json(const std::vector<PlanDocument::Change>& changes);

}  // namespace usmp::plan_file

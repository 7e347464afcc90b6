// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Parts of plan.json that the JSON of reports has too.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::plan_file {

[[nodiscard]] nlohmann::ordered_json ring_json(const RowsHeld& ring);

[[nodiscard]] nlohmann::ordered_json all_modules_json(const PlanDocument::Pool::AllModules& all);

[[nodiscard]] nlohmann::ordered_json by_rows_json(const std::vector<PlanDocument::RowOperator>& operators);

// The plan's `totals`, as plans and reports say them.
[[nodiscard]] nlohmann::ordered_json totals_json(const PlanDocument& document);

}  // namespace usmp::plan_file

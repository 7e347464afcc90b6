// SPDX-License-Identifier: Apache-2.0
// What runs by rows, as plan.json has it; the report's JSON has the same.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::plan_file {

[[nodiscard]] nlohmann::ordered_json ring_json(const RowsHeld& ring);

[[nodiscard]] nlohmann::ordered_json by_rows_json(const std::vector<PlanDocument::RowOperator>& operators);

}  // namespace usmp::plan_file

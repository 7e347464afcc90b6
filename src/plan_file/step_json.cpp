// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes JSON of a step's changes, and of what it did to constants and work.
#include "usmp/plan_file/step_json.hpp"

namespace usmp::plan_file {

nlohmann::ordered_json changes_json(const std::vector<PlanDocument::Change>& changes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const PlanDocument::Change& change : changes) {
    nlohmann::ordered_json one;
    one["function"] = change.function;
    one["what"] = change.what;
    list.push_back(std::move(one));
  }
  return list;
}

nlohmann::ordered_json step_json(const PlanDocument::StepOutcome& step) {
  nlohmann::ordered_json json;
  json["step"] = step.step;
  json["load_before"] = step.load_before;
  json["load_after"] = step.load_after;
  if (step.left_out) json["left_out"] = true;
  if (step.extra_work_permille) json["extra_work_permille"] = *step.extra_work_permille;
  if (step.constants) {
    json["constant_bytes_before"] = step.constants->before;
    json["constant_bytes_after"] = step.constants->after;
  }
  json["changes"] = changes_json(step.changes);
  return json;
}

}  // namespace usmp::plan_file

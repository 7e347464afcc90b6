// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes JSON of rings, totals, operators that run by rows, and what all modules need of a pool.
#include "usmp/plan_file/row_json.hpp"

#include "usmp/plan_file/json_lines.hpp"

namespace usmp::plan_file {

nlohmann::ordered_json ring_json(const RowsHeld& ring) {
  nlohmann::ordered_json json;
  json["rows"] = ring.rows;
  json["of"] = ring.of;
  json["row_bytes"] = ring.row_bytes;
  if (ring.of_pixels) json["of_pixels"] = true;
  return json;
}

nlohmann::ordered_json all_modules_json(const PlanDocument::Pool::AllModules& all) {
  nlohmann::ordered_json json;
  json["used"] = all.used;
  json["set_by"] = all.set_by;
  return json;
}

nlohmann::ordered_json by_rows_json(const std::vector<PlanDocument::RowOperator>& operators) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const PlanDocument::RowOperator& one : operators) {
    nlohmann::ordered_json json;
    json["number"] = one.number;
    json["callee"] = one.callee;
    json["kind"] = one.kind;
    if (one.instructions) json["instructions"] = *one.instructions;
    if (!one.kernels.empty()) json["kernels"] = one.kernels;
    list.push_back(std::move(json));
  }
  return list;
}

nlohmann::ordered_json totals_json(const PlanDocument& document) {
  nlohmann::ordered_json json;
  if (document.says_totals) json["workspace_used"] = document.workspace_used;
  if (document.says_totals) json["constants_used"] = document.constants_used;
  json["unplanned_workspace"] = or_null(document.unplanned_workspace);
  if (document.tvm_workspace) json["tvm_workspace"] = *document.tvm_workspace;
  json["constant_bytes"] = or_null(document.constant_bytes);
  if (document.state_bytes) json["state_bytes"] = *document.state_bytes;
  json["stack_estimate"] = or_null(document.stack_estimate);
  if (document.stack_arrays) json["stack_arrays"] = *document.stack_arrays;
  if (document.stack_saved) json["stack_saved"] = *document.stack_saved;
  json["multiply_accumulates"] = or_null(document.multiply_accumulates);
  json["instructions"] = or_null(document.instructions);
  return json;
}

}  // namespace usmp::plan_file

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lists names, summaries and the default as JSON.
#include "usmp/report/algorithms.hpp"

#include "usmp/plan_file/json_lines.hpp"

namespace usmp::report {

std::string algorithms_json(const std::vector<AlgorithmRow>& rows) {
  nlohmann::ordered_json json;
  json["algorithms"] = nlohmann::ordered_json::array();
  for (const AlgorithmRow& row : rows) {
    nlohmann::ordered_json one;
    one["name"] = row.name;
    one["summary"] = row.summary;
    one["default"] = row.is_default;
    json["algorithms"].push_back(std::move(one));
  }
  return plan_file::json_lines(json);
}

}  // namespace usmp::report

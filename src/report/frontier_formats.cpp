// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Shows memory against work as text, Markdown, JSON and CSV.
#include "report/csv.hpp"
#include "report/module_tables.hpp"
#include "usmp/plan_file/json_lines.hpp"
#include "usmp/report/frontier.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {
namespace {

using compare::Frontier;
using compare::FrontierPoint;
using compare::ModuleFrontier;

using Json = nlohmann::ordered_json;

// "1.073"
std::string work_text(const FrontierPoint& point) {
  constexpr std::int64_t thousand = 1000;
  const std::int64_t work = thousand + point.extra_work_permille;
  return std::to_string(work / thousand) + "." + std::to_string(thousand + work % thousand).substr(1);
}

std::vector<std::string> cells_of(const FrontierPoint& point) {
  std::vector<std::string> cells = {std::to_string(point.percent) + "%"};
  if (!point.status) {
    cells.insert(cells.end(), {"-", "-", "-", "-", "no plan"});
    return cells;
  }
  cells.push_back(work_text(point));
  cells.push_back(point.multiply_accumulates ? std::to_string(*point.multiply_accumulates) : "-");
  cells.push_back(std::to_string(point.workspace));
  cells.push_back(std::to_string(point.spilled));
  cells.emplace_back(to_string(*point.status));
  return cells;
}

Json point_json(const FrontierPoint& point) {
  const bool has_plan = point.status.has_value();
  Json json;
  json["allowed_percent"] = point.percent;
  json["status"] = has_plan ? Json(to_string(*point.status)) : Json(nullptr);
  json["extra_work_permille"] = has_plan ? Json(point.extra_work_permille) : Json(nullptr);
  json["multiply_accumulates"] = point.multiply_accumulates ? Json(*point.multiply_accumulates) : Json(nullptr);
  json["workspace_used"] = has_plan ? Json(point.workspace) : Json(nullptr);
  json["spilled"] = has_plan ? Json(point.spilled) : Json(nullptr);
  return json;
}

ModuleTables tables_of(const Frontier& frontier) {
  ModuleTables tables{.archive = frontier.archive,
                      .heading = "Memory and work of",
                      .columns = {{"Allowed", Align::right},
                                  {"Work", Align::right},
                                  {"Multiply-accumulates", Align::right},
                                  {"Workspace", Align::right},
                                  {"Spilled", Align::right},
                                  {"Plan", Align::left}},
                      .modules = {},
                      .legend =
                          "Work: estimated, relative to the program without recomputing. "
                          "Workspace: bytes of all "
                          "workspace pools."};
  for (const auto& module : frontier.modules) {
    ModuleTable& table = tables.modules.emplace_back();
    table.module = module.module;
    for (const FrontierPoint& point : module.points) table.rows.push_back(cells_of(point));
  }
  return tables;
}

}  // namespace

std::string frontier_text(const Frontier& frontier, bool color) {
  return module_tables_text(tables_of(frontier), color);
}

std::string frontier_markdown(const Frontier& frontier) { return module_tables_markdown(tables_of(frontier)); }

std::string frontier_json(const Frontier& frontier) {
  Json json;
  json["schema"] = "usmp-plan/frontier";
  json["schema_version"] = frontier_schema_version;
  json["archive"] = frontier.archive;
  json["modules"] = Json::array();
  for (const ModuleFrontier& module : frontier.modules) {
    Json one;
    one["module"] = module.module;
    one["points"] = Json::array();
    for (const FrontierPoint& point : module.points) one["points"].push_back(point_json(point));
    json["modules"].push_back(std::move(one));
  }
  return plan_file::json_lines(json);
}

std::string frontier_csv(const Frontier& frontier) {
  std::string text = csv_row({"module", "allowed_percent", "plan", "extra_work_permille", "multiply_accumulates",
                              "workspace_used", "spilled"});
  for (const ModuleFrontier& module : frontier.modules) {
    for (const FrontierPoint& point : module.points) {
      if (!point.status) {
        text += csv_row({module.module, std::to_string(point.percent), "no plan", "", "", "", ""});
        continue;
      }
      text += csv_row({module.module, std::to_string(point.percent), to_string(*point.status),
                       std::to_string(point.extra_work_permille),
                       point.multiply_accumulates ? std::to_string(*point.multiply_accumulates) : "",
                       std::to_string(point.workspace), std::to_string(point.spilled)});
    }
  }
  return text;
}

}  // namespace usmp::report

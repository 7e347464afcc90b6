// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Shows what a model needs on several cores as text, Markdown, JSON and CSV.
#include "report/csv.hpp"
#include "report/module_tables.hpp"
#include "usmp/plan_file/json_lines.hpp"
#include "usmp/report/cores.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {
namespace {

using compare::CorePoint;
using compare::Cores;
using compare::ModuleCores;

using Json = nlohmann::ordered_json;

std::string or_text(const std::optional<std::int64_t>& number, const char* otherwise) {
  return number ? std::to_string(*number) : otherwise;
}

std::string kernels_text(const CorePoint& point) { return point.kernels.empty() ? "-" : joined(point.kernels); }

std::vector<std::string> cells_of(const CorePoint& point) {
  if (!point.status) return {point.core, "-", "-", "-", "no plan", "-"};
  return {point.core,
          or_text(point.instructions, "?"),
          std::to_string(point.workspace),
          or_text(point.constants, "?"),
          std::string(to_string(*point.status)),
          kernels_text(point)};
}

Json point_json(const CorePoint& point) {
  const bool has_plan = point.status.has_value();
  Json json;
  json["core"] = point.core;
  json["status"] = has_plan ? Json(to_string(*point.status)) : Json(nullptr);
  json["instructions"] = point.instructions ? Json(*point.instructions) : Json(nullptr);
  json["kernels"] = point.kernels;
  json["workspace_used"] = has_plan ? Json(point.workspace) : Json(nullptr);
  json["constant_bytes"] = point.constants ? Json(*point.constants) : Json(nullptr);
  return json;
}

ModuleTables tables_of(const Cores& cores) {
  ModuleTables tables{
      .archive = cores.archive,
      .heading = "Cores for",
      .columns = {{"Core", Align::left},
                  {"Instructions", Align::right},
                  {"Workspace", Align::right},
                  {"Constants", Align::right},
                  {"Plan", Align::left},
                  {"Kernels", Align::left}},
      .modules = {},
      .legend = "Instructions: estimated for an inference, compiled at -O2. Workspace: bytes of all workspace pools."};
  for (const auto& module : cores.modules) {
    ModuleTable& table = tables.modules.emplace_back();
    table.module = module.module;
    for (const CorePoint& point : module.points) table.rows.push_back(cells_of(point));
  }
  return tables;
}

}  // namespace

std::string cores_text(const Cores& cores, bool color) { return module_tables_text(tables_of(cores), color); }

std::string cores_markdown(const Cores& cores) { return module_tables_markdown(tables_of(cores)); }

std::string cores_json(const Cores& cores) {
  Json json;
  json["schema"] = "usmp-plan/cores";
  json["schema_version"] = cores_schema_version;
  json["archive"] = cores.archive;
  json["modules"] = Json::array();
  for (const ModuleCores& module : cores.modules) {
    Json one;
    one["module"] = module.module;
    one["points"] = Json::array();
    for (const CorePoint& point : module.points) one["points"].push_back(point_json(point));
    json["modules"].push_back(std::move(one));
  }
  return plan_file::json_lines(json);
}

std::string cores_csv(const Cores& cores) {
  std::string text = csv_row({"module", "core", "plan", "instructions", "workspace_used", "constant_bytes", "kernels"});
  for (const ModuleCores& module : cores.modules) {
    for (const CorePoint& point : module.points) {
      if (!point.status) {
        text += csv_row({module.module, point.core, "no plan", "", "", "", ""});
        continue;
      }
      text += csv_row({module.module, point.core, to_string(*point.status), or_text(point.instructions, ""),
                       std::to_string(point.workspace), or_text(point.constants, ""), joined(point.kernels)});
    }
  }
  return text;
}

}  // namespace usmp::report

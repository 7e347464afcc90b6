// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes check.json: each limit with its verdict, by module and pool, and advice.
#include "report/findings.hpp"
#include "report/needed_json.hpp"
#include "usmp/plan_file/json_lines.hpp"
#include "usmp/plan_file/row_json.hpp"
#include "usmp/report/check.hpp"

namespace usmp::report {
namespace {

using compare::BudgetReport;
using compare::LimitCheck;
using compare::ModuleCheck;
using compare::PoolCheck;
using compare::Verdict;
using plan_file::json_lines;
using plan_file::or_null;

using Json = nlohmann::ordered_json;

Json check_json(const LimitCheck& check) {
  Json json;
  json["limit"] = to_string(check.rule);
  json["result"] = to_string(check.verdict);
  json["required"] = check.has_figures() ? Json(check.required) : Json(nullptr);
  json["available"] = check.has_figures() ? Json(check.available) : Json(nullptr);
  json["excess"] = check.excess();
  json["line"] = check.position.line > 0 ? Json(check.position.line) : Json(nullptr);
  json["column"] = check.position.line > 0 ? Json(check.position.column) : Json(nullptr);
  json["message"] = check.message;
  if (!check.alternatives.empty()) json["alternatives"] = check.alternatives;
  for (const LimitCheck::Grown& grown : check.grown) {
    json["grown"].push_back({{"operator", grown.name}, {"bytes", grown.bytes}});
  }
  return json;
}

Json pool_json(const PoolCheck& pool) {
  Json json;
  json["name"] = pool.name;
  json["kind"] = to_string(pool.kind);
  json["used"] = or_null(pool.used);
  json["capacity"] = or_null(pool.capacity);
  json["baseline"] = or_null(pool.baseline);
  json["checks"] = Json::array();
  for (const LimitCheck& check : pool.checks) json["checks"].push_back(check_json(check));
  return json;
}

Json module_json(const ModuleCheck& module) {
  Json json;
  json["module"] = module.module;
  json["archive"] = module.archive;
  json["algorithm"] = module.algorithm;
  json["result"] = to_string(module.verdict());
  json["no_plan"] = module.no_plan.empty() ? Json(nullptr) : Json(module.no_plan);
  json["shortfalls"] = shortfalls_json(module.needed);
  json["warnings"] = module.warnings;
  json["pools"] = Json::array();
  for (const PoolCheck& pool : module.pools) json["pools"].push_back(pool_json(pool));
  return json;
}

Json shared_pool_json(const compare::SharedPool& pool, const BudgetReport& report) {
  Json json;
  json["name"] = pool.name;
  json["kind"] = to_string(pool.kind);
  json.update(plan_file::all_modules_json(pool.all));
  json["modules"] = Json::array();
  for (const compare::SharedPool::Use& use : pool.uses) {
    json["modules"].push_back({{"module", use.module}, {"used", use.used}});
  }
  json["checks"] = Json::array();
  for (const PoolCheck& other : report.together) {
    if (other.name != pool.name || other.kind != pool.kind) continue;
    for (const LimitCheck& check : other.checks) json["checks"].push_back(check_json(check));
  }
  return json;
}

Json whole_json(const PoolCheck& whole) {
  Json json;
  json["name"] = whole.name;
  json["used"] = or_null(whole.used);
  json["length"] = or_null(whole.capacity);
  json["checks"] = Json::array();
  for (const LimitCheck& check : whole.checks) json["checks"].push_back(check_json(check));
  return json;
}

Json advice_json(const compare::Advice& advice) {
  Json json;
  json["options"] = advice.options;
  json["result"] = to_string(advice.verdict);
  json["figures"] = Json::array();
  for (const compare::Advice::Figure& figure : advice.figures) {
    json["figures"].push_back({{"of", figure.pool},
                               {"limit", to_string(figure.rule)},
                               {"before", or_null(figure.before)},
                               {"after", figure.after},
                               {"excess", figure.excess}});
  }
  return json;
}

}  // namespace

std::string check_json(const BudgetReport& report) {
  Json json;
  json["schema"] = "usmp-plan/check";
  json["schema_version"] = check_schema_version;
  json["archive"] = report.archive;
  json["result"] = to_string(report.verdict());
  const std::vector<Finding> findings = findings_of(report);
  json["breaches"] = count_of(findings, Verdict::breach);
  json["warnings"] = count_of(findings, Verdict::warning);
  json["file_warnings"] = report.warnings;
  for (const std::string& warning : report.other_archives) json["file_warnings"].push_back(warning);
  json["modules"] = Json::array();
  for (const ModuleCheck& module : report.modules) json["modules"].push_back(module_json(module));
  json["shared_pools"] = Json::array();
  for (const compare::SharedPool& pool : report.shared_pools) {
    json["shared_pools"].push_back(shared_pool_json(pool, report));
  }
  json["whole"] = Json::array();
  for (const PoolCheck& whole : report.whole) json["whole"].push_back(whole_json(whole));
  json["advice"] = Json::array();
  for (const compare::Advice& advice : report.advice) json["advice"].push_back(advice_json(advice));
  return json_lines(json);
}

std::string check_json(const CheckFailure& failure) {
  Json json;
  json["schema"] = "usmp-plan/check";
  json["schema_version"] = check_schema_version;
  json["error"] = failure.message;
  json["exit_code"] = failure.exit_code;
  return json_lines(json);
}

}  // namespace usmp::report

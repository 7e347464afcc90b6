// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Shows algorithms side by side as text, Markdown, JSON and CSV.
#include <algorithm>
#include <cmath>

#include "report/csv.hpp"
#include "report/layout.hpp"
#include "report/markdown.hpp"
#include "usmp/plan_file/json_lines.hpp"
#include "usmp/report/compare.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {
namespace {

using compare::AlgorithmResult;
using compare::Comparison;
using compare::ModuleComparison;
using compare::PoolResult;
using plan_file::json_lines;

using Json = nlohmann::ordered_json;

bool has_times(const Comparison& comparison) {
  return std::any_of(comparison.modules.begin(), comparison.modules.end(), [](const ModuleComparison& module) {
    return std::any_of(module.results.begin(), module.results.end(),
                       [](const AlgorithmResult& result) { return result.time.has_value(); });
  });
}

bool has_spilled(const ModuleComparison& module) {
  return std::any_of(module.results.begin(), module.results.end(),
                     [](const AlgorithmResult& result) { return result.spilled > 0; });
}

double seconds(std::chrono::microseconds time) { return static_cast<double>(time.count()) / 1e6; }

// "1.063", rounded up: what is above the bound never looks as if it met it.
std::string ratio_text(const PoolResult& pool) {
  if (pool.proved()) return "proved";
  const auto ratio = pool.ratio();
  if (!ratio) return "-";
  constexpr double thousand = 1000;
  const auto thousandths = static_cast<std::int64_t>(std::max(std::ceil(*ratio * thousand), thousand + 1));
  return std::to_string(thousandths / 1000) + "." + std::to_string(1000 + thousandths % 1000).substr(1);
}

std::string status_text(const AlgorithmResult& result) {
  if (!result.status) return "no plan";
  return result.optimal ? "optimal" : to_string(PlanStatus::feasible);
}

std::vector<Table::Column> columns_of(const ModuleComparison& module, bool times) {
  std::vector<Table::Column> columns = {{"Algorithm", Align::left}};
  for (const ModuleComparison::Pool& pool : module.pools) {
    columns.push_back({printable(pool.name), Align::right});
    columns.push_back({"used/bound", Align::right});
  }
  if (has_spilled(module)) columns.push_back({"Spilled", Align::right});
  columns.push_back({"Plan", Align::left});
  if (times) columns.push_back({"ms", Align::right});
  return columns;
}

std::vector<std::string> cells_of(const ModuleComparison& module, const AlgorithmResult& result, bool times) {
  std::vector<std::string> cells = {printable(result.algorithm)};
  for (std::size_t i = 0; i < module.pools.size(); ++i) {
    cells.push_back(result.status ? std::to_string(result.pools[i].used) : "-");
    cells.push_back(result.status ? ratio_text(result.pools[i]) : "-");
  }
  if (has_spilled(module)) cells.push_back(result.status ? std::to_string(result.spilled) : "-");
  cells.push_back(status_text(result));
  if (times) cells.push_back(result.time ? three_decimals(static_cast<double>(result.time->count()) / 1e3) : "-");
  return cells;
}

Json pool_json(const ModuleComparison::Pool& pool) {
  Json json;
  json["name"] = pool.name;
  json["kind"] = to_string(pool.kind);
  json["capacity"] = pool.capacity ? Json(*pool.capacity) : Json(nullptr);
  return json;
}

Json pool_result_json(const std::string& name, const PoolResult& pool) {
  Json json;
  json["name"] = name;
  json["used"] = pool.used;
  json["lower_bound"] = pool.lower_bound ? Json(*pool.lower_bound) : Json(nullptr);
  const auto ratio = pool.ratio();
  json["ratio"] = ratio ? Json(*ratio) : Json(nullptr);
  json["proved"] = pool.proved();
  return json;
}

Json result_json(const ModuleComparison& module, const AlgorithmResult& result) {
  Json json;
  json["algorithm"] = result.algorithm;
  json["status"] = result.status ? Json(to_string(*result.status)) : Json(nullptr);
  json["optimal"] = result.optimal;
  json["spilled"] = result.spilled;
  json["pools"] = Json::array();
  for (std::size_t i = 0; i < result.pools.size(); ++i) {
    json["pools"].push_back(pool_result_json(module.pools[i].name, result.pools[i]));
  }
  json["seconds"] = result.time ? Json(seconds(*result.time)) : Json(nullptr);
  return json;
}

Json module_json(const ModuleComparison& module) {
  Json json;
  json["module"] = module.module;
  json["pools"] = Json::array();
  for (const ModuleComparison::Pool& pool : module.pools) json["pools"].push_back(pool_json(pool));
  json["results"] = Json::array();
  for (const AlgorithmResult& result : module.results) json["results"].push_back(result_json(module, result));
  return json;
}

// Times in microseconds are a few digits, so that the text needs no rounding.
std::string seconds_cell(const AlgorithmResult& result) {
  return result.time ? shortest_decimal(seconds(*result.time)) : std::string();
}

std::string csv_rows(const ModuleComparison& module, const AlgorithmResult& result, bool times) {
  const auto row = [&](std::vector<std::string> cells) {
    if (times) cells.push_back(seconds_cell(result));
    return csv_row(cells);
  };
  if (!result.status) return row({module.module, result.algorithm, "no plan", "", "", "", "", "", "", ""});
  std::string text;
  for (std::size_t i = 0; i < result.pools.size(); ++i) {
    const PoolResult& pool = result.pools[i];
    const auto& capacity = module.pools[i].capacity;
    const auto ratio = pool.ratio();
    text += row({module.module, result.algorithm, status_text(result), std::to_string(result.spilled),
                 module.pools[i].name, std::to_string(pool.used), capacity ? std::to_string(*capacity) : "",
                 pool.lower_bound ? std::to_string(*pool.lower_bound) : "", ratio ? shortest_decimal(*ratio) : "",
                 pool.proved() ? "true" : "false"});
  }
  return text;
}

constexpr const char* ratio_legend =
    "used/bound: the bytes used in the pool on the left, divided by its lower bound; proved: they are equal.";
constexpr const char* spilled_legend =
    "Spilled: bytes of all buffers outside their first choice. A plan that spills more is worse, and has no ratios "
    "for the pools that buffers choose between.\n";

std::string legend(const Comparison& comparison) {
  const bool spilled = std::ranges::any_of(comparison.modules, has_spilled);
  return std::string("\n") + ratio_legend + "\n" + (spilled ? spilled_legend : "");
}

bool has_pools(const Comparison& comparison) {
  return std::ranges::any_of(comparison.modules, [](const ModuleComparison& module) { return !module.pools.empty(); });
}

}  // namespace

std::string compare_text(const Comparison& comparison, bool color) {
  const bool times = has_times(comparison);
  std::string text;
  for (const ModuleComparison& module : comparison.modules) {
    if (!text.empty()) text += "\n";
    const std::string title = "module " + printable(module.module) + " of " + printable(comparison.archive);
    text += (color ? "\x1b[1m" + title + "\x1b[0m" : title) + "\n";
    Table table(columns_of(module, times));
    for (const AlgorithmResult& result : module.results) table.add(cells_of(module, result, times));
    text += table.text("  ");
  }
  if (has_pools(comparison)) text += legend(comparison);
  return text;
}

std::string compare_markdown(const Comparison& comparison) {
  const bool times = has_times(comparison);
  std::string text;
  for (const ModuleComparison& module : comparison.modules) {
    if (!text.empty()) text += "\n";
    text += "### Algorithms on " + markdown_text(module.module) + " (" + markdown_text(comparison.archive) + ")\n\n";
    const std::vector<Table::Column> columns = columns_of(module, times);
    text += markdown_head(columns);
    for (const AlgorithmResult& result : module.results) {
      std::vector<std::string> cells = cells_of(module, result, times);
      for (std::string& cell : cells) cell = markdown_text(cell);
      text += markdown_row(cells);
    }
  }
  if (has_pools(comparison)) text += legend(comparison);
  return text;
}

std::string compare_json(const Comparison& comparison) {
  Json json;
  json["schema"] = "usmp-plan/compare";
  json["schema_version"] = compare_schema_version;
  json["archive"] = comparison.archive;
  json["modules"] = Json::array();
  for (const ModuleComparison& module : comparison.modules) json["modules"].push_back(module_json(module));
  return json_lines(json);
}

std::string compare_csv(const Comparison& comparison) {
  const bool times = has_times(comparison);
  std::vector<std::string> headings = {"module", "algorithm", "plan",        "spilled", "pool",
                                       "used",   "capacity",  "lower_bound", "ratio",   "proved"};
  if (times) headings.emplace_back("seconds");
  std::string text = csv_row(headings);
  for (const ModuleComparison& module : comparison.modules) {
    for (const AlgorithmResult& result : module.results) text += csv_rows(module, result, times);
  }
  return text;
}

}  // namespace usmp::report

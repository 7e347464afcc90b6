// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes report.json: figures of each pool, what is live at its peak, and what the rest needs without a buffer.
#include <cassert>

#include "usmp/compare/figures.hpp"
#include "usmp/plan_file/json_lines.hpp"
#include "usmp/plan_file/row_json.hpp"
#include "usmp/plan_file/step_json.hpp"
#include "usmp/report/report.hpp"

namespace usmp::report {
namespace {

using compare::OperatorIndex;
using compare::plan_figures;
using compare::PlanFigures;
using compare::PoolFigures;
using plan_file::all_modules_json;
using plan_file::by_rows_json;
using plan_file::json_lines;
using plan_file::live_json;
using plan_file::or_null;
using plan_file::PlanDocument;
using plan_file::ring_json;
using plan_file::step_json;
using plan_file::totals_json;

using Json = nlohmann::ordered_json;

Json operator_json(const PlanDocument& plan, const OperatorIndex& call, std::size_t row_operator = 0) {
  if (!call) return nullptr;
  Json json;
  json["index"] = *call;
  json["callee"] = plan.calls[*call].callee;
  if (row_operator > 0) json["row_operator"] = row_operator;
  return json;
}

Json peak_json(const PlanDocument& plan, const PoolFigures& figures, const PlanFigures& all) {
  Json json;
  json["bytes"] = figures.load;
  json["occupied"] = figures.occupied_at_peak;
  json["tick"] = figures.peak_at;
  json["buffers"] = Json::array();
  for (std::size_t i = 0; i < figures.at_peak.size(); ++i) {
    const std::size_t index = figures.at_peak[i];
    const PlanDocument::Buffer& buffer = plan.buffers[index];
    Json one;
    one["id"] = index;
    one["name"] = buffer.name;
    one["function"] = buffer.function;
    one["operator"] = operator_json(plan, all.operators[index], buffer.row_operator);
    for (const std::size_t call : all.more_operators[index]) {
      one["more_operators"].push_back(operator_json(plan, call));
    }
    one["offset"] = buffer.offset;
    one["size"] = buffer.size;
    one["counted"] = figures.counted[i];
    if (buffer.rows) one["ring"] = ring_json(*buffer.rows);
    json["buffers"].push_back(std::move(one));
  }
  json["shares"] = Json::array();
  for (const PoolFigures::Share& share : figures.shares) {
    Json one;
    one["operator"] = operator_json(plan, share.call, share.row_operator);
    one["bytes"] = share.bytes;
    json["shares"].push_back(std::move(one));
  }
  return json;
}

Json shared_json(const PoolFigures& figures) {
  Json list = Json::array();
  for (const PoolFigures::SharedBytes& shared : figures.shared_bytes) {
    Json one;
    one["buffers"] = {shared.first, shared.second};
    one["offset"] = shared.begin;
    one["bytes"] = shared.bytes();
    one["ticks"] = live_json(shared.ticks);
    list.push_back(std::move(one));
  }
  return list;
}

// The buffers are those of the peak: their ids say which.
Json without_json(const PoolFigures& figures) {
  Json list = Json::array();
  for (const PoolFigures::Without& without : figures.without) {
    Json one;
    one["id"] = without.buffer;
    one["at_least"] = without.at_least;
    list.push_back(std::move(one));
  }
  return list;
}

Json pool_json(const PlanDocument& plan, std::size_t index, const PlanFigures& all) {
  const PlanDocument::Pool& pool = plan.pools[index];
  const PoolFigures& figures = all.pools[index];
  Json json;
  json["name"] = pool.name;
  json["kind"] = to_string(pool.kind);
  json["capacity"] = or_null(pool.capacity);
  json["used"] = pool.used;
  json["reserved"] = pool.reserved;
  json["lower_bound"] = or_null(pool.lower_bound);
  json["lower_bound_reason"] = pool.lower_bound_reason;
  json["status"] = to_string(pool.status);
  json["all_modules"] = or_null(pool.all_modules, all_modules_json);
  json["buffers"] = figures.buffers.size();
  json["asked"] = figures.asked;
  json["lost_to_alignment"] = figures.lost_to_alignment;
  json["lost_to_fragmentation"] = figures.lost_to_fragmentation();
  json["proved_gap"] = figures.proved_gap;
  json["smaller_is_better"] = figures.smaller_is_better;
  json["peak"] = peak_json(plan, figures, all);
  json["shared"] = shared_json(figures);
  json["without"] = without_json(figures);
  json["timeline"] = Json::array();
  for (const PoolFigures::TimelinePoint& point : figures.timeline) json["timeline"].push_back({point.at, point.live});
  return json;
}

}  // namespace

std::string report_json(const PlanDocument& plan) {
  const PlanFigures figures = plan_figures(plan);
  Json json;
  json["schema"] = "usmp-plan/report";
  json["schema_version"] = report_schema_version;
  json["module"] = plan.module;
  json["archive"] = plan.archive;
  json["algorithm"] = plan.algorithm;
  json["status"] = to_string(plan.status);
  json["horizon"] = plan.horizon;
  json["totals"] = totals_json(plan);
  json["transformed"] = Json::array();
  for (const PlanDocument::StepOutcome& step : plan.transformed) json["transformed"].push_back(step_json(step));
  json["by_rows"] = Json::array();
  for (std::size_t i = 0; i < plan.calls.size(); ++i) {
    if (plan.calls[i].by_rows.empty()) continue;
    Json one;
    one["operator"] = operator_json(plan, i);
    one["operators"] = by_rows_json(plan.calls[i].by_rows);
    json["by_rows"].push_back(std::move(one));
  }
  json["pools"] = Json::array();
  for (std::size_t i = 0; i < plan.pools.size(); ++i) json["pools"].push_back(pool_json(plan, i, figures));
  return json_lines(json);
}

}  // namespace usmp::report

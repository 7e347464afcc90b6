// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Shows what each pool uses and how near its bound that is, as text and JSON.
#include "usmp/report/solution.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/layout.hpp"
#include "report/needed_json.hpp"
#include "report/proved.hpp"
#include "usmp/bounds/proved.hpp"
#include "usmp/compare/filling.hpp"
#include "usmp/plan_file/json_lines.hpp"

namespace usmp::report {
namespace {

using plan_file::json_lines;

using Json = nlohmann::ordered_json;

bool bound_tells(const Solution& solution, PoolId id, Bytes used, Bytes bound) {
  compare::Filling<PoolId> filling(id);
  const std::vector<Buffer>& buffers = solution.problem->buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const PoolId place = solution.result.plan.of(BufferId(i)).pool;
    filling.add(buffers[i].candidates, place, buffers[i].pinned.has_value());
  }
  return report::bound_tells(used, bound, !filling.is_preferred(), filling.overflows());
}

std::string pool_line(const Solution& solution, PoolId id, Bytes used, bool color) {
  const Pool& pool = solution.problem->pool(id);
  const bounds::PoolBound bound = solution.lower_bound(id);
  return printable(pool.name) + ": " +
         (pool.capacity ? std::to_string(used) + " of " + bytes_text(*pool.capacity) : bytes_text(used)) +
         (used > 0 && bound_tells(solution, id, used, bound.bytes)
              ? ", " + proved_text(used, bound.bytes, bound.reason, color)
              : "") +
         "\n";
}

Json pool_json(const Solution& solution, PoolId id, const std::vector<Bytes>& used) {
  const Pool& pool = solution.problem->pool(id);
  const bounds::PoolBound bound = solution.lower_bound(id);
  const bool has_plan = solution.result.has_plan();
  Json json;
  json["name"] = pool.name;
  json["capacity"] = pool.capacity ? Json(*pool.capacity) : Json(nullptr);
  json["used"] = has_plan ? Json(used[id.index()]) : Json(nullptr);
  json["lower_bound"] = bound.bytes;
  json["lower_bound_reason"] = bound.reason;
  json["gap"] = has_plan ? Json(used[id.index()] - bound.bytes) : Json(nullptr);
  const PlanStatus of_plan = has_plan && used[id.index()] == bound.bytes ? PlanStatus::optimal : PlanStatus::feasible;
  json["status"] = to_string(has_plan ? of_plan : solution.status());
  return json;
}

}  // namespace

PlanStatus Solution::status() const {
  const auto beyond = [&](std::size_t i) {
    return problem->pools[i].capacity && bounds[i].bytes > *problem->pools[i].capacity;
  };
  if (result.status == PlanStatus::not_found) {
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      if (beyond(i)) return PlanStatus::infeasible;
    }
  }
  if (result.status == PlanStatus::feasible && bounds.size() == 1 &&
      used_bytes(*problem, result.plan).front() == lower_bound(PoolId(0)).bytes) {
    return PlanStatus::optimal;
  }
  return result.status;
}

bounds::PoolBound Solution::lower_bound(PoolId pool) const {
  return bounds::proved_bounds(*problem, result, algorithm, bounds).pools[pool.index()];
}

std::string solution_text(const Solution& solution, bool color) {
  const std::size_t count = solution.problem->buffers.size();
  std::string text = printable(solution.instance) + ": " + std::to_string(count) +
                     (count == 1 ? " buffer" : " buffers") + ", planned by " + printable(solution.algorithm) + "\n";
  if (!solution.result.has_plan()) return text;
  const Cost cost = cost_of(*solution.problem, solution.result.plan);
  for (std::size_t i = 0; i < cost.used.size(); ++i) text += pool_line(solution, PoolId(i), cost.used[i], color);
  std::vector<Bytes> spilled =
      bounds::proved_bounds(*solution.problem, solution.result, solution.algorithm, solution.bounds).spilled;
  spilled.resize(cost.spilled.size(), 0);
  std::vector<Choices> choices;
  for (std::size_t i = 0; i < count; ++i) {
    const PoolId place = solution.result.plan.of(BufferId(i)).pool;
    Choices& one = choices.emplace_back();
    one.pool = solution.problem->pool(place).name;
    for (const PoolId pool : solution.problem->buffers[i].candidates) {
      one.pools.push_back(solution.problem->pool(pool).name);
    }
  }
  return text + spilled_text(cost.spilled, spilled, choices, color) +
         search_text(solution.result.stopped, solution.result.iterations);
}

std::string solution_json(const Solution& solution) {
  const std::vector<Bytes> used =
      solution.result.has_plan() ? used_bytes(*solution.problem, solution.result.plan) : std::vector<Bytes>{};
  Json json;
  json["schema"] = "usmp-plan/solution";
  json["schema_version"] = 2;  // 1: format and version
  json["instance"] = solution.instance;
  json["buffers"] = solution.problem->buffers.size();
  json["algorithm"] = solution.algorithm;
  json["seed"] = solution.seed;
  json["status"] = to_string(solution.status());
  json["stopped"] = to_string(solution.result.stopped);
  json["iterations"] = solution.result.iterations;
  json["shortfalls"] = shortfalls_json(solution.needed);
  json["pools"] = Json::array();
  for (std::size_t i = 0; i < solution.problem->pools.size(); ++i) {
    json["pools"].push_back(pool_json(solution, PoolId(i), used));
  }
  return json_lines(json);
}

}  // namespace usmp::report

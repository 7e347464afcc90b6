#include "usmp/report/solution.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

#include "report/json_lines.hpp"
#include "report/layout.hpp"

namespace usmp::report {
namespace {

using Json = nlohmann::ordered_json;

std::string gap_text(Bytes gap, Bytes bound) {
  std::string text = bytes_text(gap);
  if (bound > 0) text += " (" + two_decimals(static_cast<double>(gap) * 100.0 / static_cast<double>(bound)) + "%)";
  return text;
}

std::string pool_line(const Solution& solution, PoolId id, Bytes used, bool color) {
  const Pool& pool = solution.problem->pool(id);
  const bounds::PoolBound bound = solution.lower_bound(id);
  const std::string bound_text = "the lower bound " + std::to_string(bound.bytes) + " (" + bound.reason + ")";
  std::string line = printable(pool.name) + ": ";
  line += pool.capacity ? std::to_string(used) + " of " + bytes_text(*pool.capacity) : bytes_text(used);
  if (used == bound.bytes) {
    return line + ", " + (color ? "\x1b[32moptimal\x1b[0m" : "optimal") + ", equal to " + bound_text + "\n";
  }
  return line + ", feasible, " + gap_text(used - bound.bytes, bound.bytes) + " above " + bound_text + "\n";
}

std::string stop_line(const PlanResult& result) {
  const std::string after = " after " + std::to_string(result.iterations) + " iterations\n";
  switch (result.stopped) {
    case StopReason::finished:
      return {};
    case StopReason::node_limit:
      return "stopped by the node limit" + after;
    case StopReason::time_limit:
      return "stopped by the time limit" + after;
    case StopReason::interrupted:
      return "interrupted" + after;
  }
  return {};
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
  const bounds::PoolBound& bound = bounds[pool.index()];
  Bytes proved = 0;
  if (result.status == PlanStatus::optimal) {
    proved = used_bytes(*problem, result.plan)[pool.index()];
  } else if (result.bound) {
    proved = result.bound->used[pool.index()];
  }
  return proved > bound.bytes ? bounds::PoolBound{proved, "proved by " + algorithm} : bound;
}

std::string solution_text(const Solution& solution, bool color) {
  const std::size_t count = solution.problem->buffers.size();
  std::string text = printable(solution.instance) + ": " + std::to_string(count) +
                     (count == 1 ? " buffer" : " buffers") + ", planned by " + solution.algorithm + "\n";
  if (!solution.result.has_plan()) return text;
  const std::vector<Bytes> used = used_bytes(*solution.problem, solution.result.plan);
  for (std::size_t i = 0; i < used.size(); ++i) text += pool_line(solution, PoolId(i), used[i], color);
  return text + stop_line(solution.result);
}

std::string solution_json(const Solution& solution) {
  const std::vector<Bytes> used =
      solution.result.has_plan() ? used_bytes(*solution.problem, solution.result.plan) : std::vector<Bytes>{};
  Json json;
  json["format"] = "usmp-plan/solution";
  json["version"] = 1;
  json["instance"] = solution.instance;
  json["buffers"] = solution.problem->buffers.size();
  json["algorithm"] = solution.algorithm;
  json["seed"] = solution.seed;
  json["status"] = to_string(solution.status());
  json["stopped"] = to_string(solution.result.stopped);
  json["iterations"] = solution.result.iterations;
  json["pools"] = Json::array();
  for (std::size_t i = 0; i < solution.problem->pools.size(); ++i) {
    json["pools"].push_back(pool_json(solution, PoolId(i), used));
  }
  return json_lines(json);
}

}  // namespace usmp::report

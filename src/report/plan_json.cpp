#include "usmp/report/plan_json.hpp"

#include <cassert>

#include "report/json_lines.hpp"

namespace usmp::report {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json pool_json(const Summary& summary, PoolId id) {
  const Pool& pool = summary.assembly->problem.pool(id);
  const config::PoolSpec& spec = summary.assembly->pools[id.index()];
  const bounds::PoolBound& bound = summary.bounds[id.index()];
  Json json;
  json["name"] = pool.name;
  json["kind"] = pool.kind == PoolKind::workspace ? "workspace" : "parameter";
  json["internal"] = spec.internal;
  if (!spec.section.empty()) json["section"] = spec.section;
  json["capacity"] = or_null(pool.capacity);
  json["alignment"] = pool.alignment;
  json["reserved"] = pool.reserved;
  json["used"] = summary.used[id.index()];
  json["lower_bound"] = bound.bytes;
  json["lower_bound_reason"] = bound.reason;
  json["status"] = to_string(summary.pool_status(id));
  return json;
}

Json buffer_json(const Summary& summary, BufferId id) {
  const Problem& problem = summary.assembly->problem;
  const Buffer& buffer = problem.buffer(id);
  const Allocation& allocation = summary.plan->of(id);
  Json json;
  json["id"] = id.index();
  json["name"] = buffer.name;
  json["function"] = buffer.function;
  json["kind"] = to_string(buffer.kind);
  json["pool"] = allocation.placed() ? Json(problem.pool(allocation.pool).name) : Json(nullptr);
  json["offset"] = allocation.placed() ? Json(allocation.offset) : Json(nullptr);
  json["pinned"] = buffer.pinned.has_value();
  json["size"] = buffer.size;
  json["alignment"] = buffer.alignment;
  json["live"] = live_json(buffer.live);
  Json candidates = Json::array();
  for (const PoolId pool : buffer.candidates) candidates.push_back(problem.pool(pool).name);
  json["candidates"] = std::move(candidates);
  return json;
}

// Which pool was made small first, and how the search ended.
Json search_json(const Summary& summary) {
  const Problem& problem = summary.assembly->problem;
  Json json;
  json["minimized"] = summary.minimized ? Json(problem.pool(*summary.minimized).name) : Json(nullptr);
  json["stopped"] = to_string(summary.stopped);
  json["iterations"] = summary.iterations;
  return json;
}

Json spilled_json(Bytes bytes, Bytes bound) {
  Json json;
  json["bytes"] = bytes;
  json["lower_bound"] = bound;
  return json;
}

Json call_json(const liveness::Call& call) {
  Json json;
  json["callee"] = call.callee;
  json["ticks"] = {call.ticks.begin, call.ticks.end};
  return json;
}

Json unplanned_json(const Summary& summary, const liveness::Unplanned& allocate) {
  Json json;
  json["name"] = allocate.name;
  json["function"] = summary.function_name(allocate.function);
  json["reason"] = allocate.reason;
  return json;
}

Json imported_json(const ImportedC& source) {
  Json json;
  json["function"] = source.function;
  json["bytes"] = source.bytes;
  json["first_line"] = source.first_line;
  return json;
}

Json step_json(const transform::StepResult& step) {
  Json json;
  json["step"] = transform::name_of(step.step);
  json["load_before"] = step.load_before;
  json["load_after"] = step.load_after;
  json["changes"] = Json::array();
  for (const transform::Change& change : step.changes) {
    Json one;
    one["function"] = change.function;
    one["what"] = change.text;
    json["changes"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

std::string plan_json(const Summary& summary) {
  const Problem& problem = summary.assembly->problem;
  assert(summary.plan->allocations.size() == problem.buffers.size());
  Json json;
  json["schema"] = "usmp-plan/plan";
  json["schema_version"] = plan_schema_version;
  json["module"] = summary.module;
  json["archive"] = summary.archive;
  json["algorithm"] = summary.algorithm;
  json["seed"] = summary.seed;
  json["workspace_io"] = summary.workspace_io;
  json["status"] = to_string(summary.status);
  json["search"] = search_json(summary);
  json["horizon"] = problem.horizon;
  json["totals"]["workspace_used"] = summary.workspace_used();
  json["totals"]["constants_used"] = summary.constants_used();
  json["totals"]["unplanned_workspace"] = or_null(summary.unplanned_workspace);
  json["spilled"] = Json::array();
  for (std::size_t r = 0; r < summary.spilled.size(); ++r) {
    json["spilled"].push_back(spilled_json(summary.spilled[r], summary.spilled_bound[r]));
  }
  json["pools"] = Json::array();
  for (const PoolId pool : summary.pool_order()) json["pools"].push_back(pool_json(summary, pool));
  json["buffers"] = Json::array();
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) json["buffers"].push_back(buffer_json(summary, BufferId(i)));
  json["calls"] = Json::array();
  for (const liveness::Call& call : summary.analysis->calls) json["calls"].push_back(call_json(call));
  json["unplanned"] = Json::array();
  for (const auto& allocate : summary.analysis->unplanned)
    json["unplanned"].push_back(unplanned_json(summary, allocate));
  json["imported_c"] = Json::array();
  for (const ImportedC& source : imported_c(summary)) json["imported_c"].push_back(imported_json(source));
  json["transformed"] = Json::array();
  for (const transform::StepResult& step : summary.transformed) json["transformed"].push_back(step_json(step));
  json["warnings"] = summary.warnings;
  return json_lines(json);
}

}  // namespace usmp::report

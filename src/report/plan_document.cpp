#include "usmp/report/plan_document.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace usmp::report {
namespace {

PlanDocument::Pool pool_of(const Summary& summary, PoolId id) {
  const Pool& pool = summary.assembly->problem.pool(id);
  const config::PoolSpec& spec = summary.assembly->pools[id.index()];
  const bounds::PoolBound& bound = summary.bounds[id.index()];
  return {.name = pool.name,
          .kind = pool.kind,
          .internal = spec.internal,
          .section = spec.section,
          .capacity = pool.capacity,
          .alignment = pool.alignment,
          .reserved = pool.reserved,
          .used = summary.used[id.index()],
          .lower_bound = bound.bytes,
          .lower_bound_reason = bound.reason,
          .status = summary.pool_status(id)};
}

PlanDocument::Buffer buffer_of(const Summary& summary, BufferId id) {
  const Problem& problem = summary.assembly->problem;
  const Buffer& buffer = problem.buffer(id);
  const Allocation& place = summary.plan->of(id);
  PlanDocument::Buffer result{.name = buffer.name,
                              .function = buffer.function,
                              .kind = buffer.kind,
                              .pool = place.placed() ? problem.pool(place.pool).name : std::string(),
                              .offset = place.placed() ? place.offset : 0,
                              .pinned = buffer.pinned.has_value(),
                              .size = buffer.size,
                              .alignment = buffer.alignment,
                              .live = buffer.live,
                              .candidates = {}};
  for (const PoolId pool : buffer.candidates) result.candidates.push_back(problem.pool(pool).name);
  return result;
}

PlanDocument::Step step_of(const transform::StepResult& step) {
  PlanDocument::Step result{std::string(transform::name_of(step.step)), step.load_before, step.load_after, {}, {}};
  for (const transform::Change& change : step.changes) result.changes.push_back({change.function, change.text});
  result.extra_work_permille = step.extra_work_permille;
  result.left_out = step.left_out;
  result.constants = step.constants;
  return result;
}

// Which pool was made small first, and how the search ended.
PlanDocument::Search search_of(const Summary& summary) {
  PlanDocument::Search search{.minimized = {}, .stopped = summary.stopped, .iterations = summary.iterations};
  if (summary.minimized) search.minimized = summary.assembly->problem.pool(*summary.minimized).name;
  return search;
}

}  // namespace

const PlanDocument::Pool* PlanDocument::find_pool(std::string_view name) const {
  const auto found = std::find_if(pools.begin(), pools.end(), [&](const Pool& pool) { return pool.name == name; });
  return found == pools.end() ? nullptr : &*found;
}

PlanDocument plan_document(const Summary& summary) {
  const Problem& problem = summary.assembly->problem;
  assert(summary.plan->allocations.size() == problem.buffers.size());
  PlanDocument document;
  document.module = summary.module;
  document.archive = summary.archive;
  document.algorithm = summary.algorithm;
  document.seed = summary.seed;
  document.workspace_io = summary.workspace_io;
  document.status = summary.status;
  document.search = search_of(summary);
  document.horizon = problem.horizon;
  document.workspace_used = summary.workspace_used();
  document.constants_used = summary.constants_used();
  document.unplanned_workspace = summary.unplanned_workspace;
  for (std::size_t r = 0; r < summary.spilled.size(); ++r) {
    document.spilled.push_back({summary.spilled[r], summary.spilled_bound[r]});
  }
  for (const PoolId pool : summary.pool_order()) document.pools.push_back(pool_of(summary, pool));
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    document.buffers.push_back(buffer_of(summary, BufferId(i)));
  }
  document.distances = problem.distances;
  for (const liveness::Call& call : summary.analysis->calls) document.calls.push_back({call.callee, call.ticks});
  for (const liveness::Unplanned& allocate : summary.analysis->unplanned) {
    document.unplanned.push_back({allocate.name, summary.function_name(allocate.function), allocate.reason});
  }
  document.imported_c = imported_c(summary);
  for (const transform::StepResult& step : summary.transformed) document.transformed.push_back(step_of(step));
  document.warnings = summary.warnings;
  return document;
}

assemble::EarlierPlan earlier_plan(PlanDocument document) {
  assemble::EarlierPlan plan;
  plan.module = std::move(document.module);
  plan.workspace_io = document.workspace_io;
  plan.places.reserve(document.buffers.size());
  for (PlanDocument::Buffer& buffer : document.buffers) {
    plan.places.push_back({.buffer = std::move(buffer.name),
                           .function = std::move(buffer.function),
                           .pool = std::move(buffer.pool),
                           .size = buffer.size,
                           .offset = buffer.offset,
                           .live = std::move(buffer.live)});
  }
  return plan;
}

}  // namespace usmp::report

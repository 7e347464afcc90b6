// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Copies the result into the document, with costs, proved bounds, accesses and calls.
#include "usmp/pipeline/plan_document.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "usmp/bounds/proved.hpp"
#include "usmp/operators/operators.hpp"
#include "usmp/support/text.hpp"

namespace usmp::pipeline {
namespace {

using plan_file::ImportedC;
using plan_file::PlanDocument;

// Workspace pools, then parameter pools, each in the problem's order.
std::vector<PoolId> pool_order(const Problem& problem) {
  std::vector<PoolId> order;
  for (const PoolKind kind : {PoolKind::workspace, PoolKind::constant}) {
    for (std::size_t i = 0; i < problem.pools.size(); ++i) {
      if (problem.pools[i].kind == kind) order.emplace_back(i);
    }
  }
  return order;
}

PlanDocument::Pool pool_of(const assemble::Assembly& assembly, PoolId id, Bytes used, const bounds::PoolBound& bound,
                           PlanStatus status) {
  const Pool& pool = assembly.problem.pool(id);
  const config::PoolSpec& spec = assembly.pools[id.index()];
  const bool has_plan = status == PlanStatus::feasible || status == PlanStatus::optimal;
  const PlanStatus of_plan = used == bound.bytes ? PlanStatus::optimal : PlanStatus::feasible;
  return {.name = pool.name,
          .kind = pool.kind,
          .internal = spec.internal,
          .section = spec.section,
          .capacity = pool.capacity,
          .alignment = pool.alignment,
          .reserved = pool.reserved,
          .beside = spec.beside,
          .used = used,
          .lower_bound = bound.bytes,
          .lower_bound_reason = bound.reason,
          .status = has_plan ? of_plan : status};
}

PlanDocument::Buffer buffer_of(const Problem& problem, const Plan& plan, BufferId id) {
  const Buffer& buffer = problem.buffer(id);
  const Allocation& place = plan.of(id);
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

Bytes used_by_kind(const PlanDocument& document, PoolKind kind) {
  Bytes total = 0;
  for (const PlanDocument::Pool& pool : document.pools) {
    if (pool.kind == kind) total += std::max<Bytes>(0, pool.used - pool.beside);
  }
  return total;
}

// The first that says what the text is: no directive, comment or linkage, if there is any other.
std::string first_line_of(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  constexpr std::size_t longest = 60;
  std::string_view rest = trimmed(text, blanks);
  text = trimmed(first_line(rest), blanks);
  while (!rest.empty()) {
    const std::string_view line = first_line(rest);
    const bool says_little = line.starts_with('#') || line.starts_with("//") || line.starts_with("extern \"C\"");
    if (!says_little) {
      text = trimmed(line, blanks);
      break;
    }
    rest = trimmed(rest.substr(line.size()), blanks);
  }
  return std::string(text.substr(0, longest)) + (text.size() > longest ? "..." : "");
}

// The pragma_import_c sources in the order of the functions, each once as in the C.
std::vector<ImportedC> imported_c(const tir::Module& module) {
  std::vector<ImportedC> sources;
  std::set<std::string_view> known;
  for (const tir::Function& function : module.functions) {
    for (const std::string& text : function.imported_c) {
      if (!known.insert(text).second) continue;
      sources.push_back({.function = function.name, .bytes = text.size(), .first_line = first_line_of(text)});
    }
  }
  return sources;
}

std::vector<PlanDocument::Call> calls_of(const tir::Module& module, const liveness::Analysis& analysis,
                                         const std::vector<operators::Operator>& operators) {
  std::vector<PlanDocument::Call> calls;
  for (const liveness::Call& call : analysis.calls) {
    const operators::Operator one = operators::called_operator(module, operators, call.callee);
    calls.push_back({call.callee, call.ticks, one.kind, one.multiply_accumulates, one.reads, one.writes});
    const auto function = module.find(call.callee);
    if (!function) continue;
    for (const tir::RowOperator& part : module.functions[*function].by_rows) {
      calls.back().by_rows.push_back({part.number, part.function, part.kind});
    }
  }
  return calls;
}

// With every buffer where it costs least.
std::int64_t least_charge(const Problem& problem) {
  std::int64_t sum = 0;
  for (const Buffer& buffer : problem.buffers) sum += buffer.charges.front();
  return sum;
}

std::int64_t rounded_count(double count) {
  constexpr double most = 9e18;
  return static_cast<std::int64_t>(std::round(std::min(count, most)));
}

void add_accesses(PlanDocument& document, const assemble::Assembly& assembly, const Plan& plan) {
  const auto clock = assemble::fastest_clock(assembly.pools);
  for (std::size_t p = 0; p < assembly.pools.size(); ++p) {
    liveness::Traffic sum;
    for (std::size_t i = 0; i < plan.allocations.size(); ++i) {
      if (plan.allocations[i].pool != PoolId(p)) continue;
      const liveness::Traffic& one = assembly.traffic[i];
      sum = {sum.loads + one.loads, sum.stores + one.stores, sum.bytes_loaded + one.bytes_loaded,
             sum.bytes_stored + one.bytes_stored};
    }
    const config::Speed& speed = assembly.pools[p].speed;
    const auto named = [&](const PlanDocument::Pool& pool) { return pool.name == assembly.pools[p].name; };
    std::find_if(document.pools.begin(), document.pools.end(), named)->accesses = {
        .loads = rounded_count(sum.loads),
        .stores = rounded_count(sum.stores),
        .bytes = rounded_count(sum.bytes_loaded + sum.bytes_stored),
        .cycles =
            speed.is_known() ? std::optional(rounded_count(assemble::cycles_of(sum, speed, clock))) : std::nullopt};
  }
}

}  // namespace

Bytes constants_read(const liveness::Analysis& analysis) {
  Bytes total = 0;
  for (const liveness::Site& site : analysis.sites) {
    if (site.kind == BufferKind::constant && !site.live.empty()) total += site.size;
  }
  return total;
}

PlanDocument plan_document(const tir::Module& module, const std::vector<operators::Operator>& operators,
                           const liveness::Analysis& analysis, const assemble::Assembly& assembly,
                           const PlanResult& result, const std::string& algorithm) {
  const Problem& problem = assembly.problem;
  assert(result.plan.allocations.size() == problem.buffers.size());
  const Cost cost = cost_of(problem, result.plan);
  bounds::ProvedBounds proved = bounds::proved_bounds(problem, result, algorithm, bounds::pool_bounds(problem));
  proved.spilled.resize(cost.spilled.size(), 0);
  PlanDocument document;
  document.algorithm = algorithm;
  document.status = result.status;
  document.search = {.minimized = {}, .stopped = result.stopped, .iterations = result.iterations};
  document.horizon = problem.horizon;
  const std::size_t first = problem.charged ? 1 : 0;
  for (std::size_t r = first; r < cost.spilled.size(); ++r) {
    document.spilled.push_back({cost.spilled[r], proved.spilled[r]});
  }
  for (const PoolId id : pool_order(problem)) {
    document.pools.push_back(pool_of(assembly, id, cost.used[id.index()], proved.pools[id.index()], result.status));
  }
  if (problem.charged) {
    document.charge = {assembly.charges_cycles, cost.spilled[0], std::max(proved.spilled[0], least_charge(problem))};
    add_accesses(document, assembly, result.plan);
  }
  document.workspace_used = used_by_kind(document, PoolKind::workspace);
  document.constants_used = used_by_kind(document, PoolKind::constant);
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    document.buffers.push_back(buffer_of(problem, result.plan, BufferId(i)));
  }
  for (std::size_t i = 0; i < assembly.sites.size(); ++i) {
    const liveness::Site& site = analysis.sites[assembly.sites[i].index()];
    document.buffers[i].rows = liveness::rows_held(site);
    const std::vector<tir::RowOperator>& by_rows = module.functions[site.function].by_rows;
    if (site.row_operator && *site.row_operator < by_rows.size()) {
      document.buffers[i].row_operator = by_rows[*site.row_operator].number;
    }
  }
  document.distances = problem.distances;
  document.calls = calls_of(module, analysis, operators);
  document.multiply_accumulates = operators[module.entry].multiply_accumulates;
  document.constant_bytes = constants_read(analysis);
  for (const liveness::Unplanned& allocate : analysis.unplanned) {
    document.unplanned.push_back({allocate.name, module.functions[allocate.function].name, allocate.reason});
  }
  document.imported_c = imported_c(module);
  return document;
}

std::vector<PlanDocument::StepOutcome> steps_of(const std::vector<transform::StepResult>& steps) {
  std::vector<PlanDocument::StepOutcome> result;
  for (const transform::StepResult& step : steps) {
    PlanDocument::StepOutcome& row = result.emplace_back();
    row.step = transform::name_of(step.step);
    row.load_before = step.load_before;
    row.load_after = step.load_after;
    for (const transform::Change& change : step.changes) row.changes.push_back({change.function, change.text});
    row.extra_work_permille = step.extra_work_permille;
    row.left_out = step.left_out;
  }
  return result;
}

}  // namespace usmp::pipeline

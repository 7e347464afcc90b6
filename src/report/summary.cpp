#include "usmp/report/summary.hpp"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>

#include "report/proved.hpp"
#include "usmp/support/text.hpp"

namespace usmp::report {
namespace {

Bytes used_by_kind(const Summary& summary, PoolKind kind) {
  assert(summary.assembly != nullptr && summary.used.size() == summary.assembly->problem.pools.size());
  Bytes total = 0;
  for (std::size_t i = 0; i < summary.used.size(); ++i) {
    if (summary.assembly->problem.pools[i].kind == kind) total += summary.used[i];
  }
  return total;
}

std::string first_line_of(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  constexpr std::size_t longest = 60;
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  text = first_line(text);
  text = text.substr(0, text.find_last_not_of(blanks) + 1);
  return std::string(text.substr(0, longest)) + (text.size() > longest ? "..." : "");
}

}  // namespace

Bytes Summary::workspace_used() const { return used_by_kind(*this, PoolKind::workspace); }
Bytes Summary::constants_used() const { return used_by_kind(*this, PoolKind::constant); }

PlanStatus Summary::pool_status(PoolId pool) const {
  if (status != PlanStatus::feasible && status != PlanStatus::optimal) return status;
  return used[pool.index()] == bounds[pool.index()].bytes ? PlanStatus::optimal : PlanStatus::feasible;
}

void set_result(Summary& summary, const PlanResult& result, std::vector<bounds::PoolBound> loads) {
  const Problem& problem = summary.assembly->problem;
  Cost cost = cost_of(problem, result.plan);
  ProvedBounds proved = proved_bounds(problem, result, summary.algorithm, std::move(loads));
  summary.status = result.status;
  summary.stopped = result.stopped;
  summary.iterations = result.iterations;
  summary.plan = &result.plan;
  summary.bounds = std::move(proved.pools);
  summary.spilled_bound = std::move(proved.spilled);
  summary.spilled_bound.resize(cost.spilled.size(), 0);
  summary.used = std::move(cost.used);
  summary.spilled = std::move(cost.spilled);
}

std::vector<PoolId> Summary::pool_order() const {
  std::vector<PoolId> order;
  for (const PoolKind kind : {PoolKind::workspace, PoolKind::constant}) {
    for (std::size_t i = 0; i < assembly->problem.pools.size(); ++i) {
      if (assembly->problem.pools[i].kind == kind) order.emplace_back(i);
    }
  }
  return order;
}

std::string Summary::function_name(std::size_t index) const {
  return tir == nullptr ? std::string() : tir->functions[index].name;
}

std::vector<ImportedC> imported_c(const Summary& summary) {
  std::vector<ImportedC> sources;
  if (summary.tir == nullptr) return sources;
  for (const tir::Function& function : summary.tir->functions) {
    for (const std::string& text : function.imported_c) {
      sources.push_back({.function = function.name, .bytes = text.size(), .first_line = first_line_of(text)});
    }
  }
  return sources;
}

}  // namespace usmp::report

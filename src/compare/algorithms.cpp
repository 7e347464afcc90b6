// SPDX-License-Identifier: Apache-2.0
#include "usmp/compare/algorithms.hpp"

#include <algorithm>

namespace usmp::compare {
namespace {

using plan_file::PlanDocument;

bool same_spilled(const PlanDocument& a, const PlanDocument& b) {
  if (a.charge && b.charge && a.charge->value != b.charge->value) return false;
  return std::equal(a.spilled.begin(), a.spilled.end(), b.spilled.begin(), b.spilled.end(),
                    [](const auto& x, const auto& y) { return x.bytes == y.bytes; });
}

bool same_cost(const PlanDocument& a, const PlanDocument& b) {
  return same_spilled(a, b) && std::equal(a.pools.begin(), a.pools.end(), b.pools.begin(), b.pools.end(),
                                          [](const auto& x, const auto& y) { return x.used == y.used; });
}

// Whether what `prover` says of the least size of its pool holds for `plan` as well: it does for plans that are no
// worse in all that is more important than that pool. Documents list pools by kind, problems as the file and the module
// name them, so pools of the other kind have to agree as well as those in front.
bool bound_applies(const PlanDocument& prover, const PlanDocument& plan, std::size_t pool) {
  if (!same_spilled(prover, plan)) return false;
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    const bool counts = i < pool || (i != pool && plan.pools[i].kind != plan.pools[pool].kind);
    if (counts && prover.pools[i].used != plan.pools[i].used) return false;
  }
  return true;
}

AlgorithmResult result_of(const AlgorithmRun& run, const std::vector<AlgorithmRun>& runs) {
  AlgorithmResult result;
  result.algorithm = run.algorithm;
  result.time = run.time;
  if (!run.plan) return result;
  const PlanDocument& plan = *run.plan;
  result.status = plan.status;
  if (!plan.spilled.empty()) result.spilled = plan.spilled.front().bytes;
  for (const PlanDocument::Pool& pool : plan.pools) result.pools.push_back({pool.used, pool.lower_bound});
  for (const AlgorithmRun& other : runs) {
    if (!other.plan) continue;
    result.optimal = result.optimal || (other.plan->status == PlanStatus::optimal && same_cost(*other.plan, plan));
    for (std::size_t i = 0; i < plan.pools.size(); ++i) {
      const std::optional<Bytes>& bound = other.plan->pools[i].lower_bound;
      if (bound && bound_applies(*other.plan, plan, i)) {
        result.pools[i].lower_bound = std::max(result.pools[i].lower_bound.value_or(0), *bound);
      }
    }
  }
  return result;
}

}  // namespace

std::optional<double> PoolResult::ratio() const {
  if (!lower_bound || *lower_bound == 0) return std::nullopt;
  return static_cast<double>(used) / static_cast<double>(*lower_bound);
}

ModuleComparison compare_runs(const std::string& module, const std::vector<AlgorithmRun>& runs) {
  ModuleComparison comparison;
  comparison.module = module;
  for (const AlgorithmRun& run : runs) {
    comparison.results.push_back(result_of(run, runs));
    if (!run.plan || !comparison.pools.empty()) continue;
    for (const PlanDocument::Pool& pool : run.plan->pools)
      comparison.pools.push_back({pool.name, pool.kind, pool.capacity});
  }
  return comparison;
}

}  // namespace usmp::compare

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Raises the bounds of each plan to those of others that agree with it in all that counts more.
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

// Whether what a run says of the least size of its pool holds for `plan` as well: it does for plans that are no worse
// in all that is more important than that pool.
bool bound_applies(const AlgorithmRun& run, const PlanDocument& plan, std::size_t pool) {
  const PlanDocument& prover = *run.plan;
  const auto agrees = [&](std::size_t i) { return prover.pools[i].used == plan.pools[i].used; };
  const auto rank = [&](std::size_t i) {
    const auto found = std::ranges::find(run.pool_order, plan.pools[i].name);
    return run.pool_order.empty() ? static_cast<std::ptrdiff_t>(i) : found - run.pool_order.begin();
  };
  const auto is_minimized = [&](std::size_t i) {
    return prover.search && prover.search->minimized == plan.pools[i].name;
  };
  if (is_minimized(pool)) return true;
  if (!same_spilled(prover, plan)) return false;
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    if ((rank(i) < rank(pool) || is_minimized(i)) && !agrees(i)) return false;
  }
  return true;
}

bool spills_less(const PlanDocument& a, const PlanDocument& b) {
  if (a.charge && b.charge && a.charge->value != b.charge->value) return a.charge->value < b.charge->value;
  return std::ranges::lexicographical_compare(a.spilled, b.spilled, {}, &PlanDocument::Spilled::bytes,
                                              &PlanDocument::Spilled::bytes);
}

bool is_one_of_several(const PlanDocument& plan, const std::string& pool) {
  return std::ranges::any_of(plan.buffers, [&](const PlanDocument::Buffer& buffer) {
    return buffer.candidates.size() > 1 && std::ranges::find(buffer.candidates, pool) != buffer.candidates.end();
  });
}

AlgorithmResult result_of(const AlgorithmRun& run, const std::vector<AlgorithmRun>& runs) {
  AlgorithmResult result;
  result.algorithm = run.algorithm;
  result.time = run.time;
  if (!run.plan) return result;
  const PlanDocument& plan = *run.plan;
  result.status = plan.status;
  if (!plan.spilled.empty()) result.spilled = plan.spilled.front().bytes;
  const bool spills_least = std::ranges::none_of(
      runs, [&](const AlgorithmRun& other) { return other.plan && spills_less(*other.plan, plan); });
  for (const PlanDocument::Pool& pool : plan.pools) {
    const bool minimized = plan.search && plan.search->minimized == pool.name;
    const bool is_measured = spills_least || minimized || !is_one_of_several(plan, pool.name);
    result.pools.push_back({pool.used, pool.lower_bound, is_measured});
  }
  for (const AlgorithmRun& other : runs) {
    if (!other.plan) continue;
    result.optimal = result.optimal || (other.plan->status == PlanStatus::optimal && same_cost(*other.plan, plan));
    for (std::size_t i = 0; i < plan.pools.size(); ++i) {
      const std::optional<Bytes>& bound = other.plan->pools[i].lower_bound;
      if (bound && bound_applies(other, plan, i)) {
        result.pools[i].lower_bound = std::max(result.pools[i].lower_bound.value_or(0), *bound);
      }
    }
  }
  return result;
}

}  // namespace

std::optional<double> PoolResult::ratio() const {
  if (!is_measured || !lower_bound || *lower_bound == 0) return std::nullopt;
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

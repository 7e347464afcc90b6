// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Packs the cheapest assignments pool by pool, and cuts off those that cannot be packed, until one can.
#include "planners/exact/pools.hpp"

#include <algorithm>
#include <numeric>

#include "planners/exact/assignment.hpp"
#include "planners/exact/pool_packer.hpp"
#include "planners/proof.hpp"
#include "usmp/bounds/bounds.hpp"

namespace usmp::planners::exact {
namespace {

// States that the dynamic programme keeps at first: enough for networks.
constexpr std::size_t first_states = std::size_t{1} << 12U;

// What holds for every complete plan, entry by entry.
Cost weak_bound(const Problem& problem, const Group& group) {
  Cost bound = ideal(problem, group);
  std::fill(bound.used.begin(), bound.used.end(), 0);
  const auto pools = bounds::pool_bounds(problem);
  for (const PoolId pool : group.pools) bound.used[pool.index()] = pools[pool.index()].bytes;
  return bound;
}

// Entries of sections that a search takes on: beyond, it would need more memory and time than a plan is worth.
constexpr std::uint64_t most_entries = 4'000'000;

bool is_complete(const Plan* plan, const Group& group) {
  return plan != nullptr &&
         std::all_of(group.buffers.begin(), group.buffers.end(), [&](BufferId id) { return plan->of(id).placed(); });
}

// The plan to start from, and what is known without a search.
PlanResult without_search(const Problem& problem, const Group& group, const Plan* start) {
  PlanResult result{.status = PlanStatus::not_found, .plan = {}, .stopped = StopReason::node_limit};
  if (!is_complete(start, group)) return result;
  result.plan.allocations.resize(problem.buffers.size());
  for (const BufferId id : group.buffers) result.plan.allocations[id.index()] = start->of(id);
  result.bound = weak_bound(problem, group);
  result.status = *result.bound == cost_of(problem, result.plan) ? PlanStatus::optimal : PlanStatus::feasible;
  if (result.status == PlanStatus::optimal) result.stopped = StopReason::finished;
  return result;
}

class PoolSearch {
 public:
  PoolSearch(const Problem& problem, const Group& group, Budget& budget, const Effort& effort)
      : problem_(problem),
        group_(group),
        budget_(budget),
        any_plan_(effort.any_plan),
        states_(effort.states),
        progress_(effort.progress),
        width_(std::min(first_states, effort.states)),
        model_(problem, group),
        packer_(problem, budget, effort.patience),
        weak_(weak_bound(problem, group)),
        lower_(group.pools.size()) {
    for (const PoolId pool : group.pools) {
      limits_.push_back(problem.pool(pool).capacity.value_or(Problem::max_total_bytes));
    }
  }

  PlanResult run(const Plan* start) {
    if (!model_.possible) return {.status = PlanStatus::infeasible, .plan = {}};
    if (is_complete(start, group_)) note(*start);
    for (std::size_t pool = 0; pool < model_.pools.size(); ++pool) {
      if (is_enough()) break;
      const bool settled = settle(pool);
      if (!has_plan_) return {.status = settled ? PlanStatus::infeasible : PlanStatus::not_found, .plan = {}};
      if (!spill_is_settled(pool)) break;
      limits_[pool] = cost_.used[group_.pools[pool].index()];
    }
    return conclude();
  }

 private:
  using Share = std::vector<BufferId>;  // what one pool has to hold, ascending

  void note(const Plan& plan) {
    Plan own{std::vector<Allocation>(problem_.buffers.size())};
    for (const BufferId id : group_.buffers) own.allocations[id.index()] = plan.of(id);
    Cost cost = cost_of(problem_, own);
    if (has_plan_ && cost_ <= cost) return;
    plan_ = std::move(own);
    cost_ = std::move(cost);
    has_plan_ = true;
  }

  [[nodiscard]] bool is_enough() const { return any_plan_ && has_plan_; }

  [[nodiscard]] bool spill_is_settled(std::size_t pool) const {
    const std::vector<Bytes>& lower = lower_[pool];
    return !lower.empty() && std::equal(cost_.spilled.begin(), cost_.spilled.end(), lower.begin());
  }

  // The part of the best plan's cost that is settled with a pool.
  [[nodiscard]] std::vector<Bytes> cost_at(std::size_t pool) const {
    std::vector<Bytes> cost = cost_.spilled;
    cost.push_back(cost_.used[group_.pools[pool].index()]);
    return cost;
  }

  // What every plan within the limits costs, seen without a search.
  [[nodiscard]] std::vector<Bytes> least_cost(std::size_t objective) const {
    std::vector<Bytes> cost = model_.fixed_spill;
    Bytes height = std::max(model_.base[objective], weak_.used[group_.pools[objective].index()]);
    if (!cost.empty()) {
      cost.front() = least_spill(model_, limits_);
      const bool is_least = has_plan_ && cost_.spilled.front() == cost.front() && !model_.charged;
      if (is_least) height = std::max(height, least_height(model_, objective, cost.front()));
    }
    cost.push_back(height);
    return cost;
  }

  // Looks for plans that are cheaper up to this pool until there is none, or the search has to give up: then false.
  bool settle(std::size_t objective) {
    assumed_.clear();
    lower_[objective] = least_cost(objective);
    if (has_plan_ && lower_[objective] == cost_at(objective)) return true;
    for (;;) {
      if (progress_ && has_plan_) {
        const PoolId pool = group_.pools[objective];
        const bool spill_settled = spill_is_settled(objective);
        progress_(pool, spill_settled ? lower_[objective].back() : 0, cost_.used[pool.index()]);
      }
      std::vector<Cut> cuts = cuts_;
      cuts.insert(cuts.end(), assumed_.begin(), assumed_.end());
      const Query query{.limits = limits_,
                        .objective = objective,
                        .cuts = cuts,
                        .below = has_plan_ ? cost_at(objective) : std::vector<Bytes>{},
                        .width = width_};
      const std::uint64_t before = budget_.spent();
      const Relaxed next = cheapest_assignment(model_, query, budget_);
      if (next.aborted) return false;
      if (assumed_.empty() && (next.exists() || has_plan_)) {
        lower_[objective] = std::max(lower_[objective], next.exists() ? next.cost : cost_at(objective));
      }
      const bool can_widen = width_ < states_ && 5 * (budget_.spent() - before) < budget_.left();
      if (next.exists() && !next.exact && can_widen) {
        width_ = std::min(4 * width_, states_);
        continue;
      }
      if (!next.exists()) {
        if (assumed_.empty()) return true;
        // Ask again what was too hard, with more patience.
        if (packer_.share() >= budget_.left()) return false;
        packer_.raise_share();
        assumed_.clear();
        continue;
      }
      if (!try_to_pack(next, objective) || is_enough()) return false;
    }
  }

  [[nodiscard]] std::vector<Share> shares_of(const std::vector<std::size_t>& assignment) const {
    std::vector<Share> shares(group_.pools.size());
    for (std::size_t k = 0; k < group_.buffers.size(); ++k) {
      const Buffer& buffer = problem_.buffer(group_.buffers[k]);
      const bool takes_room = buffer.size > 0 && !buffer.live.empty();
      if (takes_room && model_.fixed_pool[k] != AssignmentModel::none) {
        shares[model_.fixed_pool[k]].push_back(group_.buffers[k]);
      }
    }
    for (std::size_t d = 0; d < assignment.size(); ++d) shares[assignment[d]].push_back(model_.decisions[d].buffer);
    for (Share& share : shares) std::sort(share.begin(), share.end());
    return shares;
  }

  // A plan that has the buffers which conflict with nothing where they are wanted most.
  [[nodiscard]] Plan start_of_plan() const {
    Plan plan{std::vector<Allocation>(problem_.buffers.size())};
    for (std::size_t k = 0; k < group_.buffers.size(); ++k) {
      const std::size_t p = model_.fixed_pool[k];
      if (p == AssignmentModel::none) continue;
      const Buffer& buffer = problem_.buffer(group_.buffers[k]);
      const PoolId pool = group_.pools[p];
      plan.allocations[group_.buffers[k].index()] = {pool,
                                                     buffer.pinned.value_or(first_offset(buffer, problem_.pool(pool)))};
    }
    return plan;
  }

  void put(Plan& plan, std::size_t pool, const Share& share, const std::vector<Bytes>& offsets) const {
    for (std::size_t i = 0; i < share.size(); ++i) {
      plan.allocations[share[i].index()] = {group_.pools[pool], offsets[i]};
    }
  }

  // Packs the pools, the objective's last. What cannot be packed becomes a cut; false if that leads nowhere.
  bool try_to_pack(const Relaxed& relaxed, std::size_t objective) {
    const std::vector<Share> shares = shares_of(relaxed.assignment);
    Plan plan = start_of_plan();
    std::vector<Bytes> offsets;
    for (std::size_t pool = 0; pool < shares.size(); ++pool) {
      if (pool == objective) continue;
      const Verdict verdict = packer_.fit(group_.pools[pool], shares[pool], limits_[pool], offsets);
      if (verdict != Verdict::found) return exclude(relaxed, pool, shares[pool], limits_[pool], verdict);
      put(plan, pool, shares[pool], offsets);
    }
    const Share& share = shares[objective];
    const Verdict verdict = packer_.fit(group_.pools[objective], share, relaxed.cost.back(), offsets);
    if (verdict != Verdict::found) {
      const Minimum& minimum = packer_.minimise(group_.pools[objective], share);
      if (minimum.upper <= limits_[objective]) {
        put(plan, objective, share, minimum.offsets);
        note(plan);
      }
      return exclude(relaxed, objective, share, relaxed.cost.back(), verdict);
    }
    put(plan, objective, share, offsets);
    note(plan);
    return true;
  }

  bool exclude(const Relaxed& relaxed, std::size_t pool, const Share& share, Bytes height, Verdict verdict) {
    Cut cut{.pool = pool, .decisions = {}, .height = Problem::max_total_bytes + 1};
    for (std::uint32_t d = 0; d < relaxed.assignment.size(); ++d) {
      if (relaxed.assignment[d] == pool) cut.decisions.push_back(d);
    }
    std::vector<Cut>& cuts = verdict == Verdict::impossible ? cuts_ : assumed_;
    if (verdict == Verdict::impossible) shrink(cut, share, height);
    const bool known = std::any_of(cuts.begin(), cuts.end(), [&](const Cut& other) {
      return other.pool == cut.pool && other.decisions == cut.decisions && other.height >= cut.height;
    });
    if (known) return false;  // forgotten by a narrow search: it would come back for ever
    cuts.push_back(std::move(cut));
    return true;
  }

  // Leaves out of the cut what it does not need to be too high, and says how high it is.
  void shrink(Cut& cut, const Share& share, Bytes height) {
    std::vector<std::uint32_t>& kept = cut.decisions;
    const std::vector<std::uint32_t> all = kept;
    const auto share_with = [&](const std::vector<std::uint32_t>& decisions) {
      Share part;
      for (const BufferId id : share) {
        const auto is = [&](std::uint32_t d) { return model_.decisions[d].buffer == id; };
        const bool open = std::any_of(all.begin(), all.end(), is);
        if (!open || std::any_of(decisions.begin(), decisions.end(), is)) part.push_back(id);
      }
      return part;
    };
    std::vector<Bytes> offsets;
    for (std::size_t chunk = std::max<std::size_t>(1, kept.size() / 2); chunk > 0; chunk /= 2) {
      for (std::size_t from = 0; from < kept.size();) {
        std::vector<std::uint32_t> rest = kept;
        const auto begin = rest.begin() + static_cast<std::ptrdiff_t>(from);
        rest.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(chunk, rest.size() - from)));
        if (packer_.fit(group_.pools[cut.pool], share_with(rest), height, offsets) == Verdict::impossible) {
          kept = std::move(rest);
        } else {
          from += chunk;
        }
      }
    }
    cut.height = std::max(height + 1, packer_.minimise(group_.pools[cut.pool], share_with(kept)).lower);
  }

  [[nodiscard]] PlanResult conclude() const {
    Cost bound = weak_;
    for (std::size_t pool = 0; pool < lower_.size() && !lower_[pool].empty(); ++pool) {
      bool settled = true;
      for (std::size_t r = 0; r < bound.spilled.size() && settled; ++r) {
        bound.spilled[r] = std::max(bound.spilled[r], lower_[pool][r]);
        settled = bound.spilled[r] == cost_.spilled[r];
      }
      if (!settled) break;
      Bytes& used = bound.used[group_.pools[pool].index()];
      used = std::max(used, lower_[pool].back());
    }
    PlanResult result{.status = bound == cost_ ? PlanStatus::optimal : PlanStatus::feasible, .plan = plan_};
    result.bound = std::move(bound);
    return result;
  }

  const Problem& problem_;
  const Group& group_;
  Budget& budget_;
  bool any_plan_;
  std::size_t states_;  // that the dynamic programme may keep
  const std::function<void(PoolId, Bytes, Bytes)>& progress_;
  std::size_t width_;  // and that it keeps by now
  AssignmentModel model_;
  PoolPacker packer_;
  Cost weak_;                              // what holds for every complete plan
  std::vector<Bytes> limits_;              // by pool; of those that are settled, what the best plan uses
  std::vector<std::vector<Bytes>> lower_;  // by pool: no plan within the limits costs less, as in Relaxed
  std::vector<Cut> cuts_;                  // proved
  std::vector<Cut> assumed_;               // of assignments whose packing was given up
  Plan plan_;
  Cost cost_;
  bool has_plan_ = false;
};

}  // namespace

PlanResult plan_pools(const Problem& problem, const Group& group, const Plan* start, Budget& budget,
                      const Effort& effort) {
  if (section_entries(problem, group) > most_entries) return without_search(problem, group, start);
  const std::uint64_t before = budget.spent();
  PlanResult result = PoolSearch(problem, group, budget, effort).run(start);
  result.iterations = budget.spent() - before;
  const bool unproved = result.status == PlanStatus::feasible || result.status == PlanStatus::not_found;
  if (unproved && !(effort.any_plan && result.has_plan())) {
    // A question may have been given up before the budget was exhausted.
    result.stopped = budget.exhausted() ? budget.reason() : StopReason::node_limit;
  }
  return result;
}

void add(Cost& sum, const Cost& part) {
  for (std::size_t r = 0; r < sum.spilled.size(); ++r) sum.spilled[r] += part.spilled[r];
  for (std::size_t p = 0; p < sum.used.size(); ++p) sum.used[p] += part.used[p];
}

Cost bound_of_all(const Problem& problem, std::span<const Group> groups, Cost sum, const Cost& cost) {
  if (sum.spilled == cost.spilled) return sum;
  Cost weak{.spilled = std::vector<Bytes>(cost.spilled.size(), 0), .used = std::vector<Bytes>(cost.used.size(), 0)};
  for (const Group& group : groups) add(weak, weak_bound(problem, group));
  bool settled = true;
  for (std::size_t r = 0; r < sum.spilled.size(); ++r) {
    if (!settled) sum.spilled[r] = weak.spilled[r];
    settled = settled && sum.spilled[r] == cost.spilled[r];
  }
  sum.used = std::move(weak.used);
  return sum;
}

PlanResult plan_all_pools(const Problem& problem, const Plan* start, Budget& budget, const Effort& effort) {
  PlanResult all{.status = PlanStatus::optimal, .plan = {std::vector<Allocation>(problem.buffers.size())}};
  const std::vector<Group> groups = split_by_pools(problem);
  Cost bound = cost_of(problem, all.plan);
  for (const Group& group : groups) {
    const PlanResult part = plan_pools(problem, group, start, budget, effort);
    all.iterations += part.iterations;
    if (part.stopped != StopReason::finished) all.stopped = part.stopped;
    const bool worse = part.status == PlanStatus::infeasible ||
                       (part.status == PlanStatus::not_found && all.status != PlanStatus::infeasible) ||
                       (part.status == PlanStatus::feasible && all.status == PlanStatus::optimal);
    if (worse) all.status = part.status;
    if (!part.has_plan()) continue;
    for (const BufferId id : group.buffers) all.plan.allocations[id.index()] = part.plan.of(id);
    add(bound, *part.bound);
  }
  if (!all.has_plan()) {
    all.plan = {};
    return all;
  }
  all.bound = bound_of_all(problem, groups, std::move(bound), cost_of(problem, all.plan));
  return all;
}

}  // namespace usmp::planners::exact

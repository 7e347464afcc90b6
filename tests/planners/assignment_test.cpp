// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The dynamic programme over assignments, against all assignments one by one.
#include "planners/exact/assignment.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "planning_support/random_problem.hpp"
#include "usmp/bounds/load.hpp"

namespace usmp::planners::assignment_test {

using namespace usmp::planners::exact;

namespace {

// What an assignment costs, from the definition; nothing if a pool is too high.
class Judge {
 public:
  Judge(const Problem& problem, const Group& group, const AssignmentModel& model, const Query& query)
      : problem_(problem), group_(group), model_(model), query_(query) {}

  std::vector<Bytes> cheapest() {
    std::vector<std::size_t> option(model_.decisions.size(), 0);
    std::vector<Bytes> best;
    while (true) {
      const std::vector<Bytes> cost = cost_of_options(option);
      if (!cost.empty() && (best.empty() || cost < best)) best = cost;
      std::size_t d = 0;
      while (d < option.size() && ++option[d] == model_.decisions[d].pools.size()) option[d++] = 0;
      if (d == option.size()) return best;
    }
  }

  std::vector<Bytes> cost_of_pools(const std::vector<std::size_t>& pools) {
    std::vector<std::size_t> option;
    for (std::size_t d = 0; d < pools.size(); ++d) {
      const auto& list = model_.decisions[d].pools;
      option.push_back(static_cast<std::size_t>(std::find(list.begin(), list.end(), pools[d]) - list.begin()));
    }
    return cost_of_options(option);
  }

 private:
  std::vector<Bytes> cost_of_options(const std::vector<std::size_t>& option) {
    std::vector<Bytes> cost = model_.fixed_spill;
    std::vector<std::vector<BufferId>> shares(group_.pools.size());
    for (std::size_t k = 0; k < group_.buffers.size(); ++k) {
      if (model_.fixed_pool[k] != AssignmentModel::none) shares[model_.fixed_pool[k]].push_back(group_.buffers[k]);
    }
    for (std::size_t d = 0; d < option.size(); ++d) {
      const Decision& decision = model_.decisions[d];
      shares[decision.pools[option[d]]].push_back(decision.buffer);
      const std::size_t bytes = problem_.charged ? 1 : 0;
      if (problem_.charged) cost[0] += problem_.buffer(decision.buffer).charges[decision.ranks[option[d]]];
      for (std::size_t r = 0; r < decision.ranks[option[d]]; ++r) {
        cost[bytes + r] += problem_.buffer(decision.buffer).size;
      }
    }
    for (std::size_t p = 0; p < shares.size(); ++p) {
      const Bytes height = std::max(height_of(p, shares[p]), cut_height(p, option));
      if (height > query_.limits[p]) return {};
      if (p == query_.objective) cost.push_back(height);
    }
    return cost;
  }

  Bytes height_of(std::size_t p, const std::vector<BufferId>& share) {
    const Pool& pool = problem_.pool(group_.pools[p]);
    std::vector<BufferId> may;
    for (const BufferId id : group_.buffers) {
      const auto& list = problem_.buffer(id).candidates;
      if (std::find(list.begin(), list.end(), group_.pools[p]) != list.end()) may.push_back(id);
    }
    const Bytes granule = bounds::common_alignment(problem_, may, pool);
    Bytes height = model_.base[p];
    for (const BufferId id : share) {
      const Buffer& buffer = problem_.buffer(id);
      if (!buffer.pinned) height = std::max(height, first_offset(buffer, pool) + buffer.size);
    }
    for (Tick tick = 0; tick < problem_.horizon; ++tick) {
      Bytes sum = 0;
      Bytes rounding = 0;
      for (const BufferId id : share) {
        const Buffer& buffer = problem_.buffer(id);
        if (!overlap(buffer.live, {{tick, tick + 1}})) continue;
        const Bytes rounded = align_up(buffer.size, granule);
        sum += rounded;
        rounding = std::max(rounding, rounded - buffer.size);
      }
      if (sum > 0) height = std::max(height, align_up(pool.reserved, granule) + sum - rounding);
    }
    return height;
  }

  Bytes cut_height(std::size_t p, const std::vector<std::size_t>& option) {
    Bytes height = 0;
    for (const Cut& cut : query_.cuts) {
      const bool all = std::all_of(cut.decisions.begin(), cut.decisions.end(),
                                   [&](std::uint32_t d) { return model_.decisions[d].pools[option[d]] == cut.pool; });
      if (cut.pool == p && all) height = std::max(height, cut.height);
    }
    return height;
  }

  const Problem& problem_;
  const Group& group_;
  const AssignmentModel& model_;
  const Query& query_;
};

std::vector<Cut> random_cuts(test::ProblemMaker& maker, const AssignmentModel& model) {
  std::vector<Cut> cuts;
  for (std::size_t n = maker.below(4); n > 0; --n) {
    Cut cut{.pool = maker.below(model.pools.size()), .decisions = {}, .height = static_cast<Bytes>(maker.below(150))};
    for (std::uint32_t d = 0; d < model.decisions.size(); ++d) {
      if (maker.below(3) == 0) cut.decisions.push_back(d);
    }
    cuts.push_back(std::move(cut));
  }
  return cuts;
}

struct Tally {
  int found = 0;
  int none = 0;
  int narrow = 0;        // some choice was forgotten
  int beyond = 0;        // and the assignment is really impossible or dearer
  int spill_known = 0;   // the bound on what spills is reached
  int height_known = 0;  // so is the one on the height, given what spills
};

void check_one(test::ProblemMaker& maker, const Problem& problem, const Group& group, Tally& tally) {
  const AssignmentModel model(problem, group);
  if (!model.possible) return;
  const std::vector<Cut> cuts = random_cuts(maker, model);
  Query query{.limits = {}, .objective = maker.below(group.pools.size()), .cuts = cuts, .below = {}};
  for (const PoolId pool : group.pools) {
    query.limits.push_back(problem.pool(pool).capacity.value_or(Problem::max_total_bytes));
  }
  Judge judge(problem, group, model, query);
  const std::vector<Bytes> truth = judge.cheapest();
  Budget budget(1'000'000);
  const Relaxed exact = cheapest_assignment(model, query, budget);
  REQUIRE(exact.exact);
  REQUIRE((exact.cost == truth));
  if (exact.exists()) CHECK((judge.cost_of_pools(exact.assignment) == truth));
  ++(exact.exists() ? tally.found : tally.none);

  if (exact.exists() && !model.fixed_spill.empty()) {
    const Bytes spill = least_spill(model, query.limits);
    CHECK(spill <= truth.front());
    if (spill == truth.front() && spill > model.fixed_spill.front()) ++tally.spill_known;
    if (!model.charged) {
      const Bytes height = least_height(model, query.objective, truth.front());
      CHECK(height <= truth.back());
      if (height == truth.back() && height > model.base[query.objective]) ++tally.height_known;
    }
  }

  query.width = 1 + maker.below(3);
  const Relaxed relaxed = cheapest_assignment(model, query, budget);
  if (exact.exists()) {
    REQUIRE(relaxed.exists());
    CHECK(relaxed.cost <= truth);
    if (relaxed.exact) CHECK((relaxed.cost == truth));
    if (!relaxed.exact) ++tally.narrow;
    if (judge.cost_of_pools(relaxed.assignment) != relaxed.cost) ++tally.beyond;
  }
  query.width = Query().width;
  query.below = truth;
  if (exact.exists()) CHECK_FALSE(cheapest_assignment(model, query, budget).exists());
}

}  // namespace

TEST_CASE("the cheapest assignment is that of all; forgetting only lowers the cost") {
  test::ProblemMaker maker(311);
  Tally tally;
  for (int i = 0; i < 4500; ++i) {
    const Problem problem = maker.make({.buffers = 8,
                                        .pools = 2 + maker.below(2),
                                        .bounded = true,
                                        .pins = i % 3 == 0,
                                        .horizon = 4 + static_cast<Tick>(maker.below(12)),
                                        .charged = i >= 3000});
    INFO("problem ", i);
    for (const Group& group : split_by_pools(problem)) check_one(maker, problem, group, tally);
  }
  CHECK(tally.found > 1000);
  CHECK(tally.none > 200);
  CHECK(tally.narrow > 500);
  CHECK(tally.beyond > 50);
  CHECK(tally.spill_known > 10);
  CHECK(tally.height_known > 10);
}

TEST_CASE("buffers that die together are counted as sums: the cheapest assignment is that of all") {
  test::ProblemMaker maker(313);
  Tally tally;
  int sums = 0;
  int early = 0;  // sums that end before others begin
  for (int i = 0; i < 800; ++i) {
    Problem problem = maker.make({.buffers = 10,
                                  .pools = 2 + maker.below(2),
                                  .bounded = true,
                                  .horizon = 12 + static_cast<Tick>(maker.below(8)),
                                  .charged = i % 4 == 0});
    const auto end = static_cast<Tick>(4 + maker.below(4));
    for (std::size_t k = 0; k < 7; ++k) problem.buffers[k].live = {{static_cast<Tick>(maker.below(4)), end}};
    INFO("problem ", i);
    for (const Group& group : split_by_pools(problem)) {
      const AssignmentModel model(problem, group);
      for (const Sum& sum : model.sums) {
        ++sums;
        if (sum.last + 1 < model.sections.size()) ++early;
      }
      check_one(maker, problem, group, tally);
    }
  }
  CHECK(tally.found > 200);
  CHECK(tally.none > 20);
  CHECK(sums > early);
  CHECK(early > 40);
}

TEST_CASE("a budget that is exhausted says so") {
  test::ProblemMaker maker(312);
  const Problem problem = maker.make({.buffers = 8, .pools = 1, .horizon = 6});
  Problem two = problem;
  two.pools.push_back({.name = "other"});
  for (Buffer& buffer : two.buffers) buffer.candidates = {PoolId(0), PoolId(1)};
  const std::vector<Group> groups = split_by_pools(two);
  const AssignmentModel model(two, groups.front());
  const Bytes limit = Problem::max_total_bytes;
  Budget budget(3);
  const Relaxed result = cheapest_assignment(model, {.limits = {limit, limit}, .objective = 0}, budget);
  CHECK(result.aborted);
  CHECK_FALSE(result.exists());
}

}  // namespace usmp::planners::assignment_test

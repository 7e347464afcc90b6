// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans of charged problems, in which what a buffer costs in its pool counts before sizes, against trying everything.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "planners/exact/pools.hpp"
#include "planning_support/claims.hpp"
#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/planners/charged.hpp"
#include "usmp/planners/minimize_pool.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/verify/claims.hpp"

namespace usmp::planners::charges_test {
namespace {

struct Tally {
  int optimal = 0;
  int infeasible = 0;
};

// Whether the plan with the least bytes outside first choices is charged more than this.
bool is_dearer_by_size(const Problem& problem, Bytes charge) {
  const PlanResult result = planners::optimal(uncharged(problem), {});
  return cost_of(problem, result.plan).spilled[0] > charge;
}

Tally compare(std::uint64_t seed, int count, test::Shape shape) {
  test::ProblemMaker maker(seed);
  Tally tally;
  shape.charged = true;
  for (int i = 0; i < count; ++i) {
    const Problem problem = maker.make(shape);
    INFO("seed ", seed, " problem ", i);
    REQUIRE_FALSE(invalid_reason(problem).has_value());
    const test::Truth truth = test::truth_of(problem);
    for (const Algorithm& algorithm : algorithms()) {
      INFO("algorithm ", algorithm.name);
      const PlanResult result = algorithm.plan(problem, {});
      test::check_against(problem, result, truth);
      CHECK(verify::false_claims(problem, result).empty());
    }
    const PlanResult result = planners::optimal(problem, {});
    REQUIRE(result.status == (truth.best ? PlanStatus::optimal : PlanStatus::infeasible));
    ++(truth.best ? tally.optimal : tally.infeasible);
  }
  return tally;
}

// Constants, all live all the time: who goes into which pool, by trying all pools for each and, in each pool, all
// orders in which they may lie.
class Knapsack {
 public:
  explicit Knapsack(const Problem& problem) : problem_(problem), pool_of_(problem.buffers.size(), 0) {}

  std::optional<Bytes> least_charge() {
    std::optional<Bytes> best;
    for (;;) {
      if (const auto charge = charge_of_choice(); charge && (!best || *charge < *best)) best = charge;
      std::size_t i = 0;
      while (i < pool_of_.size() && ++pool_of_[i] == problem_.pools.size()) pool_of_[i++] = 0;
      if (i == pool_of_.size()) return best;
    }
  }

 private:
  std::optional<Bytes> charge_of_choice() const {
    Bytes charge = 0;
    for (std::size_t i = 0; i < pool_of_.size(); ++i) charge += problem_.buffers[i].charges[pool_of_[i]];
    for (std::size_t p = 0; p < problem_.pools.size(); ++p) {
      if (!fits(p)) return std::nullopt;
    }
    return charge;
  }

  bool fits(std::size_t p) const {
    std::vector<std::size_t> inside;
    for (std::size_t i = 0; i < pool_of_.size(); ++i) {
      if (pool_of_[i] == p) inside.push_back(i);
    }
    const Pool& pool = problem_.pools[p];
    if (!pool.capacity) return true;
    do {
      Bytes end = pool.reserved;
      for (const std::size_t i : inside) {
        const Bytes step = std::lcm(problem_.buffers[i].alignment, pool.alignment);
        end = (end + step - 1) / step * step + problem_.buffers[i].size;
      }
      if (inside.empty() || end <= *pool.capacity) return true;
    } while (std::next_permutation(inside.begin(), inside.end()));
    return false;
  }

  const Problem& problem_;
  std::vector<std::size_t> pool_of_;
};

Problem constants(test::ProblemMaker& maker, std::size_t count, std::size_t pools) {
  Problem problem;
  problem.horizon = 3;
  problem.charged = true;
  for (std::size_t p = 0; p < pools; ++p) {
    Pool pool{.name = "flash" + std::to_string(p), .kind = PoolKind::constant};
    if (p + 1 < pools || maker.below(2) == 0) pool.capacity = static_cast<Bytes>(20 + maker.below(60));
    pool.alignment = maker.below(2) == 0 ? 1 : 8;
    if (maker.below(3) == 0) pool.reserved = static_cast<Bytes>(maker.below(20));
    problem.pools.push_back(std::move(pool));
  }
  for (std::size_t i = 0; i < count; ++i) {
    Buffer buffer;
    buffer.name = "constant" + std::to_string(i);
    buffer.kind = BufferKind::constant;
    buffer.size = static_cast<Bytes>(1 + maker.below(40));
    buffer.alignment = Bytes{1} << maker.below(5);
    buffer.live = {{0, 3}};
    Bytes charge = 0;
    for (std::size_t p = 0; p < pools; ++p) {
      buffer.candidates.emplace_back(p);
      buffer.charges.push_back(charge);
      charge += static_cast<Bytes>(maker.below(1000));
    }
    problem.buffers.push_back(std::move(buffer));
  }
  return problem;
}

}  // namespace

TEST_CASE("charged problems of two pools: the oracle's cost, proved, and no false claim of any algorithm") {
  const Tally tally = compare(401, 300, {.buffers = 5, .pools = 2, .bounded = true});
  CHECK(tally.optimal > 150);
  CHECK(tally.infeasible > 10);
}

TEST_CASE("charged problems of three pools with pins and shared bytes: the oracle's cost, proved") {
  CHECK(compare(402, 80, {.buffers = 5, .pools = 3, .bounded = true, .pins = true}).optimal > 30);
  CHECK(compare(403, 150, {.buffers = 5, .pools = 2, .bounded = true, .sharing = true, .horizon = 6}).optimal > 60);
}

TEST_CASE("constants: the least charge of all assignments and orders, alignment counted exactly") {
  test::ProblemMaker maker(404);
  int planned = 0;
  int refused = 0;
  int apart = 0;
  for (int i = 0; i < 150; ++i) {
    const Problem problem = constants(maker, 3 + maker.below(4), 2 + maker.below(2));
    INFO("problem ", i);
    REQUIRE_FALSE(invalid_reason(problem).has_value());
    const auto truth = Knapsack(problem).least_charge();
    const PlanResult result = planners::optimal(problem, {});
    test::check_right(problem, result);
    REQUIRE(result.status == (truth ? PlanStatus::optimal : PlanStatus::infeasible));
    ++(truth ? planned : refused);
    if (!truth) continue;
    CHECK(cost_of(problem, result.plan).spilled[0] == *truth);
    if (is_dearer_by_size(problem, *truth)) ++apart;
  }
  CHECK(planned > 60);
  CHECK(refused > 10);
  CHECK(apart > 20);
}

TEST_CASE("with little budget: what is claimed of charges holds") {
  test::ProblemMaker maker(405);
  int open = 0;
  for (int i = 0; i < 300; ++i) {
    const Problem problem =
        maker.make({.buffers = 5, .pools = 2 + maker.below(2), .bounded = true, .horizon = 6, .charged = true});
    INFO("problem ", i);
    exact::Budget budget(1 + maker.below(30));
    const PlanResult result = exact::plan_all_pools(problem, nullptr, budget);
    const test::Truth truth = test::truth_of(problem);
    if (!truth.best) CHECK_FALSE(result.has_plan());
    if (!truth.best || !result.has_plan()) continue;
    test::check_right(problem, result);
    test::check_bound(result, cost_of(problem, result.plan), *truth.best);
    if (result.status == PlanStatus::feasible) ++open;
  }
  CHECK(open > 5);
}

TEST_CASE("charges make no problem infeasible for an algorithm that plans it without") {
  test::ProblemMaker maker(407);
  int rescued = 0;
  for (int i = 0; i < 400; ++i) {
    const Problem problem = maker.make({.buffers = 7, .pools = 3, .bounded = true, .charged = true});
    INFO("problem ", i);
    for (const Algorithm& algorithm : algorithms()) {
      const PlanResult result = planners::plan_charged(problem, algorithm.plan, {});
      CHECK(result.has_plan() >= algorithm.plan(uncharged(problem), {}).has_plan());
      test::check_right(problem, result);
      CHECK(verify::false_claims(problem, result).empty());
      if (result.has_plan() && !algorithm.plan(problem, {}).has_plan()) ++rescued;
    }
  }
  CHECK(rescued > 5);
}

TEST_CASE("minimising a pool comes before the charges") {
  test::ProblemMaker maker(406);
  int planned = 0;
  for (int i = 0; i < 100; ++i) {
    const Problem problem = maker.make({.buffers = 5, .pools = 2, .bounded = true, .charged = true});
    INFO("problem ", i);
    const test::Truth truth = test::truth_of(problem);
    const PlanResult result = planners::minimize_pool(problem, PoolId(0), planners::optimal, {});
    REQUIRE(result.has_plan() == truth.best.has_value());
    if (!truth.best) continue;
    test::check_right(problem, result);
    CHECK(used_bytes(problem, result.plan)[0] == truth.least_used[0]);
    ++planned;
  }
  CHECK(planned > 50);
}

}  // namespace usmp::planners::charges_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Orders of random tasks against the best of all orders, and bounds against the search.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "random_orders.hpp"
#include "transform/reorder_bound.hpp"
#include "transform/reorder_problem.hpp"

namespace usmp::transform::reorder_search_test {

using testing::least_peak;
using testing::random_network;

namespace {

void check_order(const OrderProblem& problem, const OrderResult& result) {
  std::vector<std::size_t> place(problem.tasks.size(), problem.tasks.size());
  REQUIRE(result.order.size() == problem.tasks.size());
  for (std::size_t i = 0; i < result.order.size(); ++i) place[result.order[i]] = i;
  for (std::size_t i = 0; i < problem.tasks.size(); ++i) {
    REQUIRE(place[i] < problem.tasks.size());
    for (const std::size_t earlier : problem.tasks[i].after) CHECK(place[earlier] < place[i]);
  }
  CHECK(peak_of(problem, result.order) == result.peak);
  CHECK(result.bound <= result.peak);
  CHECK(result.peak <= result.given_peak);
}

// That a small problem has no better order.
OrderResult check_best(const OrderProblem& problem) {
  OrderResult result = best_order(problem);
  check_order(problem, result);
  const Bytes least = least_peak(problem);
  CHECK(result.peak == least);
  CHECK(result.bound == least);
  CHECK(order_bound(problem) <= least);
  return result;
}

}  // namespace

TEST_CASE("the order of small random networks is the best of all orders") {
  int improved = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    const testing::NetworkShape shape{.tasks = 2 + seed % 10, .reach = 1 + seed % 7, .most_inputs = 1 + seed % 3};
    const OrderProblem problem = random_network(seed, shape);
    const OrderResult result = check_best(problem);
    improved += result.peak < result.given_peak ? 1 : 0;
  }
  CHECK(improved > 100);
}

TEST_CASE("a search in which very many tasks are ready spends at most twice its effort, and proves nothing then") {
  // Readers of one storage, each of which leaves what the last task reads.
  OrderProblem problem;
  problem.storages.push_back({.size = 16});
  problem.tasks.push_back({.after = {}, .touches = {{0, 0, 1}}, .phases = {0}});
  Task last{.after = {}, .touches = {}, .phases = {0}};
  for (std::size_t i = 1; i <= 300; ++i) {
    problem.storages.push_back({.size = static_cast<Bytes>(16 * (1 + i % 5))});
    problem.tasks.push_back({.after = {0}, .touches = {{0, 0, 1}, {i, 0, 1}}, .phases = {static_cast<Bytes>(i % 7)}});
    last.after.push_back(i);
    last.touches.push_back({i, 0, 1});
  }
  problem.tasks.push_back(last);
  for (const std::size_t effort : {100U, 1000U, 10000U, 100000U}) {
    CAPTURE(effort);
    std::size_t spent = 0;
    const OrderResult result = best_order(problem, effort, &spent);
    check_order(problem, result);
    CHECK(spent <= 2 * effort + 64 * 300);  // what was begun comes to an end
    CHECK(result.bound == order_bound(problem));
  }
}

TEST_CASE("buffers that may share bytes where one dies: the best of all orders") {
  int improved = 0;
  int otherwise = 0;  // the best order of the same network without sharing is another one, and worse
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    const testing::NetworkShape shape{
        .tasks = 2 + seed % 9, .reach = 1 + seed % 7, .most_inputs = 1 + seed % 3, .shares = true};
    const OrderProblem problem = random_network(seed, shape);
    const OrderResult result = check_best(problem);
    improved += result.peak < result.given_peak ? 1 : 0;
    OrderProblem apart = problem;
    for (Task& task : apart.tasks) task.sharing.clear();
    otherwise += peak_of(problem, best_order(apart).order) > result.peak ? 1 : 0;
  }
  CHECK(improved > 100);
  CHECK(otherwise > 20);
}

TEST_CASE("storages of several readers and writers: the best of all orders") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    OrderProblem problem = random_network(seed, {.tasks = 9, .reach = 9, .most_inputs = 2, .channels = 4});
    // Without some of the dependences, so that storages have more than one task that may come first.
    Random random(seed);
    for (Task& task : problem.tasks) std::erase_if(task.after, [&](std::size_t) { return random.below(3) == 0; });
    const OrderResult result = best_order(problem);
    check_order(problem, result);
    CHECK(result.peak == least_peak(problem));
    CHECK(result.bound == result.peak);
  }
}

TEST_CASE("an order that is best already is kept as it is") {
  int kept = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const OrderProblem problem = random_network(seed, {.tasks = 9});
    const OrderResult result = best_order(problem);
    if (result.peak < result.given_peak) continue;
    std::vector<std::size_t> given(problem.tasks.size());
    std::iota(given.begin(), given.end(), std::size_t{0});
    CHECK(result.order == given);
    ++kept;
  }
  CHECK(kept > 10);
}

TEST_CASE("tasks that need not change places do not") {
  int changed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const OrderProblem problem = random_network(seed, {.tasks = 12, .reach = 6, .shares = seed % 2 == 0});
    const OrderResult result = best_order(problem);
    if (result.peak < result.given_peak) ++changed;
    for (std::size_t i = 0; i + 1 < result.order.size(); ++i) {
      if (result.order[i] < result.order[i + 1]) continue;
      std::vector<std::size_t> swapped = result.order;
      std::swap(swapped[i], swapped[i + 1]);
      CHECK(peak_of(problem, swapped) > result.peak);
    }
  }
  CHECK(changed > 50);
}

TEST_CASE("a search that ends early gives an order, a bound and the same each time") {
  int open = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    CAPTURE(seed);
    const OrderProblem problem = random_network(seed, {.tasks = 150, .reach = 40});
    const OrderResult full = best_order(problem);
    check_order(problem, full);
    for (const std::size_t effort : {std::size_t{0}, std::size_t{1000}, std::size_t{200'000}}) {
      const OrderResult result = best_order(problem, effort);
      check_order(problem, result);
      CHECK(result.bound <= full.peak);
      CHECK(full.bound <= result.peak);
      CHECK(best_order(problem, effort).order == result.order);
      open += result.bound < result.peak ? 1 : 0;
    }
  }
  CHECK(open > 5);
}

TEST_CASE("nothing to order") {
  const OrderResult result = best_order({});
  CHECK(result.order.empty());
  CHECK(result.peak == 0);
  CHECK(result.bound == 0);
}

TEST_CASE("long chains and wide fans") {
  OrderProblem chains;  // many chains from one input, all joined at the end: one chain after the other is best
  constexpr std::size_t width = 30;
  constexpr std::size_t length = 5;
  chains.storages.push_back({.size = 64});
  chains.tasks.push_back({.after = {}, .touches = {{0, 0, 1}}, .phases = {0}});
  std::vector<std::size_t> last(width, 0);
  for (std::size_t k = 0; k < length; ++k) {
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t made = chains.storages.size();
      chains.storages.push_back({.size = k + 1 == length ? 1 : 100});
      const std::size_t from = last[i];
      chains.tasks.push_back({.after = {from}, .touches = {{from, 0, 1}, {made, 0, 1}}, .phases = {0}});
      last[i] = made;
    }
  }
  Task join{.after = last, .touches = {}, .phases = {0}};
  for (const std::size_t from : last) join.touches.push_back({from, 0, 1});
  chains.tasks.push_back(join);
  const OrderResult result = best_order(chains);
  CHECK(result.given_peak == 100 * (width + 1));
  CHECK(result.peak == 64 + 200 + (width - 2));  // two chains are left: both hold something or the input stays
  CHECK(result.bound <= result.peak);
}

}  // namespace usmp::transform::reorder_search_test

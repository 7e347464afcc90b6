// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Refutations: each stack ends too high, each lesson follows, the last one says that nothing is possible; against
// exhaustive search.
#include "usmp/planners/refute.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "planning_support/generators.hpp"
#include "planning_support/oracle.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/bounds/load.hpp"

namespace usmp::planners::refute_test {

using bounds::Refutation;

namespace {

using Order = std::pair<std::uint32_t, std::uint32_t>;  // the first is below the second

Order other_way(const Order& order) { return {order.second, order.first}; }

// Where the last of a stack ends at least, or that it is above its pin: then that is more than any capacity.
Bytes end_of(const Problem& problem, const std::vector<BufferId>& ids, const Refutation::Stack& stack) {
  const Pool& pool = problem.pools.front();
  const auto buffer = [&](std::uint32_t i) -> const Buffer& { return problem.buffer(ids[i]); };
  Bytes offset = buffer(stack.front()).pinned.value_or(first_offset(buffer(stack.front()), pool));
  for (std::size_t k = 1; k < stack.size(); ++k) {
    CHECK(overlap(buffer(stack[k - 1]).live, buffer(stack[k]).live));
    offset =
        align_up(offset + distance(problem, ids[stack[k - 1]], ids[stack[k]]), alignment_in(buffer(stack[k]), pool));
  }
  const Buffer& top = buffer(stack.back());
  return top.pinned && offset > *top.pinned ? Problem::max_total_bytes : offset + top.size;
}

void check(const Problem& problem, Bytes capacity, const Refutation& refutation) {
  const std::vector<BufferId> ids = bounds::certified_buffers(problem, PoolId(0));
  std::vector<std::set<Order>> stacks;
  for (const Refutation::Stack& stack : refutation.stacks) {
    CHECK(end_of(problem, ids, stack) > capacity);
    std::set<Order>& orders = stacks.emplace_back();
    for (std::size_t k = 1; k < stack.size(); ++k) orders.insert({stack[k - 1], stack[k]});
  }
  std::vector<std::set<Order>> lessons;  // orders that do not go together
  for (const Refutation::Lesson& lesson : refutation.lessons) {
    std::set<Order> orders;
    bool is_first = true;
    for (const Refutation::Step& step : lesson) {
      const std::set<Order>& from = (step.is_lesson ? lessons : stacks).at(step.number);
      std::size_t resolved = 0;
      for (const Order& order : from) {
        if (orders.erase(other_way(order)) > 0) {
          ++resolved;
        } else {
          orders.insert(order);
        }
      }
      CHECK(resolved == (is_first ? 0 : 1));
      is_first = false;
    }
    lessons.push_back(std::move(orders));
  }
  CHECK(lessons.back().empty());
}

}  // namespace

TEST_CASE("refute: what does not fit is refuted, and what does is found") {
  test::ProblemMaker maker(91);
  std::size_t lessons = 0;
  for (int i = 0; i < 400; ++i) {
    const Problem problem = maker.make({.buffers = 6, .sharing = i % 3 != 0, .pins = i % 4 == 0});
    CAPTURE(i);
    const Bytes least = test::truth_of(problem).least_used.front();
    if (std::ranges::any_of(problem.buffers, [&](const Buffer& one) { return one.size == 0 && one.pinned == least; })) {
      continue;  // without bytes, but used
    }
    CHECK(refute(problem, PoolId(0), least).fits);
    if (least == 0) continue;
    const RefuteResult result = refute(problem, PoolId(0), least - 1);
    CHECK(!result.fits);
    REQUIRE(result.refutation);
    check(problem, least - 1, *result.refutation);
    lessons += result.refutation->lessons.size();
  }
  CHECK(lessons > 2000);
}

TEST_CASE("refute: searches that begin anew, with what is learned before and what holds whatever is decided") {
  std::size_t most = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    test::ProblemMaker maker(seed);
    const Problem problem = maker.make({.buffers = 24, .sharing = true});
    CAPTURE(seed);
    Bytes low = 0;  // refuted
    Bytes high = 1;
    while (!refute(problem, PoolId(0), high).fits) high *= 2;
    while (high - low > 1) {
      const Bytes middle = low + (high - low) / 2;
      const RefuteResult result = refute(problem, PoolId(0), middle);
      REQUIRE((result.fits || result.refutation));
      (result.fits ? high : low) = middle;
    }
    const RefuteResult result = refute(problem, PoolId(0), low);
    REQUIRE(result.refutation);
    check(problem, low, *result.refutation);
    most = std::max(most, result.refutation->lessons.size());
  }
  CHECK(most > 200);
}

TEST_CASE("refute: a search that is too long says nothing") {
  const Problem problem = test::pinwheel(101, 1);
  const Bytes load = bounds::load(problem, bounds::certified_buffers(problem, PoolId(0))).bytes;
  const RefuteResult cut_short = refute(problem, PoolId(0), load - 1, 10);
  CHECK(!cut_short.fits);
  CHECK(!cut_short.refutation);
  const RefuteResult result = refute(problem, PoolId(0), load - 1);
  REQUIRE(result.refutation);
  check(problem, load - 1, *result.refutation);
}

}  // namespace usmp::planners::refute_test

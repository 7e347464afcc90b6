// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Budgets of nodes, work and time, and the shares of them: when each ends.
#include <doctest/doctest.h>

#include "planners/exact/packing.hpp"

namespace usmp::planners::budget_test {

using planners::exact::Budget;

TEST_CASE("a budget gives many nodes at once, and what is left if that is less") {
  Budget budget(10);
  CHECK(budget.spend(7));
  CHECK(budget.left() == 3);
  CHECK_FALSE(budget.spend(4));
  CHECK(budget.exhausted());
  CHECK(budget.reason() == StopReason::node_limit);
  CHECK(budget.spent() == 10);
  CHECK_FALSE(budget.spend(0));
}

TEST_CASE("a share ends without ending the budget that is charged for it") {
  Budget budget(10);
  Budget share = budget.share(4);
  CHECK(share.left() == 4);
  CHECK_FALSE(share.spend(5));
  budget.charge(share);
  CHECK_FALSE(budget.exhausted());
  CHECK(budget.left() == 6);
  CHECK(budget.spent() == 4);
  CHECK(budget.share(100).left() == 6);
}

TEST_CASE("a share looks at the same flag, and hands on that it was interrupted") {
  std::atomic<bool> interrupted = false;
  Budget budget(100, std::nullopt, &interrupted);
  Budget share = budget.share(50);
  CHECK(share.spend(1));
  interrupted = true;
  CHECK_FALSE(share.spend(1));
  CHECK(share.reason() == StopReason::interrupted);
  budget.charge(share);
  CHECK(budget.reason() == StopReason::interrupted);
  CHECK_FALSE(budget.spend());
}

TEST_CASE("a budget of no time is exhausted at the first look at the clock") {
  Budget budget(100, std::chrono::milliseconds(0), nullptr);
  CHECK_FALSE(budget.spend(1));
  CHECK(budget.reason() == StopReason::time_limit);
}

TEST_CASE("a limit of work ends a budget as one of nodes does, and holds for its shares, too") {
  Budget budget(100);
  budget.limit_work(10);
  budget.spend_work(9);
  CHECK_FALSE(budget.exhausted());
  Budget share = budget.share(50);
  CHECK(share.spend());
  share.spend_work(1);
  CHECK(share.reason() == StopReason::node_limit);
  CHECK_FALSE(share.spend());
  CHECK_FALSE(budget.exhausted());
  budget.charge(share);
  CHECK(budget.reason() == StopReason::node_limit);
  CHECK(budget.left() == 99);
}

TEST_CASE("a budget that was interrupted stays so when its work ends") {
  const std::atomic<bool> interrupted = true;
  Budget budget(100, std::nullopt, &interrupted);
  budget.limit_work(10);
  Budget share = budget.share(50);
  share.spend_work(10);
  CHECK(share.reason() == StopReason::node_limit);
  CHECK(budget.is_over());
  budget.charge(share);
  CHECK(budget.reason() == StopReason::interrupted);
  Budget other(100, std::nullopt, &interrupted);
  other.limit_work(10);
  CHECK(other.is_over());
  other.spend_work(10);
  CHECK(other.reason() == StopReason::interrupted);
}

TEST_CASE("a budget that is spent stays so whatever its shares say") {
  Budget budget(10);
  Budget share = budget.share(4);
  CHECK(share.spend());
  budget.give_up();
  budget.charge(share);
  CHECK(budget.reason() == StopReason::node_limit);
}

TEST_CASE("work without nodes looks at the clock, too") {
  Budget budget(100, std::chrono::milliseconds(0), nullptr);
  budget.spend_work(1);
  CHECK_FALSE(budget.exhausted());
  budget.spend_work(2'000'000);
  CHECK(budget.reason() == StopReason::time_limit);
}

}  // namespace usmp::planners::budget_test

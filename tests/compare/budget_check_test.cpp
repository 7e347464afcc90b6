// SPDX-License-Identifier: Apache-2.0
// Plans held to budgets.
#include "usmp/compare/budget_check.hpp"

#include <doctest/doctest.h>

#include "plan_support/budgets.hpp"

namespace usmp::compare::budget_check_test {

using plan_file::PlanDocument;
using namespace usmp::plan_support::budgets;

TEST_CASE("max: at the limit is within it, a byte more is a breach with all figures") {
  LimitCheck check = only("max: 64", 64, Rule::max);
  CHECK(check.verdict == Verdict::ok);
  CHECK(check.message.empty());
  check = only("max: 64", 65, Rule::max);
  CHECK(check.verdict == Verdict::breach);
  CHECK(check.required == 65);
  CHECK(check.available == 64);
  CHECK(check.excess() == 1);
  CHECK(check.position == config::Position{4, 19});
  CHECK(check.message == "dtcm uses more than max: required 65 bytes, available 64 (max), excess 1");
  CHECK(only("max: 0", 0, Rule::max).verdict == Verdict::ok);
  CHECK(only("max: 0", 1, Rule::max).verdict == Verdict::breach);
}

TEST_CASE("warn_at is a part of max, else of the pool's size, and silent where max is exceeded") {
  CHECK(only("max: 101, warn_at: 50%", 50, Rule::warn_at).verdict == Verdict::ok);  // 50.5, rounded down
  LimitCheck check = only("max: 101, warn_at: 50%", 51, Rule::warn_at);
  CHECK(check.verdict == Verdict::warning);
  CHECK(check.message == "dtcm uses more than warn_at: required 51 bytes, available 50 (50% of max 101), excess 1");
  check = only("warn_at: 12.5%", 129, Rule::warn_at);
  CHECK(check.verdict == Verdict::warning);
  CHECK(check.message ==
        "dtcm uses more than warn_at: required 129 bytes, available 128 (12.5% of the pool's 1024), excess 1");
  CHECK(only("warn_at: 12.5%", 128, Rule::warn_at).verdict == Verdict::ok);
  check = only("max: 101, warn_at: 50%", 102, Rule::warn_at);
  CHECK(check.verdict == Verdict::not_checked);
  CHECK(check.message == "max is exceeded already");
}

TEST_CASE("min_headroom is what has to be left of the pool's size") {
  CHECK(only("min_headroom: 1000", 24, Rule::min_headroom).verdict == Verdict::ok);
  const LimitCheck check = only("min_headroom: 1000", 64, Rule::min_headroom);
  CHECK(check.verdict == Verdict::breach);
  CHECK(check.required == 64);
  CHECK(check.available == 24);
  CHECK(check.message ==
        "dtcm leaves less than min_headroom: required 64 bytes, available 24 (size_hint_bytes 1024 less min_headroom "
        "1000), excess 40");
}

TEST_CASE("max_growth is measured against the pool of the same name in the module of the same name") {
  const PoolsConfig config = pools("max_growth: 1.5%");
  const auto grown = [&](Bytes before, Bytes now) {
    return only(config, with_used(now), Rule::max_growth, {{with_used(before)}});
  };
  CHECK(grown(200, 203).verdict == Verdict::ok);
  CHECK(grown(200, 100).verdict == Verdict::ok);
  CHECK(grown(0, 0).verdict == Verdict::ok);
  LimitCheck check = grown(200, 204);
  CHECK(check.verdict == Verdict::breach);
  CHECK(check.message ==
        "dtcm grew by 2.00%, more than max_growth: required 204 bytes, available 203 (1.5% above the baseline's 200), "
        "excess 1");
  check = grown(0, 1);
  CHECK(check.verdict == Verdict::breach);
  CHECK(check.message ==
        "dtcm grew, more than max_growth: required 1 byte, available 0 (1.5% above the baseline's 0), excess 1");

  check = only(config, example(), Rule::max_growth);
  CHECK(check.verdict == Verdict::not_checked);
  CHECK(check.message == "there is no baseline");
  PlanDocument other = example();
  other.module = "other";
  check = only(config, example(), Rule::max_growth, {{other}});
  CHECK(check.verdict == Verdict::warning);
  CHECK(check.message == "dtcm has no growth to check: the baseline has no such pool in this module");
  CHECK(only(config, with_used(64), Rule::max_growth, {{other, with_used(64)}}).verdict == Verdict::ok);
}

TEST_CASE("the gravest verdict is that of the module and of the report; what is not checked has no weight") {
  const auto verdict = [](const PoolsConfig& config, Bytes used) {
    return check_budgets(config, {outcome(with_used(used))}, {}).verdict();
  };
  CHECK(verdict(pools("max_growth: 0%"), 64) == Verdict::ok);
  CHECK(verdict(pools("warn_at: 1%"), 64) == Verdict::warning);
  CHECK(verdict(pools("max: 63, warn_at: 1%"), 64) == Verdict::breach);
  CHECK(verdict(pools("warn_at: 1%", "max: 1"), 64) == Verdict::breach);
  CHECK(verdict(pools(""), 64) == Verdict::ok);
}

TEST_CASE("whether there is anything to check") {
  CHECK(has_limits(pools("")));
  CHECK(has_limits(parse_pools("workspace_pools: [{name: a, budget: {max: 1}}]")));
  CHECK_FALSE(has_limits(parse_pools("workspace_pools: [{name: a}]\nparameter_pools: [{name: b}]")));
  CHECK(has_limits(parse_pools("workspace_pools: [{name: a}]\nparameter_pools: [{name: b, size_hint_bytes: 1}]")));
}

TEST_CASE("a pool that is too small: what is enough, what is proved, and what else would do") {
  PlanningOutcome without;
  without.module = "m";
  without.no_plan = "no plan fits the pools";
  const auto message = [&](std::vector<Enlargement> choices) {
    without.needed.shortfalls = {{std::move(choices)}};
    const BudgetReport report = compare::check_budgets(pools(""), {without}, {});
    CHECK(report.modules.at(0).needed.shortfalls.size() == 1);
    const LimitCheck check = report.modules.at(0).pools.at(0).checks.at(0);
    CHECK((check.verdict == Verdict::breach) == (check.excess() > 0));
    return check.message;
  };
  const NeededSize flash{"flash", 2048, 3000, 3000};
  const std::string is_too_small =
      "dtcm is too small: required 1100 bytes, available 1024 (size_hint_bytes), excess 76";
  CHECK(message({{{"dtcm", 1024, 1100, 1100}}}) == is_too_small);
  CHECK(message({{{"dtcm", 1024, 1090, 1100}}}) == is_too_small + ", at least 1090 needed");
  CHECK(message({{{"dtcm", 1024, 1024, 1100}}}) == is_too_small + ", less may be enough");
  CHECK(message({{{"dtcm", 1024, 1100, std::nullopt}}}) == is_too_small + ", no size was found that is enough");
  CHECK(message({{{"dtcm", 1024, 1100, 1100}}, {flash}}) == is_too_small + "; or enlarge flash instead");
  CHECK(message({{{"dtcm", 1024, 1100, 1100}, flash}}) == is_too_small + "; enlarge flash too");
  CHECK(message({{{"dtcm", 1024, 1024, std::nullopt}}}) == "there is no plan");
  CHECK(message({{flash}}) == "there is no plan");
}

}  // namespace usmp::compare::budget_check_test

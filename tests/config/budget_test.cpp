// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The key `budget` of a pool: values, positions, percentages.
#include "usmp/config/budget.hpp"

#include <doctest/doctest.h>

#include <tuple>

#include "files.hpp"
#include "usmp/config/pools.hpp"

namespace usmp::config::budget_test {

using usmp::Bytes;
using usmp::config::Budget;
using usmp::config::format_percent;
using usmp::config::parse_percent;
using usmp::config::parse_pools;
using usmp::config::Percent;
using usmp::config::PoolsConfig;
using usmp::config::Position;
using usmp::config::share_of;

TEST_CASE("a budget has its values and where each of them stands") {
  const PoolsConfig config = parse_pools(read_file(USMP_TESTDATA "/pools/budget.yaml"));
  const Budget& dtcm = config.workspace_pools[0].budget;
  REQUIRE((dtcm.max && dtcm.warn_at && dtcm.min_headroom && dtcm.max_growth));
  CHECK(dtcm.max->value == 61440);
  CHECK(dtcm.max->position == Position{5, 19});
  CHECK(dtcm.warn_at->value == Percent{9500});
  CHECK(dtcm.warn_at->position == Position{5, 35});
  CHECK(dtcm.min_headroom->value == 4096);
  CHECK(dtcm.max_growth->value == Percent{100});
  CHECK(config.workspace_pools[0].position == Position{3, 5});
  CHECK(config.workspace_pools[0].size_position == Position{4, 22});
  const Budget& sram = config.workspace_pools[1].budget;
  REQUIRE(sram.max);
  CHECK(sram.max->value == 0);
  CHECK(sram.max->position == Position{8, 12});
  CHECK_FALSE(sram.warn_at);
  CHECK(config.workspace_pools[1].size_position == Position{});
  CHECK(config.parameter_pools[0].budget.max_growth->value == Percent{50});
  CHECK_FALSE(parse_pools("workspace_pools: [{name: sram}]").workspace_pools[0].budget.any());
}

TEST_CASE("a budget may stand in front of the size that it is checked against") {
  CHECK_NOTHROW((void)parse_pools(
      "workspace_pools: [{name: a, budget: {min_headroom: 1KiB, warn_at: 50%}, size_hint_bytes: 2KiB}]"));
}

TEST_CASE("percentages are read exactly and written as short as they can be") {
  for (const auto& [text, hundredths, shortest] :
       std::vector<std::tuple<std::string, std::int64_t, std::string>>{{"0%", 0, "0%"},
                                                                       {"95%", 9500, "95%"},
                                                                       {"0.5%", 50, "0.5%"},
                                                                       {"0.50%", 50, "0.5%"},
                                                                       {"0.05%", 5, "0.05%"},
                                                                       {"1.25%", 125, "1.25%"},
                                                                       {"100.0%", 10000, "100%"},
                                                                       {"1000%", 100000, "1000%"}}) {
    CAPTURE(text);
    const auto percent = parse_percent(text);
    REQUIRE(percent);
    CHECK(percent->hundredths == hundredths);
    CHECK(format_percent(*percent) == shortest);
    CHECK(parse_percent(format_percent(*percent)) == percent);
  }
  for (const char* text : {"", "%", "95", "95 %", "-1%", "-0%", "+1%", "1.%", ".5%", "1.234%", "01%", "1,5%", "1e2%",
                           "1000.01%", "10000%", "99999999999999999999%", "1.-5%", "95%%", "0x5%"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_percent(text));
  }
}

TEST_CASE("a share is rounded down and never overflows") {
  CHECK(share_of(61440, {9500}) == 58368);
  CHECK(share_of(10001, {9999}) == 9999);
  CHECK(share_of(3, {5000}) == 1);
  CHECK(share_of(0, {10000}) == 0);
  constexpr Bytes largest = 9223372036854775807;
  CHECK(share_of(largest, {10000}) == largest);
  CHECK(share_of(largest, {1}) == largest / 10000);
  CHECK(share_of(Bytes{1} << 56, {100000}) == (Bytes{10} << 56));
}

}  // namespace usmp::config::budget_test

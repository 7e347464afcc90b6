// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// `concurrent` of a pools file.
#include <doctest/doctest.h>

#include "usmp/config/pools.hpp"
#include "usmp/support/error.hpp"

namespace usmp::config::concurrent_test {
namespace {

std::string fault_of(const std::string& value) {
  try {
    (void)parse_pools("workspace_pools: [{name: p}]\nconcurrent: " + value + "\n");
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("modules side by side") {
  const PoolsConfig config = parse_pools("workspace_pools: [{name: p}]\nconcurrent: [[a, b], [b, c, d]]\n");
  REQUIRE(config.concurrent.size() == 2);
  CHECK(config.concurrent[0].modules == std::vector<std::string>{"a", "b"});
  CHECK(config.concurrent[1].modules == std::vector<std::string>{"b", "c", "d"});
  CHECK(config.concurrent[1].place == "line 2, column 22");
  CHECK(parse_pools("workspace_pools: [{name: p}]\nconcurrent: []\n").concurrent.empty());
  CHECK(fault_of("a") ==
        "line 2, column 13: concurrent is 'a': expected a list of lists of modules, such as [[kws, vww]]");
  CHECK(fault_of("[a, b]") ==
        "line 2, column 14: entry 1 of concurrent is 'a': expected a list of lists of modules, such as [[kws, vww]]");
  CHECK(fault_of("[[a]]").find("fewer than two modules") != std::string::npos);
  CHECK(fault_of("[[a, a]]") == "line 2, column 18: module 'a' twice in one list");
  CHECK(fault_of("[[a, [b]]]").find("a module in concurrent is a list: expected its name") != std::string::npos);
}

}  // namespace usmp::config::concurrent_test

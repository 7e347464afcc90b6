// SPDX-License-Identifier: Apache-2.0
#include "usmp/support/json_depth.hpp"

#include <doctest/doctest.h>

#include <string>

namespace usmp::support::json_depth_test {

TEST_CASE("how deep a JSON text nests") {
  using usmp::json_depth;
  CHECK(json_depth("") == 0);
  CHECK(json_depth("1") == 0);
  CHECK(json_depth("[]") == 1);
  CHECK(json_depth(R"([{"a":[]},{}])") == 3);
  CHECK(json_depth(R"(["[[[", {"\"[[": 1}])") == 2);
  CHECK(json_depth(R"(["\\", [1]])") == 2);
  CHECK(json_depth("]]]}[[") == 2);
  CHECK(json_depth(std::string(1'000'000, '[')) == 1'000'000);
}

}  // namespace usmp::support::json_depth_test

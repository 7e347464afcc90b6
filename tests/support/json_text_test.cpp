// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#include "usmp/support/json_text.hpp"

#include <doctest/doctest.h>

#include <string>

namespace usmp::support::json_text_test {

TEST_CASE("how deep a JSON text nests") {
  using usmp::json_depth;
  using usmp::json_values;
  CHECK(json_values("1") == 1);
  CHECK(json_values("[1,2]") >= 3);
  CHECK(json_values(R"({"a,[:":"\",,,,,,,,"})") <= 4);
  CHECK(json_depth("") == 0);
  CHECK(json_depth("1") == 0);
  CHECK(json_depth("[]") == 1);
  CHECK(json_depth(R"([{"a":[]},{}])") == 3);
  CHECK(json_depth(R"(["[[[", {"\"[[": 1}])") == 2);
  CHECK(json_depth(R"(["\\", [1]])") == 2);
  CHECK(json_depth("]]]}[[") == 2);
  CHECK(json_depth(std::string(1'000'000, '[')) == 1'000'000);
}

TEST_CASE("what is wrong with a JSON text is said without its place, and without the text") {
  const std::string error = "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error";
  CHECK(json_fault(error + " while parsing value - invalid literal; last read: '?: '") ==
        "syntax error while parsing value - invalid literal");
  CHECK(json_fault(error + " - unexpected ']'; last read: '; expected \"'; expected object key") ==
        "syntax error - unexpected ']'; expected object key");
  CHECK(json_fault("[json.exception.out_of_range.406] number overflow parsing '1e999'") ==
        "[json.exception.out_of_range.406] number overflow");
  CHECK(json_fault("something else") == "something else");
}

}  // namespace usmp::support::json_text_test

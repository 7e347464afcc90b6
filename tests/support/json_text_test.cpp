// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Depth, repeated keys and faults of texts, also of malformed ones.
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

TEST_CASE("a key that an object has twice") {
  const auto repeated = [](const std::string& text) {
    const auto found = usmp::repeated_key(text);
    return found ? found->key + " at " + std::to_string(found->byte) : "none";
  };
  CHECK(repeated(R"({"a": 1, "b": {"a": 1, "b": [{"a": 1}, {"a": 1}]}, "c": "a"})") == "none");
  CHECK(repeated(R"({"a": 1, "b": 2, "a": 3})") == "a at 18");
  CHECK(repeated(R"([{"b": {"x": 1, "c": [], "x": 2}}])") == "x at 26");
  CHECK(repeated(R"({"a": ["a", "a", {"a": 1}], "b": "a", "c": {"b": "c"}})") == "none");
  CHECK(repeated(R"({"a": {}, "a": {}})") == "a at 11");
  CHECK(repeated(R"({"": 1, "": 2})") == " at 9");
  // What stands in strings is no structure.
  CHECK(repeated(R"({"a\\": "{\"a\": 1, \"a\": 2}", "a": "\\"})") == "none");
  CHECK(repeated(R"({"a\"": 1, "a\"": 2})") == "a\" at 12");
  // However they are written.
  CHECK(repeated(R"({"a": 1, "\u0061": 2})") == "a at 10");
  CHECK(repeated(R"({"\/\n": 1, "/\u000A": 2})") == "/\n at 13");
  CHECK(repeated("{\"\xC3\xA8\": 1, \"\\u00e8\": 2}") == "\xC3\xA8 at 11");
  CHECK(repeated("{\"\xE2\x82\xAC\": 1, \"\\u20AC\": 2}") == "\xE2\x82\xAC at 12");
  CHECK(repeated("{\"\xF0\x9F\x98\x80\": 1, \"\\ud83d\\uDE00\": 2}") == "\xF0\x9F\x98\x80 at 13");
  CHECK(repeated(R"({"\u0061": 1, "\u0062": 2})") == "none");
  // Nothing is read beyond the end of what is malformed.
  const std::string text = R"({"a\ud83d\ude00": "\"", "b": [1, {"\u00e8": 2}], "b\\": {}})";
  for (std::size_t size = 0; size < text.size(); ++size) CHECK(repeated(text.substr(0, size)) == "none");
  CHECK(repeated("]}{\"\\") == "none");
  CHECK(repeated(R"({"\u": 1, "\uD83D\u": 2, "\ud83d": 3})") == "none");
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

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Ends of lists of numbers, against a scan by the definition, a byte at a time.
#include "usmp/support/number_list.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/text.hpp"

namespace usmp::support::number_list_test {
namespace {

bool is_word(char c) { return is_identifier_char(c); }

// By the definition, a byte at a time.
std::size_t expected(std::string_view text, std::size_t from) {
  constexpr std::string_view separators = ", \n\r\t";
  std::size_t end = from;
  for (std::size_t at = from; at < text.size(); ++at) {
    const char c = text[at];
    const char before = text[at - 1];
    const bool is_digit = c >= '0' && c <= '9';
    const bool goes_on = is_word(c) ? is_word(before) || before == '.' : c == '.' && is_word(before);
    if (!is_digit && !goes_on && separators.find(c) == std::string_view::npos && c != '+' && c != '-') break;
    if (separators.find(c) != std::string_view::npos) end = at + 1;
  }
  return end;
}

TEST_CASE("a stretch of numbers ends in front of everything else") {
  const auto rest = [](std::string text) {
    text.insert(0, "{");
    return text.substr(behind_numbers(text, 1));
  };
  CHECK(rest("") == "");
  CHECK(rest("1, -0x2f,\n +3.5e-7f, 4}") == "4}");
  CHECK(rest(" 0x1.8p-3f, name, 1}") == "name, 1}");
  CHECK(rest("1, .a = 2}") == ".a = 2}");
  CHECK(rest("1, /* 2, */ 3}") == "/* 2, */ 3}");
  CHECK(rest("1, 2\n#endif") == "#endif");
  CHECK(rest("1, \\\n2") == "\\\n2");
  CHECK(rest("1, \"2\", 3") == "\"2\", 3");
  CHECK(rest("1, {2}, 3") == "{2}, 3");
  CHECK(rest("1, \xc3\xa4") == "\xc3\xa4");
  CHECK(rest(std::string("1, \0002", 5)) == std::string("\0002", 2));
  const std::string many(1000, '7');
  CHECK(rest(many + "," + many) == many);
  CHECK(rest(many + "," + many + ",(") == "(");
}

TEST_CASE("it is the same many bytes at once and one by one") {
  std::mt19937 random(1);
  const std::string_view often = "0179, \n-+.xafpE_";
  const std::string_view rarely = "{}()#/\\\"'=;\tz\x80\xff";
  for (int i = 0; i < 20000; ++i) {
    std::string text = "{";
    const std::size_t length = random() % 100;
    for (std::size_t k = 0; k < length; ++k) {
      text += random() % 40 == 0 ? rarely[random() % rarely.size()] : often[random() % often.size()];
    }
    REQUIRE(behind_numbers(text, 1) == expected(text, 1));
  }
}

TEST_CASE("parts of numbers are no identifiers") {
  const auto identifiers = [](std::string_view text) {
    std::vector<std::string> names;
    for_each_identifier(text, [&](std::string_view name) { names.emplace_back(name); });
    return names;
  };
  using Names = std::vector<std::string>;
  CHECK(identifiers("{ 0x1.c2a8p-4f, -1.e5, a1.b2, 0xabU, }") == Names{"a1", "b2"});
  CHECK(identifiers("x{y, 1, z} 1-e a.b 3 c") == Names{"x", "y", "z", "e", "a", "b", "c"});
  CHECK(identifiers("{1,\n2} d") == Names{"d"});
  CHECK(identifiers("f(1.5f)+g") == Names{"f", "g"});
}

}  // namespace
}  // namespace usmp::support::number_list_test

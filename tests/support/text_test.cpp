// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Identifiers, spellings, decimals, joined words and counts.
#include "usmp/support/text.hpp"

#include <doctest/doctest.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace usmp::support::text_test {

TEST_CASE("c_identifier") {
  CHECK(c_identifier("serving_default_x:0") == "serving_default_x_0");
  CHECK(c_identifier("a.b-c/d") == "a_b_c_d");
  CHECK(c_identifier("9lives") == "_9lives");
  CHECK(c_identifier("") == "_");
  CHECK(c_identifier("\xc3\xa4x") == "__x");
  CHECK(c_identifier("already_fine_1") == "already_fine_1");
}

TEST_CASE("upper_case leaves everything but ASCII letters") {
  CHECK(upper_case("sram_0z") == "SRAM_0Z");
  CHECK(upper_case("\xc3\xa4\xe9{`") == "\xc3\xa4\xe9{`");
}

TEST_CASE("nearest_spelling finds misspellings and nothing far-fetched") {
  const std::vector<std::string> keys{"size_hint_bytes", "section", "alignment", "name"};
  CHECK(nearest_spelling("size_hint_byte", keys) == "size_hint_bytes");
  CHECK(nearest_spelling("sectoin", keys) == "section");
  CHECK(nearest_spelling("aligment", keys) == "alignment");
  CHECK(nearest_spelling("nmae", keys) == "name");
  CHECK(nearest_spelling("colour", keys).empty());
  CHECK(nearest_spelling("name", keys) == "name");
  CHECK(nearest_spelling("x", {}).empty());
  const std::vector<std::string> twins{"cat", "bat"};
  CHECK(nearest_spelling("rat", twins) == "cat");
  CHECK(did_you_mean("sectoin", keys) == " (did you mean 'section'?)");
  CHECK(did_you_mean("colour", keys).empty());
  const std::vector<std::string> longer = {"greedy_by_size", "optimal", "greedy_by_conflicts"};
  CHECK(did_you_mean("greedy", longer) == " (did you mean one of greedy_by_size, greedy_by_conflicts?)");
  CHECK(did_you_mean("gr", longer).empty());
}

TEST_CASE("nearest_spelling completes the beginning of one candidate only") {
  const std::vector<std::string> names{"greedy_by_size", "greedy_by_conflicts", "hill_climb"};
  CHECK(nearest_spelling("hil", names) == "hill_climb");
  CHECK(nearest_spelling("hi", names).empty());
  CHECK(nearest_spelling("greedy", names).empty());
  CHECK(nearest_spelling("greedy_by_c", names) == "greedy_by_conflicts");
  CHECK(nearest_spelling("climb", names).empty());
}

TEST_CASE("shortest_decimal is short and exact") {
  CHECK(shortest_decimal(0.1) == "0.1");
  CHECK(shortest_decimal(0.1F) == "0.1");
  CHECK(shortest_decimal(1e20) == "1e+20");
  CHECK(shortest_decimal(-0.0) == "-0");
  CHECK(shortest_decimal(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(shortest_decimal(-std::numeric_limits<float>::infinity()) == "-inf");
  CHECK(shortest_decimal(std::nan("")) == "nan");
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const double value = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 400) - 200);
    const std::string text = shortest_decimal(value);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    CHECK(back == value);
  }
}

TEST_CASE("a string sink keeps what was written, in order") {
  StringSink sink;
  sink.write("one ");
  sink.write("two");
  CHECK(sink.text() == "one two");
}

TEST_CASE("words joined, the first few of them, and split again") {
  const std::vector<std::string> words = {"a", "", "c"};
  CHECK(joined({}).empty());
  CHECK(joined(words) == "a, , c");
  CHECK(joined(words, "|") == "a||c");
  CHECK(split("a,,c", ',') == words);
  CHECK(split("", ',') == std::vector<std::string>{""});
  CHECK(split(",", ',') == std::vector<std::string>{"", ""});
  CHECK(first_few(std::vector<std::string>{"1", "2", "3", "4", "5", "6"}) == "1, 2, 3, 4, 5, 6");
  CHECK(first_few(std::vector<std::string>{"1", "2", "3", "4", "5", "6", "7", "8"}) == "1, 2, 3, 4, 5, 6 and 2 more");
}

TEST_CASE("counts, names and first lines as messages show them") {
  CHECK(counted(0, "pair") == "0 pairs");
  CHECK(counted(1, "pair") == "1 pair");
  CHECK(counted(2, "pair") == "2 pairs");
  CHECK(counted(1, "breach", "breaches") == "1 breach");
  CHECK(counted(2, "breach", "breaches") == "2 breaches");
  CHECK(in_quotes("sram") == "'sram'");
  CHECK(first_line("one\ntwo") == "one");
  CHECK(first_line("one") == "one");
  CHECK(first_line("").empty());
  CHECK(is_identifier_char('_'));
  CHECK(is_identifier_char('z'));
  CHECK_FALSE(is_identifier_char('-'));
  CHECK_FALSE(is_identifier_char('\xe4'));
}

}  // namespace usmp::support::text_test

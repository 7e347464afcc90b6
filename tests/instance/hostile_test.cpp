// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Damaged files are read as a valid problem or refused with an Error; nothing else happens.
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "usmp/instance/csv.hpp"
#include "usmp/instance/json.hpp"
#include "usmp/support/error.hpp"

namespace usmp::instance::hostile_test {
namespace {

struct Count {
  int read = 0;
  int refused = 0;
};

// Bytes of the text changed, cut out, doubled or moved.
std::string damaged(std::string text, std::mt19937& random) {
  const std::string bytes = "0123456789-,\"\r\n[]{}:. eE\\u\x00\xff" + std::string(1, '\0');
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
  for (std::size_t i = 1 + below(3); i > 0 && !text.empty(); --i) {
    const std::size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        text[at] = bytes[below(bytes.size())];
        break;
      case 1:
        text.erase(at, 1 + below(8));
        break;
      case 2:
        text.insert(at, 1, bytes[below(bytes.size())]);
        break;
      default:
        text.insert(below(text.size()), text.substr(at, 1 + below(40)));
    }
  }
  return text;
}

template <class Read>
Count damage(const std::string& text, int rounds, const Read& read) {
  std::mt19937 random(7);
  Count count;
  for (int i = 0; i < rounds; ++i) {
    const std::string bad = damaged(text, random);
    CAPTURE(bad);
    try {
      read(bad);
      ++count.read;
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      CHECK_FALSE(error.message().empty());
      ++count.refused;
    }
  }
  return count;
}

}  // namespace

TEST_CASE("damaged CSV") {
  const std::string text = "id,lower,upper,size,alignment,offset\n\"a,1\",0,2,32,1,\r\nb,1,4,16,16,32\nb,6,9,16,16,\n";
  const Count count = damage(text, 20000, [](const std::string& bad) {
    const instance::CsvInstance read = instance::parse_csv(bad);
    CHECK_FALSE(invalid_reason(read.problem).has_value());
    Plan plan;  // far apart, so that the result is valid too
    for (const Buffer& buffer : read.problem.buffers) {
      const Bytes far = Bytes{1} << 40;
      const Bytes before = plan.allocations.empty() ? 0 : plan.allocations.back().offset;
      plan.allocations.push_back({PoolId(0), align_up(before + far, buffer.alignment)});
    }
    CHECK(instance::parse_csv(instance::csv_with_offsets(bad, read, plan)).rows == read.rows);
  });
  CHECK(count.read > 300);
  CHECK(count.refused > 1000);
}

TEST_CASE("damaged problems and answers in JSON") {
  const std::string text = R"({"format":"usmp-plan/problem","version":1,"horizon":9,
    "pools":[{"name":"a","kind":"parameter","capacity":64,"alignment":4,"reserved":8},{"name":"b"}],
    "buffers":[{"id":0,"name":"x","function":"f","kind":"input","size":3,"alignment":2,"candidates":["a","b"],
      "live":[[0,2],[4,9]],"pinned":null},{"id":1,"size":1,"candidates":["b"],"live":[],"pinned":16}]})";
  const Problem problem = instance::parse_problem(text);
  const Count problems = damage(text, 20000, [](const std::string& bad) {
    const Problem read = instance::parse_problem(bad);
    CHECK_FALSE(invalid_reason(read).has_value());
    CHECK_FALSE(instance::problem_json(read).empty());
  });
  CHECK(problems.read > 100);
  CHECK(problems.refused > 1000);
  const std::string answer =
      R"({"format":"usmp-plan/answer","version":1,"status":"optimal","allocations":[{"buffer":0,"pool":"a","offset":8},
      {"buffer":1,"pool":"b","offset":16}]})";
  const Count answers = damage(answer, 20000, [&](const std::string& bad) {
    CHECK(instance::parse_answer(bad, problem).plan.allocations.size() == 2);
  });
  CHECK(answers.read > 100);
  CHECK(answers.refused > 1000);
}

}  // namespace usmp::instance::hostile_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Problems and answers as JSON: random ones read back, and every mistake with its path.
#include "usmp/instance/json.hpp"

#include <doctest/doctest.h>

#include <locale>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "planning_support/random_problem.hpp"
#include "usmp/instance/limits.hpp"
#include "usmp/support/error.hpp"

namespace usmp::instance::json_test {

using instance::Answer;
using instance::answer_json;
using instance::parse_answer;
using instance::parse_problem;
using instance::problem_json;

namespace {

template <class Read>
std::string fault_of(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

std::string problem_fault(const std::string& text) {
  return fault_of([&] { static_cast<void>(parse_problem(text)); });
}

Problem example() {
  Problem problem;
  problem.horizon = 1234567;
  problem.pools = {{.name = "dtcm", .capacity = 65536, .alignment = 8, .reserved = 32},
                   {.name = "flash", .kind = PoolKind::constant}};
  problem.buffers = {{.name = "conv \"1\"\n\xC3\xA9",
                      .function = "main",
                      .kind = BufferKind::scratch,
                      .size = 4096,
                      .alignment = 16,
                      .candidates = {PoolId(0)},
                      .live = {{0, 4}, {10, 1234567}},
                      .pinned = 64},
                     {.name = "w",
                      .function = "",
                      .kind = BufferKind::constant,
                      .size = 0,
                      .candidates = {PoolId(1), PoolId(0)},
                      .live = {}}};
  return problem;
}

void check_equal(const Problem& a, const Problem& b) {
  CHECK(a.horizon == b.horizon);
  REQUIRE(a.pools.size() == b.pools.size());
  for (std::size_t i = 0; i < a.pools.size(); ++i) {
    CHECK(a.pools[i].name == b.pools[i].name);
    CHECK(a.pools[i].kind == b.pools[i].kind);
    CHECK(a.pools[i].capacity == b.pools[i].capacity);
    CHECK(a.pools[i].alignment == b.pools[i].alignment);
    CHECK(a.pools[i].reserved == b.pools[i].reserved);
  }
  REQUIRE(a.buffers.size() == b.buffers.size());
  for (std::size_t i = 0; i < a.buffers.size(); ++i) {
    CHECK(a.buffers[i].name == b.buffers[i].name);
    CHECK(a.buffers[i].function == b.buffers[i].function);
    CHECK(a.buffers[i].kind == b.buffers[i].kind);
    CHECK(a.buffers[i].size == b.buffers[i].size);
    CHECK(a.buffers[i].alignment == b.buffers[i].alignment);
    CHECK(a.buffers[i].candidates == b.buffers[i].candidates);
    CHECK(a.buffers[i].live == b.buffers[i].live);
    CHECK(a.buffers[i].pinned == b.buffers[i].pinned);
  }
  CHECK(a.distances == b.distances);
}

// Digits in groups, as many locales write them.
struct Grouping : std::numpunct<char> {
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\3"; }
};

const char* const golden = R"({
 "format": "usmp-plan/problem",
 "version": 1,
 "horizon": 1234567,
 "pools": [
  {"name":"dtcm","kind":"workspace","capacity":65536,"alignment":8,"reserved":32},
  {"name":"flash","kind":"parameter","capacity":null,"alignment":1,"reserved":0}
 ],
 "buffers": [
  {"id":0,"name":"conv \"1\"\né","function":"main","kind":"scratch","size":4096,"alignment":16,"candidates":["dtcm"],"live":[[0,4],[10,1234567]],"pinned":64},
  {"id":1,"name":"w","function":"","kind":"constant","size":0,"alignment":1,"candidates":["flash","dtcm"],"live":[],"pinned":null}
 ]
}
)";

}  // namespace

TEST_CASE("a problem is written as its documentation shows, in any locale") {
  CHECK(problem_json(example()) == golden);
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Grouping));
  const std::string written = problem_json(example());
  const Problem read = parse_problem(written);
  std::locale::global(before);
  CHECK(written == golden);
  check_equal(read, example());
}

TEST_CASE("random problems are read back as they were") {
  std::mt19937 random(1);
  const auto below = [&](std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
  };
  for (int round = 0; round < 300; ++round) {
    Problem problem;
    problem.horizon = 100;
    const auto pools = static_cast<std::size_t>(1 + below(3));
    for (std::size_t i = 0; i < pools; ++i) {
      Pool pool{.name = "p" + std::to_string(i), .kind = below(2) == 0 ? PoolKind::workspace : PoolKind::constant};
      if (below(2) == 0) pool.capacity = below(1 << 20);
      pool.alignment = 1 + below(64);
      pool.reserved = below(100);
      problem.pools.push_back(pool);
    }
    const auto buffers = below(6);
    for (std::int64_t i = 0; i < buffers; ++i) {
      Buffer buffer;
      buffer.name = "b" + std::to_string(below(3));
      buffer.function = below(2) == 0 ? "" : "f";
      buffer.kind = static_cast<BufferKind>(below(5));
      buffer.size = below(1 << 16);
      buffer.alignment = 1 + below(100);
      for (std::size_t p = pools; p-- > 0;) {
        if (buffer.candidates.empty() || below(2) == 0) buffer.candidates.emplace_back(p);
      }
      for (Tick begin = below(20); begin < 90; begin += 12 + below(20))
        buffer.live.push_back({begin, begin + 1 + below(10)});
      problem.buffers.push_back(buffer);
    }
    for (std::size_t i = 1; i < problem.buffers.size(); ++i) {
      const Bytes size = problem.buffers[i - 1].size;
      if (size > 0 && below(2) == 0) problem.distances.push_back({BufferId(i - 1), BufferId(i), below(size)});
    }
    REQUIRE_FALSE(invalid_reason(problem).has_value());
    const std::string text = problem_json(problem);
    check_equal(parse_problem(text), problem);
    CHECK(problem_json(parse_problem(text)) == text);
  }
}

TEST_CASE("names that are not UTF-8 are repaired") {
  Problem problem = example();
  problem.buffers[1].name = "\xFF";
  CHECK(parse_problem(problem_json(problem)).buffers[1].name == "\xEF\xBF\xBD");
}

TEST_CASE("members stand in any order, and most have a default") {
  const Problem problem = parse_problem(R"({"buffers":[{"live":[[0,2]],"candidates":["b","a"],"size":8,"id":0}],
    "pools":[{"name":"a"},{"capacity":64,"name":"b"}],"horizon":2,"version":1,"format":"usmp-plan/problem"})");
  CHECK(problem.buffers[0].candidates == std::vector{PoolId(1), PoolId(0)});
  CHECK(problem.buffers[0].alignment == 1);
  CHECK(problem.pools[1].capacity == 64);
  CHECK_FALSE(problem.pools[0].capacity.has_value());
}

TEST_CASE("every mistake in a problem is told with its JSON path") {
  const std::string most = "9223372036854775807";
  // A right problem, a piece of it replaced.
  const auto with = [](const std::string& piece, const std::string& replacement) {
    std::string text = golden;
    const std::size_t at = text.find(piece);
    REQUIRE(at != std::string::npos);
    return text.replace(at, piece.size(), replacement);
  };
  struct Case {
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {"[]", "found a list, expected an object"},
      {"7", "found 7, expected an object"},
      {"{}", "no key 'format'"},
      {with("usmp-plan/problem", "usmp-plan/plan"), "format: found 'usmp-plan/plan', expected 'usmp-plan/problem'"},
      {with("\"version\": 1", "\"version\": 2"), "version: found 2, expected 1"},
      {with("\"version\": 1", "\"version\": \"1\""), "version: found '1', expected an integer from 0 to " + most},
      {with("1234567,", "-1,"), "horizon: found -1, expected an integer from 0 to " + most},
      {with("1234567,", "1e3,"), "horizon: found 1000.0, expected an integer from 0 to " + most},
      {with("1234567,", "[1],"), "horizon: found a list, expected an integer from 0 to " + most},
      {with("1234567,", "1e999,"), "horizon: a number is too large"},
      {with("\"horizon\"", "\"distances\":[{\"below\":0,\"above\":9,\"bytes\":1}],\"horizon\""),
       "a distance is between buffers that do not exist"},
      {with("\"horizon\"", "\"distances\":[{\"below\":0,\"above\":1}],\"horizon\""), "distances[0]: no key 'bytes'"},
      {with("\"horizon\"", "\"horizons\""), "unknown key 'horizons' (did you mean 'horizon'?)"},
      {with("\"horizon\"", "\"version\""), "key 'version' appears twice"},
      {with("\"kind\":\"workspace\"", "\"kind\":\"constant\""),
       "pools[0].kind: found 'constant', expected 'workspace' or 'parameter'"},
      {with("\"capacity\":65536", "\"capacity\":-1"),
       "pools[0].capacity: found -1, expected an integer from 0 to " + most},
      {with("\"alignment\":8", "\"alignment\":0"),
       "pools[0].alignment: found 0, expected an integer from 1 to " + most},
      {with("\"reserved\":0", "\"reserved\":null"),
       "pools[1].reserved: found null, expected an integer from 0 to " + most},
      {with("\"reserved\":0", "\"size\":0"), "pools[1]: unknown key 'size'"},
      {with("\"name\":\"flash\"", "\"name\":7"), "pools[1].name: found 7, expected text"},
      {with("\"name\":\"flash\",", ""), "pools[1]: no key 'name'"},
      {with("\"name\":\"flash\"", "\"name\":\"dtcm\""), "buffers[1].candidates[0]: no pool 'flash'"},
      {with("\"pools\": [", "\"pools\": [7,"), "pools[0]: found 7, expected an object"},
      {with("\"id\":1", "\"id\":2"), "buffers[1].id: found 2, expected 1, its index in the list"},
      {with("\"kind\":\"scratch\"", "\"kind\":\"temporary\""),
       "buffers[0].kind: found 'temporary', expected 'tensor', 'scratch', 'input', 'output' or 'constant'"},
      {with("\"size\":4096", "\"size\":9223372036854775808"),
       "buffers[0].size: found 9223372036854775808, expected an integer from 0 to " + most},
      {with("\"size\":4096", "\"size\":true"), "buffers[0].size: found true, expected an integer from 0 to " + most},
      {with("\"size\":4096,", ""), "buffers[0]: no key 'size'"},
      {with("\"size\":4096", "\"alignment\":4096"), "buffers[0]: key 'alignment' appears twice"},
      {with("\"candidates\":[\"dtcm\"]", "\"candidates\":[\"dtmc\"]"),
       "buffers[0].candidates[0]: no pool 'dtmc' (did you mean 'dtcm'?)"},
      {with("\"candidates\":[\"dtcm\"]", "\"candidates\":[]"), "buffer 'conv \"1\"\\n\xC3\xA9': no candidate pool"},
      {with("\"candidates\":[\"dtcm\"]", "\"candidates\":\"dtcm\""),
       "buffers[0].candidates: found 'dtcm', expected a list"},
      {with("[10,1234567]", "[10]"), "buffers[0].live[1]: found 1 values, expected 2"},
      {with("[10,1234567]", "[10,-4]"), "buffers[0].live[1][1]: found -4, expected an integer from 0 to " + most},
      {with("[10,1234567]", "[10,{\"a\":1,\"a\":2}]"), "buffers[0].live[1][1]: key 'a' appears twice"},
      {with("[0,4]", "[4,4]"), "buffer 'conv \"1\"\\n\xC3\xA9': live range [4, 4) is empty or outside [0, 1234567)"},
      {with("\"pinned\":64", "\"pinned\":\"64\""),
       "buffers[0].pinned: found '64', expected an integer from 0 to " + most},
      {with("\"pinned\":64", "\"pinned\":24"),
       "buffer 'conv \"1\"\\n\xC3\xA9' is pinned to offset 24 of pool 'dtcm', but its first 32 bytes are reserved"},
      {with("\"pools\": [", "\"pools\": {"), "pools: found an object, expected a list"},
      {with("[0,4]", std::string(30, '[')), "buffers[0].live" +
                                                [] {
                                                  std::string path;
                                                  for (int i = 0; i < 14; ++i) path += "[0]";
                                                  return path;
                                                }() +
                                                ": nested deeper than 16 levels"},
      {"{\"format\": nul}", "line 1, column 15: malformed JSON: syntax error while parsing value - invalid literal"},
      {"{\n \"format\"",
       "line 2, column 10: malformed JSON: syntax error while parsing object separator - unexpected "
       "end of input; expected ':'"},
      {golden + std::string("x"),
       "line 14, column 1: malformed JSON: syntax error while parsing value - invalid literal; expected end of input"},
      {"",
       "line 1, column 1: malformed JSON: syntax error while parsing value - unexpected end of input; expected '[', "
       "'{', or a literal"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(problem_fault(c.text) == c.message);
  }
}

TEST_CASE("a problem that is too large is refused") {
  CHECK(problem_fault(std::string(instance::max_text_bytes + 1, ' ')) == "larger than 67108864 bytes");
  std::string text = R"({"buffers":[{"id":0,"live":[0)";
  for (std::size_t i = 0; i < instance::max_element_values; ++i) text += ",0";
  CHECK(problem_fault(text + "]}]}") == "buffers[0].live: found more than 1000000 values");
}

TEST_CASE("pools beyond the limit are refused where they begin") {
  const auto error = [](int count) {
    std::string pools;
    for (int i = 0; i < count; ++i) pools += (i > 0 ? ",{\"name\":\"p" : "{\"name\":\"p") + std::to_string(i) + "\"}";
    return problem_fault("{\"format\":\"usmp-plan/problem\",\"version\":1,\"horizon\":1,\"pools\":[" + pools +
                         "],\"buffers\":[]}");
  };
  CHECK(error(256) == "no error");
  CHECK(error(1000) == "pools[256]: there are more pools than the limit of 256");
}

TEST_CASE("deep nesting costs no stack") {
  CHECK(problem_fault("{\"buffers\": " + std::string(1000000, '[')).ends_with("nested deeper than 16 levels"));
}

TEST_CASE("an answer is written as its documentation shows and read back") {
  const Problem problem = example();
  const Answer answer{PlanStatus::optimal, {{{PoolId(0), 64}, {PoolId(1), 1000000}}}};
  const std::string text = answer_json(problem, answer);
  CHECK(text == R"({
 "format": "usmp-plan/answer",
 "version": 1,
 "status": "optimal",
 "allocations": [
  {"buffer":0,"pool":"dtcm","offset":64},
  {"buffer":1,"pool":"flash","offset":1000000}
 ]
}
)");
  const Answer read = parse_answer(text, problem);
  CHECK(read.status == PlanStatus::optimal);
  CHECK(read.plan == answer.plan);
  const Answer none{PlanStatus::infeasible, {{{}, {}}}};
  CHECK(parse_answer(answer_json(problem, none), problem).status == PlanStatus::infeasible);
}

TEST_CASE("random answers are read back as they were, whatever they place") {
  test::ProblemMaker maker(1);
  for (int round = 0; round < 200; ++round) {
    const Problem problem = maker.make({.buffers = maker.below(9), .pools = 1 + maker.below(3)});
    Answer answer{maker.below(2) == 0 ? PlanStatus::feasible : PlanStatus::optimal, {}};
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
      Allocation at;
      if (maker.below(5) != 0) {
        at = {PoolId(maker.below(problem.pools.size())), static_cast<Bytes>(maker.below(std::size_t{1} << 50U))};
      }
      answer.plan.allocations.push_back(at);
    }
    const Answer read = parse_answer(answer_json(problem, answer), problem);
    CHECK(read.status == answer.status);
    CHECK(read.plan == answer.plan);
  }
}

TEST_CASE("allocations are all that an answer needs, in any order") {
  const Answer read = parse_answer(
      R"({"allocations":[{"offset":0,"buffer":1,"pool":"flash"},{"buffer":0,"pool":"dtcm","offset":9}]})", example());
  CHECK(read.status == PlanStatus::feasible);
  CHECK(read.plan == Plan{{{PoolId(0), 9}, {PoolId(1), 0}}});
  const Answer partly = parse_answer(R"({"allocations":[{"offset":0,"buffer":1,"pool":"flash"}]})", example());
  CHECK_FALSE(partly.plan.allocations[0].placed());
}

TEST_CASE("every mistake in an answer is told with its JSON path") {
  struct Case {
    std::string text;
    std::string message;
  };
  const auto one = [](const std::string& allocation) { return R"({"allocations":[)" + allocation + "]}"; };
  const Case cases[] = {
      {"{}", "no key 'allocations'"},
      {R"({"status":"feasible"})", "no key 'allocations'"},
      {R"({"status":"infeasible","allocations":[]})", "found allocations, expected none with the status 'infeasible'"},
      {R"({"status":"good"})", "status: found 'good', expected 'feasible', 'optimal', 'infeasible' or 'not_found'"},
      {R"({"allocation":[]})", "unknown key 'allocation' (did you mean 'allocations'?)"},
      {R"({"format":"usmp-plan/problem"})", "format: found 'usmp-plan/problem', expected 'usmp-plan/answer'"},
      {R"({"version":7})", "version: found 7, expected 1"},
      {one(R"({"buffer":2,"pool":"dtcm","offset":0})"),
       "allocations[0].buffer: found 2, expected an integer from 0 to 1"},
      {one(R"({"buffer":0,"pool":"dtc","offset":0})"), "allocations[0].pool: no pool 'dtc' (did you mean 'dtcm'?)"},
      {one(R"({"buffer":0,"pool":"dtcm","offset":-8})"),
       "allocations[0].offset: found -8, expected an integer from 0 to 9223372036854775807"},
      {one(R"({"buffer":0,"pool":"dtcm"})"), "allocations[0]: no key 'offset'"},
      {one(R"({"buffer":0,"pool":"dtcm","offset":0},{"buffer":0,"pool":"dtcm","offset":0})"),
       "allocations[1].buffer: buffer 0 appears twice"},
      {"Placed 2 buffers\n", "line 1, column 1: malformed JSON: syntax error while parsing value - invalid literal"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(fault_of([&] { static_cast<void>(parse_answer(c.text, example())); }) == c.message);
  }
  CHECK(fault_of([&] {
          static_cast<void>(parse_answer(one(R"({"buffer":0,"pool":"a","offset":0})"),
                                         Problem{.pools = {{.name = "a"}}, .buffers = {}}));
        }) == "allocations[0].buffer: there are no buffers");
}

}  // namespace usmp::instance::json_test

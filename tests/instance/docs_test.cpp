// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The examples of docs/instances.md are what the readers accept and the writers write.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "usmp/instance/csv.hpp"
#include "usmp/instance/json.hpp"

namespace usmp::instance::docs_test {
namespace {

std::vector<std::string> examples(const std::string& language) {
  std::ifstream file(USMP_TESTDATA "/../docs/instances.md");
  std::ostringstream text;
  text << file.rdbuf();
  std::vector<std::string> blocks;
  const std::string opening = "```" + language + "\n";
  for (std::size_t at = text.str().find(opening); at != std::string::npos; at = text.str().find(opening, at)) {
    at += opening.size();
    blocks.push_back(text.str().substr(at, text.str().find("```", at) - at));
  }
  return blocks;
}

}  // namespace

TEST_CASE("the documented CSV is an instance of three buffers") {
  REQUIRE(examples("csv").size() == 1);
  const Problem problem = instance::parse_csv(examples("csv")[0]).problem;
  REQUIRE(problem.buffers.size() == 3);
  CHECK(problem.buffers[1].pinned == 32);
}

TEST_CASE("the documented problem is what is written, the documented answers answer it") {
  const std::vector<std::string> json = examples("json");
  REQUIRE(json.size() == 3);
  const Problem problem = instance::parse_problem(json[0]);
  CHECK(instance::problem_json(problem) == json[0]);
  CHECK(instance::parse_answer(json[1], problem).plan.allocations[1] == Allocation{PoolId(0), 32});
  CHECK(instance::parse_answer(json[2], problem).status == PlanStatus::not_found);
}

}  // namespace usmp::instance::docs_test

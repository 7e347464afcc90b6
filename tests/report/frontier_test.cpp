// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Memory against work, as text and as a picture. test_schema.py holds frontier.json against
// docs/schema/frontier.schema.json.
#include "usmp/report/frontier.hpp"

#include <doctest/doctest.h>

#include "plan_support/golden.hpp"

namespace usmp::report::frontier_test {

using compare::Frontier;

namespace {

Frontier example() {
  Frontier frontier;
  frontier.archive = "net|1.tar";
  frontier.modules.push_back({"default",
                              {{0, PlanStatus::optimal, 0, 7489664, 10440, 0},
                               {10, PlanStatus::optimal, 73, 7968128, 9672, 0},
                               {30, PlanStatus::feasible, 110, 8207360, 9700, 64},
                               {70, PlanStatus::feasible, 480, std::nullopt, 8000, 0},
                               {90, std::nullopt, 0, std::nullopt, 0, 0}}});
  frontier.modules.push_back({"<other>", {{0, std::nullopt, 0, std::nullopt, 0, 0}}});
  frontier.modules.push_back({"third",
                              {{0, PlanStatus::optimal, 0, 100, 80, 0},
                               {1, PlanStatus::optimal, 0, 100, 80, 0},
                               {50, PlanStatus::optimal, 444, 150, 40, 0}}});
  return frontier;
}

}  // namespace

TEST_CASE("memory against work in every format") {
  check_golden("frontier.txt", frontier_text(example(), false));
  check_golden("frontier.md", frontier_markdown(example()));
  check_golden("frontier.json", frontier_json(example()));
  check_golden("frontier.csv", frontier_csv(example()));
  check_golden("frontier.svg", frontier_svg(example()));
}

TEST_CASE("the picture's axes have titles and round steps, as few as have room") {
  const auto ticks = [](Bytes bytes, std::int64_t permille) {
    Frontier frontier;
    frontier.modules.push_back(
        {"m", {{0, PlanStatus::optimal, 0, 1, bytes, 0}, {9, PlanStatus::optimal, permille, 1, bytes, 0}}});
    const std::string picture = frontier_svg(frontier);
    CHECK(picture.find(" transform=\"rotate(-90 25 185)\">bytes of workspace</text>") != std::string::npos);
    std::string text;
    for (std::size_t at = 0; (at = picture.find(" class=\"dim\" text-anchor=", at)) != std::string::npos; ++at) {
      const std::size_t begin = picture.find('>', at) + 1;
      const std::string label = picture.substr(begin, picture.find('<', begin) - begin);
      if (label.find(' ') == std::string::npos) text += label + " ";
    }
    return text;
  };
  CHECK(ticks(16609, 527) == "0 5000 10000 15000 1.00 1.20 1.40 ");
  CHECK(ticks(9488, 40) == "0 2000 4000 6000 8000 1.00 1.01 1.02 1.03 1.04 ");
  CHECK(ticks(4, 0) == "0 1 2 3 4 1.00 ");
}

TEST_CASE("the picture's line steps down where a plan is smaller than those of less work, and only there") {
  const std::string picture = frontier_svg(example());
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = picture.find("class=\"bound\"", at)) != std::string::npos; ++at) ++lines;
  CHECK(lines == 2 * 2 + 1 + 2 + 1);
  std::size_t dots = 0;
  for (std::size_t at = 0; (at = picture.find("<circle", at)) != std::string::npos; ++at) ++dots;
  CHECK(dots == 4 + 3);
  CHECK(picture.find("&lt;other&gt;") != std::string::npos);
}

}  // namespace usmp::report::frontier_test

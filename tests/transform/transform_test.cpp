// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lists of steps as words.
#include "usmp/transform/transform.hpp"

#include <doctest/doctest.h>

namespace usmp::transform::transform_test {

using transform::Step;

TEST_CASE("step names are read in any order and each once") {
  const std::vector<Step> steps = {Step::fuse, Step::reorder};
  CHECK(transform::parse_steps("reorder,fuse,reorder") == steps);
  CHECK(transform::parse_steps("none") == std::vector<Step>());
  CHECK(transform::parse_steps("all") ==
        std::vector<Step>(std::begin(transform::all_steps), std::end(transform::all_steps)));
  for (const Step step : transform::all_steps) {
    CHECK(transform::parse_steps(transform::name_of(step)) == std::vector<Step>{step});
  }
}

TEST_CASE("a word that is no step is told") {
  for (const char* text : {"fusion", "fuse,fusion", "fusion,fuse"}) {
    std::string wrong;
    CHECK_FALSE(transform::parse_steps(text, &wrong));
    CHECK(wrong == "fusion");
  }
  std::string wrong = "x";
  CHECK_FALSE(transform::parse_steps("fuse,", &wrong));
  CHECK(wrong.empty());
}

}  // namespace usmp::transform::transform_test

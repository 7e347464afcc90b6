// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Does the program see a distance that is wrong? Distances of real networks are lowered, one at a time: the verifier
// believes them, the replay of the program's accesses does not.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>

#include "driver/planning.hpp"
#include "files.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::driver::replay_test {
namespace {

PlanningOptions options_for(const std::string& model) {
  PlanningOptions options;
  options.model.model = testdata + "/" + model;
  options.model.transform = "fuse,narrow,merge,constants,reorder,inplace";  // rings have no distances
  options.algorithm = "hill_climb";
  return options;
}

Planning assembled(const std::string& model) { return assemble_all(options_for(model), true, nullptr); }

struct Refused {
  std::size_t plans = 0;
  std::size_t refused = 0;
};

// Each distance by itself is taken for none, and planned with.
Refused lower_distances(Planning& planning) {
  pipeline::PlannedProgram& module = *planning.modules.front();
  const Problem right = module.assembly.problem;
  Refused result;
  for (std::size_t i = 0; i < right.distances.size(); ++i) {
    Problem& wrong = module.assembly.problem;
    wrong = right;
    wrong.distances[i].bytes = 0;
    const Plan plan = planners::hill_climb(wrong, {}).plan;
    REQUIRE(verify::check(wrong, plan).empty());
    if (verify::check(right, plan).empty()) continue;
    ++result.plans;
    if (!pipeline::replay_plan(module, plan, planning.replay_steps).empty()) ++result.refused;
    CHECK(module.replayed.left_out.empty());
  }
  module.assembly.problem = right;
  return result;
}

TEST_CASE("a distance that is too small is not believed") {
  struct Row {
    const char* model;
    std::size_t plans;    // that keep to the lowered distance and not to the right one
    std::size_t refused;  // of these; two distances of resnet8 are a few bytes larger than they would have to be
  };
  for (const Row& row :
       {Row{"ds_cnn.tar", 5, 5}, {"lstm.tar", 3, 3}, {"repeated_op.tar", 2, 2}, {"resnet8.tar", 5, 3}}) {
    CAPTURE(row.model);
    Planning planning = assembled(row.model);
    planning.replay_steps = pipeline::replay_steps_of_verify;
    const Refused result = lower_distances(planning);
    CHECK(result.plans == row.plans);
    CHECK(result.refused == row.refused);
  }
}

TEST_CASE("nothing comes of a plan that the replay refuses") {
  Planning planning = assembled("repeated_op.tar");
  pipeline::PlannedProgram& module = *planning.modules.front();
  for (Distance& distance : module.assembly.problem.distances) distance.bytes = 0;
  std::string message;
  try {
    plan_module(module, planning, options_for("repeated_op.tar"), {}, nullptr);
  } catch (const std::logic_error& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(message.starts_with(
      "the plan failed verification, nothing was written, this is a bug of usmp-plan:\n  element of "));
  CHECK(message.find(" has overwritten it, in function 'tvmgen_default_") != std::string::npos);
  CHECK_FALSE(module.result.has_plan());
}

TEST_CASE("usmp-plan verify says what was replayed") {
  const auto verified = [](const std::string& model, bool json) {
    VerifyOptions options;
    options.model.model = testdata + "/" + model;
    options.model.json = json;
    std::ostringstream out;
    std::ostringstream err;
    REQUIRE(verify(options, out, err) == exit_ok);
    return out.str();
  };
  CHECK(verified("lstm.tar", false).find("\nreplayed: all 4 pairs, 912 accesses\n") != std::string::npos);
  CHECK(verified("cast_subtract.tar", false).find("replayed") == std::string::npos);
  const auto replayed = [&](const std::string& model) {
    return nlohmann::json::parse(verified(model, true))["modules"][0]["replayed"];
  };
  CHECK(replayed("lstm.tar") == nlohmann::json::parse(R"({"pairs": 4, "accesses": 912, "left_out": []})"));
  CHECK(replayed("cast_subtract.tar").is_null());
}

}  // namespace
}  // namespace usmp::driver::replay_test

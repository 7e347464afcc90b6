// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Does the execution notice wrong plans of real networks? Pairs of buffers that are live together are laid over each
// other behind the verifier's back.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "driver/execution.hpp"
#include "driver/planning.hpp"
#include "files.hpp"
#include "usmp/execute/execute.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::driver::wrong_plan_test {
namespace {

struct Tried {
  std::size_t plans = 0;
  std::size_t found = 0;
};

// Moves the second of each chosen pair to the place of the first; every `stride`-th pair is chosen.
Tried try_overlaps(const std::string& model, std::size_t stride) {
  const TemporaryDirectory temporary;
  PlanningOptions options;
  options.model.model = testdata + "/" + model;
  options.pools_file = testdata + "/pools/sram.yaml";
  options.model.transform = "none";
  options.algorithm = "none";  // so that nothing else shares memory
  Planning planning = assemble_all(options, true, nullptr);
  plan_all(planning, options, nullptr);
  REQUIRE(planning.without_plan() == nullptr);
  pipeline::PlannedProgram& module = *planning.modules.front();
  const PlanResult right = module.result;
  const Conflicts conflicts(module.assembly.problem);
  const execute::Options execution{.flags = {"-O0"}, .rounds = 2};
  const execute::Compiler compiler = execute::find_compiler(execution, temporary.path.string());
  Tried tried;
  std::size_t pair = 0;
  for (std::size_t i = 0; i < module.assembly.problem.buffers.size(); ++i) {
    for (const BufferId other : conflicts.of(BufferId(i))) {
      if (other.index() < i || pair++ % stride != 0) continue;
      PlanResult wrong = right;
      wrong.plan.allocations[other.index()] = right.plan.allocations[i];
      REQUIRE_FALSE(verify::check(module.assembly.problem, wrong.plan).empty());
      pipeline::adopt(module, wrong, origin_of(module, planning, 0));
      ++tried.plans;
      const auto findings = execute_module(module, planning, compiler, execution, temporary.file(std::to_string(pair)));
      if (findings.faults.empty()) {
        MESSAGE(model << ": not found: " << module.assembly.problem.buffers[i].name << " and "
                      << module.assembly.problem.buffers[other.index()].name);
      } else {
        ++tried.found;
      }
    }
  }
  return tried;
}

}  // namespace

// Live ranges are by statement, so some overlaps do no harm: sid_7 of this network may lie over the part of sid_4 that
// the one statement that has both live has read by the time it writes sid_7.
TEST_CASE("wrong plans of real networks compute something else") {
  const Tried lstm = try_overlaps("lstm.tar", 60);
  CHECK(lstm.plans == 3);
  CHECK(lstm.found == 2);
}

// For docs/testing.md: test_driver -ns -tc="every twelfth*".
TEST_CASE("every twelfth pair of live buffers laid over each other" * doctest::skip()) {
  Tried all;
  for (const std::string model : {"lstm.tar", "ds_cnn.tar", "resnet8.tar", "repeated_op.tar"}) {
    const Tried tried = try_overlaps(model, 12);
    MESSAGE(model << ": " << tried.found << " of " << tried.plans << " found");
    all.plans += tried.plans;
    all.found += tried.found;
  }
  CHECK(all.plans == 27);
  CHECK(all.found == 18);
}

}  // namespace usmp::driver::wrong_plan_test

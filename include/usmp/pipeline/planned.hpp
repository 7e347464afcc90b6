// From a module's problem to its planned program: searched, verified, replayed, lowered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "usmp/codegen/codegen.hpp"
#include "usmp/lower/lower.hpp"
#include "usmp/pipeline/algorithm.hpp"
#include "usmp/pipeline/program.hpp"
#include "usmp/placement/placement.hpp"
#include "usmp/plan_file/plan_document.hpp"
#include "usmp/problem/needed_sizes.hpp"
#include "usmp/problem/problem.hpp"
#include "usmp/replay/replay.hpp"

namespace usmp::pipeline {

// What a replay of a plan may take (replay::Options): next to nothing where the plan is one result of several, seconds
// where it is asked whether the plan is right.
inline constexpr std::uint64_t replay_steps_of_plan = 40'000'000;
inline constexpr std::uint64_t replay_steps_of_verify = 2'000'000'000;

// What reports say of a plan that neither the module nor the result knows.
struct Origin {
  std::string archive;  // file name only
  std::string algorithm;
  std::uint64_t seed = 0;
  bool workspace_io = false;
  bool planned_before = false;  // the archive's own memory figures are those of a plan already, ours or TVM's
};

struct PlannedProgram : AssembledModule {
  std::optional<PoolId> minimized;  // comes before everything else
  PlanResult result;
  NeededSizes needed;  // without a plan, see needed_sizes.hpp
  // If there is a plan:
  replay::Result replayed;
  placement::Table placements;
  lower::Lowered lowered;
  plan_file::PlanDocument document;
};

// Plans the module and, if there is a plan, replays and adopts it. A plan that the verifier or the replay refuses is a
// bug (std::logic_error). Throws as plan_and_verify.
void plan(PlannedProgram& planned, const ChosenAlgorithm& algorithm, const Search& how, const Origin& origin,
          std::uint64_t replay_steps = replay_steps_of_plan);

// Replays the program at the places of a verified plan. What is wrong with the plan, a line each, the first ten of
// many; empty if nothing.
[[nodiscard]] std::vector<std::string> replay_plan(PlannedProgram& planned, const Plan& plan, std::uint64_t steps,
                                                   const Log& log = {});

// The same; a plan that the replay refuses is a bug (std::logic_error): the verifier has found nothing wrong, so a
// distance is.
void require_replayed(PlannedProgram& planned, const Plan& plan, std::uint64_t steps, const Log& log = {});

// Takes a verified and replayed result as the module's own: lowers the module and makes its document.
void adopt(PlannedProgram& planned, PlanResult result, const Origin& origin);

// What code generation gets. Points into the module.
[[nodiscard]] codegen::PlannedModule emission_input(const PlannedProgram& planned, bool workspace_io);

}  // namespace usmp::pipeline

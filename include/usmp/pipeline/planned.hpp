// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
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

// Limits for the replay of a plan (replay::Options): small while planning, seconds for `verify`.
inline constexpr std::uint64_t replay_steps_of_plan = 40'000'000;
inline constexpr std::uint64_t replay_steps_of_verify = 2'000'000'000;

// Facts about a plan for reports that are neither in the module nor in the result.
struct Origin {
  std::string archive;  // file name only
  std::string algorithm;
  std::uint64_t seed = 0;
  bool workspace_io = false;
  bool planned_before = false;  // the archive's own memory figures are already those of a plan, ours or TVM's
};

struct PlannedProgram : AssembledModule {
  std::optional<PoolId> minimized;  // the pool that is minimized first
  PlanResult result;
  NeededSizes needed;  // without a plan, see needed_sizes.hpp
  // If there is a plan:
  replay::Result replayed;
  placement::Table placements;
  lower::Lowered lowered;
  plan_file::PlanDocument document;
};

// Plans the module and, if there is a plan, replays and adopts it. After an interruption without a plan nothing is
// proved: none was found. A plan that the verifier or the replay rejects is a
// bug (std::logic_error). Throws as plan_and_verify.
void plan(PlannedProgram& planned, const ChosenAlgorithm& algorithm, const Search& how, const Origin& origin,
          std::uint64_t replay_steps = replay_steps_of_plan);

// Replays the program at the places of a verified plan. Returns the violations, one line each, at most ten; empty if
// there are none.
[[nodiscard]] std::vector<std::string> replay_plan(PlannedProgram& planned, const Plan& plan, std::uint64_t steps,
                                                   const Log& log = {});

// The same, but a violation is a bug (std::logic_error): the verifier accepted the plan, so a distance is wrong.
void require_replayed(PlannedProgram& planned, const Plan& plan, std::uint64_t steps, const Log& log = {});

// Makes a verified and replayed result that of the module: lowers the module and creates its document.
void adopt(PlannedProgram& planned, PlanResult result, const Origin& origin);

// The input of code generation. Points into the module. Throws Error of kind usage if a pool whose contents are written
// has a gap of more than 1 MiB, or reserves more than 64 MiB; it names the buffer, which is pinned there.
[[nodiscard]] codegen::EmissionInput emission_input(const PlannedProgram& planned, bool workspace_io);

}  // namespace usmp::pipeline

// From the command line to planned modules. Shared by the commands that plan archives.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assembling.hpp"
#include "interrupt.hpp"
#include "model.hpp"
#include "settings.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/lower/lower.hpp"
#include "usmp/plan_file/plan_document.hpp"
#include "usmp/replay/replay.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {

// One module on its way through the stages. The emitted files point into it: it does not move.
struct PlannedModule : AssembledModule {
  std::optional<PoolId> minimized;
  PlanResult result;
  replay::Result replayed;  // of the result's plan
  lower::Lowered lowered;
  plan_file::PlanDocument document;
};
using PlannedModules = std::vector<std::unique_ptr<PlannedModule>>;

// What a replay of a plan may take (replay::Options): next to nothing where the plan is one result of several, seconds
// where it is asked whether the plan is right.
inline constexpr std::uint64_t replay_steps_of_plan = 40'000'000;
inline constexpr std::uint64_t replay_steps_of_verify = 2'000'000'000;

struct Planning {
  Settings settings;
  Model model;
  PlannedModules modules;  // in the order of the metadata
  std::uint64_t replay_steps = replay_steps_of_plan;

  [[nodiscard]] const PlannedModule* without_plan() const;  // the first one; null if all have one
};

// Opens the model and brings every module to its problem. `release_tir`: see read_module. Throws Error.
[[nodiscard]] Planning assemble_all(const PlanningOptions& options, bool release_tir);

// Plans one module with the settings' algorithm and, if there is a plan, replays and lowers it. A plan that the replay
// refuses is a bug (std::logic_error).
void plan_module(PlannedModule& planned, const Planning& planning, const PlanningOptions& options,
                 const Interrupt& interrupt, std::ostream* terminal);

// What becomes of the other modules when there is no plan for one.
enum class WithoutPlan : bool { stop, go_on };

// Plans every module and lowers it; by default it stops at the first one for which there is no plan. Progress goes to
// `terminal`, which may be null.
void plan_all(Planning& planning, const PlanningOptions& options, std::ostream* terminal,
              WithoutPlan without_plan = WithoutPlan::stop);

// Replays the program at the places of a verified plan. What is wrong with the plan, a line each, the first ten of
// many; empty if nothing.
std::vector<std::string> replay_plan(PlannedModule& planned, const Planning& planning, const Plan& plan);

// The same; a plan that the replay refuses is a bug (std::logic_error): the verifier has found nothing wrong, so a
// distance is.
void require_replayed(PlannedModule& planned, const Planning& planning, const Plan& plan);

// Takes a verified and replayed result as the module's own: lowers the module and makes its document.
void adopt(PlannedModule& planned, const Planning& planning, PlanResult result, std::uint64_t seed);

// The message for a module without a plan; returns the exit code.
int report_infeasible(const PlannedModule& planned, const Settings& settings, std::ostream& err);

// What code generation gets. Points into the module.
[[nodiscard]] codegen::PlannedModule emission_input(const PlannedModule& planned, bool workspace_io);

// A module's members of external code generators, to be copied unchanged. They point into the model.
[[nodiscard]] std::vector<OutputFile> foreign_files(const PlannedModule& planned, const Model& model);

}  // namespace usmp::driver

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// From the command line to planned modules. Shared by the commands that plan archives.
#pragma once

#include <chrono>
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
#include "usmp/compare/shared_pools.hpp"
#include "usmp/driver/driver.hpp"
#include "usmp/pipeline/planned.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {

// The emitted files point into the modules: they do not move.
using PlannedPrograms = std::vector<std::unique_ptr<pipeline::PlannedProgram>>;

// What pools need so that several modules fit, of which some have no plan (joint_sizes).
struct JointSizes {
  NeededSizes sizes;
  std::string constants;  // what the size of the parameter pool is the sum of, if that is the last of these
};

struct Planning {
  Settings settings;
  std::vector<Model> models;        // at least one
  PlannedPrograms modules;          // those of the first model in the order of its metadata, then those of the next
  std::vector<std::size_t> owners;  // [i]: index of the model that modules[i] is from
  JointSizes joint;
  bool own_arrays = false;    // --in-place: workspace of the C's own is an array of each module, as it was
  bool tells_regions = true;  // warns of regions of the linker script that are too small for all that is in them
  bool finds_sizes = true;    // that are needed, where there is no plan
  std::uint64_t replay_steps = pipeline::replay_steps_of_plan;
  std::unique_ptr<const Interrupt> interrupt;  // from the first module on, until all are planned

  [[nodiscard]] const pipeline::PlannedProgram* without_plan() const;  // the first one; null if all have one
  [[nodiscard]] const Model& model_of(const pipeline::PlannedProgram& planned) const;  // of one of `modules`
  [[nodiscard]] bool has_bare_module() const;
  [[nodiscard]] std::vector<const plan_file::PlanDocument*> documents() const;  // of `modules`
  [[nodiscard]] std::string file_names() const;                                 // "a.tar, b.tar"
};

// Opens the model and brings every module to its problem. `release_tir`: see read_module. Progress goes to `terminal`,
// which may be null. Who does not go on with plan_all resets Planning::interrupt after planning. Throws Error.
// `recorded`: plans that are to be verified, whose programs are made as they were.
[[nodiscard]] Planning assemble_all(const PlanningOptions& options, bool release_tir, std::ostream* terminal,
                                    const std::vector<plan_file::PlanDocument>& recorded = {});

// Throws Error of kind usage if the pools file names a module in `concurrent` that is not planned. For commands that
// take all models of a program; the others take one as if it were alone.
void check_concurrent(const Planning& planning);

// Plans one module with the settings' algorithm (pipeline::plan).
void plan_module(pipeline::PlannedProgram& planned, const Planning& planning, const PlanningOptions& options,
                 const Interrupt& interrupt, std::ostream* terminal);

// The sizes that pools need for a plan of the module, which has none. `spent` of the time limit is gone.
void find_needed_sizes(pipeline::PlannedProgram& planned, const Planning& planning, const PlanningOptions& options,
                       const pipeline::Request& request, const Interrupt& interrupt, std::ostream* terminal,
                       std::chrono::milliseconds spent);

// Throws Error of kind usage if modules that run side by side share bytes of a workspace pool: plans that are read may,
// and so may those in pools that only the modules themselves describe.
void require_apart(const Planning& planning);

// Plans every module, with the sizes that are needed where there is no plan. Progress goes to `terminal`, which may be
// null.
void plan_all(Planning& planning, const PlanningOptions& options, std::ostream* terminal);

// What reports say of a plan of the module.
[[nodiscard]] pipeline::Origin origin_of(const pipeline::PlannedProgram& planned, const Planning& planning,
                                         std::uint64_t seed);

// The pools of several modules that all have a plan; else empty.
[[nodiscard]] std::vector<compare::SharedPool> shared_pools(const Planning& planning);

// Whether pools have room for what all modules have in them together, whose plans each fit; says which has not.
[[nodiscard]] bool pools_have_room(const Planning& planning, std::ostream& err);

// The messages for modules without a plan, and what all modules need together; returns the exit code.
int report_infeasible(const Planning& planning, std::ostream& err);
// The latter alone.
void tell_joint_sizes(const Planning& planning, std::ostream& err);

// A line for each warning of the plans, for runs whose output has no place for them.
void print_warnings(const plan_file::PlanDocument& plan, std::ostream& err);
void print_warnings(const PlannedPrograms& modules, std::ostream& err);

// A module's members of external code generators, to be copied. They point into the model.
[[nodiscard]] std::vector<OutputFile> foreign_files(const pipeline::PlannedProgram& planned, const Model& model);
// The one of this name, as it is written; nothing: the model has none. Points into the arguments.
[[nodiscard]] std::optional<std::string_view> foreign_text(const pipeline::PlannedProgram& planned, const Model& model,
                                                           const std::string& name);

}  // namespace usmp::driver

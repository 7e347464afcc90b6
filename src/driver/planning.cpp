// SPDX-License-Identifier: Apache-2.0
#include "planning.hpp"

#include <spdlog/spdlog.h>

#include <ostream>
#include <utility>

#include "algorithm.hpp"
#include "search.hpp"
#include "usmp/pipeline/needed_sizes.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/printable.hpp"

namespace usmp::driver {
namespace {

PoolId pool_named(const Problem& problem, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < problem.pools.size(); ++i) {
    if (problem.pools[i].name == name) return PoolId(i);
    names.push_back(problem.pools[i].name);
  }
  throw Error(
      ErrorKind::usage, {},
      "--minimize: unknown pool '" + name + "'" + did_you_mean(name, names) + "; the pools are: " + joined(names));
}

}  // namespace

const pipeline::PlannedProgram* Planning::without_plan() const {
  for (const auto& planned : modules) {
    if (!planned->result.has_plan()) return planned.get();
  }
  return nullptr;
}

Planning assemble_all(const PlanningOptions& options, bool release_tir) {
  Planning planning;
  planning.settings = read_settings(options.pools_file, options.algorithm, options.workspace_io);
  read_earlier_plans(planning.settings, options.pins);
  planning.model = open_model(options.model);
  spdlog::debug("{}: {} members, {} modules", options.model.model, planning.model.archive.members.size(),
                planning.model.metadata.modules.size());
  std::vector<const pipeline::AssembledModule*> assembled;
  for (const mlf::ModuleInfo& info : planning.model.metadata.modules) {
    auto planned = std::make_unique<pipeline::PlannedProgram>();
    static_cast<pipeline::AssembledModule&>(*planned) =
        assemble_module(planning.model, info, planning.settings, release_tir);
    spdlog::debug("module {}: {} functions, {} places of storage, {} statements in execution order", info.name,
                  planned->program.module.functions.size(), planned->program.analysis.sites.size(),
                  planned->program.analysis.horizon);
    if (options.minimize) planned->minimized = pool_named(planned->assembly.problem, *options.minimize);
    assembled.push_back(planned.get());
    planning.modules.push_back(std::move(planned));
  }
  check_pins(assembled, planning.settings);
  return planning;
}

void plan_module(pipeline::PlannedProgram& planned, const Planning& planning, const PlanningOptions& options,
                 const Interrupt& interrupt, std::ostream* terminal) {
  spdlog::debug("module {}: planning", planned.source.info.name);
  const WatchedSearch search(options.search, interrupt, terminal);
  pipeline::plan(planned, planning.settings.algorithm, search.limits(),
                 origin_of(planned, planning, options.search.seed.value_or(0)), planning.replay_steps);
}

void find_needed_sizes(pipeline::PlannedProgram& planned, const Planning& planning, const PlanningOptions& options,
                       const Interrupt& interrupt, std::ostream* terminal, std::chrono::milliseconds spent) {
  spdlog::debug("module {}: sizes that would be enough", planned.source.info.name);
  const WatchedSearch search(what_is_left(options.search, spent), interrupt, terminal);
  planned.needed = pipeline::needed_sizes(planned, planning.model.transformations, planning.settings.request,
                                          planning.settings.algorithm, search.limits());
}

void plan_all(Planning& planning, const PlanningOptions& options, std::ostream* terminal, WithoutPlan without_plan) {
  const Interrupt interrupt;
  for (const auto& planned : planning.modules) {
    const auto start = std::chrono::steady_clock::now();
    plan_module(*planned, planning, options, interrupt, terminal);
    if (planned->result.has_plan()) {
      planned->tried.clear();
      continue;
    }
    const auto spent = std::chrono::steady_clock::now() - start;
    find_needed_sizes(*planned, planning, options, interrupt, terminal,
                      std::chrono::duration_cast<std::chrono::milliseconds>(spent));
    if (without_plan == WithoutPlan::stop) return;
  }
}

pipeline::Origin origin_of(const pipeline::PlannedProgram& planned, const Planning& planning, std::uint64_t seed) {
  return {.archive = planning.model.file_name,
          .algorithm = planning.settings.algorithm.name,
          .seed = seed,
          .workspace_io = planning.settings.request.workspace_io,
          .planned_before = planning.model.archive.find(planned.source.info.name + ".plan.json") != nullptr};
}

int report_infeasible(const pipeline::PlannedProgram& planned, const Settings& settings, std::ostream& err) {
  err << "usmp-plan: error: module '" << printable(planned.source.info.name)
      << "': " << no_plan_text(planned.result, planned.needed, settings.algorithm) << '\n';
  return exit_infeasible;
}

void print_warnings(const plan_file::PlanDocument& plan, std::ostream& err) {
  for (const std::string& warning : plan.warnings) {
    err << "usmp-plan: warning: module '" << printable(plan.module) << "': " << printable(warning) << '\n';
  }
}

void print_warnings(const PlannedPrograms& modules, std::ostream& err) {
  for (const auto& planned : modules) print_warnings(planned->document, err);
}

std::vector<OutputFile> foreign_files(const pipeline::PlannedProgram& planned, const Model& model) {
  std::vector<OutputFile> files;
  for (const std::string& name : planned.source.info.foreign_members) {
    const mlf::Member* const member = model.archive.find(name);
    if (member == nullptr) continue;
    files.push_back({name, [member](TextSink& sink) { sink.write(member->bytes); }});
  }
  return files;
}

}  // namespace usmp::driver

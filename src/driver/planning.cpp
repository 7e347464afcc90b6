#include "planning.hpp"

#include <spdlog/spdlog.h>

#include <ostream>
#include <set>
#include <utility>

#include "algorithm.hpp"
#include "usmp/lower/outline.hpp"
#include "usmp/lower/shape_loops.hpp"
#include "usmp/pipeline/plan_document.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {
namespace {

std::vector<std::string> warnings_of(const AnalysedModule& analysed) {
  std::vector<std::string> warnings;
  std::set<std::string> members;
  for (const mlf::ForeignFunction& function : analysed.info->foreign_functions) {
    if (function.allocates_workspace && members.insert(function.member).second) {
      warnings.push_back(function.member +
                         " is copied unchanged and allocates workspace at run time, outside this plan");
    }
  }
  const std::vector<bool> written = liveness::written_params(analysed.original)[analysed.original.entry];
  for (const codegen::InterfaceTensor& output : analysed.interface.outputs) {
    if (written[output.param]) continue;
    warnings.push_back("output '" + output.name +
                       "' is never written: it keeps what was in its memory before. TVM makes such archives of a "
                       "tensor that the network gives out twice, or of a reshape of another output");
  }
  return warnings;
}

// Whether the archive's own memory figures are those of a plan already, ours or TVM's.
bool was_planned(const AnalysedModule& analysed, const Model& model) {
  return model.archive.find(analysed.info->name + ".plan.json") != nullptr || !analysed.module.annotated_pools.empty();
}

plan_file::PlanDocument document_of(const PlannedModule& planned, const Model& model, const Settings& settings,
                                    std::uint64_t seed) {
  const AnalysedModule& analysed = planned.analysed;
  plan_file::PlanDocument document = pipeline::plan_document(analysed.module, analysed.analysis, planned.assembly,
                                                             planned.result, settings.algorithm.name);
  document.module = analysed.info->name;
  document.archive = model.file_name;
  document.seed = seed;
  document.workspace_io = settings.workspace_io;
  if (planned.minimized) document.search->minimized = planned.assembly.problem.pool(*planned.minimized).name;
  document.transformed = pipeline::steps_of(analysed.transformed);
  if (!was_planned(analysed, model)) document.unplanned_workspace = analysed.info->workspace_bytes;
  document.warnings = warnings_of(analysed);
  document.warnings.insert(document.warnings.end(), planned.warnings.begin(), planned.warnings.end());
  return document;
}

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

const PlannedModule* Planning::without_plan() const {
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
  std::vector<const AssembledModule*> assembled;
  for (const mlf::ModuleInfo& info : planning.model.metadata.modules) {
    auto planned = std::make_unique<PlannedModule>();
    static_cast<AssembledModule&>(*planned) = assemble_module(planning.model, info, planning.settings, release_tir);
    spdlog::debug("module {}: {} functions, {} places of storage, {} statements in execution order", info.name,
                  planned->analysed.module.functions.size(), planned->analysed.analysis.sites.size(),
                  planned->analysed.analysis.horizon);
    if (options.minimize) planned->minimized = pool_named(planned->assembly.problem, *options.minimize);
    assembled.push_back(planned.get());
    planning.modules.push_back(std::move(planned));
  }
  check_pins(assembled, planning.settings);
  return planning;
}

void plan_module(PlannedModule& planned, const Planning& planning, const PlanningOptions& options,
                 const Interrupt& interrupt, std::ostream* terminal) {
  spdlog::debug("module {}: planning", planned.analysed.info->name);
  const Algorithm& algorithm = planning.settings.algorithm;
  PlanResult result = plan_and_verify(
      algorithm, planned.assembly.problem,
      {.minimize = planned.minimized, .feasibility_only = false, .shares_less = algorithm.program.empty()},
      options.search, interrupt, terminal);
  if (result.has_plan()) require_replayed(planned, planning, result.plan);
  adopt(planned, planning, std::move(result), options.search.seed);
}

void plan_all(Planning& planning, const PlanningOptions& options, std::ostream* terminal, WithoutPlan without_plan) {
  const Interrupt interrupt;
  for (const auto& planned : planning.modules) {
    plan_module(*planned, planning, options, interrupt, terminal);
    if (!planned->result.has_plan() && without_plan == WithoutPlan::stop) return;
  }
}

std::vector<std::string> replay_plan(PlannedModule& planned, const Planning& planning, const Plan& plan) {
  const AnalysedModule& analysed = planned.analysed;
  replay::Options options{.steps = planning.replay_steps};
  for (const codegen::InterfaceTensor& input : analysed.interface.inputs) {
    options.inputs.push_back(analysed.module.functions[analysed.module.entry].params[input.param].var);
  }
  planned.replayed = replay::replay(analysed.module, analysed.analysis, planned.assembly, plan, options);
  spdlog::debug("{} of {} pairs that share bytes replayed, {} accesses", planned.replayed.replayed(),
                planned.replayed.pairs, planned.replayed.accesses);
  return first_lines(planned.replayed.violations, most_lines);
}

void require_replayed(PlannedModule& planned, const Planning& planning, const Plan& plan) {
  const std::vector<std::string> violations = replay_plan(planned, planning, plan);
  if (!violations.empty()) throw_wrong_plan(violations);
}

void adopt(PlannedModule& planned, const Planning& planning, PlanResult result, std::uint64_t seed) {
  planned.result = std::move(result);
  if (!planned.result.has_plan()) return;
  const Plan& plan = planned.result.plan;
  const lower::Lowered lowered =
      lower::lower(planned.analysed.module, planned.analysed.analysis, planned.assembly, plan);
  planned.lowered = lower::shape_loops(lower::outline(lowered, planned.assembly, plan));
  planned.document = document_of(planned, planning.model, planning.settings, seed);
}

int report_infeasible(const PlannedModule& planned, const Settings& settings, std::ostream& err) {
  err << "usmp-plan: error: module '" << printable(planned.analysed.info->name)
      << "': " << no_plan_text(planned.assembly.problem, planned.result, settings.algorithm) << '\n';
  return exit_infeasible;
}

codegen::PlannedModule emission_input(const PlannedModule& planned, bool workspace_io) {
  return {.info = *planned.analysed.info,
          .source = planned.analysed.module,
          .analysis = planned.analysed.analysis,
          .assembly = planned.assembly,
          .plan = planned.result.plan,
          .lowered = planned.lowered,
          .workspace_io = workspace_io};
}

std::vector<OutputFile> foreign_files(const PlannedModule& planned, const Model& model) {
  std::vector<OutputFile> files;
  for (const std::string& name : planned.analysed.info->foreign_members) {
    const mlf::Member* const member = model.archive.find(name);
    if (member == nullptr) continue;
    files.push_back({name, [member](TextSink& sink) { sink.write(member->bytes); }});
  }
  return files;
}

}  // namespace usmp::driver

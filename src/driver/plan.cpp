// usmp-plan MODEL: archive → TIR → live ranges → problem → plan → verification → lowered TIR → C.
#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>
#include <ostream>
#include <set>
#include <utility>

#include "algorithm.hpp"
#include "assembling.hpp"
#include "interrupt.hpp"
#include "model.hpp"
#include "output.hpp"
#include "run.hpp"
#include "search.hpp"
#include "settings.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/lower/lower.hpp"
#include "usmp/lower/outline.hpp"
#include "usmp/report/plan_json.hpp"
#include "usmp/report/text.hpp"

namespace usmp::driver {
namespace {

// One module on its way through the stages. The summary and the emitted files point into it: it does not move.
struct PlannedModule : AssembledModule {
  std::optional<PoolId> minimized;
  PlanResult result;
  lower::Lowered lowered;
  report::Summary summary;
};
using PlannedModules = std::vector<std::unique_ptr<PlannedModule>>;

std::vector<std::string> warnings_of(const AnalysedModule& analysed) {
  std::vector<std::string> warnings;
  std::set<std::string> members;
  for (const mlf::ForeignFunction& function : analysed.info->foreign_functions) {
    if (function.allocates_workspace && members.insert(function.member).second) {
      warnings.push_back(function.member +
                         " is copied unchanged and allocates workspace at run time, outside this plan");
    }
  }
  return warnings;
}

// Whether the archive's own memory figures are those of a plan already, ours or TVM's.
bool was_planned(const AnalysedModule& analysed, const Model& model) {
  return model.archive.find(analysed.info->name + ".plan.json") != nullptr || !analysed.module.annotated_pools.empty();
}

report::Summary summarise(const PlannedModule& planned, const Model& model, const Settings& settings,
                          std::uint64_t seed) {
  report::Summary summary;
  summary.module = planned.analysed.info->name;
  summary.archive = model.file_name;
  summary.algorithm = settings.algorithm.name;
  summary.seed = seed;
  summary.workspace_io = settings.workspace_io;
  summary.assembly = &planned.assembly;
  summary.tir = &planned.analysed.module;
  summary.analysis = &planned.analysed.analysis;
  summary.minimized = planned.minimized;
  report::set_result(summary, planned.result, bounds::pool_bounds(planned.assembly.problem));
  if (!was_planned(planned.analysed, model)) summary.unplanned_workspace = planned.analysed.info->workspace_bytes;
  summary.warnings = warnings_of(planned.analysed);
  summary.warnings.insert(summary.warnings.end(), planned.warnings.begin(), planned.warnings.end());
  return summary;
}

PoolId pool_named(const Problem& problem, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < problem.pools.size(); ++i) {
    if (problem.pools[i].name == name) return PoolId(i);
    names.push_back(problem.pools[i].name);
  }
  throw Error(ErrorKind::usage, {}, "--minimize: unknown pool '" + name + "'" + did_you_mean(name, names));
}

// Fills everything after the problem; false if no plan was found. Progress goes to `terminal`, which may be null.
bool plan_module(PlannedModule& planned, const Model& model, const Settings& settings, const SearchOptions& search,
                 const Interrupt& interrupt, std::ostream* terminal) {
  spdlog::debug("module {}: planning", planned.analysed.info->name);
  planned.result =
      plan_and_verify(settings.algorithm, planned.assembly.problem,
                      {.minimize = planned.minimized, .feasibility_only = false}, search, interrupt, terminal);
  if (!planned.result.has_plan()) return false;
  const Plan& plan = planned.result.plan;
  const lower::Lowered lowered =
      lower::lower(planned.analysed.module, planned.analysed.analysis, planned.assembly, plan);
  planned.lowered = lower::outline(lowered, planned.assembly, plan);
  planned.summary = summarise(planned, model, settings, search.seed);
  return true;
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

OutputFile plan_file(const PlannedModule& planned) {
  return {planned.summary.module + ".plan.json",
          [&planned](TextSink& sink) { sink.write(report::plan_json(planned.summary)); }};
}

OutputFile copied(const mlf::Member& member) {
  return {member.name, [&member](TextSink& sink) { sink.write(member.bytes); }};
}

// Everything that the run writes. The files point into `inputs` and `model`.
std::vector<OutputFile> files_of(const PlannedModules& modules, const std::vector<codegen::PlannedModule>& inputs,
                                 const Model& model) {
  std::vector<OutputFile> files;
  std::set<std::string> paths;
  const auto add = [&](OutputFile file) {
    if (paths.insert(file.path).second) files.push_back(std::move(file));
  };
  for (std::size_t i = 0; i < modules.size(); ++i) {
    for (OutputFile& file : codegen::module_files(inputs[i])) add(std::move(file));
    add(plan_file(*modules[i]));
    for (const std::string& name : modules[i]->analysed.info->foreign_members) {
      if (const mlf::Member* member = model.archive.find(name)) add(copied(*member));
    }
  }
  add(codegen::metadata_header(inputs));
  return files;
}

// The C libraries that the planned ones replace.
std::vector<std::string> replaced_members(const PlannedModules& modules, const Model& model) {
  std::vector<std::string> names;
  for (const auto& planned : modules) {
    const mlf::ModuleInfo& info = *planned->analysed.info;
    const std::string prefix = "codegen/host/src/" + info.name + "_lib";
    const std::set<std::string> kept(info.foreign_members.begin(), info.foreign_members.end());
    for (const mlf::Member& member : model.archive.members) {
      if (member.name.starts_with(prefix) && !kept.contains(member.name)) names.push_back(member.name);
    }
  }
  return names;
}

std::string replanned_metadata(const PlannedModules& modules, const Model& model) {
  std::vector<mlf::MemoryFigures> figures;
  for (const auto& planned : modules) {
    figures.push_back({planned->summary.module, planned->summary.workspace_used(), planned->summary.constants_used()});
  }
  return mlf::updated_metadata(model.archive, figures);
}

void write_results(const PlanOptions& options, const PlannedModules& modules, const Model& model,
                   std::vector<OutputFile> files) {
  const std::string output = options.output.value_or(default_output(options.model.model));
  spdlog::debug("writing {} files to {}", files.size(), output);
  const std::vector<std::string> replaced = replaced_members(modules, model);
  if (!names_archive(output)) return write_directory(output, files, replaced);
  files.push_back({"metadata.json", [text = replanned_metadata(modules, model)](TextSink& sink) { sink.write(text); }});
  write_archive(output, model.archive, files, replaced);
}

void print_plans(const PlanOptions& options, const PlannedModules& modules, std::ostream& out) {
  if (options.model.json) {
    out << "{\"modules\": [\n";
    for (std::size_t i = 0; i < modules.size(); ++i) {
      out << (i == 0 ? "" : ",\n") << report::plan_json(modules[i]->summary);
    }
    out << "]}\n";
    return;
  }
  if (options.verbosity == Verbosity::quiet) return;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    out << (i == 0 ? "" : "\n")
        << report::plan_text(modules[i]->summary,
                             {.color = options.color, .verbose = options.verbosity == Verbosity::verbose});
  }
}

int report_infeasible(const PlannedModule& planned, const Settings& settings, std::ostream& err) {
  err << "usmp-plan: error: module '" << planned.analysed.info->name
      << "': " << no_plan_text(planned.assembly.problem, planned.result, settings.algorithm) << '\n';
  return exit_infeasible;
}

int plan_or_throw(const PlanOptions& options, std::ostream& out, std::ostream& err) {
  Settings settings = read_settings(options.pools_file, options.algorithm, options.workspace_io);
  read_earlier_plans(settings, options.pins);
  Model model = open_model(options.model);
  spdlog::debug("{}: {} members, {} modules", options.model.model, model.archive.members.size(),
                model.metadata.modules.size());
  if (model.bare_module && !options.dry_run) {
    throw Error(ErrorKind::usage, {options.model.model, {}, {}},
                "a TIR module without its archive can only be planned with --dry-run");
  }
  if (options.output) {
    for (const char* ending : {".zip", ".7z", ".tar.bz2", ".tbz2"}) {
      if (options.output->ends_with(ending)) {
        throw Error(ErrorKind::usage, {*options.output, {}, {}},
                    "archives are written as .tar, .tar.gz, .tgz, .tar.xz or .tar.zst");
      }
    }
  }
  const bool rewrites_archive = options.output && names_archive(*options.output);
  PlannedModules modules;
  std::vector<const AssembledModule*> assembled;
  for (const mlf::ModuleInfo& info : model.metadata.modules) {
    auto planned = std::make_unique<PlannedModule>();
    planned->analysed = analyse_module(model, info, settings.workspace_io, !rewrites_archive);
    spdlog::debug("module {}: {} functions, {} places of storage, {} statements in execution order", info.name,
                  planned->analysed.module.functions.size(), planned->analysed.analysis.sites.size(),
                  planned->analysed.analysis.horizon);
    assemble_module(*planned, model, settings);
    if (options.minimize) planned->minimized = pool_named(planned->assembly.problem, *options.minimize);
    assembled.push_back(planned.get());
    modules.push_back(std::move(planned));
  }
  check_pins(assembled, settings);
  {
    const Interrupt interrupt;
    for (const auto& planned : modules) {
      if (!plan_module(*planned, model, settings, options.search, interrupt, options.progress ? &err : nullptr)) {
        return report_infeasible(*planned, settings, err);
      }
    }
  }
  if (!model.bare_module) {
    std::vector<codegen::PlannedModule> inputs;
    for (const auto& planned : modules) inputs.push_back(emission_input(*planned, settings.workspace_io));
    std::vector<OutputFile> files;
    try {
      files = files_of(modules, inputs, model);
    } catch (const Error& error) {
      throw error.with_file(options.model.model);
    }
    if (!options.dry_run) write_results(options, modules, model, std::move(files));
  }
  print_plans(options, modules, out);
  return exit_ok;
}

}  // namespace

std::string default_output(const std::string& model) {
  std::filesystem::path path = std::filesystem::path(model).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::string name = path.filename().string();
  for (const char* ending : {".tar.gz", ".tar.xz", ".tar.zst", ".tgz", ".tar"}) {
    if (name.ends_with(ending) && name.size() > std::string(ending).size()) {
      name.resize(name.size() - std::string(ending).size());
      break;
    }
  }
  return (path.parent_path() / (name + "_planned")).string();
}

int plan(const PlanOptions& options, std::ostream& out, std::ostream& err) {
  return run(err, [&] { return plan_or_throw(options, out, err); });
}

}  // namespace usmp::driver

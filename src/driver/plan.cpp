// usmp-plan MODEL: archive → TIR → live ranges → problem → plan → verification → lowered TIR → C.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <set>
#include <utility>

#include "interrupt.hpp"
#include "model.hpp"
#include "output.hpp"
#include "run.hpp"
#include "search.hpp"
#include "usmp/assemble/assemble.hpp"
#include "usmp/assemble/pins.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/lower/lower.hpp"
#include "usmp/lower/outline.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/report/plan_json.hpp"
#include "usmp/report/text.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::driver {
namespace {

// One module on its way through the stages. The summary and the emitted files point into it: it does not move.
struct PlannedModule {
  AnalysedModule analysed;
  assemble::Assembly assembly;
  std::optional<PoolId> minimized;
  std::vector<std::string> warnings;  // of what was read
  PlanResult result;
  lower::Lowered lowered;
  report::Summary summary;
};
using PlannedModules = std::vector<std::unique_ptr<PlannedModule>>;

struct Settings {
  config::PoolsConfig pools;
  const planners::Algorithm* algorithm = nullptr;
  bool workspace_io = false;
  std::optional<std::string> pools_file;
  SearchOptions search;
  std::optional<std::string> minimize;
  std::vector<assemble::EarlierPlan> earlier;
};

const planners::Algorithm& algorithm_named(const std::string& name, const std::string& place = {}) {
  if (const planners::Algorithm* found = planners::find_algorithm(name)) return *found;
  std::vector<std::string> names;
  for (const planners::Algorithm& algorithm : planners::algorithms()) names.emplace_back(algorithm.name);
  throw Error(ErrorKind::usage, {{}, {}, place},
              "unknown algorithm '" + name + "'" + did_you_mean(name, names) + "; --list-algorithms lists them");
}

std::vector<assemble::EarlierPlan> read_earlier_plans(const std::vector<std::string>& files) {
  std::vector<assemble::EarlierPlan> plans;
  std::set<std::string> modules;
  for (const std::string& file : files) {
    try {
      plans.push_back(report::parse_plan_json(read_text_file(file, ErrorKind::usage)));
    } catch (const Error& error) {
      throw error.with_file(file);
    }
    if (!modules.insert(plans.back().module).second) {
      throw Error(ErrorKind::usage, {file, {}, {}}, "a second plan of module '" + plans.back().module + "'");
    }
  }
  return plans;
}

Settings read_settings(const PlanOptions& options) {
  Settings settings;
  settings.pools_file = options.pools_file;
  settings.search = options.search;
  settings.minimize = options.minimize;
  settings.earlier = read_earlier_plans(options.pins);
  settings.pools = config::default_pools();
  if (options.pools_file) {
    try {
      settings.pools = config::parse_pools(read_text_file(*options.pools_file, ErrorKind::usage));
      if (settings.pools.algorithm) {
        settings.algorithm = &algorithm_named(*settings.pools.algorithm, settings.pools.algorithm_place);
      }
    } catch (const Error& error) {
      throw error.with_file(*options.pools_file);
    }
  }
  if (options.algorithm) settings.algorithm = &algorithm_named(*options.algorithm);
  if (settings.algorithm == nullptr) settings.algorithm = &planners::algorithms().front();
  settings.workspace_io = options.workspace_io || settings.pools.workspace_io.value_or(false);
  return settings;
}

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

report::Summary summarise(const PlannedModule& planned, const Model& model, const Settings& settings) {
  report::Summary summary;
  summary.module = planned.analysed.info->name;
  summary.archive = model.file_name;
  summary.algorithm = settings.algorithm->name;
  summary.seed = settings.search.seed;
  summary.workspace_io = settings.workspace_io;
  summary.assembly = &planned.assembly;
  summary.tir = &planned.analysed.module;
  summary.analysis = &planned.analysed.analysis;
  summary.minimized = planned.minimized;
  report::set_result(summary, planned.result, bounds::pool_bounds(planned.assembly.problem));
  if (!was_planned(planned.analysed, model)) summary.unplanned_workspace = planned.analysed.info->workspace_bytes;
  summary.warnings = planned.warnings;
  return summary;
}

// A plan that the verifier refuses is a bug of a planner: nothing is written.
void require_verified(const Problem& problem, const Plan& plan) {
  const std::vector<verify::Violation> violations = verify::check(problem, plan);
  if (violations.empty()) return;
  throw std::logic_error("the plan failed verification: " + violations.front().message +
                         (violations.size() > 1 ? " (and " + std::to_string(violations.size() - 1) + " more)" : "") +
                         "; nothing was written. This is a bug of usmp-plan");
}

PoolId pool_named(const Problem& problem, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < problem.pools.size(); ++i) {
    if (problem.pools[i].name == name) return PoolId(i);
    names.push_back(problem.pools[i].name);
  }
  throw Error(ErrorKind::usage, {}, "--minimize: unknown pool '" + name + "'" + did_you_mean(name, names));
}

// From the analysis to the problem. [i]: whether the module has the buffer of the pools file's pin i.
std::vector<bool> assemble_module(PlannedModule& planned, const Model& model, const Settings& settings) {
  planned.warnings = warnings_of(planned.analysed);
  try {
    planned.assembly = assemble::assemble(planned.analysed.module, planned.analysed.analysis, settings.pools);
    std::vector<bool> pinned = assemble::pin(planned.assembly, settings.pools.pinned);
    for (const assemble::EarlierPlan& plan : settings.earlier) {
      if (plan.module != planned.analysed.info->name) continue;
      std::vector<std::string> sentences = assemble::pin_as_before(planned.assembly, plan);
      planned.warnings.insert(planned.warnings.end(), sentences.begin(), sentences.end());
    }
    return pinned;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::usage) throw error.with_file(settings.pools_file.value_or(""));
    throw error.with_member(planned.analysed.info->tir_member).with_file(model.archive.path);
  }
}

// Every pin has to be of a buffer of some module, every earlier plan of one of the modules.
void check_pins(const PlannedModules& modules, const std::vector<bool>& pinned, const Settings& settings,
                const PlanOptions& options) {
  std::vector<const assemble::Assembly*> assemblies;
  std::set<std::string> names;
  for (const auto& planned : modules) {
    assemblies.push_back(&planned->assembly);
    names.insert(planned->analysed.info->name);
  }
  const auto missing = std::find(pinned.begin(), pinned.end(), false);
  if (missing != pinned.end()) {
    try {
      assemble::throw_unknown_buffer(settings.pools.pinned[static_cast<std::size_t>(missing - pinned.begin())],
                                     assemblies);
    } catch (const Error& error) {
      throw error.with_file(options.pools_file.value_or(""));
    }
  }
  for (std::size_t i = 0; i < settings.earlier.size(); ++i) {
    const std::string& module = settings.earlier[i].module;
    if (names.contains(module)) continue;
    throw Error(ErrorKind::usage, {options.pins[i], {}, {}},
                "is a plan of module '" + module + "', which is none of those planned" +
                    did_you_mean(module, std::vector<std::string>(names.begin(), names.end())));
  }
}

// Fills everything after the problem; false if no plan was found. Progress goes to `terminal`, which may be null.
bool plan_module(PlannedModule& planned, const Model& model, const Settings& settings, const Interrupt& interrupt,
                 std::ostream* terminal) {
  const Problem& problem = planned.assembly.problem;
  planned.result = search(problem, settings.algorithm->plan, planned.minimized, settings.search, interrupt, terminal);
  spdlog::debug("module {}: {} buffers, {}: {} after {} iterations", planned.analysed.info->name,
                problem.buffers.size(), settings.algorithm->name, to_string(planned.result.status),
                planned.result.iterations);
  if (!planned.result.has_plan()) return false;
  const Plan& plan = planned.result.plan;
  require_verified(problem, plan);
  spdlog::debug("module {}: plan verified", planned.analysed.info->name);
  const lower::Lowered lowered =
      lower::lower(planned.analysed.module, planned.analysed.analysis, planned.assembly, plan);
  planned.lowered = lower::outline(lowered, planned.assembly, plan);
  planned.summary = summarise(planned, model, settings);
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
  const bool proved = planned.result.status == PlanStatus::infeasible;
  err << "usmp-plan: error: module '" << planned.analysed.info->name
      << "': " << (proved ? "no plan fits the pools" : "no plan was found that fits the pools (algorithm ");
  if (!proved) {
    err << settings.algorithm->name;
    if (planned.result.stopped != StopReason::finished) err << ", " << report::stop_text(planned.result.stopped);
    err << ')';
  }
  err << '\n';
  if (planned.result.shortage) err << report::shortage_text(planned.assembly.problem, *planned.result.shortage) << '\n';
  return exit_infeasible;
}

int plan_or_throw(const PlanOptions& options, std::ostream& out, std::ostream& err) {
  const Settings settings = read_settings(options);
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
  std::vector<bool> pinned(settings.pools.pinned.size(), false);  // by some module
  for (const mlf::ModuleInfo& info : model.metadata.modules) {
    auto planned = std::make_unique<PlannedModule>();
    planned->analysed = analyse_module(model, info, settings.workspace_io, !rewrites_archive);
    spdlog::debug("module {}: {} functions, {} places of storage, {} statements in execution order", info.name,
                  planned->analysed.module.functions.size(), planned->analysed.analysis.sites.size(),
                  planned->analysed.analysis.horizon);
    const std::vector<bool> here = assemble_module(*planned, model, settings);
    std::transform(here.begin(), here.end(), pinned.begin(), pinned.begin(), std::logical_or<>());
    if (settings.minimize) planned->minimized = pool_named(planned->assembly.problem, *settings.minimize);
    modules.push_back(std::move(planned));
  }
  check_pins(modules, pinned, settings, options);
  {
    const Interrupt interrupt;
    for (const auto& planned : modules) {
      if (!plan_module(*planned, model, settings, interrupt, options.progress ? &err : nullptr)) {
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

int list_algorithms(std::ostream& out) {
  std::size_t width = 0;
  for (const planners::Algorithm& algorithm : planners::algorithms()) width = std::max(width, algorithm.name.size());
  for (const planners::Algorithm& algorithm : planners::algorithms()) {
    out << algorithm.name << std::string(width + 2 - algorithm.name.size(), ' ') << algorithm.summary
        << (&algorithm == &planners::algorithms().front() ? " (default)" : "") << '\n';
  }
  return exit_ok;
}

}  // namespace usmp::driver

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan compare: one model, several algorithms, amounts of work or cores.
#include "usmp/report/compare.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <ostream>
#include <set>
#include <utility>

#include "algorithm.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "output_path.hpp"
#include "planning.hpp"
#include "run.hpp"
#include "usmp/plan_file/plan_json.hpp"
#include "usmp/report/cores.hpp"
#include "usmp/report/frontier.hpp"
#include "usmp/support/message.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<pipeline::ChosenAlgorithm> chosen_algorithms(const CompareOptions& options) {
  std::vector<pipeline::ChosenAlgorithm> algorithms;
  if (!options.algorithms) {
    for (const planners::Algorithm& row : planners::algorithms()) {
      algorithms.push_back(pipeline::algorithm_named(std::string(row.name)));
    }
    return algorithms;
  }
  std::set<std::string> known;
  for (const std::string& name : split(*options.algorithms, ',')) {
    if (name.empty()) {
      throw Error(ErrorKind::usage, {},
                  "--algorithms: found '" + *options.algorithms + "', expected names separated by commas");
    }
    algorithms.push_back(pipeline::algorithm_named(name));
    if (known.insert(algorithms.back().name).second) continue;
    throw Error(ErrorKind::usage, {}, "--algorithms: '" + algorithms.back().name + "' stands twice");
  }
  return algorithms;
}

// The algorithm with a watch around it: what is measured is planning, without verification.
pipeline::ChosenAlgorithm timed(const pipeline::ChosenAlgorithm& algorithm, Clock::duration& spent) {
  pipeline::ChosenAlgorithm result = algorithm;
  result.plan = [plan = algorithm.plan, &spent](const Problem& problem, const planners::Options& options) {
    const Clock::time_point start = Clock::now();
    PlanResult answer = plan(problem, options);
    spent += Clock::now() - start;
    return answer;
  };
  return result;
}

// What the algorithms make of one module.
struct Compared {
  std::vector<compare::AlgorithmRun> runs;
  std::string no_plan;  // why the first algorithm found none, if none did

  [[nodiscard]] bool has_plan() const {
    return std::any_of(runs.begin(), runs.end(), [](const compare::AlgorithmRun& run) { return run.plan.has_value(); });
  }
};

Compared compare_module(pipeline::PlannedProgram& module, Planning& planning,
                        const std::vector<pipeline::ChosenAlgorithm>& algorithms, const CompareOptions& options,
                        const Interrupt& interrupt, std::ostream* terminal) {
  Compared compared;
  PlanResult first;
  const Clock::time_point start = Clock::now();
  for (const pipeline::ChosenAlgorithm& algorithm : algorithms) {
    Clock::duration spent{};
    planning.settings.algorithm = timed(algorithm, spent);
    plan_module(module, planning, options, interrupt, terminal);
    compare::AlgorithmRun& run = compared.runs.emplace_back();
    run.algorithm = algorithm.name;
    for (const Pool& pool : module.assembly.problem.pools) run.pool_order.push_back(pool.name);
    if (options.times) run.time = std::chrono::duration_cast<std::chrono::microseconds>(spent);
    if (module.result.has_plan()) run.plan = module.document;
    if (compared.runs.size() == 1) first = module.result;
  }
  if (!compared.has_plan()) {
    const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    planning.settings.algorithm = algorithms.front();
    find_needed_sizes(module, planning, options, planning.settings.request, interrupt, terminal, spent);
    compared.no_plan = no_plan_text(first, module.needed, algorithms.front());
  }
  return compared;
}

// "default.optimal.plan.json"; programs may have any name.
std::string plan_name(const std::string& module, const std::string& algorithm) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
  std::string name = module + ".";
  for (const char c : algorithm) name += plain.find(c) == std::string_view::npos ? '_' : c;
  return name + ".plan.json";
}

std::vector<OutputFile> plan_files(const std::vector<Compared>& modules) {
  std::vector<OutputFile> files;
  std::set<std::string> names;
  for (const Compared& module : modules) {
    for (const compare::AlgorithmRun& run : module.runs) {
      if (!run.plan) continue;
      std::string name = plan_name(run.plan->module, run.algorithm);
      if (!names.insert(name).second) {
        throw Error(ErrorKind::usage, {}, "--save: two plans would have the name " + name);
      }
      files.push_back(
          {std::move(name), [text = plan_file::plan_json(*run.plan)](TextSink& sink) { sink.write(text); }});
    }
  }
  return files;
}

std::string text_of(const compare::Comparison& comparison, const CompareOptions& options) {
  switch (options.format) {
    case CompareFormat::text:
      return report::compare_text(comparison, options.color);
    case CompareFormat::markdown:
      return report::compare_markdown(comparison);
    case CompareFormat::json:
      return report::compare_json(comparison);
    case CompareFormat::csv:
      return report::compare_csv(comparison);
    case CompareFormat::svg:
      break;  // refused before
  }
  return {};
}

std::string text_of(const compare::Frontier& frontier, const CompareOptions& options) {
  switch (options.format) {
    case CompareFormat::text:
      return report::frontier_text(frontier, options.color);
    case CompareFormat::markdown:
      return report::frontier_markdown(frontier);
    case CompareFormat::json:
      return report::frontier_json(frontier);
    case CompareFormat::csv:
      return report::frontier_csv(frontier);
    case CompareFormat::svg:
      return report::frontier_svg(frontier);
  }
  return {};
}

std::string text_of(const compare::Cores& cores, const CompareOptions& options) {
  switch (options.format) {
    case CompareFormat::text:
      return report::cores_text(cores, options.color);
    case CompareFormat::markdown:
      return report::cores_markdown(cores);
    case CompareFormat::json:
      return report::cores_json(cores);
    case CompareFormat::csv:
      return report::cores_csv(cores);
    case CompareFormat::svg:
      break;  // refused before
  }
  return {};
}

std::vector<std::int64_t> allowed_percents(const std::string& text) {
  std::vector<std::int64_t> percents;
  for (const std::string& word : split(text, ',')) {
    std::int64_t percent = -1;
    const char* const end = word.data() + word.size();
    const auto [rest, error] = std::from_chars(word.data(), end, percent);
    if (error != std::errc() || rest != end || percent < 0 || percent > max_recompute_percent) {
      throw Error(ErrorKind::usage, {},
                  "--recompute: found '" + word + "', expected whole numbers of percent from 0 to " +
                      std::to_string(max_recompute_percent) + ", separated by commas");
    }
    if (!percents.empty() && percent <= percents.back()) {
      throw Error(
          ErrorKind::usage, {},
          "--recompute: found " + word + " behind " + std::to_string(percents.back()) + ", expected ascending numbers");
    }
    percents.push_back(percent);
  }
  return percents;
}

void save_plans(const std::string& directory, const std::vector<OutputFile>& files, const std::string& archive) {
  write_directory(directory, files, {}, [&](const std::string& place) {
    for (const OutputFile& file : files) require_same_model(place, file.path, archive);
  });
}

int compare_or_throw(const CompareOptions& options, std::ostream& out, std::ostream& err) {
  const std::vector<pipeline::ChosenAlgorithm> algorithms = chosen_algorithms(options);
  if (options.save) {
    check_output_path("--save", *options.save, {options.model.model}, OutputKind::plans);
    if (std::filesystem::exists(*options.save) && !std::filesystem::is_directory(*options.save)) {
      throw Error(ErrorKind::usage, {*options.save, {}, {}}, "is a file, expected a directory or a new name");
    }
  }
  Planning planning = assemble_all(options, true, options.progress ? &err : nullptr);
  compare::Comparison comparison;
  comparison.archive = planning.file_names();
  std::vector<Compared> modules;
  for (const auto& module : planning.modules) {
    modules.push_back(
        compare_module(*module, planning, algorithms, options, *planning.interrupt, options.progress ? &err : nullptr));
    comparison.modules.push_back(compare::compare_runs(module->source.info.name, modules.back().runs));
  }
  planning.interrupt.reset();
  const std::string text = text_of(comparison, options);  // takes memory, so before anything is written
  if (options.save) save_plans(*options.save, plan_files(modules), planning.models.front().file_name);
  print_warnings(planning.modules, err);
  out << text;
  int code = exit_ok;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    if (modules[i].has_plan()) continue;
    tell(err, Severity::error,
         printable("module " + in_quotes(comparison.modules[i].module) + ": ") + modules[i].no_plan);
    code = exit_infeasible;
  }
  return code;
}

// Plans of the model's modules within several settings.
struct Within {
  std::string archive;
  std::vector<std::string> modules;
  std::vector<std::vector<std::optional<plan_file::PlanDocument>>> plans;  // by module, then by setting
  std::vector<std::string> no_plan;                                        // of modules, the last reason
};

Within plans_within(const std::vector<CompareOptions>& settings, std::ostream& err) {
  Within within;
  for (const CompareOptions& options : settings) {
    Planning planning = assemble_all(options, true, options.progress ? &err : nullptr);
    within.archive = planning.file_names();
    within.modules.resize(planning.modules.size());
    within.plans.resize(planning.modules.size());
    within.no_plan.resize(planning.modules.size());
    plan_all(planning, options, options.progress ? &err : nullptr);
    for (std::size_t i = 0; i < planning.modules.size(); ++i) {
      const pipeline::PlannedProgram& module = *planning.modules[i];
      within.modules[i] = module.source.info.name;
      auto& plan = within.plans[i].emplace_back();
      if (module.result.has_plan()) {
        plan = module.document;
      } else {
        within.no_plan[i] = no_plan_text(module.result, module.needed, planning.settings.algorithm);
      }
    }
  }
  return within;
}

// Says which modules have no plan within any setting.
int exit_code_of(const Within& within, std::ostream& err) {
  int code = exit_ok;
  for (std::size_t i = 0; i < within.modules.size(); ++i) {
    if (std::ranges::any_of(within.plans[i], [](const auto& plan) { return plan.has_value(); })) continue;
    tell(err, Severity::error, printable("module " + in_quotes(within.modules[i]) + ": ") + within.no_plan[i]);
    code = exit_infeasible;
  }
  return code;
}

// What compares algorithms goes with no other comparison.
void refuse_together(const std::string& option, const std::vector<std::pair<bool, const char*>>& others) {
  for (const auto& [is_given, name] : others) {
    if (is_given) throw Error(ErrorKind::usage, {}, option + " and " + name + " cannot be given together");
  }
}

// Memory against work.
int frontier_or_throw(const CompareOptions& options, std::ostream& out, std::ostream& err) {
  refuse_together("--recompute", {{options.algorithms.has_value(), "--algorithms"},
                                  {options.save.has_value(), "--save"},
                                  {options.model.recompute_percent.has_value(), "--allow-recompute"}});
  const std::vector<std::int64_t> percents = allowed_percents(*options.recompute);
  std::vector<CompareOptions> settings(percents.size(), options);
  for (std::size_t k = 0; k < percents.size(); ++k) settings[k].model.recompute_percent = percents[k];
  const Within within = plans_within(settings, err);
  compare::Frontier frontier{within.archive, {}};
  for (std::size_t i = 0; i < within.modules.size(); ++i) {
    std::vector<compare::AllowedRun> runs;
    for (std::size_t k = 0; k < percents.size(); ++k) runs.push_back({percents[k], within.plans[i][k]});
    frontier.modules.push_back(compare::frontier_of(within.modules[i], runs));
  }
  out << text_of(frontier, options);
  return exit_code_of(within, err);
}

std::vector<std::string> chosen_cores(const std::string& text) {
  if (text == "all") return core_names();
  std::vector<std::string> cores;
  for (const std::string& word : split(text, ',')) {
    if (kernels::find_core(word) == nullptr) {
      const std::vector<std::string> names = core_names();
      throw Error(ErrorKind::usage, {}, "--cpu: found '" + word + "', expected all or some of " + joined(names));
    }
    if (std::ranges::find(cores, word) != cores.end()) {
      throw Error(ErrorKind::usage, {}, "--cpu: '" + word + "' stands twice");
    }
    cores.push_back(word);
  }
  return cores;
}

int cores_or_throw(const CompareOptions& options, const std::vector<std::string>& names, std::ostream& out,
                   std::ostream& err) {
  refuse_together("several cores", {{options.algorithms.has_value(), "--algorithms"},
                                    {options.save.has_value(), "--save"},
                                    {options.recompute.has_value(), "--recompute"}});
  std::vector<CompareOptions> settings(names.size(), options);
  for (std::size_t k = 0; k < names.size(); ++k) settings[k].model.cpu = names[k];
  const Within within = plans_within(settings, err);
  compare::Cores cores{within.archive, {}};
  for (std::size_t i = 0; i < within.modules.size(); ++i) {
    std::vector<compare::CoreRun> runs;
    for (std::size_t k = 0; k < names.size(); ++k) runs.push_back({names[k], within.plans[i][k]});
    cores.modules.push_back(compare::cores_of(within.modules[i], runs));
  }
  out << text_of(cores, options);
  return exit_code_of(within, err);
}

}  // namespace

int compare(const CompareOptions& options, std::ostream& out, std::ostream& err) {
  return run(err, [&] {
    if (options.format == CompareFormat::svg && !options.recompute) {
      throw Error(ErrorKind::usage, {}, "--format svg: expected --recompute with it");
    }
    CompareOptions chosen = options;
    if (options.cpus) {
      const std::vector<std::string> cores = chosen_cores(*options.cpus);
      if (cores.size() > 1) return cores_or_throw(options, cores, out, err);
      chosen.model.cpu = cores.front();
    }
    return chosen.recompute ? frontier_or_throw(chosen, out, err) : compare_or_throw(chosen, out, err);
  });
}

}  // namespace usmp::driver

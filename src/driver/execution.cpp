// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes both builds of a module, runs them, and words their faults.
#include "execution.hpp"

#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "termination.hpp"
#include "usmp/assemble/placements.hpp"
#include "usmp/execute/execute.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/report/verification.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/message.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/verify/verify.hpp"
#include "work_directory.hpp"

namespace usmp::driver {
namespace {

struct Unshared {
  placement::Table placements;
  lower::Lowered lowered;
  std::vector<execute::CheckedAccess> checked;
  model::Description info;
};

// Emits the module as the archive has it, with checks of its accesses.
Unshared unshared_code(const pipeline::SourceModule& source) {
  const tir::Module& module = source.module;
  config::PoolsConfig pools = config::default_pools();
  for (config::PoolSpec& pool : pools.workspace_pools) pool.internal = false;  // so that it can have guards
  const liveness::Analysis analysis = pipeline::live_ranges(source, module, false);
  assemble::Assembly assembly = assemble::assemble(module, analysis, pools);
  Problem& problem = assembly.problem;
  for (Pool& pool : problem.pools) pool.capacity.reset();  // those that the module itself describes
  const Plan plan = planners::none(problem, {}).plan;
  if (!verify::check(problem, plan, 1).empty()) throw std::logic_error("the plan in which no buffers overlap is wrong");
  execute::CheckedModule checked = execute::with_access_checks(module);
  Unshared unshared{.placements = assemble::placements_of(analysis, assembly, plan),
                    .lowered = {},
                    .checked = std::move(checked.accesses),
                    .info = source.info};
  unshared.info.foreign_functions.push_back(std::move(checked.function));
  unshared.lowered = lower::lower(checked.module, unshared.placements);
  return unshared;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

int report_faults(const pipeline::PlannedProgram& planned, const Planning& planning, const VerifyOptions& options,
                  const WorkDirectory& directory, const std::vector<std::string>& faults, std::ostream& err) {
  std::string text = printable(planning.model_of(planned).archive.path) + ": module " +
                     printable(in_quotes(planned.source.info.name)) +
                     ": the emitted code behaves differently from the build in which no buffers overlap:";
  for (const std::string& fault : faults) text += "\n  " + fault;
  text +=
      "\nthis is a bug of usmp-plan or of the compiler: please report it with the archive, the pools file and this "
      "command line; ";
  text += options.keep ? "both programs are in " + directory.path() : "--keep DIR keeps both programs";
  tell(err, Severity::error, text);
  return exit_internal;
}

}  // namespace

execute::Findings execute_module(const pipeline::PlannedProgram& planned, const Planning& planning,
                                 const execute::Compiler& compiler, const execute::Options& options,
                                 const std::string& directory) {
  const Unshared unshared = unshared_code(planned.source);
  const codegen::EmissionInput reference{.info = unshared.info,
                                         .source = planned.source.module,
                                         .placements = unshared.placements,
                                         .lowered = unshared.lowered,
                                         .workspace_io = false};
  // The program that runs them has the contents of pools from the header.
  placement::Table placements = planned.placements;
  for (placement::Pool& pool : placements.pools) {
    pool.is_binary = false;
    pool.address.reset();
  }
  const codegen::EmissionInput tested{.info = planned.source.info,
                                      .source = planned.program.module,
                                      .placements = placements,
                                      .lowered = planned.lowered,
                                      .workspace_io = planning.settings.request.workspace_io};
  return execute::compare({tested, reference, foreign_files(planned, planning.model_of(planned)),
                           planned.program.analysis.extern_callees, unshared.checked},
                          compiler, options, directory);
}

namespace {

execute::Options wanted_by(const VerifyOptions& options, const std::function<void()>& between) {
  return {.compiler = options.compiler,
          .flags = words_of(options.compiler_flags),
          .sanitize = options.sanitize,
          .seed = options.search.seed.value_or(0),
          .rounds = options.rounds,
          .time_limit = options.timeout,
          .between = between};
}

int execute_each(const Planning& planning, const VerifyOptions& options, const std::function<void()>& between,
                 std::vector<report::Execution>& executions, std::ostream& err) {
  const WorkDirectory directory(options.keep);
  const execute::Options wanted = wanted_by(options, between);
  const execute::Compiler compiler = execute::find_compiler(wanted, directory.path());
  for (const auto& planned : planning.modules) {
    between();
    const std::string name = c_identifier(planned->source.info.name);
    try {
      const execute::Findings findings = execute_module(*planned, planning, compiler, wanted,
                                                        (std::filesystem::path(directory.path()) / name).string());
      if (!findings.faults.empty()) return report_faults(*planned, planning, options, directory, findings.faults, err);
      executions.push_back({compiler.program, compiler.sanitize, findings.rounds, findings.elements});
    } catch (const Error& error) {
      throw error.with_file(planning.model_of(*planned).archive.path);
    }
  }
  return exit_ok;
}

}  // namespace

namespace {

// Runs programs; a signal ends them first, and then this one.
int with_programs(std::ostream& err, const std::function<int(const std::function<void()>& between)>& run) {
  const TerminationDeferred termination;  // until programs have ended and the directory has gone
  const auto tell = [&] {
    if (!termination.is_pending()) return;
    err << "usmp-plan: interrupted: compilers and programs were ended, the C was not verified\n" << std::flush;
  };
  int code = exit_interrupted;
  try {
    code = run(termination.hook());
  } catch (const Terminated&) {  // and then the signal ends the program
  } catch (...) {
    tell();
    throw;
  }
  tell();
  return code;
}

}  // namespace

void require_execution(const VerifyOptions& options, std::ostream& err) {
  if (options.keep) WorkDirectory::require_empty(*options.keep);
  (void)with_programs(err, [&](const std::function<void()>& between) {
    const WorkDirectory directory(std::nullopt);
    (void)execute::find_compiler(wanted_by(options, between), directory.path());
    return exit_ok;
  });
}

int execute_all(const Planning& planning, const VerifyOptions& options, std::vector<report::Execution>& executions,
                std::ostream& err) {
  return with_programs(err, [&](const std::function<void()>& between) {
    return execute_each(planning, options, between, executions, err);
  });
}

}  // namespace usmp::driver

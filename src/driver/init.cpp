// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan init: a pools file to begin with, from what a model needs, tvmc's options or a linker script.
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <utility>

#include "inspected.hpp"
#include "model.hpp"
#include "output.hpp"
#include "output_path.hpp"
#include "run.hpp"
#include "usmp/assemble/assemble.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/config/tvmc.hpp"
#include "usmp/pipeline/algorithm.hpp"
#include "usmp/support/message.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {
namespace {

// The figures of several modules that run one after another in the same pools: the largest of each.
void add_module(config::ModelSummary& summary, const Inspected& inspected) {
  const pipeline::Program& program = inspected.program;
  for (const liveness::Site& site : program.analysis.sites) {
    for (const std::string& target : site.targets) {
      if (std::find(summary.targets.begin(), summary.targets.end(), target) == summary.targets.end()) {
        summary.targets.push_back(target);
      }
    }
  }
  Bytes constants = 0;
  for (const liveness::Site& site : program.analysis.sites) {
    if (site.kind == BufferKind::constant) constants += site.size;
  }
  const assemble::Assembly assembly = assemble::assemble(program.module, program.analysis, config::default_pools());
  std::vector<BufferId> workspace;
  for (std::size_t i = 0; i < assembly.problem.buffers.size(); ++i) {
    if (assembly.problem.buffers[i].kind != BufferKind::constant) workspace.emplace_back(i);
  }
  summary.workspace_load = std::max(summary.workspace_load, bounds::load(assembly.problem, workspace).bytes);
  summary.constant_bytes += constants;
  const auto unplanned = inspected.source.info.workspace_bytes;
  if (unplanned && program.module.annotated_pools.empty() && inspected.source.tvm_pools.empty()) {
    summary.unplanned_workspace = std::max(summary.unplanned_workspace.value_or(0), *unplanned);
  }
}

// The pools that the application passes to what TVM planned, or asked to be planned.
void add_tvm_pools(config::TvmcSettings& planned, const Inspected& inspected) {
  const auto add = [&](const std::string& name, bool is_constant) -> config::TvmcPool& {
    auto& pools = is_constant ? planned.parameter_pools : planned.workspace_pools;
    const auto known = std::ranges::find(pools, name, &config::TvmcPool::name);
    if (known != pools.end()) return *known;
    pools.emplace_back().name = name;
    return pools.back();
  };
  const std::vector<tir::AnnotatedPool>& annotated = inspected.program.module.annotated_pools;
  for (const tir::AnnotatedPool& pool : annotated) {
    if (!pool.is_internal && c_identifier(pool.name) == pool.name) {
      add(pool.name, pool.is_constant).size_hint = pool.size_hint;
    }
  }
  // Modules share pools of the same name; their constants lie one behind the other.
  const std::vector<tvm_c::PlannedPool>& pools = inspected.source.tvm_pools;
  const auto is_passed = [](const tvm_c::PlannedPool& pool) { return !pool.is_constant && !pool.in_c; };
  if (std::ranges::none_of(pools, is_passed)) return;
  for (const tvm_c::PlannedPool& pool : pools) {
    if (pool.in_c) continue;
    config::TvmcPool& one = add(pool.name, pool.is_constant);
    const Bytes before = one.planned.value_or(0);
    if (pool.size) one.planned = pool.is_constant ? before + *pool.size : std::max(before, *pool.size);
  }
  if (inspected.source.tvm_pools_have_io) planned.workspace_io = true;
}

config::TvmcSettings settings_of(const InitOptions& options) {
  constexpr std::size_t most_bytes = std::size_t{1} << 20;
  if (options.memory_file) {
    if (options.tvmc_file || !options.tvmc.empty()) {
      throw Error(ErrorKind::usage, {}, "--memory and options of tvmc, expected one of them");
    }
    try {
      return config::pools_of_regions(
          config::parse_memory(read_text_file(*options.memory_file, ErrorKind::usage, most_bytes)));
    } catch (const Error& error) {
      throw error.with_file(*options.memory_file);
    }
  }
  if (!options.tvmc_file) return config::tvmc_settings(options.tvmc);
  if (!options.tvmc.empty()) {
    throw Error(ErrorKind::usage, {}, "--tvmc FILE and options of tvmc, expected one of them");
  }
  try {
    return config::tvmc_settings(config::shell_words(read_text_file(*options.tvmc_file, ErrorKind::usage, most_bytes)));
  } catch (const Error& error) {
    throw error.with_file(*options.tvmc_file);
  }
}

// Right for tvmc, but no code of the model could use the pool.
void note_foreign_targets(const std::vector<config::TvmcPool>& pools, const config::ModelSummary& summary,
                          std::ostream& err) {
  for (const config::TvmcPool& pool : pools) {
    const bool usable =
        pool.targets.empty() || std::any_of(summary.targets.begin(), summary.targets.end(),
                                            [&](const std::string& target) { return pool.targets.contains(target); });
    if (usable || summary.targets.empty()) continue;
    std::vector<std::string> targets;
    for (const auto& [target, access] : pool.targets) targets.push_back(target);
    tell(err, Severity::warning,
         printable("pool " + in_quotes(pool.name) + " is for the target " + joined(targets) +
                   ", but the model's code is for " + joined(summary.targets)));
  }
}

// The schema's path as the file that names it needs it; "": there is none.
std::string schema_beside(const std::optional<std::string>& schema, const std::optional<std::string>& file) {
  if (!schema) return {};
  const std::filesystem::path path = *schema;
  if (path.is_absolute() || !file || std::filesystem::path(*file).is_absolute())
    return path.lexically_normal().string();
  const std::filesystem::path folder = std::filesystem::path(*file).lexically_normal().parent_path();
  const std::filesystem::path relative = path.lexically_normal().lexically_relative(folder.empty() ? "." : folder);
  return (relative.begin() == relative.end() || *relative.begin() == ".." ? relative : "." / relative).string();
}

// People edit what this command writes.
void require_unedited(const std::string& file, std::string_view text) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return;
  constexpr std::size_t most_bytes = std::size_t{1} << 20;
  const bool is_same = std::filesystem::file_size(file, error) == text.size() && text.size() <= most_bytes &&
                       read_text_file(file, ErrorKind::usage, most_bytes, InputFile::Noted::no) == text;
  if (is_same) return;
  throw Error(ErrorKind::usage, {file, {}, {}}, "exists and differs, expected a new file, or --force to replace it");
}

int init_or_throw(const InitOptions& options, std::ostream& out, std::ostream& err) {
  const std::vector<std::string> inputs = {options.model.model, options.tvmc_file.value_or(""),
                                           options.memory_file.value_or("")};
  if (options.output) check_output_path("-o", *options.output, inputs);
  if (options.schema) check_output_path("--schema", *options.schema, inputs);
  if (options.schema && options.model.json) throw Error(ErrorKind::usage, {}, "--schema: expected no --json");
  if (options.schema && options.output) require_different_outputs("--schema", *options.schema, "-o", *options.output);
  config::TvmcSettings settings = settings_of(options);
  if (settings.algorithm) {
    try {
      (void)pipeline::algorithm_named(*settings.algorithm, settings.algorithm_place);
    } catch (const Error& error) {
      throw options.tvmc_file ? error.with_file(*options.tvmc_file) : error;
    }
  }
  Model model = open_model(options.model);
  require_known_synchronous({&model, 1}, options.model.synchronous);
  config::ModelSummary summary;
  summary.archive = model.file_name;
  config::TvmcSettings planned;
  for (const model::Description& info : model.metadata.modules) {
    const Inspected inspected = inspected_module(model, info);
    add_module(summary, inspected);
    add_tvm_pools(planned, inspected);
  }
  for (const std::string& note : settings.notes) tell(err, Severity::warning, printable(note));
  if (options.tvmc_file && settings.workspace_pools.empty() && settings.parameter_pools.empty()) {
    tell(err, Severity::warning, printable(*options.tvmc_file + " has no pool options of tvmc"));
  }
  for (const auto* pools : {&settings.workspace_pools, &settings.parameter_pools}) {
    note_foreign_targets(*pools, summary, err);
  }
  if (settings.workspace_pools.empty() && settings.parameter_pools.empty() && !options.memory_file) {
    settings.workspace_pools = std::move(planned.workspace_pools);
    settings.parameter_pools = std::move(planned.parameter_pools);
    if (!settings.workspace_io) settings.workspace_io = planned.workspace_io;
  }
  const std::string text = options.model.json
                               ? config::starter_json(settings)
                               : config::starter_file(summary, settings, schema_beside(options.schema, options.output));
  for (const auto& [file, bytes] : {std::pair(options.schema, std::string_view(config::pools_schema)),
                                    std::pair(options.output, std::string_view(text))}) {
    if (file && !options.force) require_unedited(*file, bytes);
  }
  if (options.schema) write_file(*options.schema, config::pools_schema);
  write_output(options.output, text, out);
  return exit_ok;
}

}  // namespace

int init(const InitOptions& options, std::ostream& out, std::ostream& err) {
  return run(err, [&] { return init_or_throw(options, out, err); });
}

bool is_tvmc_option(const std::string& word) { return config::is_tvmc_option(word); }

bool takes_next_word(const std::string& tvmc_option) { return config::takes_next_word(tvmc_option); }

}  // namespace usmp::driver

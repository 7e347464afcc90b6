// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Plans the modules of all models with the settings, and verifies the plans.
#include "planning.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <ostream>
#include <utility>

#include "algorithm.hpp"
#include "joint_sizes.hpp"
#include "models.hpp"
#include "search.hpp"
#include "usmp/compare/whole.hpp"
#include "usmp/pipeline/needed_sizes.hpp"
#include "usmp/pipeline/tvm_plan.hpp"
#include "usmp/report/needed.hpp"
#include "usmp/report/shared_pools.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/message.hpp"
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

bool run_side_by_side(const Planning& planning, const std::string& one, const std::string& other) {
  return compare::run_side_by_side(planning.settings.request.pools.concurrent, one, other);
}

// With the bytes reserved that modules planned before and running beside it use; nothing if there are none.
std::optional<pipeline::Request> request_beside(const Planning& planning, std::size_t index) {
  pipeline::Request request = planning.settings.request;
  bool has_reserved = false;
  for (std::size_t other = 0; other < index; ++other) {
    const pipeline::PlannedProgram& earlier = *planning.modules[other];
    if (!earlier.result.has_plan() ||
        !run_side_by_side(planning, earlier.source.info.name, planning.modules[index]->source.info.name)) {
      continue;
    }
    const std::vector<Bytes> used = placement::used_bytes(earlier.placements);
    for (std::size_t pool = 0; pool < used.size(); ++pool) {
      for (config::PoolSpec& spec : request.pools.workspace_pools) {
        if (spec.name != earlier.placements.pools[pool].name || used[pool] <= spec.reserved) continue;
        spec.beside += used[pool] - spec.reserved;
        spec.reserved = used[pool];
        has_reserved = true;
      }
    }
  }
  return has_reserved ? std::optional(std::move(request)) : std::nullopt;
}

void reassemble(pipeline::PlannedProgram& planned, const Planning& planning, const pipeline::Request& request) {
  const Model& model = planning.model_of(planned);
  try {
    static_cast<pipeline::AssembledModule&>(planned) =
        pipeline::assemble_module(std::move(planned.source), model.transformations, request);
  } catch (const Error& error) {
    throw error.with_file(model.archive.path);
  }
}

// The states of modules stand one behind the other, so that one array may hold them all.
void put_state_behind_earlier(const Planning& planning, std::size_t index) {
  std::optional<config::PoolSpec>& pool = planning.modules[index]->state_pool;
  if (!pool) return;
  pool->reserved = 0;
  for (std::size_t other = 0; other < index; ++other) {
    const placement::Table& table = planning.modules[other]->placements;
    const std::vector<Bytes> used = placement::used_bytes(table);
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (table.pools[i].holds_state) pool->reserved = std::max(pool->reserved, used[i]);
    }
  }
}

// The bytes of a pool in which a module's buffers are.
struct Extent {
  Bytes begin = std::numeric_limits<Bytes>::max();
  Bytes end = 0;
};

Extent extent_in(const plan_file::PlanDocument& plan, const std::string& pool) {
  Extent extent;
  for (const plan_file::PlanDocument::Buffer& buffer : plan.buffers) {
    if (buffer.pool != pool || buffer.size == 0) continue;
    extent.begin = std::min(extent.begin, buffer.offset);
    extent.end = std::max(extent.end, buffer.offset + buffer.size);
  }
  return extent;
}

// In the plan of each module that does not stand alone.
void tell_shared_pools(Planning& planning) {
  for (const compare::SharedPool& shared : shared_pools(planning)) {
    for (const auto& planned : planning.modules) {
      for (plan_file::PlanDocument::Pool& pool : planned->document.pools) {
        if (pool.name == shared.name && pool.kind == shared.kind) pool.all_modules = shared.all;
      }
    }
  }
}

// Warns of regions of the linker script that are too small for pools, inputs, outputs and stack together.
void warn_of_full_regions(Planning& planning) {
  for (const std::string& sentence :
       compare::full_regions(compare::region_uses(planning.documents(), planning.settings.request.pools))) {
    for (const auto& planned : planning.modules) planned->document.warnings.push_back(sentence);
  }
}

// Where a programmer writes the contents of pools, in the plans too.
void settle_addresses(Planning& planning) {
  std::vector<placement::Table*> tables;
  for (const auto& planned : planning.modules) tables.push_back(&planned->placements);
  try {
    placement::put_contents_in_a_row(tables);
  } catch (const Error& error) {
    throw error.with_file(planning.settings.pools_file.value_or(""));
  }
  for (const auto& planned : planning.modules) {
    for (const placement::Pool& pool : planned->placements.pools) {
      if (!pool.address) continue;
      const auto row = std::ranges::find(planned->document.pools, pool.name, &plan_file::PlanDocument::Pool::name);
      row->address = pool.address;
    }
  }
}

}  // namespace

void require_apart(const Planning& planning) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < planning.modules.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const plan_file::PlanDocument& one = planning.modules[j]->document;
      const plan_file::PlanDocument& other = planning.modules[i]->document;
      if (!run_side_by_side(planning, one.module, other.module)) continue;
      for (const plan_file::PlanDocument::Pool& pool : one.pools) {
        if (pool.kind != PoolKind::workspace) continue;
        const Extent first = extent_in(one, pool.name);
        const Extent second = extent_in(other, pool.name);
        const Bytes begin = std::max(first.begin, second.begin);
        const Bytes end = std::min(first.end, second.end);
        if (begin >= end) continue;
        lines.push_back("modules '" + one.module + "' and '" + other.module +
                        "' run side by side, but both use bytes " + std::to_string(begin) + " to " +
                        std::to_string(end) + " of pool '" + pool.name + "'");
      }
    }
  }
  if (lines.empty()) return;
  throw Error(ErrorKind::usage, {planning.settings.pools_file.value_or(""), {}, {}},
              "the plans are wrong together (concurrent):", std::move(lines));
}

const pipeline::PlannedProgram* Planning::without_plan() const {
  for (const auto& planned : modules) {
    if (!planned->result.has_plan()) return planned.get();
  }
  return nullptr;
}

const Model& Planning::model_of(const pipeline::PlannedProgram& planned) const {
  const auto found =
      std::find_if(modules.begin(), modules.end(), [&](const auto& module) { return module.get() == &planned; });
  return models[owners[static_cast<std::size_t>(found - modules.begin())]];
}

std::vector<const plan_file::PlanDocument*> Planning::documents() const {
  std::vector<const plan_file::PlanDocument*> documents;
  documents.reserve(modules.size());
  for (const auto& planned : modules) documents.push_back(&planned->document);
  return documents;
}

bool Planning::has_bare_module() const {
  return std::any_of(models.begin(), models.end(), [](const Model& model) { return model.bare_module; });
}

std::string Planning::file_names() const {
  std::vector<std::string> names;
  for (const Model& model : models) names.push_back(model.file_name);
  return joined(names);
}

Planning assemble_all(const PlanningOptions& options, bool release_tir, std::ostream* terminal,
                      const std::vector<plan_file::PlanDocument>& recorded) {
  Planning planning;
  planning.settings = read_settings({options.pools_file, options.memory_file}, options.algorithm, options.workspace_io,
                                    options.objective);
  read_earlier_plans(planning.settings, options.pins);
  for (const plan_file::PlanDocument& plan : recorded) {
    if (plan.cut_short) planning.settings.request.cut_short.emplace(plan.module, *plan.cut_short);
  }
  planning.models = open_models(options);
  planning.interrupt = std::make_unique<const Interrupt>();
  std::optional<ProgressLine> line;
  if (terminal != nullptr) line.emplace(*terminal);
  const pipeline::Watch watch{.interrupted = &planning.interrupt->flag(), .tell = [&](const std::string& text) {
                                if (line) line->show(text);
                              }};
  std::vector<const pipeline::AssembledModule*> assembled;
  for (std::size_t owner = 0; owner < planning.models.size(); ++owner) {
    Model& model = planning.models[owner];
    spdlog::debug("{}: {} members, {} modules", message_line(model.archive.path), model.archive.members.size(),
                  model.metadata.modules.size());
    for (const model::Description& info : model.metadata.modules) {
      auto planned = std::make_unique<pipeline::PlannedProgram>();
      static_cast<pipeline::AssembledModule&>(*planned) =
          assemble_module(model, info, planning.settings, release_tir, watch);
      spdlog::debug("module {}: {} functions, {} places of storage, {} statements in execution order",
                    message_line(info.name), planned->program.module.functions.size(),
                    planned->program.analysis.sites.size(), planned->program.analysis.horizon);
      if (options.minimize) planned->minimized = pool_named(planned->assembly.problem, *options.minimize);
      assembled.push_back(planned.get());
      planning.modules.push_back(std::move(planned));
      planning.owners.push_back(owner);
    }
  }
  check_pins(assembled, planning.settings);
  return planning;
}

void check_concurrent(const Planning& planning) {
  std::vector<std::string> names;
  for (const auto& planned : planning.modules) names.push_back(planned->source.info.name);
  for (const config::ConcurrentModules& group : planning.settings.request.pools.concurrent) {
    for (const std::string& module : group.modules) {
      if (std::find(names.begin(), names.end(), module) != names.end()) continue;
      throw Error(ErrorKind::usage, {planning.settings.pools_file.value_or(""), {}, group.place},
                  "concurrent names module '" + module + "', which is not planned" + did_you_mean(module, names) +
                      "; the modules are: " + joined(names));
    }
  }
}

void plan_module(pipeline::PlannedProgram& planned, const Planning& planning, const PlanningOptions& options,
                 const Interrupt& interrupt, std::ostream* terminal) {
  spdlog::debug("module {}: planning", message_line(planned.source.info.name));
  const WatchedSearch search(options.search, interrupt, terminal);
  pipeline::plan(planned, planning.settings.algorithm, search.limits(),
                 origin_of(planned, planning, options.search.seed.value_or(0)), planning.replay_steps);
}

namespace {

std::chrono::milliseconds spent_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
}

void prefer_tvm_plan(pipeline::PlannedProgram& planned, const Planning& planning, const PlanningOptions& options,
                     const pipeline::Request& request, const Interrupt& interrupt, std::ostream* terminal,
                     std::chrono::milliseconds spent) {
  const WatchedSearch search(what_is_left(options.search, spent), interrupt, terminal);
  pipeline::prefer_tvm_plan(planned, request, search.limits(),
                            origin_of(planned, planning, options.search.seed.value_or(0)), planning.replay_steps);
}

}  // namespace

void find_needed_sizes(pipeline::PlannedProgram& planned, const Planning& planning, const PlanningOptions& options,
                       const pipeline::Request& request, const Interrupt& interrupt, std::ostream* terminal,
                       std::chrono::milliseconds spent) {
  spdlog::debug("module {}: sizes that would be enough", message_line(planned.source.info.name));
  const WatchedSearch search(what_is_left(options.search, spent), interrupt, terminal);
  planned.needed = pipeline::needed_sizes(planned, planning.model_of(planned).transformations, request,
                                          planning.settings.algorithm, search.limits());
}

void plan_all(Planning& planning, const PlanningOptions& options, std::ostream* terminal) {
  if (planning.interrupt == nullptr) planning.interrupt = std::make_unique<const Interrupt>();
  const Interrupt& interrupt = *planning.interrupt;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < planning.modules.size(); ++i) {
    const auto& planned = planning.modules[i];
    const auto start = std::chrono::steady_clock::now();
    std::optional<pipeline::Request> beside = request_beside(planning, i);
    if (beside) beside->watch.interrupted = &interrupt.flag();
    if (beside) reassemble(*planned, planning, *beside);
    put_state_behind_earlier(planning, i);
    plan_module(*planned, planning, options, interrupt, terminal);
    prefer_tvm_plan(*planned, planning, options, beside.value_or(planning.settings.request), interrupt, terminal,
                    spent_since(start));
    if (planned->result.has_plan()) {
      planned->tried.clear();
      continue;
    }
    if (options.ignore_sizes) {
      pipeline::Request request = beside.value_or(planning.settings.request);
      for (const config::PoolSpec& pool : planned->assembly.pools) request.capacities[pool.name] = std::nullopt;
      reassemble(*planned, planning, request);
      put_state_behind_earlier(planning, i);
      planned->warnings.emplace_back("no plan fits the pools; the one shown ignores their sizes");
      plan_module(*planned, planning, options, interrupt, terminal);
      planned->tried.clear();
      if (planned->result.has_plan()) continue;
    }
    if (!planning.finds_sizes) continue;
    find_needed_sizes(*planned, planning, options, beside.value_or(planning.settings.request), interrupt, terminal,
                      spent_since(start));
  }
  if (planning.finds_sizes && planning.without_plan() != nullptr) {
    planning.joint = joint_sizes(planning, options, interrupt, terminal, spent_since(begin));
  }
  planning.interrupt.reset();
  tell_shared_pools(planning);
  if (planning.without_plan() != nullptr) return;
  settle_addresses(planning);
  if (planning.tells_regions) warn_of_full_regions(planning);
}

pipeline::Origin origin_of(const pipeline::PlannedProgram& planned, const Planning& planning, std::uint64_t seed) {
  const Model& model = planning.model_of(planned);
  return {.archive = model.file_name,
          .algorithm = planning.settings.algorithm.name,
          .seed = seed,
          .workspace_io = planning.settings.request.workspace_io,
          .planned_before = model.archive.find(planned.source.info.name + ".plan.json") != nullptr};
}

std::vector<compare::SharedPool> shared_pools(const Planning& planning) {
  if (planning.modules.size() < 2 || planning.without_plan() != nullptr) return {};
  return compare::shared_pools(planning.documents(), planning.settings.request.pools.concurrent, planning.own_arrays);
}

bool pools_have_room(const Planning& planning, std::ostream& err) {
  const Settings& settings = planning.settings;
  for (const compare::SharedPool& pool : shared_pools(planning)) {
    auto text = report::without_room(pool);
    if (!text) continue;
    const auto& specs = pool.kind == PoolKind::constant ? settings.request.pools.parameter_pools
                                                        : settings.request.pools.workspace_pools;
    const auto spec = std::ranges::find(specs, pool.name, &config::PoolSpec::name);
    if (settings.pools_file && spec != specs.end() && spec->size_position.line > 0) {
      *text = *settings.pools_file + ":" + std::to_string(spec->size_position.line) + ":" +
              std::to_string(spec->size_position.column) + ": " + *text;
    }
    tell(err, Severity::error, printable(*text));
    return false;
  }
  return true;
}

int report_infeasible(const Planning& planning, std::ostream& err) {
  for (const auto& planned : planning.modules) {
    if (planned->result.has_plan()) continue;
    tell(err, Severity::error,
         printable("module " + in_quotes(planned->source.info.name) + ": ") +
             no_plan_text(planned->result, planned->needed, planning.settings.algorithm));
  }
  tell_joint_sizes(planning, err);
  return exit_infeasible;
}

void tell_joint_sizes(const Planning& planning, std::ostream& err) {
  const auto& [sizes, constants] = planning.joint;
  if (sizes.shortfalls.empty()) return;
  const std::size_t count = planning.modules.size();
  tell(err, Severity::error,
       (count == 2 ? "both" : "all " + std::to_string(count)) + " modules together" + report::needed_text(sizes) +
           (constants.empty() ? "" : " (" + printable(constants) + ")"));
}

void print_warnings(const plan_file::PlanDocument& plan, std::ostream& err) {
  for (const std::string& warning : plan.warnings) {
    tell(err, Severity::warning, printable("module " + in_quotes(plan.module) + ": " + warning));
  }
}

void print_warnings(const PlannedPrograms& modules, std::ostream& err) {
  for (const auto& planned : modules) print_warnings(planned->document, err);
}

std::optional<std::string_view> foreign_text(const pipeline::PlannedProgram& planned, const Model& model,
                                             const std::string& name) {
  const auto changed = std::find_if(planned.source.changed.begin(), planned.source.changed.end(),
                                    [&](const tvm_c::ChangedFile& file) { return file.file == name; });
  if (changed != planned.source.changed.end()) return changed->text;
  const mlf::Member* const member = model.archive.find(name);
  return member == nullptr ? std::nullopt : std::optional(member->text());
}

std::vector<OutputFile> foreign_files(const pipeline::PlannedProgram& planned, const Model& model) {
  std::vector<OutputFile> files;
  for (const std::string& name : planned.source.info.foreign_members) {
    const auto text = foreign_text(planned, model, name);
    if (text) files.push_back({name, [text = *text](TextSink& sink) { sink.write(text); }});
  }
  return files;
}

}  // namespace usmp::driver

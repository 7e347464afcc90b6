// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a statement waits for: earlier ones that write what it accesses, or access what it writes, and barriers.
#include "transform/reorder_tasks.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "transform/device_states.hpp"
#include "usmp/program/entry_calls.hpp"

namespace usmp::transform {
namespace {

using liveness::EntryUses;
using liveness::StatementUses;
using liveness::Storage;
using liveness::Use;

constexpr std::size_t no_task = SIZE_MAX;

bool is_on_stack(const tir::Stmt& stmt) {
  const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
  return allocate != nullptr && allocate->on_stack;
}

// Storage that begins to exist without anything being evaluated, so that it may begin earlier.
bool is_plain_declaration(const tir::Stmt& stmt) {
  if (std::holds_alternative<tir::AllocateConst>(stmt.node)) return true;
  const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
  return allocate != nullptr && !allocate->condition &&
         std::all_of(allocate->extents.begin(), allocate->extents.end(),
                     [](const tir::ExprRef& extent) { return tir::as_int(*extent).has_value(); });
}

// Who accessed a storage so far.
struct History {
  std::size_t last_write = no_task;
  std::vector<std::size_t> reads;  // since then
};

// Tasks that access parameters of the entry, all in the same way.
struct Group {
  bool reads = false;
  bool writes = false;
  std::vector<std::size_t> tasks = {};
};

// What a statement is besides its uses.
struct Nature {
  bool is_barrier = false;
  bool is_hook = false;       // changes what the tasks need that stand where a device is open
  bool needs_device = false;  // stands there
  bool acts = false;          // keeps its order with the others that act
};

class Builder {
 public:
  Builder(const EntryUses& uses, const StatementSharing& sharing, const liveness::Options& options, Bytes alignment)
      : uses_(uses),
        sharing_(sharing),
        alignment_(alignment),
        histories_(uses.storages.size()),
        is_accessed_(uses.storages.size(), false) {
    for (const Storage& storage : uses.storages) {
      HeldStorage held{.size = rounded(storage.size)};
      if (storage.kind == Storage::Kind::parameter && storage.size > 0) {
        // Inputs are there before the run and outputs after it.
        const auto among = [&](const std::vector<tir::VarId>& vars) {
          return std::find(vars.begin(), vars.end(), storage.var) != vars.end();
        };
        held.from_start = among(options.inputs);
        held.to_end = among(options.outputs);
      }
      result_.problem.storages.push_back(held);
    }
  }

  void add(std::size_t statement, const Nature& nature) {
    const std::size_t task = result_.statements.size();
    const StatementUses& statement_uses = uses_.statements[statement];
    result_.statements.push_back(statement);
    result_.problem.tasks.push_back({.after = dependences(task, statement_uses, nature), .touches = {}, .phases = {}});
    Task& added = result_.problem.tasks.back();
    const bool shares = !sharing_.empty() && !sharing_[statement].empty();
    const std::vector<Tick> begins = begins_of_phases(statement_uses, shares);
    add_phases(statement_uses, begins, added);
    if (shares) add_sharing(task, statement, begins);
    for (const Use& use : statement_uses.uses) is_accessed_[use.storage] = true;
  }

  // How often one task waits for another.
  [[nodiscard]] std::size_t edges() const { return edges_; }

  EntryTasks take() { return std::move(result_); }

 private:
  [[nodiscard]] Bytes rounded(Bytes size) const { return checked_align_up(size, alignment_).value_or(size); }

  std::vector<std::size_t> dependences(std::size_t task, const StatementUses& statement, const Nature& nature) {
    std::vector<std::size_t> earlier;
    if (barrier_ != no_task) earlier.push_back(barrier_);
    if (nature.is_hook || nature.needs_device) note(task, nature.is_hook, devices_, earlier);
    if (nature.acts) note(task, true, outside_, earlier);
    Use of_params{};
    for (const Use& use : statement.uses) {
      if (uses_.storages[use.storage].kind == Storage::Kind::constant) continue;
      note(task, use.writes, histories_[use.storage], earlier);
      if (uses_.storages[use.storage].kind != Storage::Kind::parameter) continue;
      of_params.reads = of_params.reads || use.reads;
      of_params.writes = of_params.writes || use.writes;
    }
    if (of_params.reads || of_params.writes) note_parameters(task, of_params, earlier);
    if (nature.is_barrier) {
      for (std::size_t i = barrier_ == no_task ? 0 : barrier_; i < task; ++i) earlier.push_back(i);
      barrier_ = task;
    }
    std::sort(earlier.begin(), earlier.end());
    earlier.erase(std::unique(earlier.begin(), earlier.end()), earlier.end());
    std::erase(earlier, task);
    edges_ += earlier.size();
    return earlier;
  }

  static void note(std::size_t task, bool writes, History& history, std::vector<std::size_t>& earlier) {
    if (history.last_write != no_task) earlier.push_back(history.last_write);
    if (writes) {
      earlier.insert(earlier.end(), history.reads.begin(), history.reads.end());
      history = {.last_write = task, .reads = {}};
    } else {
      history.reads.push_back(task);
    }
  }

  // An application may run in place: what it passes for an output may be what it passes for an input. Nobody passes
  // the same memory for two outputs, of which one would be lost. So reads wait for all writes before them, and writes
  // for all reads. Tasks that follow each other and only read, or only write, are a group: each waits for all of the
  // group before, and thereby for what those wait for.
  void note_parameters(std::size_t task, const Use& use, std::vector<std::size_t>& earlier) {
    const bool goes_on = use.reads == group_.reads && use.writes == group_.writes && !(use.reads && use.writes);
    if (!goes_on) {
      before_group_ = std::move(group_.tasks);
      group_ = {.reads = use.reads, .writes = use.writes, .tasks = {}};
    }
    earlier.insert(earlier.end(), before_group_.begin(), before_group_.end());
    group_.tasks.push_back(task);
  }

  // Ticks between which nothing comes or goes make one phase; what a statement allocates itself need not be told apart
  // unless it may share bytes. The first tick of each.
  [[nodiscard]] std::vector<Tick> begins_of_phases(const StatementUses& statement, bool shares) const {
    std::set<Tick> cuts = {0};
    const auto cut = [&](const LiveRange& ticks) { cuts.insert({ticks.begin, ticks.end}); };
    for (const Use& use : statement.uses) {
      if (result_.problem.storages[use.storage].size > 0) cut(use.ticks);
    }
    if (shares) std::ranges::for_each(statement.inner, cut, &liveness::InnerRange::ticks);
    return {cuts.begin(), cuts.end()};
  }

  void add_phases(const StatementUses& statement, const std::vector<Tick>& begins, Task& task) const {
    for (const Use& use : statement.uses) {
      if (result_.problem.storages[use.storage].size > 0)
        task.touches.push_back({use.storage, phase_at(begins, use.ticks.begin), phase_at(begins, use.ticks.end)});
    }
    task.phases = inner_loads(statement, begins);
  }

  static std::size_t phase_at(const std::vector<Tick>& begins, Tick tick) {
    return static_cast<std::size_t>(std::lower_bound(begins.begin(), begins.end(), tick) - begins.begin());
  }

  void add_sharing(std::size_t number, std::size_t statement, const std::vector<Tick>& begins) {
    Task& task = result_.problem.tasks[number];
    if (task.touches.size() > max_sharing_touches) return;
    std::multimap<tir::VarId, std::size_t> buffers;
    for (std::size_t i = 0; i < task.touches.size(); ++i)
      buffers.emplace(uses_.storages[task.touches[i].storage].var, i);
    for (const liveness::InnerRange& range : uses_.statements[statement].inner) {
      buffers.emplace(range.var, task.touches.size() + task.inner.size());
      task.inner.push_back(
          {rounded(range.size), phase_at(begins, range.ticks.begin), phase_at(begins, range.ticks.end)});
    }
    for (const liveness::DyingDistance& found : sharing_[statement]) {
      const auto [below, below_end] = buffers.equal_range(found.distance.below);
      const auto [above, above_end] = buffers.equal_range(found.distance.above);
      const bool below_dies = found.dying == found.distance.below;
      for (auto i = below; i != below_end; ++i) {
        for (auto j = above; j != above_end; ++j) {
          const auto [dying, born] = below_dies ? std::pair(i->second, j->second) : std::pair(j->second, i->second);
          if (is_born_in(uses_.statements[statement], task, born))
            task.sharing.push_back({i->second, j->second, rounded(found.distance.bytes), dying});
        }
      }
    }
  }

  // Whether no other task can be the first one that accesses it: all later ones wait for the one that wrote it.
  [[nodiscard]] bool is_born_in(const StatementUses& statement, const Task& task, std::size_t buffer) const {
    if (buffer >= task.touches.size()) return true;
    const std::size_t storage = task.touches[buffer].storage;
    const auto use = std::ranges::find(statement.uses, storage, &Use::storage);
    return use->writes && !is_accessed_[storage] && !result_.problem.storages[storage].from_start;
  }

  // The largest load of a statement's own storage, by phase.
  [[nodiscard]] std::vector<Bytes> inner_loads(const StatementUses& statement, const std::vector<Tick>& begins) const {
    std::vector<std::pair<Tick, Bytes>> changes;
    for (const liveness::InnerRange& range : statement.inner) {
      changes.emplace_back(range.ticks.begin, rounded(range.size));
      changes.emplace_back(range.ticks.end, -rounded(range.size));
    }
    std::sort(changes.begin(), changes.end());  // at one tick, what goes first
    std::vector<Bytes> loads;
    std::size_t next = 0;
    Bytes load = 0;
    for (std::size_t phase = 0; phase < begins.size(); ++phase) {
      for (; next < changes.size() && changes[next].first <= begins[phase]; ++next) load += changes[next].second;
      Bytes most = load;
      for (; next < changes.size() && (phase + 1 == begins.size() || changes[next].first < begins[phase + 1]); ++next) {
        load += changes[next].second;
        most = std::max(most, load);
      }
      loads.push_back(most);
    }
    return loads;
  }

  const EntryUses& uses_;
  const StatementSharing& sharing_;
  Bytes alignment_;
  EntryTasks result_;
  std::vector<History> histories_;  // by storage
  History devices_;                 // hooks write, tasks that need a device read
  History outside_;                 // of the model: what others act on
  std::vector<bool> is_accessed_;   // by storage: by tasks that were added
  Group group_;                     // of the last tasks that access parameters
  std::vector<std::size_t> before_group_;
  std::size_t edges_ = 0;
  std::size_t barrier_ = no_task;
};

// One variable that names several storages: moving a declaration might change which.
bool names_are_unique(const EntryUses& uses) {
  std::set<tir::VarId> vars;
  return std::all_of(uses.storages.begin(), uses.storages.end(),
                     [&](const Storage& storage) { return vars.insert(storage.var).second; });
}

}  // namespace

bool has_too_many_tasks(const tir::Module& module) {
  const auto is_task = [](const tir::Stmt& stmt) { return !is_plain_declaration(stmt); };
  const auto tasks = std::ranges::count_if(module.functions[module.entry].body, is_task);
  return static_cast<std::size_t>(tasks) > max_order_tasks;
}

std::optional<EntryTasks> entry_tasks(const tir::Module& module, const liveness::EntryUses& uses,
                                      const StatementSharing& sharing, const liveness::Options& options) {
  const tir::Block& body = module.functions[module.entry].body;
  if (uses.escapes || !names_are_unique(uses) || body.size() != uses.statements.size()) return std::nullopt;
  Builder builder(uses, sharing, options, module.workspace_alignment.value_or(16));
  DeviceStates devices(module);
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (is_on_stack(body[i])) return std::nullopt;  // nobody tracks who uses it
    if (is_plain_declaration(body[i])) continue;
    const bool is_hook = devices.take(body[i]);
    const auto call = program::plain_call(body[i]);
    // A hook that is handed nothing could do anything, were it not known.
    const bool is_barrier = !call || (uses.statements[i].calls_blindly && !is_hook);
    builder.add(i, {.is_barrier = is_barrier,
                    .is_hook = is_hook,
                    .needs_device = devices.is_any_open(),
                    .acts = call && !is_hook && program::may_act(module, *call)});
    if (builder.edges() > max_order_edges) return std::nullopt;
  }
  return builder.take();
}

}  // namespace usmp::transform

// What a statement waits for: earlier ones that write what it accesses, or access what it writes, and barriers.
#include "transform/reorder_tasks.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "transform/simple_function.hpp"

namespace usmp::transform {
namespace {

using liveness::EntryUses;
using liveness::StatementUses;
using liveness::Storage;
using liveness::Use;

constexpr std::size_t none = SIZE_MAX;

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
  std::size_t last_write = none;
  std::vector<std::size_t> reads;  // since then
};

class Builder {
 public:
  Builder(const EntryUses& uses, const liveness::Options& options, Bytes alignment)
      : uses_(uses), alignment_(alignment), histories_(uses.storages.size()) {
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

  void add(std::size_t statement, bool is_barrier) {
    const std::size_t task = result_.statements.size();
    const StatementUses& statement_uses = uses_.statements[statement];
    result_.statements.push_back(statement);
    result_.problem.tasks.push_back(
        {.after = dependences(task, statement_uses, is_barrier), .touches = {}, .phases = {}});
    add_phases(statement_uses, result_.problem.tasks.back());
  }

  EntryTasks take() { return std::move(result_); }

 private:
  [[nodiscard]] Bytes rounded(Bytes size) const { return checked_align_up(size, alignment_).value_or(size); }

  std::vector<std::size_t> dependences(std::size_t task, const StatementUses& statement, bool is_barrier) {
    std::set<std::size_t> earlier;
    if (barrier_ != none) earlier.insert(barrier_);
    for (const Use& use : statement.uses) {
      if (uses_.storages[use.storage].kind == Storage::Kind::constant) continue;
      note(task, use, histories_[use.storage], earlier);
      if (uses_.storages[use.storage].kind == Storage::Kind::parameter) note_parameter(task, use, earlier);
    }
    if (is_barrier) {
      for (std::size_t i = barrier_ == none ? 0 : barrier_; i < task; ++i) earlier.insert(i);
      barrier_ = task;
    }
    earlier.erase(task);
    return {earlier.begin(), earlier.end()};
  }

  static void note(std::size_t task, const Use& use, History& history, std::set<std::size_t>& earlier) {
    if (history.last_write != none) earlier.insert(history.last_write);
    if (use.writes) {
      earlier.insert(history.reads.begin(), history.reads.end());
      history = {.last_write = task, .reads = {}};
    } else {
      history.reads.push_back(task);
    }
  }

  // An application may run in place: what it passes for an output may be what it passes for an input. Nobody passes
  // the same memory for two outputs, of which one would be lost.
  void note_parameter(std::size_t task, const Use& use, std::set<std::size_t>& earlier) {
    if (use.reads) earlier.insert(param_writes_.begin(), param_writes_.end());
    if (use.writes) earlier.insert(param_reads_.begin(), param_reads_.end());
    if (use.reads) param_reads_.insert(task);
    if (use.writes) param_writes_.insert(task);
  }

  // Ticks between which nothing comes or goes make one phase.
  void add_phases(const StatementUses& statement, Task& task) const {
    std::set<Tick> cuts = {0};
    for (const Use& use : statement.uses) {
      if (result_.problem.storages[use.storage].size == 0) continue;
      cuts.insert(use.ticks.begin);
      cuts.insert(use.ticks.end);
    }
    const std::vector<Tick> begins(cuts.begin(), cuts.end());
    const auto phase_of = [&](Tick tick) {
      return static_cast<std::size_t>(std::lower_bound(begins.begin(), begins.end(), tick) - begins.begin());
    };
    for (const Use& use : statement.uses) {
      if (result_.problem.storages[use.storage].size > 0)
        task.touches.push_back({use.storage, phase_of(use.ticks.begin), phase_of(use.ticks.end)});
    }
    task.phases = inner_loads(statement, begins);
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
  Bytes alignment_;
  EntryTasks result_;
  std::vector<History> histories_;  // by storage
  std::set<std::size_t> param_reads_;
  std::set<std::size_t> param_writes_;
  std::size_t barrier_ = none;
};

// One variable that names several storages: moving a declaration might change which.
bool names_are_unique(const EntryUses& uses) {
  std::set<tir::VarId> vars;
  return std::all_of(uses.storages.begin(), uses.storages.end(),
                     [&](const Storage& storage) { return vars.insert(storage.var).second; });
}

}  // namespace

std::optional<EntryTasks> entry_tasks(const tir::Module& module, const liveness::EntryUses& uses,
                                      const liveness::Options& options) {
  const tir::Block& body = module.functions[module.entry].body;
  if (uses.escapes || !names_are_unique(uses) || body.size() != uses.statements.size()) return std::nullopt;
  Builder builder(uses, options, module.workspace_alignment.value_or(16));
  std::size_t count = 0;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (is_on_stack(body[i])) return std::nullopt;  // nobody tracks who uses it
    if (is_plain_declaration(body[i])) continue;
    if (++count > max_order_tasks) return std::nullopt;
    builder.add(i, !plain_call(body[i]) || uses.statements[i].calls_blindly);
  }
  return builder.take();
}

}  // namespace usmp::transform

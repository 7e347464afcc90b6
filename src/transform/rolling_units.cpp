// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Joins runs of simple calls to one function, gives its nests forms that have rows, and finds each nest's stages.
#include "transform/rolling_units.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "transform/simple_function.hpp"
#include "usmp/arith/facts.hpp"
#include "usmp/loops/accesses.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/program/join.hpp"

namespace usmp::transform {
namespace {

using program::EntryCall;
using tir::Stmt;
using tir::VarId;

bool does_something(const Stmt& stmt) {
  return std::holds_alternative<tir::For>(stmt.node) || std::holds_alternative<tir::Store>(stmt.node);
}

// Whether the body is loops, stores and buffers of known size.
bool has_units(const tir::Function& function) {
  return std::ranges::all_of(function.body, [](const Stmt& stmt) {
    const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
    if (allocate != nullptr) {
      return tir::element_count(*allocate).has_value() && allocate->condition == nullptr && !allocate->ring;
    }
    return does_something(stmt) || std::holds_alternative<tir::AllocateConst>(stmt.node);
  });
}

class RunBuilder {
 public:
  RunBuilder(tir::Module& module, const PlainEntry& entry, bool workspace_io)
      : module_(module), entry_(entry), workspace_io_(workspace_io) {}

  std::optional<CallRun> build(std::size_t first, std::size_t last) {
    CallRun run;
    std::vector<program::PassedFunction> calls;
    std::set<VarId> tensors;
    std::map<VarId, tir::DataType> types;
    for (std::size_t i = first; i < last; ++i) {
      const EntryCall& call = entry_.calls[i];
      run.calls.push_back(&call);
      calls.push_back({module_.functions[call.callee], call.arguments});
      for (std::size_t k = 0; k < call.arguments.size(); ++k) {
        if (entry_.tensors.contains(call.arguments[k])) tensors.insert(call.arguments[k]);
        // Rows are counted in elements: they have to be the same for all.
        const tir::DataType type = module_.var(calls.back().function.params[k].var).element;
        if (types.emplace(call.arguments[k], type).first->second != type) return std::nullopt;
      }
    }
    std::vector<tir::Allocate> between;
    between.reserve(tensors.size());
    for (const VarId tensor : tensors) between.push_back(entry_.tensors.at(tensor));
    auto joined = program::joined(module_, calls, between);
    if (!joined) return std::nullopt;
    run.function = std::move(joined->function);
    for (std::size_t i = 0; i < joined->arguments.size(); ++i) {
      tir::Param& param = run.function.params[i];
      if (!param.shape) param.shape = shape_of_argument(joined->arguments[i], param.element);
      declare_outside(run, run.function.params[i].var, joined->arguments[i], last);
    }
    for (const auto& [outside, inside] : joined->inner) declare_outside(run, inside, outside, last);
    loops::KnownNests known;
    std::vector<loops::Stage> stages = prepare(run.function, joined->first, known);
    declare_buffers(run);
    note_units(run, joined->first, std::move(stages));
    if (run.units.empty()) return std::nullopt;  // operators may do nothing
    find_pixels(run, std::move(known));
    for (VarId* var : {&run.plane, &run.line, &run.column, &run.part}) {
      *var = loops::fresh_var(module_, "digit", tir::int32_type);
    }
    let_inputs_die(run, last);
    count_live(run);
    return run;
  }

 private:
  // Nests that access all rows of a tensor in each iteration of the outermost loop get another form. `first`: by call,
  // its first statement. Returns the stages of what it makes.
  std::vector<loops::Stage> prepare(tir::Function& function, std::vector<std::size_t>& first,
                                    loops::KnownNests& known) {
    std::vector<loops::Stage> stages = loops::stages_of(module_, function, known);
    std::vector<std::size_t> whole = reading_whole(function, stages);
    for (bool is_new = true; is_new;) {
      is_new = false;
      for (const std::size_t statement : whole) is_new = collapse(function.body[statement]) || is_new;
      if (!is_new) break;
      stages = loops::stages_of(module_, function, known);
      whole = reading_whole(function, stages);
    }
    std::vector<Distributed> all;  // the last one first
    for (std::size_t i = whole.size(); i-- > 0;) {
      const std::size_t statement = whole[i];
      const auto place = function.body.begin() + static_cast<std::ptrdiff_t>(statement);
      tir::Block parts = distributed(std::get<tir::For>(place->node));
      if (parts.empty()) continue;
      for (Stmt& part : parts) collapse(part);
      const std::size_t more = parts.size() - 1;
      for (Distributed& later : all) later.statement += more;
      all.push_back({statement, more, std::move(*place), at_once(stages, statement, statement)});
      const auto next = function.body.erase(place);
      function.body.insert(next, std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
      known.insert(known.begin() + static_cast<std::ptrdiff_t>(statement), more, nullptr);
      for (std::size_t& start : first) start += start > statement ? more : 0;
    }
    if (all.empty()) return stages;
    stages = loops::stages_of(module_, function, known);
    bool is_undone = false;
    for (Distributed& one : all) {
      const std::set<VarId> left = at_once(stages, one.statement, one.statement + one.more);
      if (!std::ranges::includes(left, one.at_once)) continue;
      is_undone = true;
      const auto place = function.body.begin() + static_cast<std::ptrdiff_t>(one.statement);
      const auto more = static_cast<std::ptrdiff_t>(one.more);
      *function.body.erase(place, place + more) = std::move(one.nest);
      const auto notes = known.begin() + static_cast<std::ptrdiff_t>(one.statement);
      known.erase(notes, notes + more);
      for (std::size_t& start : first) start -= start > one.statement ? one.more : 0;
    }
    return is_undone ? loops::stages_of(module_, function, known) : stages;
  }

  // Parts of a nest in its place.
  struct Distributed {
    std::size_t statement = 0;  // of the first part
    std::size_t more = 0;       // parts but one
    Stmt nest;
    std::set<VarId> at_once;
  };

  // The tensors of which an iteration of these nests touches all rows.
  static std::set<VarId> at_once(const std::vector<loops::Stage>& stages, std::size_t first, std::size_t last) {
    std::set<VarId> tensors;
    for (const loops::Stage& stage : stages) {
      if (stage.statement < first || stage.statement > last) continue;
      for (const std::vector<loops::Rows>* side : {&stage.required, &stage.provided}) {
        for (const loops::Rows& rows : *side) {
          if (rows.advance.step == 0 && rows.axis.extent > 1) tensors.insert(rows.storage);
        }
      }
    }
    return tensors;
  }

  static std::vector<std::size_t> reading_whole(const tir::Function& function,
                                                const std::vector<loops::Stage>& stages) {
    std::vector<std::size_t> statements;
    for (const loops::Stage& stage : stages) {
      if (reads_whole(function.body[stage.statement], stage)) statements.push_back(stage.statement);
    }
    return statements;
  }

  // Not of a tensor that is added to: its order has to stay.
  static bool reads_whole(const Stmt& nest, const loops::Stage& stage) {
    loops::Accesses accesses;
    loops::add_accesses(nest, accesses);
    const auto is_whole = [&](const loops::Rows& rows) {
      const bool is_added_to = accesses.stores_of(rows.storage) > 0 && accesses.loads_of(rows.storage) > 0;
      return rows.advance.step == 0 && rows.axis.extent > 1 && !is_added_to;
    };
    return std::ranges::any_of(stage.required, is_whole) || std::ranges::any_of(stage.provided, is_whole);
  }

  // A loop around a reduction as loops around each of its statements: buffers of the loop's body get an element for
  // each iteration. So sums over rows can be added to as the rows come. Empty: it is no such loop, or statements share
  // more than these buffers. After Allen and Kennedy (Optimizing Compilers for Modern Architectures): loop distribution
  // with scalar expansion.
  tir::Block distributed(const tir::For& loop) {
    const auto count = tir::as_int(*loop.extent);
    if (!count || *count < 1 || tir::as_int(*loop.min) != 0 || module_.var(loop.var).type != tir::int32_type) return {};
    std::map<VarId, std::int64_t> own;  // buffers of the body, with their sizes
    std::map<VarId, std::size_t> users;
    std::set<VarId> written;
    std::size_t statements = 0;
    for (const Stmt& stmt : loop.body) {
      if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
        const auto elements = tir::element_count(*allocate);
        const auto all = elements ? checked_mul(*elements, *count) : std::nullopt;
        if (!all || *all > std::numeric_limits<std::int32_t>::max() || allocate->condition || allocate->ring) return {};
        own[allocate->var] = *elements;
        continue;
      }
      if (!does_something(stmt)) return {};
      ++statements;
      loops::Accesses accesses;
      loops::add_accesses(stmt, accesses);
      std::set<VarId> used;
      for (const auto& [var, places] : accesses.stores) {
        used.insert(var);
        written.insert(var);
      }
      for (const auto& [var, places] : accesses.loads) used.insert(var);
      for (const VarId var : used) ++users[var];
    }
    const bool is_shared = std::ranges::any_of(users, [&](const auto& user) {
      return user.second > 1 && written.contains(user.first) && !own.contains(user.first);
    });
    if (own.empty() || statements < 2 || is_shared) return {};
    tir::Block parts;
    for (const Stmt& stmt : loop.body) {
      Stmt part = stmt;
      if (auto* allocate = std::get_if<tir::Allocate>(&part.node)) {
        allocate->extents = {tir::make_int(own.at(allocate->var) * *count)};
        allocate->on_stack = false;
        parts.push_back(std::move(part));
        continue;
      }
      const VarId var = loops::fresh_var(module_, module_.var(loop.var).name, tir::int32_type);
      const tir::ExprRef value = tir::make_var(module_, var);
      loops::rename(part, {{loop.var, value}});
      for (const auto& [buffer, elements] : own) {
        arith::Facts facts(module_);
        const tir::ExprRef start = tir::make_binary(tir::ExprKind::mul, value, tir::make_int(elements));
        loops::rewrite_indices(part, buffer, facts, [&](const tir::ExprRef& index, const arith::Facts&) {
          return tir::make_binary(tir::ExprKind::add, start, index);
        });
      }
      tir::For around{var, tir::make_int(0), tir::make_int(*count), {}};
      around.body.push_back(std::move(part));
      parts.push_back({std::move(around)});
    }
    return parts;
  }

  // The two outermost loops of a nest as one, so that the rows may be those of the inner one: what rolling makes of an
  // iteration has loops of its own.
  bool collapse(Stmt& stmt) {
    auto* outer = std::get_if<tir::For>(&stmt.node);
    if (outer == nullptr || collapsed_.contains(outer->var)) return false;
    const auto is_plain = [&](const tir::For& loop) {
      return tir::as_int(*loop.extent).value_or(0) > 0 && tir::as_int(*loop.min) == 0 &&
             module_.var(loop.var).type == tir::int32_type;
    };
    tir::For* inner = tir::only_loop(outer->body);
    if (inner == nullptr || !is_plain(*outer) || !is_plain(*inner)) return false;
    auto both = loops::joined(module_, *outer, *inner, module_.var(outer->var).name);
    if (!both) return false;
    both->loop.body = std::move(inner->body);
    loops::rename(both->loop.body, both->values);
    collapsed_.insert(both->loop.var);
    stmt = {std::move(both->loop)};
    return true;
  }

  // Where the outermost loop is that over lines of an image, it and the one over the pixels become one.
  void find_pixels(CallRun& run, loops::KnownNests known) {
    tir::Function function = run.function;
    for (const Unit& unit : run.units) {
      if (unit.stage && unit.stage->iterations > 1 && unit.stage->by == 1) collapse(function.body[unit.statement]);
    }
    std::vector<loops::Stage> rows;
    for (const Unit& unit : run.units) {
      if (unit.stage) rows.push_back(*unit.stage);
    }
    const auto is_finer = [](const loops::Stage& stage, const Unit& unit) {
      return unit.stage && stage.iterations > unit.stage->iterations;
    };
    for (loops::Stage& stage : loops::pixel_stages_of(module_, function, rows, known)) {
      Unit& unit = *std::ranges::lower_bound(run.units, stage.statement, {}, &Unit::statement);
      if (!is_finer(stage, unit)) continue;
      unit.pixels = FineLoop{std::get<tir::For>(function.body[stage.statement].node), std::move(stage)};
    }
  }

  // The shape of a parameter of the entry; nothing: it is something else, of another type, or not known.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> shape_of_argument(VarId argument, tir::DataType type) const {
    const std::vector<tir::Param>& params = module_.functions[module_.entry].params;
    const auto param = std::ranges::find(params, argument, &tir::Param::var);
    return param == params.end() || param->element != type ? std::nullopt : param->shape;
  }

  void declare_outside(CallRun& run, VarId inside, VarId outside, std::size_t end) {
    module_.vars[inside.index()].name = module_.var(outside).name;
    RunStorage storage;
    storage.outside = outside;
    storage.type = module_.var(inside).element;
    const auto tensor = entry_.tensors.find(outside);
    const std::vector<std::size_t>& with = entry_.calls_with.at(outside);
    const auto begin = static_cast<std::size_t>(run.calls.front() - entry_.calls.data());
    const bool is_passed = tensor == entry_.tensors.end();
    storage.is_used_before = is_passed || entry_.is_used_before(outside, begin);
    storage.is_read_later = is_passed || entry_.is_used_behind(outside, end);
    storage.is_free = tensor == entry_.tensors.end() && !workspace_io_;
    if (tensor != entry_.tensors.end()) {
      storage.elements = *tir::allocation_size(tensor->second).bytes / std::max<Bytes>(storage.type.bytes(), 1);
    }
    // The first call of the run that passes it.
    const auto passing = std::ranges::lower_bound(with, begin);
    if (passing != with.end()) {
      const EntryCall* call = &entry_.calls[*passing];
      const auto place = std::ranges::find(call->arguments, outside);
      tir::Param param =
          module_.functions[call->callee].params[static_cast<std::size_t>(place - call->arguments.begin())];
      if (!param.shape) param.shape = shape_of_argument(outside, param.element);
      if (storage.elements == 0 && param.shape) {
        constexpr std::int64_t most_elements = std::int64_t{1} << 40;
        storage.elements = 1;
        for (const std::int64_t extent : *param.shape) {
          const auto product = checked_mul(storage.elements, extent);
          storage.elements = product && *product > 0 && *product <= most_elements ? *product : 0;
        }
      }
      param.var = inside;
      run.params.emplace(inside, std::move(param));
    }
    run.storages.emplace(inside, storage);
  }

  static void declare_buffers(CallRun& run) {
    for (std::size_t i = 0; i < run.function.body.size(); ++i) {
      const Stmt& stmt = run.function.body[i];
      if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) {
        run.declarations[constant->var] = i;
      } else if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
        run.declarations[allocate->var] = i;
        RunStorage storage;
        storage.elements = *tir::element_count(*allocate);
        storage.type = allocate->type;
        run.storages.emplace(allocate->var, storage);
      }
    }
  }

  void note_units(CallRun& run, const std::vector<std::size_t>& first, std::vector<loops::Stage> stages) const {
    for (std::size_t i = 0; i < run.function.body.size(); ++i) {
      const Stmt& stmt = run.function.body[i];
      if (!does_something(stmt)) continue;
      Unit unit;
      unit.call = static_cast<std::size_t>(std::ranges::upper_bound(first, i) - first.begin()) - 1;
      unit.statement = i;
      loops::Accesses accesses;
      loops::add_accesses(stmt, accesses);
      const std::size_t index = run.units.size();
      const auto note = [&](const std::map<VarId, std::size_t>& places, std::vector<VarId>& side) {
        for (const auto& [var, count] : places) {
          const auto storage = run.storages.find(var);
          if (storage == run.storages.end()) continue;  // a constant, or declared inside
          if (seen_.insert(var).second) storage->second.first = index;
          storage->second.last = index;
          side.push_back(var);
        }
      };
      note(accesses.loads, unit.reads);
      note(accesses.stores, unit.writes);
      for (const VarId var : unit.writes) run.storages.at(var).writers.push_back(index);
      run.units.push_back(std::move(unit));
    }
    seen_.clear();
    for (loops::Stage& stage : stages) {
      const auto unit = std::ranges::lower_bound(run.units, stage.statement, {}, &Unit::statement);
      unit->stage = std::move(stage);
    }
  }

  // What the application writes and the run only reads is dead after its last call.
  void let_inputs_die(CallRun& run, std::size_t end) const {
    for (auto& [var, storage] : run.storages) {
      if (!storage.outside || !storage.writers.empty()) continue;
      if (!entry_.is_used_behind(*storage.outside, end)) storage.is_read_later = false;
    }
  }

  static void count_live(CallRun& run) {
    std::vector<Bytes> begins(run.units.size() + 1);
    std::vector<Bytes> ends(run.units.size() + 1);
    for (const auto& [var, storage] : run.storages) {
      if (storage.is_free) continue;
      begins[storage.first] += storage.bytes();
      ends[storage.is_read_later ? run.units.size() : storage.last + 1] += storage.bytes();
    }
    Bytes live = 0;
    Bytes begun = 0;
    for (std::size_t u = 0; u < run.units.size(); ++u) {
      live += begins[u] - ends[u];
      begun += begins[u];
      run.live.push_back(live);
      run.begun.push_back(begun);
    }
  }

  tir::Module& module_;
  const PlainEntry& entry_;
  const bool workspace_io_;
  std::set<VarId> collapsed_;  // variables of loops that were two
  mutable std::set<VarId> seen_;
};

}  // namespace

std::pair<std::size_t, std::size_t> CallRun::units_of(std::size_t first, std::size_t last) const {
  const auto begin = std::ranges::lower_bound(units, first, {}, &Unit::call);
  const auto end = std::ranges::lower_bound(units, last, {}, &Unit::call);
  return {static_cast<std::size_t>(begin - units.begin()), static_cast<std::size_t>(end - units.begin())};
}

std::vector<CallRun> call_runs(tir::Module& module, const PlainEntry& entry, bool workspace_io) {
  const ParamAliases aliases(module);
  std::vector<std::optional<bool>> simple(module.functions.size());
  const auto is_usable = [&](const EntryCall& call) {
    std::optional<bool>& known = simple[call.callee];
    if (!known) {
      known = module.functions[call.callee].target == module.functions[module.entry].target &&
              has_units(module.functions[call.callee]) && is_simple(module, call.callee, aliases);
    }
    // One storage passed twice would be two parameters of the joined function.
    const std::set<VarId> distinct(call.arguments.begin(), call.arguments.end());
    return *known && distinct.size() == call.arguments.size();
  };
  std::vector<CallRun> runs;
  RunBuilder builder(module, entry, workspace_io);
  for (std::size_t first = 0; first < entry.calls.size();) {
    std::size_t last = first;
    const auto goes_on = [&] { return last < entry.calls.size() && entry.states[last] == entry.states[first]; };
    while (goes_on() && is_usable(entry.calls[last])) ++last;
    if (last > first) {
      if (auto run = builder.build(first, last)) runs.push_back(std::move(*run));
    }
    first = goes_on() ? last + 1 : last;
  }
  return runs;
}

}  // namespace usmp::transform

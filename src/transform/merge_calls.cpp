// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tries pairs of calls on a small module first, then makes the merged function in a copy of the whole one.
#include "transform/merge_calls.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "transform/fuse.hpp"
#include "transform/inline.hpp"
#include "transform/peak.hpp"
#include "transform/plain_entry.hpp"
#include "transform/simple_function.hpp"
#include "usmp/loops/accesses.hpp"
#include "usmp/loops/injective_nest.hpp"
#include "usmp/program/edit.hpp"
#include "usmp/program/entry_calls.hpp"
#include "usmp/program/join.hpp"
#include "usmp/program/storage_uses.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using program::EntryCall;
using program::JoinedFunction;
using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

// The call that writes a tensor and the first one that reads it.
struct Pair {
  const EntryCall* writer = nullptr;
  const EntryCall* reader = nullptr;
  bool is_only_reader = true;
};

// What the calls of a module do, as it is. Everything is looked at once, when it is asked for first.
class Calls {
 public:
  Calls(const tir::Module& module, const PlainEntry& entry)
      : module_(module),
        entry_(entry),
        aliases_(module),
        simple_(module.functions.size()),
        uses_(module.functions.size()),
        sizes_(module.functions.size()) {}

  // Calls that may become one. The other readers read on what the writer writes.
  std::optional<Pair> pair(VarId tensor) {
    const auto calls = entry_.calls_with.find(tensor);
    if (calls == entry_.calls_with.end() || calls->second.size() < 2) return std::nullopt;
    if (entry_.barriers_with.contains(tensor)) return std::nullopt;
    const EntryCall& first = entry_.calls[calls->second[0]];
    const EntryCall& second = entry_.calls[calls->second[1]];
    if (entry_.states[calls->second[0]] != entry_.states[calls->second[1]]) return std::nullopt;
    const auto is_passed_once = [&](const EntryCall& call) {
      return std::count(call.arguments.begin(), call.arguments.end(), tensor) == 1;
    };
    if (!is_passed_once(first) || !is_passed_once(second)) return std::nullopt;
    if (!is_usable(first) || !is_usable(second) || !is_only_output(first, tensor)) return std::nullopt;
    if (writes(second).contains(tensor) || !may_wait(first, second)) return std::nullopt;
    return Pair{&first, &second, calls->second.size() == 2};
  }

  // Statements and nodes of expressions of both functions.
  std::size_t size(const Pair& pair) { return size(pair.writer->callee) + size(pair.reader->callee); }

 private:
  const tir::Function& function_of(const EntryCall& call) const { return module_.functions[call.callee]; }

  bool is_known(const EntryCall& call) {
    std::optional<bool>& known = simple_[call.callee];
    if (!known) known = is_simple(module_, call.callee, aliases_);
    return *known;
  }

  bool is_usable(const EntryCall& call) {
    return is_known(call) && function_of(call).target == module_.functions[module_.entry].target;
  }

  std::set<VarId> writes(const EntryCall& call) {
    auto& uses = uses_[call.callee];
    if (!uses) uses = program::storage_uses(function_of(call).body);
    std::set<VarId> storages;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const auto use = uses->find(function_of(call).params[i].var);
      if (use != uses->end() && use->second.stores > 0) storages.insert(call.arguments[i]);
    }
    return storages;
  }

  bool is_only_output(const EntryCall& call, VarId tensor) { return writes(call) == std::set<VarId>{tensor}; }

  // Whether nothing between the calls writes what the first one reads. Functions that are not simple may write anything
  // that they are passed.
  bool may_wait(const EntryCall& first, const EntryCall& second) {
    if (writers_.empty()) note_writers();
    return std::ranges::none_of(first.arguments, [&](VarId var) {
      const auto found = writers_.find(var);
      if (found == writers_.end()) return false;
      const auto next = std::ranges::upper_bound(found->second, first.statement);
      return next != found->second.end() && *next < second.statement;
    });
  }

  void note_writers() {
    for (const EntryCall& call : entry_.calls) {
      const std::set<VarId> written =
          is_known(call) ? writes(call) : std::set<VarId>(call.arguments.begin(), call.arguments.end());
      for (const VarId var : written) writers_[var].push_back(call.statement);
    }
  }

  std::size_t size(std::size_t function) {
    if (sizes_[function] == 0) {
      tir::for_each_stmt(module_.functions[function].body, [&](const Stmt&) { ++sizes_[function]; });
      tir::for_each_expr_in(module_.functions[function].body, [&](const Expr&) { ++sizes_[function]; });
    }
    return sizes_[function];
  }

  const tir::Module& module_;
  const PlainEntry& entry_;
  const ParamAliases aliases_;
  std::vector<std::optional<bool>> simple_;                                // by function
  std::vector<std::optional<std::map<VarId, program::StorageUse>>> uses_;  // by function
  std::vector<std::size_t> sizes_;                                         // by function; 0: not known yet
  std::map<VarId, std::vector<std::size_t>> writers_;                      // statements, in order
};

// Joins the pair, under the name of the reader. `functions` holds the functions, `module` their variables.
std::optional<JoinedFunction> joined(tir::Module& module, const tir::Module& functions, const PlainEntry& entry,
                                     const Pair& pair, VarId tensor) {
  return program::joined(module, {functions.functions[pair.writer->callee], pair.writer->arguments},
                         {functions.functions[pair.reader->callee], pair.reader->arguments}, entry.tensors.at(tensor));
}

// In the module itself, which is useless if it is not possible.
std::optional<MergedCall> put_in_place(tir::Module& module, const PlainEntry& entry, const Pair& pair, VarId tensor) {
  auto merged = joined(module, module, entry, pair, tensor);
  if (!merged) return std::nullopt;
  const std::string name = program::FreshNames(module).add(merged->function.name + "_merged");
  merged->function.name = name;
  replace_call(module, pair.reader->statement, name, merged->arguments);
  if (pair.is_only_reader) {
    Block& body = module.functions[module.entry].body;
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(pair.writer->statement));
  }
  const std::size_t index = program::insert_function(module, std::move(merged->function));
  const ParamAliases aliases(module);
  if (!is_simple(module, index, aliases)) return std::nullopt;
  MergedCall result{name, merged->inner, fuse_function(module, index, aliases)};
  for (Change& change : result.changes) change.step = Step::merge;  // that it was done here is what reports say
  return result;
}

// A module that holds the merged function and its call alone; the variables are moved there and back.
class Trial {
 public:
  explicit Trial(tir::Module& module) : module_(module), vars_(module.vars.size()) {
    alone_.vars = std::move(module_.vars);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() {
    alone_.vars.resize(vars_);
    module_.vars = std::move(alone_.vars);
  }

  // Whether the tensor is gone from the function if its loops are fused. O(that of the two functions), whatever the
  // module holds besides.
  bool is_gone(const PlainEntry& entry, const Pair& pair, VarId tensor) {
    auto merged = joined(alone_, module_, entry, pair, tensor);
    if (!merged) return false;
    const std::string name = merged->function.name;
    alone_.functions.push_back(caller(name, merged->arguments));
    alone_.functions.push_back(std::move(merged->function));
    if (alone_.functions[1].name < alone_.functions[0].name) std::swap(alone_.functions[0], alone_.functions[1]);
    const std::size_t index = *alone_.find(name);
    alone_.entry = 1 - index;
    const ParamAliases aliases(alone_);
    if (!is_simple(alone_, index, aliases)) return false;
    (void)fuse_function(alone_, index, aliases);
    return !MergedCall{name, merged->inner, {}}.holds_tensor(alone_);
  }

 private:
  tir::Function caller(const std::string& callee, const std::vector<VarId>& arguments) const {
    tir::Function entry;
    entry.name = module_.functions[module_.entry].name;
    entry.target = module_.functions[module_.entry].target;
    entry.is_entry = true;
    std::vector<ExprRef> operands = {tir::make_string(callee)};
    for (const VarId argument : arguments) {
      tir::Param param;
      param.var = argument;
      entry.params.push_back(std::move(param));
      operands.push_back(tir::make_var(alone_, argument));
    }
    entry.body.push_back({tir::Evaluate{tir::make_call(tir::int32_type, tir::Op::call_extern, std::move(operands))}});
    return entry;
  }

  tir::Module& module_;
  const std::size_t vars_;
  tir::Module alone_;
};

// Functions that were called before and are not any more, and the tensor.
void drop_unused(tir::Module& module, const std::set<std::string>& before, VarId tensor) {
  program::drop_uncalled(module, before);
  program::drop_allocates(module.functions[module.entry].body, {tensor});
}

bool may_try(MergeWork& work, std::size_t size) { return (work.tried += size) <= MergeWork::most_tried; }

// Variables, functions and statements of the entry.
std::size_t size_of(const tir::Module& module) {
  return module.vars.size() + module.functions.size() + module.functions[module.entry].body.size();
}

bool may_make(MergeWork& work, const tir::Module& module) {
  work.made += size_of(module);
  return work.made <= MergeWork::most_made;
}

// Whether all that the function does is to copy a tensor and to put a border around it.
bool is_padding(const tir::Module& module, const tir::Function& function) {
  if (function.body.size() != 1) return false;
  arith::Facts facts(module);
  const auto nest = loops::injective_nest(function.body.front(), facts);
  return nest && nest->guards.empty() && has_border(*nest->value);
}

// What such functions write.
std::set<VarId> padded_tensors(const tir::Module& module) {
  const auto entry = read_plain_entry(module);
  if (!entry) return {};
  std::map<std::size_t, bool> known;
  std::set<VarId> tensors;
  for (const EntryCall& call : entry->calls) {
    const tir::Function& function = module.functions[call.callee];
    const auto [pads, is_new] = known.emplace(call.callee, false);
    if (is_new) pads->second = is_padding(module, function);
    if (!pads->second) continue;
    const loops::Accesses accesses = loops::accesses_of(function.body);
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      if (accesses.stores_of(function.params[i].var) > 0) tensors.insert(call.arguments[i]);
    }
  }
  return tensors;
}

// The first of the tensors that can be merged away. Nothing: none.
bool merge_one(tir::Module& module, const std::set<VarId>& tensors, Peak& peak, std::set<VarId>& tried, MergeWork& work,
               std::vector<Change>& changes) {
  const auto entry = read_plain_entry(module);
  if (!entry) return false;
  Calls calls(module, *entry);
  for (const VarId tensor : tensors) {
    if (!entry->tensors.contains(tensor) || !tried.insert(tensor).second) continue;
    const auto pair = calls.pair(tensor);
    if (!pair || !pair->is_only_reader) continue;
    if (!may_try(work, calls.size(*pair))) return false;
    if (!Trial(module).is_gone(*entry, *pair, tensor)) continue;
    if (!may_make(work, module)) return false;
    tir::Module candidate = module;
    const auto merged = put_in_place(candidate, *entry, *pair, tensor);
    if (!merged || merged->holds_tensor(candidate)) continue;
    drop_unused(candidate, program::called_names(module), tensor);
    Peak after = peak_of(candidate);
    if (after.load > peak.load) continue;
    peak = std::move(after);
    const std::string name = module.var(tensor).name;
    module = std::move(candidate);
    // What was done to a function that is gone was done to the one that it is part of.
    for (Change& change : changes) {
      if (!module.find(change.function)) change.function = merged->function;
      for (Change::Note& note : change.notes) {
        if (!module.find(note.function)) note.function = merged->function;
      }
    }
    changes.push_back({Step::merge,
                       module.functions[module.entry].name,
                       name + ": removed, its writer and its reader are one operator",
                       {{merged->function, "two operators merged, " + name + " between them"}}});
    changes.insert(changes.end(), merged->changes.begin(), merged->changes.end());
    return true;
  }
  return false;
}

}  // namespace

bool MergedCall::holds_tensor(const tir::Module& module) const {
  const loops::Accesses accesses = loops::accesses_of(module.functions[*module.find(function)].body);
  return accesses.loads_of(inner) + accesses.stores_of(inner) > 0;
}

std::optional<std::vector<MergedCall>> merge_into_readers(tir::Module& module, VarId tensor) {
  const std::set<std::string> before = program::called_names(module);
  std::vector<MergedCall> merged;
  for (bool is_last = false; !is_last;) {
    const auto entry = read_plain_entry(module);
    if (!entry || !entry->tensors.contains(tensor)) return std::nullopt;
    const auto pair = Calls(module, *entry).pair(tensor);
    if (!pair) return std::nullopt;
    auto call = put_in_place(module, *entry, *pair, tensor);
    if (!call) return std::nullopt;
    merged.push_back(std::move(*call));
    is_last = pair->is_only_reader;
  }
  drop_unused(module, before, tensor);
  return merged;
}

std::optional<std::string> too_large_to_merge(const tir::Module& module) {
  constexpr std::size_t most = MergeWork::most_made / MergeWork::least_merges;
  if (size_of(module) <= most) return std::nullopt;
  return "more than " + std::to_string(most) + " variables, functions and statements";
}

std::vector<Change> merge_calls(tir::Module& module) {
  MergeWork work;
  return merge_calls(module, work);
}

std::vector<Change> merge_calls(tir::Module& module, MergeWork& work) {
  constexpr int most_merges = 64;
  const Peak before = peak_of(module);
  tir::Module merged = module;
  std::vector<Change> changes;
  std::set<VarId> tried;
  Peak peak = before;
  for (int i = 0; i < most_merges && merge_one(merged, std::set(peak.live), peak, tried, work, changes); ++i) {
  }
  if (peak.load >= before.load) {
    merged = module;
    changes.clear();
    tried.clear();
    peak = before;
  }
  // A copy with a border costs work wherever it is, and a ring of rows.
  const std::set<VarId> padded = padded_tensors(merged);
  for (int i = 0; i < most_merges && merge_one(merged, padded, peak, tried, work, changes); ++i) {
  }
  if (changes.empty()) return {};
  module = std::move(merged);
  return changes;
}

}  // namespace usmp::transform

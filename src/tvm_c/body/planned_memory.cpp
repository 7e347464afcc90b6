// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds the ranges that statements access, and joins those that overlap.
#include "tvm_c/body/planned_memory.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "usmp/program/entry_calls.hpp"
#include "usmp/program/storage_uses.hpp"
#include "usmp/storage/split.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

// TVM's greedy_by_size has put constants over one another: then the archive does not hold them.
std::optional<std::string> overlap_in(const std::string& pool, const std::map<std::size_t, std::size_t>& ranges) {
  const auto text = [](const auto& range) {
    return "[" + std::to_string(range.first) + ", " + std::to_string(range.second) + ")";
  };
  const auto twice =
      std::adjacent_find(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return b.first < a.second; });
  if (twice == ranges.end()) return std::nullopt;
  return "constants at " + text(*twice) + " and " + text(*std::next(twice)) + " of pool " + in_quotes(pool) +
         " overlap";
}

// TVM gives each constant a name and a place of its own; several functions may use it. This program puts equal
// constants into one place.
std::optional<std::string> shared_place(const std::vector<PoolConstant>& constants, const tir::Module& module) {
  std::map<std::pair<std::string_view, std::size_t>, std::string_view> names;
  for (const PoolConstant& one : constants) {
    const std::string_view name = module.var(one.var).name;
    const auto& first = names.try_emplace({one.pool_name, one.offset}, name).first->second;
    if (first == name) continue;
    return "constants " + in_quotes(first) + " and " + in_quotes(name) + " are both at " + std::to_string(one.offset) +
           " of pool " + in_quotes(one.pool_name);
  }
  return std::nullopt;
}

tir::Fault without_contents(const PlannedPlace& place, std::size_t function, const std::string& module_name,
                            const tir::Module& module) {
  return {function, "offset " + std::to_string(place.offset) + " of pool " + in_quotes(place.pool),
          "found " + in_quotes(module.var(place.var).name) +
              ", which is read and never written: a constant, whose value is not here; expected a struct " +
              in_quotes(place.pool) + " with values in a C file or a header (.h) that it includes, or TVMGEN_" +
              upper_case(module_name) + "_" + upper_case(place.pool) + "_CONSTANT_POOL_DATA in a header, tvmgen_" +
              module_name + ".h"};
}

// What is read of a pool, and never written, is a constant. If neither the C nor a header has its value, the pool has
// been taken for workspace.
std::optional<tir::Fault> check_contents(const PlannedMemory& memory, const std::string& module_name,
                                         const tir::Module& module) {
  std::map<tir::VarId, std::size_t> readers;  // functions that do nothing else with the variable
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    for (const auto& [var, use] : program::storage_uses(module.functions[i].body)) {
      if (use.loads > 0 && use.stores == 0 && use.mentions == 0 && !use.has_addresses) readers.emplace(var, i);
    }
  }
  const program::EntryCalls entry = program::entry_calls(module);
  std::set<tir::VarId> others = entry.used_otherwise;
  for (const program::EntryCall& call : entry.calls) {
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      if (readers.contains(module.functions[call.callee].params[i].var)) {
        readers.emplace(call.arguments[i], module.entry);
      } else {
        others.insert(call.arguments[i]);
      }
    }
  }
  for (const PlannedPlace& place : memory.places) {
    const auto reader = readers.find(place.var);
    if (reader == readers.end() || !memory.unbounded.contains(place.var)) continue;
    if (reader->second != module.entry || !others.contains(place.var)) {
      return without_contents(place, reader->second, module_name, module);
    }
  }
  return std::nullopt;
}

// Behind the last byte that functions which are read access.
Bytes accessed_end(const storage::Extent& extent) {
  Bytes end = 0;
  for (const auto& known : {extent.loaded, extent.stored}) {
    if (known) end = std::max(end, known->high + 1);
  }
  return end;
}

// How much others' functions use of what they get is not known. As TVM's plan is right, it is less than what stands in
// front of the next thing of the pool that is live with it. Live is a variable from the first statement of its function
// to the last one that names it, and those of an operator while the entry calls it. Of two that are named in one and
// the same loop or branch alone, the statements inside of it say likewise whether they are live together.
class PlanBounds {
 public:
  PlanBounds(PlannedMemory& memory, const std::vector<std::map<tir::VarId, storage::Extent>>& extents,
             tir::Module& module)
      : memory_(memory), extents_(extents), module_(module), functions_(module.functions.size()) {
    for (const PlannedPlace& place : memory.places) placed_.emplace(place.var, &place);
    for (std::size_t i = 0; i < functions_.size(); ++i) find_uses(i);
    const FunctionUses& entry = functions_[module.entry];
    if (std::ranges::find(entry.has_blocks, true) != entry.has_blocks.end()) functions_[module.entry] = {};
    for (std::size_t i = 0; i < functions_[module.entry].callees.size(); ++i) {
      for (const std::size_t callee : functions_[module.entry].callees[i]) calls_[callee].push_back(i);
    }
  }

  void shorten_all() {
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      tir::for_each_block(module_.functions[i].body, [&](tir::Block& block) {
        for (tir::Stmt& stmt : block) {
          auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
          if (allocate != nullptr && placed_.contains(allocate->var) && functions_[i].uses.contains(allocate->var))
            shorten(*allocate, i);
        }
      });
    }
    for (tir::Stmt& stmt : module_.functions[module_.entry].body) {
      auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate != nullptr && memory_.whole.contains(allocate->var)) shorten_whole(*allocate);
    }
  }

 private:
  struct Use {  // statements of the function's body
    std::size_t first = 0;
    std::size_t last = 0;
    tir::VarId var = {};
  };
  // Statements [begin, end) in the order in which they stand, those inside of one behind it.
  struct Numbers {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  using Offsets = std::map<Bytes, std::vector<Use>>;
  struct FunctionUses {
    std::map<tir::VarId, Use> uses;
    std::map<std::string_view, Offsets> pools;
    std::vector<bool> has_blocks;                // of each statement
    std::vector<std::set<std::size_t>> callees;  // of each statement
    std::unordered_map<const tir::Stmt*, Numbers> numbers;
    std::map<tir::VarId, std::vector<std::size_t>> named;  // numbers of statements, ascending
  };

  void find_uses(std::size_t index) {
    FunctionUses& function = functions_[index];
    const tir::Block& body = module_.functions[index].body;
    function.callees.resize(body.size());
    number(body, function.numbers);
    for (std::size_t i = 0; i < body.size(); ++i) {
      function.has_blocks.push_back(!tir::blocks_of(body[i]).empty());
      std::size_t at = 0;
      const auto name = [&](tir::VarId var) {
        if (!placed_.contains(var) && !memory_.whole.contains(var)) return;
        function.uses.try_emplace(var, Use{i, i, var}).first->second.last = i;
        function.named[var].push_back(at);
      };
      const auto visit = [&](const tir::Stmt& stmt) {
        at = function.numbers.at(&stmt).begin;
        if (const auto* store = std::get_if<tir::Store>(&stmt.node)) name(store->storage);
        tir::for_each_expr_of(stmt, [&](const tir::ExprRef& root) {
          tir::for_each_expr(*root, [&](const tir::Expr& expr) {
            if (expr.kind == tir::ExprKind::var || expr.kind == tir::ExprKind::load) name(expr.var);
            const auto call = tir::named_call(expr);
            const auto callee = call ? module_.find(*call->name) : std::nullopt;
            if (callee) function.callees[i].insert(*callee);
          });
        });
      };
      visit(body[i]);
      for (const tir::Block* block : tir::blocks_of(body[i])) tir::for_each_stmt(*block, visit);
    }
    for (const auto& [var, use] : function.uses) {
      if (memory_.whole.contains(var)) continue;
      function.pools[placed_.at(var)->pool][placed_.at(var)->offset].push_back(use);
    }
  }

  static void number(const tir::Block& body, std::unordered_map<const tir::Stmt*, Numbers>& numbers) {
    std::vector<const tir::Stmt*> order;
    tir::for_each_stmt(body, [&](const tir::Stmt& stmt) { order.push_back(&stmt); });
    for (std::size_t i = order.size(); i-- > 0;) {
      std::size_t end = i + 1;
      for (const tir::Block* block : tir::blocks_of(*order[i])) {
        if (!block->empty()) end = std::max(end, numbers.at(&block->back()).end);
      }
      numbers[order[i]] = {i, end};
    }
  }

  // The first and the last statement of the block that name the variable; nothing: none does.
  static std::optional<Use> use_in(const FunctionUses& function, const tir::Block& block, tir::VarId var) {
    if (block.empty()) return std::nullopt;
    const Numbers all{function.numbers.at(block.data()).begin, function.numbers.at(&block.back()).end};
    const std::vector<std::size_t>& named = function.named.at(var);
    const auto first = std::lower_bound(named.begin(), named.end(), all.begin);
    const auto behind = std::lower_bound(first, named.end(), all.end);
    if (first == behind) return std::nullopt;
    const auto statement = [&](std::size_t number) {
      const auto next = std::upper_bound(
          block.begin(), block.end(), number,
          [&](std::size_t at, const tir::Stmt& stmt) { return at < function.numbers.at(&stmt).begin; });
      return static_cast<std::size_t>(next - block.begin()) - 1;
    };
    return Use{statement(*first), statement(*std::prev(behind)), var};
  }

  // Two that only this statement names.
  static bool are_together(const FunctionUses& function, const tir::Stmt& in, tir::VarId a, tir::VarId b) {
    std::vector<const tir::Stmt*> pending = {&in};
    while (!pending.empty()) {
      const tir::Stmt& stmt = *pending.back();
      pending.pop_back();
      for (const tir::Block* block : tir::blocks_of(stmt)) {
        const auto one = use_in(function, *block, a);
        const auto other = one ? use_in(function, *block, b) : std::nullopt;
        if (!other || other->first > one->last || one->first > other->last) continue;
        const tir::Stmt& inside = (*block)[one->first];
        const bool is_one = one->first == one->last && other->first == other->last;
        if (!is_one || tir::blocks_of(inside).empty()) return true;
        pending.push_back(&inside);
      }
    }
    return false;
  }

  // The first offset above that `is_live` says is live with it.
  template <class IsLive>
  static std::optional<Bytes> next_above(const FunctionUses& function, const PlannedPlace& place, Bytes last,
                                         const IsLive& is_live) {
    const auto pool = function.pools.find(place.pool);
    if (pool == function.pools.end()) return std::nullopt;
    for (auto above = pool->second.upper_bound(last); above != pool->second.end(); ++above) {
      if (std::any_of(above->second.begin(), above->second.end(), is_live)) return above->first;
    }
    return std::nullopt;
  }

  // A device gets the address of the pool, and uses some part of it in which nothing is that is live during the call.
  // At the pool's end that may be known: if a buffer is accessed up to there, but for less than the alignment of
  // buffers.
  void shorten_whole(tir::Allocate& allocate) {
    const FunctionUses& entry = functions_[module_.entry];
    const auto own = entry.uses.find(allocate.var);
    const auto bytes = allocate.extents.size() == 1 ? tir::as_int(*allocate.extents[0]) : std::nullopt;
    if (own == entry.uses.end() || !bytes || own->second.first != own->second.last) return;
    Bytes end = *bytes;
    for (bool is_shorter = true; is_shorter;) {
      is_shorter = false;
      for (const auto& [var, use] : entry.uses) {
        const auto place = placed_.find(var);
        if (place == placed_.end() || place->second->pool != memory_.whole.at(allocate.var)) continue;
        if (use.first > own->second.first || use.last < own->second.first) continue;
        const Bytes begin = place->second->offset;
        const Bytes accessed = begin + known_end(module_.entry, var);
        if (begin >= end || accessed <= begin || end - accessed >= module_.workspace_alignment.value_or(1)) continue;
        end = begin;
        is_shorter = true;
      }
    }
    if (end > 0 && end < *bytes) allocate.extents = {tir::make_int(end)};
  }

  [[nodiscard]] Bytes known_end(std::size_t function, tir::VarId var) const {
    const auto extent = extents_[function].find(var);
    return extent == extents_[function].end() ? 0 : accessed_end(extent->second);
  }

  // To so many bytes as are in front of what is live with it, if that is not longer.
  void shorten(tir::Allocate& allocate, std::size_t index) {
    const auto extent = extents_[index].find(allocate.var);
    if (extent != extents_[index].end() && extent->second.end) return;
    const FunctionUses& function = functions_[index];
    const PlannedPlace& place = *placed_.at(allocate.var);
    const Use own = function.uses.at(allocate.var);
    const auto several = memory_.last.find(allocate.var);
    const Bytes last = several == memory_.last.end() ? place.offset : several->second;
    std::optional<Bytes> next;
    const auto lower = [&next](std::optional<Bytes> other) {
      if (other && (!next || *other < *next)) next = other;
    };
    lower(next_above(function, place, last, [&](const Use& use) {
      const bool is_one_block = own.first == own.last && use.first == use.last && function.has_blocks[own.first];
      if (use.first > own.last || own.first > use.last) return false;
      return !is_one_block || are_together(function, module_.functions[index].body[own.first], own.var, use.var);
    }));
    if (index == module_.entry) {
      std::set<std::size_t> called;
      for (std::size_t i = own.first; i <= own.last; ++i)
        called.insert(function.callees[i].begin(), function.callees[i].end());
      for (const std::size_t callee : called) {
        lower(next_above(functions_[callee], place, last, [](const Use&) { return true; }));
      }
    } else if (const auto calls = calls_.find(index); calls != calls_.end()) {
      for (const std::size_t at : calls->second) {
        lower(next_above(functions_[module_.entry], place, last,
                         [at](const Use& use) { return use.first <= at && at <= use.last; }));
      }
    }
    if (!next) return;
    const Bytes bytes = std::max(*next - place.offset, known_end(index, allocate.var));  // if the plan is wrong
    const auto elements = allocate.extents.size() == 1 ? tir::as_int(*allocate.extents[0]) : std::nullopt;
    if (allocate.type != tir::uint8_type || !elements || *elements <= bytes) return;
    allocate.extents = {tir::make_int(bytes)};
    memory_.unbounded.erase(allocate.var);
  }

  PlannedMemory& memory_;
  const std::vector<std::map<tir::VarId, storage::Extent>>& extents_;
  tir::Module& module_;
  std::vector<FunctionUses> functions_;
  std::map<tir::VarId, const PlannedPlace*> placed_;
  std::map<std::size_t, std::vector<std::size_t>> calls_;  // of the entry: by callee, its statements
};

// Bytes of the pool, from the first to the last, that are loaded through the variable and stored through none of it.
std::vector<Interval> only_loaded(const PlannedPlace& place, const storage::Extent& extent) {
  if (!extent.are_stores_known || !extent.loaded) return {};
  const Interval loaded{extent.loaded->low + place.offset, extent.loaded->high + place.offset};
  if (!extent.stored) return {loaded};
  const Interval stored{extent.stored->low + place.offset, extent.stored->high + place.offset};
  std::vector<Interval> result;
  if (loaded.low < stored.low) result.push_back({loaded.low, std::min(loaded.high, stored.low - 1)});
  if (loaded.high > stored.high) result.push_back({std::max(loaded.low, stored.high + 1), loaded.high});
  return result;
}

// A buffer that is planned anew has nothing of what stood there before: what is loaded through one name, and stored
// through another, would not be found.
std::optional<tir::Fault> check_loads(const PlannedMemory& memory,
                                      const std::vector<std::map<tir::VarId, storage::Extent>>& extents,
                                      const tir::Module& module) {
  std::map<tir::VarId, std::size_t> functions;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    for (const auto& [var, extent] : extents[i]) functions.emplace(var, i);
  }
  for (const tir::Function& function : module.functions) {
    for (const tir::Param& param : function.params) functions.erase(param.var);  // who calls it stores it
  }
  std::map<std::string_view, std::map<Bytes, std::pair<Bytes, tir::VarId>>> stored;  // by pool and last byte: the first
  const auto extent_of = [&](const PlannedPlace& place) -> const storage::Extent* {
    const auto function = functions.find(place.var);
    return function == functions.end() ? nullptr : &extents[function->second].at(place.var);
  };
  for (const PlannedPlace& place : memory.places) {
    const storage::Extent* extent = extent_of(place);
    if (extent == nullptr || !extent->stored) continue;
    auto& ranges = stored[place.pool];
    Bytes low = extent->stored->low + place.offset;
    Bytes high = extent->stored->high + place.offset;
    for (auto at = ranges.lower_bound(low); at != ranges.end() && at->second.first <= high;) {
      low = std::min(low, at->second.first);
      high = std::max(high, at->first);
      at = ranges.erase(at);
    }
    ranges[high] = {low, place.var};
  }
  for (const PlannedPlace& place : memory.places) {
    const storage::Extent* extent = extent_of(place);
    if (extent == nullptr) continue;
    const std::string where = "offset " + std::to_string(place.offset) + " of pool " + in_quotes(place.pool);
    const std::string& name = module.var(place.var).name;
    if (extent->begins_in_front) {
      return tir::Fault{
          functions.at(place.var), where,
          "found " + in_quotes(name) +
              " with a negative index, expected none: planned anew, something else stands in front of it"};
    }
    for (const Interval& bytes : only_loaded(place, *extent)) {
      const auto& ranges = stored[place.pool];
      const auto at = ranges.lower_bound(bytes.low);
      if (at == ranges.end() || at->second.first > bytes.high) continue;
      return tir::Fault{functions.at(place.var), where,
                        "found bytes [" + std::to_string(bytes.low) + ", " + std::to_string(bytes.high + 1) +
                            ") of the pool, which " + in_quotes(name) + " reads and others write, such as " +
                            in_quotes(module.var(at->second.second).name) +
                            ", expected a buffer that is written by its own name: planned anew, both are apart"};
    }
  }
  return std::nullopt;
}

// A buffer in a pool is as large as it is used; if that is not known, its pool ends it.
Error unbounded(const std::string& function, const std::string& buffer) {
  return {ErrorKind::archive,
          {},
          "function " + in_quotes(function) + ": how many bytes of " + in_quotes(buffer) +
              " are used is not known, nor is the size of its pool; expected the array in the C, or " +
              "TVMGEN_…_WORKSPACE_POOL_SIZE in the header"};
}

}  // namespace

void PlannedMemory::add(PlannedMemory&& more) {
  constants.insert(constants.end(), more.constants.begin(), more.constants.end());
  places.insert(places.end(), more.places.begin(), more.places.end());
  last.merge(more.last);
  whole.merge(more.whole);
  unbounded.merge(more.unbounded);
}

std::optional<std::string> cut_constants(const std::vector<PoolConstant>& constants, tir::Module& module) {
  if (constants.empty()) return std::nullopt;
  const auto extents = storage::extents(module);
  std::map<const std::string*, std::set<std::size_t>> offsets;
  for (const PoolConstant& one : constants) offsets[one.pool.get()].insert(one.offset);
  std::map<tir::VarId, const PoolConstant*> by_var;
  for (const PoolConstant& one : constants) by_var.emplace(one.var, &one);
  std::map<const std::string*, std::map<std::size_t, std::size_t>> ends;  // by offset
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    for (tir::Stmt& stmt : module.functions[i].body) {
      auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
      const auto found = constant == nullptr ? by_var.end() : by_var.find(constant->var);
      if (found == by_var.end()) continue;
      const PoolConstant& one = *found->second;
      const auto extent = extents[i].find(one.var);
      const auto next = offsets[one.pool.get()].upper_bound(one.offset);
      std::size_t size = (next == offsets[one.pool.get()].end() ? one.pool->size() : *next) - one.offset;
      if (extent != extents[i].end() && extent->second.end) {
        size = std::min(static_cast<std::size_t>(*extent->second.end), one.pool->size() - one.offset);
      }
      tir::DataType type = tir::uint8_type;
      if (extent != extents[i].end() && extent->second.type) type = *extent->second.type;
      const auto width = static_cast<std::size_t>(type.bytes());
      if (size % width != 0) type = tir::uint8_type;
      auto data = std::make_shared<tir::Constant>();
      data->type = type;
      data->shape = {static_cast<std::int64_t>(size / static_cast<std::size_t>(type.bytes()))};
      data->bytes = one.pool->substr(one.offset, size);
      constant->type = type;
      constant->data = std::move(data);
      module.vars[one.var.index()].element = type;
      std::size_t& end = ends[one.pool.get()][one.offset];
      end = std::max(end, one.offset + size);
    }
  }
  std::map<const std::string*, std::string> names;
  for (const PoolConstant& one : constants) names.emplace(one.pool.get(), one.pool_name);
  std::map<std::string, const std::map<std::size_t, std::size_t>*> by_name;
  for (const auto& [pool, ranges] : ends) by_name.emplace(names[pool], &ranges);
  for (const auto& [name, ranges] : by_name) {
    if (auto overlap = overlap_in(name, *ranges)) return overlap;
  }
  return shared_place(constants, module);
}

std::optional<tir::Fault> find_sizes(PlannedMemory& memory, const std::string& module_name, tir::Module& module) {
  if (memory.places.empty() && memory.unbounded.empty()) return std::nullopt;
  if (!memory.unbounded.empty()) {
    if (auto fault = check_contents(memory, module_name, module)) return fault;
  }
  const auto extents = storage::extents(module);
  if (auto fault = check_loads(memory, extents, module)) return fault;
  PlanBounds(memory, extents, module).shorten_all();
  std::set<tir::VarId> unsized;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    for (const auto& [var, extent] : extents[i]) {
      if (extent.end) continue;
      if (memory.unbounded.contains(var)) throw unbounded(module.functions[i].name, module.var(var).name);
      unsized.insert(var);
    }
  }
  for (PlannedPlace& place : memory.places) {
    place.is_sized = !unsized.contains(place.var);
    for (const auto& of_function : extents) {
      const auto extent = of_function.find(place.var);
      if (extent != of_function.end()) place.accessed = std::max(place.accessed, accessed_end(extent->second));
    }
  }
  return std::nullopt;
}

}  // namespace usmp::tvm_c

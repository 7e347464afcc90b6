// SPDX-License-Identifier: Apache-2.0
#include "tvm_c/body/planned_memory.hpp"

#include <algorithm>
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

// To so many bytes, if it is not shorter.
void shorten(tir::Allocate& allocate, Bytes bytes, std::set<tir::VarId>& unbounded) {
  const auto elements = allocate.extents.size() == 1 ? tir::as_int(*allocate.extents[0]) : std::nullopt;
  if (allocate.type != tir::uint8_type || !elements || *elements <= bytes) return;
  allocate.extents = {tir::make_int(bytes)};
  unbounded.erase(allocate.var);
}

// Of what others' functions get, how much they use is not known. As TVM's plan is right, it is less than what stands
// in front of the next thing of the pool that is live with it: of one use each, from the first to the last statement.
void bound_by_plan(PlannedMemory& memory, const std::map<tir::VarId, storage::Extent>& extents, tir::Function& entry) {
  std::map<tir::VarId, const PlannedPlace*> placed;
  for (const PlannedPlace& place : memory.places) placed.emplace(place.var, &place);
  struct Use {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  std::map<tir::VarId, Use> uses;
  for (std::size_t i = 0; i < entry.body.size(); ++i) {
    if (!tir::blocks_of(entry.body[i]).empty()) return;  // a loop, or a branch
    tir::for_each_expr_of(entry.body[i], [&](const tir::ExprRef& root) {
      tir::for_each_expr(*root, [&](const tir::Expr& expr) {
        if (expr.kind != tir::ExprKind::var || !placed.contains(expr.var)) return;
        uses.try_emplace(expr.var, Use{i, i}).first->second.last = i;
      });
    });
  }
  std::map<std::string_view, std::map<Bytes, std::vector<Use>>> pools;  // by offset
  for (const auto& [var, use] : uses) pools[placed.at(var)->pool][placed.at(var)->offset].push_back(use);
  for (tir::Stmt& stmt : entry.body) {
    auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
    if (allocate == nullptr || !placed.contains(allocate->var) || !uses.contains(allocate->var)) continue;
    const auto extent = extents.find(allocate->var);
    if (extent != extents.end() && extent->second.end) continue;
    const PlannedPlace& place = *placed.at(allocate->var);
    const Use& own = uses.at(allocate->var);
    const auto& offsets = pools.at(place.pool);
    const auto last = memory.last.find(allocate->var);
    // What functions that are read access, if the plan is wrong.
    const auto known_end = [&](const auto& of) {
      Bytes end = 0;
      if (of == extents.end()) return end;
      for (const auto& bytes : {of->second.loaded, of->second.stored}) end = std::max(end, bytes ? bytes->high + 1 : 0);
      return end;
    };
    for (auto above = offsets.upper_bound(last == memory.last.end() ? place.offset : last->second);
         above != offsets.end(); ++above) {
      const bool is_live = std::any_of(above->second.begin(), above->second.end(),
                                       [&](const Use& use) { return use.first <= own.last && own.first <= use.last; });
      if (!is_live) continue;
      shorten(*allocate, std::max(above->first - place.offset, known_end(extent)), memory.unbounded);
      break;
    }
  }
}

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
  unbounded.merge(more.unbounded);
}

std::optional<std::string> cut_constants(const std::vector<PoolConstant>& constants, bool may_share,
                                         tir::Module& module) {
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
  return may_share ? std::nullopt : shared_place(constants, module);
}

std::optional<tir::Fault> find_sizes(PlannedMemory& memory, const std::string& module_name, tir::Module& module) {
  if (memory.places.empty() && memory.unbounded.empty()) return std::nullopt;
  if (!memory.unbounded.empty()) {
    if (auto fault = check_contents(memory, module_name, module)) return fault;
  }
  const auto extents = storage::extents(module);
  if (auto fault = check_loads(memory, extents, module)) return fault;
  bound_by_plan(memory, extents[module.entry], module.functions[module.entry]);
  std::set<tir::VarId> unsized;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    for (const auto& [var, extent] : extents[i]) {
      if (extent.end) continue;
      if (memory.unbounded.contains(var)) throw unbounded(module.functions[i].name, module.var(var).name);
      unsized.insert(var);
    }
  }
  for (PlannedPlace& place : memory.places) place.is_sized = !unsized.contains(place.var);
  return std::nullopt;
}

}  // namespace usmp::tvm_c

// Tests: tests/transform/producer_test.cpp.
#include "transform/producer.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "usmp/program/edit.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Block;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

bool is_allocated(const Block& body, VarId buffer) {
  return std::any_of(body.begin(), body.end(), [&](const Stmt& stmt) {
    const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
    return allocate != nullptr && allocate->var == buffer;
  });
}

// Elements from `low` on, without a gap; the one before `end` is the last.
struct Run {
  std::int64_t low = 0;
  std::int64_t end = 0;
};

std::optional<std::int64_t> last_of(const MapLoop& loop) {
  const auto end = checked_add(loop.min, loop.extent);
  return end ? checked_sub(*end, 1) : std::nullopt;
}

// The elements that the nest writes, if these are all of an interval. Numbers beyond 64 bits: nothing.
std::optional<Run> dense_run(const MapNest& nest, const Scope& outside) {
  Scope scope = outside;
  if (!nest.guards.empty()) return std::nullopt;
  std::int64_t count = 1;
  for (const MapLoop& loop : nest.loops) {
    const auto last = last_of(loop);
    const auto more = checked_mul(count, loop.extent);
    if (!last || !more) return std::nullopt;
    scope.bind_interval(loop.var, Interval{loop.min, *last});
    count = *more;
  }
  const auto reach = scope.interval(nest.index);
  const auto end = reach ? checked_add(reach->high, 1) : std::nullopt;
  if (!end || checked_sub(*end, reach->low) != count) return std::nullopt;
  return Run{reach->low, *end};
}

// One nest of several: a loop over all elements that chooses between their values.
class Joiner {
 public:
  Joiner(tir::Module& module, Scope& scope) : module_(module), scope_(scope) {}

  std::optional<MapNest> join(std::vector<MapNest> nests) {
    std::vector<std::pair<Run, MapNest>> parts;
    for (MapNest& nest : nests) {
      const auto run = dense_run(nest, scope_);
      if (!run) return std::nullopt;
      parts.emplace_back(*run, std::move(nest));
    }
    std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first.low < b.first.low; });
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (parts[i].first.low != parts[i - 1].first.end) return std::nullopt;
    }
    const std::int64_t low = parts.front().first.low;
    const auto count = checked_sub(parts.back().first.end, low);
    if (!count) return std::nullopt;
    const tir::DataType type =
        parts.front().second.loops.empty() ? tir::int32_type : parts.front().second.loops[0].type;
    module_.vars.push_back({"element", type, {}, {}});
    const VarId var(module_.vars.size() - 1);
    MapNest joined{.storage = parts.front().second.storage,
                   .loops = {{.var = var, .type = type, .factor = 1, .min = low, .extent = *count}},
                   .index = variable(var),
                   .value = nullptr,
                   .guards = {}};
    for (std::size_t i = parts.size(); i-- > 0;) {
      ExprRef own = value_of(parts[i], var, type);
      if (!own) return std::nullopt;
      if (!joined.value) {
        joined.value = std::move(own);
        continue;
      }
      const ExprRef before_next =
          tir::make_binary(ExprKind::lt, tir::make_var(module_, var), tir::make_int(parts[i].first.end, type));
      const tir::DataType value_type = own->type;
      joined.value =
          tir::make_call(value_type, tir::Op::if_then_else, {before_next, std::move(own), std::move(joined.value)});
    }
    if (tree_size(*joined.value) > max_expression_nodes) return std::nullopt;
    return joined;
  }

 private:
  // Of element `var`, which the part writes.
  ExprRef value_of(const std::pair<Run, MapNest>& part, VarId var, tir::DataType type) {
    const auto& [run, nest] = part;
    const std::size_t mark = scope_.mark();
    scope_.bind_interval(var, Interval{run.low, run.end - 1});
    const auto iteration = iteration_of(nest, variable(var), scope_, type);
    ExprRef value = iteration ? as_stored(substituted(nest.value, scope_, *iteration)) : nullptr;
    scope_.restore(mark);
    return value;
  }

  tir::Module& module_;
  Scope& scope_;
};

}  // namespace

std::optional<Producer> producer_of(tir::Module& module, std::size_t function, const ParamAliases& aliases,
                                    VarId buffer) {
  const Block& body = module.functions[function].body;
  if (!is_allocated(body, buffer)) return std::nullopt;
  Producer producer;
  Scope scope(module);
  std::vector<MapNest> nests;
  for (std::size_t i = 0; i < body.size(); ++i) {
    Accesses accesses;
    add_accesses(body[i], accesses);
    if (accesses.loads_of(buffer) > 0) producer.readers.push_back(i);
    if (accesses.stores_of(buffer) > 0) {
      auto nest = map_nest(body[i], scope);
      if (!nest || !producer.readers.empty()) return std::nullopt;
      nests.push_back(std::move(*nest));
      producer.writers.push_back(i);
    }
    bind_after(body[i], scope);
  }
  if (nests.empty() || producer.readers.empty()) return std::nullopt;
  std::set<VarId> read;
  for (const MapNest& nest : nests) {
    read.merge(loaded_by(*nest.value));
    for (const ExprRef& guard : nest.guards) read.merge(loaded_by(*guard));
  }
  Accesses meanwhile;
  for (std::size_t i = producer.writers.front(); i <= producer.readers.back(); ++i) add_accesses(body[i], meanwhile);
  const bool may_change = std::any_of(meanwhile.stores.begin(), meanwhile.stores.end(), [&](const auto& store) {
    return std::any_of(read.begin(), read.end(), [&](VarId var) { return aliases.may_alias(var, store.first); });
  });
  if (may_change) return std::nullopt;
  auto nest =
      nests.size() == 1 ? std::optional(std::move(nests.front())) : Joiner(module, scope).join(std::move(nests));
  if (!nest) return std::nullopt;
  producer.nest = std::move(*nest);
  return producer;
}

void erase_producer(tir::Function& function, const Producer& producer) {
  for (std::size_t i = producer.writers.size(); i-- > 0;) {
    function.body.erase(function.body.begin() + static_cast<std::ptrdiff_t>(producer.writers[i]));
  }
  program::drop_allocate(function.body, producer.nest.storage);
}

}  // namespace usmp::transform

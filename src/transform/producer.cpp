// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds the nests that store to a buffer, as one, and where it is read.
#include "transform/producer.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "usmp/loops/edit.hpp"
#include "usmp/loops/walk.hpp"
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

// One nest of several: a loop over all elements that chooses between their values.
class Joiner {
 public:
  Joiner(tir::Module& module, arith::Facts& facts) : module_(module), facts_(facts) {}

  std::optional<loops::InjectiveNest> join(std::vector<loops::InjectiveNest> nests) {
    std::vector<std::pair<Interval, loops::InjectiveNest>> parts;
    for (loops::InjectiveNest& nest : nests) {
      const auto elements = nest.dense_elements();
      if (!elements) return std::nullopt;
      parts.emplace_back(*elements, std::move(nest));
    }
    std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first.low < b.first.low; });
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (parts[i].first.low - 1 != parts[i - 1].first.high) return std::nullopt;
    }
    const std::int64_t low = parts.front().first.low;
    const auto end = checked_add(parts.back().first.high, 1);
    const auto count = end ? checked_sub(*end, low) : std::nullopt;
    if (!count) return std::nullopt;
    const tir::DataType type =
        parts.front().second.loops.empty() ? tir::int32_type : parts.front().second.loops[0].type;
    const VarId var = loops::fresh_var(module_, "element", type);
    loops::InjectiveNest joined{.storage = parts.front().second.storage,
                                .loops = {{.var = var, .type = type, .factor = 1, .min = low, .extent = *count}},
                                .index = arith::variable(var),
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
          tir::make_binary(ExprKind::lt, tir::make_var(module_, var), tir::make_int(parts[i].first.high + 1, type));
      const tir::DataType value_type = own->type;
      joined.value =
          tir::make_call(value_type, tir::Op::if_then_else, {before_next, std::move(own), std::move(joined.value)});
    }
    if (loops::tree_size(*joined.value) > loops::max_expression_nodes) return std::nullopt;
    return joined;
  }

 private:
  // The value of element `var`, which the part writes.
  ExprRef value_of(const std::pair<Interval, loops::InjectiveNest>& part, VarId var, tir::DataType type) {
    const auto& [elements, nest] = part;
    const std::size_t mark = facts_.mark();
    facts_.bind_interval(var, elements);
    const auto iteration = loops::iteration_of(nest, arith::variable(var), facts_, type);
    ExprRef value = iteration ? loops::as_stored(loops::substituted(nest.value, facts_, *iteration)) : nullptr;
    facts_.restore(mark);
    return value;
  }

  tir::Module& module_;
  arith::Facts& facts_;
};

}  // namespace

std::optional<Producer> producer_of(tir::Module& module, std::size_t function, const ParamAliases& aliases,
                                    VarId buffer) {
  const Block& body = module.functions[function].body;
  if (!is_allocated(body, buffer)) return std::nullopt;
  Producer producer;
  arith::Facts facts(module);
  std::vector<loops::InjectiveNest> nests;
  for (std::size_t i = 0; i < body.size(); ++i) {
    loops::Accesses accesses;
    loops::add_accesses(body[i], accesses);
    if (accesses.loads_of(buffer) > 0) producer.readers.push_back(i);
    if (accesses.stores_of(buffer) > 0) {
      auto nest = loops::injective_nest(body[i], facts);
      if (!nest || !producer.readers.empty()) return std::nullopt;
      nests.push_back(std::move(*nest));
      producer.writers.push_back(i);
    }
    loops::bind_after(body[i], facts);
  }
  if (nests.empty() || producer.readers.empty()) return std::nullopt;
  std::set<VarId> read;
  for (const loops::InjectiveNest& nest : nests) {
    read.merge(loops::loaded_by(*nest.value));
    for (const ExprRef& guard : nest.guards) read.merge(loops::loaded_by(*guard));
  }
  loops::Accesses meanwhile;
  for (std::size_t i = producer.writers.front(); i <= producer.readers.back(); ++i)
    loops::add_accesses(body[i], meanwhile);
  const bool may_change = std::any_of(meanwhile.stores.begin(), meanwhile.stores.end(), [&](const auto& store) {
    return std::any_of(read.begin(), read.end(), [&](VarId var) { return aliases.may_alias(var, store.first); });
  });
  if (may_change) return std::nullopt;
  auto nest =
      nests.size() == 1 ? std::optional(std::move(nests.front())) : Joiner(module, facts).join(std::move(nests));
  if (!nest) return std::nullopt;
  producer.nest = std::move(*nest);
  return producer;
}

void erase_producer(tir::Function& function, const Producer& producer) {
  for (std::size_t i = producer.writers.size(); i-- > 0;) {
    function.body.erase(function.body.begin() + static_cast<std::ptrdiff_t>(producer.writers[i]));
  }
  program::drop_allocates(function.body, {producer.nest.storage});
}

}  // namespace usmp::transform

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Looks a parameter's pool up in the C's memory, the header's sizes and the places that TVM planned.
#include "tvm_c/body/planned_pools.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tvm_c/body/expressions.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// The pool of the C that has the name: memory, or a struct of constants.
std::optional<PlannedPool> owned_pool(const std::string& name, const FileScope& scope) {
  if (const auto found = scope.arrays.find(name); found != scope.arrays.end()) {
    const auto owned = scope.owned.find(name);
    if (owned == scope.owned.end()) return PlannedPool{name, false, found->second, false};
    return PlannedPool{name, false, found->second, true, owned->second};
  }
  const auto found = scope.constant_pools.find(name);
  if (found == scope.constant_pools.end()) return std::nullopt;
  if (found->second.bytes) return PlannedPool{name, true, static_cast<Bytes>(found->second.bytes->size()), false};
  Bytes end = 0;
  for (const auto& [offset, table] : found->second.tables) {
    end = std::max(end, offset + static_cast<Bytes>(table.data->bytes.size()));
  }
  return PlannedPool{name, true, end, false};
}

}  // namespace

void PoolSizes::read_header(const Code& code, std::string_view module, const ConstantNames& names) {
  constexpr std::string_view workspace = "_WORKSPACE_POOL_SIZE";
  constexpr std::string_view constants = "_CONSTANT_POOL_SIZE";
  for (const auto& [name, text_of_value] : module_macros(code, module)) {
    const auto value = constant_value(text_of_value, names);
    if (!value || *value < 0) continue;
    const Bytes size = *value;
    if (name == "WORKSPACE_SIZE" && !workspace_) workspace_ = size;
    for (const std::string_view ending : {workspace, constants}) {
      if (!name.ends_with(ending) || name.size() == ending.size()) continue;
      std::string pool(name.substr(0, name.size() - ending.size()));
      by_macro_.try_emplace(std::move(pool), PlannedPool{{}, ending == constants, size, false});
    }
  }
}

PlannedPool PoolSizes::pool_named(const std::string& name, const FileScope& scope) const {
  auto pool = owned_pool(name, scope);
  if (const auto macro = by_macro_.find(upper_case(name)); !pool && macro != by_macro_.end()) pool = macro->second;
  if (!pool) pool.emplace();
  pool->name = name;
  return std::move(*pool);
}

std::vector<PlannedPool> PoolSizes::pools_of(const FunctionText& entry, std::span<const PlannedPlace> places,
                                             const FileScope& scope) const {
  std::vector<PlannedPool> pools;
  std::set<std::string> named;
  const auto head = head_tree(entry);
  for (const c::DeclId id : head ? head->params() : std::vector<c::DeclId>()) {
    const c::Decl& param = head->tree[id];
    const auto type = known_type(head->tree, param.type);
    if (!type || type->stars != 1 || type->element != tir::uint8_type) continue;
    const auto name = pool_of_param(param.name);
    if (name && named.insert(*name).second) pools.push_back(pool_named(*name, scope));
  }
  for (const PlannedPlace& place : places) {
    if (named.insert(place.pool).second) pools.push_back(pool_named(place.pool, scope));
  }
  return pools;
}

}  // namespace usmp::tvm_c

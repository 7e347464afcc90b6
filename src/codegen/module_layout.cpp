// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Gives pools, tensors and states macros that do not clash, and finds those that lie in pools.
#include "codegen/module_layout.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <unordered_map>

#include "codegen/member_names.hpp"
#include "usmp/support/characters.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::codegen {
namespace {

std::vector<PoolLayout> pools_of(const EmissionInput& module, const std::string& symbol, UniqueNames& macros) {
  const placement::Table& table = module.placements;
  const std::vector<Bytes> used = placement::used_bytes(table);
  const std::vector<Bytes> alignments = placement::alignments(table);
  UniqueNames members;
  std::vector<PoolLayout> pools;
  for (std::size_t i = 0; i < table.pools.size(); ++i) {
    const placement::Pool& pool = table.pools[i];
    const std::string member = members.add(pool.name);
    const std::string macro = macros.add(upper_case(pool.name));
    // By its macro, which has to be that of its name: shared_pools puts together what has the same.
    const bool is_shared = module.shares_pools && pool.internal && pool.kind == PoolKind::workspace &&
                           c_identifier(pool.name) == pool.name && macro == upper_case(pool.name);
    pools.push_back({.name = pool.name,
                     .kind = pool.kind,
                     .is_internal = pool.internal,
                     .is_binary = pool.is_binary,
                     .address = pool.address,
                     .section = pool.section,
                     .region = pool.region,
                     .member = member,
                     .macro = macro,
                     .storage = (is_shared ? "usmp_" + lower_case(pool.name) : symbol + "_" + member) + "_pool",
                     .holds_state = pool.holds_state,
                     .has_shared_array = is_shared,
                     .in_use = false,
                     .used = used[i],
                     .alignment = alignments[i]});
  }
  return pools;
}

// Pools that the entry function takes, or in which inputs and outputs lie.
void mark_pools_in_use(const EmissionInput& module, ModuleLayout& layout) {
  for (const PoolId pool : module.lowered.functions[module.lowered.module.entry].pools) {
    layout.pools[pool.index()].in_use = true;
  }
  for (const auto* tensors : {&layout.inputs, &layout.outputs}) {
    for (const TensorLayout& tensor : *tensors) {
      if (tensor.allocation) layout.pools[tensor.allocation->pool.index()].in_use = true;
    }
  }
}

std::vector<PoolId> external_pools(const std::vector<PoolLayout>& pools) {
  std::vector<PoolId> external;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (!pools[i].is_internal) external.emplace_back(i);
  }
  std::sort(external.begin(), external.end(),
            [&](PoolId a, PoolId b) { return pools[a.index()].name < pools[b.index()].name; });
  return external;
}

// The places of inputs and outputs, by the entry function's parameters.
std::map<tir::VarId, Allocation> io_allocations(const EmissionInput& module) {
  std::map<tir::VarId, Allocation> allocations;
  for (const placement::Storage& storage : module.placements.storages) {
    if (storage.kind == BufferKind::input || storage.kind == BufferKind::output) {
      allocations.emplace(storage.declarations.front().var, storage.place);
    }
  }
  return allocations;
}

class TensorPlacer {
 public:
  TensorPlacer(const EmissionInput& module, UniqueNames& macros)
      : module_(module), macros_(macros), allocations_(io_allocations(module)) {}

  std::vector<TensorLayout> place(const std::vector<InterfaceTensor>& tensors, const char* what) {
    const tir::Function& entry = module_.source.functions[module_.source.entry];
    std::vector<TensorLayout> result;
    for (const InterfaceTensor& tensor : tensors) {
      TensorLayout layout{.tensor = tensor, .macro = {}, .allocation = {}};
      if (tensor.size > 0) layout.macro = macros_.add(upper_case(tensor.member)) + "_SIZE";
      if (module_.workspace_io) {
        const auto found = allocations_.find(entry.params[tensor.param].var);
        if (found == allocations_.end()) {
          throw Error(ErrorKind::usage, {},
                      "workspace_io: the size of " + std::string(what) + " '" + tensor.name +
                          "' is not known, so it cannot be placed in a pool");
        }
        layout.allocation = found->second;
      }
      result.push_back(std::move(layout));
    }
    return result;
  }

 private:
  const EmissionInput& module_;
  UniqueNames& macros_;
  std::map<tir::VarId, Allocation> allocations_;
};

}  // namespace

std::string module_symbol(const std::string& module_name) { return lower_case(c_identifier("tvmgen_" + module_name)); }

std::string module_macro(const std::string& module_name) {
  return upper_case(module_symbol(module_name)).substr(std::string("TVMGEN_").size());
}

std::string pool_macro(const PoolLayout& pool) {
  return pool.macro + (pool.kind == PoolKind::constant ? "_CONSTANT_POOL" : "_WORKSPACE_POOL");
}

Bytes array_bytes(const PoolLayout& pool) { return std::max(pool.used, Bytes{1}); }

std::string input_section(const PoolLayout& pool) {
  if (!pool.section.empty()) return pool.section;
  return (pool.kind == PoolKind::workspace ? ".bss." : ".rodata.") + pool.name;
}

namespace {

void add_states(const EmissionInput& module, const Interface& interface, ModuleLayout& layout) {
  const std::vector<tir::Param>& params = module.source.functions[module.source.entry].params;
  for (std::size_t i = 0; i < interface.states.size(); ++i) {
    const InterfaceTensor& tensor = interface.states[i];
    const tir::DataType element = params[tensor.param].element;
    layout.states.push_back({.tensor = tensor,
                             .initial = {element, {tensor.size / element.bytes()}, module.info.states[i].initial},
                             .array = "usmp_" + tensor.member});
    const auto place = std::ranges::find(module.placements.storages, params[tensor.param].var,
                                         [](const placement::Storage& one) { return one.declarations.front().var; });
    if (place != module.placements.storages.end()) {
      layout.states.back().allocation = place->place;
      layout.pools[place->place.pool.index()].in_use = true;
    }
    layout.state_bytes += tensor.size;
  }
}

}  // namespace

ModuleLayout layout_of(const EmissionInput& module) {
  const Interface interface = interface_of(module.info, module.source);
  if (module.info.packed_interface && !interface.devices.empty()) {
    throw Error(ErrorKind::archive, {},
                "the packed interface has no device contexts, but the entry function takes '" +
                    interface.devices.front().name + "'");
  }
  ModuleLayout layout;
  layout.symbol = module_symbol(module.info.name);
  layout.macro = "TVMGEN_" + module_macro(module.info.name);
  // Pools first: their macros are what linker scripts and start-up code refer to. "WORKSPACE" is
  // TVMGEN_M_WORKSPACE_SIZE.
  UniqueNames macros;
  (void)macros.add("WORKSPACE");
  layout.pools = pools_of(module, layout.symbol, macros);
  layout.external = external_pools(layout.pools);
  for (const PoolLayout& pool : layout.pools) {
    if (pool.kind == PoolKind::workspace && !pool.holds_state) layout.workspace_bytes += pool.used;
  }
  UniqueNames tensor_macros;
  (void)tensor_macros.add("WORKSPACE");
  for (const PoolLayout& pool : layout.pools) {
    for (const char* part : {"", "_ARRAY"}) (void)tensor_macros.add(pool_macro(pool) + part);
  }
  TensorPlacer placer(module, tensor_macros);
  layout.inputs = placer.place(interface.inputs, "input");
  layout.outputs = placer.place(interface.outputs, "output");
  for (const InterfaceTensor& device : interface.devices) {
    layout.devices.push_back({.tensor = device, .macro = {}, .allocation = {}});
  }
  mark_pools_in_use(module, layout);
  add_states(module, interface, layout);
  return layout;
}

std::vector<PlacedConstant> constants_in(const EmissionInput& module, PoolId pool) {
  std::unordered_map<tir::VarId, const tir::Constant*> data;
  for (const tir::Function& function : module.source.functions) {
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) {
        data.emplace(constant->var, constant->data.get());
      }
    });
  }
  std::vector<PlacedConstant> constants;
  for (const placement::Storage& storage : module.placements.storages) {
    // A constant that nothing reads has no live range, so others may lie over it.
    if (storage.kind != BufferKind::constant || storage.place.pool != pool || storage.live.empty()) continue;
    const tir::Constant* constant = data.at(storage.declarations.front().var);
    assert(static_cast<Bytes>(constant->bytes.size()) == storage.size);
    if (!constant->bytes.empty()) constants.push_back({storage.place.offset, &storage, constant});
  }
  std::sort(constants.begin(), constants.end(),
            [](const PlacedConstant& a, const PlacedConstant& b) { return a.offset < b.offset; });
  return constants;
}

}  // namespace usmp::codegen

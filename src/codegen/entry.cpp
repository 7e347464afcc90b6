// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// M_lib0.c: the application's way into the module. It owns the internal pools, finds inputs and outputs inside pools,
// checks the pools' addresses and calls the entry function of M_lib1.c.
#include <algorithm>
#include <cassert>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/c_types.hpp"
#include "codegen/interface_files.hpp"
#include "usmp/codegen/functions.hpp"
#include "usmp/codegen/terms.hpp"
#include "usmp/support/text.hpp"

namespace usmp::codegen {
namespace {

// The types in a declaration "R name(T1 a, T2 b)", so that arguments are cast to what the operators' file declares.
std::vector<std::string> parameter_types(const std::string& declaration) {
  const std::size_t open = declaration.find('(');
  const std::size_t close = declaration.rfind(')');
  std::vector<std::string> types;
  std::size_t begin = open + 1;
  while (begin < close) {
    const std::size_t end = std::min(declaration.find(',', begin), close);
    std::size_t type_end = end;
    while (type_end > begin && is_identifier_char(declaration[type_end - 1])) --type_end;
    std::string type = declaration.substr(begin, type_end - begin);
    type.erase(0, type.find_first_not_of(" \n"));
    type.erase(type.find_last_not_of(" \n") + 1);
    if (!type.empty()) types.push_back(std::move(type));
    begin = end + 1;
  }
  return types;
}

void write_map(const ModuleLayout& layout, const std::string& part, const std::vector<TensorLayout>& tensors,
               TextSink& sink) {
  sink.write(map_declaration(layout, part) + " {\n  struct " + layout.symbol + "_" + part + " " + part + ";\n");
  const bool uses_argument = std::any_of(tensors.begin(), tensors.end(), [&](const TensorLayout& tensor) {
    return !layout.pools[tensor.allocation->pool.index()].is_internal;
  });
  if (!layout.external.empty() && !uses_argument) sink.write("  (void)workspace_pools;\n");
  for (const TensorLayout& tensor : tensors) {
    sink.write("  " + part + "." + tensor.tensor.member + " = " + address_in_pool(layout, *tensor.allocation) + ";\n");
  }
  if (tensors.empty()) sink.write("  " + part + ".unused_ = NULL;\n");
  sink.write("  return " + part + ";\n}\n\n");
}

// The one place where pool addresses are looked at.
constexpr const char* pool_check_text =
    R"(/* Whether the address of a pool is given and has the required alignment. */
static int usmp_is_valid_pool(const void* pool, uintptr_t alignment) {
  return pool != NULL && (uintptr_t)pool % alignment == 0;
}

)";

// Silences warnings of parameters that the call has no use for.
std::string unused_parameters(const EmissionInput& module, const ModuleLayout& layout,
                              const std::vector<EntryArgument>& arguments) {
  const auto none = [&](auto predicate) { return std::none_of(arguments.begin(), arguments.end(), predicate); };
  std::string text;
  if (!module.workspace_io) {
    if (none([](const EntryArgument& a) { return a.tensor != nullptr && a.is_input; })) text += "  (void)inputs;\n";
    if (none([](const EntryArgument& a) { return a.tensor != nullptr && !a.is_input; })) text += "  (void)outputs;\n";
  }
  if (!layout.external.empty() &&
      none([](const EntryArgument& a) { return a.pool != nullptr && !a.pool->is_internal; })) {
    text += "  (void)workspace_pools;\n";
  }
  return text;
}

std::string value_of(const EntryArgument& argument) {
  if (argument.state != nullptr) return argument.state->array;
  if (argument.device != nullptr) return "devices->" + argument.device->tensor.member;
  if (argument.tensor != nullptr)
    return (argument.is_input ? "inputs->" : "outputs->") + argument.tensor->tensor.member;
  return argument.pool->is_internal ? pool_storage(*argument.pool) : "workspace_pools->" + argument.pool->member;
}

void write_unpacked_run(const EmissionInput& module, const ModuleLayout& layout,
                        const std::vector<EntryArgument>& arguments, TextSink& sink) {
  std::string checks;
  std::string call;
  bool needs_pools = false;
  for (const EntryArgument& argument : arguments) {
    const std::string value = value_of(argument);
    const bool is_const = value.starts_with('&') || (argument.pool != nullptr && !argument.pool->is_internal &&
                                                     argument.pool->kind == PoolKind::constant);
    const bool drops_const = is_const && !argument.type.starts_with("const ");
    call +=
        (call.empty() ? "\n      (" : ",\n      (") + argument.type + ")" + (drops_const ? "(uintptr_t)" : "") + value;
    if (argument.pool == nullptr) continue;
    needs_pools = needs_pools || !argument.pool->is_internal;
    checks +=
        "  if (!usmp_is_valid_pool(" + value + ", " + std::to_string(argument.pool->alignment) + "U)) return -1;\n";
  }
  sink.write(run_declaration(module, layout) + " {\n" + unused_parameters(module, layout, arguments));
  if (needs_pools) sink.write("  if (workspace_pools == NULL) return -1;\n");
  sink.write(checks + "  return " + function_c_name(module.lowered.module.functions[module.lowered.module.entry]) +
             "(" + call + ");\n}\n");
}

std::vector<EntryArgument> entry_arguments(const EmissionInput& module, const ModuleLayout& layout,
                                           const std::string& declaration) {
  const tir::Module& lowered = module.lowered.module;
  const tir::Function& source = module.source.functions[module.source.entry];
  std::unordered_map<tir::VarId, EntryArgument> by_var;
  std::size_t index = 0;
  for (const auto* tensors : {&layout.inputs, &layout.outputs}) {
    for (const TensorLayout& tensor : *tensors) {
      by_var[source.params[tensor.tensor.param].var] = {.tensor = &tensor,
                                                        .device = nullptr,
                                                        .pool = nullptr,
                                                        .state = nullptr,
                                                        .type = {},
                                                        .is_input = tensors == &layout.inputs,
                                                        .index = index++};
    }
  }
  for (const TensorLayout& device : layout.devices) {
    by_var[source.params[device.tensor.param].var].device = &device;
  }
  for (const StateLayout& state : layout.states) by_var[source.params[state.tensor.param].var].state = &state;
  const tir::Function& entry = lowered.functions[lowered.entry];
  const std::vector<PoolId>& pools = module.lowered.functions[lowered.entry].pools;
  const std::vector<std::string> types = parameter_types(declaration);
  assert(types.size() == entry.params.size() && pools.size() <= entry.params.size());
  const std::size_t first_pool = entry.params.size() - pools.size();
  std::vector<EntryArgument> arguments;
  for (std::size_t i = 0; i < entry.params.size(); ++i) {
    EntryArgument argument;
    if (i < first_pool) {
      argument = by_var.at(entry.params[i].var);
    } else {
      argument.pool = &layout.pools[pools[i - first_pool].index()];
    }
    argument.type = types[i];
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

}  // namespace

std::string address_in_pool(const ModuleLayout& layout, const Allocation& where) {
  const PoolLayout& pool = layout.pools[where.pool.index()];
  const std::string base = pool.is_internal ? pool_storage(pool) : "(uint8_t*)workspace_pools->" + pool.member;
  return where.offset == 0 ? base : base + " + " + std::to_string(where.offset);
}

void write_entry_name(const EmissionInput& module, TextSink& sink) {
  if (!module.renames_entry) return;
  const std::string name = function_c_name(module.lowered.module.functions[module.lowered.module.entry]);
  sink.write("/* Firmware calls " + module_symbol(module.info.name) +
             "_run. The parameters of the entry depend on the plan. */\n#define " + name + " usmp_" + name + "\n\n");
}

void write_entry(const EmissionInput& module, const ModuleLayout& layout, const Functions& functions,
                 const std::string& interface, TextSink& sink) {
  const std::string declaration = functions.declaration_of_entry();
  sink.write("/* Entry point of module \"" + comment_text(module.info.name) +
             "\". Written by usmp-plan; do not edit. */\n" + terms_line + interface +
             "\n#include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  write_entry_name(module, sink);
  sink.write(declaration + ";\n\n");
  write_internal_pools(module, layout, sink);
  write_states(layout, sink);
  write_check(layout, sink);
  if (module.workspace_io) {
    write_map(layout, "inputs", layout.inputs, sink);
    write_map(layout, "outputs", layout.outputs, sink);
  }
  const std::vector<EntryArgument> arguments = entry_arguments(module, layout, declaration);
  if (std::any_of(arguments.begin(), arguments.end(), [](const EntryArgument& a) { return a.pool != nullptr; })) {
    sink.write(pool_check_text);
  }
  if (module.info.packed_interface) {
    write_packed_run(module, layout, arguments, sink);
  } else {
    write_unpacked_run(module, layout, arguments, sink);
  }
  sink.write("\n#ifdef __cplusplus\n}\n#endif\n");
}

}  // namespace usmp::codegen

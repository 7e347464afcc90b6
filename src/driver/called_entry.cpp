// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Writes a function with the entry's old name and parameters around the planned one.
#include "called_entry.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "in_place.hpp"
#include "usmp/codegen/layout.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {
namespace {

constexpr const char* linkage = "\n#ifdef __cplusplus\nextern \"C\"\n#endif\n";  // of the declaration that follows

// Nothing: planned C cannot have it.
std::optional<std::string> packed_call_of(const pipeline::PlannedProgram& module, const std::string& prototype) {
  const std::optional<std::vector<std::string>> names = mlf::param_names(prototype);
  constexpr std::size_t packed_params = 6;
  const bool needs_header = prototype.find("TVMValue") != std::string::npos;
  if (!owns_memory(module) || !names || names->size() != packed_params || needs_header) return std::nullopt;
  const std::string run = "tvmgen_" + c_identifier(module.source.info.name) + "_run";
  const codegen::Interface& interface = module.source.interface;
  const std::string count = std::to_string(interface.inputs.size() + interface.outputs.size());
  return linkage + codegen::packed_declaration(run) + ";\n" + linkage + prototype + ";\n" + linkage + prototype +
         " {\n  (void)" + (*names)[2] + ";\n  return " + run + "(" + (*names)[0] + ", (int*)" + (*names)[1] + ", " +
         count + ", " + (*names)[3] + ", (int*)" + (*names)[4] + ", " + (*names)[5] + ");\n}\n";
}

// "global_workspace" for "global_workspace_1_var", as TVM calls a pool that the entry gets.
std::optional<std::string> pool_of_param(const std::string& name) {
  constexpr std::string_view ending = "_var";
  if (!name.ends_with(ending)) return std::nullopt;
  const std::string rest = name.substr(0, name.size() - ending.size());
  const std::size_t digits = rest.find_last_not_of("0123456789") + 1;
  const bool is_pool = digits < rest.size() && digits > 1 && rest[digits - 1] == '_';
  return is_pool ? std::optional(rest.substr(0, digits - 1)) : std::nullopt;
}

// What the entry takes, as it was found.
struct FoundParams {
  bool is_packed = false;
  std::vector<std::string> tensors;
  std::vector<std::string> pools;        // parameters, and
  std::vector<std::string> named_pools;  // the names of the pools that they are
  bool pools_are_last = true;
};

FoundParams found_params(const mlf::ModuleFiles& found) {
  FoundParams result;
  result.is_packed = found.entry_prototype.find("num_args") != std::string::npos;
  const auto names = mlf::param_names(found.entry_prototype);
  for (const std::string& name : names.value_or(std::vector<std::string>())) {
    const auto pool = result.is_packed ? std::nullopt : pool_of_param(name);
    result.pools_are_last = result.pools_are_last && (pool || result.pools.empty());
    (pool ? result.pools : result.tensors).push_back(name);
    if (pool) result.named_pools.push_back(*pool);
  }
  return result;
}

bool passes_pools(const std::string& header, const std::string& prefix) {
  return header.find("struct " + prefix + "_workspace_pools") != std::string::npos;
}

// `params`: of its tensors.
std::string function_around(const pipeline::PlannedProgram& module, const std::string& prototype,
                            const std::vector<std::string>& params, const std::vector<std::string>& unused) {
  const std::string prefix = "tvmgen_" + c_identifier(module.source.info.name);
  const std::string run = prefix + "_run";
  const codegen::Interface& interface = module.source.interface;
  std::string text = linkage + prototype + ";\n" + linkage + prototype + " {\n  struct " + prefix +
                     "_inputs usmp_inputs;\n  struct " + prefix + "_outputs usmp_outputs;\n";
  for (const codegen::InterfaceTensor& input : interface.inputs) {
    text += "  usmp_inputs." + input.member + " = (void*)" + params[input.param] + ";\n";
  }
  for (const codegen::InterfaceTensor& output : interface.outputs) {
    text += "  usmp_outputs." + output.member + " = (void*)" + params[output.param] + ";\n";
  }
  for (const std::string& name : unused) text += "  (void)" + name + ";\n";
  return text + "  return " + run + "(&usmp_inputs, &usmp_outputs);\n}\n";
}

// The same around tvmgen_M_run of the packed interface, which TVM 0.8 has around an entry without it.
std::string function_around_packed(const pipeline::PlannedProgram& module, const std::string& prototype,
                                   const std::vector<std::string>& params) {
  const std::string run = "tvmgen_" + c_identifier(module.source.info.name) + "_run";
  const codegen::Interface& interface = module.source.interface;
  const std::string count = std::to_string(params.size());
  std::string text =
      "\n#include <stddef.h>\n\n/* TVM's TVMValue and DLPack's DLTensor. */\n"
      "union usmp_called_value {\n  int64_t v_int64;\n  double v_float64;\n  void* v_handle;\n};\n"
      "struct usmp_called_tensor {\n  void* data;\n  int32_t device_type;\n  int32_t device_id;\n  int32_t ndim;\n"
      "  uint8_t type_code;\n  uint8_t type_bits;\n  uint16_t type_lanes;\n  int64_t* shape;\n  int64_t* strides;\n"
      "  uint64_t byte_offset;\n};\n";
  text += linkage + codegen::packed_declaration(run) + ";\n" + linkage + prototype + ";\n" + linkage + prototype +
          " {\n  struct usmp_called_tensor usmp_tensors[" + count + "];\n  union usmp_called_value usmp_values[" +
          count + "];\n  int32_t usmp_i;\n";
  std::size_t i = 0;
  for (const auto* tensors : {&interface.inputs, &interface.outputs}) {
    for (const codegen::InterfaceTensor& tensor : *tensors) {
      text += "  usmp_tensors[" + std::to_string(i++) + "].data = (void*)" + params[tensor.param] + ";\n";
    }
  }
  return text + "  for (usmp_i = 0; usmp_i < " + count +
         "; ++usmp_i) {\n    usmp_tensors[usmp_i].byte_offset = 0;\n"
         "    usmp_values[usmp_i].v_handle = &usmp_tensors[usmp_i];\n  }\n  return " +
         run + "(usmp_values, NULL, " + count + ", NULL, NULL, NULL);\n}\n";
}

}  // namespace

bool owns_memory(const pipeline::PlannedProgram& module) {
  return !module.document.workspace_io.value_or(false) &&
         std::ranges::all_of(module.document.pools, [](const auto& pool) { return pool.internal; });
}

std::string packed_call(const pipeline::PlannedProgram& module, const Model& model, const std::string& prototype) {
  if (auto call = packed_call_of(module, prototype)) return std::move(*call);
  throw in_place_refusal(model, "the firmware calls " + prototype +
                                    ": expected the parameters of TVM's operators, and pools that the C owns");
}

CalledEntry called_entry(const pipeline::PlannedProgram& module, const Model& model, const mlf::ModuleFiles& found,
                         const std::string& header) {
  const std::string prefix = "tvmgen_" + c_identifier(module.source.info.name);
  const std::string& name = module.source.module.functions[module.source.module.entry].name;
  const codegen::Interface& interface = module.source.interface;
  CalledEntry entry = {.function = "\n#undef " + name + "\n", .declaration = linkage + found.called + ";\n"};
  if (module.source.info.packed_interface) {
    entry.function += packed_call(module, model, found.called);
    return entry;
  }
  const std::size_t tensors = interface.inputs.size() + interface.outputs.size();
  if (!interface.devices.empty() || passes_pools(header, prefix) || tensors != found.called_params.size()) {
    throw in_place_refusal(model, "the firmware calls " + name +
                                      " itself: expected inputs and outputs as its parameters, and pools that the C "
                                      "owns");
  }
  entry.function += function_around(module, found.called, found.called_params, {});
  return entry;
}

bool changes_entry(const codegen::EmissionInput& input, const mlf::ModuleFiles& found) {
  if (!found.called.empty()) return true;
  const FoundParams params = found_params(found);
  const tir::Module& lowered = input.lowered.module;
  std::vector<std::string> planned;
  for (const PoolId pool : input.lowered.functions[lowered.entry].pools) {
    planned.push_back(input.placements.pools[pool.index()].name);
  }
  const std::size_t count = lowered.functions[lowered.entry].params.size();
  return params.is_packed || !params.pools_are_last || params.tensors.size() + params.pools.size() != count ||
         params.named_pools != planned;
}

std::string entry_beside_run(const pipeline::PlannedProgram& module, const mlf::ModuleFiles& found,
                             const std::string& header) {
  const std::string& name = module.source.module.functions[module.source.module.entry].name;
  const codegen::Interface& interface = module.source.interface;
  const FoundParams params = found_params(found);
  std::optional<std::string> around;
  const std::size_t count_of_tensors = interface.inputs.size() + interface.outputs.size();
  const bool may_be_around = interface.devices.empty() && owns_memory(module) &&
                             count_of_tensors == params.tensors.size() && count_of_tensors > 0;
  if (params.is_packed) {
    around = packed_call_of(module, found.entry_prototype);
  } else if (may_be_around && module.source.info.packed_interface) {
    if (params.pools.empty()) around = function_around_packed(module, found.entry_prototype, params.tensors);
  } else if (may_be_around && !found.header.empty() &&
             !passes_pools(header, "tvmgen_" + c_identifier(module.source.info.name))) {
    around = function_around(module, found.entry_prototype, params.tensors, params.pools);
  }
  return around ? "\n#undef " + name + "\n" + *around : std::string();
}

}  // namespace usmp::driver

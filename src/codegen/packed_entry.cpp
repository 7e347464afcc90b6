// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// tvmgen_M_run with TVM's packed calling convention, for archives that had it. TVM's headers are not needed: the two
// types involved are declared here under names of their own with the layout that TVM's ABI fixes (DLPack's DLTensor,
// the 8-byte union TVMValue), and the parameters are void* where callers pass pointers to TVM's types.
#include <string>
#include <vector>

#include "codegen/interface_files.hpp"
#include "usmp/codegen/functions.hpp"

namespace usmp::codegen {
namespace {

constexpr const char* value_type_text = R"(/* TVM's TVMValue as far as it is used here. */
union usmp_value {
  int64_t v_int64;
  double v_float64;
  void* v_handle;
};

)";

constexpr const char* tensor_text = R"(/* DLPack's DLTensor. */
struct usmp_tensor {
  void* data;
  int32_t device_type;
  int32_t device_id;
  int32_t ndim;
  uint8_t type_code;
  uint8_t type_bits;
  uint16_t type_lanes;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

/* First byte of the tensor in an argument; NULL if there is none. */
static uint8_t* usmp_tensor_data(const union usmp_value* value) {
  const struct usmp_tensor* const tensor = (const struct usmp_tensor*)value->v_handle;
  if (tensor == NULL || tensor->data == NULL) return NULL;
  return (uint8_t*)tensor->data + (size_t)tensor->byte_offset;
}

)";

// Where an external pool stands among the arguments.
std::size_t argument_index(const EmissionInput& module, const ModuleLayout& layout, const PoolLayout& pool) {
  std::size_t index = module.workspace_io ? 0 : layout.inputs.size() + layout.outputs.size();
  for (const PoolId id : layout.external) {
    if (&layout.pools[id.index()] == &pool) break;
    ++index;
  }
  return index;
}

}  // namespace

void write_packed_run(const EmissionInput& module, const ModuleLayout& layout,
                      const std::vector<EntryArgument>& arguments, TextSink& sink) {
  const std::size_t tensors = module.workspace_io ? 0 : layout.inputs.size() + layout.outputs.size();
  const std::size_t count = tensors + layout.external.size();
  const auto pool_value = [&](const PoolLayout& pool) {
    if (pool.is_internal) return pool_storage(pool);
    return "values[" + std::to_string(argument_index(module, layout, pool)) + "].v_handle";
  };
  std::string checks;
  std::string call;
  bool has_tensors = false;
  for (const EntryArgument& argument : arguments) {
    std::string value;
    if (argument.pool != nullptr) {
      value = pool_value(*argument.pool);
      checks +=
          "  if (!usmp_is_valid_pool(" + value + ", " + std::to_string(argument.pool->alignment) + "U)) return -1;\n";
    } else {
      const std::string index = std::to_string(argument.index);
      value = "tensor_" + index;
      checks.append("  uint8_t* const ").append(value).append(" = usmp_tensor_data(&values[").append(index);
      checks.append("]);\n  if (").append(value).append(" == NULL) return -1;\n");
      has_tensors = true;
    }
    call += (call.empty() ? "\n      (" : ",\n      (") + argument.type + ")" +
            (argument.type.starts_with("const ") ? "(const void*)"
             : value.starts_with('&')            ? "(uintptr_t)"
                                                 : "(void*)") +
            value;
  }

  if (count > 0) sink.write(value_type_text);
  if (has_tensors) sink.write(tensor_text);
  sink.write(run_declaration(module, layout) + " {\n");
  if (count > 0) sink.write("  const union usmp_value* const values = (const union usmp_value*)args;\n");
  sink.write(std::string(count > 0 ? "" : "  (void)args;\n") +
             "  (void)type_code;\n  (void)out_value;\n  (void)out_type_code;\n  (void)resource_handle;\n");
  sink.write("  if (num_args != " + std::to_string(count) + (count > 0 ? " || values == NULL" : "") + ") return -1;\n" +
             checks + "  return " + function_c_name(module.lowered.module.functions[module.lowered.module.entry]) +
             "(" + call + ");\n}\n");
}

}  // namespace usmp::codegen

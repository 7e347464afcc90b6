// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// M_metadata.c: the tables that TVM's runtimes for AoT read (TVMMetadata), and the entry that they call by the name
// mod_name + "___tvm_main__". It passes everything as DLTensor: inputs, outputs, then, if the application provides
// workspace pools, the contents of the parameter pool and the workspace pools.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/c_types.hpp"
#include "codegen/constant_data.hpp"
#include "codegen/described_tensors.hpp"
#include "codegen/interface_files.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/codegen/terms.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::codegen {
namespace {

// DLDataTypeCode.
int type_code(tir::DataType type) {
  switch (type.code) {
    case tir::TypeCode::int_:
      return 0;
    case tir::TypeCode::uint:
      return 1;
    case tir::TypeCode::float_:
      return 2;
    case tir::TypeCode::handle:
    case tir::TypeCode::void_:
      return 3;
    case tir::TypeCode::bfloat:
      return 4;
  }
  return 3;
}

std::string type_text(tir::DataType type) {
  return "{" + std::to_string(type_code(type)) + ", " + std::to_string(type.bits) + ", " + std::to_string(type.lanes) +
         "}";
}

void append(std::string& bytes, std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) bytes.push_back(static_cast<char>((value >> (8 * i)) & 0xffU));
}

// TVM's serialised NDArray: magic and reserved words, device (the CPU), rank, type, shape, bytes, the data.
std::string array_head(const DescribedTensor& constant) {
  std::string bytes;
  append(bytes, 0xDD5E40F096B4A13FU, 8);
  append(bytes, 0, 8);
  append(bytes, 1, 4);
  append(bytes, 0, 4);
  append(bytes, constant.shape.size(), 4);
  append(bytes, static_cast<std::uint64_t>(type_code(constant.type)), 1);
  append(bytes, constant.type.bits, 1);
  append(bytes, constant.type.lanes, 2);
  for (const std::int64_t extent : constant.shape) append(bytes, static_cast<std::uint64_t>(extent), 8);
  append(bytes, static_cast<std::uint64_t>(constant.size), 8);
  return bytes;
}

// What the runtime provides besides inputs and outputs.
struct Provided {
  std::optional<PoolId> constants;
  std::vector<PoolId> workspace;
};

Provided provided_pools(const ModuleLayout& layout) {
  Provided provided;
  for (const PoolId id : layout.external) {
    const PoolLayout& pool = layout.pools[id.index()];
    if (!pool.in_use) continue;
    if (pool.kind == PoolKind::workspace) {
      provided.workspace.push_back(id);
    } else if (provided.constants) {
      throw Error(ErrorKind::usage, {},
                  "the metadata of TVM knows one array of constants, but parameter pools '" +
                      layout.pools[provided.constants->index()].name + "' and '" + pool.name +
                      "' are the application's: expected emit: array for one of them");
    } else {
      provided.constants = id;
    }
  }
  if (provided.constants && provided.workspace.empty()) {
    throw Error(ErrorKind::usage, {},
                "TVM's runtime provides constants only along with workspace, but parameter pool '" +
                    layout.pools[provided.constants->index()].name +
                    "' alone is the application's: expected emit: array for it, or workspace in use that is the "
                    "application's, too");
  }
  return provided;
}

void check_described(const std::vector<DescribedTensor>& tensors) {
  for (const DescribedTensor& tensor : tensors) {
    if (!tensor.type.is_void() && tensor.size > 0) continue;
    throw Error(ErrorKind::archive, {},
                "type or size of '" + tensor.name + "' is not known, so the metadata of TVM cannot describe it");
  }
}

class MetadataWriter {
 public:
  MetadataWriter(const EmissionInput& module, const ModuleLayout& layout, TextSink& sink)
      : module_(module), layout_(layout), provided_(provided_pools(layout)), sink_(sink) {}

  void run() {
    sink_.write("/* Module \"" + comment_text(module_.info.name) +
                "\" for TVM's runtimes. Written by usmp-plan; do not edit. */\n" + terms_line + "#include \"" +
                layout_.symbol +
                ".h\"\n\n#include <stddef.h>\n#include <stdint.h>\n#include <tvm/runtime/c_runtime_api.h>\n"
                "#include <tvm/runtime/metadata_types.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    const std::vector<DescribedTensor> inputs = described(module_, layout_.inputs);
    const std::vector<DescribedTensor> outputs = described(module_, layout_.outputs);
    std::vector<DescribedTensor> workspace;
    for (const PoolId id : provided_.workspace) {
      const PoolLayout& pool = layout_.pools[id.index()];
      workspace.push_back(
          {.name = pool.member, .type = tir::uint8_type, .shape = {pool.used}, .size = pool.used, .place = {}});
    }
    write_tensors("inputs", inputs);
    write_tensors("outputs", outputs);
    write_tensors("workspace_pools", workspace);
    const std::size_t constants = write_constants();
    sink_.write("static const struct TVMMetadata metadata = {\n  1,\n  " + table("inputs", inputs.size()) + ",\n  " +
                table("outputs", outputs.size()) + ",\n  " + table("workspace_pools", workspace.size()) + ",\n  " +
                table("constant_pools", constants) + ",\n  " + string_literal(packed_name()) + "};\n\n");
    write_get_metadata();
    write_main();
    sink_.write("\n#ifdef __cplusplus\n}\n#endif\n");
  }

 private:
  // Not tvmgen_M, whose ___tvm_main__ takes pools; nor another name of TVM's, which readers of the C would take for one
  // more module.
  [[nodiscard]] std::string packed_name() const { return "usmp_" + c_identifier(module_.info.name); }

  static std::string table(const std::string& name, std::size_t count) {
    return (count > 0 ? name : "NULL") + ", " + std::to_string(count);
  }

  void write_tensors(const std::string& name, const std::vector<DescribedTensor>& tensors) {
    if (tensors.empty()) return;
    write_shapes(name, tensors, sink_);
    sink_.write("static const struct TVMTensorInfo " + name + "[" + std::to_string(tensors.size()) + "] = {\n");
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      sink_.write("  {" + string_literal(tensors[i].name) + ", " + shape_name(name, tensors, i) + ", " +
                  std::to_string(tensors[i].shape.size()) + ", " + type_text(tensors[i].type) + "},\n");
    }
    sink_.write("};\n\n");
  }

  std::size_t write_constants() {
    if (!provided_.constants) return 0;
    const std::vector<DescribedTensor> constants = described_constants(module_, *provided_.constants);
    std::string table;
    for (std::size_t i = 0; i < constants.size(); ++i) {
      const DescribedTensor& constant = constants[i];
      const std::string head = array_head(constant);
      const std::string length = std::to_string(head.size() + constant.data->bytes.size());
      const std::string name = "constant_" + std::to_string(i);
      sink_.write("static const uint8_t " + name + "[" + length + "] = {\n");
      ByteWriter writer("  ", "\n", sink_);
      writer.write(head);
      writer.write(constant.data->bytes);
      writer.finish();
      sink_.write("};\n");
      table += "  {" + string_literal(constant.name) + ", " + std::to_string(constant.place->offset) + ", " + length +
               ", " + name + "},\n";
    }
    if (constants.empty()) return 0;
    sink_.write("static const struct TVMConstantInfo constant_pools[" + std::to_string(constants.size()) + "] = {\n" +
                table + "};\n\n");
    return constants.size();
  }

  void write_get_metadata() {
    const std::string declaration = "int32_t " + layout_.symbol +
                                    "_get_c_metadata(TVMValue* args, int* type_codes, int num_args, TVMValue* results, "
                                    "int* result_codes,\n    void* resource_handle)";
    sink_.write("TVM_DLL " + declaration + ";\n" + declaration +
                " {\n  (void)args;\n  (void)type_codes;\n  (void)num_args;\n  (void)resource_handle;\n"
                "  results[0].v_handle = (void*)(uintptr_t)&metadata;\n  result_codes[0] = kTVMOpaqueHandle;\n"
                "  return 0;\n}\n\n");
  }

  void write_main() {
    const std::size_t tensors = layout_.inputs.size() + layout_.outputs.size();
    const std::size_t pools = provided_.workspace.size();
    const std::string least = std::to_string(tensors + (provided_.constants ? 1 : 0) + pools);
    const std::string declaration = "int32_t " + packed_name() +
                                    "___tvm_main__(TVMValue* args, int* type_codes, int num_args, TVMValue* result, "
                                    "int* result_code,\n    void* resource_handle)";
    if ((module_.info.packed_interface ? 0 : tensors) + pools > 0) {
      sink_.write(
          "/* First byte of a tensor; NULL if there is none. */\nstatic void* data_of(const TVMValue* value) {\n"
          "  const DLTensor* const tensor = (const DLTensor*)value->v_handle;\n"
          "  if (tensor == NULL || tensor->data == NULL) return NULL;\n"
          "  return (uint8_t*)tensor->data + (size_t)tensor->byte_offset;\n}\n\n");
    }
    sink_.write("/* Inputs, outputs" +
                std::string(pools > 0 ? ", contents of the parameter pool, workspace pools" : "") + ". */\nTVM_DLL " +
                declaration + ";\n" + declaration + " {\n");
    // TVM's runtime passes an array of constants with workspace pools, also if it is empty.
    const bool may_be_more = pools > 0 && !provided_.constants;
    sink_.write("  if (num_args != " + least +
                (may_be_more ? " && num_args != " + std::to_string(tensors + 1 + pools) : "") + ") return -1;\n");
    if (module_.info.packed_interface) {
      write_packed_call();
    } else {
      write_struct_call();
    }
    sink_.write("}\n");
  }

  // The place of an external pool among the arguments; empty: it is not in use.
  [[nodiscard]] std::string pool_address(PoolId id) const {
    const std::size_t tensors = layout_.inputs.size() + layout_.outputs.size();
    if (provided_.constants == id) return "data_of(&args[" + std::to_string(tensors) + "])";
    for (std::size_t i = 0; i < provided_.workspace.size(); ++i) {
      if (provided_.workspace[i] != id) continue;
      return "data_of(&args[num_args - " + std::to_string(provided_.workspace.size() - i) + "])";
    }
    return "NULL";
  }

  void write_unused(bool has_args) {
    sink_.write(std::string(has_args ? "" : "  (void)args;\n") +
                "  (void)type_codes;\n  (void)result;\n  (void)result_code;\n  (void)resource_handle;\n");
  }

  void write_struct_call() {
    std::string setting;
    std::string arguments;
    std::size_t index = 0;
    std::string checks;
    for (const auto* tensors : {&layout_.inputs, &layout_.outputs}) {
      const std::string part = tensors == &layout_.inputs ? "inputs" : "outputs";
      sink_.write("  struct " + layout_.symbol + "_" + part + " to_" + part + ";\n");
      for (const TensorLayout& tensor : *tensors) {
        const std::string member = "to_" + part + "." + tensor.tensor.member;
        setting += "  " + member + " = data_of(&args[" + std::to_string(index++) + "]);\n";
        checks += "  if (" + member + " == NULL) return -1;\n";
      }
      if (tensors->empty()) setting += "  to_" + part + ".unused_ = NULL;\n";
      arguments += (arguments.empty() ? "&to_" : ", &to_") + part;
    }
    if (!layout_.external.empty()) {
      sink_.write("  struct " + layout_.symbol + "_workspace_pools pools;\n");
      for (const PoolId id : layout_.external) {
        setting += "  pools." + layout_.pools[id.index()].member + " = " + pool_address(id) + ";\n";
      }
      arguments += ", &pools";
    }
    write_unused(index > 0 || !provided_.workspace.empty());
    sink_.write(setting + checks + "  return " + layout_.symbol + "_run(" + arguments + ");\n");
  }

  void write_packed_call() {
    const std::size_t tensors = layout_.inputs.size() + layout_.outputs.size();
    const std::string count = std::to_string(tensors + layout_.external.size());
    if (count != "0") sink_.write("  TVMValue values[" + count + "];\n");
    write_unused(tensors > 0 || !provided_.workspace.empty());
    for (std::size_t i = 0; i < tensors; ++i) {
      const std::string index = std::to_string(i);
      sink_.write("  values[" + index + "] = args[" + index + "];\n");
    }
    for (std::size_t i = 0; i < layout_.external.size(); ++i) {
      sink_.write("  values[" + std::to_string(tensors + i) + "].v_handle = " + pool_address(layout_.external[i]) +
                  ";\n");
    }
    sink_.write("  return " + layout_.symbol + "_run(" + (count == "0" ? "NULL" : "values") + ", NULL, " + count +
                ", NULL, NULL, NULL);\n");
  }

  const EmissionInput& module_;
  const ModuleLayout& layout_;
  Provided provided_;
  TextSink& sink_;
};

}  // namespace

std::string runtime_metadata_path(const std::string& module_name) { return source_path(module_name) + "_metadata.c"; }

OutputFile runtime_metadata(const EmissionInput& module) {
  const auto layout = std::make_shared<const ModuleLayout>(layout_of(module));
  if (module.workspace_io) {
    throw Error(ErrorKind::usage, {},
                "TVM's runtimes pass inputs and outputs as arguments, but workspace_io puts them into pools: expected "
                "no workspace_io, or --emit-metadata=info");
  }
  if (has_state_in_pool(*layout)) {
    throw Error(ErrorKind::usage, {},
                "TVM's runtimes do not call " + layout->symbol +
                    "_reset, which state in a pool needs before the first run: expected no pool with state: true, or "
                    "--emit-metadata=info");
  }
  if (!layout->devices.empty()) {
    throw Error(ErrorKind::archive, {},
                "TVM's runtimes pass no device contexts, but the entry function takes '" +
                    layout->devices.front().tensor.name + "'");
  }
  (void)provided_pools(*layout);
  check_described(described(module, layout->inputs));
  check_described(described(module, layout->outputs));
  return {.path = runtime_metadata_path(module.info.name),
          .write = [module, layout](TextSink& sink) { MetadataWriter(module, *layout, sink).run(); }};
}

}  // namespace usmp::codegen

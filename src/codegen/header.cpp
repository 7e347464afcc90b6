// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// tvmgen_M.h: TVM's interface in TVM's order and spelling, so that firmware written for TVM's header compiles against
// it. What is added (alignment macros, macros of unused or internal pools) only adds names.
#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "codegen/c_types.hpp"
#include "codegen/interface_files.hpp"
#include "usmp/codegen/terms.hpp"

namespace usmp::codegen {
namespace {

void write_brief(const std::string& text, TextSink& sink) { sink.write("/*! \\brief " + text + ". */\n"); }

void write_macro(const std::string& name, const std::string& value, TextSink& sink) {
  sink.write("#define " + name + " " + value + "\n");
}

void write_tensor_sizes(const ModuleLayout& layout, const std::vector<TensorLayout>& tensors, const char* what,
                        TextSink& sink) {
  for (const TensorLayout& tensor : tensors) {
    if (tensor.macro.empty()) continue;
    write_brief("Bytes of " + std::string(what) + " \"" + comment_text(tensor.tensor.name) + "\"", sink);
    write_macro(layout.macro + "_" + tensor.macro, std::to_string(tensor.tensor.size), sink);
  }
}

void write_struct(const std::string& name, const std::vector<std::string>& members, TextSink& sink) {
  sink.write("struct " + name + " {\n");
  for (const std::string& member : members) sink.write("  " + member + ";\n");
  // C has no struct without members.
  if (members.empty()) sink.write("  void* unused_;\n");
  sink.write("};\n\n");
}

std::vector<std::string> pointer_members(const std::vector<TensorLayout>& tensors) {
  std::vector<std::string> members;
  members.reserve(tensors.size());
  for (const TensorLayout& tensor : tensors) members.push_back("void* " + tensor.tensor.member);
  return members;
}

std::vector<std::string> pool_members(const ModuleLayout& layout) {
  std::vector<std::string> members;
  for (const PoolId id : layout.external) {
    const PoolLayout& pool = layout.pools[id.index()];
    members.push_back((pool.kind == PoolKind::constant ? "const void* " : "void* ") + pool.member);
  }
  return members;
}

void write_structs(const EmissionInput& module, const ModuleLayout& layout, TextSink& sink) {
  // A packed entry point takes TVM's own argument arrays; only the map functions need structs.
  if (module.info.packed_interface && !module.workspace_io) return;
  write_brief("Addresses of the inputs", sink);
  write_struct(layout.symbol + "_inputs", pointer_members(layout.inputs), sink);
  write_brief("Addresses of the outputs", sink);
  write_struct(layout.symbol + "_outputs", pointer_members(layout.outputs), sink);
  if (!layout.devices.empty()) {
    write_brief("Device contexts", sink);
    write_struct(layout.symbol + "_devices", pointer_members(layout.devices), sink);
  }
  if (!layout.external.empty()) {
    write_brief("Addresses of the memory pools that the application provides", sink);
    write_struct(layout.symbol + "_workspace_pools", pool_members(layout), sink);
  }
}

void write_map_functions(const ModuleLayout& layout, TextSink& sink) {
  const auto write_one = [&](const std::string& part, const std::string& remark) {
    sink.write("/*!\n * \\brief Where the " + part + " are inside the memory pools. " + remark + "\n");
    if (!layout.external.empty()) sink.write(" * \\param workspace_pools The pools, as passed to run.\n");
    sink.write(" * \\return Pointers into the pools.\n */\n" + map_declaration(layout, part) + ";\n\n");
  };
  write_one("inputs", "Write them before every run, which may reuse their memory.");
  write_one("outputs", "They are valid from the end of a run to the start of the next.");
}

void write_unpacked_run_comment(const EmissionInput& module, const ModuleLayout& layout, TextSink& sink) {
  if (!module.workspace_io) {
    sink.write(" * \\param inputs The inputs, which are not modified.\n * \\param outputs The outputs.\n");
  }
  if (!layout.external.empty()) {
    sink.write(" * \\param workspace_pools The memory pools, of the sizes and alignments below.\n");
  }
  if (!layout.devices.empty()) sink.write(" * \\param devices The device contexts.\n");
}

void write_packed_run_comment(const EmissionInput& module, const ModuleLayout& layout, TextSink& sink) {
  std::string order;
  if (!module.workspace_io) {
    for (const TensorLayout& tensor : layout.inputs) order += ", " + tensor.tensor.member;
    for (const TensorLayout& tensor : layout.outputs) order += ", " + tensor.tensor.member;
  }
  for (const PoolId id : layout.external) order += ", pool " + layout.pools[id.index()].member;
  sink.write(" * \\param args TVMValue array: " + (order.empty() ? "empty" : order.substr(2)) +
             ". A tensor is a DLTensor* in v_handle, a\n *   pool its address there.\n"
             " * \\param type_code Not used.\n"
             " * \\param num_args The number of values in args.\n"
             " * \\param out_value Not written to.\n"
             " * \\param out_type_code Not written to.\n"
             " * \\param resource_handle Not used.\n");
}

void write_run(const EmissionInput& module, const ModuleLayout& layout, TextSink& sink) {
  sink.write("/*!\n * \\brief Runs the model once.\n");
  const bool is_packed = module.info.packed_interface;
  if (is_packed) {
    write_packed_run_comment(module, layout, sink);
  } else {
    write_unpacked_run_comment(module, layout, sink);
  }
  sink.write(" * \\return 0, or -1 if " + std::string(is_packed ? "an argument is missing, " : "") +
             "a pool in use is missing or misaligned or an operator failed.\n */\n" + run_declaration(module, layout) +
             ";\n\n");
}

void write_pool_macros(const EmissionInput& module, const ModuleLayout& layout, TextSink& sink) {
  write_brief("Bytes in use in all workspace pools together", sink);
  write_macro(layout.macro + "_WORKSPACE_SIZE", std::to_string(layout.workspace_bytes), sink);
  const std::vector<PoolId> checked = checked_pools(layout);
  for (std::size_t i = 0; i < layout.pools.size(); ++i) {
    const PoolLayout& pool = layout.pools[i];
    const std::string what =
        (pool.kind == PoolKind::constant ? "parameter pool \"" : "workspace pool \"") + comment_text(pool.name) + "\"";
    const std::string prefix = layout.macro + "_" + pool_macro(pool);
    write_brief("Bytes in use in " + what, sink);
    write_macro(prefix + "_SIZE", std::to_string(pool.used), sink);
    if (pool.kind == PoolKind::workspace) {
      write_brief("Bytes of an array for " + what + ": at least 1, which C asks for", sink);
      write_macro(prefix + "_ARRAY_SIZE", std::to_string(array_bytes(pool)), sink);
    }
    write_brief("Required alignment of " + what + ", in bytes", sink);
    write_macro(prefix + "_ALIGNMENT", std::to_string(pool.alignment), sink);
    if (pool.address) {
      write_brief("Where a programmer writes the contents of " + what, sink);
      write_macro(prefix + "_ADDRESS", "((const void*)(uintptr_t)" + hex_text(*pool.address) + ")", sink);
    }
    if (std::ranges::find(checked, PoolId(i)) == checked.end()) continue;
    write_brief("CRC-32 of the contents of " + what, sink);
    write_macro(prefix + "_CRC32", hex_text(crc_of_contents(module, layout, PoolId(i))), sink);
  }
}

}  // namespace

std::string packed_declaration(const std::string& function) {
  return "int32_t " + function +
         "(void* args, int* type_code, int num_args, void* out_value, int* out_type_code,\n"
         "    void* resource_handle)";
}

std::string run_declaration(const EmissionInput& module, const ModuleLayout& layout) {
  if (module.info.packed_interface) {
    return packed_declaration(layout.symbol + "_run");
  }
  std::vector<std::string> parts;
  if (!module.workspace_io) parts = {"inputs", "outputs"};
  if (!layout.external.empty()) parts.emplace_back("workspace_pools");
  if (!layout.devices.empty()) parts.emplace_back("devices");
  std::string params;
  for (const std::string& part : parts) {
    params += params.empty() ? "\n" : ",\n";
    params.append("    struct ").append(layout.symbol).append("_").append(part).append("* ").append(part);
  }
  return "int32_t " + layout.symbol + "_run(" + (params.empty() ? "void" : params) + ")";
}

std::string map_declaration(const ModuleLayout& layout, const std::string& part) {
  const std::string params =
      layout.external.empty() ? "void" : "\n    struct " + layout.symbol + "_workspace_pools* workspace_pools";
  return "struct " + layout.symbol + "_" + part + " " + layout.symbol + "_map_" + part + "(" + params + ")";
}

namespace {

void write_states_part(const ModuleLayout& layout, TextSink& sink) {
  if (layout.states.empty()) return;
  if (has_state_in_pool(layout)) {
    write_brief("Sets what the model keeps from run to run, in its pool: to be called before the first run", sink);
  } else {
    write_brief("Sets what the model keeps from run to run as it was before the first run", sink);
  }
  sink.write(reset_declaration(layout) + ";\n\n");
  write_brief("Bytes that the model keeps from run to run, in memory of its own", sink);
  write_macro(layout.macro + "_STATE_SIZE", std::to_string(layout.state_bytes), sink);
}

void write_check_part(const ModuleLayout& layout, TextSink& sink) {
  const std::vector<PoolId> pools = checked_pools(layout);
  if (pools.empty()) return;
  sink.write(
      "/*!\n * \\brief Compares the CRC-32 of binary files in memory with that of the files written with this C.\n");
  for (const PoolId id : pools) {
    const PoolLayout& pool = layout.pools[id.index()];
    sink.write(" * \\param " + pool.member + " Address of parameter pool \"" + comment_text(pool.name) + "\".\n");
  }
  sink.write(" * \\return 0, or -1 if one differs or an address is NULL.\n */\n" + check_declaration(layout) + ";\n\n");
}

// "0x1.8p-1f": exact.
std::string exact_float(float value) {
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::hex).ptr;
  return "0x" + std::string(text.data(), end) + "f";
}

// What the model says of an input or output besides its size.
void write_descriptions(const ModuleLayout& layout, const std::vector<TensorLayout>& tensors,
                        const std::vector<model::Tensor>& described, TextSink& sink) {
  for (std::size_t i = 0; i < tensors.size() && i < described.size(); ++i) {
    if (tensors[i].macro.empty()) continue;
    const std::string prefix =
        layout.macro + "_" + tensors[i].macro.substr(0, tensors[i].macro.size() - std::string("_SIZE").size());
    const std::string name = "\"" + comment_text(tensors[i].tensor.name) + "\"";
    if (described[i].shape) {
      std::string extents;
      for (const std::int64_t extent : *described[i].shape) {
        extents += (extents.empty() ? "" : ", ") + std::to_string(extent);
      }
      write_brief("Extents of " + name + ", to initialise an array", sink);
      write_macro(prefix + "_SHAPE", "{" + (extents.empty() ? "1" : extents) + "}", sink);
    }
    if (described[i].quantization) {
      write_brief("Value of an element q of " + name + ": SCALE * (q - ZERO_POINT)", sink);
      write_macro(prefix + "_SCALE", exact_float(described[i].quantization->scale), sink);
      const std::int64_t zero = described[i].quantization->zero_point;
      write_macro(prefix + "_ZERO_POINT", zero < 0 ? "(" + std::to_string(zero) + ")" : std::to_string(zero), sink);
    }
  }
}

}  // namespace

void write_header(const EmissionInput& module, const ModuleLayout& layout, TextSink& sink) {
  const std::string guard = layout.macro + "_H_";
  sink.write("/* Interface of module \"" + comment_text(module.info.name) +
             "\". Written by usmp-plan; do not edit. */\n" + terms_line + "#ifndef " + guard + "\n#define " + guard +
             "\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  write_tensor_sizes(layout, layout.inputs, "input", sink);
  write_tensor_sizes(layout, layout.outputs, "output", sink);
  write_descriptions(layout, layout.inputs, module.info.inputs, sink);
  write_descriptions(layout, layout.outputs, module.info.outputs, sink);
  sink.write("\n");
  write_structs(module, layout, sink);
  if (module.workspace_io) write_map_functions(layout, sink);
  write_run(module, layout, sink);
  write_states_part(layout, sink);
  write_check_part(layout, sink);
  write_pool_macros(module, layout, sink);
  sink.write("\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* " + guard + " */\n");
}

}  // namespace usmp::codegen

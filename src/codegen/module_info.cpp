// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// tvmgen_M_info: what there is to know of a planned module, for code that handles models it was not written for.
#include <memory>
#include <string>
#include <vector>

#include "codegen/c_types.hpp"
#include "codegen/described_tensors.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/codegen/terms.hpp"
#include "usmp/support/text.hpp"

namespace usmp::codegen {
namespace {

const std::string types_text = "/* What tvmgen_M_info says of a module. Written by usmp-plan; do not edit. */\n" +
                               terms_line + R"(#ifndef USMP_INFO_H_
#define USMP_INFO_H_

#include <stddef.h>
#include <stdint.h>

struct usmp_pool_info {
  const char* name;
  size_t size;      /* bytes in use */
  size_t alignment; /* of its address, in bytes */
  int is_constant;  /* a parameter pool */
  int is_internal;  /* defined by the generated C; else the application passes its address */
};

struct usmp_tensor_info {
  const char* name;
  const char* dtype;    /* "int8"; "": not known */
  const int64_t* shape; /* NULL: no dimensions, or not known */
  size_t rank;
  size_t size;                       /* in bytes; 0: not known */
  const struct usmp_pool_info* pool; /* where it is; NULL: the application passes its address */
  size_t offset;                     /* in the pool, in bytes */
};

struct usmp_module_info {
  const char* name;
  const struct usmp_tensor_info* inputs;
  size_t num_inputs;
  const struct usmp_tensor_info* outputs;
  size_t num_outputs;
  const struct usmp_pool_info* pools;
  size_t num_pools;
  const struct usmp_tensor_info* constants; /* in parameter pools */
  size_t num_constants;
  size_t workspace_size; /* bytes in use over all workspace pools */
};

#endif /* USMP_INFO_H_ */
)";

void write_info_header(const EmissionInput& module, const ModuleLayout& layout, TextSink& sink) {
  const std::string guard = layout.macro + "_INFO_H_";
  sink.write("/* Description of module \"" + comment_text(module.info.name) +
             "\". Written by usmp-plan; do not edit. */\n" + terms_line + "#ifndef " + guard + "\n#define " + guard +
             "\n\n#include \"usmp_info.h\"\n\n#ifdef __cplusplus\nextern \"C\"\n#else\nextern\n#endif\n"
             "const struct usmp_module_info " +
             layout.symbol + "_info;\n\n#endif /* " + guard + " */\n");
}

class InfoWriter {
 public:
  InfoWriter(const EmissionInput& module, const ModuleLayout& layout, TextSink& sink)
      : module_(module), layout_(layout), sink_(sink) {}

  void run() {
    sink_.write("/* Description of module \"" + comment_text(module_.info.name) +
                "\". Written by usmp-plan; do not edit. */\n" + terms_line + "#include \"" + layout_.symbol +
                ".info.h\"\n\n");
    write_pools();
    std::vector<DescribedTensor> constants;
    for (std::size_t i = 0; i < layout_.pools.size(); ++i) {
      if (layout_.pools[i].kind != PoolKind::constant) continue;
      for (DescribedTensor& constant : described_constants(module_, PoolId(i))) constants.push_back(constant);
    }
    const std::vector<DescribedTensor> inputs = described(module_, layout_.inputs);
    const std::vector<DescribedTensor> outputs = described(module_, layout_.outputs);
    write_tensors("inputs", inputs);
    write_tensors("outputs", outputs);
    write_tensors("constants", constants);
    sink_.write("const struct usmp_module_info " + layout_.symbol + "_info = {\n  " +
                string_literal(module_.info.name) + ",\n  " + table("inputs", inputs.size()) + ",\n  " +
                table("outputs", outputs.size()) + ",\n  " + table("pools", layout_.pools.size()) + ",\n  " +
                table("constants", constants.size()) + ",\n  " + std::to_string(layout_.workspace_bytes) + "};\n");
  }

 private:
  void write_pools() {
    if (layout_.pools.empty()) return;
    sink_.write("static const struct usmp_pool_info pools[" + std::to_string(layout_.pools.size()) + "] = {\n");
    for (const PoolLayout& pool : layout_.pools) {
      sink_.write("  {" + string_literal(pool.name) + ", " + std::to_string(pool.used) + ", " +
                  std::to_string(pool.alignment) + ", " + (pool.kind == PoolKind::constant ? "1" : "0") + ", " +
                  (pool.is_internal ? "1" : "0") + "},\n");
    }
    sink_.write("};\n\n");
  }

  void write_tensors(const std::string& name, const std::vector<DescribedTensor>& tensors) {
    if (tensors.empty()) return;
    write_shapes(name, tensors, sink_);
    sink_.write("static const struct usmp_tensor_info " + name + "[" + std::to_string(tensors.size()) + "] = {\n");
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const DescribedTensor& tensor = tensors[i];
      const std::string place = tensor.place ? "&pools[" + std::to_string(tensor.place->pool.index()) + "], " +
                                                   std::to_string(tensor.place->offset)
                                             : "NULL, 0";
      const std::string type = tensor.type.is_void() ? "" : tir::to_string(tensor.type);
      sink_.write("  {" + string_literal(tensor.name) + ", " + string_literal(type) + ", " +
                  shape_name(name, tensors, i) + ", " + std::to_string(tensor.shape.size()) + ", " +
                  std::to_string(tensor.size) + ", " + place + "},\n");
    }
    sink_.write("};\n\n");
  }

  static std::string table(const std::string& name, std::size_t count) {
    return (count > 0 ? name : "NULL") + ", " + std::to_string(count);
  }

  const EmissionInput& module_;
  const ModuleLayout& layout_;
  TextSink& sink_;
};

}  // namespace

std::string info_header_path(const std::string& module_name) {
  return "codegen/host/include/" + module_symbol(module_name) + ".info.h";
}

std::string info_source_path(const std::string& module_name) { return source_path(module_name) + "_info.c"; }

std::vector<OutputFile> info_files(const EmissionInput& module) {
  const auto layout = std::make_shared<const ModuleLayout>(layout_of(module));
  return {{.path = info_types_path, .write = [](TextSink& sink) { sink.write(types_text); }},
          {.path = info_header_path(module.info.name),
           .write = [module, layout](TextSink& sink) { write_info_header(module, *layout, sink); }},
          {.path = info_source_path(module.info.name),
           .write = [module, layout](TextSink& sink) { InfoWriter(module, *layout, sink).run(); }}};
}

}  // namespace usmp::codegen

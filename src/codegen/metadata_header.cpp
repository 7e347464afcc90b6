// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// metadata.h: all modules of an archive in one include, and the pool sizes under the names of TVM's RFC 9.
#include <set>
#include <string>
#include <vector>

#include "codegen/interface_files.hpp"
#include "codegen/shared_pools.hpp"
#include "usmp/codegen/terms.hpp"
#include "usmp/support/error.hpp"

namespace usmp::codegen {
namespace {

// "SRAM_WORKSPACE_BUFFER_SIZE".
std::string macro_of(const PoolLayout& pool, const char* what) {
  return pool.macro + (pool.kind == PoolKind::constant ? "_PARAMETER" : "_WORKSPACE") + "_BUFFER_" + what;
}

class MacroWriter {
 public:
  explicit MacroWriter(TextSink& sink) : sink_(sink) {}

  // A macro that is there already (a module called "common") stays as it is.
  void write(const std::string& name, Bytes value) {
    if (written_.insert(name).second) sink_.write("#define " + name + " " + std::to_string(value) + "\n");
  }

 private:
  TextSink& sink_;
  std::set<std::string> written_;
};

void write(const std::vector<EmissionInput>& modules, TextSink& sink) {
  sink.write("/* All modules and their pools. Written by usmp-plan; do not edit. */\n" + terms_line +
             "#ifndef USMP_METADATA_H_\n"
             "#define USMP_METADATA_H_\n\n");
  for (const EmissionInput& module : modules) {
    sink.write("#include \"" + module_symbol(module.info.name) + ".h\"\n");
  }
  sink.write("\n/* Bytes in use in each pool. */\n");
  MacroWriter writer(sink);
  std::vector<ModuleLayout> layouts;
  for (const EmissionInput& module : modules) {
    const ModuleLayout& layout = layouts.emplace_back(layout_of(module));
    for (const PoolLayout& pool : layout.pools) {
      writer.write("TVM_" + module_macro(module.info.name) + "_" + macro_of(pool, "SIZE"), pool.used);
    }
  }
  if (modules.size() > 1) {
    sink.write(
        "\n/* For all modules: of workspace the maximum, if one runs at a time; of constants the sum, with padding. "
        "*/\n");
    for (const SharedPool& shared : shared_pools(layouts)) {
      writer.write("TVM_COMMON_" + macro_of(shared.pool, "SIZE"), shared.pool.used);
      if (shared.pool.kind == PoolKind::constant) continue;  // an array of each module
      writer.write("TVM_COMMON_" + macro_of(shared.pool, "ARRAY_SIZE"), array_bytes(shared.pool));
      writer.write("TVM_COMMON_" + macro_of(shared.pool, "ALIGNMENT"), shared.pool.alignment);
    }
  }
  sink.write("\n#endif /* USMP_METADATA_H_ */\n");
}

}  // namespace

OutputFile metadata_header(const std::vector<EmissionInput>& modules) {
  std::set<std::string> symbols;
  for (const EmissionInput& module : modules) {
    const std::string symbol = module_symbol(module.info.name);
    if (!symbols.insert(symbol).second) {
      throw Error(ErrorKind::archive, {},
                  "two modules have the C name '" + symbol + "', one of them '" + module.info.name + "'");
    }
  }
  return {.path = metadata_header_path, .write = [modules](TextSink& sink) { write(modules, sink); }};
}

}  // namespace usmp::codegen

// SPDX-License-Identifier: Apache-2.0
// metadata.h: all modules of an archive in one include, and the pool sizes under the names of TVM's RFC 9.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "codegen/interface_files.hpp"
#include "usmp/support/error.hpp"

namespace usmp::codegen {
namespace {

struct PoolMacro {
  std::string pool;  // "SRAM_WORKSPACE_BUFFER_SIZE"
  Bytes size = 0;
};

std::vector<PoolMacro> pool_macros(const PlannedModule& module) {
  std::vector<PoolMacro> macros;
  for (const PoolLayout& pool : layout_of(module).pools) {
    macros.push_back(
        {pool.macro + (pool.kind == PoolKind::constant ? "_PARAMETER" : "_WORKSPACE") + "_BUFFER_SIZE", pool.used});
  }
  return macros;
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

// What a pool needs if the modules share it, one run at a time.
void write_maxima(const std::vector<PlannedModule>& modules, MacroWriter& writer, TextSink& sink) {
  std::vector<PoolMacro> maxima;
  for (const PlannedModule& module : modules) {
    for (const PoolMacro& macro : pool_macros(module)) {
      const auto known =
          std::find_if(maxima.begin(), maxima.end(), [&](const PoolMacro& other) { return other.pool == macro.pool; });
      if (known == maxima.end()) {
        maxima.push_back(macro);
      } else {
        known->size = std::max(known->size, macro.size);
      }
    }
  }
  sink.write("\n/* Maximum over all modules: the size of a pool that they share if one runs at a time. */\n");
  for (const PoolMacro& macro : maxima) writer.write("TVM_COMMON_" + macro.pool, macro.size);
}

void write(const std::vector<PlannedModule>& modules, TextSink& sink) {
  sink.write(
      "/* All modules and their pools. Written by usmp-plan; do not edit. */\n#ifndef USMP_METADATA_H_\n"
      "#define USMP_METADATA_H_\n\n");
  for (const PlannedModule& module : modules) {
    sink.write("#include \"" + module_symbol(module.info.name) + ".h\"\n");
  }
  sink.write("\n/* Bytes in use in each pool. */\n");
  MacroWriter writer(sink);
  for (const PlannedModule& module : modules) {
    for (const PoolMacro& macro : pool_macros(module)) {
      writer.write("TVM_" + module_macro(module.info.name) + "_" + macro.pool, macro.size);
    }
  }
  if (modules.size() > 1) write_maxima(modules, writer, sink);
  sink.write("\n#endif /* USMP_METADATA_H_ */\n");
}

}  // namespace

OutputFile metadata_header(const std::vector<PlannedModule>& modules) {
  std::set<std::string> symbols;
  for (const PlannedModule& module : modules) {
    const std::string symbol = module_symbol(module.info.name);
    if (!symbols.insert(symbol).second) {
      throw Error(ErrorKind::archive, {},
                  "two modules have the C name '" + symbol + "', one of them '" + module.info.name + "'");
    }
  }
  return {.path = "codegen/host/include/metadata.h", .write = [modules](TextSink& sink) { write(modules, sink); }};
}

}  // namespace usmp::codegen

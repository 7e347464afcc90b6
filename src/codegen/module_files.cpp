// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a module's C consists of, and TVM's layout of it.
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codegen/interface_files.hpp"
#include "codegen/names.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/codegen/functions.hpp"
#include "usmp/support/error.hpp"

namespace usmp::codegen {

std::string file_stem(const std::string& module_name) {
  std::string stem = module_name;
  for (char& c : stem) {
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    if (!is_plain) c = '_';
  }
  if (stem.empty() || stem.front() == '.' || stem.front() == '-') stem.insert(0, 1, '_');
  return stem;
}

std::string source_path(const std::string& module_name) { return "codegen/host/src/" + file_stem(module_name); }

ModuleParts module_parts(const EmissionInput& module) {
  const Functions functions(module);
  const auto layout = std::make_shared<const ModuleLayout>(layout_of(module));
  ModuleParts parts;
  parts.header = [module, layout](TextSink& sink) { write_header(module, *layout, sink); };
  parts.entry = [module, layout, functions](const std::string& interface, TextSink& sink) {
    write_entry(module, *layout, functions, interface, sink);
  };
  if (!module.macros.empty()) {
    StringSink entry;
    parts.entry("", entry);
    require_own_names(entry.text(), module.macros, [](const std::string&) { return false; });
  }
  parts.operators = [functions](TextSink& sink) { functions.write(sink); };
  if (has_constants_header(*layout)) {
    parts.constants = [module, layout](TextSink& sink) { write_constants_header(module, *layout, sink); };
  }
  for (const PoolId id : binary_pools(*layout)) {
    const std::string name = source_path(module.info.name) + "_" + layout->pools[id.index()].member;
    const std::string binary = file_stem(module.info.name) + "_" + layout->pools[id.index()].member + ".bin";
    parts.binaries.push_back({.path = name + ".bin", .write = [module, layout, id](TextSink& sink) {
                                write_binary(module, *layout, id, sink);
                              }});
    if (layout->pools[id.index()].address) continue;
    parts.binaries.push_back({.path = name + ".S", .write = [module, layout, id, binary](TextSink& sink) {
                                write_stub(module, layout->pools[id.index()], binary, sink);
                              }});
  }
  return parts;
}

std::vector<OutputFile> module_files(const EmissionInput& module) {
  ModuleParts parts = module_parts(module);
  const std::string header = module_symbol(module.info.name) + ".h";
  const std::string source = source_path(module.info.name);
  std::vector<OutputFile> files;
  files.push_back({"codegen/host/include/" + header, std::move(parts.header)});
  files.push_back({source + "_lib0.c", [entry = std::move(parts.entry), interface = "#include \"" + header + "\"\n"](
                                           TextSink& sink) { entry(interface, sink); }});
  files.push_back({source + "_lib1.c", std::move(parts.operators)});
  if (parts.constants) files.push_back({constants_header_path(module.info.name), std::move(parts.constants)});
  std::ranges::move(parts.binaries, std::back_inserter(files));
  return files;
}

// With a '.', which no module's symbol has: it is no other module's header.
std::string constants_header_path(const std::string& module_name) {
  return "codegen/host/include/" + module_symbol(module_name) + ".constants.h";
}

}  // namespace usmp::codegen

// SPDX-License-Identifier: Apache-2.0
// M_memory.ld: the pools' part of a GNU ld script.
#include <string>
#include <vector>

#include "codegen/module_layout.hpp"
#include "codegen/shared_pools.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/support/text.hpp"

namespace usmp::codegen {
namespace {

// `least`: bytes that the section has in whatever order the linker puts the arrays.
std::string section_text(const PoolLayout& pool, Bytes least) {
  const bool is_workspace = pool.kind == PoolKind::workspace;
  const std::string section = ".usmp_" + pool.name;
  const std::string region = pool.region.empty() ? upper_case(pool.name) : pool.region;
  const std::string used = std::to_string(least);
  const std::string input = input_section(pool);
  std::string text = "\n" + section + (is_workspace ? " (NOLOAD)" : "") + " : ALIGN(" + std::to_string(pool.alignment) +
                     ")\n{\n  usmp_" + pool.name + "_start = .;\n  *(" + input + ")\n  usmp_" + pool.name +
                     "_end = .;\n} > " + region + "\n";
  text += "ASSERT(SIZEOF(" + section + ") >= " + used + ", \"usmp-plan: pool " + pool.name + " has fewer than its " +
          used + " bytes: its array belongs in section " + input + ", which no output section above may take\")\n";
  text += "ASSERT(SIZEOF(" + section + ") <= LENGTH(" + region + "), \"usmp-plan: pool " + pool.name +
          " is larger than region " + region + "\")\n";
  return text;
}

void write_script(const std::vector<EmissionInput>& modules, TextSink& sink) {
  sink.write(
      "/* The memory pools. Written by usmp-plan; do not edit.\n"
      "   INCLUDE it inside of SECTIONS, above *(.bss .bss.*) and *(.rodata .rodata.*), which would take the pools "
      "too.\n"
      "   A region that has another name in MEMORY: REGION_ALIAS. */\n");
  std::vector<ModuleLayout> layouts;
  layouts.reserve(modules.size());
  for (const EmissionInput& module : modules) layouts.push_back(layout_of(module));
  for (const SharedPool& shared : shared_pools(layouts)) {
    if (shared.pool.used > 0) sink.write(section_text(shared.pool, shared.least));
  }
}

}  // namespace

std::string memory_script_path(const std::string& module_name) {
  return "codegen/host/" + file_stem(module_name) + "_memory.ld";
}

OutputFile memory_script(const std::vector<EmissionInput>& modules) {
  const std::string path = modules.size() == 1 ? memory_script_path(modules.front().info.name) : all_memory_script_path;
  return {.path = path, .write = [modules](TextSink& sink) { write_script(modules, sink); }};
}

}  // namespace usmp::codegen

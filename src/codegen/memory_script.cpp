// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// M_memory.ld: the pools' part of a GNU ld script. M_flash.csv: what a programmer writes.
#include <algorithm>
#include <string>
#include <vector>

#include "codegen/interface_files.hpp"
#include "codegen/module_layout.hpp"
#include "codegen/shared_pools.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/codegen/terms.hpp"
#include "usmp/support/text.hpp"

namespace usmp::codegen {
namespace {

// Reserves what a programmer writes: nothing else may be placed there. A region is known if the linker script gave it.
std::string reserved_text(const SharedPool& shared) {
  const PoolLayout& pool = shared.pool;
  const std::string start = "usmp_" + pool.name + "_start = ";
  const std::string end = "usmp_" + pool.name + "_end = ";
  const std::string first = hex_text(*pool.address);
  const std::string comment = "\n/* A programmer writes pool " + pool.name + " there: see the table of " +
                              std::string("files, *_flash.csv. */\n");
  if (pool.region.empty()) return comment + start + first + ";\n" + end + hex_text(*shared.end) + ";\n";
  return comment + ".usmp_" + pool.name + " " + first + " (NOLOAD) :\n{\n  " + start +
         ".;\n  . += " + std::to_string(*shared.end - *pool.address) + ";\n  " + end + ".;\n} > " + pool.region + "\n";
}

// `least`: bytes that the section has in whatever order the linker puts the arrays.
std::string section_text(const PoolLayout& pool, Bytes least) {
  const bool is_workspace = pool.kind == PoolKind::workspace;
  const std::string section = ".usmp_" + pool.name;
  const std::string region = pool.region.empty() ? upper_case(pool.name) : pool.region;
  const std::string used = std::to_string(least);
  // The stub of a binary file: nothing in the C may refer to it.
  const std::string input = pool.is_binary ? "KEEP(*(" + input_section(pool) + "))" : "*(" + input_section(pool) + ")";
  std::string text = "\n" + section + (is_workspace ? " (NOLOAD)" : "") + " : ALIGN(" + std::to_string(pool.alignment) +
                     ")\n{\n  usmp_" + pool.name + "_start = .;\n  " + input + "\n  usmp_" + pool.name +
                     "_end = .;\n} > " + region + "\n";
  text += "ASSERT(SIZEOF(" + section + ") >= " + used + ", \"usmp-plan: pool " + pool.name + " has fewer than its " +
          used + " bytes: " +
          (pool.is_binary
               ? "link the assembler file of its contents, or give the pool an address if a programmer writes them"
               : "its array belongs in section " + input_section(pool) + ", which no output section above may take") +
          "\")\n";
  text += "ASSERT(SIZEOF(" + section + ") <= LENGTH(" + region + "), \"usmp-plan: pool " + pool.name +
          " is larger than region " + region + "\")\n";
  return text;
}

void write_script(const std::vector<EmissionInput>& modules, TextSink& sink) {
  sink.write(
      "/* The memory pools. Written by usmp-plan; do not edit.\n   " + terms +
      "\n"
      "   INCLUDE it inside of SECTIONS, above *(.bss .bss.*) and *(.rodata .rodata.*), which would take the pools "
      "too.\n"
      "   A region that has another name in MEMORY: REGION_ALIAS. */\n");
  std::vector<ModuleLayout> layouts;
  layouts.reserve(modules.size());
  for (const EmissionInput& module : modules) layouts.push_back(layout_of(module));
  for (const SharedPool& shared : shared_pools(layouts)) {
    if (shared.pool.used == 0) continue;
    sink.write(shared.pool.address ? reserved_text(shared) : section_text(shared.pool, shared.least));
  }
}

}  // namespace

namespace {

// What a programmer writes where.
void write_flash_table(const std::vector<EmissionInput>& modules, TextSink& sink) {
  sink.write("file,address,bytes,crc32\n");
  for (const EmissionInput& module : modules) {
    const ModuleLayout layout = layout_of(module);
    for (const PoolId id : checked_pools(layout)) {
      const PoolLayout& pool = layout.pools[id.index()];
      if (!pool.address) continue;
      sink.write("src/" + file_stem(module.info.name) + "_" + pool.member + ".bin," + hex_text(*pool.address) + "," +
                 std::to_string(pool.used) + "," + hex_text(crc_of_contents(module, layout, id)) + "\n");
    }
  }
}

}  // namespace

std::string flash_table_path(const std::string& module_name) {
  return "codegen/host/" + file_stem(module_name) + "_flash.csv";
}

std::optional<OutputFile> flash_table(const std::vector<EmissionInput>& modules) {
  const bool has_any = std::ranges::any_of(modules, [](const EmissionInput& module) {
    return std::ranges::any_of(module.placements.pools,
                               [](const placement::Pool& pool) { return pool.address.has_value(); });
  });
  if (!has_any) return std::nullopt;
  return OutputFile{.path = modules.size() == 1 ? flash_table_path(modules.front().info.name) : all_flash_table_path,
                    .write = [modules](TextSink& sink) { write_flash_table(modules, sink); }};
}

std::string memory_script_path(const std::string& module_name) {
  return "codegen/host/" + file_stem(module_name) + "_memory.ld";
}

OutputFile memory_script(const std::vector<EmissionInput>& modules) {
  const std::string path = modules.size() == 1 ? memory_script_path(modules.front().info.name) : all_memory_script_path;
  return {.path = path, .write = [modules](TextSink& sink) { write_script(modules, sink); }};
}

}  // namespace usmp::codegen

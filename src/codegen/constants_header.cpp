// SPDX-License-Identifier: Apache-2.0
// tvmgen_M.constants.h: the contents of external parameter pools. Apart from tvmgen_M.h, which every file of the
// application may include: only the one that defines the arrays has to read megabytes of numbers.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/c_types.hpp"
#include "codegen/constant_data.hpp"
#include "codegen/interface_files.hpp"

namespace usmp::codegen {
namespace {

bool has_contents(const PoolLayout& pool) { return pool.kind == PoolKind::constant && !pool.is_internal; }

// The bytes of the pool from its start: constants, and the gaps between them, which are zeros.
template <class Data, class Gap>
void for_each_piece(const EmissionInput& module, const ModuleLayout& layout, PoolId id, const Data& data,
                    const Gap& gap) {
  Bytes end = 0;
  for (const PlacedConstant& constant : constants_in(module, id)) {
    gap(constant.offset - end);
    data(std::string_view(constant.data->bytes));
    end = constant.offset + static_cast<Bytes>(constant.data->bytes.size());
  }
  gap(array_bytes(layout.pools[id.index()]) - end);
}

// Of a pool whose contents are a binary file, once the stub is linked.
void write_declaration(const PoolLayout& pool, TextSink& sink) {
  sink.write(
      "\n/*! \\brief Contents of parameter pool \"" + comment_text(pool.name) +
      "\": of the assembler file that includes the binary one. */\n#ifdef __cplusplus\nextern \"C\"\n#else\nextern\n" +
      "#endif\nconst uint8_t " + pool.storage + "[" + std::to_string(array_bytes(pool)) + "];\n");
}

void write_contents(const EmissionInput& module, const ModuleLayout& layout, PoolId id, TextSink& sink) {
  const PoolLayout& pool = layout.pools[id.index()];
  sink.write("\n/*! \\brief Contents of parameter pool \"" + comment_text(pool.name) +
             "\": initialiser of a uint8_t array. */\n#define " + layout.macro + "_" + pool.macro +
             "_CONSTANT_POOL_DATA \\\n");
  ByteWriter writer("  ", "\\\n", sink);
  for_each_piece(
      module, layout, id, [&](std::string_view bytes) { writer.write(bytes); },
      [&](Bytes gap) { writer.fill(static_cast<std::size_t>(gap)); });
  writer.finish();
  sink.write("\n");
}

}  // namespace

bool has_constants_header(const ModuleLayout& layout) {
  return std::any_of(layout.pools.begin(), layout.pools.end(), has_contents);
}

void write_constants_header(const EmissionInput& module, const ModuleLayout& layout, TextSink& sink) {
  const std::string guard = layout.macro + "_CONSTANTS_H_";
  sink.write("/* Constants of module \"" + comment_text(module.info.name) +
             "\". Written by usmp-plan; do not edit. */\n#ifndef " + guard + "\n#define " + guard + "\n");
  if (!binary_pools(layout).empty()) sink.write("\n#include <stdint.h>\n");
  for (std::size_t i = 0; i < layout.pools.size(); ++i) {
    if (!has_contents(layout.pools[i])) continue;
    if (layout.pools[i].is_binary) {
      write_declaration(layout.pools[i], sink);
    } else {
      write_contents(module, layout, PoolId(i), sink);
    }
  }
  sink.write("\n#endif /* " + guard + " */\n");
}

std::vector<PoolId> binary_pools(const ModuleLayout& layout) {
  std::vector<PoolId> pools;
  for (std::size_t i = 0; i < layout.pools.size(); ++i) {
    if (has_contents(layout.pools[i]) && layout.pools[i].is_binary) pools.emplace_back(i);
  }
  return pools;
}

void write_binary(const EmissionInput& module, const ModuleLayout& layout, PoolId id, TextSink& sink) {
  constexpr Bytes most = 4096;
  const std::string zeros(static_cast<std::size_t>(most), '\0');
  for_each_piece(
      module, layout, id, [&](std::string_view bytes) { sink.write(bytes); },
      [&](Bytes gap) {
        for (; gap > 0; gap -= std::min(gap, most)) {
          sink.write(std::string_view(zeros).substr(0, static_cast<std::size_t>(std::min(gap, most))));
        }
      });
}

void write_stub(const EmissionInput& module, const PoolLayout& pool, const std::string& binary, TextSink& sink) {
  sink.write("/* Parameter pool \"" + comment_text(pool.name) + "\" of module \"" + comment_text(module.info.name) +
             "\". Written by usmp-plan; do not edit.\n   For GNU as or clang, ELF. The directory of " + binary +
             " has to be an include path: -IDIRECTORY. */\n");
  sink.write("  .section " + string_literal(input_section(pool)) + ", \"a\", %progbits\n  .balign " +
             std::to_string(pool.alignment) + "\n  .global " + pool.storage + "\n  .type " + pool.storage +
             ", %object\n" + pool.storage + ":\n  .incbin " + string_literal(binary) + "\n  .size " + pool.storage +
             ", . - " + pool.storage + "\n");
  sink.write("#if defined(__linux__) && defined(__ELF__)\n  .section .note.GNU-stack, \"\", %progbits\n#endif\n");
}

}  // namespace usmp::codegen

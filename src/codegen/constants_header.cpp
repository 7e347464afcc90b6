// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// tvmgen_M.constants.h: the contents of external parameter pools. Apart from tvmgen_M.h, which every file of the
// application may include: only the one that defines the arrays has to read megabytes of numbers.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/c_types.hpp"
#include "codegen/constant_data.hpp"
#include "codegen/interface_files.hpp"
#include "usmp/codegen/terms.hpp"
#include "usmp/support/crc32.hpp"

namespace usmp::codegen {
namespace {

bool has_contents(const PoolLayout& pool) { return pool.kind == PoolKind::constant && !pool.is_internal; }

// Whether the header has it: nothing declares what a programmer writes.
bool is_in_header(const PoolLayout& pool) { return has_contents(pool) && !pool.address; }

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

// Declares a pool whose contents are a binary file: the stub defines it once that is linked.
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
  return std::any_of(layout.pools.begin(), layout.pools.end(), is_in_header);
}

void write_constants_header(const EmissionInput& module, const ModuleLayout& layout, TextSink& sink) {
  const std::string guard = layout.macro + "_CONSTANTS_H_";
  sink.write("/* Constants of module \"" + comment_text(module.info.name) +
             "\". Written by usmp-plan; do not edit. */\n" + terms_line + "#ifndef " + guard + "\n#define " + guard +
             "\n");
  const bool declares =
      std::ranges::any_of(layout.pools, [](const PoolLayout& pool) { return is_in_header(pool) && pool.is_binary; });
  if (declares) sink.write("\n#include <stdint.h>\n");
  for (std::size_t i = 0; i < layout.pools.size(); ++i) {
    if (!is_in_header(layout.pools[i])) continue;
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

std::uint32_t crc_of_contents(const EmissionInput& module, const ModuleLayout& layout, PoolId id) {
  class Crc final : public TextSink {
   public:
    void write(std::string_view text) override { crc = crc32(text, crc); }
    std::uint32_t crc = 0;
  } sink;
  write_binary(module, layout, id, sink);
  return sink.crc;
}

std::vector<PoolId> checked_pools(const ModuleLayout& layout) {
  std::vector<PoolId> pools;
  for (const PoolId id : layout.external) {
    const PoolLayout& pool = layout.pools[id.index()];
    if (has_contents(pool) && pool.is_binary && pool.used > 0) pools.push_back(id);
  }
  return pools;
}

std::string check_declaration(const ModuleLayout& layout) {
  std::vector<std::string> params;
  for (const PoolId id : checked_pools(layout)) params.push_back("const void* " + layout.pools[id.index()].member);
  return "int32_t " + layout.symbol + "_check_constants(" + joined(params) + ")";
}

void write_check(const ModuleLayout& layout, TextSink& sink) {
  const std::vector<PoolId> pools = checked_pools(layout);
  if (pools.empty()) return;
  sink.write(R"(/* CRC-32 of IEEE 802.3, four bits at a time. */
static uint32_t usmp_crc32(const void* contents, uint32_t size) {
  static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                     0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                     0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  const uint8_t* byte = (const uint8_t*)contents;
  uint32_t crc = 0xffffffff;
  for (; size > 0; --size) {
    crc ^= *byte++;
    crc = (crc >> 4) ^ table[crc & 15U];
    crc = (crc >> 4) ^ table[crc & 15U];
  }
  return ~crc;
}

)" + check_declaration(layout) +
             " {\n");
  for (const PoolId id : pools) {
    const PoolLayout& pool = layout.pools[id.index()];
    const std::string macro = layout.macro + "_" + pool_macro(pool);
    sink.write("  if (" + pool.member + " == NULL || usmp_crc32(" + pool.member + ", " + macro + "_SIZE) != " + macro +
               "_CRC32) return -1;\n");
  }
  sink.write("  return 0;\n}\n\n");
}

void write_stub(const EmissionInput& module, const PoolLayout& pool, const std::string& binary, TextSink& sink) {
  sink.write("/* Parameter pool \"" + comment_text(pool.name) + "\" of module \"" + comment_text(module.info.name) +
             "\". Written by usmp-plan; do not edit.\n   " + terms +
             "\n   For GNU as or clang, ELF. The directory of " + binary +
             " has to be an include path: -IDIRECTORY. */\n");
  sink.write("  .section " + string_literal(input_section(pool)) + ", \"a\", %progbits\n  .balign " +
             std::to_string(pool.alignment) + "\n  .global " + pool.storage + "\n  .type " + pool.storage +
             ", %object\n" + pool.storage + ":\n  .incbin " + string_literal(binary) + "\n  .size " + pool.storage +
             ", . - " + pool.storage + "\n");
  sink.write("#if defined(__linux__) && defined(__ELF__)\n  .section .note.GNU-stack, \"\", %progbits\n#endif\n");
}

}  // namespace usmp::codegen

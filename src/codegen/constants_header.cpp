// SPDX-License-Identifier: Apache-2.0
// tvmgen_M.constants.h: the contents of external parameter pools. Apart from tvmgen_M.h, which every file of the
// application may include: only the one that defines the arrays has to read megabytes of numbers.
#include <algorithm>
#include <string>

#include "codegen/c_types.hpp"
#include "codegen/constant_data.hpp"
#include "codegen/interface_files.hpp"

namespace usmp::codegen {
namespace {

bool has_contents(const PoolLayout& pool) { return pool.kind == PoolKind::constant && !pool.is_internal; }

void write_contents(const PlannedModule& module, const ModuleLayout& layout, PoolId id, TextSink& sink) {
  const PoolLayout& pool = layout.pools[id.index()];
  sink.write("\n/*! \\brief Contents of parameter pool \"" + comment_text(pool.name) +
             "\": initialiser of a uint8_t array. */\n#define " + layout.macro + "_" + pool.macro +
             "_CONSTANT_POOL_DATA \\\n");
  ByteWriter writer("  ", "\\\n", sink);
  Bytes end = 0;
  for (const PlacedConstant& constant : constants_in(module, id)) {
    writer.fill(static_cast<std::size_t>(constant.offset - end));
    writer.write(constant.data->bytes);
    end = constant.offset + static_cast<Bytes>(constant.data->bytes.size());
  }
  // An initialiser is never empty, so that it stays valid C when a pool falls out of use.
  writer.fill(static_cast<std::size_t>(std::max(pool.used, Bytes{1}) - end));
  writer.finish();
  sink.write("\n");
}

}  // namespace

bool has_constants_header(const ModuleLayout& layout) {
  return std::any_of(layout.pools.begin(), layout.pools.end(), has_contents);
}

void write_constants_header(const PlannedModule& module, const ModuleLayout& layout, TextSink& sink) {
  const std::string guard = layout.macro + "_CONSTANTS_H_";
  sink.write("/* Constants of module \"" + comment_text(module.info.name) +
             "\". Written by usmp-plan; do not edit. */\n#ifndef " + guard + "\n#define " + guard + "\n");
  for (std::size_t i = 0; i < layout.pools.size(); ++i) {
    if (has_contents(layout.pools[i])) write_contents(module, layout, PoolId(i), sink);
  }
  sink.write("\n#endif /* " + guard + " */\n");
}

}  // namespace usmp::codegen

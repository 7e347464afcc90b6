// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The pools that the generated C owns. A workspace pool is an array of bytes. A parameter pool is a constant struct of
// typed arrays, so that its contents do not depend on the target's byte order; gaps between constants are members of
// their own, which makes them zero, and assertions hold the compiler to the planned offsets.
#include <algorithm>
#include <string>
#include <vector>

#include "codegen/c_types.hpp"
#include "codegen/constant_data.hpp"
#include "codegen/interface_files.hpp"
#include "codegen/shared_pools.hpp"
#include "usmp/codegen/terms.hpp"

namespace usmp::codegen {
namespace {

constexpr const char* aligned_macro =
    R"(/* If the compiler cannot align the pools, tvmgen_*_run returns -1 for a misaligned one. */
#ifndef USMP_ALIGNED
#if defined(__GNUC__)
#define USMP_ALIGNED(bytes) __attribute__((aligned(bytes)))
#elif defined(__cplusplus)
#define USMP_ALIGNED(bytes) alignas(bytes)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define USMP_ALIGNED(bytes) _Alignas(bytes)
#else
#define USMP_ALIGNED(bytes)
#endif
#endif

)";

constexpr const char* section_macro = R"(#ifndef USMP_SECTION
#if defined(__GNUC__) || defined(__ICCARM__)
#define USMP_SECTION(name) __attribute__((section(name)))
#else
#error "define USMP_SECTION(name) so that it puts a variable into a linker section"
#endif
#endif

)";

// Static arrays that nothing uses are warned of.
std::vector<PoolId> internal_pools_in_use(const ModuleLayout& layout) {
  std::vector<PoolId> internal;
  for (std::size_t i = 0; i < layout.pools.size(); ++i) {
    if (layout.pools[i].is_internal && layout.pools[i].in_use) internal.emplace_back(i);
  }
  return internal;
}

std::string attributes(const PoolLayout& pool) {
  std::string text = "USMP_ALIGNED(" + std::to_string(pool.alignment) + ") ";
  if (!pool.section.empty()) text += "USMP_SECTION(" + string_literal(pool.section) + ") ";
  return text;
}

// "name[size]".
std::string sized_array(const PoolLayout& pool) { return pool.storage + "[" + std::to_string(array_bytes(pool)) + "]"; }

void write_workspace_pool(const PoolLayout& pool, TextSink& sink) {
  if (pool.has_shared_array) {
    sink.write("/* Workspace pool \"" + comment_text(pool.name) + "\", in usmp_pools.c. */\nextern uint8_t " +
               pool.storage + "[];\n\n");
    return;
  }
  sink.write("/* Workspace pool \"" + comment_text(pool.name) + "\". */\n" + attributes(pool) + "static uint8_t " +
             sized_array(pool) + ";\n\n");
}

// A member of a constant pool's struct: a constant, or the gap in front of one or behind the last.
struct Member {
  Bytes offset = 0;
  std::string name;
  std::string element;  // C type
  std::size_t count = 0;
  const tir::Constant* data = nullptr;  // null: a gap
  bool as_bytes = false;
  std::string comment;
};

Member constant_member(const EmissionInput& module, const PlacedConstant& constant) {
  const std::size_t function = constant.storage->declarations.front().function;
  const ConstantArray array = array_of(*constant.data);
  Member member{.offset = constant.offset,
                .name = "at_" + std::to_string(constant.offset),
                .element = array.element,
                .count = array.count,
                .data = constant.data,
                .as_bytes = false,
                .comment = comment_text(constant.storage->name + " of " + module.source.functions[function].name)};
  if (constant.offset % array.element_bytes != 0) {  // a typed array could not stand there
    member.element = "uint8_t";
    member.count = constant.data->bytes.size();
    member.as_bytes = true;
  }
  return member;
}

std::vector<Member> members_of(const EmissionInput& module, PoolId pool, Bytes size) {
  std::vector<Member> members;
  Bytes end = 0;
  const auto close_gap = [&](Bytes next) {
    if (next == end) return;
    members.push_back({.offset = end,
                       .name = "gap_" + std::to_string(end),
                       .element = "uint8_t",
                       .count = static_cast<std::size_t>(next - end),
                       .data = nullptr,
                       .as_bytes = true,
                       .comment = {}});
  };
  for (const PlacedConstant& constant : constants_in(module, pool)) {
    close_gap(constant.offset);
    members.push_back(constant_member(module, constant));
    end = constant.offset + static_cast<Bytes>(constant.data->bytes.size());
  }
  close_gap(size);
  return members;
}

void write_layout_struct(const std::string& name, const std::vector<Member>& members, TextSink& sink) {
  sink.write("struct " + name + " {\n");
  for (const Member& member : members) {
    sink.write("  " + member.element + " " + member.name + "[" + std::to_string(member.count) + "];" +
               (member.comment.empty() ? "" : " /* " + member.comment + " */") + "\n");
  }
  sink.write("};\n");
  for (const Member& member : members) {
    sink.write("typedef char " + name + "_" + member.name + "[offsetof(struct " + name + ", " + member.name +
               ") == " + std::to_string(member.offset) + " ? 1 : -1];\n");
  }
}

void write_value(const Member& member, TextSink& sink) {
  if (member.data == nullptr) {
    sink.write("  {0}");
    return;
  }
  sink.write("  {\n");
  if (member.as_bytes) {
    ByteWriter writer("    ", "\n", sink);
    writer.write(member.data->bytes);
    writer.finish();
  } else {
    write_elements(*member.data, "    ", sink);
  }
  sink.write("\n  }");
}

void write_constant_pool(const EmissionInput& module, const PoolLayout& pool, PoolId id, TextSink& sink) {
  const std::vector<Member> members = members_of(module, id, array_bytes(pool));
  const std::string layout_name = pool.storage + "_layout";
  sink.write("/* Parameter pool \"" + comment_text(pool.name) + "\". */\n");
  write_layout_struct(layout_name, members, sink);
  sink.write(attributes(pool) + "static const struct " + layout_name + " " + pool.storage + " = {\n");
  for (const Member& member : members) {
    write_value(member, sink);
    sink.write(",\n");
  }
  sink.write("};\n\n");
}

}  // namespace

std::optional<OutputFile> shared_pools_file(const std::vector<EmissionInput>& modules) {
  std::vector<ModuleLayout> layouts;
  layouts.reserve(modules.size());
  for (const EmissionInput& module : modules) layouts.push_back(layout_of(module));
  std::vector<SharedPool> pools = shared_pools(layouts);
  std::erase_if(pools, [](const SharedPool& shared) { return !shared.has_array; });
  if (pools.empty()) return std::nullopt;
  const auto write = [pools = std::move(pools)](TextSink& sink) {
    sink.write("/* Workspace pools that the modules share. Written by usmp-plan; do not edit. */\n" + terms_line +
               ""
               "#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    sink.write(aligned_macro);
    sink.write(section_macro);
    for (const SharedPool& shared : pools) {
      const PoolLayout& pool = shared.pool;
      sink.write("/* Workspace pool \"" + comment_text(pool.name) + "\", as large as " + shared.largest +
                 " needs it. */\nextern uint8_t " + sized_array(pool) + ";\n" + attributes(pool) + "uint8_t " +
                 sized_array(pool) + ";\n\n");
    }
    sink.write("#ifdef __cplusplus\n}\n#endif\n");
  };
  return OutputFile{.path = shared_pools_path, .write = write};
}

std::string pool_storage(const PoolLayout& pool) {
  return pool.kind == PoolKind::constant ? "&" + pool.storage : pool.storage;
}

void write_internal_pools(const EmissionInput& module, const ModuleLayout& layout, TextSink& sink) {
  const std::vector<PoolId> pools = internal_pools_in_use(layout);
  if (pools.empty()) return;
  sink.write(aligned_macro);
  if (std::any_of(pools.begin(), pools.end(), [&](PoolId id) { return !layout.pools[id.index()].section.empty(); })) {
    sink.write(section_macro);
  }
  for (const PoolId id : pools) {
    const PoolLayout& pool = layout.pools[id.index()];
    if (pool.kind == PoolKind::constant) {
      write_constant_pool(module, pool, id, sink);
    } else {
      write_workspace_pool(pool, sink);
    }
  }
}

}  // namespace usmp::codegen

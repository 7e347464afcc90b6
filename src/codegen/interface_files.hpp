// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The writers of the interface's files; module_parts puts them together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/module_layout.hpp"
#include "usmp/codegen/functions.hpp"
#include "usmp/support/text.hpp"

namespace usmp::codegen {

// tvmgen_M.h.
void write_header(const EmissionInput& module, const ModuleLayout& layout, TextSink& sink);

// tvmgen_M.constants.h, for modules with external parameter pools.
[[nodiscard]] bool has_constants_header(const ModuleLayout& layout);
void write_constants_header(const EmissionInput& module, const ModuleLayout& layout, TextSink& sink);

// M_POOL.bin and M_POOL.S: the contents of external parameter pools that are binary files, and assembler that includes
// one (`binary`: its name) and defines it as PoolLayout::storage.
[[nodiscard]] std::vector<PoolId> binary_pools(const ModuleLayout& layout);
void write_binary(const EmissionInput& module, const ModuleLayout& layout, PoolId id, TextSink& sink);
void write_stub(const EmissionInput& module, const PoolLayout& pool, const std::string& binary, TextSink& sink);

// tvmgen_M_check_constants: whether the contents of binary files that are in memory are those that this C belongs to.
// Its parameters: the pools that it checks, those with contents; none: there is no such function.
[[nodiscard]] std::vector<PoolId> checked_pools(const ModuleLayout& layout);
[[nodiscard]] std::string check_declaration(const ModuleLayout& layout);
void write_check(const ModuleLayout& layout, TextSink& sink);
[[nodiscard]] std::uint32_t crc_of_contents(const EmissionInput& module, const ModuleLayout& layout, PoolId id);

// One argument of the call of the entry function: a parameter of it and where its value comes from. Exactly one of the
// four is set.
struct EntryArgument {
  const TensorLayout* tensor = nullptr;  // an input or output
  const TensorLayout* device = nullptr;
  const PoolLayout* pool = nullptr;
  const StateLayout* state = nullptr;
  std::string type;  // C type of the parameter
  bool is_input = false;
  std::size_t index = 0;  // of the tensor among all inputs, then all outputs
};

// M_lib0.c: ModuleParts::entry.
void write_entry(const EmissionInput& module, const ModuleLayout& layout, const Functions& functions,
                 const std::string& interface, TextSink& sink);

// In M_lib0.c and M_lib1.c, behind the inclusions: the name that the entry has instead, if it has (renames_entry).
void write_entry_name(const EmissionInput& module, TextSink& sink);

// Parts of M_lib0.c: what stands in front of the functions (internal pools), and tvmgen_M_run for a packed interface.
void write_internal_pools(const EmissionInput& module, const ModuleLayout& layout, TextSink& sink);
// Behind them: what the model keeps from run to run, and tvmgen_M_reset.
void write_states(const ModuleLayout& layout, TextSink& sink);
[[nodiscard]] bool has_state_in_pool(const ModuleLayout& layout);

// First byte of a buffer, given what leads to the pools that the application passes.
[[nodiscard]] std::string address_in_pool(const ModuleLayout& layout, const Allocation& where);
[[nodiscard]] std::string reset_declaration(const ModuleLayout& layout);
void write_packed_run(const EmissionInput& module, const ModuleLayout& layout,
                      const std::vector<EntryArgument>& arguments, TextSink& sink);

// "int32_t tvmgen_default_run(…)" and "struct tvmgen_default_inputs tvmgen_default_map_inputs(…)", without ';'.
[[nodiscard]] std::string run_declaration(const EmissionInput& module, const ModuleLayout& layout);
[[nodiscard]] std::string map_declaration(const ModuleLayout& layout, const std::string& part);

// Expression of an internal pool's address: a uint8_t array, or the address of a constant struct.
[[nodiscard]] std::string pool_storage(const PoolLayout& pool);

}  // namespace usmp::codegen

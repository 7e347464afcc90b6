// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lowered modules → C99 (which is also C++11): operators and entry (M_lib1.c), interface (tvmgen_M.h, M_lib0.c) and the
// common metadata.h. docs/generated-c.md describes the files.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "usmp/lower/lower.hpp"
#include "usmp/model/description.hpp"
#include "usmp/placement/placement.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::codegen {

// Everything about one planned module. References must stay valid until the files are written.
struct EmissionInput {
  const model::Description& info;
  const tir::Module& source;  // before lowering
  const placement::Table& placements;
  const lower::Lowered& lowered;
  bool workspace_io = false;
  std::string constants_section = {};  // linker section of constants outside of pools; empty: none
  bool shares_pools = false;           // internal workspace pools are those of shared_pools_file
  // Nothing is placed: the code takes its workspace at run time, and returns from an error without giving it back, as
  // TVM's does.
  bool is_unplanned = false;
  // The entry F is usmp_F: firmware that calls F with TVM's parameters does not link, rather than pass other ones.
  bool renames_entry = false;
  // Names in headers that C which stays includes in front of the functions: they get others.
  std::set<std::string> visible = {};
  // Macros of headers that the file of the entry includes in front, and with `operators_have_macros` that of the
  // operators. Error if text has one whose names are not chosen.
  std::set<std::string> macros = {};
  bool operators_have_macros = false;
};

// An input or output as the interface names it.
struct InterfaceTensor {
  std::string name;       // interface name (metadata), not sanitised
  std::string member;     // struct member: C identifier, unique within its struct
  std::size_t param = 0;  // index into the source entry function's params
  Bytes size = 0;         // 0: not known
};

// How the entry function's parameters divide into inputs, outputs and device contexts: inputs match parameter names
// (sanitised, an exact match first), outputs are the remaining tensor parameters in order (by name if all of the
// archive's output names are parameters), everything else is a device context. Where the module has plain handles only
// (TVM 0.8), the order decides. If the archive names no tensors (TVM 0.9 without a header), a parameter that the module
// writes is an output. Names and sizes are checked against the archive's; throws Error of kind archive (place: function
// name) on a mismatch.
struct Interface {
  std::vector<InterfaceTensor> inputs;  // in the order of the archive's struct members
  std::vector<InterfaceTensor> outputs;
  std::vector<InterfaceTensor> devices;
  std::vector<InterfaceTensor> states;  // model::Description::states, which are parameters by their names
};
[[nodiscard]] Interface interface_of(const model::Description& info, const tir::Module& module);

// "int32_t F(void* args, …)" of a function with TVM's packed interface.
[[nodiscard]] std::string packed_declaration(const std::string& function);

// A module's C by what it is for, so that a layout of files may be other than TVM's.
struct ModuleParts {
  std::function<void(TextSink&)> header;     // the interface
  std::function<void(TextSink&)> constants;  // macros with the contents of external parameter pools; null: none
  // The functions of the interface. `interface`: what declares it, the line that includes the header or its text.
  std::function<void(const std::string& interface, TextSink&)> entry;
  std::function<void(TextSink&)> operators;  // need nothing in front; with the entry in one file, they stand behind it
  std::vector<OutputFile> binaries;          // M_POOL.bin and M_POOL.S, see module_files
};

// Throws Error of kind archive for a construct without a C translation (a dtype or an operator), naming function and
// node; of kind usage if workspace_io asks for an input or output whose size is not known. Nothing throws later.
[[nodiscard]] ModuleParts module_parts(const EmissionInput& module);

// These as TVM lays them out: tvmgen_M.h, M_lib0.c and M_lib1.c under codegen/host; then, with external parameter
// pools, the header of their contents, and M_POOL.bin of those that are binary files, with M_POOL.S unless they have an
// address. Throws as module_parts.
[[nodiscard]] std::vector<OutputFile> module_files(const EmissionInput& module);

// Path of the file among these that only modules with external parameter pools have: their contents.
[[nodiscard]] std::string constants_header_path(const std::string& module_name);

// M_metadata.c, which needs TVM's headers: the tables TVMMetadata of its runtimes for AoT, get_c_metadata, and the
// entry that they call, usmp_M___tvm_main__. Throws Error of kind usage: workspace_io, or parameter pools of
// the application's that TVM's runtimes do not provide; of kind archive: device contexts, a tensor of unknown type or
// size.
[[nodiscard]] OutputFile runtime_metadata(const EmissionInput& module);
[[nodiscard]] std::string runtime_metadata_path(const std::string& module_name);

// usmp_info.h (the same of every module), tvmgen_M.info.h and M_info.c: tvmgen_M_info, which describes the module
// without TVM's types.
[[nodiscard]] std::vector<OutputFile> info_files(const EmissionInput& module);
[[nodiscard]] std::string info_header_path(const std::string& module_name);
[[nodiscard]] std::string info_source_path(const std::string& module_name);
inline constexpr const char* info_types_path = "codegen/host/include/usmp_info.h";

// codegen/host/include/metadata.h over all modules. Throws Error of kind archive if two modules have the same C name.
[[nodiscard]] OutputFile metadata_header(const std::vector<EmissionInput>& modules);
inline constexpr const char* metadata_header_path = "codegen/host/include/metadata.h";

// codegen/host/src/usmp_pools.c: the internal workspace pools of modules that share them (EmissionInput::shares_pools),
// each once, as large as the largest of the modules needs it. Nothing if no module uses one.
[[nodiscard]] std::optional<OutputFile> shared_pools_file(const std::vector<EmissionInput>& modules);
inline constexpr const char* shared_pools_path = "codegen/host/src/usmp_pools.c";

// codegen/host/M_memory.ld, of several modules usmp_memory.ld: an output section of a GNU ld script for each pool that
// a module uses, with assertions on its size. Several modules: of each pool the maximum.
[[nodiscard]] OutputFile memory_script(const std::vector<EmissionInput>& modules);
[[nodiscard]] std::string memory_script_path(const std::string& module_name);
inline constexpr const char* all_memory_script_path = "codegen/host/usmp_memory.ld";

// codegen/host/M_flash.csv, of several modules usmp_flash.csv: the binary files that a programmer writes, their
// addresses, bytes and CRC-32. Nothing if no pool has an address.
[[nodiscard]] std::optional<OutputFile> flash_table(const std::vector<EmissionInput>& modules);
[[nodiscard]] std::string flash_table_path(const std::string& module_name);
inline constexpr const char* all_flash_table_path = "codegen/host/usmp_flash.csv";

}  // namespace usmp::codegen

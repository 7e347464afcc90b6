// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The C interface of a planned module as a value: names, pools, and where inputs and outputs are. tvmgen_M.h, M_lib0.c
// and metadata.h are written from it, and so is C that calls the module.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "usmp/codegen/codegen.hpp"

namespace usmp::codegen {

// A pool as the C interface names it.
struct PoolLayout {
  std::string name;
  PoolKind kind = PoolKind::workspace;
  bool is_internal = false;
  bool is_binary = false;        // contents of an external parameter pool: a binary file with a stub, not a macro
  std::optional<Bytes> address;  // where a programmer writes that file; then there is no stub
  std::string section;
  std::string region;             // of the linker script; empty: not known
  std::string member;             // of struct tvmgen_M_workspace_pools
  std::string macro;              // the pool's part of macro names
  std::string storage;            // C name of an internal pool's array, and of what a stub defines
  bool holds_state = false;       // what the model keeps from run to run, and nothing else
  bool has_shared_array = false;  // which other modules use, too
  bool in_use = false;  // the module's code touches it, or an input or output is there. Else it has no storage
  Bytes used = 0;       // bytes up to the last buffer's end
  Bytes alignment = 1;  // of the pool's start: its own and that of every buffer in it. A power of two
};

// An input, output or device context, and where it is.
struct TensorLayout {
  InterfaceTensor tensor;
  std::string macro;                     // name of its _SIZE macro; empty: the size is not known
  std::optional<Allocation> allocation;  // with workspace_io
};

// What the model keeps from run to run: an array of M_lib0.c, or a part of a pool.
struct StateLayout {
  InterfaceTensor tensor;
  tir::Constant initial;
  std::string array;                          // its name
  std::optional<Allocation> allocation = {};  // then there is no array
};

struct ModuleLayout {
  std::string symbol;  // "tvmgen_default"
  std::string macro;   // "TVMGEN_DEFAULT"
  std::vector<TensorLayout> inputs;
  std::vector<TensorLayout> outputs;
  std::vector<TensorLayout> devices;
  std::vector<StateLayout> states;
  std::vector<PoolLayout> pools;  // by PoolId
  // Pools that the application passes, used or not, in the order of TVM's struct: by name.
  std::vector<PoolId> external;
  Bytes workspace_bytes = 0;  // used over all workspace pools but that of the state
  Bytes state_bytes = 0;
};

// Throws Error of kind archive for what the C interface cannot express, of kind usage where workspace_io asks for it.
[[nodiscard]] ModuleLayout layout_of(const EmissionInput& module);

// Whether tvmgen_M_reset gets the pools of the application: the state is in one of them.
[[nodiscard]] bool reset_takes_pools(const ModuleLayout& layout);

// "tvmgen_default" for module "default": TVM's own spelling, in lower case.
[[nodiscard]] std::string module_symbol(const std::string& module_name);

// "SRAM_WORKSPACE_POOL", "FLASH_CONSTANT_POOL": the part between the module and _SIZE in a pool's macros.
[[nodiscard]] std::string pool_macro(const PoolLayout& pool);

}  // namespace usmp::codegen

// SPDX-License-Identifier: Apache-2.0
// metadata.json and other information in an archive about its modules, except the TIR.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "usmp/mlf/archive.hpp"
#include "usmp/support/checked.hpp"

namespace usmp::mlf {

struct Tensor {
  std::string name;   // of the interface, not sanitised
  std::string dtype;  // "int8"; empty if unknown
  std::optional<Bytes> size;
};

// A function from an external code generator: opaque to planning. Defined in a lib<n>.c that is neither the entry point
// nor main nor metadata, nor marked by TVM as "tvm target: c" (whose functions are emitted anew from TIR). Not static.
struct ForeignFunction {
  std::string name;
  std::string prototype;  // "int32_t tvmgen_default_cmsis_nn_main_0(int8_t* input_, …)", without TVM_DLL, one line
  std::string member;     // archive member that defines it
  bool allocates_workspace = false;  // its library file calls TVMBackendAllocWorkspace
};

struct ModuleInfo {
  std::string name;                    // "default"
  std::string tir_member;              // "src/default.tir.json"; empty if the archive has none
  std::vector<std::string> c_members;  // C files that TVM wrote for its own target: entry point, operators; in the
                                       // archive's order
  std::string cpu;                     // of TVM's target "c -mcpu=cortex-m4", as its C names it; empty: none
  bool packed_interface = false;       // the archive's entry point takes TVMValue arrays
  // In the order of the archive's own header (struct member order), else metadata's natural order ("output2" before
  // "output10"); empty if the archive does not say (TVM 0.9). Sanitised header names are matched to metadata names.
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::optional<Bytes>
      workspace_bytes;  // memory.functions.main[0].workspace_size_bytes: what the unplanned build needs
  std::vector<ForeignFunction> foreign_functions;  // every function defined in foreign_members, in order of appearance
  std::vector<std::string> foreign_members;  // codegen/… files to be copied unchanged: libraries of external code
                                             // generators (C, C++, assembly) and the headers they include from the
                                             // archive, sorted. A file that is not named M_lib<n> goes to all modules
};

struct Metadata {
  int version = 0;                  // 5 or 7 (or a number near: 6 is read as 7, 1–4 as 5)
  std::vector<ModuleInfo> modules;  // sorted by name
};

// Reads metadata.json and looks for the members of each module. Throws Error of kind archive: metadata.json missing
// (the message says what the archive contains and what an MLF archive must contain), malformed, of an unknown version,
// an executor list without "aot" (the graph executor is not plannable here), a module name that cannot be part of a
// file name, more than 100 modules. A missing TIR member is not an error here.
[[nodiscard]] Metadata read_metadata(const Archive& archive);

// New memory figures of one module for a re-planned archive.
struct MemoryFigures {
  std::string module;
  Bytes workspace_bytes = 0;  // sum over workspace pools
  Bytes constants_bytes = 0;  // sum over parameter pools
};

// metadata.json with memory.functions.main[*] of the modules updated (workspace_size_bytes, constants_size_bytes; every
// operator's workspace_size_bytes is 0, since operators no longer allocate); keys sorted, everything else unchanged.
[[nodiscard]] std::string updated_metadata(const Archive& archive, const std::vector<MemoryFigures>& figures);

}  // namespace usmp::mlf

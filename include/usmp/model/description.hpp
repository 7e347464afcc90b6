// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is known about a model besides its program: made by front ends, read by all behind them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "usmp/support/checked.hpp"

namespace usmp::model {

// How a tensor's integers stand for real numbers: scale · (q − zero_point).
struct Quantization {
  float scale = 0;  // finite, > 0
  std::int64_t zero_point = 0;
};

// An input or output.
struct Tensor {
  std::string name;   // of the interface, not sanitised
  std::string dtype;  // "int8"; empty if unknown
  std::optional<Bytes> size = {};
  std::optional<std::vector<std::int64_t>> shape = {};
  std::optional<Quantization> quantization = {};  // one for all elements
};

// What the model keeps from run to run: a parameter of the entry that is read and written.
struct State {
  std::string name;     // of the entry's parameter; a C identifier, unique
  std::string dtype;    // "int8"
  std::string initial;  // little endian, as many bytes as the state has
};

// A function from an external code generator: opaque to planning. Defined in a lib<n>.c that is neither the entry point
// nor main nor metadata, nor marked by TVM as "tvm target: c" (whose functions are emitted anew from TIR). Not static.
struct ForeignFunction {
  std::string name;
  std::string prototype;  // "int32_t tvmgen_default_cmsis_nn_main_0(int8_t* input_, …)", without TVM_DLL, one line
  std::string member;     // archive member that defines it
  bool allocates_workspace = false;  // its library file calls TVMBackendAllocWorkspace
};

struct Description {
  std::string name;               // "default"
  std::string cpu;                // of TVM's target "c -mcpu=cortex-m4", as its C names it; empty: none
  bool packed_interface = false;  // the entry point takes TVMValue arrays
  // In the order of the archive's own header (struct member order), else metadata's natural order ("output2" before
  // "output10"); empty if the archive does not say (TVM 0.9). Sanitised header names are matched to metadata names.
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::vector<State> states = {};        // in the order of the entry's parameters, which are the last
  std::optional<Bytes> workspace_bytes;  // what the unplanned build needs, if the archive says

  // Where it came from.
  std::string tir_member;              // "src/default.tir.json"; empty if the archive has none
  std::vector<std::string> c_members;  // C files that TVM wrote for its own target: entry point, operators; in the
                                       // archive's order
  std::string tflite_member = {};      // a TensorFlow Lite model; empty: it is none

  // What stays as it is.
  std::vector<ForeignFunction> foreign_functions;  // every function defined in foreign_members, in order of appearance
  std::vector<std::string> foreign_members;  // codegen/… files to be copied unchanged: libraries of external code
                                             // generators (C, C++, assembly) and the headers they include from the
                                             // archive, sorted. A file that is not named M_lib<n> goes to all modules
};

enum class Source : std::uint8_t { tir, c, tflite };

// What the program is read from.
[[nodiscard]] Source source_of(const Description& model);

}  // namespace usmp::model

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The functions of C's library, of TVM's runtime and of CMSIS-NN that generated C calls with tensors.
#include "tvm_c/kept/synchronous.hpp"

#include <algorithm>
#include <array>

namespace usmp::tvm_c {
namespace {

constexpr std::array<SynchronousFunction, 30> synchronous_functions = {{
    // C11, 7.24: they copy or compare bytes.
    {"memcpy", false, HandsOn::first, true, 2},
    {"memmove", false, HandsOn::first, true, 2},
    {"memset", false, HandsOn::first, true, 1},
    {"memcmp", false, HandsOn::all, false, 2},
    // C11, 7.21: what they print is copied.
    {"printf", false, HandsOn::none, false},
    {"fprintf", false, HandsOn::none, false},
    {"puts", false, HandsOn::none, false},
    {"fputs", false, HandsOn::none, false},
    {"fwrite", false, HandsOn::none, false, 1},
    // TVM's src/runtime/crt: logs; src/runtime/contrib/ethosu/bare_metal: returns when the NPU is done.
    {"TVMLogf", false, HandsOn::none, false},
    {"TVMEthosULaunch", false, HandsOn::all, false},
    // Instructions that TVM's Cortex-M kernels define as macros with assembler.
    {"__pkhbt", false, HandsOn::none, false, 0},
    {"__pkhtb", false, HandsOn::none, false, 0},
    // CMSIS-NN's Include/arm_nnfunctions.h and arm_nnsupportfunctions.h: kernels of the processor, which keep no state.
    {"arm_avgpool_", true, HandsOn::all, false},
    {"arm_batch_matmul_", true, HandsOn::all, false},
    {"arm_concatenation_", true, HandsOn::all, false},
    {"arm_convolve_", true, HandsOn::all, false},
    {"arm_depthwise_conv_", true, HandsOn::all, false},
    {"arm_elementwise_", true, HandsOn::all, false},
    {"arm_fully_connected_", true, HandsOn::all, false},
    {"arm_lstm_unidirectional_", true, HandsOn::all, false},
    {"arm_max_pool_", true, HandsOn::all, false},
    {"arm_maximum_", true, HandsOn::all, false},
    {"arm_minimum_", true, HandsOn::all, false},
    {"arm_nn_", true, HandsOn::all, false},
    {"arm_pad_", true, HandsOn::all, false},
    {"arm_relu", true, HandsOn::all, false},
    {"arm_softmax_", true, HandsOn::all, false},
    {"arm_svdf_", true, HandsOn::all, false},
    {"arm_transpose_", true, HandsOn::all, false},
}};

constexpr SynchronousFunction named_by_user = {"", false, HandsOn::all, false};

}  // namespace

const SynchronousFunction* SynchronousFunctions::find(std::string_view name, bool is_defined) const {
  if (is_named(name)) return &named_by_user;
  if (is_defined) return nullptr;
  const auto found = std::find_if(
      synchronous_functions.begin(), synchronous_functions.end(),
      [&](const SynchronousFunction& one) { return one.is_family ? name.starts_with(one.name) : name == one.name; });
  return found == synchronous_functions.end() ? nullptr : &*found;
}

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// `usmp-plan inspect`: the contents of an archive, for people.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "usmp/liveness/liveness.hpp"
#include "usmp/model/description.hpp"
#include "usmp/tflite/reader.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::report {

struct InspectTextOptions {
  std::size_t width = std::string::npos;  // of a line, in letters: names are shortened; npos: 80, whole names
  bool transformed = false;               // the module is what transformations made of it
};

// What the C says beside the module.
struct InspectedC {
  std::span<const tvm_c::PlannedPool> planned = {};      // by TVM
  std::span<const tvm_c::UnreadCall> unread_calls = {};  // whose C stays
};

// The module's functions with their targets, the buffers with size and live ranges, the calls in order.
[[nodiscard]] std::string inspect_text(const model::Description& info, const tir::Module& module,
                                       const liveness::Analysis& analysis, const InspectedC& found = {},
                                       const InspectTextOptions& options = {});

// The operators of a TensorFlow Lite model, those that are not supported marked.
[[nodiscard]] std::string operators_text(std::span<const tflite::OperatorLine> operators,
                                         std::size_t width = std::string::npos);

// The same as JSON; `operators`: of a TensorFlow Lite model.
[[nodiscard]] std::string inspect_json(const model::Description& info, const tir::Module& module,
                                       const liveness::Analysis& analysis, const InspectedC& found = {},
                                       std::span<const tflite::OperatorLine> operators = {});

}  // namespace usmp::report

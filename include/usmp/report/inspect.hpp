// SPDX-License-Identifier: Apache-2.0
// `usmp-plan inspect`: the contents of an archive, for people.
#pragma once

#include <string>

#include "usmp/liveness/liveness.hpp"
#include "usmp/mlf/metadata.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::report {

// The module's functions with their targets, the buffers with size and live ranges, the calls in order.
[[nodiscard]] std::string inspect_text(const mlf::ModuleInfo& info, const tir::Module& module,
                                       const liveness::Analysis& analysis);

// The same as JSON.
[[nodiscard]] std::string inspect_json(const mlf::ModuleInfo& info, const tir::Module& module,
                                       const liveness::Analysis& analysis);

}  // namespace usmp::report

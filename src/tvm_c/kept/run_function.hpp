// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// tvmgen_MODULE_run, the function that the firmware calls: TVM's does nothing but to call the entry, and planned C has
// another one.
#pragma once

#include <optional>
#include <string>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/lexer.hpp"

namespace usmp::tvm_c {

// What it does beside calling the entry; nothing: it is TVM's.
[[nodiscard]] std::optional<SyntaxError> added_to_run(const FunctionText& run, const std::string& run_name,
                                                      const std::string& entry, const FileScope& scope);

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// tvmgen_MODULE_run, the function that the firmware calls: TVM's does nothing but to call the entry, and planned C has
// another one. What somebody added to it stays as text, around a call of the planned one under another name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/replacements.hpp"

namespace usmp::tvm_c {

// What it does beside calling the entry; nothing: it is TVM's.
[[nodiscard]] std::optional<SyntaxError> added_to_run(const FunctionText& run, const std::string& run_name,
                                                      const std::string& entry, const FileScope& scope);

struct EditedRun {
  EditedText text;                   // of its file: usmp_tvmgen_MODULE_run(inputs, outputs) for the call
  std::vector<std::string> members;  // of inputs and outputs, as the entry gets them
};

// Nothing: it has other parameters than the structs of inputs and outputs, or the call is none of their members and of
// pools in the C alone, or is not in the function's own text.
[[nodiscard]] std::optional<EditedRun> with_planned_run(std::string_view text, const std::string& run,
                                                        const std::string& entry, const FileScope& scope);

}  // namespace usmp::tvm_c

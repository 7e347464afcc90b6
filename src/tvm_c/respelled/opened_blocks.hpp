// SPDX-License-Identifier: Apache-2.0
// Macros that open a block in the entry, and those that close it: TIMED_BEGIN … TIMED_END.
#pragma once

#include <optional>
#include <string>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/replacements.hpp"

namespace usmp::tvm_c {

// The text of the function's file, where macros that stand for more opening braces than closing ones, or the other way
// round, are what they stand for; lines keep their numbers. Nothing: there are none, or they do not match, or one has
// several definitions. `macros`: Included::sure_definitions().
[[nodiscard]] std::optional<EditedText> with_opened_blocks(const FunctionText& function, const AllDefinitions& macros);

}  // namespace usmp::tvm_c

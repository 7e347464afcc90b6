// SPDX-License-Identifier: Apache-2.0
// Functions that somebody made of the entry, as the statements that they were.
#pragma once

#include <optional>
#include <string_view>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/macro_expansion.hpp"
#include "tvm_c/text/replacements.hpp"

namespace usmp::tvm_c {

// The text of the entry's file, where one call of a static function that calls operators, or sets static pointers of
// the file to workspace, is what that does:
//   if (first_half(x, pool) != 0) return -1;   or   first_half(x, pool);   or   return first_half(x, pool);
// It is called there alone, with names and numbers, does not change its parameters, and leaves only at its end, or, if
// the call is checked, with a number, which is that of the check then. Nothing: there is none.
[[nodiscard]] std::optional<EditedText> with_one_part(const FunctionText& entry, std::string_view entry_name,
                                                      const FileScope& scope, const AllDefinitions& macros);

}  // namespace usmp::tvm_c

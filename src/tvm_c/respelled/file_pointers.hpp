// SPDX-License-Identifier: Apache-2.0
// Pointers to the entry's workspace that somebody made variables of the file.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/macro_expansion.hpp"
#include "tvm_c/text/replacements.hpp"

namespace usmp::tvm_c {

// The text, where static pointers of the file, static void* sid_1; are variables of the entry: it alone names them, and
// sets them once, in its own block, before all else. None of `headers`, which the file includes, names them.
[[nodiscard]] std::optional<EditedText> with_own_pointers(const FunctionText& entry, std::string_view entry_name,
                                                          const FileScope& scope, const AllDefinitions& macros,
                                                          const std::vector<const Source*>& headers);

// The static pointers of the file.
[[nodiscard]] Names static_pointers(std::string_view text, const FileScope& scope);

// Whether the entry allocates for a pointer that it does not declare.
[[nodiscard]] bool sets_file_pointers(const FunctionText& entry);

}  // namespace usmp::tvm_c

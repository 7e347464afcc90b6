// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions and data of which something else may be compiled or linked than the definition that is read.
#pragma once

#include <string>

#include <string_view>

#include "tvm_c/text/files_read.hpp"

namespace usmp::tvm_c {

// Adds to scope.doubts what may be weak, so that another definition takes its place: as an attribute, a macro or a
// pragma says; what a conditional group defines that the files do not decide, unless the entry is under the same
// condition; and what a group of another file defines, too, that is left out. Takes such tables out of the scope.
// Without an entry, nothing is asked of conditions. `scope` is that of `read`. O(items, macros and directives · log).
void find_doubts(const FilesRead& read, FileScope& scope);

// Whether the word of an attribute, a pragma, or a macro for one says that another definition may replace this one, or
// that it is another name.
[[nodiscard]] bool is_weak_word(std::string_view word);

}  // namespace usmp::tvm_c

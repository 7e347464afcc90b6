// SPDX-License-Identifier: Apache-2.0
// Macros around calls of operators in the entry, PROFILE("conv", tvmgen_m_conv(a, b)); as people write them.
#pragma once

#include <optional>
#include <string>

#include "tvm_c/file_scope.hpp"
#include "tvm_c/macro_expansion.hpp"

namespace usmp::tvm_c {

// The text of the function's file, where statements that are such a macro are what it stands for; lines keep their
// numbers. A block, do { … } while (0), becomes its statements, with other names for what it declares, so that the call
// stands between the function's own statements; so does one without a macro. Nothing: there is none.
// As it is stays a macro that is not among `macros`, or that jumps (break, goto), or stands under a condition. `names`:
// all macros of the file, with what conditional groups define.
[[nodiscard]] std::optional<std::string> with_expanded_calls(const FunctionText& function, const Definitions& macros,
                                                             const Names& names);

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// Ways through the entry that somebody wrote otherwise than TVM: else, and goto to what stands at the end.
#pragma once

#include <optional>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/macro_expansion.hpp"
#include "tvm_c/text/replacements.hpp"

namespace usmp::tvm_c {

// The text of the function's file, where statements that call operators have no else:
//   if (f(x) == 0) { … } else { log(); return -1; }   as   if (!(f(x) == 0)) { log(); return -1; } { … }
//   if (f(x) != 0) return -1; else { … }               as   if (f(x) != 0) return -1; { … }
// One of the two branches ends with return. It stands in braces or is nothing but that return, and so does the other
// one if it changes its place: a macro may be an if. Nothing: there is none. Statements inside of what is moved are
// left for the next call.
[[nodiscard]] std::optional<EditedText> without_else(const FunctionText& function, const AllDefinitions& macros);

// The text, where goto to the function's one label, behind which nothing jumps and all ends with return, is what stands
// there, without its calls that give planned workspace back. The names in it mean the same at both places.
[[nodiscard]] std::optional<EditedText> without_goto(const FunctionText& function, const AllDefinitions& macros);

}  // namespace usmp::tvm_c

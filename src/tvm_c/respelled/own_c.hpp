// SPDX-License-Identifier: Apache-2.0
// C that this program wrote, as TVM would write it without a plan: where a buffer is taken from a pool, workspace of
// its size is taken. The comments say how large buffers are.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "tvm_c/text/file_scope.hpp"

namespace usmp::tvm_c {

[[nodiscard]] bool is_own_c(std::string_view text);

// Lines stay where they are. Of helpers and macros of this program, the names change, so that the new C may have others
// beside them; what only tells compilers of pointers is gone. `constants`: pools of constants that the application
// owns, by name in lower case; `tensors`: inputs and outputs of the entry, which are its first buffers if it takes
// nothing but pools. Throws SyntaxError with a place in `text`: a pool is used otherwise than this program does.
// O(bytes · log names).
[[nodiscard]] std::string as_unplanned(std::string_view text, const FileScope& constants, std::size_t tensors);

// Inputs and outputs in the structs of a module's header. O(bytes).
[[nodiscard]] std::size_t tensors_in(std::string_view header, std::string_view module);

// Functions into which this program has moved a loop nest of an operator, and which are called once. O(bytes · log
// names).
[[nodiscard]] std::set<std::string, std::less<>> nests_in(std::string_view text);

// "max_f32" of the helper usmp_max_f32, whose name as_unplanned has changed; else nothing.
[[nodiscard]] std::string_view own_helper(std::string_view name);

}  // namespace usmp::tvm_c

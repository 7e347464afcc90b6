// SPDX-License-Identifier: Apache-2.0
// Macros around calls in the entry, CHECK(f(…)); as people write them: which checks they stand for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/replacements.hpp"

namespace usmp::tvm_c {

// A macro of one argument that leaves the function if the argument is not 0, or if it is.
struct CheckMacro {
  std::string failure;   // what the function returns then: "-1"; empty: the argument
  std::string variable;  // that has the argument; empty: none
  bool is_of_zero = false;
  bool has_brackets = false;  // around the argument

  bool operator==(const CheckMacro&) const = default;
};
using CheckMacros = std::map<std::string_view, CheckMacro>;

// Behind the macro's name: "(x) do { if ((x) != 0) return -1; } while (0)". Nothing: it does something else.
[[nodiscard]] std::optional<CheckMacro> check_macro(std::string_view definition);

// The text of the function's file, where its statements are the checks that such macros stand for, "if (f(…) != 0)
// return -1;"; lines keep their numbers. Nothing: there are none. Statements that fail otherwise stay, and are refused
// as macros.
[[nodiscard]] std::optional<EditedText> with_checks(const FunctionText& function, const CheckMacros& macros);

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// Conditions that ask whether a call has failed, as people spell them: if (unlikely(f(…))), if (!(f(…) == 0)).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/macro_expansion.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/replacements.hpp"

namespace usmp::tvm_c {

struct ResultTestNames {
  const AllDefinitions& macros;                   // Included::sure_definitions()
  std::function<bool(std::string_view)> is_zero;  // of a name that is no variable of the function
  // Whether the files may declare a function or a variable of that name; `likely` and `unlikely` are hints if not.
  std::function<bool(std::string_view)> may_be_declared;
};

// A condition that holds if `asked`, a call, a variable or an assignment, is not 0.
struct ResultTest {
  MadeTokens asked;
  bool is_assignment = false;
};

// Of the tokens of a condition, whose macros but names for 0 are expanded; nothing: it is another one.
[[nodiscard]] std::optional<ResultTest> result_test(const MadeTokens& condition, const ResultTestNames& names);

// The text of the function's file, where conditions of if that hold if a call, or a variable that has the result of
// one, is not 0 are "f(…) != 0", "(x = f(…)) != 0" or "x != 0"; lines keep their numbers. Nothing: there are none of
// another spelling. A macro counts if all its definitions come to the same. Others stay. O(tokens · log macros) and
// what macros expand to.
[[nodiscard]] std::optional<EditedText> with_plain_tests(const FunctionText& function, const ResultTestNames& names);

}  // namespace usmp::tvm_c

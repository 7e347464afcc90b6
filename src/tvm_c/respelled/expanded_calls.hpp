// SPDX-License-Identifier: Apache-2.0
// Macros around calls of operators in the entry, PROFILE("conv", tvmgen_m_conv(a, b)); as people write them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/replacements.hpp"
#include "tvm_c/text/result_tests.hpp"

namespace usmp::tvm_c {

struct CallMacros {
  const AllDefinitions& definitions;                                 // Included::sure_definitions()
  std::function<std::vector<Macros::Part>(std::string_view)> parts;  // Included::parts()
  const Names& names;  // of all macros of the file, with what conditional groups define
  ResultTestNames tests;
};

// The text of the function's file, where statements that are such a macro are what it stands for; lines keep their
// numbers, but behind conditional groups. A block, do { … } while (0), becomes its statements, with other names for
// what it declares, so that the call stands between the function's own statements; so does one without a macro. Of a
// macro that a conditional group defines in several ways, what differs stands in such groups. Nothing: there is none.
// As it is stays a macro that is not among the definitions, or that jumps (break, goto), or stands under a condition.
[[nodiscard]] std::optional<EditedText> with_expanded_calls(const FunctionText& function, const CallMacros& macros);

}  // namespace usmp::tvm_c

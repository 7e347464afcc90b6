// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements that somebody added to the entry between those of TVM's: counters, timers, logging.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/included.hpp"

namespace usmp::tvm_c {

// A place in the file's text. A conditional group of the preprocessor is one statement.
struct AddedText {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// What stands under an if without an else: the statements in its braces, or the one behind it.
struct GuardedText {
  AddedText place;
  bool leaves = false;        // the last of them is a return
  std::string variable = {};  // of the condition, if they use it
  std::string reason = {};    // why they may not stay as text
};

// Why a statement may not be what it might be.
struct Reason {
  std::string text = {};    // "has 'return'"; empty: it may
  bool uses_model = false;  // it mentions a name of the model's

  [[nodiscard]] bool empty() const { return text.empty(); }
};

struct AddedStatements {
  std::vector<AddedText> texts;  // in order, neighbours as one, with the comments in front and behind on their line
  struct Other {
    AddedText place;
    Reason reason;  // why it may not stay as text
  };
  std::vector<Other> others;  // in order
  // In statements that do not stay, of all depths but in no loop: what somebody does if an operator fails. As for
  // texts, but that it may use the variable of the condition. In order.
  std::vector<GuardedText> guarded;
};

// Whether it is TVM's runtime's or this program's C's, but for what firmware calls, too.
[[nodiscard]] bool is_of_tvm(std::string_view name);

// Those of the function's own block that share no name with what TVM wrote there, types aside: they neither read nor
// write what the model computes, so they may stand between its calls in whatever program. They may leave the entry
// in braces or under a condition: nothing moves across them.
// Macros of the file count by what they stand for. Calls of functions with constants alone are none of them: they are
// read. O(bytes · log names).
[[nodiscard]] AddedStatements added_statements(const FunctionText& entry, const FileScope& scope,
                                               const Included& included);

// Functions of the C library and of TVM's runtime, which TVM's statements and added ones may both call.
[[nodiscard]] bool is_of_library(std::string_view name);

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements that somebody added to the entry and that use the model's tensors, TRACE_TENSOR(sid_1); or
// fwrite(sid_1, 1, 64, stderr); each becomes a function of its own that gets these tensors, text for text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/kept/added_statements.hpp"
#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/macros.hpp"

namespace usmp::tvm_c {

// One that may be a function, if it uses variables of the entry only as it may.
struct Outlined {
  AddedText place;
  std::string function = {};  // the name that it gets
  Names names = {};           // in it, and in what macros stand for
  Names changed = {};         // of them, those that it assigns or whose address it takes
  Names sized = {};           // and those whose size it may ask for
};

// What has become of one.
struct OutlinedFunction {
  AddedText place;
  std::string name;
  std::vector<std::pair<std::string, std::string>> params;  // type and name
};

// Says why the statement at the place may not be a function. It and everything that macros in it may stand for declares
// nothing for others, calls no operator and nothing of TVM's, and stays inside itself.
[[nodiscard]] Reason read_outlined(std::string_view file, const AllDefinitions& macros, Outlined& statement);

// "static void usmp_added_1(void* usmp_sid_1) { … }", with the statement's text.
[[nodiscard]] std::string text_of(const OutlinedFunction& function, std::string_view file);

}  // namespace usmp::tvm_c

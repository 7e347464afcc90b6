// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What becomes of the parameters of one function, by its tree.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/kept/escape.hpp"
#include "tvm_c/text/function_tree.hpp"

namespace usmp::tvm_c {

struct EscapeParam {
  c::DeclId decl;
  bool is_given = false;  // it may be an address
  bool holds = false;     // memory that it points to may have addresses that escape with it
};

// What a call calls. `params`: how many it has, of which these escape, as `by` does `how`.
struct CalledFunction {
  const SynchronousFunction* synchronous = nullptr;
  bool is_known = false;
  std::size_t params = 0;
  FunctionEscape escape = {};
};

struct FunctionBody {
  std::string name;
  FunctionTree tree;  // with macros expanded
  std::vector<EscapeParam> params;
};

// Nothing: its attributes or parameters are not understood, or brackets do not match.
[[nodiscard]] std::optional<FunctionBody> function_body(std::string name, FunctionTree tree);

// Asks for the functions of the model's files.
struct CalledFunctions {
  std::function<CalledFunction(std::string_view name)> find;
  // A known one is given an address, or one of memory that may have some.
  std::function<void(std::string_view name, std::size_t param, bool holds)> give;
};

// O(expressions · rounds).
[[nodiscard]] FunctionEscape escape_of(const FunctionBody& body, const CalledFunctions& called);

}  // namespace usmp::tvm_c

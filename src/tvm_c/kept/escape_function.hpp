// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What becomes of the parameters of one function, by its tree.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/kept/escape.hpp"
#include "usmp/c/tree.hpp"

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
  std::vector<c::Token> tokens;  // of the function and nothing else, with macros expanded
  c::Tree tree;
  std::vector<EscapeParam> params;
  const char* wrong = nullptr;  // why it is not understood
};

// `params`: behind the bracket that opens them, with that which closes them. The texts of the tokens have to stay.
[[nodiscard]] FunctionBody function_body(std::string name, const std::vector<c::Token>& params,
                                         const std::vector<c::Token>& statements);

// Asks for the functions of the model's files.
struct CalledFunctions {
  std::function<CalledFunction(std::string_view name)> find;
  // A known one is given an address, or one of memory that may have some.
  std::function<void(std::string_view name, std::size_t param, bool holds)> give;
};

// O(expressions · rounds).
[[nodiscard]] FunctionEscape escape_of(const FunctionBody& body, const CalledFunctions& called);

}  // namespace usmp::tvm_c

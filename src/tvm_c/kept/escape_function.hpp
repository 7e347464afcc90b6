// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What becomes of the parameters of one function, by its tokens.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/kept/escape.hpp"
#include "tvm_c/text/macro_expansion.hpp"

namespace usmp::tvm_c {

struct EscapeParam {
  std::string name;       // empty: it has none
  bool numbers = false;   // it is a pointer to numbers, by its type
  bool is_given = false;  // it may be an address
  bool holds = false;     // memory that it points to may have addresses that escape with it
};

// Of a call. `params`: how many it has, of which these escape, as `by` does `how`.
struct CalledFunction {
  const SynchronousFunction* synchronous = nullptr;
  bool is_known = false;
  std::size_t params = 0;
  FunctionEscape escape = {};
};

struct FunctionBody {
  std::string name;
  std::vector<EscapeParam> params;
  MadeTokens tokens;  // of its statements, with macros expanded
};

// Of the functions of the model's files.
struct CalledFunctions {
  std::function<CalledFunction(std::string_view name)> find;
  // A known one is given an address, or one of memory that may have some.
  std::function<void(std::string_view name, std::size_t param, bool holds)> give;
};

// O(tokens · rounds).
[[nodiscard]] FunctionEscape escape_of(const FunctionBody& body, const CalledFunctions& called);

// Types of numbers of which there are no others: int32_t, float, unsigned; not row_t, which may be an array.
[[nodiscard]] bool is_number_word(std::string_view word);

}  // namespace usmp::tvm_c

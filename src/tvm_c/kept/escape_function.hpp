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
  bool is_given = false;    // it may be an address
  bool holds = false;       // memory that it points to may have addresses that escape with it
  bool is_lasting = false;  // it may be an address of what is there in the next call of the operator
};

// What a value may have.
struct Addresses {
  ParamSet params = 0;   // addresses of what these point to, whatever its type
  bool holds = false;    // also of memory that has such addresses
  bool numbers = false;  // its type is a pointer to numbers
  // They are of what is there in the next call: a variable that lasts, its address, or what it points to.
  bool is_lasting = false;

  [[nodiscard]] Addresses with(const Addresses& other) const {
    return {params | other.params, holds || other.holds,
            (params == 0 || numbers) && (other.params == 0 || other.numbers), is_lasting || other.is_lasting};
  }
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
  // A known one is given this.
  std::function<void(std::string_view name, std::size_t param, const Addresses& value)> give;
};

// O(expressions · rounds).
[[nodiscard]] FunctionEscape escape_of(const FunctionBody& body, const CalledFunctions& called);

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Operators that operators call, as TVM prints functions inside each other: "if (f(x, y, pool) == 0) { … }". Their
// statements are read in place of the call, on the storage that it passes; an early return becomes a branch.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/body/body_names.hpp"
#include "tvm_c/body/expressions.hpp"
#include "tvm_c/body/values.hpp"
#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/tir/builder.hpp"

namespace usmp::tvm_c {

// Beyond them calls are not read: calls inside each other; text of functions that one reads where it calls them; such
// functions that one is read once more for, as they are not read.
inline constexpr std::size_t most_nested_deep = 16;
inline constexpr std::size_t most_nested_bytes = 1'000'000;
inline constexpr std::size_t most_nested_tries = 100;

// What is known of the files of such functions.
struct NestedTexts {
  // Throws SyntaxError, with the offset in its file, for a function whose tokens are not all there is to it.
  std::function<void(const std::string& name, const FunctionText& text)> require_plain;
  std::function<std::string(std::size_t file, std::size_t offset)> place;  // for messages
};

// A function that is read in place of its call.
struct NestedCall {
  Value result;            // the place of what it returns
  std::size_t origin = 0;  // the call, in the text of the function that is read
  bool is_zero = true;     // it returns nothing else
  bool has_returned = false;
};

// An operator is not read in place of a call that TVM checks: it is called, and the function that calls it read once
// more.
struct NestedNotRead {
  std::string name;
};

struct CParam {
  CType type;
  Token name;
};
// Throws SyntaxError for what is neither a number nor a pointer to numbers or void.
[[nodiscard]] std::vector<CParam> params_of(const Expressions& code);

// Declares the parameters as what the call passes.
void bind_params(const std::vector<CParam>& params, const std::vector<Value>& arguments, Values& values,
                 BodyNames& names, tir::BodyBuilder& body);

// Whether it is "if (f(…) != 0) return -1;" and no else, where f(…) is the call.
[[nodiscard]] bool is_check(const Expressions& code, const c::Stmt& stmt, c::ExprId call, bool never_fails);

}  // namespace usmp::tvm_c

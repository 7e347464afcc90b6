// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which parameters of functions whose C stays escape: their addresses may be somewhere when the function has returned.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/kept/added_statements.hpp"
#include "tvm_c/kept/synchronous.hpp"
#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/included.hpp"

namespace usmp::tvm_c {

// A set of parameters: bit i is the i-th, the last bit all from there on.
using ParamSet = std::uint64_t;
inline constexpr ParamSet all_params = ~ParamSet{0};

[[nodiscard]] constexpr ParamSet param_bit(std::size_t i) { return ParamSet{1} << (i < 63 ? i : 63); }

struct FunctionEscape {
  ParamSet params = 0;
  std::string by = {};           // of the first: the function in which it escapes
  std::string how = {};          // which "stores it in 'to'", "passes it to 'start'"
  std::string synchronous = {};  // and would not, if that were synchronous: "start"; empty: `by` itself
  // Not counted there: what its callers may get back, and whether they may find more addresses in that memory.
  ParamSet returned = 0;
  bool returns_holder = false;
  // Those of `params` that are stored in static variables, or where these point to; and in the first: "'first'".
  ParamSet stored = 0;
  std::string stored_in = {};
};

// By function; of those that were looked at, also those of which nothing escapes.
using Escapes = std::map<std::string, FunctionEscape, std::less<>>;

struct AskedFunction {
  std::string name;
  FunctionText text;                        // `file` counts in `included`
  std::optional<AddedText> statement = {};  // of the file, with which the function's text ends, before "\n}"
};

// What escapes of the `asked` functions and those of the scope that these call. An address escapes unless each
// statement is understood and it only goes to variables of the function, is compared, accessed, or passed to a function
// of the scope of which the same holds, or to a synchronous one. O(tokens · rounds), with a limit of rounds beyond
// which all parameters escape.
[[nodiscard]] Escapes escapes_of(const std::vector<AskedFunction>& asked, const FileScope& scope,
                                 const Included& included, const SynchronousFunctions& synchronous);

}  // namespace usmp::tvm_c

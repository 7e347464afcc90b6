// SPDX-License-Identifier: Apache-2.0
// A macro around a call of an operator that is defined in several ways, PROFILE(f(a, b)); with and without a timer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/text/macro_expansion.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/result_tests.hpp"

namespace usmp::tvm_c {

using StatementList = std::vector<MadeTokens>;

// What the macro's statements are in each part of the conditional group that defines it.
struct Way {
  std::string condition;     // of the part: "ifdef NAME", "else"
  StatementList statements;  // no blocks but those that call no operator
};

// Statements of which one calls the operator, as in each of the ways, and those in front of it, behind it, and where
// it fails stand in such groups if they differ. Nothing: more of them call an operator, or the calls differ, or their
// results have different types.
[[nodiscard]] std::optional<std::string> in_groups(const std::vector<Way>& ways, const ResultTestNames& names);

}  // namespace usmp::tvm_c

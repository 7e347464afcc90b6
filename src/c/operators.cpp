// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tables of operators.
#include "usmp/c/operators.hpp"

#include <algorithm>
#include <array>

namespace usmp::c {
namespace {

struct Binding {
  std::string_view op;
  int precedence;
};
constexpr std::array<Binding, 20> bindings = {{{",", comma_precedence},
                                               {"?", conditional_precedence},
                                               {"||", 4},
                                               {"&&", 5},
                                               {"|", 6},
                                               {"^", 7},
                                               {"&", 8},
                                               {"==", 9},
                                               {"!=", 9},
                                               {"<", 10},
                                               {">", 10},
                                               {"<=", 10},
                                               {">=", 10},
                                               {"<<", 11},
                                               {">>", 11},
                                               {"+", 12},
                                               {"-", 12},
                                               {"*", 13},
                                               {"/", 13},
                                               {"%", 13}}};

}  // namespace

int precedence_of(std::string_view op) {
  const auto* found = std::find_if(bindings.begin(), bindings.end(), [&](const Binding& one) { return one.op == op; });
  return found == bindings.end() ? 0 : found->precedence;
}

bool is_assignment(std::string_view op) {
  constexpr std::array<std::string_view, 11> all = {"=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|="};
  return std::find(all.begin(), all.end(), op) != all.end();
}

}  // namespace usmp::c

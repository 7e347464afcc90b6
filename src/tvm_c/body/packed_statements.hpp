// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements around calls of the packed interface: arrays on the stack, their elements, the arguments of a call.
#pragma once

#include <vector>

#include "tvm_c/body/body_names.hpp"
#include "tvm_c/body/expressions.hpp"
#include "tvm_c/body/packed.hpp"
#include "tvm_c/body/values.hpp"

namespace usmp::tvm_c {

// TVMValue stack[2]; or TVMValue ret_val; int ret_type_code; from behind the name on, up to the last ";".
void take_packed_declaration(Lexer& tokens, const Token& name, BodyNames& names, PackedState& packed);

// = value; behind a place of a record. Shapes, types, devices are of no account. `may_not_happen`: it stands in a loop
// or a branch.
void take_packed_assignment(Lexer& tokens, const Value& place, bool may_not_happen, Values& values,
                            const LookUp& look_up, PackedState& packed);

// (values, type codes, count, &value, &code, resource) of a call of the packed function `callee`, the bracket and what
// stands in front of `values` taken.
[[nodiscard]] std::vector<Value> take_packed_arguments(Lexer& tokens, const FunctionText& callee, const Token& at,
                                                       Values& values, const LookUp& look_up,
                                                       const PackedState& packed);

}  // namespace usmp::tvm_c

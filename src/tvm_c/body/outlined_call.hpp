// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The call of a function that a statement of the entry becomes.
#pragma once

#include <map>
#include <string>

#include "tvm_c/body/body_names.hpp"
#include "tvm_c/body/values.hpp"
#include "tvm_c/kept/outlined.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

using ElementTypes = std::map<std::string, tir::DataType>;  // of pointers, as C spells them; void_type: void*

struct OutlinedCall {
  tir::ExprRef expr;
  OutlinedFunction function;
};

// It gets the variables of the entry that the statement mentions. Throws SyntaxError: one of them is neither a pointer
// nor a whole number, or is changed or kept.
[[nodiscard]] OutlinedCall outlined_call(const Outlined& statement, const BodyNames& names, const Values& values,
                                         const ElementTypes& types);

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds the variables of the model that a statement names, and passes them.
#include "tvm_c/body/outlined_call.hpp"

#include <utility>
#include <vector>

#include "usmp/support/text.hpp"
#include "usmp/tir/builder.hpp"

namespace usmp::tvm_c {
namespace {

std::string c_name(tir::DataType type) {
  if (type.is_void()) return "void";
  if (type == tir::bool_type) return "bool";
  if (type.is_float()) return type.bits == 64 ? "double" : "float";
  return tir::to_string(type) + "_t";
}

}  // namespace

OutlinedCall outlined_call(const Outlined& statement, const BodyNames& names, const Values& values,
                           const ElementTypes& types) {
  OutlinedFunction function{statement.place, statement.function, {}};
  std::vector<tir::ExprRef> arguments = {tir::make_string(statement.function)};
  for (const std::string& name : statement.names) {
    const auto value = names.look_up_own(name);
    if (!value) continue;
    const bool is_number = value->kind == Value::Kind::number && value->type.is_integer();
    const bool is_pointer = value->kind == Value::Kind::pointer;
    if ((!is_number && !is_pointer) || statement.changed.contains(name)) {
      throw SyntaxError{statement.place.begin, "found a statement that changes " + in_quotes(name) +
                                                   ", which is the model's, expected one that only passes it on or "
                                                   "accesses its elements"};
    }
    const auto spelled = types.find(name);
    const tir::DataType element = is_pointer && spelled != types.end() ? spelled->second : value->type;
    function.params.emplace_back(c_name(element) + (is_pointer ? "*" : ""), name);
    arguments.push_back(values.argument(*value).expr);
  }
  return {tir::make_call(tir::int32_type, tir::Op::call_extern, std::move(arguments)), std::move(function)};
}

}  // namespace usmp::tvm_c

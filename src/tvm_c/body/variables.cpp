// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Declares storage for what changes, and variables for what is read from memory.
#include "tvm_c/body/variables.hpp"

#include <utility>

#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {

using tir::Tree;

Value declare_variable(const Token& name, tir::DataType type, BodyNames& names, tir::BodyBuilder& body) {
  Value place = pointer_to(names.new_var(name.text, tir::handle_type, type), type);
  body.allocate(place.storage, type, {}, nullptr, {}, true);
  place.kind = Value::Kind::place;
  place.tree = {tir::make_int(0)};
  names.declare(name, place);
  return place;
}

Tree fixed(const Tree& value, BodyNames& names, const Values& values, tir::BodyBuilder& body) {
  bool reads = false;
  tir::for_each_expr(*value.expr, [&](const tir::Expr& expr) {
    reads = reads || expr.kind == tir::ExprKind::load || expr.kind == tir::ExprKind::call;
  });
  if (!reads) return value;
  const tir::VarId var = names.new_var("at", value.expr->type, tir::void_type);
  body.let(var, value.expr);
  return values.variable(var).tree;
}

Value fixed_pointer(Value pointer, BodyNames& names, const Values& values, tir::BodyBuilder& body) {
  if (pointer.kind != Value::Kind::pointer || pointer.tree.expr == nullptr) return pointer;
  pointer.tree = fixed(pointer.tree, names, values, body);
  return pointer;
}

}  // namespace usmp::tvm_c

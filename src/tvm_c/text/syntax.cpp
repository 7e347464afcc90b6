// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds the elements of types.
#include "tvm_c/text/syntax.hpp"

#include <string>

#include "usmp/support/text.hpp"

namespace usmp::tvm_c {

std::optional<CType> known_type(const c::Tree& tree, c::TypeId id) {
  int stars = 0;
  bool is_volatile = tree[id].is_volatile;
  for (; tree[id].kind == c::TypeKind::pointer; ++stars) {
    id = tree[id].of;
    is_volatile = is_volatile || tree[id].is_volatile;
  }
  if (is_volatile) return std::nullopt;
  const c::Type& type = tree[id];
  const bool is_tvms = type.name == "TVMValue" || type.name == "DLTensor" || type.name == "DLDeviceType";
  const bool is_struct = type.kind == c::TypeKind::record ? !type.name.empty() && !tree.records[type.record].is_union &&
                                                                !tree.records[type.record].is_complete
                                                          : type.kind == c::TypeKind::unknown && is_tvms;
  if (type.kind == c::TypeKind::nothing || is_struct) return CType{tir::void_type, stars};
  if (type.is_bool) return CType{tir::bool_type, stars};
  const bool is_number = type.kind == c::TypeKind::integer || type.kind == c::TypeKind::real;
  if (!is_number || type.bits == 0 || type.name == "char") return std::nullopt;
  const tir::TypeCode code = type.kind == c::TypeKind::real ? tir::TypeCode::float_
                             : type.is_unsigned             ? tir::TypeCode::uint
                                                            : tir::TypeCode::int_;
  return CType{{code, type.bits, 1}, stars};
}

void fail_at(const Token& found, std::string_view expected) {
  const std::string what = found.kind == TokenKind::end ? "the end of the file" : shown(found.text);
  throw SyntaxError{found.offset, "found " + what + ", expected " + std::string(expected)};
}

}  // namespace usmp::tvm_c

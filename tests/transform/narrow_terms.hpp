// Types and terms of the networks that the step "narrow" is tested with.
#pragma once

#include <cstdint>
#include <utility>

#include "tir_support/module_builder.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform::testing::narrow_terms {

inline constexpr tir::DataType i8{tir::TypeCode::int_, 8, 1};
inline constexpr tir::DataType i16{tir::TypeCode::int_, 16, 1};
inline constexpr tir::DataType i32 = tir::int32_type;
inline constexpr tir::DataType i64 = tir::int64_type;

inline tir::ExprRef imm(std::int64_t value, tir::DataType type = i32) { return tir::make_int(value, type); }
inline tir::ExprRef op(tir::ExprKind kind, tir::ExprRef a, tir::ExprRef b) {
  return tir::make_binary(kind, std::move(a), std::move(b));
}
inline tir::ExprRef cast(tir::DataType type, tir::ExprRef value) { return tir::make_cast(type, std::move(value)); }

}  // namespace usmp::transform::testing::narrow_terms

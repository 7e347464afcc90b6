// The value of an integer expression as C computes it, point by point.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "usmp/support/checked.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::liveness::testing {

// Nothing: undefined in C (or of no interest).
using Number = std::optional<std::int64_t>;

struct Memory {
  std::function<Number(tir::VarId)> variable;
  std::function<Number(const tir::Expr& load, std::int64_t index)> load;
};

// As a conversion to the type gives it. Types have at most 64 bits, unsigned ones fewer.
inline std::int64_t converted(std::int64_t value, tir::DataType type) {
  if (type.is_bool()) return value != 0 ? 1 : 0;
  if (type.bits >= 64) return value;
  const auto low_bits = static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << type.bits) - 1);
  const bool is_negative = type.is_int() && (low_bits >> (type.bits - 1)) != 0;
  return static_cast<std::int64_t>(is_negative ? low_bits - (std::uint64_t{1} << type.bits) : low_bits);
}

inline Number quotient(std::int64_t a, std::int64_t b, bool floors) {
  if (b == 0 || (b == -1 && a == INT64_MIN)) return std::nullopt;
  const bool is_between = a % b != 0 && (a % b < 0) != (b < 0);
  return a / b - (floors && is_between ? 1 : 0);
}

inline Number binary(tir::ExprKind kind, std::int64_t a, std::int64_t b) {
  using tir::ExprKind;
  switch (kind) {
    case ExprKind::add:
      return checked_add(a, b);
    case ExprKind::sub:
      return b == INT64_MIN ? std::nullopt : checked_add(a, -b);
    case ExprKind::mul:
      return checked_mul(a, b);
    case ExprKind::div:
    case ExprKind::floor_div:
      return quotient(a, b, kind == ExprKind::floor_div);
    case ExprKind::mod:
    case ExprKind::floor_mod: {
      if (!quotient(a, b, false)) return std::nullopt;
      const std::int64_t rest = a % b;
      return kind == ExprKind::floor_mod && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    case ExprKind::min:
      return a < b ? a : b;
    case ExprKind::max:
      return a > b ? a : b;
    case ExprKind::lt:
      return a < b ? 1 : 0;
    case ExprKind::le:
      return a <= b ? 1 : 0;
    case ExprKind::gt:
      return a > b ? 1 : 0;
    case ExprKind::ge:
      return a >= b ? 1 : 0;
    case ExprKind::eq:
      return a == b ? 1 : 0;
    case ExprKind::ne:
      return a != b ? 1 : 0;
    default:
      return std::nullopt;
  }
}

inline bool is_choice(const tir::Expr& expr) {
  return expr.kind == tir::ExprKind::call && expr.op == tir::Op::if_then_else;
}

// `is_plain`, if given, becomes false if an operation below wraps, is undefined, or divides by what is not positive.
inline Number evaluate(const tir::Expr& root, const Memory& memory, bool* is_plain = nullptr) {
  using tir::Expr;
  using tir::ExprKind;
  // Of the choices around, whether what is being evaluated is on the side that is not taken: no memory is read there.
  std::vector<bool> is_skipped = {false};
  const auto before = [&](const Expr& expr, std::size_t i, std::span<Number> parts) {
    if (!is_choice(expr) || i == 0) return;
    if (i == 2) is_skipped.pop_back();
    const bool is_yes = parts[0] && *parts[0] != 0;
    is_skipped.push_back(is_skipped.back() || is_yes != (i == 1));
  };
  const auto combine = [&](const Expr& expr, std::span<Number> parts) -> Number {
    const auto spoil = [&](bool spoils) {
      if (spoils && is_plain != nullptr) *is_plain = false;
    };
    switch (expr.kind) {
      case ExprKind::int_imm:
        return expr.int_value;
      case ExprKind::var:
        return memory.variable(expr.var);
      case ExprKind::load:
        return parts[0] && !is_skipped.back() ? memory.load(expr, *parts[0]) : std::nullopt;
      case ExprKind::not_:
        return parts[0] ? Number(*parts[0] == 0 ? 1 : 0) : std::nullopt;
      case ExprKind::and_:
      case ExprKind::or_:
        if (!parts[0]) return std::nullopt;
        if ((*parts[0] != 0) == (expr.kind == ExprKind::or_)) return *parts[0] != 0 ? 1 : 0;
        return parts[1] ? Number(*parts[1] != 0 ? 1 : 0) : std::nullopt;
      case ExprKind::cast: {
        if (!parts[0]) return std::nullopt;
        const std::int64_t value = converted(*parts[0], expr.type);
        spoil(value != *parts[0]);
        return value;
      }
      case ExprKind::select:
        if (!parts[1] || !parts[2]) return std::nullopt;
        return parts[0] ? (*parts[0] != 0 ? parts[1] : parts[2]) : std::nullopt;
      default:
        break;
    }
    if (is_choice(expr)) {
      is_skipped.pop_back();
      return parts[0] ? (*parts[0] != 0 ? parts[1] : parts[2]) : std::nullopt;
    }
    if (parts.size() != 2 || !parts[0] || !parts[1]) return std::nullopt;
    const bool divides = expr.kind == ExprKind::div || expr.kind == ExprKind::mod || expr.kind == ExprKind::floor_div ||
                         expr.kind == ExprKind::floor_mod;
    spoil(divides && (*parts[1] <= 0 || *parts[0] < 0));
    const tir::DataType type = tir::promoted(expr.type);
    if (expr.kind == ExprKind::min || expr.kind == ExprKind::max) {  // TVM's C has variables of the type for operands
      for (Number& part : parts) {
        const std::int64_t cut = converted(*part, expr.type);
        spoil(cut != *part);
        part = cut;
      }
    }
    const Number exact = binary(expr.kind, *parts[0], *parts[1]);
    const auto range = tir::range_of_type(type);
    const bool is_kept = exact && range && range->low <= *exact && *exact <= range->high;
    spoil(!is_kept);
    if (is_kept || !exact) return exact;
    return type.is_uint() ? Number(converted(*exact, type)) : std::nullopt;
  };
  return tir::fold<Number>(root, tir::append_operands, before, combine);
}

}  // namespace usmp::liveness::testing

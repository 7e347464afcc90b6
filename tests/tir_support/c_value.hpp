// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The value of an integer expression as C computes it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "tir_support/c_integers.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tir::testing {

struct Memory {
  std::function<Number(VarId)> variable;
  std::function<Number(const Expr& load, std::int64_t index)> load;
};

// `is_plain`, if given, becomes false if an operation below wraps, is undefined, or divides by what is not positive.
inline Number c_value(const Expr& root, const Memory& memory, bool* is_plain = nullptr) {
  // For the choices around, whether what is being evaluated is on the side that is not taken: no memory is read there.
  std::vector<bool> is_skipped = {false};
  const auto is_choice = [](const Expr& expr) { return expr.kind == ExprKind::call && expr.op == Op::if_then_else; };
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
    const bool is_lazy = is_choice(expr);
    if (is_lazy) is_skipped.pop_back();
    if (expr.kind == ExprKind::int_imm) return wrapped(expr.int_value, expr.type);
    if (expr.kind == ExprKind::var) return memory.variable(expr.var);
    if (parts.empty() || !parts[0]) return std::nullopt;
    const std::int64_t first = *parts[0];
    if (is_lazy) return first != 0 ? parts[1] : parts[2];
    switch (expr.kind) {
      case ExprKind::load:
        return is_skipped.back() ? std::nullopt : memory.load(expr, first);
      case ExprKind::not_:
        return first == 0 ? 1 : 0;
      case ExprKind::and_:
      case ExprKind::or_:
        if ((first != 0) == (expr.kind == ExprKind::or_)) return first != 0 ? 1 : 0;
        return parts[1] ? Number(*parts[1] != 0 ? 1 : 0) : std::nullopt;
      case ExprKind::cast: {
        const std::int64_t value = converted(widened(first, expr.operands[0]->type), expr.type);
        spoil(value != first);
        return value;
      }
      case ExprKind::select:
        if (!parts[1] || !parts[2]) return std::nullopt;
        return first != 0 ? parts[1] : parts[2];
      default:
        break;
    }
    if (expr.op == Op::likely) return first;
    if (expr.op == Op::bitwise_not) return c_bitwise_not(first, expr.type);
    if (parts.size() != 2 || !parts[1]) return std::nullopt;
    const std::int64_t second = *parts[1];
    const DataType type = expr.operands[0]->type;
    if (expr.kind == ExprKind::call) return c_bits(operator_name(expr), first, second, type);
    if (expr.kind >= ExprKind::eq && expr.kind <= ExprKind::ge) {
      return c_holds(expr.kind, widened(first, type), widened(second, type)) ? 1 : 0;
    }
    const bool divides = expr.kind == ExprKind::div || expr.kind == ExprKind::mod || expr.kind == ExprKind::floor_div ||
                         expr.kind == ExprKind::floor_mod;
    bool wraps = type.is_uint() && type.bits == 64;  // of which the program knows no ends
    const Number result = c_arithmetic(expr.kind, first, second, expr.type, &wraps);
    spoil(wraps || !result || (divides && (second <= 0 || first < 0)));
    return result;
  };
  return fold<Number>(root, append_operands, before, combine);
}

inline Number c_value(const Expr& root, const std::map<VarId, std::int64_t>& variables, bool* is_plain = nullptr) {
  return c_value(root, Memory{[&](VarId var) -> Number { return variables.at(var); }, {}}, is_plain);
}

}  // namespace usmp::tir::testing

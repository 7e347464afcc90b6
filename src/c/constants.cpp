// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Evaluates integer constant expressions in C's types, in exact arithmetic.
#include "usmp/c/constants.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "usmp/support/characters.hpp"

namespace usmp::c {
namespace {

__extension__ using UnsignedWide = unsigned __int128;

constexpr Wide power(int exponent) { return Wide{1} << exponent; }

// The value in the type; what does not fit wraps where C says so, and is nothing else.
std::optional<Constant> with_value(Constant type, Wide value) {
  if (type.is_unsigned && type.bits != 0) {
    value %= power(type.bits);
    if (value < 0) value += power(type.bits);
  } else {
    const Wide high = power(type.bits == 0 ? 31 : type.bits - 1) - 1;
    if (value > high || value < (type.is_unsigned ? 0 : -high - 1)) return std::nullopt;
  }
  type.value = value;
  return type;
}

struct Types {
  Constant truth;      // of comparisons
  bool is_64 = false;  // all are
};

// C's usual arithmetic conversions.
Constant common_type(const Constant& a, const Constant& b) {
  if (a.bits == 0 || b.bits == 0) return {0, 0, a.is_unsigned || b.is_unsigned};
  const std::uint8_t bits = std::max(a.bits, b.bits);
  const auto has = [&](const Constant& one) { return one.is_unsigned && one.bits == bits; };
  return {0, bits, has(a) || has(b)};
}

std::optional<Constant> shifted(std::string_view op, const Constant& a, const Constant& b) {
  const int bits = a.bits == 0 ? 32 : a.bits;
  if (a.value < 0 || b.value < 0 || b.value >= bits) return std::nullopt;
  const int count = static_cast<int>(b.value);
  return with_value(a, op == ">>" ? a.value >> count : a.value << count);
}

std::optional<bool> compared(std::string_view op, Wide x, Wide y) {
  if (op == "<") return x < y;
  if (op == "<=") return x <= y;
  if (op == ">") return x > y;
  if (op == ">=") return x >= y;
  if (op == "==") return x == y;
  if (op == "!=") return x != y;
  return std::nullopt;
}

std::optional<Constant> combined(std::string_view op, const Constant& a, const Constant& b, const Types& types) {
  if (op == "<<" || op == ">>") return shifted(op, a, b);
  const Constant type = common_type(a, b);
  const auto left = with_value(type, a.value);
  const auto right = with_value(type, b.value);
  if (!left || !right) return std::nullopt;
  const Wide x = left->value;
  const Wide y = right->value;
  if (const auto is = compared(op, x, y)) return with_value(types.truth, *is ? 1 : 0);
  if (op == "+") return with_value(type, x + y);
  if (op == "-") return with_value(type, x - y);
  if (op == "*")
    return with_value(type, static_cast<Wide>(static_cast<UnsignedWide>(x) * static_cast<UnsignedWide>(y)));
  if (op == "/" || op == "%") return y == 0 ? std::nullopt : with_value(type, op == "/" ? x / y : x % y);
  if (op == "&") return with_value(type, x & y);
  if (op == "|") return with_value(type, x | y);
  if (op == "^") return with_value(type, x ^ y);
  return std::nullopt;
}

using Known = std::optional<Constant>;

Known prefixed(std::string_view op, const Constant& a, const Types& types) {
  if (op == "!") return with_value(types.truth, a.value == 0 ? 1 : 0);
  if (op == "+") return a;
  if (op == "-") return with_value(a, -a.value);
  return op == "~" ? with_value(a, -a.value - 1) : std::nullopt;
}

Known both(std::string_view op, const Known& a, const Known& b, const Types& types) {
  const bool is_and = op == "&&";
  const auto decides = [&](const Known& one) { return one && (one->value != 0) != is_and; };
  // Behind what is not known, C may never come.
  if (decides(a) || (types.is_64 && decides(b))) return with_value(types.truth, is_and ? 0 : 1);
  if (!a || !b) return std::nullopt;
  return with_value(types.truth, decides(b) ? (is_and ? 0 : 1) : (is_and ? 1 : 0));
}

class Evaluator {
 public:
  Evaluator(const Tree& tree, const NameValue* names, bool is_64) : tree_(tree), names_(names) {
    if (is_64) types_ = {{0, 64, false}, true};
  }

  // NOLINTNEXTLINE(misc-no-recursion): sizeof in extents, which the parser limits
  Known run(ExprId root) {
    std::vector<ExprId> parts = tree_.parts_of(root);
    std::reverse(parts.begin(), parts.end());
    for (const ExprId id : parts) values_[id] = value(id);
    return values_[root];
  }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): sizeof in extents, which the parser limits
  Known value(ExprId id) {
    const Expr& expr = tree_[id];
    const auto operands = tree_.operands_of(id);
    const auto operand = [&](std::size_t i) -> const Known& { return values_[operands[i]]; };
    switch (expr.kind) {
      case ExprKind::number:
      case ExprKind::character:
        return literal(expr.text);
      case ExprKind::name:
        return name(expr);
      case ExprKind::prefix:
        return operand(0) ? prefixed(expr.text, *operand(0), types_) : std::nullopt;
      case ExprKind::size_of: {
        const auto size = types_.is_64 ? std::nullopt : size_of(tree_, expr.type);
        return size ? with_value({0, 0, true}, *size) : std::nullopt;
      }
      case ExprKind::cast:
        return operand(0) ? cast(tree_[expr.type], *operand(0)) : std::nullopt;
      case ExprKind::binary:
        if (expr.text == "&&" || expr.text == "||") return both(expr.text, operand(0), operand(1), types_);
        return operand(0) && operand(1) ? combined(expr.text, *operand(0), *operand(1), types_) : std::nullopt;
      case ExprKind::conditional:
        return chosen(operand(0), operand(1), operand(2));
      default:
        return std::nullopt;
    }
  }

  [[nodiscard]] Known literal(std::string_view text) const {
    Known constant = integer_literal(text);
    if (types_.is_64 && constant) constant->bits = 64;
    return constant;
  }

  [[nodiscard]] Known name(const Expr& expr) const {
    if (names_ != nullptr) {
      const auto value = (*names_)(expr.text);
      return value ? with_value(types_.truth, *value) : std::nullopt;
    }
    if (!expr.decl.valid()) return std::nullopt;
    const auto value = tree_[expr.decl].value;
    return value && !tree_[expr.decl].is_conditional ? with_value({0, 32, false}, *value) : std::nullopt;
  }

  // Narrow types promote to int.
  [[nodiscard]] Known cast(const Type& type, const Constant& a) const {
    if (types_.is_64 || type.kind != TypeKind::integer) return std::nullopt;
    if (type.is_bool) return with_value(types_.truth, a.value != 0 ? 1 : 0);
    if (type.bits == 0 || type.bits >= 32) return with_value({0, type.bits, type.is_unsigned}, a.value);
    const auto in_int = [&](Wide low, Wide high) {
      return a.value >= low && a.value <= high ? with_value(types_.truth, a.value) : std::nullopt;
    };
    if (type.name == "char") return in_int(0, power(7) - 1);
    if (!type.is_unsigned) return in_int(-power(type.bits - 1), power(type.bits - 1) - 1);
    const Wide rest = a.value % power(type.bits);
    return with_value(types_.truth, rest < 0 ? rest + power(type.bits) : rest);
  }

  [[nodiscard]] Known chosen(const Known& condition, const Known& yes, const Known& no) const {
    if (!condition) return std::nullopt;
    const Known& taken = condition->value != 0 ? yes : no;
    if (yes && no) return with_value(common_type(*yes, *no), taken->value);
    // A type without sign is that of both.
    return types_.is_64 && taken && taken->is_unsigned ? taken : std::nullopt;
  }

  const Tree& tree_;
  const NameValue* names_;
  Types types_;
  std::unordered_map<ExprId, Known> values_;
};

int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  const char small = static_cast<char>(c | 0x20);
  return small >= 'a' ? small - 'a' + 10 : 99;
}

std::optional<Constant> character(std::string_view text) {
  if (text.size() < 3 || text.back() != '\'') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  const auto of = [](int value) -> std::optional<Constant> {
    return value <= 127 ? std::optional(Constant{value, 32, false}) : std::nullopt;
  };
  if (text[0] != '\\') return text.size() == 1 ? of(static_cast<unsigned char>(text[0])) : std::nullopt;
  constexpr std::string_view letters = "abfnrtv'\"?\\";
  constexpr std::string_view meanings = "\a\b\f\n\r\t\v'\"?\\";
  if (const std::size_t at = letters.find(text[1]); text.size() == 2 && at != std::string_view::npos)
    return of(meanings[at]);
  const int base = text[1] == 'x' ? 16 : 8;
  const std::string_view digits = text.substr(base == 16 ? 2 : 1);
  if (digits.empty() || digits.size() > 3) return std::nullopt;
  int value = 0;
  for (const char c : digits) {
    if (digit_value(c) >= base) return std::nullopt;
    value = value * base + digit_value(c);
  }
  return of(value);
}

}  // namespace

std::optional<std::int64_t> Constant::as_int64() const {
  return value < power(63) ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt;
}

std::optional<Constant> integer_literal(std::string_view text) {
  if (text.starts_with("'")) return character(text);
  const bool has_zero = text.starts_with('0');
  const int letter = has_zero && text.size() > 1 ? text[1] | 0x20 : 0;
  const int base = letter == 'x' ? 16 : letter == 'b' ? 2 : has_zero ? 8 : 10;
  if (base == 16 || base == 2) text.remove_prefix(2);
  Wide value = 0;
  std::size_t at = 0;
  for (; at < text.size() && digit_value(text[at]) < base; ++at) {
    value = value * base + digit_value(text[at]);
    if (value >= power(64)) return std::nullopt;
  }
  if (at == 0) return std::nullopt;
  bool is_unsigned = false;
  int longs = 0;
  std::string_view suffix = text.substr(at);
  while (!suffix.empty()) {
    if ((suffix[0] | 0x20) == 'u' && !is_unsigned) {
      is_unsigned = true;
      suffix.remove_prefix(1);
    } else if ((suffix[0] | 0x20) == 'l' && longs == 0) {
      longs = suffix.size() > 1 && suffix[1] == suffix[0] ? 2 : 1;
      suffix.remove_prefix(static_cast<std::size_t>(longs));
    } else {
      return std::nullopt;
    }
  }
  const bool fits_int = value < power(31);
  const bool fits_unsigned = value < power(32);
  if (longs < 2 && fits_int) return Constant{value, longs == 0 ? std::uint8_t{32} : std::uint8_t{0}, is_unsigned};
  if (longs < 2 && fits_unsigned && (is_unsigned || base != 10)) {
    return longs == 0 ? std::optional(Constant{value, 32, true}) : std::nullopt;
  }
  if (!is_unsigned && value < power(63)) return Constant{value, 64, false};
  return is_unsigned || base != 10 ? std::optional(Constant{value, 64, true}) : std::nullopt;
}

// NOLINTNEXTLINE(misc-no-recursion): sizeof in extents, which the parser limits
std::optional<std::int64_t> size_of(const Tree& tree, TypeId id) {
  Wide count = 1;
  const Type* type = &tree[id];
  while (type->kind == TypeKind::array) {
    const auto extent = type->extent.valid() ? constant_value(tree, type->extent) : std::nullopt;
    if (!extent || extent->value < 0) return std::nullopt;
    count *= extent->value;
    if (count > power(31)) return std::nullopt;
    type = &tree[type->of];
  }
  if (type->bits == 0) return std::nullopt;
  return static_cast<std::int64_t>(count * (type->bits / 8));
}

// NOLINTNEXTLINE(misc-no-recursion): sizeof in extents, which the parser limits
std::optional<Constant> constant_value(const Tree& tree, ExprId root) {
  return Evaluator(tree, nullptr, false).run(root);
}

std::optional<Constant> constant_value(const Tree& tree, ExprId root, NameValue name_value) {
  return Evaluator(tree, &name_value, false).run(root);
}

std::optional<Constant> constant_binary(std::string_view op, const Constant& a, const Constant& b) {
  return combined(op, a, b, {});
}

std::optional<Constant> constant_prefix(std::string_view op, const Constant& a) { return prefixed(op, a, {}); }

std::optional<Constant> condition_value(const Tree& tree, ExprId root, NameValue name_value) {
  return Evaluator(tree, &name_value, true).run(root);
}

}  // namespace usmp::c

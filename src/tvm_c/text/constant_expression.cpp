// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/constant_expression_test.cpp.
#include "tvm_c/text/constant_expression.hpp"

#include <algorithm>
#include <vector>

#include "tvm_c/text/literals.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/integer_types.hpp"

namespace usmp::tvm_c {
namespace {

std::vector<Token> limited_tokens(std::string_view text) {
  std::vector<Token> tokens;
  Lexer lexer(text);
  for (Token token = lexer.next(); token.kind != TokenKind::end; token = lexer.next()) {
    if (tokens.size() > max_constant_tokens) throw SyntaxError{token.offset, "too long"};
    tokens.push_back(token);
  }
  return tokens;
}

// The text with macros expanded, as the preprocessor does: tokens for tokens.
class Expander {
 public:
  explicit Expander(const ConstantNames& names) : names_(names) {}

  std::optional<std::string> run(std::string_view text) {
    push(limited_tokens(text));
    std::string result;
    for (std::size_t taken = 0; !pending_.empty(); ++taken) {
      if (taken == max_constant_tokens || pending_.size() > max_constant_tokens) return std::nullopt;
      const Token token = pop();
      if (token.is("defined") && names_.is_defined) {
        const auto is = defined();
        if (!is) return std::nullopt;
        result += *is ? "1 " : "0 ";
        continue;
      }
      const auto definition = token.is_identifier() && names_.definition ? names_.definition(token.text)
                                                                         : std::optional<std::string_view>();
      if (!definition) {
        result += std::string(token.text) + " ";
      } else if (!expand(*definition)) {
        return std::nullopt;
      }
    }
    return result;
  }

 private:
  void push(const std::vector<Token>& tokens) { pending_.insert(pending_.end(), tokens.rbegin(), tokens.rend()); }

  Token pop() {
    if (pending_.empty()) return {};
    const Token token = pending_.back();
    pending_.pop_back();
    return token;
  }

  // Behind the word.
  std::optional<bool> defined() {
    Token name = pop();
    const bool has_brackets = name.is("(");
    if (has_brackets) name = pop();
    if (!name.is_identifier() || (has_brackets && !pop().is(")"))) return std::nullopt;
    return names_.is_defined(name.text);
  }

  bool expand(std::string_view definition) {
    if (definition.find('#') != std::string_view::npos) return false;  // makes a text or a name of tokens
    if (!definition.starts_with("(")) {
      push(limited_tokens(definition));
      return true;
    }
    const std::size_t end = definition.find(')');
    if (end == std::string_view::npos) return false;
    std::vector<Token> params;
    for (const Token& token : limited_tokens(definition.substr(1, end - 1))) {
      if (token.is_identifier())
        params.push_back(token);
      else if (!token.is(","))
        return false;
    }
    const auto given = arguments();
    if (!given || given->size() != std::max<std::size_t>(params.size(), 1)) return false;
    std::vector<Token> body;
    for (const Token& token : limited_tokens(definition.substr(end + 1))) {
      const auto param =
          std::find_if(params.begin(), params.end(), [&](const Token& one) { return token.is(one.text); });
      if (param == params.end()) {
        body.push_back(token);
      } else {
        const auto& tokens = (*given)[static_cast<std::size_t>(param - params.begin())];
        body.insert(body.end(), tokens.begin(), tokens.end());
      }
      if (body.size() > max_constant_tokens) return false;
    }
    push(body);
    return true;
  }

  // Of a macro with parameters, taken.
  std::optional<std::vector<std::vector<Token>>> arguments() {
    if (!pop().is("(")) return std::nullopt;
    std::vector<std::vector<Token>> given(1);
    for (std::size_t depth = 0; !pending_.empty();) {
      const Token token = pop();
      if (token.is("(")) ++depth;
      if (token.is(")") && depth-- == 0) return given;
      if (token.is(",") && depth == 0) {
        given.emplace_back();
      } else {
        given.back().push_back(token);
      }
    }
    return std::nullopt;
  }

  const ConstantNames& names_;
  std::vector<Token> pending_;  // the next last
};

// A value and its type. A type whose width differs from machine to machine, such as size_t, has no bits: such values
// are in [0, INT32_MAX], where all have them.
struct Number {
  std::int64_t value = 0;
  int bits = 32;
  bool is_unsigned = false;
};

bool holds(const Number& number, std::int64_t value) {
  if (number.bits == 0) return value >= 0 && value <= INT32_MAX;
  if (number.is_unsigned) return value >= 0 && (number.bits == 64 || value <= UINT32_MAX);
  return number.bits == 64 || (value >= INT32_MIN && value <= INT32_MAX);
}

std::optional<Number> with_value(Number type, std::optional<std::int64_t> value) {
  if (!value || !holds(type, *value)) return std::nullopt;
  type.value = *value;
  return type;
}

Number number_of(std::int64_t value) { return {value, 32, false}; }

// Of C's usual arithmetic conversions.
Number common_type(const Number& a, const Number& b) {
  if (a.bits == 0 || b.bits == 0) return {0, 0, true};
  const int bits = std::max(a.bits, b.bits);
  const auto has = [&](const Number& one) { return one.is_unsigned && one.bits == bits; };
  return {0, bits, has(a) || has(b)};
}

std::optional<Number> shifted(std::string_view op, const Number& a, const Number& b) {
  const int bits = a.bits == 0 ? 32 : a.bits;
  if (a.value < 0 || b.value < 0 || b.value >= bits || b.value > 62) return std::nullopt;
  if (op == ">>") return with_value(a, a.value >> b.value);
  return with_value(a, checked_mul(a.value, std::int64_t{1} << b.value));
}

std::optional<Number> combined(std::string_view op, const Number& a, const Number& b) {
  if (op == "<<" || op == ">>") return shifted(op, a, b);
  if (op == "&&") return number_of(a.value != 0 && b.value != 0 ? 1 : 0);
  if (op == "||") return number_of(a.value != 0 || b.value != 0 ? 1 : 0);
  const Number type = common_type(a, b);
  const std::int64_t x = a.value;
  const std::int64_t y = b.value;
  if (!holds(type, x) || !holds(type, y)) return std::nullopt;  // C makes another number of it
  if (op == "<") return number_of(x < y ? 1 : 0);
  if (op == "<=") return number_of(x <= y ? 1 : 0);
  if (op == ">") return number_of(x > y ? 1 : 0);
  if (op == ">=") return number_of(x >= y ? 1 : 0);
  if (op == "==") return number_of(x == y ? 1 : 0);
  if (op == "!=") return number_of(x != y ? 1 : 0);
  if (op == "+") return with_value(type, checked_add(x, y));
  if (op == "-") return with_value(type, checked_sub(x, y));
  if (op == "*") return with_value(type, checked_mul(x, y));
  if (op == "/" || op == "%") {
    if (y == 0 || (x == INT64_MIN && y == -1)) return std::nullopt;
    return with_value(type, op == "/" ? x / y : x % y);
  }
  if (op == "&") return with_value(type, x & y);
  if (op == "|") return with_value(type, x | y);
  return op == "^" ? with_value(type, x ^ y) : std::nullopt;
}

std::optional<Number> prefixed(std::string_view op, const Number& a) {
  if (op == "!") return number_of(a.value == 0 ? 1 : 0);
  if (op == "+") return a;
  if (op == "-") return with_value(a, checked_sub(0, a.value));
  if (a.is_unsigned && a.bits != 32) return std::nullopt;
  return with_value(a, a.is_unsigned ? std::int64_t{UINT32_MAX} - a.value : ~a.value);
}

class Evaluator {
 public:
  Evaluator(std::string_view text, const ConstantNames& names) : tokens_(text), names_(names) {}

  std::optional<Number> run() {
    const auto number = infix(0, 0);
    return tokens_.peek().kind == TokenKind::end ? number : std::nullopt;
  }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): at most max_constant_depth deep
  std::optional<Number> infix(int least, std::size_t depth) {
    auto left = prefix(depth);
    while (left) {
      const Token op = tokens_.peek();
      if (least == 0 && take(tokens_, "?")) {
        const auto yes = infix(0, depth + 1);
        if (!yes || !take(tokens_, ":")) return std::nullopt;
        const auto no = infix(0, depth + 1);
        if (!no) return std::nullopt;
        left = with_value(common_type(*yes, *no), left->value != 0 ? yes->value : no->value);
        continue;
      }
      const int precedence = op.kind == TokenKind::punctuator ? precedence_of(op.text) : -1;
      if (precedence < std::max(least, 1)) break;
      (void)tokens_.next();
      const auto right = infix(precedence + 1, depth + 1);
      left = right ? combined(op.text, *left, *right) : std::nullopt;
    }
    return left;
  }

  // NOLINTNEXTLINE(misc-no-recursion): as above
  std::optional<Number> prefix(std::size_t depth) {
    if (depth > max_constant_depth) return std::nullopt;
    const Token token = tokens_.next();
    if (token.is("-") || token.is("+") || token.is("!") || token.is("~")) {
      const auto operand = prefix(depth + 1);
      return operand ? prefixed(token.text, *operand) : std::nullopt;
    }
    if (token.is("sizeof")) return size();
    if (token.is("(")) {
      if (const auto type = parse_type(tokens_)) {
        if (type->stars > 0 || !type->element.is_integer() || !take(tokens_, ")")) return std::nullopt;
        const auto operand = prefix(depth + 1);
        return operand ? cast(type->element, *operand) : std::nullopt;
      }
      if (parse_open_type(tokens_)) {
        const auto operand = take(tokens_, ")") ? prefix(depth + 1) : std::nullopt;
        return operand ? with_value({0, 0, true}, operand->value) : std::nullopt;
      }
      const auto inner = infix(0, depth + 1);
      return take(tokens_, ")") ? inner : std::nullopt;
    }
    if (token.is_identifier()) {
      const auto number = names_.enumerator ? names_.enumerator(token.text) : std::nullopt;
      return number ? with_value(number_of(0), *number) : std::nullopt;
    }
    if (token.kind != TokenKind::number || is_real(token)) return std::nullopt;
    const IntegerLiteral literal = integer_literal(token);
    return with_value({0, literal.type.bits, literal.type.is_uint()}, literal.value);
  }

  // sizeof(int16_t)
  std::optional<Number> size() {
    if (!take(tokens_, "(")) return std::nullopt;
    const auto type = parse_type(tokens_);
    if (!type || type->stars > 0 || type->element.is_void() || !take(tokens_, ")")) return std::nullopt;
    return Number{type->element.bytes(), 0, true};
  }

  // Narrow types promote.
  static std::optional<Number> cast(tir::DataType type, const Number& a) {
    if (type.is_bool()) return number_of(a.value != 0 ? 1 : 0);
    if (type.bits >= 32) return with_value({0, type.bits, type.is_uint()}, a.value);
    const auto range = tir::range_of_type(type);
    return range && range->low <= a.value && a.value <= range->high ? std::optional(number_of(a.value)) : std::nullopt;
  }

  Lexer tokens_;
  const ConstantNames& names_;
};

std::optional<Number> evaluated(const std::string& text, const ConstantNames& names) {
  return Evaluator(text, names).run();
}

// A literal, with a sign perhaps, or all in one pair of brackets.
bool is_operand(const std::string& text) {
  std::vector<Token> tokens = limited_tokens(text);
  if (tokens.size() > 1 && (tokens[0].is("-") || tokens[0].is("+"))) tokens.erase(tokens.begin());
  if (tokens.size() == 1) return true;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is("(")) ++depth;
    if (tokens[i].is(")")) --depth;
    if (depth == 0) return i > 0 && i + 1 == tokens.size();
  }
  return false;
}

}  // namespace

std::optional<std::int64_t> constant_value(std::string_view text, const ConstantNames& names) {
  try {
    const auto expanded = Expander(names).run(text);
    const auto number = expanded ? evaluated(*expanded, names) : std::nullopt;
    return number ? std::optional(number->value) : std::nullopt;
  } catch (const SyntaxError&) {
    return std::nullopt;
  }
}

std::optional<std::int64_t> constant_operand(std::string_view text, const ConstantNames& names) {
  try {
    const auto expanded = Expander(names).run(text);
    if (!expanded || !is_operand(*expanded)) return std::nullopt;
    const auto number = evaluated(*expanded, names);
    const bool is_int = number && number->bits == 32 && !number->is_unsigned;
    return is_int ? std::optional(number->value) : std::nullopt;
  } catch (const SyntaxError&) {
    return std::nullopt;
  }
}

std::optional<std::int64_t> array_extent(const Lexer& tokens, const ConstantNames& names) {
  try {
    Lexer ahead = tokens;
    const std::size_t begin = ahead.peek().offset;
    skip_to_end(ahead, begin);
    const auto value = constant_value(tokens.text().substr(begin, ahead.end() - 1 - begin), names);
    return value && *value >= 0 && *value < max_pool ? value : std::nullopt;
  } catch (const SyntaxError&) {
    return std::nullopt;
  }
}

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Parses by precedence, with stacks of its own, and computes each operator at once.
#include "tvm_c/body/expressions.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "tvm_c/text/literals.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/c/operators.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

using tir::DataType;
using tir::TypeCode;

constexpr int choice_precedence = c::conditional_precedence;

struct Pending {
  enum class Kind : std::uint8_t { infix, prefix, cast, bracket, call, index, question, choice };
  Kind kind;
  Token token;
  CType type = {};              // cast
  std::size_t first_value = 0;  // call: of the arguments

  // Below everything: what stands in front of it waits for its end.
  [[nodiscard]] bool is_open() const {
    return kind == Kind::bracket || kind == Kind::call || kind == Kind::index || kind == Kind::question;
  }
  [[nodiscard]] int precedence() const {
    if (kind == Kind::infix) return c::precedence_of(token.text);
    return kind == Kind::choice ? choice_precedence : c::prefix_precedence;
  }
};

// Operators wait until one that binds less follows.
class ExpressionParser {
 public:
  ExpressionParser(Lexer& tokens, Values& values, const LookUp& look_up)
      : tokens_(tokens), values_(values), look_up_(look_up) {}

  Value run() {
    do {
      operand();
    } while (operator_follows());
    reduce(choice_precedence);
    if (!pending_.empty()) fail_at(tokens_.peek(), closing());
    return std::move(stack_.back());
  }

 private:
  using Kind = Pending::Kind;

  [[nodiscard]] std::string_view closing() const {
    if (pending_.back().kind == Kind::index) return "']'";
    return pending_.back().kind == Kind::question ? "':'" : "')'";
  }

  void push(Kind kind, const Token& token) { pending_.push_back({.kind = kind, .token = token}); }

  Value pop() {
    Value value = std::move(stack_.back());
    stack_.pop_back();
    return value;
  }

  // Up to an operand and behind it.
  void operand() {
    while (true) {
      const Token token = tokens_.next();
      values_.at = token.offset;
      if (token.kind == TokenKind::number) {
        stack_.push_back(literal(token));
        return;
      }
      if (token.is_identifier()) {
        if (name(token)) return;
        continue;
      }
      if (token.is("(")) {
        bracket(token);
        continue;
      }
      constexpr std::array<std::string_view, 6> prefixes = {"-", "+", "!", "~", "&", "*"};
      if (std::none_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return token.is(p); })) {
        fail_at(token, "an expression");
      }
      push(Kind::prefix, token);
    }
  }

  [[nodiscard]] static Value literal(const Token& token) {
    if (is_real(token)) {
      const auto bits = static_cast<std::uint8_t>(has_float_suffix(token) ? 32 : 64);
      return Values::number({tir::make_float(real_literal(token, false), {TypeCode::float_, bits, 1})});
    }
    const IntegerLiteral integer = integer_literal(token);
    return Values::number({tir::make_int(integer.value, integer.type)});
  }

  void bracket(const Token& token) {
    const auto type = parse_type(tokens_);
    if (!type) return push(Kind::bracket, token);
    expect(tokens_, ")");
    pending_.push_back({.kind = Kind::cast, .token = token, .type = *type});
  }

  // Whether it is an operand; else arguments follow.
  bool name(const Token& token) {
    if (const auto value = constant(token.text)) {
      stack_.push_back(*value);
      return true;
    }
    if (auto value = look_up_(token.text)) {
      stack_.push_back(std::move(*value));
      return true;
    }
    if (!tokens_.peek().is("(")) {
      throw SyntaxError{token.offset, "found " + shown(token.text) + ", " + std::string(not_declared)};
    }
    (void)tokens_.next();
    pending_.push_back({.kind = Kind::call, .token = token, .first_value = stack_.size()});
    return false;
  }

  [[nodiscard]] static std::optional<Value> constant(std::string_view word) {
    constexpr DataType float32{TypeCode::float_, 32, 1};
    if (word == "INFINITY") return Values::number({tir::make_float(HUGE_VAL, float32)});
    if (word == "NAN") return Values::number({tir::make_float(std::nan(""), float32)});
    if (word == "true" || word == "false")
      return Values::number({tir::make_int(word == "true" ? 1 : 0, tir::bool_type)});
    if (word != "NULL") return std::nullopt;
    Value null;
    null.kind = Value::Kind::null;
    return null;
  }

  // Whether an operand has to follow; what closes is taken, what ends the expression is not.
  bool operator_follows() {
    while (true) {
      const Token token = tokens_.peek();
      values_.at = token.offset;
      if (token.is("[")) {
        (void)tokens_.next();
        push(Kind::index, token);
        return true;
      }
      if (token.is(".") || token.is("->")) {
        (void)tokens_.next();
        const Token member = tokens_.next();
        if (!member.is_identifier()) fail_at(member, "a member's name");
        stack_.back() = values_.member(stack_.back(), member.text);
        continue;
      }
      if (token.is("?")) {
        reduce(choice_precedence + 1);
        (void)tokens_.next();
        push(Kind::question, token);
        return true;
      }
      if (token.kind == TokenKind::punctuator && c::precedence_of(token.text) > choice_precedence) {
        reduce(c::precedence_of(token.text));
        (void)tokens_.next();
        push(Kind::infix, token);
        return true;
      }
      reduce(choice_precedence);
      if (pending_.empty()) return false;
      const Kind open = pending_.back().kind;
      if (token.is(":") && open == Kind::question) {
        (void)tokens_.next();
        pending_.back().kind = Kind::choice;
        return true;
      }
      if (token.is(",") && open == Kind::call) {
        (void)tokens_.next();
        return true;
      }
      if (!token.is(open == Kind::index ? "]" : ")") || open == Kind::question) fail_at(token, closing());
      (void)tokens_.next();
      close();
    }
  }

  void close() {
    const Pending opened = pending_.back();
    pending_.pop_back();
    values_.at = opened.token.offset;
    if (opened.kind == Kind::index) {
      const Value index = pop();
      stack_.back() = values_.element(stack_.back(), index);
    } else if (opened.kind == Kind::call) {
      const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(opened.first_value);
      Value result = values_.call(opened.token.text, {first, stack_.end()});
      stack_.erase(first, stack_.end());
      stack_.push_back(std::move(result));
    }
  }

  // Those that bind at least so much.
  void reduce(int least) {
    while (!pending_.empty() && !pending_.back().is_open() && pending_.back().precedence() >= least) {
      const Pending op = pending_.back();
      pending_.pop_back();
      values_.at = op.token.offset;
      const Value last = pop();
      if (op.kind == Kind::prefix) {
        stack_.push_back(values_.unary(op.token.text, last));
      } else if (op.kind == Kind::cast) {
        stack_.push_back(values_.cast(op.type, last));
      } else if (op.kind == Kind::infix) {
        stack_.back() = values_.binary(op.token.text, stack_.back(), last);
      } else {
        const Value yes = pop();
        stack_.back() = values_.choice(stack_.back(), yes, last);
      }
    }
  }

  Lexer& tokens_;
  Values& values_;
  const LookUp& look_up_;
  std::vector<Value> stack_;
  std::vector<Pending> pending_;
};

}  // namespace

Value parse_expression(Lexer& tokens, Values& values, const LookUp& look_up) {
  return ExpressionParser(tokens, values, look_up).run();
}

std::vector<Value> parse_arguments(Lexer& tokens, Values& values, const LookUp& look_up) {
  std::vector<Value> arguments;
  expect(tokens, "(");
  if (take(tokens, ")")) return arguments;
  do {
    arguments.push_back(parse_expression(tokens, values, look_up));
  } while (take(tokens, ","));
  expect(tokens, ")");
  return arguments;
}

std::vector<Value> parse_arguments_with_text(Lexer& tokens, Values& values, const LookUp& look_up) {
  std::vector<Value> arguments;
  expect(tokens, "(");
  if (take(tokens, ")")) return arguments;
  do {
    if (tokens.peek().kind != TokenKind::string) {
      arguments.push_back(parse_expression(tokens, values, look_up));
      continue;
    }
    std::string text;
    while (tokens.peek().kind == TokenKind::string) text += text_of_string(tokens.next());
    arguments.push_back(Values::number({tir::make_string(std::move(text))}));
  } while (take(tokens, ","));
  expect(tokens, ")");
  return arguments;
}

}  // namespace usmp::tvm_c

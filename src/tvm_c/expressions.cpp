// SPDX-License-Identifier: Apache-2.0
#include "tvm_c/expressions.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "tvm_c/literals.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

using tir::DataType;
using tir::TypeCode;

struct NamedType {
  std::string_view name;
  DataType type;
};
constexpr std::array<NamedType, 17> named_types = {{{"int8_t", {TypeCode::int_, 8, 1}},
                                                    {"int16_t", {TypeCode::int_, 16, 1}},
                                                    {"int32_t", {TypeCode::int_, 32, 1}},
                                                    {"int64_t", {TypeCode::int_, 64, 1}},
                                                    {"uint8_t", {TypeCode::uint, 8, 1}},
                                                    {"uint16_t", {TypeCode::uint, 16, 1}},
                                                    {"uint32_t", {TypeCode::uint, 32, 1}},
                                                    {"uint64_t", {TypeCode::uint, 64, 1}},
                                                    {"int", {TypeCode::int_, 32, 1}},
                                                    {"bool", {TypeCode::uint, 1, 1}},
                                                    {"_Bool", {TypeCode::uint, 1, 1}},
                                                    {"float", {TypeCode::float_, 32, 1}},
                                                    {"double", {TypeCode::float_, 64, 1}},
                                                    {"void", {TypeCode::void_, 0, 1}},
                                                    {"TVMValue", {TypeCode::void_, 0, 1}},
                                                    {"DLTensor", {TypeCode::void_, 0, 1}},
                                                    {"DLDeviceType", {TypeCode::void_, 0, 1}}}};

// "unsigned", "long long int": types of several words whose sizes are the same on all machines that TVM writes C for.
// Takes them. What is no such type, as "long" alone, stays.
std::optional<DataType> worded_type(Lexer& tokens) {
  Lexer ahead = tokens;
  std::size_t longs = 0;
  std::size_t signs = 0;
  bool is_unsigned = false;
  std::string_view base;
  while (true) {
    const Token word = ahead.peek();
    if (word.is("signed") || word.is("unsigned")) {
      ++signs;
      is_unsigned = word.is("unsigned");
    } else if (word.is("long")) {
      ++longs;
    } else if ((word.is("char") || word.is("short")) && base.empty()) {
      base = word.text;
    } else if (!word.is("int") || base == "char") {
      break;
    }
    (void)ahead.next();
  }
  const bool is_int = longs == 0 && base.empty() && signs == 1;
  const bool is_one = signs <= 1 && (is_int || (longs == 2 && base.empty()) ||
                                     (longs == 0 && (base == "short" || (base == "char" && signs == 1))));
  if (!is_one) return std::nullopt;
  tokens = std::move(ahead);
  const auto bits = static_cast<std::uint8_t>(longs == 2 ? 64 : base == "short" ? 16 : base == "char" ? 8 : 32);
  return DataType{is_unsigned ? TypeCode::uint : TypeCode::int_, bits, 1};
}

bool is_qualifier(std::string_view word) {
  return word == "const" || word == "volatile" || word == "restrict" || word == "__restrict__" || word == "__restrict";
}

void skip_qualifiers(Lexer& tokens) {
  while (tokens.peek().is_identifier() && is_qualifier(tokens.peek().text)) (void)tokens.next();
}

constexpr int choice_precedence = 0;
constexpr int prefix_precedence = 11;

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
    if (kind == Kind::infix) return precedence_of(token.text);
    return kind == Kind::choice ? choice_precedence : prefix_precedence;
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
      if (token.kind == TokenKind::punctuator && precedence_of(token.text) > 0) {
        reduce(precedence_of(token.text));
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

int precedence_of(std::string_view op) {
  constexpr std::array<std::pair<std::string_view, int>, 18> table = {{{"*", 10},
                                                                       {"/", 10},
                                                                       {"%", 10},
                                                                       {"+", 9},
                                                                       {"-", 9},
                                                                       {"<<", 8},
                                                                       {">>", 8},
                                                                       {"<", 7},
                                                                       {"<=", 7},
                                                                       {">", 7},
                                                                       {">=", 7},
                                                                       {"==", 6},
                                                                       {"!=", 6},
                                                                       {"&", 5},
                                                                       {"^", 4},
                                                                       {"|", 3},
                                                                       {"&&", 2},
                                                                       {"||", 1}}};
  const auto* found = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.first == op; });
  return found == table.end() ? -1 : found->second;
}

bool is_compound_assignment(std::string_view op) {
  constexpr std::array<std::string_view, 10> operators = {"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  return std::find(operators.begin(), operators.end(), op) != operators.end();
}

std::optional<CType> parse_type(Lexer& tokens) {
  Lexer ahead = tokens;
  skip_qualifiers(ahead);
  if (!ahead.peek().is_identifier()) return std::nullopt;
  CType type;
  if (take(ahead, "struct")) {
    if (!ahead.next().is_identifier()) return std::nullopt;
  } else if (const auto worded = worded_type(ahead)) {
    type.element = *worded;
  } else {
    const Token word = ahead.next();
    const auto* found =
        std::find_if(named_types.begin(), named_types.end(), [&](const NamedType& row) { return word.is(row.name); });
    if (found == named_types.end()) return std::nullopt;
    type.element = found->type;
  }
  while (true) {
    if (take(ahead, "*")) {
      ++type.stars;
    } else if (ahead.peek().is_identifier() && is_qualifier(ahead.peek().text)) {
      (void)ahead.next();
    } else {
      break;
    }
  }
  tokens = std::move(ahead);
  return type;
}

std::optional<DataType> parse_open_type(Lexer& tokens) {
  constexpr std::array<std::string_view, 5> of_unsigned = {"size_t", "uintptr_t", "uint_fast16_t", "uint_fast32_t",
                                                           "uint_least32_t"};
  constexpr std::array<std::string_view, 5> of_signed = {"ssize_t", "ptrdiff_t", "int_fast16_t", "int_fast32_t",
                                                         "int_least32_t"};
  Lexer ahead = tokens;
  skip_qualifiers(ahead);
  const auto is_word = [&](std::string_view name) { return ahead.peek().is(name); };
  bool is_unsigned = std::any_of(of_unsigned.begin(), of_unsigned.end(), is_word);
  if (is_unsigned || std::any_of(of_signed.begin(), of_signed.end(), is_word)) {
    (void)ahead.next();
  } else {
    is_unsigned = take(ahead, "unsigned");
    if (!take(ahead, "long")) return std::nullopt;
    (void)take(ahead, "int");
    if (ahead.peek().is("unsigned") || ahead.peek().is("long") || ahead.peek().is("double")) return std::nullopt;
  }
  skip_qualifiers(ahead);
  if (ahead.peek().is("*")) return std::nullopt;
  tokens = std::move(ahead);
  return is_unsigned ? DataType{TypeCode::uint, 32, 1} : tir::int64_type;
}

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

void expect(Lexer& tokens, std::string_view spelling) {
  const Token found = tokens.next();
  if (!found.is(spelling)) fail_at(found, "'" + std::string(spelling) + "'");
}

bool take(Lexer& tokens, std::string_view spelling) {
  if (!tokens.peek().is(spelling)) return false;
  (void)tokens.next();
  return true;
}

void skip_to_end(Lexer& tokens, std::size_t opened_at) {
  for (std::size_t depth = 1; depth > 0;) {
    const Token token = tokens.next();
    if (token.kind == TokenKind::end) throw SyntaxError{opened_at, "the bracket does not end"};
    if (token.kind != TokenKind::punctuator) continue;
    if (token.is("(") || token.is("{") || token.is("[")) ++depth;
    if (token.is(")") || token.is("}") || token.is("]")) --depth;
  }
}

void skip_bracketed(Lexer& tokens, std::string_view opening) {
  const std::size_t at = tokens.peek().offset;
  expect(tokens, opening);
  skip_to_end(tokens, at);
}

void skip_attributes(Lexer& tokens) {
  while (take(tokens, "__attribute__")) skip_bracketed(tokens, "(");
}

namespace {

// (4)
std::uint16_t alignment_in_brackets(Lexer& tokens) {
  constexpr std::int64_t most = 4096;
  expect(tokens, "(");
  const Token number = tokens.next();
  if (number.kind != TokenKind::number || is_real(number)) fail_at(number, "an alignment in bytes, as a number");
  const std::int64_t bytes = integer_literal(number).value;
  if (bytes < 1 || bytes > most || !std::has_single_bit(static_cast<std::uint64_t>(bytes))) {
    fail_at(number, "an alignment that is a power of two up to " + std::to_string(most));
  }
  expect(tokens, ")");
  return static_cast<std::uint16_t>(bytes);
}

}  // namespace

std::uint16_t take_alignment(Lexer& tokens) {
  Lexer inside = tokens;
  skip_attributes(tokens);
  std::uint16_t alignment = 1;
  while (inside.offset() < tokens.offset()) {
    const Token name = inside.next();
    if (!name.is("aligned") && !name.is("__aligned__")) continue;
    alignment = std::max(alignment, alignment_in_brackets(inside));
  }
  return alignment;
}

std::uint16_t take_aligned_macro(Lexer& tokens) {
  constexpr std::size_t prefix = 4;  // of "USMP_", whose last letter another reading has changed
  const Token& name = tokens.peek();
  if (!name.is_identifier() || !name.text.starts_with("USM") || name.text.substr(prefix) != "_ALIGNED_ARRAY") return 1;
  (void)tokens.next();
  return alignment_in_brackets(tokens);
}

void fail_at(const Token& found, std::string_view expected) {
  const std::string what = found.kind == TokenKind::end ? "the end of the file" : shown(found.text);
  throw SyntaxError{found.offset, "found " + what + ", expected " + std::string(expected)};
}

}  // namespace usmp::tvm_c

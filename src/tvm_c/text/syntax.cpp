// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes the pieces off the tokens.
#include "tvm_c/text/syntax.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "tvm_c/text/literals.hpp"
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

}  // namespace

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
    if (tokens.skip_numbers()) continue;
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

void expect_number(Lexer& tokens, std::int64_t number) {
  const Token token = tokens.next();
  if (token.kind != TokenKind::number || token.text != std::to_string(number)) {
    fail_at(token, "'" + std::to_string(number) + "'");
  }
}

std::int32_t expect_failure(Lexer& tokens) {
  const bool has_braces = take(tokens, "{");
  expect(tokens, "return");
  const bool has_brackets = take(tokens, "(");
  const bool is_negative = take(tokens, "-");
  const Token number = tokens.next();
  const bool is_number = number.kind == TokenKind::number && !is_real(number);
  const std::int64_t value = is_number ? integer_literal(number).value : 0;
  if (value < 1 || value > INT32_MAX) fail_at(number, is_negative ? "'1'" : "'-'");
  if (has_brackets) expect(tokens, ")");
  expect(tokens, ";");
  if (has_braces) expect(tokens, "}");
  return static_cast<std::int32_t>(is_negative ? -value : value);
}

std::optional<std::int32_t> expect_failure_with(Lexer& tokens, std::string_view name) {
  Lexer ahead = tokens;
  const bool has_braces = take(ahead, "{");
  expect(ahead, "return");
  const bool has_brackets = take(ahead, "(");
  if (!take(ahead, name)) return expect_failure(tokens);
  if (has_brackets) expect(ahead, ")");
  expect(ahead, ";");
  if (has_braces) expect(ahead, "}");
  tokens = std::move(ahead);
  return std::nullopt;
}

// (void* args, int32_t* arg_type_ids, int32_t num_args, void* out_ret_value, int32_t* out_ret_tcode, void*
// resource_handle)
bool takes_packed(Lexer params) {
  std::vector<std::string_view> names;
  do {
    if (!parse_type(params)) return false;
    const Token name = params.next();
    if (!name.is_identifier()) return false;
    names.push_back(name.text);
  } while (take(params, ","));
  return names.size() == 6 && names[0] == "args" && names[2] == "num_args";
}

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes the pieces off the tokens.
#include "tvm_c/text/syntax.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

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

void fail_at(const Token& found, std::string_view expected) {
  const std::string what = found.kind == TokenKind::end ? "the end of the file" : shown(found.text);
  throw SyntaxError{found.offset, "found " + what + ", expected " + std::string(expected)};
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

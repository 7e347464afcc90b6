// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Converts lists of numbers, many at once where they are plain.
#include "tvm_c/text/table_values.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/listed_numbers.hpp"
#include "tvm_c/text/literals.hpp"
#include "usmp/c/parser.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/integer_types.hpp"

namespace usmp::tvm_c {
namespace {

using tir::DataType;

constexpr std::int64_t max_zeros = 4096;  // for each value that is listed

// -0x80000000 is 2147483648: the literal is unsigned, and stays so.
std::uint64_t negated(const IntegerLiteral& literal) {
  const std::uint64_t bits = -static_cast<std::uint64_t>(literal.value);
  return literal.type.is_uint() && literal.type.bits == 32 ? static_cast<std::uint32_t>(bits) : bits;
}

void integer(const Token& token, bool is_negative, tir::Constant& data) {
  // What C makes of it is cut to 32 bits again where the table has no more.
  const bool is_wide = data.type.bits > 32;
  const IntegerLiteral literal = integer_literal(token);
  const auto bits = static_cast<std::uint64_t>(literal.value);
  const auto number = static_cast<std::int64_t>(!is_negative ? bits : is_wide ? negated(literal) : -bits);
  const auto range = tir::range_of_type(data.type);
  if (range && (number < range->low || number > range->high)) {
    throw SyntaxError{token.offset, "found " + std::string(is_negative ? "-" : "") + std::string(token.text) +
                                        ", which " + tir::to_string(data.type) + " does not hold"};
  }
  append_little_endian(data.bytes, static_cast<std::uint64_t>(number),
                       static_cast<std::size_t>(data.type.element_bytes()));
}

// 0x1f, 017
double whole_number(const Token& token, bool is_negative, bool is_float) {
  IntegerLiteral literal = integer_literal(token);
  if (is_negative) literal.value = static_cast<std::int64_t>(negated(literal));
  const auto converted = [&](auto integer) {
    return is_float ? static_cast<double>(static_cast<float>(integer)) : static_cast<double>(integer);
  };
  return literal.type.is_uint() ? converted(static_cast<std::uint64_t>(literal.value)) : converted(literal.value);
}

void real(const Token& token, bool is_negative, tir::Constant& data) {
  const bool is_float = data.type.bits == 32;
  double number = 0;
  if (token.is_identifier()) {
    number = token.is("NAN") ? __builtin_nan("") : __builtin_inf();
  } else if (is_real(token)) {
    number = real_literal(token, is_float);
  } else {
    number = whole_number(token, std::exchange(is_negative, false), is_float);
  }
  if (is_negative) number = -number;
  if (is_float) {
    append_little_endian(data.bytes, std::bit_cast<std::uint32_t>(static_cast<float>(number)), 4);
  } else {
    append_little_endian(data.bytes, std::bit_cast<std::uint64_t>(number), 8);
  }
}

void add_number(const Token& token, bool is_negative, tir::Constant& data) {
  if (data.type.is_float()) {
    real(token, is_negative, data);
  } else {
    integer(token, is_negative, data);
  }
}

// Adds the number that stands there; how many bytes it takes.
std::size_t one(const Token& list, std::size_t at, tir::Constant& data) {
  const std::size_t size = std::min(list.text.find(',', at), list.text.size() - 1) + 1 - at;
  std::vector<Token> tokens = c::lex_text(list.text.substr(at, size));  // with its comma
  for (Token& token : tokens) token.offset += list.offset + static_cast<std::uint32_t>(at);
  tokens.resize(tokens.size() + 2);
  const bool is_negative = tokens[0].is("-");
  const std::size_t sign = is_negative || tokens[0].is("+") ? 1 : 0;
  if (tokens[sign].kind != TokenKind::number) fail_at(tokens[sign], "a number");
  const Token& behind = tokens[sign + 1];
  if (!behind.is(",") && behind.kind != TokenKind::end) fail_at(behind, "',' or '}'");
  add_number(tokens[sign], is_negative, data);
  return size;
}

}  // namespace

TableValues::TableValues(const FileTree& file) : file_(file), tokens_(file.tokens), tree_(file.tree) {
  for (const c::Decl& decl : tree_.decls) {
    if (decl.kind == c::DeclKind::type && !c::is_word(decl.name)) types_.insert(decl.name);
  }
}

std::optional<CType> TableValues::plain_type(c::TypeId type, c::TokenRange spelled) const {
  for (std::size_t i = spelled.begin; i < spelled.end; ++i) {
    if (types_.contains(tokens_[i].text)) return std::nullopt;
  }
  return known_type(tree_, type);
}

std::shared_ptr<const tir::Constant> TableValues::of(c::ExprId id, DataType type,
                                                     std::optional<std::int64_t> given) const {
  const c::Expr& braces = tree_[id];
  const Token& brace = tokens_[braces.tokens.begin];
  require_no_directives(braces);
  if (braces.kind != c::ExprKind::braces)
    throw SyntaxError{brace.offset, "found values that are not understood, expected a list of numbers"};
  tir::Constant data;
  data.type = type;
  const std::int64_t most = given.value_or(max_pool);
  std::int64_t count = 0;
  const auto add_one = [&] {
    if (count++ == most) throw SyntaxError{brace.offset, "found more values than the array has elements"};
  };
  for (const c::ExprId value : tree_.operands_of(id)) {
    if (tree_[value].kind != c::ExprKind::numbers) {
      add_one();
      element(value, data);
      continue;
    }
    // As far as append_listed takes them many at once, then one that is spelled otherwise, and so on.
    const Token& list = tokens_[tree_[value].tokens.begin];
    for (std::size_t at = 0; at < list.text.size();) {
      at += many(list.text, at, most, count, data);
      if (list.text.find_first_not_of(" \t\r\n", at) == std::string_view::npos) break;
      add_one();
      at += one(list, at, data);
    }
  }
  const std::int64_t elements = given.value_or(count);
  data.shape = {elements};
  // C sets those that are not listed to zero. An array of nothing but these may be as large as it likes.
  if (count == 0 && elements > max_zeros) throw SyntaxError{brace.offset, "found an array without values"};
  if (count < elements && elements / (count + 1) > max_zeros) {
    throw SyntaxError{brace.offset, "found " + std::to_string(count) + " values of " + std::to_string(elements)};
  }
  data.bytes.resize(static_cast<std::size_t>(elements * type.bytes()), '\0');
  return std::make_shared<const tir::Constant>(std::move(data));
}

void TableValues::require_no_directives(const c::Expr& values) const {
  const Token& brace = tokens_[values.tokens.begin];
  if (has_directives(file_.code, brace.offset, end_of(tokens_[values.tokens.end - 1])))
    throw SyntaxError{brace.offset, "found constants with a directive inside, expected nothing but numbers"};
}

// Adds numbers of the list, and their count; how many bytes they take.
std::size_t TableValues::many(std::string_view list, std::size_t at, std::int64_t most, std::int64_t& count,
                              tir::Constant& data) const {
  constexpr std::size_t piece = std::size_t{1} << 20;
  const auto fewest_bytes = static_cast<std::int64_t>((list.size() - at) / 2);  // a digit and a comma for each
  if (at == 0)
    data.bytes.reserve(static_cast<std::size_t>((count + std::min(most - count, fewest_bytes)) * data.type.bytes()));
  const std::size_t begin = at;
  while (true) {  // a number that the piece cuts begins the next one
    const Listed more = append_listed(list.substr(0, at + piece), at, most - count, data);
    if (more.count == 0) return at - begin;
    if (file_.code.mapped != nullptr) file_.code.mapped->release(list.substr(at, more.end - at));
    at = more.end;
    count += more.count;
  }
}

// A number with its sign, perhaps behind casts that change nothing.
void TableValues::element(c::ExprId id, tir::Constant& data) const {
  bool is_negative = false;
  bool is_cast = false;
  // By the types of casts but the table's own.
  Interval held = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  while (true) {
    const c::Expr& expr = tree_[id];
    if (expr.kind == c::ExprKind::cast) {
      is_cast = true;
      const auto type = plain_type(expr.type, {expr.tokens.begin, tree_[tree_.operands_of(id)[0]].tokens.begin});
      const bool is_own = type && type->stars == 0 && type->element == data.type;
      const bool are_integers = type && type->stars == 0 && type->element.is_integer() && data.type.is_integer();
      const auto range = are_integers && !is_own ? tir::range_of_type(type->element) : std::nullopt;
      if (range) held = {std::max(held.low, range->low), std::min(held.high, range->high)};
      if (!is_own && !range) fail_at(tokens_[token_of(tokens_, expr)], "a cast to " + tir::to_string(data.type));
    } else if (expr.kind == c::ExprKind::prefix && expr.text == "-") {
      is_negative = !is_negative;
    } else if (expr.kind != c::ExprKind::prefix || expr.text != "+") {
      break;
    }
    id = tree_.operands_of(id)[0];
  }
  const Token& token = tokens_[token_of(tokens_, tree_[id])];
  const bool is_named = tree_[id].kind == c::ExprKind::name && (token.is("INFINITY") || token.is("NAN"));
  if (tree_[id].kind != c::ExprKind::number && !is_named) fail_at(token, "a number");
  if (is_cast && !is_named && !is_real(token)) {
    const IntegerLiteral literal = integer_literal(token);
    const bool is_changed = literal.value < held.low || literal.value > held.high ||
                            (is_negative && (literal.type.is_uint() || -literal.value < held.low));
    if (is_changed) fail_at(token, "a number that casts do not change");
  }
  add_number(token, is_negative, data);
}

}  // namespace usmp::tvm_c

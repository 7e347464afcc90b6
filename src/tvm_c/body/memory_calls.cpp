// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads the arguments, proves that whole elements are meant, and makes the loops.
#include "tvm_c/body/memory_calls.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tvm_c/body/walkers.hpp"
#include "tvm_c/text/constant_expression.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

using tir::DataType;
using tir::Tree;

constexpr std::string_view numbers_of_one_size = "pointers to numbers of one size";

// A bool has no other bytes than those of 0 and 1; memory may.
DataType accessed(DataType type) { return type.is_bool() ? tir::uint8_type : type; }

Value as(Value pointer, DataType type) {
  pointer.type = type;
  return pointer;
}

// (size_t) or (unsigned): sums and products of what they convert are the same where all types hold them.
bool take_plain_cast(Lexer& tokens) {
  Lexer ahead = tokens;
  if (!take(ahead, "(")) return false;
  if (!parse_open_type(ahead)) {
    const auto type = parse_type(ahead);
    if (!type || type->stars > 0 || !type->element.is_integer() || type->element.bits != 32) return false;
  }
  if (!take(ahead, ")")) return false;
  tokens = std::move(ahead);
  return true;
}

Tree without_factor_1(const Tree& value) {
  if (value.expr->kind != tir::ExprKind::mul) return value;
  if (tir::as_int(*value.expr->operands[1]) == 1) return {value.expr->operands[0], value.height};
  if (tir::as_int(*value.expr->operands[0]) == 1) return {value.expr->operands[1], value.height};
  return value;
}

// Up to a comma or the bracket that ends the arguments, which stays.
std::string_view take_argument(Lexer& tokens) {
  const std::size_t begin = tokens.peek().offset;
  std::size_t end = begin;
  for (std::size_t depth = 0;;) {
    const Token token = tokens.peek();
    if (token.kind == TokenKind::end || token.is(";")) fail_at(token, "')'");
    if (depth == 0 && (token.is(",") || token.is(")"))) break;
    if (token.is("(") || token.is("[")) ++depth;
    if (token.is(")") || token.is("]")) --depth;
    (void)tokens.next();
    end = tokens.end();
  }
  return tokens.text().substr(begin, end - begin);
}

}  // namespace

bool is_memory_function(std::string_view name) { return name == "memcpy" || name == "memmove" || name == "memset"; }

void MemoryCalls::read(Lexer& tokens, const Token& name, const IsParam& is_param) {
  const bool is_fill = name.is("memset");
  expect(tokens, "(");
  const Value to = parse_expression(tokens, values_, look_up_);
  expect(tokens, ",");
  const Value second = parse_expression(tokens, values_, look_up_);
  expect(tokens, ",");
  const std::string_view size = take_argument(tokens);
  expect(tokens, ")");
  expect(tokens, ";");
  values_.at = name.offset;
  if (to.kind != Value::Kind::pointer || (!is_fill && second.kind != Value::Kind::pointer)) {
    fail_at(name, numbers_of_one_size);
  }
  DataType written = accessed(to.type);
  DataType read = is_fill ? written : accessed(second.type);
  if (written.is_void()) written = read;
  if (read.is_void()) read = written;
  if (written.is_void()) written = read = tir::uint8_type;
  const bool are_alike = written == read || (written.is_integer() && read.is_integer() && written.bits == read.bits);
  const auto is_moved_void = [](const Value& value) { return value.type.is_void() && value.tree.expr != nullptr; };
  if (!are_alike || written.lanes != 1 || is_moved_void(to) || (!is_fill && is_moved_void(second))) {
    fail_at(name, numbers_of_one_size);
  }
  const Tree elements = count(size, written.bytes(), name);
  if (is_fill) return fill(fixed_pointer(as(to, written), names_, values_, body_), second, elements, name);
  const bool is_backwards = name.is("memmove") && goes_backwards(to, second, is_param, name);
  copy(fixed_pointer(as(to, written), names_, values_, body_), fixed_pointer(as(second, read), names_, values_, body_),
       elements, is_backwards);
}

// (type), (*p), (p[0]) or (array), behind the word.
std::optional<Bytes> MemoryCalls::size_of(Lexer& tokens) {
  if (!take(tokens, "(")) return std::nullopt;
  if (const auto type = parse_type(tokens)) {
    if (type->stars > 0 || type->element.is_void() || !take(tokens, ")")) return std::nullopt;
    return type->element.bytes();
  }
  const bool is_element = take(tokens, "*");
  const Token name = tokens.next();
  const auto value = name.is_identifier() ? look_up_(name.text) : std::nullopt;
  bool is_indexed = false;
  if (value && !is_element && take(tokens, "[")) {
    is_indexed = tokens.next().text == "0" && take(tokens, "]");
    if (!is_indexed) return std::nullopt;
  }
  if (!value || value->kind != Value::Kind::pointer || !take(tokens, ")")) return std::nullopt;
  if (is_element || is_indexed) return value->type.is_void() ? std::nullopt : std::optional(value->type.bytes());
  const auto array = arrays_.find(value->storage);
  const bool is_whole = array != arrays_.end() && value->tree.expr == nullptr;
  return is_whole ? std::optional(array->second) : std::nullopt;
}

// Sums and products give the same for all types that hold them, so that the type of sizeof does not matter.
Tree MemoryCalls::count(std::string_view text, Bytes width, const Token& at) {
  struct Part {
    std::string text;
    std::optional<Bytes> size;  // of sizeof, outside of brackets
  };
  std::vector<Part> parts;
  bool is_product = true;
  bool has_others = false;
  std::size_t depth = 0;
  Lexer tokens(text);
  while (tokens.peek().kind != TokenKind::end) {
    if (take(tokens, "sizeof")) {
      const auto size = size_of(tokens);
      if (!size) fail_at(at, "sizeof of a type, an element or an array of the function");
      parts.push_back({std::to_string(*size), depth == 0 ? size : std::nullopt});
      continue;
    }
    if (take_plain_cast(tokens)) continue;
    const Token token = tokens.next();
    if (token.is("(") || token.is("[")) ++depth;
    if (token.is(")") || token.is("]")) --depth;
    if (depth == 0 && (token.is("+") || token.is("-"))) is_product = false;
    const bool is_plain = token.is_identifier() || token.kind == TokenKind::number || token.is("(") || token.is(")") ||
                          token.is("[") || token.is("]") || token.is("+") || token.is("-") || token.is("*");
    has_others = has_others || !is_plain;
    parts.push_back({std::string(token.text), std::nullopt});
  }
  const auto joined = [&] {
    std::string result;
    for (const Part& part : parts) result += part.text + " ";
    return result;
  };
  const ConstantNames constants = {
      .definition = nullptr, .enumerator = [&](std::string_view name) -> std::optional<std::int64_t> {
        const auto value = look_up_(name);
        return value && value->kind == Value::Kind::number ? tir::as_int(*value->tree.expr) : std::nullopt;
      }};
  if (const auto bytes = constant_value(joined(), constants)) {
    if (*bytes < 0 || *bytes > INT32_MAX || *bytes % width != 0) fail_at(at, "a whole number of elements");
    return {tir::make_int(*bytes / width)};
  }
  if (has_others) fail_at(at, "a size that is a number, or a sum or product of numbers");
  if (width > 1) {
    const auto whole = std::find_if(parts.begin(), parts.end(), [&](const Part& part) {
      return part.size && *part.size > 0 && *part.size % width == 0;
    });
    if (!is_product || whole == parts.end()) fail_at(at, "a size in elements, n * sizeof(element)");
    whole->text = std::to_string(*whole->size / width);
  }
  const std::string plain = joined();
  try {
    Lexer expression(plain);
    const Tree elements = values_.rvalue(parse_expression(expression, values_, look_up_));
    values_.at = at.offset;
    if (expression.peek().kind != TokenKind::end || elements.expr->type != tir::int32_type) {
      fail_at(at, "a size of ints");
    }
    return fixed(without_factor_1(elements), names_, values_, body_);  // the loop would compute it in each iteration
  } catch (const SyntaxError& error) {
    throw SyntaxError{at.offset, error.message};
  }
}

void MemoryCalls::fill(const Value& place, const Value& value, const Tree& count, const Token& at) {
  const DataType type = place.type;
  const auto number = tir::as_int(*values_.rvalue(value).expr);
  const std::int64_t byte = number ? *number & 0xff : -1;
  Value element;
  if (byte == 0 && type.is_float()) {
    element = Values::number({tir::make_float(0, type)});
  } else if (byte == 0 || (byte == 0xff && type.is_int())) {
    element = Values::number({tir::make_int(byte == 0 ? 0 : -1, type)});
  } else if (type.bytes() > 1) {
    fail_at(at, "a value of 0, or elements of one byte");
  } else if (number) {
    element = Values::number({tir::make_int(type.is_int() && byte > 127 ? byte - 256 : byte, type)});
  } else {
    element = values_.cast({tir::uint8_type, 0}, value);
  }
  if (tir::as_int(*count.expr) == 0) return;
  if (type.bytes() == 1 && !number) {  // C computes it once
    const tir::VarId var = names_.new_var("value", tir::uint8_type, tir::void_type);
    body_.let(var, element.tree.expr);
    element = values_.variable(var);
  }
  const tir::VarId i = names_.new_var("i", tir::int32_type, tir::void_type);
  body_.open_loop(i, tir::make_int(0), count.expr);
  const Value to = values_.element(place, values_.variable(i));
  body_.add({to.storage, to.tree.expr, values_.converted(element, type).expr, nullptr});
  body_.close();
}

void MemoryCalls::copy(const Value& to, const Value& from, const Tree& count, bool is_backwards) {
  if (tir::as_int(*count.expr) == 0) return;
  const tir::VarId i = names_.new_var("i", tir::int32_type, tir::void_type);
  body_.open_loop(i, tir::make_int(0), count.expr);
  Value at = values_.variable(i);
  if (is_backwards) {
    at = values_.binary("-", values_.binary("-", Values::number(count), Values::number({tir::make_int(1)})), at);
  }
  const Value target = values_.element(to, at);
  const Value element = values_.element(from, at);
  body_.add({target.storage, target.tree.expr, values_.converted(element, to.type).expr, nullptr});
  body_.close();
}

// From the last element on, so that none is read that has been written.
bool MemoryCalls::goes_backwards(const Value& to, const Value& from, const IsParam& is_param, const Token& at) const {
  if (to.storage != from.storage) {
    if (is_param(to.storage) && is_param(from.storage)) fail_at(at, "memcpy between two parameters");
    return false;
  }
  const auto index = [](const Value& value) {
    return value.tree.expr == nullptr ? std::optional<std::int64_t>(0) : tir::as_int(*value.tree.expr);
  };
  if (!index(to) || !index(from)) fail_at(at, "places whose distance is a number");
  return *index(to) > *index(from);
}

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// Tests: tests/tvm_c/reader_test.cpp.
#include "tvm_c/array_extent.hpp"

#include <cstddef>

#include "tvm_c/expressions.hpp"
#include "tvm_c/literals.hpp"

namespace usmp::tvm_c {
namespace {

class ExtentReader {
 public:
  ExtentReader(const Lexer& tokens, const NumberOf& number_of) : tokens_(tokens), number_of_(number_of) {}

  std::optional<std::int64_t> run() {
    const auto value = sum(0);
    return tokens_.peek().is("]") ? value : std::nullopt;
  }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): brackets are at most max_depth deep
  std::optional<std::int64_t> sum(std::size_t depth) {
    auto result = product(depth);
    while (result && (tokens_.peek().is("+") || tokens_.peek().is("-"))) {
      const bool is_minus = tokens_.next().is("-");
      const auto other = product(depth);
      if (!other) return std::nullopt;
      result = counted(is_minus ? *result - *other : *result + *other);
    }
    return result;
  }

  // NOLINTNEXTLINE(misc-no-recursion): brackets are at most max_depth deep
  std::optional<std::int64_t> product(std::size_t depth) {
    auto result = factor(depth);
    while (result && take(tokens_, "*")) {
      const auto other = factor(depth);
      if (!other) return std::nullopt;
      result = counted(*result * *other);
    }
    return result;
  }

  // NOLINTNEXTLINE(misc-no-recursion): brackets are at most max_depth deep
  std::optional<std::int64_t> factor(std::size_t depth) {
    constexpr std::size_t max_depth = 16;
    const Token token = tokens_.next();
    if (token.kind == TokenKind::number && !is_real(token)) return counted(integer_literal(token).value);
    if (token.is_identifier() && number_of_) {
      const auto number = number_of_(token.text);
      return number ? counted(*number) : std::nullopt;
    }
    if (!token.is("(") || depth == max_depth) return std::nullopt;
    const auto inner = sum(depth + 1);
    return take(tokens_, ")") ? inner : std::nullopt;
  }

  // Products of two such numbers fit into 64 bits.
  static std::optional<std::int64_t> counted(std::int64_t value) {
    return value >= 0 && value < max_pool ? std::optional(value) : std::nullopt;
  }

  Lexer tokens_;
  const NumberOf& number_of_;
};

}  // namespace

std::optional<std::int64_t> array_extent(const Lexer& tokens, const NumberOf& number_of) {
  try {
    return ExtentReader(tokens, number_of).run();
  } catch (const SyntaxError&) {
    return std::nullopt;
  }
}

}  // namespace usmp::tvm_c

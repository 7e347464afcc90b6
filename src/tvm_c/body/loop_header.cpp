// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads first value, condition and step, in whatever form, as begin and count.
#include "tvm_c/body/loop_header.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "tvm_c/text/literals.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

IntegerLiteral whole_number(const Token& number) {
  if (is_real(number)) fail_at(number, "a whole number");
  return integer_literal(number);
}

Token swapped(Token compare) {
  if (compare.is("<")) {
    compare.text = ">";
  } else if (compare.is("<=")) {
    compare.text = ">=";
  } else if (compare.is(">")) {
    compare.text = "<";
  } else if (compare.is(">=")) {
    compare.text = "<=";
  }
  return compare;
}

// ++i, i++, i += 2, i = i + 2, and the same downwards.
std::int64_t take_step(Lexer& tokens, const Token& name) {
  for (const std::string_view sign : {"++", "--"}) {
    if (!take(tokens, sign)) continue;
    expect(tokens, name.text);
    return sign == "++" ? 1 : -1;
  }
  expect(tokens, name.text);
  const Token op = tokens.next();
  if (op.is("++") || op.is("--")) return op.is("++") ? 1 : -1;
  bool is_up = op.is("+=");
  if (op.is("=")) {
    expect(tokens, name.text);
    is_up = tokens.peek().is("+");
    if (!is_up && !tokens.peek().is("-")) fail_at(tokens.peek(), "'+'");
    (void)tokens.next();
  } else if (!is_up && !op.is("-=")) {
    fail_at(op, "'++'");
  }
  const Token by = tokens.next();
  if (by.kind != TokenKind::number) fail_at(by, "a number");
  const std::int64_t step = whole_number(by).value;
  if (step < 1 || step > INT32_MAX) fail_at(by, "a step of at least 1");
  return is_up ? step : -step;
}

}  // namespace

LoopHeader take_loop_header(Lexer& tokens, Values& values, const LookUp& look_up) {
  LoopHeader header;
  expect(tokens, "(");
  if (const auto type = parse_type(tokens)) {
    if (type->stars > 0 || !type->element.is_integer()) fail_at(tokens.peek(), "a loop over an integer");
    header.type = type->element;
  } else {
    header.type = parse_open_type(tokens);
    header.is_open = header.type.has_value();
  }
  header.name = tokens.next();
  if (!header.name.is_identifier()) fail_at(header.name, "the loop's variable");
  expect(tokens, "=");
  header.first = parse_expression(tokens, values, look_up);
  expect(tokens, ";");
  const bool has_end_in_front = tokens.peek().kind == TokenKind::number;  // 16 > i
  if (has_end_in_front) {
    const IntegerLiteral number = whole_number(tokens.next());
    header.end = Values::number({tir::make_int(number.value, number.type)});
    header.compare = swapped(tokens.next());
  }
  expect(tokens, header.name.text);
  if (!has_end_in_front) header.compare = tokens.next();
  constexpr std::array<std::string_view, 5> comparisons = {"<", "<=", ">", ">=", "!="};
  if (std::ranges::count(comparisons, header.compare.text) == 0) fail_at(header.compare, "'<'");
  if (!has_end_in_front) header.end = parse_expression(tokens, values, look_up);
  expect(tokens, ";");
  header.step = take_step(tokens, header.name);
  expect(tokens, ")");
  return header;
}

std::int64_t iterations_of(const LoopHeader& header, tir::DataType counter, std::int64_t first, std::int64_t end) {
  const Token& compare = header.compare;
  const auto range = counter.bits < 64 ? tir::range_of_type(counter) : Interval{0, INT32_MAX};
  const Interval values{std::max<std::int64_t>(range->low, INT32_MIN), std::min<std::int64_t>(range->high, INT32_MAX)};
  const auto holds = [&](std::int64_t value) { return values.low <= value && value <= values.high; };
  const bool is_up = header.step > 0;
  const std::int64_t by = is_up ? header.step : -header.step;
  const bool fits = holds(first) && holds(end);
  std::int64_t distance = !fits ? 0 : is_up ? end - first : first - end;
  if (compare.is("<=") || compare.is(">=")) ++distance;
  const bool is_right_way = compare.is("!=") ? distance >= 0 && distance % by == 0
                            : is_up          ? compare.is("<") || compare.is("<=")
                                             : compare.is(">") || compare.is(">=");
  const std::int64_t count = distance > 0 ? (distance + by - 1) / by : 0;
  if (!fits || !is_right_way || !holds(first + count * header.step)) fail_at(compare, "a loop that ends");
  return count;
}

void check_loops(const tir::Function& function, std::size_t offset) {
  tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
    const auto* loop = std::get_if<tir::For>(&stmt.node);
    if (loop == nullptr) return;
    std::set<tir::VarId> loaded;
    tir::for_each_expr(*loop->extent, [&](const tir::Expr& expr) {
      if (expr.kind == tir::ExprKind::load) loaded.insert(expr.var);
    });
    if (loaded.empty()) return;
    const auto refuse = [&](tir::VarId var) {
      if (loaded.contains(var)) throw SyntaxError{offset, "found a loop that changes its own end"};
    };
    tir::for_each_stmt(loop->body, [&](const tir::Stmt& inside) {
      if (const auto* store = std::get_if<tir::Store>(&inside.node)) refuse(store->storage);
      tir::for_each_expr_of(inside, [&](const tir::ExprRef& root) {
        tir::for_each_expr(*root, [&](const tir::Expr& expr) {
          if (expr.kind == tir::ExprKind::var) refuse(expr.var);
          if (expr.op == tir::Op::address_of) refuse(expr.operands[0]->var);
        });
      });
    });
  });
}

}  // namespace usmp::tvm_c

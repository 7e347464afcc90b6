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

void require_name(const Expressions& code, c::ExprId id, const Token& name) {
  if (code.name_of(id) != name.text) fail_at(code.front(id), "'" + std::string(name.text) + "'");
}

// ++i, i++, i += 2, i = i + 2, and the same downwards.
std::int64_t step_of(const Expressions& code, c::ExprId root, const Token& name) {
  const c::Expr& expr = code[root];
  if (!is_step(expr) && expr.kind != c::ExprKind::assign) fail_at(code.at(root), "'++'");
  require_name(code, code.operand(root, 0), name);
  if (is_step(expr)) return expr.text == "++" ? 1 : -1;
  c::ExprId by = code.operand(root, 1);
  bool is_up = expr.text == "+=";
  if (expr.text == "=") {
    is_up = code.is_binary(by, "+");
    if (!is_up && !code.is_binary(by, "-")) fail_at(code.at(by), "'+'");
    require_name(code, code.operand(by, 0), name);
    by = code.operand(by, 1);
  } else if (!is_up && expr.text != "-=") {
    fail_at(code.at(root), "'++'");
  }
  if (code[by].kind != c::ExprKind::number) fail_at(code.front(by), "a number");
  const std::int64_t step = whole_number(code.at(by)).value;
  if (step < 1 || step > INT32_MAX) fail_at(code.at(by), "a step of at least 1");
  return is_up ? step : -step;
}

}  // namespace

LoopHeader read_loop_header(const c::Stmt& stmt, Expressions& code) {
  LoopHeader header;
  const Token& open = code.token(stmt.tokens.begin + 1);
  if (stmt.other.size() != 1 || !stmt.expr.valid() || !stmt.step.valid()) {
    fail_at(open, "a loop with a counter, its end and a step");
  }
  const c::Stmt& init = code[stmt.other[0]];
  c::ExprId first;
  if (init.kind == c::StmtKind::declaration) {
    if (init.decls.empty()) fail_at(code.token(init.tokens.begin), "the loop's variable");
    const c::Decl& counter = code.tree()[init.decls[0]];
    header.name = code.token(counter.at);
    code.require_plain(counter);
    header.type = open_type(code.tree(), counter.type);
    header.is_open = header.type.has_value();
    const CType type = header.is_open ? CType{*header.type, 0} : code.type(counter.type, counter.tokens.begin);
    if (type.stars > 0 || !type.element.is_integer()) fail_at(header.name, "a loop over an integer");
    header.type = type.element;
    if (!counter.init.valid() || init.decls.size() > 1) fail_at(code.token(counter.declarator.end), "'='");
    first = counter.init;
  } else {
    if (init.kind != c::StmtKind::expression || code[init.expr].kind != c::ExprKind::assign) fail_at(open, "'='");
    header.name = code.front(init.expr);
    require_name(code, code.operand(init.expr, 0), header.name);
    if (code[init.expr].text != "=") fail_at(code.at(init.expr), "'='");
    first = code.operand(init.expr, 1);
  }
  header.first = code.evaluate(first);
  constexpr std::array<std::string_view, 5> comparisons = {"<", "<=", ">", ">=", "!="};
  const c::Expr& condition = code[stmt.expr];
  if (condition.kind != c::ExprKind::binary || std::ranges::count(comparisons, condition.text) == 0) {
    fail_at(code.at(stmt.expr), "'<'");
  }
  header.compare = code.at(stmt.expr);
  const c::ExprId left = code.operand(stmt.expr, 0);
  const c::ExprId right = code.operand(stmt.expr, 1);
  const bool has_end_in_front = code[left].kind == c::ExprKind::number;  // 16 > i
  require_name(code, has_end_in_front ? right : left, header.name);
  if (has_end_in_front) header.compare = swapped(header.compare);
  header.end = code.evaluate(has_end_in_front ? left : right);
  header.step = step_of(code, stmt.step, header.name);
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

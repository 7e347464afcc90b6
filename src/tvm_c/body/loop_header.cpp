// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads first value, end and step as begin and count.
#include "tvm_c/body/loop_header.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <variant>

#include "tvm_c/text/syntax.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

using tir::DataType;
using tir::Tree;

void require_name(const Expressions& code, c::ExprId id, const Token& name) {
  if (code.name_of(id) != name.text) fail_at(code.front(id), "'" + std::string(name.text) + "'");
}

// Also types that differ in their sign alone, which C lets alias, too.
bool may_overlap(DataType a, DataType b) {
  const auto with_sign = [](DataType type) {
    if (type.is_uint()) type.code = tir::TypeCode::int_;
    return type;
  };
  return tir::may_alias(with_sign(a), with_sign(b));
}

}  // namespace

OpenedLoop open_loop(const c::Stmt& stmt, Expressions& code, Values& values, BodyNames& names, tir::BodyBuilder& body) {
  const Token& open = code.token(stmt.tokens.begin + 1);
  if (stmt.other.size() != 1 || !stmt.expr.valid() || !stmt.step.valid()) {
    fail_at(open, "a loop with a counter, its end and a step");
  }
  const c::Stmt& init = code[stmt.other[0]];
  if (init.kind != c::StmtKind::declaration || init.decls.size() != 1) {
    fail_at(code.token(init.tokens.begin), "the loop's variable");
  }
  const c::Decl& decl = code.tree()[init.decls[0]];
  const Token& name = code.token(decl.at);
  code.require_plain(decl);
  const CType type = code.type(decl.type, decl.tokens.begin);
  const DataType counter = type.element;
  if (type.stars > 0 || !counter.is_integer() || counter.bits < 32) fail_at(name, "a loop over 32 or 64 bits");
  if (!decl.init.valid()) fail_at(code.token(decl.declarator.end), "'='");
  if (!code.is_binary(stmt.expr, "<")) fail_at(code.at(stmt.expr), "'<'");
  require_name(code, code.operand(stmt.expr, 0), name);
  if (!is_step(code[stmt.step]) || code[stmt.step].text != "++") fail_at(code.at(stmt.step), "'++'");
  require_name(code, code.operand(stmt.step, 0), name);

  const Tree min = values.converted(code.evaluate(decl.init), counter);
  const Value end = code.evaluate(code.operand(stmt.expr, 1));
  const Token& compare = code.at(stmt.expr);
  values.at = compare.offset;
  const Tree bound = values.rvalue(end);
  const DataType compared = bound.expr->type;
  const auto first = tir::as_int(*min.expr);
  const auto last = tir::as_int(*bound.expr);
  const auto range = counter.bits < 64 ? tir::range_of_type(counter) : Interval{INT64_MIN, INT64_MAX};
  // Another end would come of one that is converted.
  const bool is_held =
      last ? range->low <= *last && *last <= range->high : compared.is_integer() && compared.bits <= counter.bits;
  // C would compare as numbers without a sign, whose difference may not be below 0: a + n is behind a.
  const bool goes_on = first == 0 || (first && last && *first <= *last) ||
                       (bound.expr->kind == tir::ExprKind::add && tir::is_same(*bound.expr->operands[0], *min.expr));
  const bool is_unsigned = compared.is_uint() && compared.bits >= 32;
  const bool is_compared = counter.is_uint() ? goes_on : !is_unsigned || (first && *first >= 0 && last && *last >= 0);
  if (!is_compared) fail_at(compare, "two numbers with a sign");
  if (!is_held) fail_at(compare, "an end that the counter's type holds");
  Tree extent = values.converted(end, counter);
  if (first != 0) {
    extent = values.converted(values.binary("-", Values::number(extent), Values::number(min)), counter);
  }
  const tir::VarId var = names.new_var(name.text, counter, tir::void_type);
  body.open_loop(var, min.expr, extent.expr);
  return {name, values.variable(var)};
}

void check_loops(const tir::Function& function, std::size_t offset) {
  std::set<tir::VarId> own;
  tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
    if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) own.insert(allocate->var);
    if (const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) own.insert(constant->var);
  });
  tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
    const auto* loop = std::get_if<tir::For>(&stmt.node);
    if (loop == nullptr) return;
    std::multimap<tir::VarId, DataType> loaded;
    tir::for_each_expr(*loop->extent, [&](const tir::Expr& expr) {
      if (expr.kind == tir::ExprKind::load) loaded.emplace(expr.var, expr.type);
    });
    if (loaded.empty()) return;
    const auto refuse = [&](tir::VarId var) {
      if (loaded.contains(var)) throw SyntaxError{offset, "found a loop that changes its own end"};
    };
    // A call may give one buffer as two parameters.
    const auto refuse_write = [&](tir::VarId var, DataType type) {
      refuse(var);
      const bool may_be_one = !own.contains(var) && std::ranges::any_of(loaded, [&](const auto& end) {
        return !own.contains(end.first) && may_overlap(end.second, type);
      });
      if (may_be_one) throw SyntaxError{offset, "found a loop that writes to where its end may be"};
    };
    tir::for_each_stmt(loop->body, [&](const tir::Stmt& inside) {
      if (const auto* store = std::get_if<tir::Store>(&inside.node)) refuse_write(store->storage, store->value->type);
      tir::for_each_expr_of(inside, [&](const tir::ExprRef& root) {
        tir::for_each_expr(*root, [&](const tir::Expr& expr) {
          if (expr.kind == tir::ExprKind::var) refuse(expr.var);
          if (expr.kind == tir::ExprKind::var && expr.type.is_handle()) refuse_write(expr.var, tir::uint8_type);
          if (expr.op == tir::Op::address_of) refuse_write(expr.operands[0]->var, tir::uint8_type);
        });
      });
    });
  });
}

}  // namespace usmp::tvm_c

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Counts how often each term stands in a sum, with signs and literal factors, and drops those that come to 0.
#include "codegen/cancelled_terms.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "codegen/facts.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::codegen {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;

constexpr std::size_t most_terms = 16;

std::optional<std::int64_t> literal(const Expr& expr) {
  return tir::as_int(expr.kind == ExprKind::broadcast ? *expr.operands[0] : expr);
}

ExprRef zero(tir::DataType type) {
  ExprRef scalar = tir::make_int(0, type.element());
  if (!type.is_vector()) return scalar;
  Expr expr;
  expr.kind = ExprKind::broadcast;
  expr.type = type;
  expr.operands = {std::move(scalar)};
  return std::make_shared<const Expr>(std::move(expr));
}

struct Term {
  ExprRef expr;  // as it stands in the sum
  bool subtracted = false;
  const Expr* factor = nullptr;  // expr, or what a literal is multiplied with
  std::int64_t times = 0;        // with the sign of the sum
};

// Nothing: too many, or a literal that is too large to count with.
std::optional<std::vector<Term>> terms_of(const Expr& sum) {
  struct Part {
    ExprRef expr;
    bool subtracted;
  };
  const auto operands = [](const Expr& expr, bool subtracted) {
    return std::vector<Part>{{expr.operands[1], subtracted != (expr.kind == ExprKind::sub)},
                             {expr.operands[0], subtracted}};
  };
  std::vector<Term> terms;
  std::vector<Part> parts = operands(sum, false);
  while (!parts.empty()) {
    const Part part = std::move(parts.back());
    parts.pop_back();
    const Expr& expr = *part.expr;
    if (expr.kind == ExprKind::add || expr.kind == ExprKind::sub) {
      for (Part& inner : operands(expr, part.subtracted)) parts.push_back(std::move(inner));
      if (parts.size() > most_terms) return std::nullopt;
      continue;
    }
    Term term{part.expr, part.subtracted, &expr, 1};
    if (expr.kind == ExprKind::mul) {
      const bool is_first = literal(*expr.operands[0]).has_value();
      const auto times = literal(*expr.operands[is_first ? 0 : 1]);
      if (times) {
        if (*times > INT32_MAX || *times < INT32_MIN) return std::nullopt;
        term.times = *times;
        term.factor = expr.operands[is_first ? 1 : 0].get();
      }
    }
    if (part.subtracted) term.times = -term.times;
    terms.push_back(std::move(term));
    if (terms.size() > most_terms) return std::nullopt;
  }
  return terms;
}

}  // namespace

ExprRef without_cancelled_terms(const Expr& expr) {
  if (expr.kind != ExprKind::add && expr.kind != ExprKind::sub) return nullptr;
  const auto terms = terms_of(expr);
  if (!terms) return nullptr;
  const auto cancels = [&](const Term& term) {
    std::int64_t times = 0;
    std::size_t count = 0;
    for (const Term& other : *terms) {
      if (!tir::is_same(*other.factor, *term.factor)) continue;
      times += other.times;
      ++count;
    }
    return count > 1 && times == 0 && !has_side_effects(*term.factor);
  };
  ExprRef rest;
  bool is_shorter = false;
  for (const Term& term : *terms) {
    if (cancels(term)) {
      is_shorter = true;
      continue;
    }
    if (!rest && term.subtracted) rest = zero(expr.type);
    rest = !rest ? term.expr : tir::make_binary(term.subtracted ? ExprKind::sub : ExprKind::add, rest, term.expr);
  }
  if (!is_shorter) return nullptr;
  return rest ? rest : zero(expr.type);
}

}  // namespace usmp::codegen

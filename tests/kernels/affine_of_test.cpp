// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Indices as sums, on random indices against the values that they have.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "kernels/product_sum.hpp"
#include "planning_support/random_problem.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::kernels::affine_of_test {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;

constexpr std::size_t loops = 3;
using Values = std::array<std::int64_t, loops>;

std::int64_t down(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// NOLINTBEGIN(misc-no-recursion): of a few levels.
std::int64_t value_of(const Expr& expr, const Values& values) {
  const auto operand = [&](std::size_t i) { return value_of(*expr.operands[i], values); };
  switch (expr.kind) {
    case ExprKind::int_imm:
      return expr.int_value;
    case ExprKind::var:
      return values.at(expr.var.index());
    case ExprKind::cast:
      return operand(0);
    case ExprKind::add:
      return operand(0) + operand(1);
    case ExprKind::sub:
      return operand(0) - operand(1);
    case ExprKind::mul:
      return operand(0) * operand(1);
    case ExprKind::div:
      return operand(0) / operand(1);
    case ExprKind::mod:
      return operand(0) % operand(1);
    case ExprKind::floor_div:
      return down(operand(0), operand(1));
    case ExprKind::floor_mod:
      return operand(0) - down(operand(0), operand(1)) * operand(1);
    case ExprKind::min:
      return std::min(operand(0), operand(1));
    default:
      return std::max(operand(0), operand(1));
  }
}

std::int64_t value_of(const arith::Affine& sum, const Values& values) {
  std::int64_t result = sum.constant;
  for (const auto& [atom, factor] : sum.terms) {
    if (atom.kind == arith::Atom::Kind::var) {
      result += factor * values.at(atom.var.index());
      continue;
    }
    const std::int64_t whole = value_of(*atom.whole, values);
    const std::int64_t quotient = down(whole, atom.by);
    result += factor * (atom.kind == arith::Atom::Kind::quotient ? quotient : whole - quotient * atom.by);
  }
  return result;
}

class Indices {
 public:
  Indices(const tir::Module& module, std::uint64_t seed) : module_(module), random_(seed) {}

  ExprRef make(std::size_t depth) {
    if (depth == 0 || random_.below(6) == 0) {
      const ExprRef variable = tir::make_var(module_, VarId(random_.below(loops)));
      return random_.below(4) == 0 ? number(9) : variable;
    }
    constexpr ExprKind kinds[] = {ExprKind::add, ExprKind::add, ExprKind::add,       ExprKind::sub,      ExprKind::sub,
                                  ExprKind::mul, ExprKind::mul, ExprKind::div,       ExprKind::div,      ExprKind::mod,
                                  ExprKind::min, ExprKind::max, ExprKind::floor_div, ExprKind::floor_mod};
    const ExprKind kind = kinds[random_.below(std::size(kinds))];
    if (tir::is_division(kind)) return tir::make_binary(kind, make(depth - 1), number(4));
    if (kind == ExprKind::mul && random_.below(4) != 0) {
      const ExprRef value = make(depth - 1);
      return random_.below(4) == 0 ? tir::make_binary(kind, number(5), value)
                                   : tir::make_binary(kind, value, number(5));
    }
    return tir::make_binary(kind, make(depth - 1), make(depth - 1));
  }

 private:
  ExprRef number(std::size_t most) { return tir::make_int(1 + static_cast<std::int64_t>(random_.below(most))); }

  const tir::Module& module_;
  test::ProblemMaker random_;
};
// NOLINTEND(misc-no-recursion)

// What a sum leaves out is decided by the variables that it names.
TEST_CASE("an index is its sum and something that depends on the variables inside alone") {
  tir::Module module;
  for (std::size_t i = 0; i < loops; ++i) module.vars.push_back({"i", tir::int32_type, tir::void_type, ""});
  constexpr std::array<std::int64_t, loops> first = {0, -3, 0};
  constexpr std::int64_t count = 5;
  arith::Facts facts(module);
  for (std::size_t i = 0; i < loops; ++i) {
    facts.bind_interval(VarId(i), Interval{first.at(i), first.at(i) + count - 1});
  }
  Indices indices(module, 3);
  std::size_t sums = 0;
  std::size_t partial = 0;
  for (int run = 0; run < 5000; ++run) {
    const ExprRef index = indices.make(1 + static_cast<std::size_t>(run) % 5);
    std::set<VarId> inside;
    const auto sum = affine_of(index, facts, inside);
    if (!sum) continue;
    ++sums;
    if (!inside.empty()) ++partial;
    std::map<Values, std::int64_t> rest;  // by the values of the variables inside
    bool is_so = true;
    for (std::int64_t place = 0; place < count * count * count; ++place) {
      const Values values = {first[0] + place % count, first[1] + place / count % count,
                             first[2] + place / (count * count)};
      Values key = values;
      for (std::size_t i = 0; i < loops; ++i) {
        if (!inside.contains(VarId(i))) key.at(i) = 0;
      }
      const std::int64_t left = value_of(*index, values) - value_of(*sum, values);
      is_so = is_so && rest.emplace(key, left).first->second == left;
    }
    if (inside.empty()) is_so = is_so && rest.begin()->second == 0;
    CAPTURE(run);
    CHECK(is_so);
  }
  CHECK(sums > 2500);
  CHECK(partial > 250);
}

}  // namespace
}  // namespace usmp::kernels::affine_of_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pairs of comparisons of one value: which decides the other, against all values.
#include "codegen/logic.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "tir_support/module_builder.hpp"

namespace usmp::codegen::logic_test {

using tir::ExprKind;
using tir::ExprRef;

TEST_CASE("conditions that decide each other: every pair of comparisons, against all values") {
  tir::testing::ModuleBuilder b;
  const ExprRef i = b.var(b.integer("i"));
  const std::vector<ExprKind> kinds = {ExprKind::eq, ExprKind::ne, ExprKind::lt,
                                       ExprKind::le, ExprKind::gt, ExprKind::ge};
  struct Comparison {
    ExprKind kind;
    int limit;
    bool is_left;  // the literal
    [[nodiscard]] bool holds(int value) const {
      const int x = is_left ? limit : value;
      const int y = is_left ? value : limit;
      switch (kind) {
        case ExprKind::eq:
          return x == y;
        case ExprKind::ne:
          return x != y;
        case ExprKind::lt:
          return x < y;
        case ExprKind::le:
          return x <= y;
        case ExprKind::gt:
          return x > y;
        default:
          return x >= y;
      }
    }
  };
  std::vector<Comparison> all;
  for (const ExprKind kind : kinds) {
    for (const int limit : {-1, 0, 1, 2}) {
      for (const bool is_left : {false, true}) all.push_back({kind, limit, is_left});
    }
  }
  const auto expr = [&](const Comparison& one) {
    const ExprRef limit = tir::make_int(one.limit);
    return tir::make_binary(one.kind, one.is_left ? limit : i, one.is_left ? i : limit);
  };
  for (const ExprKind chain : {ExprKind::and_, ExprKind::or_}) {
    for (const Comparison& one : all) {
      for (const Comparison& other : all) {
        bool ever = false;
        bool always = true;
        bool is_first = true;
        bool is_second = true;
        for (int value = -4; value <= 5; ++value) {
          const bool x = one.holds(value);
          const bool y = other.holds(value);
          const bool both = chain == ExprKind::and_ ? x && y : x || y;
          ever = ever || both;
          always = always && both;
          is_first = is_first && both == x;
          is_second = is_second && both == y;
        }
        const Logic found = logic_of(*tir::make_binary(chain, expr(one), expr(other)));
        const bool is_right = (found == Logic::never && !ever) || (found == Logic::always && always) ||
                              (found == Logic::first && is_first) || (found == Logic::second && is_second) ||
                              (found == Logic::both && ever && !always && !is_first && !is_second) ||
                              (found == Logic::both && chain == ExprKind::and_ && always);
        CHECK_MESSAGE(is_right, static_cast<int>(found) << " for " << static_cast<int>(one.kind) << ' ' << one.limit
                                                        << ' ' << one.is_left << ", " << static_cast<int>(other.kind)
                                                        << ' ' << other.limit << ' ' << other.is_left);
      }
    }
  }
}

TEST_CASE("conditions that decide each other: only of one value, and with nothing else beside them") {
  tir::testing::ModuleBuilder b;
  const ExprRef i = b.var(b.integer("i"));
  const ExprRef j = b.var(b.integer("j"));
  const auto below = [](const ExprRef& value, int limit) {
    return tir::make_binary(ExprKind::lt, value, tir::make_int(limit));
  };
  const auto equal = [](const ExprRef& value, int limit) {
    return tir::make_binary(ExprKind::eq, value, tir::make_int(limit));
  };
  const auto both = [](ExprRef p, ExprRef q) { return tir::make_binary(ExprKind::and_, std::move(p), std::move(q)); };
  CHECK(logic_of(*both(equal(i, 1), below(j, 1))) == Logic::both);
  CHECK(logic_of(*both(equal(i, 1), below(i, 1))) == Logic::never);
  CHECK(logic_of(*both(both(equal(j, 0), equal(i, 1)), below(i, 1))) == Logic::never);
  CHECK(logic_of(*both(equal(i, 1), below(i, 9))) == Logic::first);
  CHECK(logic_of(*both(below(i, 9), equal(i, 1))) == Logic::second);
  CHECK(logic_of(*both(both(below(i, 9), below(j, 9)), equal(i, 1))) == Logic::both);
  const ExprRef unknown = tir::make_binary(ExprKind::lt, i, j);
  CHECK(logic_of(*both(equal(i, 1), both(below(i, 9), unknown))) == Logic::both);
}

}  // namespace usmp::codegen::logic_test

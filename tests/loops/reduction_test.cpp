// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Stores that add to their own element, and near misses.
#include "usmp/loops/reduction.hpp"

#include <doctest/doctest.h>

#include "tir_support/module_builder.hpp"

namespace usmp::loops::reduction_test {
namespace {

using namespace tir::testing;  // the words for expressions
using tir::ExprRef;
using tir::VarId;

struct Fixture : ModuleBuilder {
  VarId a = pointer("a", i32);
  VarId b = pointer("b", i32);
  VarId i = integer("i");
  ExprRef term = load(b, var(i));

  [[nodiscard]] tir::Store to_a(ExprRef value) const {
    return std::get<tir::Store>(store(a, add(var(i), 1), std::move(value)).node);
  }
  [[nodiscard]] ExprRef before() const { return load(a, add(var(i), 1)); }
};

TEST_CASE_FIXTURE(Fixture, "reductions: a sum with the element that it overwrites, which may stand on either side") {
  const tir::Store first = to_a(add(before(), term));
  CHECK(adds_to_element(first, 0));
  CHECK_FALSE(adds_to_element(first, 1));
  CHECK(added_term(first) == term.get());
  const tir::Store second = to_a(add(term, before()));
  CHECK_FALSE(adds_to_element(second, 0));
  CHECK(adds_to_element(second, 1));
  CHECK(added_term(second) == nullptr);
}

TEST_CASE_FIXTURE(Fixture, "reductions: neither another element, nor another storage, nor anything but a sum") {
  for (const ExprRef& value : {add(load(a, var(i)), term), add(load(b, add(var(i), 1)), term), sub(before(), term),
                               mul(before(), term), before(), term}) {
    CHECK_FALSE(adds_to_element(to_a(value), 0));
    CHECK(added_term(to_a(value)) == nullptr);
  }
}

TEST_CASE_FIXTURE(Fixture, "reductions: a store under a predicate may leave its element") {
  tir::Store store = to_a(add(before(), term));
  store.predicate = less(var(i), 3);
  CHECK_FALSE(adds_to_element(store, 0));
  tir::Expr load = *before();
  load.operands.push_back(less(var(i), 3));
  CHECK_FALSE(adds_to_element(to_a(add(tir::make_expr(load), term)), 0));
}

TEST_CASE_FIXTURE(Fixture, "reductions: the element is of the type that is added") {
  const ExprRef narrow = tir::make_load(i16, a, add(var(i), 1));
  CHECK_FALSE(adds_to_element(to_a(make_operator(tir::ExprKind::add, i32, {narrow, term})), 0));
}

}  // namespace
}  // namespace usmp::loops::reduction_test

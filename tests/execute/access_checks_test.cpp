// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which accesses of the reference are checked, and with which limits.
#include "execute/access_checks.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tir_support/module_builder.hpp"
#include "usmp/tir/verify.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::execute::access_checks_test {
namespace {

using tir::Expr;
using tir::ExprRef;
using tir::VarId;
using tir::testing::block;
using tir::testing::ModuleBuilder;
using Texts = std::vector<std::string>;

// An entry with a tensor `x` of eight bytes, a buffer `a` of four and a constant `k` of three; a function `f` with a
// pointer `p`.
struct One : ModuleBuilder {
  VarId x = pointer("x");
  VarId a = pointer("a");
  VarId k = pointer("k");
  VarId p = pointer("p");
  VarId q = pointer("q");
  VarId i = integer("i");

  [[nodiscard]] ExprRef of_data() const { return tir::make_cast(tir::int32_type, load(x, 0)); }

  // "0..3 function 'main' loads element 9 of 'k', …": the limits of each check, and what is said of index 9.
  Texts checks(tir::Block body, tir::Block of_f = {}) {
    tir::Block all = block(allocate(a, 4), constant(k, "abc"));
    for (tir::Stmt& stmt : body) all.push_back(std::move(stmt));
    function("f", {p}, std::move(of_f));
    entry({x}, std::move(all));
    const CheckedModule checked = with_access_checks(build());
    CHECK(!tir::find_fault(checked.module));
    Texts found;
    for (const tir::Function& function : checked.module.functions) {
      tir::for_each_expr_in(function.body, [&](const Expr& expr) {
        const auto call = tir::named_call(expr);
        if (!call || *call->name != index_check) return;
        const auto number = [&](std::size_t n) { return tir::as_int(*call->arguments[n]).value(); };
        found.push_back(std::to_string(number(1)) + ".." + std::to_string(number(2)) + " " +
                        outside_text(checked.accesses.at(static_cast<std::size_t>(number(3))), 9));
      });
    }
    return found;
  }
};

}  // namespace

TEST_CASE_FIXTURE(One, "access checks: what ranges prove is not checked") {
  CHECK(checks(block(loop(i, 4, block(store(a, var(i), load(x, var(i))))), set(a), evaluate(load(k, 2)))).empty());
}

TEST_CASE_FIXTURE(One, "access checks: an index that depends on data") {
  CHECK(checks(block(evaluate(load(k, of_data())), store(a, of_data(), load(x, 1)))) ==
        Texts{"0..3 function 'main' loads element 9 of 'k', which has 3 elements",
              "0..4 function 'main' stores element 9 of 'a', which has 4 elements"});
}

TEST_CASE_FIXTURE(One, "access checks: one more than there is") {
  CHECK(checks(block(loop(i, 5, block(evaluate(load(a, var(i))))))) ==
        Texts{"0..4 function 'main' loads element 9 of 'a', which has 4 elements"});
}

TEST_CASE_FIXTURE(One, "access checks: one in front") {
  const auto before = tir::make_binary(tir::ExprKind::sub, var(i), tir::make_int(1));
  CHECK(checks(block(loop(i, 4, block(evaluate(load(a, before)))))) ==
        Texts{"0..4 function 'main' loads element 9 of 'a', which has 4 elements"});
}

TEST_CASE_FIXTURE(One, "access checks: an index within an index") {
  const auto inner = tir::make_cast(tir::int32_type, load(k, of_data()));
  CHECK(checks(block(evaluate(load(a, inner)))) ==
        Texts{"0..4 function 'main' loads element 9 of 'a', which has 4 elements",
              "0..3 function 'main' loads element 9 of 'k', which has 3 elements"});
}

TEST_CASE_FIXTURE(One, "access checks: wider elements are fewer") {
  const auto wide = tir::make_load(tir::DataType{tir::TypeCode::int_, 16, 1}, k, of_data());
  CHECK(checks(block(evaluate(wide))) == Texts{"0..1 function 'main' loads element 9 of 'k', which has 1 element"});
}

TEST_CASE_FIXTURE(One, "access checks: all lanes of a vector") {
  tir::Expr ramp;
  ramp.kind = tir::ExprKind::ramp;
  ramp.type = tir::int32_type.with_lanes(4);
  ramp.operands = {of_data(), tir::make_int(2)};
  const auto vector = tir::make_load(tir::testing::int8_type.with_lanes(4), x, tir::make_expr(ramp));
  CHECK(checks(block(evaluate(vector))) == Texts{"0..2 function 'main' loads element 9 of 'x', which has 8 elements"});
}

TEST_CASE_FIXTURE(One, "access checks: a parameter is what is passed, the largest of it") {
  const auto one = [&] { return block(evaluate(load(p, tir::make_cast(tir::int32_type, load(p, 0))))); };
  SUBCASE("whole") {
    CHECK(checks(block(call("f", {k})), one()) ==
          Texts{"0..3 function 'f' loads element 9 of 'p', which has 3 elements"});
  }
  SUBCASE("from its middle") {
    CHECK(checks(block(call("f", {address_of(x, 2)})), one()) ==
          Texts{"-2..6 function 'f' loads element 9 of 'p', which has 8 elements, from -2 on"});
  }
  SUBCASE("two sizes") {
    CHECK(checks(block(call("f", {a}), call("f", {k})), one()) ==
          Texts{"0..4 function 'f' loads element 9 of 'p', which has 4 elements"});
  }
  SUBCASE("two sizes, the smaller one first") {
    CHECK(checks(block(call("f", {k}), call("f", {a})), one()) ==
          Texts{"0..4 function 'f' loads element 9 of 'p', which has 4 elements"});
  }
  SUBCASE("a place that is not known") {
    CHECK(checks(block(call("f", {a}), call("f", {address_of(x, of_data())})), one()).empty());
  }
  SUBCASE("through a pointer of its own") {
    CHECK(checks(block(let(q, address_of(x, 2)), evaluate(load(q, of_data())))) ==
          Texts{"-2..6 function 'main' loads element 9 of 'q', which has 8 elements, from -2 on"});
  }
}

}  // namespace usmp::execute::access_checks_test

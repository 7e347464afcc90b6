// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Nests that store no element twice, against all their iterations.
#include "usmp/loops/injective_nest.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "tir_support/c_value.hpp"
#include "tir_support/module_builder.hpp"

namespace usmp::loops::injective_nest_test {
namespace {

using namespace tir::testing;  // the words for expressions
using tir::ExprRef;
using tir::VarId;

// for i in [2, 6): for j in [0, 4): t[…] = 1
struct Fixture : ModuleBuilder {
  VarId t = pointer("t");
  VarId i = integer("i");
  VarId j = integer("j");
  arith::Facts facts{module()};

  [[nodiscard]] std::optional<InjectiveNest> nest(const ExprRef& index, std::int64_t columns = 4) {
    return injective_nest(statement(block(store(t, index, imm(1, i8))), columns), facts);
  }
  [[nodiscard]] tir::Stmt statement(tir::Block body, std::int64_t columns = 4) const {
    return {tir::For{i, imm(2), imm(4), block(loop(j, columns, std::move(body)))}};
  }
  // The iteration of an element; nothing: none is known.
  [[nodiscard]] std::optional<std::map<VarId, std::int64_t>> iteration(const InjectiveNest& nest,
                                                                       std::int64_t element) const {
    const auto counts = counts_at(nest, arith::Affine{.terms = {}, .constant = element}, facts);
    if (!counts) return std::nullopt;
    std::map<VarId, std::int64_t> values;
    for (std::size_t at = 0; at < nest.loops.size(); ++at) values[nest.loops[at].var] = (*counts)[at].constant;
    return values;
  }
  // Every element has the iteration that stores it, and no other has any.
  void check(const ExprRef& index) {
    const auto found = nest(index);
    REQUIRE(found);
    std::set<std::int64_t> stored;
    for (std::int64_t row = 2; row < 6; ++row) {
      for (std::int64_t column = 0; column < 4; ++column) {
        const std::map<VarId, std::int64_t> values = {{i, row}, {j, column}};
        const std::int64_t element = c_value(*index, values).value();
        CHECK(stored.insert(element).second);
        CHECK(iteration(*found, element) == values);
      }
    }
    for (std::int64_t element = -20; element < 100; ++element) {
      if (!stored.contains(element)) CHECK_FALSE(iteration(*found, element));
    }
  }
};

TEST_CASE_FIXTURE(Fixture, "injective nests: each element has its iteration") {
  check(add(mul(var(i), 4), var(j)));
  check(add(mul(var(j), 5), var(i)));
  check(add(add(mul(var(i), 9), mul(var(j), 2)), 3));  // with elements in between that no iteration stores
}

TEST_CASE_FIXTURE(Fixture, "injective nests: what may store an element twice is none") {
  CHECK_FALSE(nest(add(mul(var(i), 3), var(j))));
  CHECK_FALSE(nest(mul(var(i), 4)));
  CHECK_FALSE(nest(sub(mul(var(i), 4), var(j))));
  CHECK_FALSE(nest(add(mul(var(i), 4), sub(var(j), quotient(var(j), 2)))));           // 0, 1, 1, 2
  CHECK_FALSE(nest(add(mul(var(i), 4), add(var(j), mul(remainder(var(i), 3), 2)))));  // rows in steps
}

TEST_CASE_FIXTURE(Fixture, "injective nests: an interval is stored only by loops that run, under no condition") {
  const ExprRef index = add(mul(var(i), 4), var(j));
  CHECK(nest(index)->dense_elements() == Interval{8, 23});
  CHECK_FALSE(nest(index, 0));
  const auto guarded =
      injective_nest(statement(block(when(less(var(j), 3), block(store(t, index, imm(1, i8)))))), facts);
  REQUIRE(guarded);
  CHECK_FALSE(guarded->dense_elements());
}

}  // namespace
}  // namespace usmp::loops::injective_nest_test

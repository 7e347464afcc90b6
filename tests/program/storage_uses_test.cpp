// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loads, stores and mentions of single statements, counted.
#include "usmp/program/storage_uses.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "tir_support/module_builder.hpp"

namespace usmp::program::storage_uses_test {
namespace {

using tir::VarId;
using tir::testing::block;
using tir::testing::int8_type;

struct Fixture : tir::testing::ModuleBuilder {
  VarId a = pointer("a");
  VarId b = pointer("b");
  VarId i = integer("i");

  // How these statements use the variable.
  static StorageUse use_of(VarId var, const tir::Block& body) {
    const auto uses = storage_uses(body);
    const auto found = uses.find(var);
    return found == uses.end() ? StorageUse{} : found->second;
  }
};

TEST_CASE_FIXTURE(Fixture, "places are counted, of the blocks inside too") {
  const StorageUse use = use_of(a, block(copy(a, a), loop(i, 8, block(store(b, load(a, var(i)), load(a, 1))))));
  CHECK(use.loads == 3);
  CHECK(use.stores == 1);
  CHECK(use.mentions == 0);
  CHECK(use.types == std::vector{int8_type});
  CHECK(use.is_of_scalars());
}

TEST_CASE_FIXTURE(Fixture, "what is not used has no use, and numbers are no storage") {
  CHECK(storage_uses(block(allocate(a, 8))).empty());
  CHECK(storage_uses(block(evaluate(var(i)))).empty());
  CHECK(use_of(a, {}).is_of_scalars());
}

TEST_CASE_FIXTURE(Fixture, "types in order of appearance, each once") {
  const tir::ExprRef wide = tir::make_load(tir::int32_type, a, tir::make_int(0));
  const StorageUse use = use_of(a, block(evaluate(wide), set(a), evaluate(wide)));
  CHECK(use.types == std::vector{tir::int32_type, int8_type});
  CHECK_FALSE(use.is_of_scalars());
}

TEST_CASE_FIXTURE(Fixture, "the pointer itself") {
  const StorageUse passed = use_of(a, block(call("f", {a, b}), let(b, var(a))));
  CHECK(passed.mentions == 2);
  CHECK_FALSE(passed.is_of_scalars());
}

TEST_CASE_FIXTURE(Fixture, "the address of an element") {
  const StorageUse use = use_of(a, block(call("f", {address_of(a, 3)})));
  CHECK(use.has_addresses);
  CHECK(use.loads == 1);
  CHECK_FALSE(use.is_of_scalars());
}

TEST_CASE_FIXTURE(Fixture, "predicates") {
  SUBCASE("of a store") {
    tir::Stmt some = set(a);
    std::get<tir::Store>(some.node).predicate = load(b, 0);
    CHECK(use_of(a, block(some)).has_predicates);
    CHECK(use_of(a, block(some, set(a))).has_predicates);
    CHECK_FALSE(use_of(b, block(some)).has_predicates);
  }
  SUBCASE("of a load") {
    tir::Expr some = *load(a, 0);
    some.operands.push_back(load(b, 0));
    CHECK(use_of(a, block(evaluate(tir::make_expr(some)))).has_predicates);
  }
}

TEST_CASE_FIXTURE(Fixture, "vectors") {
  const auto index = tir::testing::make_operator(tir::ExprKind::ramp, tir::int32_type.with_lanes(4),
                                                 {tir::make_int(0), tir::make_int(1)});
  const auto value = tir::make_load(int8_type.with_lanes(4), b, index);
  const tir::Block body = block(store(a, index, value));
  CHECK(use_of(a, body).has_vectors);
  CHECK(use_of(b, body).has_vectors);
  CHECK(use_of(a, block(store(a, index, value), set(a))).has_vectors);
  CHECK_FALSE(use_of(b, body).is_of_scalars());
}

}  // namespace
}  // namespace usmp::program::storage_uses_test

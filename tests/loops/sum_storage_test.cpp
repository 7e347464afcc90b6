// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Storage that nothing else reaches: parameters and arrays on the stack, with near misses.
#include "usmp/loops/sum_storage.hpp"

#include <doctest/doctest.h>

#include "tir_support/module_builder.hpp"

namespace usmp::loops::sum_storage_test {
namespace {

using namespace tir::testing;  // the words for expressions
using tir::VarId;

// An operator with a parameter that nothing else reaches, one that something may, an array on the stack, workspace, and
// a pointer into one of them.
struct Operator : ModuleBuilder {
  VarId alone = pointer("alone", i32);
  VarId other = pointer("other", i32);
  VarId array = pointer("array", i32);
  VarId workspace = pointer("workspace", i32);
  VarId view = pointer("view", i32);
  VarId i = integer("i");

  [[nodiscard]] tir::Function with(tir::Block body) {
    tir::Stmt local = allocate(array, 4);
    std::get<tir::Allocate>(local.node).on_stack = true;
    std::get<tir::Allocate>(local.node).was_on_stack = true;
    body.insert(body.begin(), {std::move(local), allocate(workspace, 4)});
    function("op", {alone, other}, std::move(body));
    tir::Function made = module().functions.back();
    made.params[0].no_alias = true;
    return made;
  }
};

TEST_CASE_FIXTURE(Operator, "sums in arrays on the stack are as alone as in a parameter that nothing else reaches") {
  const SumStorage storage(with(block(store(array, var(i), load(other, var(i))))));
  CHECK(storage.is_alone(alone));
  CHECK(storage.is_alone(array));
  for (const VarId shared : {other, workspace, view}) CHECK_FALSE(storage.is_alone(shared));
}

TEST_CASE_FIXTURE(Operator, "sums in arrays on the stack may read whatever else there is") {
  const SumStorage storage(with(block(store(array, var(i), load(other, var(i))))));
  for (const VarId read : {alone, other, workspace, view}) CHECK(storage.may_read(*load(read, var(i)), array));
  CHECK_FALSE(storage.may_read(*load(array, var(i)), array));
  // What is no parameter could be the parameter's memory.
  for (const VarId read : {other, array}) CHECK(storage.may_read(*load(read, var(i)), alone));
  for (const VarId read : {alone, workspace, view}) CHECK_FALSE(storage.may_read(*load(read, var(i)), alone));
}

TEST_CASE_FIXTURE(Operator, "sums in arrays on the stack: not if a pointer to the array goes anywhere") {
  SUBCASE("to a function") {
    CHECK_FALSE(SumStorage(with(block(call("f", std::vector<VarId>{array})))).is_alone(array));
  }
  SUBCASE("into a variable") {
    CHECK_FALSE(SumStorage(with(block(tir::Stmt{tir::Let{view, var(array)}}))).is_alone(array));
  }
  SUBCASE("as the address of an element") {
    CHECK_FALSE(SumStorage(with(block(tir::Stmt{tir::Let{view, address_of(array, var(i))}}))).is_alone(array));
  }
}

}  // namespace
}  // namespace usmp::loops::sum_storage_test

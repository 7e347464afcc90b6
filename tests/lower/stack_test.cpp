// SPDX-License-Identifier: Apache-2.0
// The estimate of whole networks is held against GCC's frames in tests/e2e/stack.py.
#include "usmp/lower/stack.hpp"

#include <doctest/doctest.h>

#include <variant>
#include <vector>

#include "tir_support/module_builder.hpp"

namespace usmp::lower::stack_test {
namespace {

using tir::VarId;
using tir::testing::block;
using tir::testing::ModuleBuilder;

tir::Module operators(bool is_on_stack) {
  ModuleBuilder b;
  const VarId p = b.pointer("p");
  const VarId q = b.pointer("q");
  const VarId in = b.pointer("in");
  const auto array = [&](VarId var, std::int64_t bytes) {
    tir::Stmt stmt = b.allocate(var, bytes);
    std::get<tir::Allocate>(stmt.node).was_on_stack = true;
    std::get<tir::Allocate>(stmt.node).on_stack = is_on_stack;
    return stmt;
  };
  b.function("op", {p}, block(array(b.pointer("a"), 100)));
  b.function("op2", {q}, block(array(b.pointer("b"), 60)));
  b.entry({in}, block(b.call("op", std::vector<VarId>{in}), b.call("op2", std::vector<VarId>{in})));
  return b.build();
}

TEST_CASE("arrays on the stack count, of all functions") {
  CHECK(stack_estimate(operators(true)) >= stack_estimate(operators(false)) + 160);
}

}  // namespace
}  // namespace usmp::lower::stack_test

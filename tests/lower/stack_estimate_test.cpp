// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The estimate of whole networks is held against GCC's frames in tests/e2e/stack.py.
#include "usmp/lower/stack_estimate.hpp"

#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "tir_support/module_builder.hpp"

namespace usmp::lower::stack_test {
namespace {

using tir::VarId;
using tir::testing::block;
using tir::testing::ModuleBuilder;

// op has 100 bytes of arrays, op2 60, and op2 calls op3, which has 7; or each has one element.
tir::Module operators(bool has_arrays, const std::vector<std::string>& apart = {}, bool has_runs = false) {
  ModuleBuilder b;
  const VarId p = b.pointer("p");
  const VarId q = b.pointer("q");
  const VarId r = b.pointer("r");
  const VarId in = b.pointer("in");
  const auto array = [&](VarId var, std::int64_t bytes) {
    tir::Stmt stmt = b.allocate(var, has_arrays ? bytes : 1);
    std::get<tir::Allocate>(stmt.node).was_on_stack = true;
    std::get<tir::Allocate>(stmt.node).on_stack = true;
    return stmt;
  };
  b.function("op", {p}, block(array(b.pointer("a"), 100)));
  b.function("op2", {q}, block(array(b.pointer("b"), 60), b.call("op3", std::vector<VarId>{q})));
  b.function("op3", {r}, block(array(b.pointer("c"), 7)));
  b.entry({in}, block(b.call("op", std::vector<VarId>{in}), b.call("op2", std::vector<VarId>{in})));
  tir::Module module = b.build();
  if (has_runs) {
    const tir::ExprRef run = tir::make_call(tir::int32_type, tir::Op::dot_run, {});
    module.functions[*module.find("op3")].body.push_back({tir::Evaluate{run}});
  }
  for (const std::string& name : apart) module.functions[*module.find(name)].keep_apart = true;
  return module;
}

Bytes estimate(const tir::Module& module) { return stack_estimate(module, Registers::unknown); }

Bytes bytes_of_arrays(const std::vector<std::string>& apart) {
  return estimate(operators(true, apart)) - estimate(operators(false, apart));
}

TEST_CASE("arrays on the stack count, of all functions that may be inlined") { CHECK(bytes_of_arrays({}) == 167); }

TEST_CASE("arrays on the stack count more where runs of products are added up") {
  CHECK(estimate(operators(true, {}, true)) - estimate(operators(false, {}, true)) == 167 + 64);
  CHECK(estimate(operators(false, {}, true)) > estimate(operators(false)));
}

// A loop that stores this.
Bytes of_loop(const tir::ExprRef& value, Registers registers) {
  ModuleBuilder b;
  const VarId p = b.pointer("p");
  const VarId i = b.integer("i");
  b.entry({p}, block(b.loop(i, 4, block(b.store(p, b.var(i), value)))));
  return stack_estimate(b.build(), registers);
}

TEST_CASE("a named core needs what was measured of it") {
  const tir::ExprRef one = tir::make_int(1, tir::testing::int8_type);
  CHECK(of_loop(one, Registers::of_32_bits) == 32 + 10 * 3);  // p, i and what walks along with it
  CHECK(of_loop(one, Registers::helium) == 60 + 12 * 3);
  CHECK(of_loop(one, Registers::unknown) == of_loop(one, Registers::of_32_bits));
  const tir::ExprRef real = tir::make_float(1, {tir::TypeCode::float_, 32});
  CHECK(of_loop(real, Registers::of_32_bits) == of_loop(one, Registers::of_32_bits));
  CHECK(of_loop(real, Registers::helium) == 80 + 30 * 3);
  CHECK(of_loop(real, Registers::unknown) == of_loop(one, Registers::unknown));
}

TEST_CASE("of functions that are kept apart those count that call each other") {
  CHECK(bytes_of_arrays({"op", "op2"}) == 107);
  CHECK(bytes_of_arrays({"op2"}) == 167);
  CHECK(bytes_of_arrays({"op", "op3"}) == 160);
  CHECK(bytes_of_arrays({"op2", "op3"}) == 167);
  CHECK(bytes_of_arrays({"op", "op2", "op3"}) == 100);
}

}  // namespace
}  // namespace usmp::lower::stack_test

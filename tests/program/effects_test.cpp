// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Effects on parameters through aliases and calls, a letter for each.
#include "usmp/program/effects.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tir_support/module_builder.hpp"
#include "usmp/support/error.hpp"

namespace usmp::program::effects_test {
namespace {

using tir::VarId;
using tir::testing::block;
using tir::testing::ModuleBuilder;

// What is done to each parameter: "r" read, "w" written, "e" escapes, "-" nothing.
std::string effects_of(const tir::Module& module, const std::string& function) {
  std::string all;
  const auto found = param_effects(module);
  for (const ParamEffects& effects : found[*module.find(function)]) {
    std::string one = effects.is_read ? "r" : "";
    if (effects.is_written) one += "w";
    if (effects.escapes) one += "e";
    all += (all.empty() ? "" : " ") + (one.empty() ? "-" : one);
  }
  return all;
}

TEST_CASE("effects follow aliases and calls") {
  ModuleBuilder b;
  const auto a = b.pointer("a");
  const auto p = b.pointer("p");
  const auto q = b.pointer("q");
  const auto r = b.pointer("r");
  b.function("leaf", {p, q, r}, block(b.let(a, b.address_of(q, 1)), b.copy(a, p)));
  const auto s = b.pointer("s");
  const auto t = b.pointer("t");
  const auto u = b.pointer("u");
  b.function("middle", {s, t, u}, block(b.call("leaf", {s, u, t})));
  const auto n = b.pointer("n");
  b.function("npu", {n}, {}, "cmsis-nn");
  const auto in = b.pointer("in");
  const auto in2 = b.pointer("in2");
  const auto out = b.pointer("out");
  const auto w = b.pointer("w");
  b.entry({in, in2, out, w}, block(b.call("middle", {in, in2, out}), b.call("npu", {w})));
  const tir::Module module = b.build();
  CHECK(effects_of(module, "leaf") == "r w -");
  CHECK(effects_of(module, "middle") == "r - w");
  CHECK(effects_of(module, "main") == "r - w rw");
  CHECK(effects_of(module, "npu") == "rw");
}

// One function of parameters x, y and z.
struct One : ModuleBuilder {
  VarId x = pointer("x");
  VarId y = pointer("y");
  VarId z = pointer("z");
  VarId p = pointer("p");

  std::string effects(tir::Block body) {
    entry({x, y, z}, std::move(body));
    return effects_of(build(), "main");
  }
};

TEST_CASE_FIXTURE(One, "of several effects all count, whichever is last") {
  const auto h = pointer("h", tir::handle_type);
  SUBCASE("of accesses") { CHECK(effects(block(copy(y, x), set(x), evaluate(load(y, 0)))) == "rw rw -"); }
  SUBCASE("of pointers") {
    CHECK(effects(block(allocate(h, 1), store(h, 0, var(x)), set(x), evaluate(load(x, 0)))) == "rwe - -");
  }
}

TEST_CASE_FIXTURE(One, "a selection between pointers may be either") {
  const auto either = tir::testing::make_operator(tir::ExprKind::select, tir::handle_type,
                                                  {tir::make_int(1, tir::bool_type), var(x), var(y)});
  CHECK(effects(block(let(p, either), set(p))) == "w w -");
}

TEST_CASE_FIXTURE(One, "a pointer that is bound again is what it was bound to last") {
  CHECK(effects(block(scope(block(let(p, var(x)), set(p))), scope(block(let(p, var(y)), copy(z, p))))) == "w r w");
}

TEST_CASE_FIXTURE(One, "an extern function may write, a pointer in memory may be written through") {
  const auto h = pointer("h", tir::handle_type);
  const std::string found = effects(block(call("library", {x}), allocate(h, 1), store(h, 0, var(y))));
  CHECK(found == "rw e -");
  CHECK(param_effects(module())[0][1].may_be_written());
  CHECK_FALSE(param_effects(module())[0][2].may_be_written());
}

TEST_CASE_FIXTURE(One, "storage of the function is nobody else's affair") {
  CHECK(effects(block(allocate(p, 8), copy(p, x), constant(pointer("c"), "abc"), copy(y, p))) == "r w -");
}

TEST_CASE_FIXTURE(One, "what escapes in a callee escapes") {
  const auto q = pointer("q");
  function("f", {q}, block(evaluate(tir::make_call(tir::int32_type, "tir.ret", {var(q)}))));
  CHECK(effects(block(call("f", {address_of(y, 2)}))) == "- e -");
}

TEST_CASE("a parameter that stands twice is both") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  b.entry({p, p}, block(b.set(p)));
  CHECK(effects_of(b.build(), "main") == "w w");
}

TEST_CASE("recursion has no effects") {
  ModuleBuilder b;
  b.function("f", {}, block(b.call("f", std::vector<VarId>{})));
  b.entry({}, {});
  CHECK_THROWS_WITH_AS((void)param_effects(b.build()), "f: function 'f' calls itself, directly or through others",
                       Error);
}

}  // namespace
}  // namespace usmp::program::effects_test

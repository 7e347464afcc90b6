// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which functions of the emitted C give a status, and which are void.
#include "codegen/status.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tir_support/module_builder.hpp"

namespace usmp::codegen::testing::status_test {
namespace {

using tir::VarId;
using tir::testing::block;
using tir::testing::make_operator;
using tir::testing::ModuleBuilder;

// main calls f, and f calls g, as `calls` and `inner` say; g's body is given.
class Chain {
 public:
  explicit Chain(tir::Block body_of_g = {}) { builder.function("g", {builder.pointer("p")}, std::move(body_of_g)); }

  void f(tir::Block body) { builder.function("f", {p}, std::move(body)); }

  // The functions with a status, in the order of their names.
  std::string with_status(tir::Block body_of_main) {
    builder.entry({p}, std::move(body_of_main));
    const tir::Module module = builder.build();
    const std::size_t f = *module.find("f");
    const std::size_t g = *module.find("g");
    const std::vector<bool> status = functions_with_status(module, program::call_graph(module), {g, f, module.entry});
    std::string names;
    for (std::size_t i = 0; i < status.size(); ++i) names += status[i] ? module.functions[i].name + " " : "";
    return names;
  }
  std::string with_status() { return with_status(block(builder.call("f", {p}))); }

  ModuleBuilder builder;
  VarId p = builder.pointer("p");
};

tir::ExprRef operation(const std::string& name, std::vector<tir::ExprRef> operands) {
  return tir::make_call(tir::int32_type, name, std::move(operands));
}

TEST_CASE("what cannot fail gives no status, but for the entry") {
  Chain chain;
  chain.f(block(chain.builder.call("g", {chain.p}), chain.builder.set(chain.p)));
  CHECK(chain.with_status() == "main ");
}

TEST_CASE("what may leave early gives a status, and so does whoever calls it") {
  const auto status_with = [](tir::Block body_of_g) {
    Chain chain(std::move(body_of_g));
    chain.f(block(chain.builder.call("g", {chain.p})));
    return chain.with_status();
  };
  ModuleBuilder b;
  const VarId memory = b.pointer("memory");
  const tir::ExprRef yes = tir::make_int(1);
  CHECK(status_with(block(tir::Stmt{tir::Assert{yes, "no"}})) == "f g main ");
  CHECK(status_with(block(ModuleBuilder::evaluate(operation("tir.ret", {tir::make_int(0)})))) == "f g main ");
  CHECK(status_with(block(ModuleBuilder::evaluate(operation("tir.tvm_throw_last_error", {})))) == "f g main ");
  const tir::ExprRef inside = operation("tir.if_then_else", {yes, operation("tir.ret", {yes}), yes});
  CHECK(status_with(block(ModuleBuilder::evaluate(inside))) == "f g main ");
  CHECK(status_with(block(b.call("elsewhere", std::vector<VarId>{}))) == "f g main ");
  CHECK(status_with(block(ModuleBuilder::when(yes, block(tir::Stmt{tir::Assert{yes, "no"}})))) == "f g main ");
  CHECK(status_with(block(tir::Stmt{tir::Allocate{.var = memory,
                                                  .type = tir::testing::int8_type,
                                                  .extents = {yes},
                                                  .condition = {},
                                                  .candidate_pools = {}}})) == "f g main ");
  CHECK(status_with(block(tir::Stmt{tir::Allocate{.var = memory,
                                                  .type = tir::testing::int8_type,
                                                  .extents = {yes},
                                                  .condition = {},
                                                  .candidate_pools = {},
                                                  .on_stack = true}})) == "main ");
}

TEST_CASE("a value of which more is asked than whether it is zero") {
  Chain chain;
  const tir::ExprRef g = chain.builder.call_expr("g", {chain.builder.var(chain.p)});
  SUBCASE("dropped") { chain.f(block(ModuleBuilder::evaluate(g))); }
  SUBCASE("checked for zero") { chain.f(block(chain.builder.call("g", {chain.p}))); }
  CHECK(chain.with_status() == "main ");
}

TEST_CASE("a value that is used") {
  Chain chain;
  const tir::ExprRef g = chain.builder.call_expr("g", {chain.builder.var(chain.p)});
  std::string expected = "g main ";
  SUBCASE("stored") { chain.f(block(chain.builder.store(chain.p, 0, tir::make_cast(tir::testing::int8_type, g)))); }
  SUBCASE("bound") { chain.f(block(ModuleBuilder::let(chain.builder.integer("result"), g))); }
  SUBCASE("checked for another number") {
    chain.f(
        block(ModuleBuilder::evaluate(operation("tir.tvm_check_return", {tir::make_int(1), tir::make_int(-1), g}))));
    expected = "f g main ";
  }
  SUBCASE("passed on") {
    chain.f(block(ModuleBuilder::evaluate(ModuleBuilder::call_expr("elsewhere", {g}))));
    expected = "f g main ";
  }
  CHECK(chain.with_status() == expected);
}

TEST_CASE("imported C may call anything") {
  Chain chain;
  chain.f(block(chain.builder.call("g", {chain.p})));
  chain.builder.module().functions.back().imported_c = {"int x;"};
  CHECK(chain.with_status() == "f g main ");
}

}  // namespace
}  // namespace usmp::codegen::testing::status_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Modules planned by hand, lowered: addresses in pools, and which functions are passed which pools.
#include "usmp/lower/lower.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tir_support/module_builder.hpp"
#include "usmp/assemble/placements.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::lower::lower_test {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;
using namespace tir::testing;  // NOLINT(google-build-using-namespace)

config::PoolSpec pool(std::string name, PoolKind kind) {
  config::PoolSpec spec;
  spec.name = std::move(name);
  spec.kind = kind;
  return spec;
}

config::PoolsConfig two_pools() {
  config::PoolsConfig pools;
  pools.workspace_pools = {pool("sram", PoolKind::workspace), pool("dram", PoolKind::workspace)};
  pools.parameter_pools = {pool("flash", PoolKind::constant)};
  return pools;
}

// A module planned by hand: buffers by name → pool and offset; everything else one after another in its first pool.
struct Planned {
  tir::Module module;
  placement::Table table;
  Lowered lowered;

  explicit Planned(ModuleBuilder& builder, const std::map<std::string, Allocation>& places = {},
                   const config::PoolsConfig& pools = two_pools(), const liveness::Options& options = {})
      : module(builder.build()) {
    const liveness::Analysis analysis = liveness::analyse(module, options);
    const assemble::Assembly assembly = assemble::assemble(module, analysis, pools);
    Plan plan;
    Bytes next = 4096;
    for (const Buffer& buffer : assembly.problem.buffers) {
      const auto given = places.find(buffer.name);
      plan.allocations.push_back(given != places.end() ? given->second : Allocation{buffer.candidates.front(), next});
      next += 64;
    }
    table = assemble::placements_of(analysis, assembly, plan);
    lowered = lower(module, table);
  }

  std::size_t index(const std::string& name) const { return *module.find(name); }
  const tir::Function& function(const std::string& name) const { return lowered.module.functions[index(name)]; }
  const LoweredFunction& facts(const std::string& name) const { return lowered.functions[index(name)]; }

  std::vector<std::string> params(const std::string& name) const {
    std::vector<std::string> names;
    for (const tir::Param& param : function(name).params) names.push_back(param.name);
    return names;
  }

  // "x = &sram[32]" for a Let of lowering, "" for any other statement.
  std::string binding(const Stmt& stmt) const {
    const auto* let = std::get_if<tir::Let>(&stmt.node);
    if (let == nullptr || let->value->kind != ExprKind::call || let->value->op != tir::Op::address_of) return "";
    const Expr& load = *let->value->operands.at(0);
    CHECK(let->value->type == tir::handle_type);
    CHECK(load.kind == ExprKind::load);
    CHECK(load.type == tir::uint8_type);
    return lowered.module.var(let->var).name + " = &" + lowered.module.var(load.var).name + "[" +
           std::to_string(*tir::as_int(*load.operands.at(0))) + "]";
  }

  // The names of variables in the arguments of the n-th named call of a function.
  std::vector<std::string> arguments(const std::string& name, std::size_t n) const {
    std::vector<std::string> names;
    std::size_t seen = 0;
    tir::for_each_stmt(function(name).body, [&](const Stmt& stmt) {
      tir::for_each_expr_of(stmt, [&](const ExprRef& root) {
        tir::for_each_expr(*root, [&](const Expr& expr) {
          const auto call = tir::named_call(expr);
          if (!call || seen++ != n) return;
          for (const ExprRef& argument : call->arguments) {
            names.push_back(argument->kind == ExprKind::var ? lowered.module.var(argument->var).name : "?");
          }
        });
      });
    });
    return names;
  }
};

using Names = std::vector<std::string>;

TEST_CASE("allocates become addresses in pools, and only the pools in use are passed") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto q = b.pointer("q");
  const auto inner = b.pointer("inner");
  b.function("with_scratch", {p, q}, block(b.allocate(inner, 8), b.copy(inner, p), b.copy(q, inner)));
  const auto r = b.pointer("r");
  const auto s = b.pointer("s");
  b.function("without", {r, s}, block(b.copy(s, r)));
  const auto in = b.pointer("in");
  const auto out = b.pointer("out");
  const auto x = b.pointer("x");
  b.entry({in, out}, block(b.allocate(x, 8), b.call("with_scratch", {in, x}), b.call("without", {x, out})));
  const Planned planned(b, {{"x", {PoolId(0), 0}}, {"inner", {PoolId(1), 48}}});

  CHECK(planned.params("with_scratch") == Names{"p", "q", "dram"});
  CHECK(planned.params("without") == Names{"r", "s"});
  CHECK(planned.params("main") == Names{"in", "out", "sram", "dram"});
  CHECK(planned.facts("main").pools == std::vector<PoolId>{PoolId(0), PoolId(1)});
  CHECK(planned.facts("with_scratch").pools == std::vector<PoolId>{PoolId(1)});
  CHECK(planned.facts("without").pools.empty());

  const tir::Function& scratch = planned.function("with_scratch");
  REQUIRE(scratch.body.size() == 3);
  CHECK(planned.binding(scratch.body[0]) == "inner = &dram[48]");
  CHECK_MESSAGE(std::get<tir::Let>(scratch.body[0].node).var == inner, "the variable stays the same one");
  CHECK(planned.binding(planned.function("main").body[0]) == "x = &sram[0]");
  CHECK(planned.arguments("main", 0) == Names{"in", "x", "dram"});
  CHECK(planned.arguments("main", 1) == Names{"x", "out"});

  const tir::Param& param = scratch.params.back();
  CHECK_FALSE(param.is_tensor);
  const tir::Var& var = planned.lowered.module.var(param.var);
  CHECK(var.type == tir::handle_type);
  CHECK(var.element == tir::uint8_type);
  CHECK(var.storage_scope == workspace_pool_scope);
  CHECK_MESSAGE(param.var.index() >= planned.module.vars.size(), "a variable of its own");
  CHECK(param.var != planned.function("main").params.back().var);

  REQUIRE(planned.facts("main").placements.size() == 1);
  CHECK(planned.facts("main").placements[0].var == x);
  CHECK(planned.table.storage(planned.facts("main").placements[0].storage).name == "x");
}

TEST_CASE("needs travel up any chain of calls, in whatever order the functions stand") {
  for (const auto& [leaf, middle] : {std::pair("z_leaf", "a_middle"), std::pair("a_leaf", "z_middle")}) {
    ModuleBuilder b;
    const auto c = b.pointer("c");
    const auto inner = b.pointer("inner");
    b.function(leaf, {c}, block(b.allocate(inner, 8), b.copy(inner, c), b.copy(c, inner)));
    const auto d = b.pointer("d");
    b.function(middle, {d}, block(b.call(leaf, std::vector{d}), b.call(leaf, std::vector{d})));
    const auto out = b.pointer("out");
    b.entry({out}, block(b.call(middle, std::vector{out})));
    const Planned planned(b, {{"inner", {PoolId(1), 0}}});
    CHECK(planned.params(leaf) == Names{"c", "dram"});
    CHECK(planned.params(middle) == Names{"d", "dram"});
    CHECK(planned.params("main") == Names{"out", "dram"});
    CHECK(planned.arguments(middle, 0) == Names{"d", "dram"});
    CHECK(planned.arguments(middle, 1) == Names{"d", "dram"});
    CHECK(planned.arguments("main", 0) == Names{"out", "dram"});
    CHECK_MESSAGE(planned.facts(middle).placements.empty(), "it declares nothing itself");
  }
}

TEST_CASE("what nothing uses is neither bound nor does it need its pool") {
  ModuleBuilder b;
  const auto out = b.pointer("out");
  const auto unused = b.pointer("unused");
  const auto weight = b.pointer("weight");
  const auto used = b.pointer("used");
  b.entry({out}, block(b.allocate(unused, 8), b.constant(weight, "abcdefgh"), b.allocate(used, 8), b.set(used),
                       b.copy(out, used)));
  const Planned planned(b, {{"unused", {PoolId(1), 0}}, {"used", {PoolId(0), 0}}, {"weight", {PoolId(2), 0}}});
  CHECK(planned.params("main") == Names{"out", "sram"});
  REQUIRE(planned.function("main").body.size() == 3);
  CHECK(planned.binding(planned.function("main").body[0]) == "used = &sram[0]");
  CHECK(planned.facts("main").placements.size() == 3);
}

TEST_CASE("constants become addresses in a constant pool, or stay when there is none") {
  ModuleBuilder b;
  const auto out = b.pointer("out");
  const auto weight = b.pointer("weight");
  b.entry({out}, block(b.constant(weight, "abcdefgh"), b.copy(out, weight)));
  SUBCASE("in a pool") {
    const Planned planned(b, {{"weight", {PoolId(2), 32}}});
    CHECK(planned.binding(planned.function("main").body[0]) == "weight = &flash[32]");
    CHECK(planned.lowered.module.var(planned.function("main").params[1].var).storage_scope == constant_pool_scope);
  }
  SUBCASE("in the code") {
    config::PoolsConfig pools = two_pools();
    pools.parameter_pools.clear();
    const Planned planned(b, {}, pools);
    CHECK(std::holds_alternative<tir::AllocateConst>(planned.function("main").body[0].node));
    CHECK(planned.params("main") == Names{"out"});
    CHECK(planned.facts("main").placements.empty());
  }
}

TEST_CASE("allocates are found in every kind of block") {
  ModuleBuilder b;
  const auto out = b.pointer("out");
  const auto i = b.integer("i");
  const VarId v[] = {b.pointer("v0"), b.pointer("v1"), b.pointer("v2"), b.pointer("v3")};
  const auto inside = [&](VarId var) { return block(b.allocate(var, 8), b.set(var), b.copy(out, var)); };
  const ExprRef condition = less(b.load(out, 0), tir::make_int(3, int8_type));
  b.entry({out},
          block(b.loop(i, 4, inside(v[0])), b.when(condition, inside(v[1]), inside(v[2])), b.scope(inside(v[3]))));
  const Planned planned(b);
  const tir::Block& body = planned.function("main").body;
  CHECK(planned.binding(std::get<tir::For>(body[0].node).body[0]) == "v0 = &sram[4096]");
  CHECK(planned.binding(std::get<tir::IfThenElse>(body[1].node).then_body[0]) == "v1 = &sram[4160]");
  CHECK(planned.binding(std::get<tir::IfThenElse>(body[1].node).else_body[0]) == "v2 = &sram[4224]");
  CHECK(planned.binding(std::get<tir::Scope>(body[2].node).body[0]) == "v3 = &sram[4288]");
}

TEST_CASE("an allocate of unknown size stays as it is") {
  ModuleBuilder b;
  const auto out = b.pointer("out");
  const auto n = b.integer("n");
  const auto dynamic = b.pointer("dynamic");
  b.entry({out}, block(b.let(n, tir::make_cast(tir::int32_type, b.load(out, 0))), b.allocate(dynamic, {b.var(n)}),
                       b.set(dynamic), b.copy(out, dynamic)));
  const Planned planned(b);
  CHECK(planned.params("main") == Names{"out"});
  CHECK(std::holds_alternative<tir::Allocate>(planned.function("main").body[1].node));
}

TEST_CASE("calls that are nested in expressions are rewritten, whatever does not change stays shared") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto inner = b.pointer("inner");
  b.function("op", {p}, block(b.allocate(inner, 8), b.copy(inner, p), b.copy(p, inner)));
  const auto out = b.pointer("out", tir::int32_type);
  const ExprRef call = ModuleBuilder::call_expr("op", {b.var(out)});
  const ExprRef twice = add(call, call);
  const ExprRef index = tir::make_int(3);
  b.entry({out}, block(ModuleBuilder::store(out, index, mul(twice, twice))));
  const Planned planned(b);
  const auto& store = std::get<tir::Store>(planned.function("main").body[0].node);
  CHECK_MESSAGE(store.index == index, "an unchanged expression is the same object");
  CHECK_MESSAGE(store.value->operands[0] == store.value->operands[1], "one node stays one node");
  const Expr& sum = *store.value->operands[0];
  CHECK(sum.operands[0] == sum.operands[1]);
  CHECK(sum.operands[0]->operands.size() == 3);
  CHECK_MESSAGE(call->operands.size() == 2, "the source module is untouched");
  CHECK(planned.arguments("main", 0) == Names{"out", "sram"});
}

// 2^60 uses of one call: only a pass that visits each node once comes to an end.
TEST_CASE("a deeply shared expression takes linear time") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto inner = b.pointer("inner");
  b.function("op", {p}, block(b.allocate(inner, 8), b.copy(inner, p), b.copy(p, inner)));
  const auto out = b.pointer("out", tir::int32_type);
  ExprRef value = ModuleBuilder::call_expr("op", {b.var(out)});
  b.entry({out}, block(b.call("op", {out})));
  tir::Module module = b.build();
  const liveness::Analysis analysis = liveness::analyse(module);
  const assemble::Assembly assembly = assemble::assemble(module, analysis, two_pools());
  for (int i = 0; i < 60; ++i) value = add(value, value);
  module.functions[module.entry].body.push_back(ModuleBuilder::store(out, 0, value));
  const Lowered lowered = lower(module, assemble::placements_of(analysis, assembly, {{{PoolId(0), 0}}}));
  const Expr* node = std::get<tir::Store>(lowered.module.functions[module.entry].body[1].node).value.get();
  while (node->kind == ExprKind::add) {
    CHECK(node->operands[0] == node->operands[1]);
    node = node->operands[0].get();
  }
  CHECK(node->operands.size() == 3);
}

TEST_CASE("the resource handle of a packed call stays last") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto inner = b.pointer("inner");
  b.function("op", {p}, block(b.allocate(inner, 8), b.copy(inner, p), b.copy(p, inner)));
  const auto out = b.pointer("out");
  const ExprRef handle = tir::make_call(tir::handle_type, "tir.reinterpret", {tir::make_int(0)});
  b.entry({out}, block(ModuleBuilder::evaluate(tir::make_call(tir::int32_type, "tir.tvm_call_cpacked",
                                                              {tir::make_string("op"), b.var(out), handle}))));
  const Planned planned(b);
  const Expr& call = *std::get<tir::Evaluate>(planned.function("main").body[0].node).value;
  REQUIRE(call.operands.size() == 4);
  CHECK(call.operands[0]->text == "op");
  CHECK(call.operands[1]->var == out);
  CHECK(planned.lowered.module.var(call.operands[2]->var).name == "sram");
  CHECK(call.operands[3] == handle);
}

TEST_CASE("opaque and extern callees keep their signature") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto hidden = b.pointer("hidden");
  b.function("kernel", {p}, block(b.allocate(hidden, 8), b.copy(hidden, p)), "npu");
  const auto out = b.pointer("out");
  const auto x = b.pointer("x");
  b.entry({out}, block(b.allocate(x, 8), b.call("kernel", {x}), b.call("elsewhere", {x, out})));
  const Planned planned(b);
  CHECK(planned.params("kernel") == Names{"p"});
  CHECK(std::holds_alternative<tir::Allocate>(planned.function("kernel").body[0].node));
  CHECK(planned.arguments("main", 0) == Names{"x"});
  CHECK(planned.arguments("main", 1) == Names{"x", "out"});
  CHECK(planned.params("main") == Names{"out", "sram"});
}

TEST_CASE("with workspace_io planned parameters of the entry become addresses") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto q = b.pointer("q");
  b.function("op", {p, q}, block(b.copy(q, p)));
  const auto in = b.pointer("in");
  const auto unused = b.pointer("unused");
  const auto out = b.pointer("out");
  b.entry({in, unused, out}, block(b.call("op", {in, out})));
  liveness::Options options;
  options.workspace_io = true;
  options.inputs = {in, unused};
  options.outputs = {out};
  const Planned planned(b, {{"in", {PoolId(1), 0}}, {"unused", {PoolId(0), 0}}, {"out", {PoolId(1), 32}}}, two_pools(),
                        options);
  CHECK(planned.params("main") == Names{"dram"});
  const tir::Block& body = planned.function("main").body;
  REQUIRE(body.size() == 3);
  CHECK(planned.binding(body[0]) == "in = &dram[0]");
  CHECK(planned.binding(body[1]) == "out = &dram[32]");
  CHECK(planned.arguments("main", 0) == Names{"in", "out"});
  CHECK(planned.params("op") == Names{"p", "q"});
}

TEST_CASE("offsets beyond 2 GiB are 64 bit") {
  ModuleBuilder b;
  const auto out = b.pointer("out");
  const auto x = b.pointer("x");
  b.entry({out}, block(b.allocate(x, 8), b.set(x), b.copy(out, x)));
  for (const Bytes offset : {Bytes{INT32_MAX} - 15, Bytes{INT32_MAX} + 1}) {
    const Planned planned(b, {{"x", {PoolId(0), offset}}});
    const auto& let = std::get<tir::Let>(planned.function("main").body[0].node);
    const Expr& index = *let.value->operands[0]->operands[0];
    CHECK(index.int_value == offset);
    CHECK(index.type == (offset > INT32_MAX ? tir::int64_type : tir::int32_type));
  }
}

}  // namespace
}  // namespace usmp::lower::lower_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops moved into functions, in plans good and bad: which pointers are said to be apart, where fences stand.
#include "usmp/lower/outline.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tir_support/module_builder.hpp"
#include "usmp/assemble/placements.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::lower::outline_test {
namespace {

using tir::Block;
using tir::Stmt;
using tir::VarId;
using namespace tir::testing;  // NOLINT(google-build-using-namespace)

// A module whose buffers stand where the test says, all in one pool; not verified, so that wrong plans can be tried.
Lowered outlined(ModuleBuilder& builder, const std::map<std::string, Bytes>& offsets) {
  const tir::Module module = builder.build();
  const liveness::Analysis analysis = liveness::analyse(module);
  config::PoolsConfig pools;
  pools.workspace_pools.resize(1);
  pools.workspace_pools[0].name = "sram";
  const assemble::Assembly assembly = assemble::assemble(module, analysis, pools);
  Plan plan;
  for (const Buffer& buffer : assembly.problem.buffers)
    plan.allocations.push_back({PoolId(0), offsets.at(buffer.name)});
  const placement::Table table = assemble::placements_of(analysis, assembly, plan);
  return outline(lower(module, table), table);
}

const tir::Function& function(const Lowered& lowered, const std::string& name) {
  const auto index = lowered.module.find(name);
  REQUIRE_MESSAGE(index, name);
  return lowered.module.functions[*index];
}

// Names of the parameters that are marked.
std::set<std::string> alone(const tir::Function& function) {
  std::set<std::string> names;
  for (const tir::Param& param : function.params) {
    if (param.no_alias) names.insert(param.name);
  }
  return names;
}

bool is_fence(const Stmt& stmt) {
  const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node);
  return evaluate != nullptr && evaluate->value->op == tir::Op::memory_fence;
}

std::size_t fences(const Block& body) {
  std::size_t count = 0;
  tir::for_each_stmt(body, [&](const Stmt& stmt) { count += static_cast<std::size_t>(is_fence(stmt)); });
  return count;
}

// for i in [0, 8): to[i] = from[i]
Stmt copy_all(ModuleBuilder& b, VarId to, VarId from) {
  const VarId i = b.integer("i");
  return b.loop(i, 8, block(b.store(to, b.var(i), b.load(from, b.var(i)))));
}

using Names = std::set<std::string>;

// One operator op(p, q) { early <- p; late <- early; q <- late } between tensors x and y of the entry.
Lowered chain(const std::map<std::string, Bytes>& offsets) {
  ModuleBuilder b;
  const VarId p = b.pointer("p");
  const VarId q = b.pointer("q");
  const VarId early = b.pointer("early");
  const VarId late = b.pointer("late");
  b.function("op", {p, q},
             block(b.allocate(early, 8), b.allocate(late, 8), copy_all(b, early, p), copy_all(b, late, early),
                   copy_all(b, q, late)));
  const VarId in = b.pointer("in");
  const VarId out = b.pointer("out");
  const VarId x = b.pointer("x");
  const VarId y = b.pointer("y");
  b.entry({in, out}, block(b.allocate(x, 8), b.allocate(y, 8), b.copy(x, in), b.call("op", {x, y}), b.copy(out, y)));
  return outlined(b, offsets);
}

TEST_CASE("each loop of an operator becomes a function whose buffers are apart") {
  // late takes the bytes of x, which is dead by then: apart in each nest, though not in the operator.
  const Lowered lowered = chain({{"x", 0}, {"early", 16}, {"late", 0}, {"y", 16}});
  CHECK(alone(function(lowered, "op_nest0")) == Names{"early", "p"});
  CHECK(alone(function(lowered, "op_nest1")) == Names{"early", "late"});
  CHECK(alone(function(lowered, "op_nest2")) == Names{"late", "q"});
  CHECK(alone(function(lowered, "op")).empty());
  CHECK(function(lowered, "op_nest0").target == "c");
  CHECK(fences(function(lowered, "op").body) == 2);
  CHECK_FALSE(is_fence(function(lowered, "op").body.back()));
  CHECK(std::is_sorted(lowered.module.functions.begin(), lowered.module.functions.end(),
                       [](const tir::Function& a, const tir::Function& b) { return a.name < b.name; }));
  CHECK(lowered.module.functions[lowered.module.entry].is_entry);
  CHECK(lowered.functions.size() == lowered.module.functions.size());
}

// op(p, q) { for i: early[i] = 0; q <- early }
TEST_CASE("a loop over one buffer alone stays: there is nothing to say of its pointer") {
  ModuleBuilder b;
  const VarId p = b.pointer("p");
  const VarId q = b.pointer("q");
  const VarId early = b.pointer("early");
  const VarId i = b.integer("i");
  b.function("op", {p, q},
             block(b.allocate(early, 8), b.loop(i, 8, block(b.store(early, b.var(i), tir::make_int(0, int8_type)))),
                   copy_all(b, q, early), copy_all(b, early, p)));
  const VarId in = b.pointer("in");
  const VarId out = b.pointer("out");
  const VarId x = b.pointer("x");
  b.entry({in, out}, block(b.allocate(x, 8), b.call("op", {in, x}), b.copy(out, x)));
  const Lowered lowered = outlined(b, {{"x", 0}, {"early", 16}});
  const tir::Function& op = function(lowered, "op");
  CHECK(std::count_if(op.body.begin(), op.body.end(),
                      [](const Stmt& stmt) { return std::holds_alternative<tir::For>(stmt.node); }) == 1);
  CHECK(lowered.module.find("op_nest1"));
  CHECK_FALSE(lowered.module.find("op_nest2"));
}

TEST_CASE("pointers that reach the same byte are never said to be apart") {
  const Lowered lowered = chain({{"x", 0}, {"early", 7}, {"late", 32}, {"y", 64}});
  CHECK_FALSE(lowered.module.find("op_nest2"));
  CHECK(alone(function(lowered, "op_nest0")) == Names{"early", "late"});
  CHECK(alone(function(lowered, "op_nest1")) == Names{"late", "q"});
  const tir::Function& op = function(lowered, "op");
  CHECK(std::count_if(op.body.begin(), op.body.end(),
                      [](const Stmt& stmt) { return std::holds_alternative<tir::For>(stmt.node); }) == 1);
}

TEST_CASE("one call in which two pointers meet is enough") {
  ModuleBuilder b;
  const VarId p = b.pointer("p");
  const VarId q = b.pointer("q");
  const VarId r = b.pointer("r");
  b.function("op", {p, q, r}, block(copy_all(b, q, p), copy_all(b, r, p)));
  const VarId in = b.pointer("in");
  const VarId out = b.pointer("out");
  const VarId x = b.pointer("x");
  const VarId y = b.pointer("y");
  b.entry({in, out}, block(b.allocate(x, 8), b.allocate(y, 8), b.copy(x, in), b.call("op", {x, y, out}),
                           b.call("op", {x, x, out}), b.copy(out, y)));
  const Lowered lowered = outlined(b, {{"x", 0}, {"y", 8}});
  CHECK(alone(function(lowered, "op_nest0")) == Names{"p", "r"});
  CHECK_FALSE(lowered.module.find("op_nest1"));
}

TEST_CASE("the application's tensors may be the same memory") {
  ModuleBuilder b;
  const VarId p = b.pointer("p");
  const VarId q = b.pointer("q");
  b.function("op", {p, q}, block(copy_all(b, q, p)));
  const VarId in = b.pointer("in");
  const VarId out = b.pointer("out");
  b.entry({in, out}, block(b.call("op", {in, out})));
  CHECK(alone(function(outlined(b, {}), "op")).empty());
}

TEST_CASE("an operator that is one loop is marked itself") {
  ModuleBuilder b;
  const VarId p = b.pointer("p");
  const VarId q = b.pointer("q");
  b.function("op", {p, q}, block(copy_all(b, q, p)));
  const VarId in = b.pointer("in");
  const VarId out = b.pointer("out");
  const VarId x = b.pointer("x");
  b.entry({in, out}, block(b.allocate(x, 8), b.call("op", {in, x}), b.copy(out, x)));
  const Lowered lowered = outlined(b, {{"x", 0}});
  CHECK(alone(function(lowered, "op")) == Names{"p", "q"});
  CHECK_FALSE(lowered.module.find("op_nest0"));
  CHECK(fences(function(lowered, "main").body) == 1);
}

TEST_CASE("an operator that is one loop, and gets one tensor for two parameters, is not marked") {
  ModuleBuilder b;
  const VarId p = b.pointer("p");
  const VarId q = b.pointer("q");
  const VarId unused = b.pointer("unused");
  b.function("op", {p, q, unused}, block(copy_all(b, q, p)));
  const VarId in = b.pointer("in");
  const VarId out = b.pointer("out");
  const VarId x = b.pointer("x");
  b.entry({in, out}, block(b.allocate(x, 8), b.call("op", {in, x, x}), b.copy(out, x)));
  CHECK(alone(function(outlined(b, {{"x", 0}}), "op")) == Names{"p"});  // compilers would warn of q
}

TEST_CASE("a loop that calls a function stays, and what it does is fenced from what the function does") {
  ModuleBuilder b;
  const VarId leaf_p = b.pointer("leaf_p");
  b.function("leaf", {leaf_p}, block(b.set(leaf_p)));
  const VarId p = b.pointer("p");
  const VarId q = b.pointer("q");
  const auto loop = [&](VarId of) { return b.loop(b.integer("i"), 4, block(b.call("leaf", {of}), b.set(of))); };
  b.function("op", {p}, block(loop(p), b.set(p)));
  b.function("whole", {q}, block(loop(q)));
  const VarId out = b.pointer("out");
  b.entry({out}, block(b.call("op", {out}), b.call("whole", {out})));
  const Lowered lowered = outlined(b, {});
  CHECK_FALSE(lowered.module.find("op_nest0"));
  CHECK(fences(function(lowered, "op").body) == 3);  // behind the loop, in it, and between its iterations
  CHECK(fences(function(lowered, "whole").body) == 2);
  CHECK(alone(function(lowered, "whole")).empty());
}

TEST_CASE("a loop that may leave the operator stays") {
  ModuleBuilder b;
  const VarId p = b.pointer("p");
  const VarId i = b.integer("i");
  const Stmt leave = b.evaluate(tir::make_call(tir::int32_type, "tir.ret", {tir::make_int(0)}));
  b.function("op", {p}, block(b.loop(i, 4, block(b.when(less(b.var(i), 2), block(leave)), b.set(p))), b.set(p)));
  const VarId out = b.pointer("out");
  b.entry({out}, block(b.call("op", {out})));
  CHECK_FALSE(outlined(b, {}).module.find("op_nest0"));
}

TEST_CASE("a nest's function is of the nest's operator") {
  ModuleBuilder b;
  const VarId p = b.pointer("p");
  const VarId q = b.pointer("q");
  tir::Stmt second = copy_all(b, q, p);
  std::get<tir::For>(second.node).row_operator = 2;
  b.function("op", {p, q}, block(copy_all(b, q, p), std::move(second)));
  const VarId in = b.pointer("in");
  const VarId x = b.pointer("x");
  b.entry({in}, block(b.allocate(x, 8), b.call("op", {in, x})));
  const Lowered lowered = outlined(b, {{"x", 0}});
  CHECK(function(lowered, "op_nest0").row_operator == 0);
  CHECK(function(lowered, "op_nest1").row_operator == 2);
}

TEST_CASE("no function gets a name that there is") {
  ModuleBuilder b;
  const VarId p = b.pointer("p");
  const VarId q = b.pointer("q");
  b.function("op", {p, q}, block(copy_all(b, q, p), b.set(q)));
  const VarId r = b.pointer("r");
  b.function("op_nest0", {r}, block(b.set(r)));
  const VarId in = b.pointer("in");
  const VarId x = b.pointer("x");
  b.entry({in}, block(b.allocate(x, 8), b.call("op", {in, x}), b.call("op_nest0", {x})));
  const Lowered lowered = outlined(b, {{"x", 0}});
  CHECK(alone(function(lowered, "op_nest0")).empty());
  CHECK(alone(function(lowered, "op_nest1")) == Names{"p", "q"});
}

TEST_CASE("values are brought along if they depend on no memory, else the loop stays") {
  enum class From { number, memory, function };
  for (const From from : {From::number, From::memory, From::function}) {
    ModuleBuilder b;
    const VarId p = b.pointer("p");
    const VarId q = b.pointer("q");
    const VarId five = b.integer("five");
    const VarId sum = b.integer("sum");
    const VarId i = b.integer("i");
    tir::ExprRef value = tir::make_int(5);
    if (from == From::memory) value = tir::make_cast(tir::int32_type, b.load(p, 0));
    if (from == From::function) value = b.call_expr("five", {});
    const tir::ExprRef index = remainder(b.var(sum), tir::make_int(8));
    b.function("op", {p, q},
               block(b.let(five, value), b.let(sum, add(b.var(five), tir::make_int(1))),
                     b.loop(i, 4, block(b.store(q, index, b.load(p, b.var(i))))), b.set(q)));
    const VarId in = b.pointer("in");
    const VarId out = b.pointer("out");
    const VarId x = b.pointer("x");
    b.entry({in, out}, block(b.allocate(x, 8), b.call("op", {in, x}), b.copy(out, x)));
    const Lowered lowered = outlined(b, {{"x", 0}});
    CHECK(lowered.module.find("op_nest0").has_value() == (from == From::number));
    if (from != From::number) continue;
    const Block& body = function(lowered, "op_nest0").body;
    REQUIRE(body.size() == 3);
    CHECK(std::get<tir::Let>(body[0].node).var == five);
    CHECK(std::get<tir::Let>(body[1].node).var == sum);
  }
}

namespace {

struct Turns {
  bool share = false;      // the two buffers stand in the same bytes
  bool may_alias = false;  // as far as C is concerned
};

const std::vector<Turns> all_turns = {{false, false}, {true, false}, {true, true}};

// A store of a type of its own, beside those of bytes.
Stmt store_wide(ModuleBuilder& b, VarId to, bool as_float) {
  return b.store(to, 0, as_float ? tir::make_float(1.0, tir::testing::float32_type) : tir::make_int(7));
}

}  // namespace

TEST_CASE("buffers of inner blocks are passed, and fenced where they take turns in the same bytes") {
  for (const auto& [share, may_alias] : all_turns) {
    ModuleBuilder b;
    const VarId p = b.pointer("p");
    const VarId q = b.pointer("q");
    const VarId first = b.pointer("first");
    const VarId second = b.pointer("second");
    const VarId i = b.integer("i");
    b.function("op", {p, q},
               block(b.loop(i, 4,
                            block(b.scope(block(b.allocate(first, 8), store_wide(b, first, !may_alias),
                                                copy_all(b, first, p), copy_all(b, q, first))),
                                  b.allocate(second, 8), store_wide(b, second, false), copy_all(b, second, q),
                                  copy_all(b, q, second))),
                     b.set(q)));
    const VarId in = b.pointer("in");
    const VarId out = b.pointer("out");
    const VarId x = b.pointer("x");
    b.entry({in, out}, block(b.allocate(x, 8), b.call("op", {in, x}), b.copy(out, x)));
    const Lowered lowered = outlined(b, {{"x", 0}, {"first", 16}, {"second", share ? 16 : 32}});
    const tir::Function& nest = function(lowered, "op_nest0");
    CHECK(alone(nest) == (share ? Names{"p", "q"} : Names{"first", "p", "q", "second"}));
    CHECK((fences(nest.body) > 0) == (share && !may_alias));
    CHECK(lowered.functions[*lowered.module.find("op_nest0")].placements.size() == 2);
    tir::for_each_stmt(nest.body, [](const Stmt& stmt) { CHECK_FALSE(std::holds_alternative<tir::Let>(stmt.node)); });
  }
}

// op(f, n) { for i: one of them is written as float, the other one as int or read }
TEST_CASE("an operator that is one loop is fenced inside if what it is passed may be the same bytes") {
  for (const bool share : {false, true}) {
    ModuleBuilder b;
    const VarId f = b.pointer("f");
    const VarId n = b.pointer("n");
    const VarId i = b.integer("i");
    b.function("op", {f, n}, block(b.loop(i, 2, block(store_wide(b, f, true), store_wide(b, n, false)))));
    const VarId x = b.pointer("x");
    const VarId y = b.pointer("y");
    b.entry({}, block(b.allocate(x, 8), b.allocate(y, 8), b.call("op", {x, y})));
    const Lowered lowered = outlined(b, {{"x", 0}, {"y", share ? 4 : 8}});
    CHECK((fences(function(lowered, "op").body) > 0) == share);
  }
}

TEST_CASE("what may be any pointer may be the application's tensor") {
  for (const bool writes_any : {false, true}) {
    CAPTURE(writes_any);
    ModuleBuilder b;
    const VarId any = b.pointer("any");
    const VarId tensor = b.pointer("tensor");
    const VarId i = b.integer("i");
    const VarId value = b.integer("value");
    const VarId written = writes_any ? any : tensor;
    const VarId read = writes_any ? tensor : any;
    const tir::ExprRef wide = tir::make_load(tir::int32_type, read, tir::make_int(0));
    b.function("op", {any, tensor}, block(b.loop(i, 2, block(store_wide(b, written, true), b.let(value, wide)))));
    const VarId out = b.pointer("out");
    const VarId x = b.pointer("x");
    const tir::ExprRef either = make_operator(tir::ExprKind::select, tir::handle_type,
                                              {less(tir::make_int(0), tir::make_int(1)), b.var(x), b.var(out)});
    b.entry({out}, block(b.allocate(x, 8), b.call("op", {either, b.var(out)})));
    CHECK(fences(function(outlined(b, {{"x", 0}}), "op").body) > 0);
  }
}

// A tensor x of the entry is handed to op(p, q) as p, q is the application's; `body` is op's.
template <class Body>
Lowered with_operator(const std::map<std::string, Bytes>& offsets, const Body& body) {
  ModuleBuilder b;
  const VarId p = b.pointer("p");
  const VarId q = b.pointer("q");
  b.function("op", {p, q}, body(b, p, q));
  const VarId in = b.pointer("in");
  const VarId out = b.pointer("out");
  const VarId x = b.pointer("x");
  b.entry({in, out}, block(b.allocate(x, 8), b.copy(x, in), b.call("op", {x, out})));
  return outlined(b, offsets);
}

TEST_CASE("a variable that sibling blocks bind to different pointers may reach any") {
  const Lowered lowered = with_operator({{"x", 0}, {"t", 16}, {"u", 32}}, [](ModuleBuilder& b, VarId p, VarId q) {
    const VarId t = b.pointer("t");
    const VarId u = b.pointer("u");
    const VarId r = b.pointer("r");
    return block(b.allocate(t, 8), b.allocate(u, 8), copy_all(b, t, p), copy_all(b, u, p),
                 b.scope(block(b.let(r, b.address_of(t, 0)), copy_all(b, q, r))),
                 b.scope(block(b.let(r, b.address_of(u, 0)), copy_all(b, u, r))));
  });
  // Neither nest of `r` may become a function: r is made from another pointer.
  for (const tir::Function& f : lowered.module.functions) {
    for (const tir::Param& param : f.params) CHECK(param.name != "r");
  }
}

TEST_CASE("and what is accessed through it is fenced in each of them") {
  const Lowered lowered = with_operator({{"x", 0}, {"t", 16}, {"u", 32}}, [](ModuleBuilder& b, VarId, VarId q) {
    const VarId t = b.pointer("t");
    const VarId u = b.pointer("u");
    const VarId r = b.pointer("r");
    const VarId i = b.integer("i");
    const auto in_scope = [&](VarId buffer) {
      return b.scope(block(b.let(r, b.address_of(buffer, 0)),
                           b.loop(i, 2, block(store_wide(b, buffer, true), store_wide(b, r, false)))));
    };
    return block(b.allocate(t, 8), b.allocate(u, 8), in_scope(t), in_scope(u), b.set(q));
  });
  std::size_t loops = 0;
  tir::for_each_stmt(function(lowered, "op").body, [&](const Stmt& stmt) {
    const auto* loop = std::get_if<tir::For>(&stmt.node);
    if (loop == nullptr) return;
    ++loops;
    CHECK(fences(loop->body) == 2);
  });
  CHECK(loops == 2);
}

TEST_CASE("a pointer made from another stays with it, so that accesses of several types are seen together") {
  const Lowered lowered = with_operator({{"x", 0}, {"t", 16}, {"z", 32}}, [](ModuleBuilder& b, VarId p, VarId q) {
    const VarId t = b.pointer("t", tir::testing::float32_type);
    const VarId z = b.pointer("z");
    const VarId as_int = b.pointer("as_int", tir::int32_type);
    const VarId i = b.integer("i");
    return block(b.allocate(t, 1), b.allocate(z, 8), b.let(as_int, b.address_of(t, 0)),
                 b.loop(i, 8,
                        block(b.store(z, b.var(i), b.load(p, b.var(i))),
                              b.store(t, 0, tir::make_float(1.0, tir::testing::float32_type)),
                              b.store(as_int, 0, tir::make_int(7)), b.store(q, b.var(i), b.load(z, b.var(i))))),
                 b.set(q));
  });
  CHECK_FALSE(lowered.module.find("op_nest0"));
}

TEST_CASE("fences also inside what is not moved, if buffers take turns in the same bytes there") {
  for (const Turns& turns : all_turns) {
    const std::map<std::string, Bytes> offsets = {{"x", 0}, {"first", 16}, {"second", turns.share ? 16 : 32}};
    const Lowered lowered = with_operator(offsets, [&](ModuleBuilder& b, VarId p, VarId q) {
      const VarId first = b.pointer("first");
      const VarId second = b.pointer("second");
      const tir::ExprRef condition = less(tir::make_int(0), tir::make_int(1));
      return block(
          b.allocate(first, 8), b.allocate(second, 8),
          b.when(condition, block(store_wide(b, first, !turns.may_alias), copy_all(b, first, p), copy_all(b, q, first),
                                  store_wide(b, second, false), copy_all(b, second, p), copy_all(b, q, second))));
    });
    CHECK((fences(function(lowered, "op").body) > 0) == (turns.share && !turns.may_alias));
  }
}

TEST_CASE("a value that is loaded is fenced from what follows") {
  const Lowered lowered = with_operator({{"x", 0}}, [](ModuleBuilder& b, VarId p, VarId q) {
    const VarId value = b.integer("value");
    return block(b.let(value, tir::make_cast(tir::int32_type, b.load(p, 0))), b.set(q));
  });
  CHECK(fences(function(lowered, "op").body) == 1);
}

}  // namespace
}  // namespace usmp::lower::outline_test

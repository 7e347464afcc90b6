// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The normal form: one broken module for each rule, refused with its place.
#include "usmp/tir/verify.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tir_support/module_builder.hpp"
#include "usmp/support/error.hpp"

namespace usmp::tir::verify_test {
namespace {

using testing::block;
using testing::float32_type;
using testing::int8_type;
using testing::make_operator;

constexpr DataType int32x4{TypeCode::int_, 32, 4};
constexpr DataType boolx4{TypeCode::uint, 1, 4};

ExprRef node(ExprKind kind, DataType type, VarId var = {}, std::vector<ExprRef> operands = {}, Op op = Op::none,
             std::string text = {}) {
  Expr expr;
  expr.kind = kind;
  expr.op = op;
  expr.type = type;
  expr.var = var;
  expr.text = std::move(text);
  expr.operands = std::move(operands);
  return make_expr(std::move(expr));
}

std::string text_of(const Module& module) {
  const auto fault = find_fault(module);
  return fault ? to_string(module, *fault) : "";
}

struct Fixture {
  testing::ModuleBuilder b;
  VarId p = b.pointer("p");  // of the entry
  VarId i = b.integer("i");
  VarId n = b.integer("n");  // nobody declares it
  VarId a = b.pointer("a");
  VarId x = b.pointer("x");  // of "op"
  ExprRef one = make_int(1);
  ExprRef real = make_float(1, float32_type);
  ExprRef flag = make_int(1, bool_type);
  ExprRef four = make_operator(ExprKind::ramp, int32x4, {one, one});

  // A module whose entry has the body, and an operator "op" with one parameter.
  Module module(Block body) const {
    testing::ModuleBuilder all = b;
    all.entry({p}, std::move(body));
    all.function("op", {x}, block(b.set(x)));
    return all.build();
  }
  std::string fault(Block body) const {
    const std::string text = text_of(module(std::move(body)));
    const std::string front = "function 'main', ";
    return text.starts_with(front) ? text.substr(front.size()) : text;
  }
  template <class Change>
  std::string fault_after(const Change& change) const {
    Module changed = module({});
    change(changed);
    return text_of(changed);
  }
  // The fault of an expression that is an operand of another.
  std::string fault(const ExprRef& expr) const {
    const std::string text = fault(block(b.evaluate(make_call(int32_type, "tir.sink", {expr}))));
    const std::string front = "body[0]: ";
    return text.starts_with(front) ? text.substr(front.size()) : text;
  }
  std::string fault(ExprKind kind, DataType type, std::vector<ExprRef> operands) const {
    return fault(make_operator(kind, type, std::move(operands)));
  }
  std::string fault(Op op, DataType type, std::vector<ExprRef> operands) const {
    return fault(make_call(type, op, std::move(operands)));
  }
  ExprRef let(VarId var, ExprRef value, ExprRef body) const {
    const DataType type = body->type;
    return node(ExprKind::let, type, var, {std::move(value), std::move(body)});
  }
  Stmt constant(Constant data, DataType type) const {
    return {AllocateConst{
        .var = a, .type = type, .data = std::make_shared<const Constant>(std::move(data)), .candidate_pools = {}}};
  }
};

TEST_CASE_FIXTURE(Fixture, "a module in the normal form has no fault") {
  const Block body = block(
      b.allocate(a, 8), b.loop(i, 4, block(b.store(a, b.var(i), b.load(p, b.var(i))))),
      b.loop(i, 4, {}),  // the same variable, in another scope
      b.when(flag, block(b.let(n, one), b.store(a, b.var(n), b.load(p, 0))), block(b.scope(block(b.let(n, one))))),
      b.evaluate(make_binary(ExprKind::add, let(n, one, b.var(n)), let(n, one, b.var(n)))), b.call("op", {a}));
  CHECK(fault(body).empty());
  CHECK_NOTHROW(verify(module(body)));
}

TEST_CASE_FIXTURE(Fixture, "malformed: the module") {
  CHECK(fault_after([](Module& m) { std::swap(m.functions[0], m.functions[1]); }) ==
        "functions are not sorted by name: 'main' stands behind 'op'");
  CHECK(fault_after([](Module& m) { m.functions[1].name = "main"; }) == "two functions are called 'main'");
  CHECK(fault_after([](Module& m) { m.entry = 2; }) == "no entry function");
  CHECK(fault_after([](Module& m) { m.functions[0].is_entry = false; }) == "function 'main' is the entry, but says no");
  CHECK(fault_after([](Module& m) { m.functions[1].is_entry = true; }) ==
        "function 'op' says that it is the entry, but another one is");
  CHECK(fault_after([](Module& m) { m.annotated_pools.resize(2); }) == "two memory pools are called ''");
}

TEST_CASE_FIXTURE(Fixture, "malformed: parameters") {
  CHECK(fault_after([](Module& m) { m.functions[0].params.push_back(m.functions[0].params[0]); }) ==
        "function 'main', parameter 1: variable 'p' is declared again within its own scope");
  CHECK(fault_after([](Module& m) { m.functions[1].params[0].var = m.functions[0].params[0].var; }) ==
        "function 'op', parameter 0: variable 'p' is declared by two functions");
  Module shared = module({});
  shared.functions[1].params[0].var = shared.functions[0].params[0].var;
  shared.functions[1].body.clear();
  CHECK_FALSE(find_fault(shared, Form::outlined));
  CHECK(fault_after([](Module& m) { m.functions[1].params[0].var = VarId(); }) ==
        "function 'op', parameter 0: a variable that the module does not have");
  CHECK(fault_after([&](Module& m) { m.functions[1].params[0].var = n; }) ==
        "function 'op', parameter 0: variable 'n' of type 'int32' is used as storage, expected a handle");
  CHECK(fault_after([&](Module& m) {
          Param& param = m.functions[1].params[0];
          param.var = n;
          param.is_tensor = false;
          param.no_alias = true;
        }) == "function 'op', parameter 0: variable 'n' is no pointer and has no alias");
}

TEST_CASE_FIXTURE(Fixture, "malformed: variables and scopes") {
  const auto undeclared = [](const std::string& place, const std::string& name) {
    return place + ": variable '" + name + "' is used where nothing declares it";
  };
  const auto again = [](const std::string& place, const std::string& name) {
    return place + ": variable '" + name + "' is declared again within its own scope";
  };
  const auto sink = [&](VarId var) { return b.evaluate(b.var(var)); };
  CHECK(fault(block(sink(n))) == undeclared("body[0]", "n"));
  CHECK(fault(block(b.loop(i, 4, {}), sink(i))) == undeclared("body[1]", "i"));
  CHECK(fault(block(b.scope(block(b.allocate(a, 4))), b.set(a))) == undeclared("body[1]", "a"));
  CHECK(fault(block(b.when(flag, {}, block(b.evaluate(b.load(a, 0)))))) == undeclared("body[0].else[0]", "a"));
  CHECK(fault(block(b.let(n, b.var(n)))) == undeclared("body[0]", "n"));
  CHECK(fault(block(b.evaluate(make_binary(ExprKind::add, let(n, one, b.var(n)), b.var(n))))) ==
        undeclared("body[0]", "n"));
  CHECK(fault(block(b.evaluate(let(n, b.var(n), one)))) == undeclared("body[0]", "n"));
  // Shared, and right in one place only.
  const ExprRef sum = make_binary(ExprKind::add, b.var(n), one);
  CHECK(fault(block(b.evaluate(make_binary(ExprKind::add, let(n, one, sum), sum)))) == undeclared("body[0]", "n"));
  CHECK(fault(block(b.loop(n, 4, block(b.evaluate(sum))), b.evaluate(sum))) == undeclared("body[1]", "n"));
  CHECK(fault(block(b.let(n, one), b.let(n, one))) == again("body[1]", "n"));
  CHECK(fault(block(b.loop(i, 4, block(b.loop(i, 4, {}))))) == again("body[0].body[0].body", "i"));
  CHECK(fault(block(b.allocate(a, 4), b.allocate(a, 4))) == again("body[1]", "a"));
  CHECK(fault(block(b.evaluate(let(n, one, let(n, one, one))))) == again("body[0]", "n"));
  CHECK(fault(block(b.let(x, b.var(p)))).empty() == false);  // of "op"
  CHECK(fault(block(b.evaluate(node(ExprKind::var, int32_type)))) ==
        "body[0]: a variable that the module does not have");
  CHECK(fault(block(b.let(n, one), b.store(n, 0, one))) ==
        "body[1]: variable 'n' of type 'int32' is used as storage, expected a handle");
  CHECK(fault(block(b.let(n, one), b.evaluate(make_load(int32_type, n, one)))) ==
        "body[1]: variable 'n' of type 'int32' is used as storage, expected a handle");
  const ExprRef other = node(ExprKind::var, int8_type, i);
  CHECK(fault(block(b.loop(i, 4, block(b.evaluate(other))))) ==
        "body[0].body[0]: variable 'i' of type 'int32' is used as 'int8'");
}

TEST_CASE_FIXTURE(Fixture, "malformed: storage") {
  CHECK(fault(block(b.scope(block(b.allocate(a, 4))), b.scope(block(b.allocate(a, 5))))) ==
        "body[1].body[0]: storage 'a' is allocated twice with different sizes");
  CHECK(fault(block(b.allocate(a, {real}))) == "body[0]: an extent of type 'float32', expected an integer type");
  CHECK(fault(block(b.allocate(a, {four}))) == "body[0]: an extent of type 'int32x4', expected an integer type");
  CHECK(fault(block(b.allocate(a, std::vector<ExprRef>{nullptr}))) == "body[0]: an expression is missing");
  const auto changed = [&](const auto& change) {
    Stmt stmt = b.allocate(a, 4);
    change(std::get<Allocate>(stmt.node));
    return fault(block(std::move(stmt)));
  };
  CHECK(changed([&](Allocate& s) { s.condition = one; }) == "body[0]: a condition of type 'int32', expected a bool");
  CHECK(changed([](Allocate& s) { s.type = void_type; }) == "body[0]: storage 'a' has elements of no type");
  CHECK(changed([](Allocate& s) { s.on_stack = true; }) ==
        "body[0]: storage 'a' is a variable of C, but no single element");
  CHECK(fault(block(constant({int8_type, {3}, "abcd"}, int8_type))) ==
        "body[0]: constant 'a' does not have the bytes of its shape");
  CHECK(fault(block(constant({int8_type, {-1, -4}, "abcd"}, int8_type))) ==
        "body[0]: constant 'a' does not have the bytes of its shape");
  CHECK(fault(block(constant({int8_type, {4}, "abcd"}, float32_type))) ==
        "body[0]: constant 'a' is 'float32', but its data is 'int8'");
  CHECK(fault(block(constant({int8_type, {4}, "abcd"}, int8_type))).empty());
  CHECK(fault(block(Stmt{AllocateConst{.var = a, .type = int8_type, .data = nullptr, .candidate_pools = {}}})) ==
        "body[0]: constant 'a' has no data");
}

TEST_CASE_FIXTURE(Fixture, "malformed: rings") {
  const auto with_ring = [&](Ring ring, Block rest = {}, std::int64_t elements = 12) {
    Stmt stmt = b.allocate(a, elements);
    std::get<Allocate>(stmt.node).ring = ring;
    rest.insert(rest.begin(), std::move(stmt));
    return fault(rest);
  };
  const Ring good{.stride = 2, .extent = 5, .rows = 3};
  CHECK(with_ring(good) == "");
  CHECK(with_ring(good, block(b.store(a, 9, b.load(a, 29)))) == "");
  CHECK(with_ring({.stride = 2, .extent = 2, .rows = 3}) == "body[0]: storage 'a' holds 3 of 2 rows of 2");
  CHECK(with_ring({.stride = 0, .extent = 5, .rows = 3}) == "body[0]: storage 'a' holds 3 of 5 rows of 0");
  CHECK(with_ring({.stride = 2, .extent = 5, .rows = 0}) == "body[0]: storage 'a' holds 0 of 5 rows of 2");
  const std::string no_planes = "body[0]: storage 'a' does not consist of whole planes of the rows that it holds";
  CHECK(with_ring(good, {}, 10) == no_planes);
  CHECK(with_ring(good, {}, 0) == no_planes);
  CHECK(with_ring({.stride = 4, .extent = INT64_MAX / 3, .rows = 3}) == no_planes);
  const auto changed = [&](const auto& change) {
    Stmt stmt = b.allocate(a, 12);
    std::get<Allocate>(stmt.node).ring = good;
    change(std::get<Allocate>(stmt.node));
    return fault(block(std::move(stmt)));
  };
  const std::string no_storage = "body[0]: storage 'a' holds rows, but is a variable of C, conditional or of vectors";
  CHECK(changed([&](Allocate& s) { s.condition = flag; }) == no_storage);
  CHECK(changed([](Allocate& s) { s.type = s.type.with_lanes(4); }) == no_storage);
  CHECK(with_ring(good, block(b.scope(block(b.evaluate(b.address_of(a, 0)))))) ==
        "body[1].body[0]: storage 'a' holds rows, but its address is taken");
  CHECK(with_ring(good, block(b.evaluate(b.var(a)))) == "body[1]: storage 'a' holds rows, but its address is taken");
  CHECK(with_ring(good, block(b.evaluate(make_load(int32_type, a, one)))) ==
        "body[1]: storage 'a' holds rows of 'int8', but is accessed as 'int32'");
  CHECK(with_ring(good, block(b.store(a, one, one))) ==
        "body[1]: storage 'a' holds rows of 'int8', but is accessed as 'int32'");
  Stmt ringed = b.allocate(a, 12);
  std::get<Allocate>(ringed.node).ring = good;
  CHECK(fault(block(b.scope(block(b.allocate(a, 12))), b.scope(block(std::move(ringed))))) ==
        "body[1].body[0]: storage 'a' is allocated twice with different rings");
}

TEST_CASE_FIXTURE(Fixture, "malformed: statements") {
  CHECK(fault(block(b.let(n, real))) == "body[0]: variable 'n' of type 'int32' is bound to a value of type 'float32'");
  CHECK(fault(block(b.store(p, real, one))) ==
        "body[0]: a value of type 'int32' is stored to variable 'p' at an index of type 'float32'");
  CHECK(fault(block(b.store(p, four, one))) ==
        "body[0]: a value of type 'int32' is stored to variable 'p' at an index of type 'int32x4'");
  CHECK(fault(block(b.store(p, one, make_call(void_type, "tir.sink", {})))) ==
        "body[0]: nothing is stored to variable 'p'");
  CHECK(fault(block(Stmt{Store{p, one, one, one}})) == "body[0]: a predicate of type 'int32', expected a bool");
  CHECK(fault(block(Stmt{Store{p, one, one, make_operator(ExprKind::broadcast, boolx4, {flag})}})) ==
        "body[0]: a predicate of type 'boolx4', expected a bool");
  CHECK(fault(block(Stmt{Store{p, one, nullptr, nullptr}})) == "body[0]: an expression is missing");
  CHECK(fault(block(b.evaluate(nullptr))) == "body[0]: an expression is missing");
  CHECK(fault(block(Stmt{For{i, make_int(0, int64_type), one, {}}})) ==
        "body[0]: a loop over variable 'i' of type 'int32' has bounds of types 'int64' and 'int32'");
  CHECK(fault(block(Stmt{For{i, one, make_int(0, int64_type), {}}})) ==
        "body[0]: a loop over variable 'i' of type 'int32' has bounds of types 'int32' and 'int64'");
  CHECK(fault(block(Stmt{For{i, one, real, {}}})) ==
        "body[0]: a loop variable or bound of type 'float32', expected an integer type");
  CHECK(fault(block(Stmt{While{one, {}}})) == "body[0]: a condition of type 'int32', expected a bool");
  CHECK(fault(block(Stmt{While{nullptr, {}}})) == "body[0]: an expression is missing");
  CHECK(fault(block(b.when(one, {}))) == "body[0]: a condition of type 'int32', expected a bool");
  CHECK(fault(block(Stmt{Assert{one, ""}})) == "body[0]: a condition of type 'int32', expected a bool");
  Block deep;
  for (std::size_t depth = 1; depth < max_block_depth; ++depth) deep = block(b.scope(std::move(deep)));
  CHECK(fault(deep).empty());
  deep = block(b.scope(std::move(deep)));
  CHECK(fault(deep).ends_with("body[0].body: blocks nest deeper than 512 levels"));
}

TEST_CASE_FIXTURE(Fixture, "malformed: numbers of operands") {
  for (const auto& [kind, least] : std::vector<std::pair<ExprKind, std::size_t>>{{ExprKind::var, 0},
                                                                                 {ExprKind::int_imm, 0},
                                                                                 {ExprKind::float_imm, 0},
                                                                                 {ExprKind::string_imm, 0},
                                                                                 {ExprKind::add, 2},
                                                                                 {ExprKind::ge, 2},
                                                                                 {ExprKind::or_, 2},
                                                                                 {ExprKind::not_, 1},
                                                                                 {ExprKind::cast, 1},
                                                                                 {ExprKind::select, 3},
                                                                                 {ExprKind::ramp, 2},
                                                                                 {ExprKind::broadcast, 1},
                                                                                 {ExprKind::let, 2}}) {
    CHECK(fault(node(kind, int32_type, p, std::vector<ExprRef>(least + 1, one))) ==
          "an expression has " + std::to_string(least + 1) + (least == 0 ? " operand" : " operands") + ", expected " +
              std::to_string(least));
  }
  CHECK(fault(node(ExprKind::load, int8_type, p)) == "an expression has 0 operands, expected 1 or more");
  CHECK(fault(ExprKind::shuffle, int32_type, {one}) == "an expression has 1 operand, expected 2 or more");
  for (const OpInfo& row : all_ops()) {
    if (row.arity == any_arity) continue;
    const std::vector<ExprRef> operands(row.arity + 1, one);
    CHECK(fault(row.op, int32_type, operands) ==
          "operator '" + std::string(row.name) + "' has " + std::to_string(row.arity + 1) +
              (row.arity == 0 ? " operand" : " operands") + ", expected " + std::to_string(row.arity));
  }
  CHECK(fault(ExprKind::add, int32_type, {one, nullptr}) == "an operand is missing");
}

TEST_CASE_FIXTURE(Fixture, "malformed: literals and types") {
  CHECK(fault(make_int(300, uint8_type)) == "the literal 300 does not fit its type 'uint8'");
  CHECK(fault(make_int(-1, uint8_type)) == "the literal -1 does not fit its type 'uint8'");
  CHECK(fault(make_int(2, bool_type)) == "the literal 2 does not fit its type 'bool'");
  CHECK(fault(make_int(-1, {TypeCode::uint, 64, 1})).empty());
  CHECK(fault(make_int(1, float32_type)) == "an integer literal is of type 'float32'");
  CHECK(fault(make_int(1, int32x4)) == "an integer literal is of type 'int32x4'");
  CHECK(fault(make_float(1, int32_type)) == "a floating point literal is of type 'int32'");
  CHECK(fault(node(ExprKind::string_imm, int32_type)) == "a text is of type 'int32'");
  CHECK(fault(make_int(1, {TypeCode::int_, 0, 1})) == "an impossible type");
  CHECK(fault(make_int(1, {TypeCode::int_, 65, 1})) == "an impossible type");
  CHECK(fault(make_int(1, {TypeCode::int_, 32, 0})) == "an impossible type");
  CHECK(fault(make_call({TypeCode::handle, 32, 1}, "tir.sink", {})) == "an impossible type");
  CHECK(fault(make_call({TypeCode::void_, 8, 1}, "tir.sink", {})) == "an impossible type");
}

TEST_CASE_FIXTURE(Fixture, "malformed: types of operands") {
  const ExprRef wide = make_int(1, int64_type);
  CHECK(fault(ExprKind::add, int32_type, {one, wide}) ==
        "the operands are 'int32' and 'int64', the result is 'int32': expected types that agree");
  CHECK(fault(ExprKind::lt, int32_type, {one, one}) ==
        "the operands are 'int32' and 'int32', the result is 'int32': expected types that agree");
  CHECK(fault(ExprKind::lt, boolx4, {four, four}).empty());
  CHECK(fault(ExprKind::and_, int32_type, {one, one}) == "logic of 'int32', expected bools");
  CHECK(fault(ExprKind::add, handle_type, {b.var(p), b.var(p)}) == "arithmetic of 'handle'");
  CHECK(fault(ExprKind::eq, bool_type, {b.var(p), b.var(p)}).empty());
  CHECK(fault(ExprKind::not_, bool_type, {one}) == "the complement of 'int32' is 'bool', expected bools");
  CHECK(fault(ExprKind::select, int32_type, {one, one, one}) ==
        "a select by 'int32' between 'int32' and 'int32' is 'int32'");
  CHECK(fault(ExprKind::select, int32_type, {flag, wide, one}) ==
        "a select by 'bool' between 'int64' and 'int32' is 'int32'");
  CHECK(fault(ExprKind::select, int32_type, {flag, one, wide}) ==
        "a select by 'bool' between 'int32' and 'int64' is 'int32'");
  CHECK(fault(ExprKind::select, int32x4, {flag, four, four}).empty());
  CHECK(fault(ExprKind::cast, int32_type, {four}) == "a cast from 'int32x4' to 'int32'");
  CHECK(fault(ExprKind::cast, int32_type, {b.var(p)}) == "a cast from 'handle' to 'int32'");
  CHECK(fault(ExprKind::cast, void_type, {one}) == "a cast from 'int32' to 'void'");
  CHECK(fault(make_load(int8_type, p, real)) ==
        "a load of type 'int8' from variable 'p' at an index of type 'float32'");
  CHECK(fault(make_load(int8_type, p, four)) ==
        "a load of type 'int8' from variable 'p' at an index of type 'int32x4'");
  CHECK(fault(make_load(void_type, p, one)) == "a load of nothing");
  CHECK(fault(node(ExprKind::load, int8_type, p, {one, one})) ==
        "a load of type 'int8' has a predicate of type 'int32'");
  CHECK(fault(let(n, wide, one)) == "a let of variable 'n' of type 'int32' binds 'int64' and gives 'int32' as 'int32'");
}

TEST_CASE_FIXTURE(Fixture, "malformed: vectors") {
  CHECK(fault(ExprKind::ramp, int32_type, {one, one}) == "a ramp or broadcast is of type 'int32', expected a vector");
  CHECK(fault(ExprKind::ramp, {TypeCode::int_, 64, 4}, {one, one}) ==
        "an operand of type 'int32' in a vector of type 'int64x4'");
  CHECK(fault(ExprKind::ramp, {TypeCode::float_, 32, 4}, {real, real}) == "a ramp of type 'float32x4'");
  CHECK(fault(ExprKind::broadcast, {TypeCode::float_, 32, 4}, {real}).empty());
  const auto shuffled = [&](std::int64_t vectors, DataType type, std::vector<ExprRef> operands) {
    Expr expr;
    expr.kind = ExprKind::shuffle;
    expr.type = type;
    expr.int_value = vectors;
    expr.operands = std::move(operands);
    return fault(make_expr(expr));
  };
  CHECK(shuffled(1, int32_type, {four, one}).empty());
  CHECK(shuffled(2, int32_type, {four, one}) == "a shuffle of 2 vectors has 2 operands");
  CHECK(shuffled(0, int32_type, {four, one}) == "a shuffle of 0 vectors has 2 operands");
  CHECK(shuffled(1, int8_type, {four, one}) == "a shuffle of 'int32x4' gives 'int8'");
  CHECK(shuffled(1, int32_type, {four, one, one}) == "a shuffle takes 2 lanes for type 'int32'");
  CHECK(shuffled(1, int32_type, {four, real}) == "a shuffle takes a lane index that is not an integer");
  CHECK(shuffled(1, int32_type, {four, make_int(4)}) == "a shuffle takes lane 4, which its vectors do not have");
}

TEST_CASE_FIXTURE(Fixture, "malformed: operators") {
  const ExprRef wide = make_int(1, int64_type);
  const ExprRef pointer = b.var(p);
  const ExprRef load = b.load(p, 0);
  const ExprRef byte = make_load(uint8_type, p, one);
  const ExprRef half = make_load({TypeCode::int_, 16, 1}, p, one);
  const ExprRef note = make_call(int8_type, Op::type_annotation, {});
  const ExprRef word = make_load(int32_type, p, one);
  const ExprRef four_sums = make_int(4);
  struct Case {
    Op op;
    DataType type;
    std::vector<ExprRef> right;
    std::vector<std::pair<DataType, std::vector<ExprRef>>> wrong;
  };
  const std::vector<Case> cases = {
      {Op::if_then_else,
       int32_type,
       {flag, one, one},
       {{int32_type, {one, one, one}}, {int32_type, {flag, wide, one}}}},
      {Op::likely, bool_type, {flag}, {{int32_type, {flag}}}},
      {Op::sigmoid, float32_type, {real}, {{float32_type, {one}}}},
      {Op::exp, float32_type, {real}, {{float32_type, {one}}}},
      {Op::pow, float32_type, {real, real}, {{float32_type, {real, one}}}},
      {Op::bitwise_and, int32_type, {one, one}, {{int32_type, {one, wide}}, {float32_type, {real, real}}}},
      {Op::bitwise_not, int32_type, {one}, {{int64_type, {one}}}},
      {Op::shift_left, int32_type, {one, wide}, {{int32_type, {wide, one}}, {int32_type, {one, real}}}},
      {Op::clz, int32_type, {wide}, {{int32_type, {real}}, {float32_type, {one}}}},
      {Op::isnan, bool_type, {real}, {{bool_type, {one}}, {int32_type, {real}}}},
      {Op::isnullptr, bool_type, {pointer}, {{bool_type, {one}}}},
      {Op::q_multiply_shift,
       int32_type,
       {one, one, one, one},
       {{int32_type, {wide, one, one, one}}, {int32_type, {one, real, one, one}}}},
      {Op::q_multiply_shift_half,
       int32_type,
       {one, make_int(1 << 30), make_int(31), one},
       {{int32_type, {one, one, make_int(31), one}}, {int32_type, {one, make_int(1 << 30), make_int(31), b.var(i)}}}},
      {Op::large_uint_imm, uint8_type, {one, one}, {{uint8_type, {one, real}}}},
      {Op::reinterpret, int32_type, {real}, {{int64_type, {real}}, {handle_type, {real}}}},
      {Op::reinterpret, handle_type, {one}, {{handle_type, {four}}}},
      {Op::address_of, handle_type, {load}, {{handle_type, {pointer}}, {int64_type, {load}}}},
      {Op::tvm_access_ptr,
       handle_type,
       {note, pointer, one, one, one},
       {{handle_type, {one, pointer, one, one, one}},
        {handle_type, {note, one, one, one, one}},
        {handle_type, {note, pointer, one, one, real}}}},
      {Op::handle_add_byte_offset, handle_type, {pointer, one}, {{handle_type, {one, one}}}},
      {Op::multiply_high, int32_type, {one, one, one}, {{int32_type, {one, one, wide}}}},
      {Op::dot4,
       int32_type,
       {one, byte, byte, one},
       {{int64_type, {one, byte, byte, one}},
        {int32_type, {wide, byte, byte, one}},
        {int32_type, {one, one, byte, one}},
        {int32_type, {one, byte, one, one}},
        {int32_type, {one, byte, byte, byte}}}},
      {Op::lane_product, int32_type, {one, byte, byte, one, one}, {{int32_type, {one, byte, byte, one, byte}}}},
      {Op::dot_run,
       tir::void_type,
       {word, byte, byte, one, one, one, one, one, four_sums},
       {{int32_type, {word, byte, byte, one, one, one, one, one, four_sums}},
        {tir::void_type, {one, byte, byte, one, one, one, one, one, four_sums}},
        {tir::void_type, {word, one, byte, one, one, one, one, one, four_sums}},
        {tir::void_type, {word, byte, one, one, one, one, one, one, four_sums}},
        {tir::void_type, {word, byte, byte, wide, one, one, one, one, four_sums}},
        {tir::void_type, {word, byte, byte, one, one, one, one, b.var(i), four_sums}},
        {tir::void_type, {word, byte, byte, one, one, one, one, one, b.var(i)}}}},
      {Op::paired_weight,
       int32_type,
       {half, one},
       {{int32_type, {byte, one}}, {int32_type, {half, wide}}, {int64_type, {half, one}}}},
      {Op::pair_run,
       tir::void_type,
       {word, byte, half, one, one, one},
       {{int32_type, {word, byte, half, one, one, one}},
        {tir::void_type, {one, byte, half, one, one, one}},
        {tir::void_type, {half, byte, half, one, one, one}},
        {tir::void_type, {word, half, half, one, one, one}},
        {tir::void_type, {word, byte, byte, one, one, one}},
        {tir::void_type, {word, byte, half, wide, one, one}},
        {tir::void_type, {word, byte, half, one, wide, one}},
        {tir::void_type, {word, byte, half, one, one, b.var(i)}}}},
      {Op::row_run,
       tir::void_type,
       {word, byte, byte, one, one, one, one, one, one},
       {{int32_type, {word, byte, byte, one, one, one, one, one, one}},
        {tir::void_type, {word, byte, byte, one, one, one, one, b.var(i), one}},
        {tir::void_type, {word, byte, byte, one, one, one, one, one, b.var(i)}}}},
      {Op::window_run,
       tir::void_type,
       {word, byte, byte, one, one, one, one, one, one, one, one},
       {{int32_type, {word, byte, byte, one, one, one, one, one, one, one, one}},
        {tir::void_type, {word, half, byte, one, one, one, one, one, one, one, one}},
        {tir::void_type, {word, byte, half, one, one, one, one, one, one, one, one}},
        {tir::void_type, {word, byte, byte, one, one, one, one, one, one, one, b.var(i)}}}},
      {Op::lane_window,
       tir::void_type,
       {word, byte, byte, one, one, one, one, one, one, one, one, one, one, one, one},
       {{int32_type, {word, byte, byte, one, one, one, one, one, one, one, one, one, one, one, one}},
        {tir::void_type, {word, half, byte, one, one, one, one, one, one, one, one, one, one, one, one}},
        {tir::void_type, {word, byte, half, one, one, one, one, one, one, one, one, one, one, one, one}},
        {tir::void_type, {word, byte, byte, one, one, one, one, one, one, one, one, b.var(i), one, one, one}},
        {tir::void_type, {word, byte, byte, one, one, one, one, one, one, one, one, one, one, b.var(i), one}},
        {tir::void_type, {word, byte, byte, one, one, one, one, one, one, one, one, one, one, one, b.var(i)}}}},
      {Op::lane_run,
       tir::void_type,
       {word, byte, byte, one, one, one, one, one, one},
       {{int32_type, {word, byte, byte, one, one, one, one, one, one}},
        {tir::void_type, {word, byte, byte, one, one, one, one, one, b.var(i)}}}},
  };
  for (const Case& c : cases) {
    CHECK(fault(c.op, c.type, c.right).empty());
    for (const auto& [type, operands] : c.wrong) {
      CHECK(fault(c.op, type, operands).find("does not go with operands of type") != std::string::npos);
    }
  }
  CHECK(fault(Op::likely, int32_type, {flag}) ==
        "operator 'tir.likely' of type 'int32' does not go with operands of type 'bool'");
  CHECK(fault(node(ExprKind::call, int32_type)) == "a call without an operator");
  CHECK(fault(node(ExprKind::call, int32_type, {}, {}, Op::other)) == "a call whose operator has two names or none");
  CHECK(fault(node(ExprKind::call, int32_type, {}, {}, Op::undef, "tir.more")) ==
        "a call whose operator has two names or none");
  CHECK(fault(node(ExprKind::int_imm, int32_type, {}, {}, Op::exp)) ==
        "an operator on an expression that is not a call");
}

TEST_CASE_FIXTURE(Fixture, "malformed: calls by name") {
  CHECK(fault(b.call_expr("op", {b.var(p)})).empty());
  CHECK(fault(b.call_expr("elsewhere", {one, one})).empty());
  CHECK(fault(b.call_expr("op", {})) == "a call passes 0 arguments to 'op', which takes 1");
  CHECK(fault(b.call_expr("op", {one})) == "a call passes 'int32' to 'op', whose parameter 0 is 'handle'");
  CHECK(fault(Op::call_extern, int32_type, {one}) == "operator 'tir.call_extern' has no name of a function in front");
  const ExprRef name = make_string("op");
  CHECK(fault(Op::tvm_call_cpacked, int32_type, {name, b.var(p), b.var(p)}).empty());
  CHECK(fault(Op::tvm_call_cpacked, int32_type, {name}) == "a call of 'op' has no resource handle at the end");
  CHECK(fault(Op::tvm_call_cpacked, int32_type, {name, b.var(p), one}) ==
        "a call of 'op' has no resource handle at the end");
}

TEST_CASE_FIXTURE(Fixture, "malformed: front ends tell it as an error with its place") {
  try {
    verify(module(block(b.loop(i, 4, block(b.evaluate(b.var(n)))))));
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::archive);
    CHECK(error.where().place == "function 'main', body[0].body[0]");
    CHECK(error.message() == "variable 'n' is used where nothing declares it");
  }
}

TEST_CASE_FIXTURE(Fixture, "what expressions share is looked at once") {
  ExprRef sum = one;
  for (int level = 0; level < 200; ++level) sum = make_binary(ExprKind::add, sum, sum);
  CHECK(fault(block(b.evaluate(sum))).empty());
  ExprRef deep = one;
  for (int level = 0; level < 200'000; ++level) deep = make_binary(ExprKind::add, deep, one);
  CHECK(fault(block(b.evaluate(deep))).empty());
}

}  // namespace
}  // namespace usmp::tir::verify_test

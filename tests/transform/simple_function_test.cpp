#include "transform/simple_function.hpp"

#include <doctest/doctest.h>

#include "transform/program.hpp"

namespace usmp::transform::testing::simple_function_test {
namespace {

struct Fixture : Program {
  VarId a = input("a", 8);
  VarId c = output("c", 8);
  VarId i = number("i");
  VarId j = number("j");

  [[nodiscard]] tir::Stmt copy_all(VarId over) const {
    return loop(over, 8, block(store(c, var(over), load(a, var(over)))));
  }
  [[nodiscard]] bool is_simple_with(tir::Stmt more) {
    body(block(copy_all(i), std::move(more)));
    return simple();
  }
};

TEST_CASE_FIXTURE(Fixture, "simple functions: loops, branches, lets of numbers, scalar accesses") {
  const VarId b = buffer("b");
  const VarId t = number("t");
  body(block(allocate(b, 8), let(t, load(a, 3)),
             loop(i, 8, block(when(less(var(i), var(t)), block(store(b, var(i), load(a, var(i))))))),
             scope(block(
                 loop(j, 8, block(store(c, var(j), tir::make_call(int32_type, "tir.popcount", {load(a, var(j))}))))))));
  CHECK(simple());
}

TEST_CASE_FIXTURE(Fixture, "simple functions may compute with any function of math.h") {
  const auto of_one = [](const char* op) {
    return evaluate(tir::make_call(float32_type, op, {tir::make_float(1, float32_type)}));
  };
  SUBCASE("of two arguments") { CHECK(is_simple_with(of_one("tir.atan2"))); }
  SUBCASE("made of another") { CHECK(is_simple_with(of_one("tir.exp10"))); }
}

TEST_CASE_FIXTURE(Fixture, "simple functions hold nothing else") {
  SUBCASE("a call of a function") { CHECK_FALSE(is_simple_with(call("g", std::vector{a}))); }
  SUBCASE("an operator that is not known") {
    CHECK_FALSE(is_simple_with(evaluate(tir::make_call(int32_type, "tir.reinterpret", {load(a, 0)}))));
  }
  SUBCASE("an address") { CHECK_FALSE(is_simple_with(evaluate(address_of(a, 0)))); }
  SUBCASE("a pointer") { CHECK_FALSE(is_simple_with(let(buffer("p"), var(a)))); }
  SUBCASE("a while loop") { CHECK_FALSE(is_simple_with({tir::While{less(load(a, 0), 0), {}}})); }
  SUBCASE("an assertion") { CHECK_FALSE(is_simple_with({tir::Assert{less(load(a, 0), 0), "no"}})); }
  SUBCASE("a predicate") {
    tir::Stmt stmt = store(c, 0, tir::make_int(1));
    std::get<tir::Store>(stmt.node).predicate = less(load(a, 0), 0);
    CHECK_FALSE(is_simple_with(std::move(stmt)));
  }
  SUBCASE("a load of another type") {
    CHECK_FALSE(is_simple_with(evaluate(tir::make_load(int8_type, a, tir::make_int(0)))));
  }
  SUBCASE("a store of another type") { CHECK_FALSE(is_simple_with(store(c, 0, tir::make_int(1, int8_type)))); }
  SUBCASE("a vector") {
    tir::Expr four{
        .kind = ExprKind::broadcast, .type = int32_type.with_lanes(4), .var = {}, .text = {}, .operands = {}};
    four.operands.push_back(load(a, 0));
    CHECK_FALSE(is_simple_with(evaluate(tir::make_expr(four))));
  }
  SUBCASE("a variable bound twice") { CHECK_FALSE(is_simple_with(copy_all(i))); }
  SUBCASE("a let expression") {
    tir::Expr expr{.kind = ExprKind::let, .type = int32_type, .var = j, .text = {}, .operands = {}};
    expr.operands = {load(a, 0), var(j)};
    CHECK_FALSE(is_simple_with(evaluate(tir::make_expr(expr))));
  }
  SUBCASE("a let expression of a variable that is a loop's, too") {
    tir::Expr expr{.kind = ExprKind::let, .type = int32_type, .var = i, .text = {}, .operands = {}};
    expr.operands = {load(a, 0), var(i)};
    CHECK_FALSE(is_simple_with(evaluate(tir::make_expr(expr))));
  }
  SUBCASE("storage of a size that is not constant") {
    CHECK_FALSE(is_simple_with(allocate(buffer("b"), std::vector{load(a, 0)})));
  }
  SUBCASE("storage that may not be there") {
    tir::Stmt stmt = allocate(buffer("b"), 8);
    std::get<tir::Allocate>(stmt.node).condition = less(load(a, 0), 0);
    CHECK_FALSE(is_simple_with(std::move(stmt)));
  }
  SUBCASE("storage of vectors") { CHECK_FALSE(is_simple_with(allocate(buffer("b", int32_type.with_lanes(4)), 8))); }
  SUBCASE("storage from nowhere") { CHECK_FALSE(is_simple_with(evaluate(load(buffer("b"), 0)))); }
  SUBCASE("a null pointer") {
    CHECK_FALSE(is_simple_with(let(buffer("p"), tir::make_cast(tir::handle_type, tir::make_int(0)))));
  }
  SUBCASE("pointers that are compared") {
    CHECK_FALSE(is_simple_with(evaluate(tir::make_binary(ExprKind::eq, var(a), var(c)))));
  }
  SUBCASE("a variable from nowhere") { CHECK_FALSE(is_simple_with(evaluate(var(j)))); }
  SUBCASE("a load under a predicate") {
    tir::Expr some = *load(a, 0);
    some.operands.push_back(less(load(a, 1), 0));
    CHECK_FALSE(is_simple_with(evaluate(tir::make_expr(some))));
  }
  SUBCASE("nothing of these") { CHECK(is_simple_with(copy_all(j))); }
}

TEST_CASE_FIXTURE(Fixture, "simple functions are written in TIR for the host, and no entry") {
  body(block(copy_all(i)));
  const auto is_simple_now = [&](std::size_t function) {
    return is_simple(changed(), function, ParamAliases(changed()));
  };
  CHECK(is_simple_now(index()));
  SUBCASE("but have C of their own") { op().imported_c = {"void g(void) {}"}; }
  SUBCASE("but are another target's") { op().target = "cmsis-nn"; }
  SUBCASE("but nobody calls them") { changed().functions[changed().entry].body.clear(); }
  CHECK(is_simple_now(index()) == false);
  CHECK(is_simple_now(changed().entry) == false);
}

TEST_CASE_FIXTURE(Fixture, "simple functions are of a size that people write") {
  tir::Block all;
  SUBCASE("statements") {
    for (std::size_t n = 0; n <= max_statements; ++n) all.push_back(store(c, 0, tir::make_int(1)));
  }
  SUBCASE("expressions") {
    ExprRef sum = load(a, 0);
    for (std::size_t n = 0; n < max_expressions / 2; ++n) sum = add(sum, 1);
    all.push_back(store(c, 0, sum));
  }
  body(std::move(all));
  CHECK_FALSE(simple());
}

// An entry that calls f(a, c) and f(b, d) unless told otherwise.
struct Calls : tir::testing::ModuleBuilder {
  VarId a = pointer("a", int32_type);
  VarId c = pointer("c", int32_type);
  VarId x = pointer("x", int32_type);
  VarId y = pointer("y", int32_type);
  VarId z = pointer("z", int32_type);

  ParamAliases aliases(tir::Block body_of_entry) {
    function("f", {a, c}, block(store(c, 0, load(a, 0))));
    entry({x, y}, std::move(body_of_entry));
    return ParamAliases(build());
  }
};

TEST_CASE_FIXTURE(Calls, "parameters may be one storage if any call says so") {
  const auto made = aliases(block(allocate(z, 8), call("f", {x, z}), call("f", {z, y})));
  CHECK(made.known(0));
  CHECK_FALSE(made.may_alias(a, c));
  CHECK(made.may_alias(a, a));
}

TEST_CASE_FIXTURE(Calls, "one call of several passes one storage twice") {
  const auto made = aliases(block(call("f", {x, y}), call("f", {y, y}), call("f", {x, y})));
  CHECK(made.known(0));
  CHECK(made.may_alias(a, c));
  CHECK(made.may_alias(c, a));
}

TEST_CASE_FIXTURE(Calls, "what one call passes once and another twice is no class of three") {
  const VarId b = pointer("b", int32_type);
  function("f", {a, b, c}, block(store(c, 0, load(a, 0))));
  entry({x, y}, block(call("f", {x, x, y}), call("f", {y, x, x}), call("f", {x, x, y})));
  const ParamAliases made(build());
  CHECK(made.may_alias(a, b));
  CHECK(made.may_alias(b, c));
  CHECK_FALSE(made.may_alias(a, c));
  CHECK(made.classes() == 2);
}

TEST_CASE_FIXTURE(Calls, "parameters that are all one storage are one class, not pairs") {
  std::vector<VarId> params;
  for (int n = 0; n < 500; ++n) params.push_back(pointer("p", int32_type));
  function("f", params, block(store(params[0], 0, tir::make_int(1))));
  entry({x, y}, block(call("f", std::vector<VarId>(params.size(), x))));
  const ParamAliases made(build());
  CHECK(made.classes() == 1);
  CHECK(made.may_alias(params.front(), params.back()));
}

TEST_CASE_FIXTURE(Calls, "a parameter of too many classes may be what any other is that is in one") {
  std::vector<VarId> params = {a};
  while (params.size() < ParamAliases::most_classes + 5) params.push_back(pointer("p", int32_type));
  function("f", params, block(store(params[0], 0, tir::make_int(1))));
  std::size_t partners = ParamAliases::most_classes;
  SUBCASE("many") {}
  SUBCASE("too many") { ++partners; }
  std::vector<VarId> storages;
  tir::Block body;
  for (std::size_t n = 0; n < params.size(); ++n) {
    storages.push_back(pointer("s", int32_type));
    body.push_back(allocate(storages.back(), 8));
  }
  const auto together = [&](std::size_t one, std::size_t other) {
    std::vector<VarId> arguments = storages;
    arguments[other] = arguments[one];
    body.push_back(call("f", arguments));
  };
  for (std::size_t n = 1; n <= partners; ++n) together(0, n);
  together(partners + 1, partners + 2);
  entry({x, y}, body);
  const ParamAliases made(build());
  CHECK(made.may_alias(a, params[1]));
  CHECK(made.may_alias(params[partners], a));
  CHECK_FALSE(made.may_alias(params[1], params[2]));
  CHECK_FALSE(made.may_alias(params[1], params[partners + 1]));
  CHECK(made.may_alias(a, params[partners + 1]) == (partners > ParamAliases::most_classes));
  CHECK_FALSE(made.may_alias(a, params.back()));
}

TEST_CASE_FIXTURE(Calls, "nothing is known of functions that are passed anything but whole storage") {
  SUBCASE("an address") { CHECK_FALSE(aliases(block(call("f", {var(x), address_of(x, 1)}))).known(0)); }
  SUBCASE("a pointer of the entry") {
    CHECK_FALSE(aliases(block(let(z, address_of(x, 1)), call("f", {x, z}))).known(0));
  }
  SUBCASE("storage that is another pointer there") {
    const tir::Stmt pointer = scope(block(let(z, address_of(x, 1)), call("f", {x, z})));
    CHECK_FALSE(aliases(block(scope(block(allocate(z, 8))), pointer)).known(0));
  }
  SUBCASE("in one of two calls") {
    CHECK_FALSE(aliases(block(call("f", {x, y}), call("f", {var(x), address_of(x, 1)}))).known(0));
    CHECK_FALSE(is_simple(module(), 0, ParamAliases(module())));
  }
  SUBCASE("too few") { CHECK_FALSE(aliases(block(call("f", {x}))).known(0)); }
  SUBCASE("by another function than the entry") {
    const VarId p = pointer("p", int32_type);
    const VarId q = pointer("q", int32_type);
    function("g", {p, q}, block(call("f", {p, q})));
    CHECK_FALSE(aliases(block(call("g", {x, y}))).known(0));
  }
  SUBCASE("never") { CHECK_FALSE(aliases({}).known(0)); }
}

}  // namespace
}  // namespace usmp::transform::testing::simple_function_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Accesses through other names, and by code that the module does not show.
#include <doctest/doctest.h>

#include "liveness/result.hpp"

namespace usmp::liveness::testing::alias_test {
namespace {

using tir::ExprKind;
using tir::make_call;
using tir::make_int;

// x is stored to at tick 0, `alias` (some Let or call around x) stands at tick 1, y at 2; then `use` at 3.
struct AliasCase {
  ModuleBuilder b;
  tir::VarId x = b.pointer("x");
  tir::VarId y = b.pointer("y");
  tir::VarId z = b.pointer("z");
  tir::VarId a = b.pointer("a");

  Result with_let(const tir::ExprRef& value) {
    b.entry({}, block(b.allocate(x, 8), b.allocate(y, 8), b.allocate(z, 8), b.set(x), b.let(a, value), b.set(y),
                      b.copy(y, a)));
    return run(b);
  }
};

TEST_CASE("a pointer variable stands for the storage it was made of") {
  SUBCASE("plain") {
    AliasCase c;
    CHECK(c.with_let(c.b.var(c.x)).live("x") == "0-4");
  }
  SUBCASE("address_of") {
    AliasCase c;
    CHECK(c.with_let(c.b.address_of(c.x, 4)).live("x") == "0-4");
  }
  SUBCASE("tvm_access_ptr") {
    AliasCase c;
    CHECK(c.with_let(c.b.access_ptr(c.x, 4, 4)).live("x") == "0-4");
  }
  SUBCASE("cast and reinterpret") {
    AliasCase c;
    const auto cast = tir::make_cast(tir::handle_type, c.b.var(c.x));
    CHECK(c.with_let(make_call(tir::handle_type, "tir.reinterpret", {cast})).live("x") == "0-4");
  }
  SUBCASE("pointer arithmetic") {
    AliasCase c;
    CHECK(c.with_let(add(c.b.var(c.x), make_int(4))).live("x") == "0-4");
  }
  SUBCASE("let in an expression") {
    AliasCase c;
    const auto inner = c.b.pointer("inner");
    tir::Expr let;
    let.kind = ExprKind::let;
    let.type = tir::handle_type;
    let.var = inner;
    let.operands = {c.b.var(c.x), c.b.var(inner)};
    CHECK(c.with_let(std::make_shared<const tir::Expr>(let)).live("x") == "0-4");
  }
  SUBCASE("what an extern function returns") {
    AliasCase c;
    CHECK(c.with_let(make_call(tir::handle_type, "tir.call_extern", {tir::make_string("shift"), c.b.var(c.x)}))
              .live("x") == "0-4");
  }
}

TEST_CASE("a variable that one statement binds twice stands for each of its values") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  const auto inner = b.pointer("inner");
  const auto first_byte_of = [&](tir::VarId storage) {
    tir::Expr let;
    let.kind = ExprKind::let;
    let.type = int8_type;
    let.var = inner;
    let.operands = {b.var(storage), b.load(inner, 0)};
    return tir::make_expr(std::move(let));
  };
  b.entry({}, block(b.allocate(x, 8), b.allocate(y, 8), b.set(x), b.set(y),
                    b.evaluate(add(first_byte_of(x), first_byte_of(y)))));
  const Result result = run(b);
  CHECK(result.live("x") == "0-3");
  CHECK(result.live("y") == "1-3");
}

TEST_CASE("a choice between pointers stands for both") {
  for (const bool lazy : {false, true}) {
    AliasCase c;
    const auto condition = make_int(1, tir::bool_type);
    tir::Expr select;
    select.kind = ExprKind::select;
    select.type = tir::handle_type;
    select.operands = {condition, c.b.var(c.x), c.b.var(c.z)};
    const auto value = lazy ? make_call(tir::handle_type, "tir.if_then_else", select.operands)
                            : std::make_shared<const tir::Expr>(select);
    const Result r = c.with_let(value);
    CHECK(r.live("x") == "0-4");
    CHECK(r.live("z") == "3-4");
    CHECK_FALSE(r.site("y").live.empty());
  }
}

TEST_CASE("NULL and linked parameters stand for nothing") {
  AliasCase c;
  CHECK(c.with_let(make_call(tir::handle_type, "tir.reinterpret", {make_int(0)})).live("x") == "0-1");
  AliasCase d;
  CHECK(d.with_let(make_call(tir::handle_type, "tir.lookup_param", {tir::make_string("p0")})).live("x") == "0-1");
}

TEST_CASE("taking an address is no access, its index is") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  const auto n = b.pointer("n");
  const auto a = b.pointer("a");
  const auto address = make_call(tir::handle_type, "tir.address_of", {b.load(x, b.load(n, 0))});
  b.entry({}, block(b.allocate(x, 8), b.allocate(n, 8), b.set(x), b.set(n), b.let(a, address)));
  const Result r = run(b);
  CHECK(r.live("x") == "0-1");
  CHECK(r.live("n") == "1-3");
}

TEST_CASE("an alias of an alias, through a call argument, reaches the storage") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto a = b.pointer("a");
  b.function("op", {p},
             block(b.let(a, b.address_of(p, 1)), b.evaluate(make_int(0)), b.set(a), b.evaluate(make_int(0))));
  const auto x = b.pointer("x");
  const auto e = b.pointer("e");
  b.entry({}, block(b.allocate(x, 8), b.let(e, b.access_ptr(x, 2, 4)), b.call("op", {b.address_of(e, 1)})));
  CHECK(run(b).live("x") == "3-4");
}

TEST_CASE("the same parameter means another buffer in another call") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  b.function("op", {p}, block(b.set(p)));
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  b.entry({}, block(b.allocate(x, 8), b.allocate(y, 8), b.call("op", {x}), b.call("op", {y}), b.call("op", {x})));
  const Result r = run(b);
  CHECK(r.live("x") == "0-3");
  CHECK(r.live("y") == "1-2");
}

TEST_CASE("a pointer that a function is handed and never uses is not accessed") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto q = b.pointer("q");
  b.function("op", {p, q}, block(b.set(p)));
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  b.entry({}, block(b.allocate(x, 8), b.allocate(y, 8), b.call("op", {x, y})));
  CHECK(run(b).site("y").live.empty());
}

TEST_CASE("an extern function reads and writes all it is handed, in each way of calling") {
  for (const char* op : {"tir.call_extern", "tir.call_pure_extern", "tir.tvm_call_packed", "tir.tvm_call_cpacked"}) {
    ModuleBuilder b;
    const auto x = b.pointer("x");
    const auto y = b.pointer("y");
    const auto z = b.pointer("z");
    const auto call = make_call(tir::int32_type, op,
                                {tir::make_string("library"), b.var(x), b.access_ptr(y, 0, 8), b.address_of(z, 2),
                                 make_int(3), make_call(tir::handle_type, "tir.reinterpret", {make_int(0)})});
    b.entry({}, block(b.allocate(x, 8), b.allocate(y, 8), b.allocate(z, 8), b.evaluate(make_int(0)), b.evaluate(call)));
    const Result r = run(b);
    for (const char* name : {"x", "y", "z"}) {
      CHECK(r.live(name) == "1-2");
      CHECK(r.site(name).targets == std::set<std::string>{"c"});
    }
    CHECK(r.analysis.extern_callees == std::vector<std::string>{"library"});
    REQUIRE(r.analysis.calls.size() == 1);
    CHECK(text({r.analysis.calls[0].ticks}) == "1-2");
  }
}

TEST_CASE("the packed convention's resource handle is no argument") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  b.function("op", {p}, block(b.set(p)));
  const auto x = b.pointer("x");
  const auto null = make_call(tir::handle_type, "tir.reinterpret", {make_int(0)});
  b.entry({}, block(b.allocate(x, 8), b.evaluate(make_call(tir::int32_type, "tir.tvm_call_cpacked",
                                                           {tir::make_string("op"), b.var(x), null}))));
  CHECK(run(b).live("x") == "0-1");
}

TEST_CASE("a function of another target is opaque: it accesses all it is handed, and its body is not planned") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto q = b.pointer("q");
  const auto s = b.pointer("s");
  b.function("npu", {p, q}, block(b.allocate(s, 8), b.set(s)), "cmsis-nn");
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  b.entry({}, block(b.allocate(x, 8), b.allocate(y, 8), b.set(x), b.call("npu", {x, y}), b.copy(y, y)));
  const Result r = run(b);
  CHECK(r.names() == std::vector<std::string>{"x", "y"});
  CHECK(r.live("x") == "0-2");
  CHECK(r.live("y") == "1-3");
  CHECK(r.site("x").targets == std::set<std::string>{"c", "cmsis-nn"});
  CHECK(r.site("y").targets == std::set<std::string>{"c", "cmsis-nn"});
  CHECK(r.analysis.extern_callees.empty());
  CHECK(r.analysis.reached == std::vector<bool>{true, true});
  REQUIRE(r.analysis.calls.size() == 1);
  CHECK(r.analysis.calls[0].callee == "npu");
}

TEST_CASE("an unknown intrinsic accesses what it is handed") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  b.entry({}, block(b.allocate(x, 8), b.evaluate(make_int(0)),
                    b.evaluate(make_call(tir::int32_type, "tir.mystery", {b.address_of(x, 0)}))));
  CHECK(run(b).live("x") == "1-2");
}

TEST_CASE("a pointer that gets out of sight keeps its storage live throughout") {
  const auto ends_live = [](const auto& make_stmt, const char* expected) {
    ModuleBuilder b;
    const auto x = b.pointer("x");
    const auto y = b.pointer("y");
    const auto h = b.pointer("h", tir::handle_type);
    const auto v = b.integer("v");
    tir::Stmt stmt = make_stmt(b, x, h, v);
    b.entry({}, block(b.allocate(x, 8), b.allocate(y, 8), b.allocate(h, 8), b.set(y), std::move(stmt), b.set(y)));
    CHECK(run(b).live("x") == expected);
  };
  using B = ModuleBuilder;
  using V = tir::VarId;
  ends_live([](B& b, V x, V h, V) { return b.store(h, 0, b.var(x)); }, "0-3");
  ends_live([](B& b, V x, V, V v) { return b.let(v, tir::make_cast(tir::int64_type, b.address_of(x, 0))); }, "0-3");
  ends_live([](B& b, V x, V, V v) { return b.let(v, make_call(tir::int64_type, "tir.reinterpret", {b.var(x)})); },
            "0-3");
  ends_live([](B& b, V x, V, V) { return b.evaluate(make_call(tir::int32_type, "tir.ret", {b.var(x)})); }, "0-3");
  ends_live(
      [](B& b, V x, V h, V) {
        return b.evaluate(make_call(tir::int32_type, "tir.tvm_struct_set", {b.var(h), make_int(0), b.var(x)}));
      },
      "0-3");
  // These let nothing out.
  ends_live([](B& b, V x, V, V) { return b.evaluate(b.var(x)); }, "");
  ends_live([](B& b, V x, V, V v) { return b.let(v, make_call(tir::bool_type, "tir.isnullptr", {b.var(x)})); }, "");
  ends_live([](B& b, V x, V, V v) { return b.let(v, tir::make_binary(ExprKind::ne, b.var(x), b.var(x))); }, "");
}

TEST_CASE("a constant handed as an argument is accessed where the callee reads it") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto q = b.pointer("q");
  b.function("op", {p, q}, block(b.copy(q, p)));
  const auto c = b.pointer("c");
  const auto unused = b.pointer("unused");
  const auto x = b.pointer("x");
  b.entry({}, block(b.constant(c, "abc"), b.constant(unused, "abc"), b.allocate(x, 8), b.evaluate(make_int(0)),
                    b.call("op", {c, x}), b.evaluate(make_int(0))));
  const Result r = run(b);
  CHECK(r.live("c") == "0-3");
  CHECK(r.site("c").kind == BufferKind::constant);
  CHECK(r.site("c").size == 3);
  CHECK(r.site("unused").live.empty());
}

}  // namespace
}  // namespace usmp::liveness::testing::alias_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sizes and alignments, and what is refused.
#include <doctest/doctest.h>

#include "liveness/result.hpp"

namespace usmp::liveness::testing::size_test {
namespace {

using tir::make_int;

TEST_CASE("sizes are the product of the extents and the element") {
  ModuleBuilder b;
  const auto x = b.pointer("x", float32_type);
  const auto y = b.pointer("y", tir::bool_type);
  const auto z = b.pointer("z", tir::DataType{tir::TypeCode::float_, 32, 4});
  const auto empty = b.pointer("empty");
  b.entry({},
          block(b.allocate(x, {make_int(3), make_int(5)}), b.allocate(y, 7), b.allocate(z, 2), b.allocate(empty, 0)));
  const Result r = run(b);
  CHECK(r.site("x").size == 60);
  CHECK(r.site("y").size == 7);
  CHECK(r.site("z").size == 32);
  CHECK(r.site("empty").size == 0);
}

TEST_CASE("a size not known at compile time leaves the allocate out and reports it") {
  ModuleBuilder b;
  const auto n = b.integer("n");
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  b.entry({}, block(b.let(n, make_int(4)), b.allocate(x, {make_int(3), b.var(n)}), b.allocate(y, 4), b.set(x),
                    b.copy(y, x)));
  const Result r = run(b);
  CHECK(r.names() == std::vector<std::string>{"y"});
  REQUIRE(r.analysis.unplanned.size() == 1);
  CHECK(r.analysis.unplanned[0].name == "x");
  CHECK(r.analysis.unplanned[0].var == x);
  CHECK(r.analysis.unplanned[0].reason == "extent 1 is not a constant");
}

TEST_CASE("an unplanned allocate in an operator is reported once") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto x = b.pointer("x");
  b.function("op", {p}, block(b.allocate(x, {b.load(p, 0)}), b.set(x)));
  const auto t = b.pointer("t");
  b.entry({}, block(b.allocate(t, 8), b.set(t), b.call("op", {t}), b.call("op", {t})));
  const Result r = run(b);
  REQUIRE(r.analysis.unplanned.size() == 1);
  CHECK(r.analysis.unplanned[0].function == 1);
  // Its extent is read when it is allocated.
  CHECK(r.live("t") == "0-4");
}

TEST_CASE("a variable allocated in two blocks is planned in both or in none") {
  for (const bool constant_first : {false, true}) {
    ModuleBuilder b;
    const auto n = b.integer("n");
    const auto x = b.pointer("x");
    tir::Stmt constant = b.scope(block(b.allocate(x, 4), b.set(x)));
    tir::Stmt unknown = b.scope(block(b.allocate(x, {b.var(n)}), b.set(x)));
    if (!constant_first) std::swap(constant, unknown);
    b.entry({}, block(b.let(n, make_int(8)), constant, unknown));
    CHECK(error_of(b) == "main: variable 'x' is allocated both with and without a constant size");
  }
}

TEST_CASE("impossible sizes are refused with the function and the variable") {
  const auto error_with = [](std::vector<tir::ExprRef> extents) {
    ModuleBuilder b;
    const auto x = b.pointer("x");
    b.entry({}, block(b.allocate(x, std::move(extents))));
    return error_of(b);
  };
  CHECK(error_with({make_int(4), make_int(-1)}) == "main: variable 'x' is allocated with a negative extent");
  const auto big = make_int(std::int64_t{1} << 40, tir::int64_type);
  CHECK(error_with({big, big}) == "main: variable 'x' needs more than 281474976710656 bytes");
  CHECK(error_with({make_int((std::int64_t{1} << 48) + 1, tir::int64_type)}) ==
        "main: variable 'x' needs more than 281474976710656 bytes");
  CHECK(error_with({make_int(std::int64_t{1} << 48, tir::int64_type)}) == "no error");
}

TEST_CASE("the alignment is the executor's, or more where elements or accesses need it") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  const auto d = b.pointer("d", tir::DataType{tir::TypeCode::float_, 64, 1});
  const auto c = b.pointer("c");
  const auto v = b.pointer("v", tir::DataType{tir::TypeCode::float_, 32, 4});
  const auto wide = b.pointer("wide");
  const auto body = block(b.allocate(x, 4), b.allocate(d, 4), b.constant(c, "abc"), b.allocate(v, 1),
                          b.allocate(wide, 16), b.store(wide, 0, make_int(1, tir::int32_type)));
  const auto stated = b.pointer("stated");
  tir::Stmt array = b.allocate(stated, 4);
  std::get<tir::Allocate>(array.node).alignment = 32;  // by the C that was read
  b.entry({}, block(array, b.set(stated), b.scope(body)));
  const Result standard = run(b);
  for (const char* name : {"x", "d", "c", "v", "wide"}) CHECK(standard.site(name).alignment == 16);
  CHECK(standard.site("stated").alignment == 32);
  b.module().workspace_alignment = 1;
  b.module().constant_alignment = 64;
  const Result r = run(b);
  CHECK(r.site("x").alignment == 1);
  CHECK(r.site("d").alignment == 8);
  CHECK(r.site("c").alignment == 64);
  CHECK(r.site("v").alignment == 4);
  CHECK(r.site("wide").alignment == 4);
  CHECK(r.site("stated").alignment == 32);
}

TEST_CASE("what an opaque function is handed has the alignment of its parameter, or of the pointer's type") {
  ModuleBuilder b;
  const tir::DataType double_type{tir::TypeCode::float_, 64, 1};
  const auto declared = b.pointer("declared");
  const auto typed = b.pointer("typed");
  const auto bytes = b.pointer("bytes");
  b.function("library", {b.pointer("p", tir::int32_type)}, {}, "cmsis-nn");
  const auto typed_pointer = tir::make_call(
      tir::handle_type, "tir.tvm_access_ptr",
      {tir::make_call(double_type, "tir.type_annotation", {}), b.var(typed), make_int(0), make_int(1), make_int(3)});
  b.entry({}, block(b.allocate(declared, 16), b.allocate(typed, 16), b.allocate(bytes, 16),
                    b.call("library", std::vector{declared}), b.call("unknown", {typed_pointer, b.var(bytes)})));
  b.module().workspace_alignment = 1;
  const Result r = run(b);
  CHECK(r.site("declared").alignment == 4);
  CHECK(r.site("typed").alignment == 8);
  CHECK(r.site("bytes").alignment == 1);
}

TEST_CASE("an alignment that is no power of two is refused") {
  for (const Bytes alignment : {Bytes{0}, Bytes{-16}, Bytes{12}, Bytes{1} << 40}) {
    ModuleBuilder b;
    b.entry({}, {});
    b.module().workspace_alignment = alignment;
    CHECK(error_of(b) ==
          "workspace-byte-alignment is " + std::to_string(alignment) + ", expected a power of two up to 1048576");
  }
}

TEST_CASE("annotated candidate pools are kept") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  tir::Stmt allocate = b.allocate(x, 8);
  std::get<tir::Allocate>(allocate.node).candidate_pools = {"fast", "slow"};
  b.entry({}, block(allocate, b.set(x)));
  CHECK(run(b).site("x").candidate_pools == std::vector<std::string>{"fast", "slow"});
}

TEST_CASE("a conditional allocate and other storage scopes are planned like any") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  b.module().vars[x.index()].storage_scope = "local";
  tir::Stmt allocate = b.allocate(y, 8);
  std::get<tir::Allocate>(allocate.node).condition = b.load(x, 0);
  b.entry({}, block(b.allocate(x, 8), b.set(x), allocate, b.set(y)));
  const Result r = run(b);
  CHECK(r.live("x") == "0-2");
  CHECK(r.live("y") == "2-3");
}

TEST_CASE("recursion is refused") {
  ModuleBuilder direct;
  direct.entry({}, block(direct.call("main", std::vector<tir::VarId>{})));
  CHECK(error_of(direct) == "main: function 'main' calls itself, directly or through others");

  ModuleBuilder indirect;
  const std::vector<tir::VarId> none;
  indirect.function("f", {}, block(indirect.call("g", none)));
  indirect.function("g", {}, block(indirect.call("f", none)));
  indirect.entry({}, block(indirect.call("f", none)));
  CHECK(error_of(indirect) == "f: function 'f' calls itself, directly or through others");
}

TEST_CASE("a call graph that explodes is refused, a deep one is not") {
  const std::vector<tir::VarId> none;
  for (const int calls : {2, 1}) {
    ModuleBuilder b;
    const int depth = calls == 2 ? 40 : 20000;
    for (int i = 0; i < depth; ++i) {
      tir::Block body;
      const std::string next = "f" + std::to_string(i + 1);
      for (int j = 0; j < calls; ++j) body.push_back(b.call(next, none));
      b.function("f" + std::to_string(i), {}, std::move(body));
    }
    b.function("f" + std::to_string(depth), {}, {});
    b.entry({}, block(b.call("f0", none)));
    const std::string message = error_of(b);
    if (calls == 1) {
      CHECK(message == "no error");
    } else {
      CHECK(message.ends_with(": the program has more than 20000000 steps when its calls are followed"));
    }
  }
}

// Each of these pointers may go to all buffers before it: their sets grow with the square of the module.
TEST_CASE("pointers that may go to many buffers count a step for each") {
  for (const int pointers : {4000, 7000}) {
    ModuleBuilder b;
    const auto x = b.pointer("x");
    tir::Block body = block(b.allocate(x, 8));
    tir::VarId last = x;
    for (int i = 0; i < pointers; ++i) {
      const auto y = b.pointer("y");
      const auto either = b.pointer("p");
      tir::Expr select;
      select.kind = tir::ExprKind::select;
      select.type = tir::handle_type;
      select.operands = {tir::make_int(1), b.var(last), b.var(y)};
      body.push_back(b.allocate(y, 8));
      body.push_back(b.let(either, std::make_shared<const tir::Expr>(select)));
      last = either;
    }
    b.entry({}, std::move(body));
    const std::string message = error_of(b);
    if (pointers == 4000) {
      CHECK(message == "no error");
    } else {
      CHECK(message.ends_with(": the program has more than 20000000 steps when its calls are followed"));
    }
  }
}

TEST_CASE("a call with the wrong number of arguments is refused") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  b.function("op", {p}, block(b.set(p)));
  b.entry({}, block(b.call("op", std::vector<tir::VarId>{})));
  CHECK(error_of(b) == "main: a call passes 0 arguments to 'op', which takes 1");
}

TEST_CASE("a pointer from nowhere is refused") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  b.entry({}, block(b.set(x)));
  CHECK(error_of(b) == "main: variable 'x' points to storage that the function does not declare");
}

TEST_CASE("one variable cannot be two buffers at once") {
  ModuleBuilder nested;
  const auto x = nested.pointer("x");
  nested.entry({}, block(nested.allocate(x, 4), nested.scope(block(nested.allocate(x, 4), nested.set(x)))));
  CHECK(error_of(nested) == "main: variable 'x' is allocated inside its own scope");

  ModuleBuilder shared;
  const auto y = shared.pointer("y");
  shared.function("op", {}, block(shared.allocate(y, 4), shared.set(y)));
  shared.entry({}, block(shared.allocate(y, 4), shared.set(y), shared.call("op", std::vector<tir::VarId>{})));
  CHECK(error_of(shared) == "op: variable 'y' is also allocated in function 'main'");
}

TEST_CASE("an empty entry has a valid horizon") {
  ModuleBuilder b;
  b.entry({}, {});
  CHECK(run(b).analysis.horizon == 1);
}

}  // namespace
}  // namespace usmp::liveness::testing::size_test

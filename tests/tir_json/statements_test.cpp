// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Every statement node, and the normal form of blocks: declarations reach to the end of their block.
#include "tir_json/reading.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::testing::statements_test {
namespace {

struct Fixture {
  JsonBuilder b;
  Node call(const std::string& name, JsonBuilder::Nodes args = {}) { return b.evaluate(b.call_extern(name, args)); }
};

TEST_CASE_FIXTURE(Fixture, "nested declarations become a list") {
  const Node x = b.handle("x", "int8", "global.workspace");
  const Node y = b.handle("y", "float32");
  const Node n = b.var("n");
  const Node inner = b.let_stmt(n, b.integer(3), call("f", {x, y, n}));
  const Node body =
      b.allocate(x, "int8", {b.integer(16)}, b.allocate(y, "float32", {b.integer(2), b.integer(3)}, inner));
  CHECK(body_text(b, body) ==
        "allocate x: int8[16] scope global.workspace\n"
        "allocate y: float32[2, 3]\n"
        "let n: int32 = 3\n"
        "tir.call_extern(\"f\", x, y, n)\n");
}

TEST_CASE_FIXTURE(Fixture, "a declaration that ends before its block gets a scope") {
  const Node x = b.handle("x", "int8");
  const Node y = b.handle("y", "int8");
  const Node first = b.allocate(x, "int8", {b.integer(1)}, b.seq({call("f", {x}), call("g", {x})}));
  const Node last = b.allocate(y, "int8", {b.integer(2)}, call("h", {y}));
  SUBCASE("only where something follows") {
    CHECK(body_text(b, b.seq({first, b.seq({b.seq({call("middle")}), last})})) ==
          "scope {\n"
          "  allocate x: int8[1]\n"
          "  tir.call_extern(\"f\", x)\n"
          "  tir.call_extern(\"g\", x)\n"
          "}\n"
          "tir.call_extern(\"middle\")\n"
          "allocate y: int8[2]\n"
          "tir.call_extern(\"h\", y)\n");
  }
  SUBCASE("what does nothing does not follow") {
    const Node nothing = b.seq({b.seq({}), b.evaluate(b.integer(0))});
    CHECK(body_text(b, b.seq({nothing, last, nothing})) ==
          "allocate y: int8[2]\n"
          "tir.call_extern(\"h\", y)\n");
  }
  SUBCASE("statements around a declaration stay outside the scope") {
    const Node guarded = b.add("tir.AssertStmt", {{"condition", b.ref(b.var("ok", "bool"))},
                                                  {"message", b.ref(b.string_imm("not ok"))},
                                                  {"body", b.ref(first)}});
    CHECK(body_text(b, b.seq({guarded, call("after")})) ==
          "assert ok, \"not ok\"\n"
          "scope {\n"
          "  allocate x: int8[1]\n"
          "  tir.call_extern(\"f\", x)\n"
          "  tir.call_extern(\"g\", x)\n"
          "}\n"
          "tir.call_extern(\"after\")\n");
  }
}

TEST_CASE_FIXTURE(Fixture, "loops of every kind are serial") {
  for (int kind = 0; kind <= 4; ++kind) {
    JsonBuilder fresh;
    const Node i = fresh.var("i");
    const Node body = fresh.evaluate(fresh.call_extern("f", {i}));
    CHECK(body_text(fresh, fresh.for_loop(i, fresh.integer(2), fresh.integer(10), body, kind)) ==
          "for i in [2, 2 + 10) {\n"
          "  tir.call_extern(\"f\", i)\n"
          "}\n");
  }
}

TEST_CASE_FIXTURE(Fixture, "a thread extent is a loop from 0 over the variable of its IterVar") {
  const Node i = b.var("threadIdx.x");
  const Node iter = b.add("tir.IterVar", {{"var", b.ref(i)}, {"iter_type", "1"}, {"thread_tag", "0"}});
  const Node inner = b.attr_stmt(iter, "thread_extent", b.integer(8), call("f", {i}));
  CHECK(body_text(b, b.seq({inner, call("g")})) ==
        "for threadIdx.x in [0, 8) {\n"
        "  tir.call_extern(\"f\", threadIdx.x)\n"
        "}\n"
        "tir.call_extern(\"g\")\n");
}

TEST_CASE_FIXTURE(Fixture, "attributes and DeclBuffer leave no statement") {
  const Node x = b.handle("x", "int8");
  const Node flat = b.buffer(x, "int8", {b.integer(4)}, {}, b.integer(2));
  const Node store = b.store(flat, {b.integer(1)}, b.integer(7, "int8"));
  const Node declared = b.add("tir.DeclBuffer", {{"buffer", b.ref(flat)}, {"body", b.ref(store)}});
  const Node body = b.attr_stmt(0, "extern_scope", 0, b.attr_stmt(x, "storage_alignment", b.integer(8), declared));
  CHECK(body_text(b, body) == "x[3] = 7i8\n");
}

TEST_CASE_FIXTURE(Fixture, "imported C is kept once") {
  const Node c = b.string_imm("int helper(void);\n");
  const Node other = b.string_imm("int other(void);\n");
  const Node inner = b.attr_stmt(0, "pragma_import_c", c, b.attr_stmt(0, "pragma_import_c", other, call("f")));
  const tir::Module module = read(b.module_of_body(b.attr_stmt(0, "pragma_import_c", c, inner)));
  CHECK(module.functions[0].imported_c == std::vector<std::string>{"int helper(void);\n", "int other(void);\n"});
}

TEST_CASE_FIXTURE(Fixture, "branches and while") {
  const Node x = b.handle("x", "int8");
  const Node p = b.var("p", "bool");
  const Node then_case = b.allocate(x, "int8", {b.integer(1)}, call("f", {x}));
  const Node both = b.if_then_else(p, then_case, b.seq({call("g"), call("h")}));
  const Node one = b.if_then_else(p, call("k"), b.seq({}));
  const Node loop = b.add("tir.While", {{"condition", b.ref(p)}, {"body", b.ref(call("w"))}});
  CHECK(body_text(b, b.seq({both, one, loop})) ==
        "if p {\n"
        "  allocate x: int8[1]\n"
        "  tir.call_extern(\"f\", x)\n"
        "} else {\n"
        "  tir.call_extern(\"g\")\n"
        "  tir.call_extern(\"h\")\n"
        "}\n"
        "if p {\n"
        "  tir.call_extern(\"k\")\n"
        "}\n"
        "while p {\n"
        "  tir.call_extern(\"w\")\n"
        "}\n");
}

TEST_CASE_FIXTURE(Fixture, "stores of both forms") {
  const Node x = b.handle("x", "int8");
  const Node i = b.var("i");
  const Node five = b.integer(5, "int8");
  const Node old_store = b.add("tir.Store", {{"buffer_var", b.ref(x)},
                                             {"index", b.ref(i)},
                                             {"value", b.ref(five)},
                                             {"predicate", b.ref(b.integer(1, "bool"))}});
  const Node guarded = b.add("tir.Store", {{"buffer_var", b.ref(x)},
                                           {"index", b.ref(i)},
                                           {"value", b.ref(five)},
                                           {"predicate", b.ref(b.var("p", "bool"))}});
  const Node square = b.buffer(x, "int8", {b.integer(4), b.integer(4)});
  const Node new_store = b.store(square, {i, b.integer(2)}, five);
  const Node converted = b.store(square, {i, i}, b.integer(9));
  const Node vectors = b.buffer(x, "int8x2", {b.integer(4)});
  const Node vector_store = b.store(vectors, {i}, b.var("v", "int8x2"));
  CHECK(body_text(b, b.seq({old_store, guarded, new_store, converted, vector_store})) ==
        "x[i] = 5i8\n"
        "x[i where p] = 5i8\n"
        "x[i * 4 + 2] = 5i8\n"
        "x[i * 4 + i] = 9i8\n"
        "x[ramp(i * 2, 1, 2)] = v\n");
}

TEST_CASE_FIXTURE(Fixture, "a variable bound twice is one variable") {
  const Node i = b.var("i");
  const Node loop = b.for_loop(i, b.integer(0), b.integer(4), call("f", {i}));
  const Node again = b.for_loop(i, b.integer(0), b.integer(5), call("g", {i}));
  const tir::Module module = read(b.module_of_body(b.seq({loop, again, loop})));
  const tir::Block& body = module.functions[0].body;
  REQUIRE(body.size() == 3);
  CHECK(std::get<tir::For>(body[0].node).var == std::get<tir::For>(body[1].node).var);
  CHECK(entry_text(module) ==
        "for i in [0, 4) {\n"
        "  tir.call_extern(\"f\", i)\n"
        "}\n"
        "for i in [0, 5) {\n"
        "  tir.call_extern(\"g\", i)\n"
        "}\n"
        "for i in [0, 4) {\n"
        "  tir.call_extern(\"f\", i)\n"
        "}\n");
}

TEST_CASE_FIXTURE(Fixture, "functions that share a variable node have variables of their own") {
  const Node x = b.handle("x", "int8");
  const Node body = b.allocate(x, "int8", {b.integer(4)}, call("f", {x}));
  const Node one = b.function({}, body, {{"runner_function", b.integer(1)}});
  const Node two = b.function({}, body);
  const tir::Module module = read(b.module({{"one", one}, {"two", two}}));
  const auto var = [&](std::size_t function) {
    return std::get<tir::Allocate>(module.functions[function].body[0].node).var;
  };
  CHECK(var(0) != var(1));
  CHECK(module.vars.size() == 2);
}

TEST_CASE_FIXTURE(Fixture, "one variable allocated with two sizes is refused") {
  const Node x = b.handle("x", "int8");
  const Node small = b.allocate(x, "int8", {b.integer(4)}, call("f", {x}));
  const Node same = b.allocate(x, "int8", {b.integer(2), b.integer(2)}, call("f", {x}));
  const Node large = b.allocate(x, "int8", {b.integer(5)}, call("f", {x}));
  CHECK_NOTHROW(read(b.module_of_body(b.seq({small, same}))));
  const Error error = refused(b.module_of_body(b.seq({small, large})));
  CHECK(error.where().place == place(large));
  CHECK(contains(error.message(), "storage 'x' is allocated twice with different sizes"));
}

TEST_CASE_FIXTURE(Fixture, "allocations: extents and conditions") {
  const Node x = b.handle("x", "int8");
  SUBCASE("no extents are one element; symbolic extents are left to the analysis") {
    CHECK(body_text(b, b.allocate(x, "int8", {}, call("f", {x}))) == "allocate x: int8[]\ntir.call_extern(\"f\", x)\n");
    CHECK(contains(body_text(b, b.allocate(x, "int8", {b.var("n")}, call("f", {x}))), "allocate x: int8[n]\n"));
  }
  SUBCASE("an extent that is no integer") {
    const Node extent = b.floating("4");
    const Error error = refused(b.module_of_body(b.allocate(x, "int8", {extent}, call("f", {x}))));
    CHECK(error.where().place == place(extent));
    CHECK(contains(error.message(), "an extent of type 'float32', expected an integer type"));
  }
  SUBCASE("a condition stays unless it is true") {
    const Node allocate = b.allocate(x, "int8", {b.integer(4)}, call("f", {x}));
    b.at(allocate)["attrs"]["condition"] = b.ref(b.var("p", "bool"));
    CHECK(contains(body_text(b, allocate), "allocate x: int8[4] if p\n"));
  }
}

TEST_CASE_FIXTURE(Fixture, "unknown and unlowered nodes in a body are refused") {
  const Node producer = b.add("tir.ProducerLoad", {{"dtype", "int32"}});
  Error error = refused(b.module_of_body(b.evaluate(producer)));
  CHECK(error.where().place == place(producer));
  CHECK(error.message() == "found 'tir.ProducerLoad', expected a supported expression (in function 'main')");

  const Node prefetch = b.add("tir.Prefetch");
  error = refused(b.module_of_body(b.seq({prefetch, prefetch})));
  CHECK(error.where().place == place(prefetch));
  CHECK(error.message() == "found 'tir.Prefetch', expected a supported statement (in function 'main')");

  const Node block = b.add("tir.BlockRealize");
  error = refused(b.module_of_body(block));
  CHECK(contains(error.message(), "'tir.BlockRealize' is TensorIR that has not been lowered"));

  const Node loop_var = b.var("x", "float32");
  const Node loop = b.for_loop(loop_var, b.integer(0), b.integer(1), call("f"));
  CHECK(contains(refused(b.module_of_body(loop)).message(), "a loop variable or bound of type 'float32'"));
}

}  // namespace
}  // namespace usmp::testing::statements_test

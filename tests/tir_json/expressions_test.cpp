// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Every expression node, the forms that versions of TVM give it, and the flattening of accesses.
#include "tir_json/reading.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::testing::expressions_test {
namespace {

TEST_CASE("operators keep their operands in order") {
  const std::pair<const char*, const char*> operators[] = {{"tir.Add", "x + y"},
                                                           {"tir.Sub", "x - y"},
                                                           {"tir.Mul", "x * y"},
                                                           {"tir.Div", "x / y"},
                                                           {"tir.Mod", "x % y"},
                                                           {"tir.FloorDiv", "floordiv(x, y)"},
                                                           {"tir.FloorMod", "floormod(x, y)"},
                                                           {"tir.Min", "min(x, y)"},
                                                           {"tir.Max", "max(x, y)"}};
  for (const auto& [type_key, text] : operators) {
    JsonBuilder b;
    CHECK(expr_text(b, b.binary(type_key, b.var("x"), b.var("y"))) == text);
  }
  const std::pair<const char*, const char*> comparisons[] = {{"tir.EQ", "x == y"}, {"tir.NE", "x != y"},
                                                             {"tir.LT", "x < y"},  {"tir.LE", "x <= y"},
                                                             {"tir.GT", "x > y"},  {"tir.GE", "x >= y"}};
  for (const auto& [type_key, text] : comparisons) {
    JsonBuilder b;
    CHECK(expr_text(b, b.add("tir.Not", {{"a", b.ref(b.binary(type_key, b.var("x"), b.var("y"), "bool"))},
                                         {"dtype", "bool"}})) == std::string("not ") + text);
  }
  JsonBuilder b;
  const Node p = b.var("p", "bool");
  const Node q = b.var("q", "bool");
  CHECK(expr_text(b, b.binary("tir.Or", b.binary("tir.And", p, q, "bool"), p, "bool")) == "p and q or p");
}

TEST_CASE("literals are exact") {
  JsonBuilder b;
  CHECK(expr_text(b, b.integer(-3)) == "-3");
  CHECK(expr_text(b, b.integer(1, "bool")) == "true");
  CHECK(expr_text(b, b.integer(INT64_MIN, "int64")) == "-9223372036854775808i64");
  CHECK(expr_text(b, b.add("IntImm", {{"dtype", "uint64"}, {"value", "18446744073709551615"}})) ==
        "18446744073709551615u64");
  CHECK(expr_text(b, b.floating("-3.4028234663852886e+38")) == "-3.4028235e+38");
  CHECK(expr_text(b, b.floating("0.10000000000000001", "float64")) == "0.1f64");
  CHECK(expr_text(b, b.floating("inf")) == "inf");
  CHECK(expr_text(b, b.floating("-inf")) == "-inf");
  CHECK(expr_text(b, b.floating("nan", "float16")) == "nanf16");
  CHECK(expr_text(b, b.string_imm("a\"b")) == R"("a\"b")");
}

TEST_CASE("numbers in attributes are read as well as strings") {
  JsonBuilder b;
  const Node value = b.integer(0);
  b.at(value)["attrs"]["value"] = 77;
  const Node half = b.floating("0");
  b.at(half)["attrs"]["value"] = 0.5;
  CHECK(expr_text(b, b.call("tir.f", {value, half})) == "tir.f(77, 0.5)");
}

TEST_CASE("select, cast, let and calls") {
  JsonBuilder b;
  const Node x = b.var("x");
  const Node flag = b.binary("tir.LT", x, b.integer(3), "bool");
  CHECK(expr_text(b, b.add("tir.Select", {{"condition", b.ref(flag)},
                                          {"true_value", b.ref(x)},
                                          {"false_value", b.ref(b.integer(0))},
                                          {"dtype", "int32"}})) == "select(x < 3, x, 0)");
  CHECK(expr_text(b, b.add("tir.Cast", {{"value", b.ref(x)}, {"dtype", "int8"}})) == "int8(x)");
  CHECK(expr_text(b, b.add("tir.Let", {{"var", b.ref(b.var("y"))},
                                       {"value", b.ref(b.integer(2))},
                                       {"body", b.ref(x)},
                                       {"dtype", "int32"}})) == "(let y = 2 in x)");
  CHECK(expr_text(b, b.call("tir.exp", {b.floating("1")}, "float32")) == "tir.exp(1.0)");
  CHECK(expr_text(b, b.call("tir.type_annotation", {}, "int8")) == "tir.type_annotation<int8>()");
}

TEST_CASE("a let that names a pointer anew is the storage itself, as where a tensor is copied to an output") {
  JsonBuilder b;
  const Node x = b.handle("x", "int32");
  const Node y = b.handle("y", "int32");
  const Node tmp = b.handle("tmp_read", "int32");
  const auto let = [&](Node variable, Node value, Node body) {
    return b.add("tir.Let",
                 {{"var", b.ref(variable)}, {"value", b.ref(value)}, {"body", b.ref(body)}, {"dtype", "int32"}});
  };
  const auto first_of = [&](Node data) { return b.load(b.buffer(data, "int32", {b.integer(4)}), {b.integer(0)}); };
  const auto both = [&](Node a, Node c) { return b.call("tir.f", {a, c}); };
  const auto text = [&](Node expr) {
    const Node body = b.evaluate(both(first_of(y), expr));
    return body_text(b, b.allocate(x, "int32", {b.integer(4)}, b.allocate(y, "int32", {b.integer(4)}, body)));
  };
  const std::string allocates = "allocate x: int32[4]\nallocate y: int32[4]\n";
  CHECK(text(let(tmp, x, first_of(tmp))) == allocates + "tir.f(y[0], x[0])\n");
  CHECK(text(both(let(tmp, x, first_of(tmp)), let(tmp, x, b.binary("tir.Add", first_of(tmp), b.integer(1))))) ==
        allocates + "tir.f(y[0], tir.f(x[0], x[0] + 1))\n");
  const Node again = b.handle("again", "int32");
  CHECK(text(let(tmp, x, let(again, tmp, first_of(again)))) == allocates + "tir.f(y[0], x[0])\n");
  const Node taken = let(tmp, y, first_of(tmp));
  const Error error = refused(b.module_of_body(
      b.allocate(x, "int32", {b.integer(4)},
                 b.allocate(y, "int32", {b.integer(4)}, b.evaluate(both(let(tmp, x, b.integer(0)), taken))))));
  CHECK(contains(error.message(), "the variable is bound to two pointers, expected a variable for each"));
}

TEST_CASE("a call of a GlobalVar is a call_extern of its symbol") {
  JsonBuilder b;
  const Node callee = b.global_var("op");
  const Node call =
      b.add("tir.Call", {{"op", b.ref(callee)}, {"args", b.ref(b.array({b.integer(1)}))}, {"dtype", "int32"}});
  const Node named = b.call("tir.call_extern", {callee, b.integer(2)});
  const Node body = b.seq({b.evaluate(call), b.evaluate(named)});
  const Node main = b.function({}, body, {{"runner_function", b.integer(1)}});
  const Node op = b.function({{b.var("n")}}, b.evaluate(b.integer(0)), {{"global_symbol", b.string("tvmgen_op")}});
  const tir::Module module = read(b.module_of({{callee, op}, {b.global_var("main"), main}}));
  CHECK(entry_text(module) ==
        "tir.call_extern(\"tvmgen_op\", 1)\n"
        "tir.call_extern(\"tvmgen_op\", 2)\n");
}

TEST_CASE("lanes come from the type, whatever the version writes in the attribute") {
  JsonBuilder b;
  const Node x = b.var("x");
  const std::string as_number = "4";
  const std::string as_node = b.ref(b.integer(4));
  for (const std::string& lanes : {as_number, as_node}) {
    CHECK(
        expr_text(
            b, b.add("tir.Ramp",
                     {{"base", b.ref(x)}, {"stride", b.ref(b.integer(2))}, {"lanes", lanes}, {"dtype", "int32x4"}})) ==
        "ramp(x, 2, 4)");
    CHECK(expr_text(b, b.add("tir.Broadcast", {{"value", b.ref(x)}, {"lanes", lanes}, {"dtype", "int32x4"}})) ==
          "broadcast(x, 4)");
  }
}

TEST_CASE("shuffle keeps vectors and indices apart") {
  JsonBuilder b;
  const Node vectors = b.array({b.var("u", "int8x2"), b.var("v", "int8x2")});
  const Node indices = b.array({b.integer(0), b.integer(3), b.integer(1)});
  CHECK(expr_text(
            b, b.add("tir.Shuffle", {{"vectors", b.ref(vectors)}, {"indices", b.ref(indices)}, {"dtype", "int8x3"}})) ==
        "shuffle([u, v], [0, 3, 1])");
}

// ---------------------------------------------------------------------------------------------------------------

TEST_CASE("a flat access keeps its very index") {
  JsonBuilder b;
  const Node data = b.handle("a", "int32");
  const Node index = b.binary("tir.Add", b.var("i"), b.integer(1));
  const Node load = b.load(b.buffer(data, "int32", {b.integer(100)}), {index});
  const tir::Module module = read(b.module_of_body(b.evaluate(b.call("tir.sink", {load, index}))));
  const auto& call = *std::get<tir::Evaluate>(module.functions[0].body[0].node).value;
  CHECK(call.operands[0]->kind == tir::ExprKind::load);
  CHECK(call.operands[0]->operands[0] == call.operands[1]);  // the same object: sharing is kept
}

TEST_CASE("accesses with several dimensions are flattened") {
  JsonBuilder b;
  const Node data = b.handle("a", "int32");
  const Node i = b.var("i");
  const Node j = b.var("j");
  const auto n = [&](std::int64_t value, const char* dtype = "int32") { return b.integer(value, dtype); };
  SUBCASE("row-major") { CHECK(expr_text(b, b.load(b.buffer(data, "int32", {n(5), n(7)}), {i, j})) == "a[i * 7 + j]"); }
  SUBCASE("three dimensions") {
    CHECK(expr_text(b, b.load(b.buffer(data, "int32", {n(5), n(7), n(9)}), {i, j, i})) == "a[(i * 7 + j) * 9 + i]");
  }
  SUBCASE("constants fold") {
    CHECK(expr_text(b, b.load(b.buffer(data, "int32", {n(5), n(7), n(9)}), {n(1), n(2), n(3)})) == "a[84]");
  }
  SUBCASE("strides and offset") {
    CHECK(expr_text(b, b.load(b.buffer(data, "int32", {n(5), n(7)}, {n(100), n(10)}, n(3)), {i, j})) ==
          "a[i * 100 + j * 10 + 3]");
  }
  SUBCASE("unit stride and zero offset leave no trace") {
    CHECK(expr_text(b, b.load(b.buffer(data, "int32", {n(5)}, {n(1)}, n(0)), {i})) == "a[i]");
  }
  SUBCASE("no dimensions") { CHECK(expr_text(b, b.load(b.buffer(data, "int32", {}), {})) == "a[0]"); }
  SUBCASE("a wider shape type does not change the index type") {
    CHECK(expr_text(b, b.load(b.buffer(data, "int32", {n(5, "int64"), n(7, "int64")}), {i, j})) == "a[i * 7 + j]");
  }
  SUBCASE("a wider index type does") {
    CHECK(expr_text(b, b.load(b.buffer(data, "int32", {n(5), n(7)}), {i, b.var("k", "int64")})) ==
          "a[int64(i * 7) + k]");
  }
  SUBCASE("a symbolic outer extent does not matter") {
    const Node any = b.add("tir.Any", {{"dtype", "int32"}});
    CHECK(expr_text(b, b.load(b.buffer(data, "int32", {any, n(7)}), {i, j})) == "a[i * 7 + j]");
  }
}

TEST_CASE("vector accesses") {
  JsonBuilder b;
  const Node data = b.handle("a", "int32");
  const Node i = b.var("i");
  const auto ramp = [&](Node base, std::int64_t stride) {
    return b.add("tir.Ramp",
                 {{"base", b.ref(base)}, {"stride", b.ref(b.integer(stride))}, {"lanes", "4"}, {"dtype", "int32x4"}});
  };
  const auto n = [&](std::int64_t value) { return b.integer(value); };
  SUBCASE("a ramp in the innermost dimension stays a ramp") {
    CHECK(expr_text(b, b.load(b.buffer(data, "int32", {n(5), n(8)}), {i, ramp(n(0), 1)}, "int32x4")) ==
          "a[ramp(i * 8, 1, 4)]");
    CHECK(expr_text(b, b.load(b.buffer(data, "int32", {n(5), n(8)}, {n(16), n(2)}, n(5)), {i, ramp(i, 1)},
                              "int32x4")) == "a[ramp(i * 16 + i * 2, 2, 4) + broadcast(5, 4)]");
  }
  SUBCASE("in another dimension its lanes are computed") {
    CHECK(expr_text(b, b.load(b.buffer(data, "int32", {n(5), n(8)}), {ramp(n(0), 1), i}, "int32x4")) ==
          "a[ramp(0, 1, 4) * broadcast(8, 4) + broadcast(i, 4)]");
  }
  SUBCASE("a buffer of vectors") {
    CHECK(expr_text(b, b.load(b.buffer(data, "int32x4", {n(5)}), {i}, "int32x4")) == "a[ramp(i * 4, 1, 4)]");
  }
  SUBCASE("a predicate, from TVM 0.17") {
    const Node mask = b.var("mask", "boolx4");
    CHECK(expr_text(b, b.load(b.buffer(data, "int32", {n(8)}), {ramp(n(0), 1)}, "int32x4", mask)) ==
          "a[ramp(0, 1, 4) where mask]");
  }
}

TEST_CASE("a load of another type than the buffer's is converted") {
  JsonBuilder b;
  const Node load = b.load(b.buffer(b.handle("a", "int8"), "int8", {b.integer(4)}), {b.integer(2)}, "bool");
  CHECK(expr_text(b, load) == "bool(a[2])");
}

TEST_CASE("tir.Load of TVM 0.8 is flat already") {
  JsonBuilder b;
  const Node data = b.handle("a", "int32");
  const auto load = [&](const std::string& dtype, Node index, Node predicate) {
    return b.add(
        "tir.Load",
        {{"buffer_var", b.ref(data)}, {"index", b.ref(index)}, {"dtype", dtype}, {"predicate", b.ref(predicate)}});
  };
  const Node yes = b.integer(1, "bool");
  const Node all = b.add("tir.Broadcast", {{"value", b.ref(yes)}, {"lanes", "4"}, {"dtype", "boolx4"}});
  const Node ramp =
      b.add("tir.Ramp",
            {{"base", b.ref(b.integer(8))}, {"stride", b.ref(b.integer(1))}, {"lanes", "4"}, {"dtype", "int32x4"}});
  CHECK(expr_text(b, load("int32", b.var("i"), yes)) == "a[i]");
  CHECK(expr_text(b, load("int32x4", ramp, all)) == "a[ramp(8, 1, 4)]");
  CHECK(expr_text(b, load("int32", b.var("i"), b.var("p", "bool"))) == "a[i where p]");
  CHECK(expr_text(b, load("int8", b.var("i"), yes)) == "a.as<int8>[i]");
}

TEST_CASE("operands of operators must agree") {
  JsonBuilder b;
  const Node sum = b.binary("tir.Add", b.var("x"), b.var("y", "int64"));
  const Error error = refused(b.module_of_body(b.evaluate(sum)));
  CHECK(error.where().place == place(sum));
  CHECK(error.message() ==
        "the operands are 'int32' and 'int64', the result is 'int32': expected types that agree (in function 'main')");
}

TEST_CASE("accesses that cannot be flattened are refused") {
  JsonBuilder b;
  const Node data = b.handle("a", "int32");
  Node load = 0;
  std::string message;
  SUBCASE("too few indices") {
    load = b.load(b.buffer(data, "int32", {b.integer(5), b.integer(7)}), {b.integer(1)});
    message = "1 indices into a buffer of 2 dimensions and 0 strides";
  }
  SUBCASE("a float index") {
    load = b.load(b.buffer(data, "int32", {b.integer(5)}), {b.floating("1")});
    message = "has type 'float32', expected an integer type";
  }
  SUBCASE("an index that overflows") {
    const Node large = b.integer(1000000);
    load = b.load(b.buffer(data, "int32", {large, large}), {large, large});
    message = "the flat index does not fit in its type 'int32'";
  }
  SUBCASE("lanes that do not fit") {
    load = b.load(b.buffer(data, "int32", {b.integer(5)}), {b.var("i", "int32x2")}, "int32x4");
    message = "an index of 2 lanes for a value of 4";
  }
  const Error error = refused(b.module_of_body(b.evaluate(load)));
  CHECK(contains(error.where().place, place(load)));
  CHECK(contains(error.message(), message));
}

}  // namespace
}  // namespace usmp::testing::expressions_test

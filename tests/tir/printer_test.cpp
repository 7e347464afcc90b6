// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Expressions and statements as text: parentheses, literals, names.
#include <doctest/doctest.h>

#include <string>

#include "usmp/tir/printer.hpp"

namespace usmp::tir::printer_test {
namespace {

constexpr DataType float64_type{TypeCode::float_, 64, 1};

struct Fixture {
  Module module;

  VarId add_var(const std::string& name, DataType type = int32_type, DataType element = {},
                const std::string& scope = "") {
    module.vars.push_back({.name = name, .type = type, .element = element, .storage_scope = scope});
    return VarId(module.vars.size() - 1);
  }
  VarId add_storage(const std::string& name, DataType element, const std::string& scope = "") {
    return add_var(name, handle_type, element, scope);
  }
  ExprRef use(VarId var) const { return make_var(module, var); }
  [[nodiscard]] std::string text(const ExprRef& expr) const { return print_expr(module, *expr); }
  static ExprRef make(ExprKind kind, DataType type, std::vector<ExprRef> operands) {
    Expr expr;
    expr.kind = kind;
    expr.type = type;
    expr.operands = std::move(operands);
    return std::make_shared<const Expr>(std::move(expr));
  }
};

TEST_CASE_FIXTURE(Fixture, "parentheses stand where grouping needs them and nowhere else") {
  const ExprRef a = use(add_var("a"));
  const ExprRef b = use(add_var("b"));
  const ExprRef c = use(add_var("c"));
  const auto op = [](ExprKind kind, const ExprRef& x, const ExprRef& y) { return make_binary(kind, x, y); };
  CHECK(text(op(ExprKind::add, op(ExprKind::add, a, b), c)) == "a + b + c");
  CHECK(text(op(ExprKind::add, a, op(ExprKind::add, b, c))) == "a + (b + c)");
  CHECK(text(op(ExprKind::sub, a, op(ExprKind::sub, b, c))) == "a - (b - c)");
  CHECK(text(op(ExprKind::mul, op(ExprKind::add, a, b), c)) == "(a + b) * c");
  CHECK(text(op(ExprKind::add, op(ExprKind::mul, a, b), c)) == "a * b + c");
  CHECK(text(op(ExprKind::div, a, op(ExprKind::mul, b, c))) == "a / (b * c)");
  const ExprRef less = op(ExprKind::lt, op(ExprKind::add, a, b), c);
  CHECK(text(less) == "a + b < c");
  CHECK(text(op(ExprKind::eq, less, less)) == "(a + b < c) == (a + b < c)");
  CHECK(text(op(ExprKind::or_, op(ExprKind::and_, less, less), less)) == "a + b < c and a + b < c or a + b < c");
  CHECK(text(op(ExprKind::and_, op(ExprKind::or_, less, less), less)) == "(a + b < c or a + b < c) and a + b < c");
  CHECK(text(make(ExprKind::not_, bool_type, {op(ExprKind::and_, less, less)})) == "not (a + b < c and a + b < c)");
  CHECK(text(op(ExprKind::eq, make(ExprKind::not_, bool_type, {less}), less)) == "(not a + b < c) == (a + b < c)");
  CHECK(text(op(ExprKind::floor_div, op(ExprKind::add, a, b), c)) == "floordiv(a + b, c)");
}

TEST_CASE_FIXTURE(Fixture, "literals show their type unless it is int32 or float32") {
  CHECK(text(make_int(-5)) == "-5");
  CHECK(text(make_int(5, int64_type)) == "5i64");
  CHECK(text(make_int(-1, {TypeCode::uint, 64, 1})) == "18446744073709551615u64");
  CHECK(text(make_int(0, bool_type)) == "false");
  CHECK(text(make_float(0.1, float32_type)) == "0.1");
  CHECK(text(make_float(1, float32_type)) == "1.0");
  CHECK(text(make_float(1e30, float64_type)) == "1e+30f64");
  CHECK(text(make_float(2, {TypeCode::bfloat, 16, 1})) == "2.0bf16");
  CHECK(text(make_string("a\n\"\x01\\")) == R"("a\n\"\x01\\")");
}

TEST_CASE_FIXTURE(Fixture, "an access of another type than the storage's says so") {
  const VarId storage = add_storage("x", int8_type);
  const VarId untyped = add_var("p", handle_type);
  CHECK(text(make_load(int8_type, storage, make_int(3))) == "x[3]");
  CHECK(text(make_load(int32_type, storage, make_int(3))) == "x.as<int32>[3]");
  CHECK(text(make_load(int32_type, untyped, make_int(3))) == "p[3]");
  const ExprRef ramp = make(ExprKind::ramp, int32_type.with_lanes(4), {make_int(0), make_int(1)});
  CHECK(text(make_load(int8_type.with_lanes(4), storage, ramp)) == "x[ramp(0, 1, 4)]");
}

TEST_CASE_FIXTURE(Fixture, "a call shows its type where its operands do not") {
  CHECK(text(make_call(int32_type, "tir.call_extern", {make_string("f")})) == "tir.call_extern(\"f\")");
  CHECK(text(make_call(float32_type, "tir.exp", {make_float(2, float32_type)})) == "tir.exp(2.0)");
  CHECK(text(make_call(handle_type, "tir.reinterpret", {make_int(0, int64_type)})) == "tir.reinterpret<handle>(0i64)");
  CHECK(text(make_call(int32_type, "tir.type_annotation", {})) == "tir.type_annotation<int32>()");
}

TEST_CASE_FIXTURE(Fixture, "names are made unique in order of appearance") {
  const VarId first = add_var("x");
  const VarId second = add_var("x");
  const VarId real = add_var("x_1");
  const VarId strange = add_var("a b");
  const VarId empty = add_var("");
  const auto sum = [&](VarId a, VarId b) { return make_binary(ExprKind::add, use(a), use(b)); };
  CHECK(text(sum(first, second)) == "x + x_1");
  CHECK(text(sum(second, first)) == "x + x_1");
  CHECK(text(make_binary(ExprKind::add, sum(first, second), use(real))) == "x + x_1 + x_1_1");
  CHECK(text(make_binary(ExprKind::add, sum(real, first), use(second))) == "x_1 + x + x_2");
  CHECK(text(sum(strange, empty)) == "a_b + _");
}

TEST_CASE_FIXTURE(Fixture, "functions and statements") {
  const VarId p0 = add_storage("p0", int8_type);
  const VarId device = add_var("device", handle_type);
  const VarId n = add_var("n");
  const VarId compute = add_storage("compute", int32_type, "global.workspace");
  const VarId table = add_storage("table", int8_type);
  const VarId i = add_var("i");
  const auto constant =
      std::make_shared<const Constant>(Constant{.type = int8_type, .shape = {2, 2}, .bytes = std::string(4, '\1')});
  const ExprRef condition = make_binary(ExprKind::lt, use(i), make_int(3));

  Block inner;
  inner.push_back({Let{n, make_binary(ExprKind::mul, use(i), make_int(2))}});
  inner.push_back({Store{compute, use(n), make_cast(int32_type, make_load(int8_type, p0, use(n))), condition}});
  Block branch;
  branch.push_back({Assert{condition, "bad \"i\""}});
  inner.push_back({IfThenElse{condition, branch, {}}});
  inner.push_back({IfThenElse{condition, branch, branch}});
  Block scoped;
  scoped.push_back({Allocate{compute, int32_type, {}, nullptr, {}}});
  Function function{.name = "fused_add",
                    .target = "c",
                    .is_entry = true,
                    .params = {{.var = p0, .name = "p0", .is_tensor = true, .element = int8_type, .shape = {{4}}},
                               {.var = device, .name = "device", .is_tensor = false, .element = {}, .shape = {}}},
                    .body = {},
                    .notes = {},
                    .imported_c = {}};
  function.body.push_back({AllocateConst{table, int8_type, constant, {"rom"}}});
  function.body.push_back({Allocate{compute, int32_type, {make_int(16), make_int(2)}, condition, {"fast", "slow"}}});
  function.body.push_back({For{i, make_int(1), make_binary(ExprKind::sub, use(n), make_int(1)), inner}});
  function.body.push_back({While{condition, {}}});
  function.body.push_back({Scope{scoped}});
  function.body.push_back({Evaluate{make_int(0)}});
  CHECK(print(module, function) == R"(primfn fused_add(p0: int8*, device: handle) target c entry {
  constant table: int8[2, 2] of 4 bytes pools rom
  allocate compute: int32[16, 2] scope global.workspace if i < 3 pools fast, slow
  for i in [1, 1 + (n - 1)) {
    let n: int32 = i * 2
    compute[n where i < 3] = int32(p0[n])
    if i < 3 {
      assert i < 3, "bad \"i\""
    }
    if i < 3 {
      assert i < 3, "bad \"i\""
    } else {
      assert i < 3, "bad \"i\""
    }
  }
  while i < 3 {
  }
  scope {
    allocate compute: int32[] scope global.workspace
  }
  0
}
)");
}

TEST_CASE_FIXTURE(Fixture, "a module begins with its entry") {
  const auto function = [](const std::string& name) {
    Function result;
    result.name = name;
    return result;
  };
  module.functions = {function("a"), function("main"), function("z")};
  module.entry = 1;
  CHECK(print(module) == "primfn main() {\n}\n\nprimfn a() {\n}\n\nprimfn z() {\n}\n");
  CHECK(print(Module{}).empty());
}

TEST_CASE("storage that holds the newest rows says how many") {
  Module module;
  module.vars.push_back({"conv", handle_type, int8_type, ""});
  Function function;
  function.name = "f";
  function.body.push_back({Allocate{.var = VarId(0),
                                    .type = int8_type,
                                    .extents = {make_int(960)},
                                    .condition = {},
                                    .candidate_pools = {},
                                    .ring = Ring{.stride = 320, .extent = 25, .rows = 3}}});
  CHECK(print(module, function).find("allocate conv: int8[960] holds 3 of 25 rows of 320\n") != std::string::npos);
}

}  // namespace
}  // namespace usmp::tir::printer_test

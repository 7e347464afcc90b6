// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What front ends build with: accesses become flat, bodies become lists.
#include "usmp/tir/builder.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tir_support/module_builder.hpp"
#include "usmp/support/error.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/verify.hpp"

namespace usmp::tir::builder_test {
namespace {

using testing::float32_type;
using testing::int8_type;
using testing::make_operator;

constexpr DataType int32x4{TypeCode::int_, 32, 4};
const Tree none{nullptr, 0};

std::string refusal(const std::function<void()>& build) {
  try {
    build();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::archive);
    CHECK(error.where() == Location{});
    return error.message();
  }
  return "";
}

struct Expressions {
  testing::ModuleBuilder b;
  VarId p = b.pointer("p");
  VarId i = b.integer("i");
  VarId j = b.integer("j");
  ExprBuilder builder{100};
  Tree ramp{make_operator(ExprKind::ramp, int32x4, {b.var(j), make_int(1)}), 2};

  static Tree number(std::int64_t value, DataType type = int32_type) { return {make_int(value, type)}; }
  Tree var(VarId id) const { return {b.var(id)}; }
  std::string text(const Tree& tree) const { return print_expr(b.module(), *tree.expr); }
  std::string text(const Store& store) const {
    return b.module().var(store.storage).name + "[" + print_expr(b.module(), *store.index) +
           "] = " + print_expr(b.module(), *store.value) +
           (store.predicate ? " if " + print_expr(b.module(), *store.predicate) : "");
  }
  // A view of so many elements in each dimension.
  View view(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides = {}) const {
    View result;
    result.storage = p;
    result.element = int8_type;
    result.dimensions = shape.size();
    for (std::size_t k = 1; k < shape.size(); ++k) result.extents.push_back(number(shape[k]));
    for (const std::int64_t stride : strides) result.strides.push_back(number(stride));
    return result;
  }
  std::string index(const View& view, const std::vector<Tree>& indices) const {
    return text(builder.flat_index(view, indices));
  }
};

struct Body {
  testing::ModuleBuilder b;
  VarId p = b.pointer("p");
  VarId a = b.pointer("a");
  VarId i = b.integer("i");
  VarId n = b.integer("n");
  Function function;
  BodyBuilder body{b.module(), function, 4};
  ExprRef one = make_int(1);
  ExprRef flag = make_binary(ExprKind::lt, make_int(1), make_int(2));

  Store store(VarId to) const { return {to, make_int(0), make_int(1, int8_type), nullptr}; }
  // As printed, without the function's first and last line, and of a module that is well formed.
  std::string text() {
    function.name = "main";
    function.is_entry = true;
    function.params = {{.var = p, .name = "p", .is_tensor = false, .element = {}, .shape = {}}};
    Module module = b.module();
    module.functions = {function};
    CHECK_FALSE(find_fault(module));
    const std::string all = print(module, module.functions[0]);
    const std::size_t begin = all.find('\n') + 1;
    return "\n" + all.substr(begin, all.rfind('}') - begin);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Expressions, "builder: indices of dimensions become one") {
  CHECK(index(view({}), {}) == "0");
  CHECK(index(view({8}), {var(i)}) == "i");
  CHECK(index(view({8, 5}), {var(i), var(j)}) == "i * 5 + j");
  CHECK(index(view({2, 8, 5}), {number(1), var(i), var(j)}) == "(8 + i) * 5 + j");
  CHECK(index(view({8, 1}), {var(i), var(j)}) == "i + j");
  CHECK(index(view({2, 3}), {number(1), number(2)}) == "5");
  CHECK(index(view({8, 5}, {16, 2}), {var(i), var(j)}) == "i * 16 + j * 2");
  View shifted = view({8, 5});
  shifted.offset = number(3);
  CHECK(index(shifted, {var(i), var(j)}) == "i * 5 + j + 3");
}

TEST_CASE_FIXTURE(Expressions, "builder: a ramp in the last dimension stays one") {
  CHECK(index(view({8, 5}), {var(i), ramp}) == "ramp(i * 5 + j, 1, 4)");
  CHECK(index(view({8, 5}, {16, 2}), {var(i), ramp}) == "ramp(i * 16 + j * 2, 2, 4)");
  CHECK(refusal([&] {
          (void)builder.flat_index(view({8, 5}), std::vector{ramp, ramp});
        }) == "more than one index is a vector, which is not supported beside a ramp");
}

TEST_CASE_FIXTURE(Expressions, "builder: parts of an index agree on a type") {
  const Tree wide = number(7, int64_type);
  CHECK(builder.sum(var(i), wide).expr->type == int32_type);
  CHECK(builder.sum(var(i), {make_cast(int64_type, b.var(j)), 2}).expr->type == int64_type);
  CHECK(builder.sum(var(i), number(INT64_MAX, int64_type)).expr->type == int64_type);
  CHECK(builder.product(ramp, var(i)).expr->type == int32x4);
  CHECK(text(builder.sum(var(i), number(0))) == "i");
  CHECK(text(builder.product(number(1), var(i))) == "i");
  CHECK(refusal([&] { (void)builder.sum(number(INT32_MAX), number(1)); }) ==
        "the flat index does not fit in its type 'int32'");
  CHECK(refusal([&] { (void)builder.sum(var(i), {make_float(1, float32_type)}); }) ==
        "an index has type 'float32', expected an integer type");
  const Tree two{make_operator(ExprKind::ramp, int32_type.with_lanes(2), {b.var(i), make_int(1)}), 2};
  CHECK(refusal([&] { (void)builder.sum(ramp, two); }) == "indices of 4 and 2 lanes, expected as many in each");
  CHECK(refusal([&] {
          (void)builder.flat_index(view({8, 5}), std::vector{ramp});
        }) == "1 indices into a buffer of 2 dimensions and 0 strides");
}

TEST_CASE_FIXTURE(Expressions, "builder: loads and stores convert to and from the elements of the view") {
  const std::vector<Tree> at = {var(i), var(j)};
  CHECK(text(builder.load(int8_type, view({8, 5}), at, none)) == "p[i * 5 + j]");
  const Tree cast = builder.load(int32_type, view({8, 5}), at, none);
  CHECK(cast.expr->kind == ExprKind::cast);
  CHECK(cast.expr->operands[0]->type == int8_type);
  CHECK(cast.height == 5);
  CHECK(text(builder.store(view({8, 5}), at, number(3), none)) == "p[i * 5 + j] = 3i8");
  const Store stored = builder.store(view({8, 5}), at, number(300), none);
  CHECK(stored.value->kind == ExprKind::cast);
  // An index that counts vectors, and one of lanes.
  const DataType int8x4 = int8_type.with_lanes(4);
  CHECK(text(builder.load(int8x4, p, var(i), none)) == "p[ramp(i * 4, 1, 4)]");
  CHECK(text(builder.load(int8x4, p, ramp, none)) == "p[ramp(j, 1, 4)]");
  CHECK(refusal([&] { (void)builder.load(int8_type.with_lanes(2), p, ramp, none); }) ==
        "an index of 4 lanes for a value of 2");
  CHECK(refusal([&] { (void)builder.load(int8_type, p, {make_float(1, float32_type)}, none); }) ==
        "the index has type 'float32', expected an integer type");
}

TEST_CASE_FIXTURE(Expressions, "builder: predicates that always hold are left out") {
  const Tree always = number(1, bool_type);
  const Tree in_lanes = builder.converted(always, bool_type.with_lanes(4));
  const Tree sometimes{make_binary(ExprKind::lt, b.var(i), make_int(3)), 2};
  CHECK(builder.load(int8_type, p, var(i), always).expr->operands.size() == 1);
  CHECK(builder.load(int8_type.with_lanes(4), p, ramp, in_lanes).expr->operands.size() == 1);
  CHECK(builder.load(int8_type, p, var(i), sometimes).expr->operands.size() == 2);
  CHECK(builder.store(p, var(i), number(1), always).predicate == nullptr);
  CHECK(builder.store(p, var(i), number(1), sometimes).predicate == sometimes.expr);
}

TEST_CASE_FIXTURE(Expressions, "builder: expressions are no higher than the limit") {
  Tree sum = var(i);
  for (int level = 1; level < 100; ++level) sum = builder.sum(sum, var(j));
  CHECK(sum.height == 100);
  CHECK(refusal([&] { (void)builder.sum(sum, var(j)); }) ==
        "an expression nests deeper than 100 levels, which is the limit");
}

TEST_CASE_FIXTURE(Expressions, "builder: TVM's rule for products by one half is an operator") {
  const auto op = [&](const ExprRef& factor, const ExprRef& shift) {
    return fixed_point_op(std::vector{b.var(i), factor, make_int(31), shift});
  };
  const ExprRef half = make_int(1 << 30);
  CHECK(op(half, make_int(-3)) == Op::q_multiply_shift_half);
  CHECK(op(make_int(3), make_int(-3)) == Op::q_multiply_shift);
  CHECK(op(half, b.var(j)) == Op::q_multiply_shift);
  CHECK(op(b.var(j), make_int(-3)) == Op::q_multiply_shift);
  const Tree halves = builder.converted({half}, int32x4);
  const Tree shifts = builder.converted(number(2), int32x4);
  CHECK(fixed_point_op(std::vector{ramp.expr, halves.expr, halves.expr, shifts.expr}) == Op::q_multiply_shift_half);
}

TEST_CASE_FIXTURE(Body, "builder: bodies are lists") {
  body.allocate(a, int8_type, {make_int(8)}, nullptr, {});
  body.open_loop(i, make_int(0), make_int(4));
  body.open_branch(flag);
  body.add(store(a));
  body.open_else();
  body.add(store(p));
  body.close();
  body.evaluate(one);
  body.close();
  body.open_scope();
  body.let(n, one);
  body.close();
  body.open_while(flag);
  body.close();
  body.require(flag, "why");
  CHECK(text() ==
        "\n  allocate a: int8[8]\n"
        "  for i in [0, 4) {\n"
        "    if 1 < 2 {\n"
        "      a[0] = 1i8\n"
        "    } else {\n"
        "      p[0] = 1i8\n"
        "    }\n"
        "  }\n"
        "  scope {\n"
        "    let n: int32 = 1\n"
        "  }\n"
        "  while 1 < 2 {\n"
        "  }\n"
        "  assert 1 < 2, \"why\"\n");
}

TEST_CASE_FIXTURE(Body, "builder: what a function imports stands there once") {
  for (const char* const source : {"int a;", "int b;", "int a;"}) body.import_c(source);
  CHECK(function.imported_c == std::vector<std::string>{"int a;", "int b;"});
}

TEST_CASE_FIXTURE(Body, "builder: blocks nest no deeper than the limit") {
  const std::string message =
      "loops, branches and scopes nest deeper than 4 levels, which is the limit: C compilers accept no more";
  body.open_scope();
  body.open_loop(i, make_int(0), make_int(4));
  body.open_branch(flag);
  CHECK(refusal([&] { body.open_scope(); }) == message);
  CHECK(refusal([&] { body.open_while(flag); }) == message);
  CHECK(refusal([&] { body.open_branch(flag); }) == message);
  CHECK(refusal([&] { body.open_loop(n, one, one); }) == message);
  body.open_else();
  body.close();
  CHECK(refusal([&] { body.open_scope(); }).empty());
}

TEST_CASE_FIXTURE(Body, "builder: storage that cannot be") {
  CHECK(refusal([&] { body.allocate(a, int8_type, {make_float(1, float32_type)}, nullptr, {}); }) ==
        "an extent of type 'float32', expected an integer type");
  body.open_scope();
  body.allocate(a, int8_type, {make_int(8)}, make_int(1, bool_type), {"sram"});
  CHECK(std::get<Allocate>(std::get<Scope>(function.body[0].node).body[0].node).condition == nullptr);
  body.close();
  body.open_scope();
  const std::string twice = "storage 'a' is allocated twice with different sizes, expected one size for each variable";
  CHECK(refusal([&] { body.allocate(a, int8_type, {make_int(9)}, nullptr, {}); }) == twice);
  CHECK(refusal([&] { body.allocate(a, int8_type, {make_int(2), make_int(4)}, nullptr, {}); }).empty());
  const auto data = std::make_shared<const Constant>(Constant{int8_type, {4}, "abcd"});
  const auto constant = [&](VarId var, DataType type, const std::vector<std::int64_t>& extents) {
    return refusal([&] { body.allocate_const(var, type, extents, data, {}); });
  };
  CHECK(constant(a, int8_type, {4}) == twice);
  CHECK(constant(p, int8_type, {5}) == "the constant is int8 of 5 bytes, but its data is int8 of 4 bytes");
  CHECK(constant(p, float32_type, {1}) == "the constant is float32 of 4 bytes, but its data is int8 of 4 bytes");
  CHECK(constant(p, int8_type, {-1, -4}) ==
        "the constant is int8 of an impossible number of bytes, but its data is int8 of 4 bytes");
  CHECK(constant(p, int8_type, {2, 2}).empty());
}

TEST_CASE_FIXTURE(Body, "builder: loops over what is no integer") {
  const std::string message = "a loop variable or bound of type 'float32', expected an integer type";
  const ExprRef real = make_float(1, float32_type);
  CHECK(refusal([&] { body.open_loop(i, real, one); }) == message);
  CHECK(refusal([&] { body.open_loop(i, one, real); }) == message);
  CHECK(refusal([&] { body.open_loop(p, one, one); }) ==
        "a loop variable or bound of type 'handle', expected an integer type");
}

}  // namespace usmp::tir::builder_test

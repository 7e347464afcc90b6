// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Types, sizes and names of small modules; visits in program order.
#include "usmp/tir/ir.hpp"

#include <doctest/doctest.h>

#include <string>

#include "usmp/tir/visit.hpp"

namespace usmp::tir::ir_test {
namespace {

TEST_CASE("data types are read and written as TVM spells them") {
  for (const char* const text : {"int8", "uint64", "float32", "float16", "bfloat16", "bool", "handle", "int4",
                                 "float32x4", "boolx16", "int8x4096"}) {
    const auto type = parse_data_type(text);
    REQUIRE_MESSAGE(type.has_value(), text);
    CHECK(to_string(*type) == text);
  }
  CHECK(parse_data_type("") == void_type);
  CHECK(to_string(void_type).empty());
  CHECK(parse_data_type("bool") == bool_type);
  CHECK(parse_data_type("float32x4") == DataType{TypeCode::float_, 32, 4});
  for (const char* const text : {"int", "int0", "int65", "int-8", "int8x0", "int8x4097", "int8y4", "int8 ", "Int8",
                                 "float99999999999999999999", "custom[posites2]32", "x4"}) {
    CHECK_FALSE_MESSAGE(parse_data_type(text).has_value(), text);
  }
}

TEST_CASE("sizes of types are whole bytes a lane") {
  CHECK(bool_type.element_bytes() == 1);
  CHECK(parse_data_type("int4")->bytes() == 1);
  CHECK(parse_data_type("float16x3")->bytes() == 6);
  CHECK(parse_data_type("boolx8")->bytes() == 8);
  CHECK(void_type.bytes() == 0);
}

TEST_CASE("types that C lets alias: equal ones, and any with a character type") {
  const auto type = [](const char* text) { return *parse_data_type(text); };
  for (const char* const any : {"int8", "uint8", "int16", "int32", "int64", "float16", "float32", "bool"}) {
    CHECK(may_alias(type(any), type(any)));
    for (const char* const narrow : {"int8", "uint8"}) {
      CHECK(may_alias(type(any), type(narrow)));
      CHECK(may_alias(type(narrow), type(any)));
    }
  }
  CHECK(may_alias(type("float32x4"), type("float32")));
  CHECK(may_alias(type("int8x4"), type("float32")));
  for (const char* const other : {"uint32", "float32", "int16", "int64", "bool"}) {
    CHECK_FALSE(may_alias(type("int32"), type(other)));
    CHECK_FALSE(may_alias(type(other), type("int32")));
  }
}

TEST_CASE("allocation sizes say why they are unknown") {
  Module module;
  module.vars.push_back({.name = "n", .type = int32_type, .element = {}, .storage_scope = {}});
  const auto size = [](std::vector<ExprRef> extents) {
    return allocation_size(
        {.var = {}, .type = int32_type, .extents = std::move(extents), .condition = nullptr, .candidate_pools = {}});
  };
  CHECK(size({}).bytes == 4);
  CHECK(size({make_int(3), make_int(5)}).bytes == 60);
  CHECK(size({make_int(0)}).bytes == 0);
  CHECK(size({make_int(3), make_var(module, VarId(0))}).why == AllocationSize::Unknown::not_constant);
  CHECK(size({make_int(-1)}).why == AllocationSize::Unknown::negative);
  CHECK(size({make_int(INT64_MAX)}).why == AllocationSize::Unknown::overflow);
  CHECK_FALSE(size({make_int(INT64_MAX)}).bytes.has_value());
}

TEST_CASE("functions are found by name") {
  Module module;
  for (const char* const name : {"a", "b", "d"}) {
    module.functions.emplace_back();
    module.functions.back().name = name;
  }
  CHECK(module.find("a") == 0);
  CHECK(module.find("d") == 2);
  CHECK_FALSE(module.find("c").has_value());
  CHECK_FALSE(module.find("e").has_value());
}

TEST_CASE("comparisons give bool, with the lanes of their operands") {
  CHECK(make_binary(ExprKind::lt, make_int(1), make_int(2))->type == bool_type);
  CHECK(make_binary(ExprKind::add, make_int(1, int64_type), make_int(2, int64_type))->type == int64_type);
}

TEST_CASE("statements and expressions are visited in program order, shared ones once a use") {
  const ExprRef shared = make_int(1);
  const ExprRef sum = make_binary(ExprKind::add, shared, shared);
  std::string seen;
  for_each_expr(*sum, [&](const Expr& expr) { seen += expr.kind == ExprKind::add ? "+" : "1"; });
  CHECK(seen == "+11");

  Block body;
  body.push_back({Evaluate{make_int(2)}});
  Block outer;
  outer.push_back({For{VarId(0), make_int(3), make_int(4), body}});
  outer.push_back({IfThenElse{make_int(5), body, {}}});
  outer.push_back({Store{VarId(0), make_int(6), make_int(7), make_int(8)}});
  outer.push_back({While{make_int(9), body}});
  outer.push_back({Scope{body}});
  std::string order;
  for_each_stmt(outer, [&](const Stmt& stmt) {
    for_each_expr_of(stmt, [&](const ExprRef& expr) { order += std::to_string(*as_int(*expr)); });
    order += ".";
  });
  CHECK(order == "34.2.5.2.678.9.2..2.");
  CHECK(blocks_of(outer[1]).size() == 2);
  CHECK(blocks_of(outer[2]).empty());
}

TEST_CASE("calls by name, whatever their convention") {
  const auto arguments_of = [](const std::string& op) {
    const ExprRef call = make_call(int32_type, op, {make_string("f"), make_int(1), make_int(2)});
    const auto named = named_call(*call);
    return named ? *named->name + std::to_string(named->arguments.size()) : std::string("none");
  };
  CHECK(arguments_of("tir.call_extern") == "f2");
  CHECK(arguments_of("tir.call_pure_extern") == "f2");
  CHECK(arguments_of("tir.tvm_call_packed") == "f2");
  CHECK(arguments_of("tir.tvm_call_cpacked") == "f1");  // the last is the resource handle
  CHECK(arguments_of("tir.exp") == "none");
  CHECK_FALSE(named_call(*make_call(int32_type, "tir.call_extern", {make_int(1)})).has_value());
}

}  // namespace
}  // namespace usmp::tir::ir_test

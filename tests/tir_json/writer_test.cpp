// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Modules written as JSON and read back, and what cannot be written.
#include "usmp/tir_json/writer.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "tir_json/reading.hpp"
#include "usmp/tir/printer.hpp"

namespace usmp::testing {
namespace {

std::string written(const tir::Module& module) {
  StringSink sink;
  tir_json::write_module(module, sink);
  return sink.text();
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Two constants of the same data, an array of the function's, a text of two lines.
tir::Module some_module() {
  tir::Module module;
  const auto handle = [&](const char* name, tir::DataType element) {
    module.vars.push_back({name, tir::handle_type, element, "global"});
    return tir::VarId(module.vars.size() - 1);
  };
  const tir::DataType int8{tir::TypeCode::int_, 8, 1};
  const tir::VarId out = handle("out", int8);
  const tir::VarId array = handle("array", tir::int32_type);
  const tir::VarId first = handle("first", int8);
  const tir::VarId second = handle("second", int8);
  tir::Function function;
  function.name = "tvmgen_default___tvm_main__";
  function.target = "c";
  function.is_entry = true;
  tir::Param param;
  param.var = out;
  param.name = "the \"out\\put\"";
  param.is_tensor = true;
  param.element = int8;
  param.shape = {{2, 3}};
  function.params.push_back(param);
  function.imported_c = {"int f(void);\n\"quoted\"\n"};
  const auto data = std::make_shared<const tir::Constant>(tir::Constant{int8, {3}, "\x01\xFF\x7F"});
  tir::Allocate allocate;
  allocate.var = array;
  allocate.type = tir::int32_type;
  allocate.extents = {tir::make_int(8)};
  allocate.was_on_stack = true;
  const tir::ExprRef zero = tir::make_int(0);
  function.body.push_back({allocate});
  function.body.push_back({tir::AllocateConst{first, int8, data, {}}});
  function.body.push_back({tir::AllocateConst{second, int8, data, {}}});
  function.body.push_back({tir::Store{array, zero, tir::make_int(-7), nullptr}});
  const tir::ExprRef sum =
      tir::make_binary(tir::ExprKind::add, tir::make_load(int8, first, zero), tir::make_load(int8, second, zero));
  function.body.push_back({tir::Store{out, zero, sum, nullptr}});
  module.functions.push_back(function);
  module.tvm_version = "0.18.0";
  module.workspace_alignment = 8;
  return module;
}

tir::Allocate& array_of(tir::Module& module) {
  return std::get<tir::Allocate>(module.functions.front().body.front().node);
}

TEST_CASE("writer: a module is read as what it was") {
  const tir::Module module = some_module();
  const std::string json = written(module);
  CHECK(json == written(module));
  tir::Module again = read(json);
  CHECK(tir::print(again) == tir::print(module));
  CHECK(array_of(again).was_on_stack);
  CHECK_FALSE(array_of(again).on_stack);
  const tir::Function& function = again.functions.front();
  CHECK(function.params.front().name == "the \"out\\put\"");
  CHECK(function.params.front().shape == module.functions.front().params.front().shape);
  CHECK(function.imported_c == module.functions.front().imported_c);
  CHECK(function.target == "c");
  CHECK(again.tvm_version == "0.18.0");
  CHECK(again.workspace_alignment == 8);
  CHECK_FALSE(again.constant_alignment.has_value());
}

TEST_CASE("writer: data that constants share is written once") {
  CHECK(count_of(written(some_module()), "\"runtime.NDArray\"") == 1);
}

TEST_CASE("writer: what TIR has no word for") {
  tir::Module module = some_module();
  SUBCASE("a variable of C") { array_of(module).on_stack = true; }
  SUBCASE("a ring") { array_of(module).ring = tir::Ring{.stride = 2, .extent = 4, .rows = 2}; }
  SUBCASE("an operator of our own") {
    const tir::ExprRef one = tir::make_int(1);
    const tir::ExprRef high = tir::make_call(tir::int32_type, tir::Op::multiply_high, {one, one, tir::make_int(0)});
    module.functions.front().body.push_back({tir::Evaluate{high}});
  }
  CHECK_THROWS_AS((void)written(module), std::logic_error);
}

}  // namespace
}  // namespace usmp::testing

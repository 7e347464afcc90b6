// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions, names and allocates put into a module and taken out of it.
#include "usmp/program/edit.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tir_support/module_builder.hpp"

namespace usmp::program::edit_test {
namespace {

using tir::testing::block;
using tir::testing::ModuleBuilder;

// The entry "main" calls f and the application's h; nobody calls g; npu is opaque and calls "used".
tir::Module module_of_four() {
  ModuleBuilder b;
  const std::vector<tir::VarId> none;
  b.function("f", {}, {});
  b.function("g", {}, {});
  b.function("npu", {}, block(b.call("used", none)), "cmsis-nn");
  b.function("used", {}, {});
  b.entry({}, block(b.call("f", none), b.call("h", none)));
  return b.build();
}

tir::Function named(std::string name) {
  tir::Function function;
  function.name = std::move(name);
  return function;
}

std::string names_of(const tir::Module& module) {
  std::string all;
  for (const tir::Function& function : module.functions) all += (all.empty() ? "" : " ") + function.name;
  return all;
}

TEST_CASE("names that are called, by whomever") {
  CHECK(called_names(module_of_four()) == std::set<std::string>{"f", "h", "used"});
}

TEST_CASE("a fresh name is nobody's") {
  const tir::Module module = module_of_four();
  CHECK(FreshNames(module).add("f_merged") == "f_merged");
  CHECK(FreshNames(module).add("h") == "h_1");
  FreshNames names(module);
  CHECK(names.add("g") == "g_1");
  CHECK(names.add("g") == "g_2");
  tir::Module more = module;
  (void)insert_function(more, named("g_1"));
  CHECK(FreshNames(more).add("g") == "g_2");
}

TEST_CASE("a function stands where its name belongs, and the entry stays the entry") {
  tir::Module module = module_of_four();
  CHECK(insert_function(module, named("z")) == 5);
  CHECK(module.functions[module.entry].name == "main");
  insert_functions(module, {named("y"), named("a")});
  CHECK(module.functions[module.entry].name == "main");
  CHECK(names_of(module) == "a f g main npu used y z");
}

TEST_CASE("functions go that are named and not called, but never the entry") {
  tir::Module module = module_of_four();
  drop_uncalled(module, {"f", "main", "used", "elsewhere"});
  CHECK(names_of(module) == "f g main npu used");
  drop_uncalled(module, {"g"});
  CHECK(names_of(module) == "f main npu used");
  CHECK(module.functions[module.entry].name == "main");
}

TEST_CASE("an allocate of the block itself goes") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  tir::Block body = block(b.allocate(x, 1), b.allocate(y, 1), ModuleBuilder::scope(block(b.allocate(x, 1))));
  drop_allocates(body, {x});
  REQUIRE(body.size() == 2);
  CHECK(std::get<tir::Allocate>(body[0].node).var == y);
  CHECK(std::get<tir::Scope>(body[1].node).body.size() == 1);
}

}  // namespace
}  // namespace usmp::program::edit_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What estimates say of the operators that a function computes by turns.
#include "usmp/kernels/estimate.hpp"

#include <doctest/doctest.h>

#include "tir_support/module_builder.hpp"

namespace usmp::kernels::estimate_test {
namespace {

using namespace tir::testing;  // NOLINT(google-build-using-namespace)

TEST_CASE("estimates: operators by rows have what their functions take in all runs") {
  ModuleBuilder b;
  const tir::VarId p = b.pointer("p");
  const tir::VarId i = b.integer("i");
  b.function("first", {p}, block(ModuleBuilder::loop(i, 10, block(ModuleBuilder::store(p, b.var(i), b.load(p, 0))))));
  const tir::VarId q = b.pointer("q");
  const tir::VarId j = b.integer("j");
  b.function("second", {q}, block(ModuleBuilder::loop(j, 30, block(ModuleBuilder::store(q, b.var(j), b.load(q, 0))))));
  const tir::VarId x = b.pointer("x");
  const tir::VarId n = b.integer("n");
  b.function(
      "rows", {x},
      block(ModuleBuilder::loop(n, 7, block(b.call("first", {x}), b.call("second", {x}))), b.call("second", {x})));
  const tir::VarId in = b.pointer("in");
  b.entry({in}, block(b.call("rows", {in})));
  tir::Module module = b.build();
  const auto index = [&](const char* name) { return module.find(name).value(); };
  module.functions[index("first")].row_operator = 1;
  module.functions[index("second")].row_operator = 3;
  const std::vector<Estimate> all = estimates(module, *find_core("cortex-m4"));
  const Estimate& rows = all[index("rows")];
  REQUIRE(rows.parts.size() == 2);
  const double first = rows.parts.at(1).instructions;
  const double second = rows.parts.at(3).instructions;
  CHECK(first > 7 * all[index("first")].instructions.value());
  CHECK(second > 8 * all[index("second")].instructions.value());
  CHECK(first + second <= rows.instructions.value());
  CHECK(first + second >= 0.9 * rows.instructions.value());
  CHECK(all[index("first")].parts.empty());
}

}  // namespace
}  // namespace usmp::kernels::estimate_test

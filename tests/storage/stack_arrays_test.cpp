// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which arrays stay on the stack below a limit, and how large they are together.
#include "usmp/storage/stack_arrays.hpp"

#include <doctest/doctest.h>

#include <set>
#include <utility>

#include "tir_support/module_builder.hpp"
#include "usmp/tir/verify.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::storage::stack_test {
namespace {

using tir::VarId;
using tir::testing::block;
using tir::testing::ModuleBuilder;

tir::Stmt local(tir::Stmt stmt) {
  std::get<tir::Allocate>(stmt.node).was_on_stack = true;
  return stmt;
}

// Two operators with arrays of 256 and 257 bytes and of 64, one array in a loop, and one of the entry.
struct Operators {
  ModuleBuilder b;
  VarId p = b.pointer("p");
  VarId q = b.pointer("q");
  VarId in = b.pointer("in");
  VarId out = b.pointer("out");
  VarId small = b.pointer("small");
  VarId large = b.pointer("large");
  VarId inner = b.pointer("inner");
  VarId workspace = b.pointer("workspace");
  VarId main = b.pointer("main");
  VarId i = b.integer("i");

  tir::Module module() {
    b.function("op", {p},
               block(local(b.allocate(small, 256)), local(b.allocate(large, 257)), b.allocate(workspace, 8)));
    b.function("op2", {q}, block(b.loop(i, 2, block(local(b.allocate(inner, 64))))));
    b.entry({in, out}, block(local(b.allocate(main, 8)), b.call("op", std::vector<VarId>{in}),
                             b.call("op2", std::vector<VarId>{out})));
    return b.build();
  }
};

// The variables of C afterwards.
std::set<VarId> kept(tir::Module& module, Bytes most) {
  module.stack_arrays = most;
  keep_on_stack(module);
  std::set<VarId> vars;
  for (const tir::Function& function : module.functions) {
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate != nullptr && allocate->on_stack) vars.insert(allocate->var);
    });
  }
  return vars;
}

TEST_CASE("arrays of the C that are small stay on the stack, in operators") {
  Operators c;
  tir::Module module = c.module();
  CHECK(kept(module, default_plan_stack) == std::set<VarId>{c.small, c.inner});
  tir::verify(module);
  CHECK(stack_arrays(module, true) == 513);
  CHECK(stack_arrays(module, false) == 256);
}

TEST_CASE("all arrays of the C are planned, or none") {
  Operators c;
  tir::Module module = c.module();
  CHECK(kept(module, 0).empty());
  CHECK(stack_arrays(module, false) == 0);
  CHECK(kept(module, 1000) == std::set<VarId>{c.small, c.large, c.inner});
  CHECK(stack_arrays(module, false) == 513);
}

}  // namespace
}  // namespace usmp::storage::stack_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A small network for the tests of the step "merge" and of the peak that it looks at.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tir_support/module_builder.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform::testing {

using tir::Block;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;
using namespace tir::testing;  // NOLINT(google-build-using-namespace)
using Builder = tir::testing::ModuleBuilder;

// in -> scale(a, t) -> mid -> add(p, b, o) -> out, of 8 elements: t is a · 2, o is p + b, and b is `in` too. The
// workspace is `mid` alone. `pass` and `fill` are there for calls that a test adds: y is x + 1, z is 5.
struct Network : Builder {
  VarId in = pointer("in", i32), out = pointer("out", i32), mid = pointer("mid", i32), out2 = pointer("out2", i32);
  VarId a = pointer("a", i32), t = pointer("t", i32), i = integer("i");
  VarId p = pointer("p", i32), b = pointer("b", i32), o = pointer("o", i32), j = integer("j");
  VarId x = pointer("x", i32), y = pointer("y", i32), k = integer("k");
  VarId z = pointer("z", i32), l = integer("l");
  Block declarations = block(allocate(mid, 8));
  Block calls = block(call("scale", {in, mid}), call("add", {mid, in, out}));
  ExprRef scaled = mul(load(a, var(i)), imm(2));
  std::vector<VarId> scale_params = {a, t};
  std::string scale_target = "c";
  std::string add_target = "c";
  std::string pass_target = "c";
  Block scale = block(store(t, var(i), scaled));
  std::function<Block()> add = [this] {
    return block(loop(j, 8, block(store(o, var(j), tir::testing::add(load(p, var(j)), load(b, var(j)))))));
  };

  tir::Module network() {
    function("scale", scale_params, block(loop(i, 8, scale)), scale_target);
    function("add", {p, b, o}, add(), add_target);
    function("pass", {x, y}, block(loop(k, 8, block(store(y, var(k), tir::testing::add(load(x, var(k)), imm(1)))))),
             pass_target);
    function("fill", {z}, block(loop(l, 8, block(store(z, var(l), imm(5))))));
    Block body = declarations;
    body.insert(body.end(), calls.begin(), calls.end());
    entry({in, out, out2}, std::move(body));
    return build();
  }
  void then(const Stmt& stmt) { calls.push_back(stmt); }
  void between(const Stmt& stmt) { calls.insert(calls.begin() + 1, stmt); }
  VarId tensor(const std::string& name, std::int64_t elements = 8) {
    const VarId id = pointer(name, i32);
    declarations.push_back(allocate(id, elements));
    return id;
  }
  // A tensor that stays: two calls read it.
  VarId shared_tensor(const std::string& name, std::int64_t elements = 8) {
    const VarId id = tensor(name, elements);
    then(call("fill", {id}));
    then(call("pass", {id, out2}));
    then(call("pass", {id, out2}));
    return id;
  }
};

}  // namespace usmp::transform::testing

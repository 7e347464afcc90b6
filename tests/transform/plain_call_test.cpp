// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements that are a call and nothing else: only these are merged.
#include <doctest/doctest.h>

#include "tir_support/module_builder.hpp"
#include "transform/merge_calls.hpp"
#include "usmp/tir/printer.hpp"

namespace usmp::transform::plain_call_test {
namespace {

using tir::Block;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;
using tir::testing::block;
using Builder = tir::testing::ModuleBuilder;

// in -> write(a, T) -> mid -> read(p, o) -> out, of 8 elements: T is a + 1, o is p * 2.
struct Pair : Builder {
  VarId in = pointer("in", tir::int32_type), out = pointer("out", tir::int32_type), mid = pointer("mid");
  VarId a = pointer("a", tir::int32_type), T = pointer("T", tir::int32_type), i = integer("i");
  VarId p = pointer("p", tir::int32_type), o = pointer("o", tir::int32_type), j = integer("j");
  Block calls = block(call("write", {in, mid}), call("read", {mid, out}));

  tir::Module pair() {
    const auto element = [&](ExprKind kind, VarId from, VarId at, std::int64_t constant) {
      return tir::make_binary(kind, load(from, var(at)), tir::make_int(constant));
    };
    function("write", {a, T}, block(loop(i, 8, block(store(T, var(i), element(ExprKind::add, a, i, 1))))));
    function("read", {p, o}, block(loop(j, 8, block(store(o, var(j), element(ExprKind::mul, p, j, 2))))));
    Block body = block(allocate(mid, 32));
    body.insert(body.end(), calls.begin(), calls.end());
    entry({in, out}, std::move(body));
    return build();
  }
};

TEST_CASE("a call under a condition is not merged") {
  Pair pair;
  CHECK_FALSE([&] {
    tir::Module plain = Pair().pair();
    return merge_calls(plain).empty();
  }());
  const ExprRef call = Builder::call_expr("write", {pair.var(pair.in), pair.var(pair.mid)});
  const ExprRef is_set = tir::make_binary(ExprKind::gt, pair.load(pair.in, 0), tir::make_int(0));
  pair.calls[0] =
      Builder::evaluate(tir::make_call(tir::int32_type, "tir.if_then_else", {is_set, call, tir::make_int(0)}));
  tir::Module module = pair.pair();
  const std::string before = tir::print(module);
  CHECK(merge_calls(module).empty());
  CHECK(tir::print(module) == before);
}

TEST_CASE("a call whose result is compared with another call's is not merged") {
  Pair pair;
  const ExprRef call = Builder::call_expr("write", {pair.var(pair.in), pair.var(pair.mid)});
  const ExprRef other = Builder::call_expr("external", {});
  SUBCASE("the expected one") {
    pair.calls[0] =
        Builder::evaluate(tir::make_call(tir::int32_type, "tir.tvm_check_return", {other, tir::make_int(-1), call}));
  }
  SUBCASE("the one in case of failure") {
    pair.calls[0] =
        Builder::evaluate(tir::make_call(tir::int32_type, "tir.tvm_check_return", {tir::make_int(0), other, call}));
  }
  tir::Module module = pair.pair();
  CHECK(merge_calls(module).empty());
}

}  // namespace
}  // namespace usmp::transform::plain_call_test

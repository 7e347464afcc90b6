// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Live ranges of straight code, branches and loops, and of operators called from the entry.
#include <doctest/doctest.h>

#include "liveness/result.hpp"

namespace usmp::liveness::testing::ranges_test {
namespace {

TEST_CASE("a buffer is live from its first to its last access, statement by statement") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  const auto z = b.pointer("z");
  b.entry({}, block(b.allocate(x, 4), b.allocate(y, 4), b.allocate(z, 4), b.set(x), b.copy(y, x), b.copy(z, y)));
  const Result r = run(b);
  CHECK(r.live("x") == "0-2");
  CHECK(r.live("y") == "1-3");
  CHECK(r.live("z") == "2-3");
  CHECK(r.conflict("x", "y"));
  CHECK_FALSE(r.conflict("x", "z"));
  CHECK(r.analysis.horizon == 3);
}

TEST_CASE("a statement reads and writes at one time, so its source and its target conflict") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  b.entry({}, block(b.allocate(x, 4), b.allocate(y, 4), b.set(x), b.copy(y, x)));
  CHECK(run(b).conflict("x", "y"));
}

TEST_CASE("what is never accessed is never live") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  b.entry({}, block(b.allocate(x, 4), b.constant(y, "abcd")));
  const Result r = run(b);
  CHECK(r.site("x").live.empty());
  CHECK(r.site("y").live.empty());
  CHECK(r.analysis.horizon == 1);
}

TEST_CASE("the branches of an if do not conflict, what spans them conflicts with both") {
  ModuleBuilder b;
  const auto c = b.pointer("c");
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  b.entry({}, block(b.allocate(c, 4), b.allocate(x, 4), b.allocate(y, 4), b.set(c),
                    b.when(tir::make_binary(tir::ExprKind::gt, b.load(c, 0), tir::make_int(0, int8_type)),
                           block(b.set(x), b.copy(c, x)), block(b.set(y), b.copy(c, y)))));
  const Result r = run(b);
  CHECK_FALSE(r.conflict("x", "y"));
  CHECK(r.conflict("c", "x"));
  CHECK(r.conflict("c", "y"));
  CHECK(r.live("c") == "0-6");
}

TEST_CASE("a condition is read before the branch") {
  ModuleBuilder b;
  const auto c = b.pointer("c");
  const auto x = b.pointer("x");
  b.entry({}, block(b.allocate(c, 4), b.allocate(x, 4), b.set(c), b.when(b.load(c, 0), block(b.set(x)))));
  const Result r = run(b);
  CHECK(r.live("c") == "0-2");
  CHECK(r.live("x") == "2-3");
}

TEST_CASE("allocates inside a loop that follow each other in its body may share") {
  ModuleBuilder b;
  const auto i = b.integer("i");
  const auto o = b.pointer("o");
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  b.entry({o}, block(b.loop(i, 4,
                            block(b.scope(block(b.allocate(x, 4), b.set(x), b.copy(o, x))),
                                  b.scope(block(b.allocate(y, 4), b.set(y), b.copy(o, y)))))));
  const Result r = run(b);
  CHECK(r.live("x") == "1-3");
  CHECK(r.live("y") == "3-5");
}

TEST_CASE("what a later iteration reads stays live throughout the loop") {
  ModuleBuilder b;
  const auto i = b.integer("i");
  const auto state = b.pointer("state");
  const auto x = b.pointer("x");
  // Read at the start of the body, written at its end.
  b.entry({}, block(b.allocate(state, 4), b.set(state),
                    b.loop(i, 4, block(b.allocate(x, 4), b.copy(x, state), b.set(x), b.copy(state, x)))));
  const Result r = run(b);
  CHECK(r.live("state") == "0-5");
  CHECK(r.live("x") == "2-5");
}

TEST_CASE("a range extends over the outermost loop around which the value survives, not further") {
  ModuleBuilder b;
  const auto i = b.integer("i");
  const auto j = b.integer("j");
  const auto k = b.integer("k");
  const auto before = b.pointer("before");
  const auto outer = b.pointer("outer");
  const auto middle = b.pointer("middle");
  const auto inner = b.pointer("inner");
  b.entry({}, block(b.allocate(before, 4), b.allocate(outer, 4), b.set(before),                 // 0
                    b.loop(i, 4,                                                                // 1
                           block(b.allocate(middle, 4), b.set(middle),                          // 2
                                 b.loop(j, 4,                                                   // 3
                                        block(b.loop(k, 4,                                      // 4
                                                     block(b.allocate(inner, 4), b.set(inner),  // 5
                                                           b.copy(middle, inner))),             // 6
                                              b.copy(outer, middle))),                          // 7
                                 b.copy(before, before)))));                                    // 8
  const Result r = run(b);
  CHECK(r.live("before") == "0-9");
  CHECK(r.live("outer") == "1-9");
  CHECK(r.live("middle") == "2-8");
  CHECK(r.live("inner") == "5-7");
}

TEST_CASE("a loop that runs once carries nothing") {
  ModuleBuilder b;
  const auto i = b.integer("i");
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  b.entry({}, block(b.allocate(x, 4), b.allocate(y, 4), b.set(x),
                    b.loop(i, 1, block(b.copy(x, x), b.set(y), b.copy(y, y)))));
  const Result r = run(b);
  CHECK(r.live("x") == "0-3");
  CHECK(r.live("y") == "3-5");
}

TEST_CASE("the bounds of a loop are evaluated as long as it runs") {
  ModuleBuilder b;
  const auto i = b.integer("i");
  const auto n = b.pointer("n");
  const auto x = b.pointer("x");
  tir::For loop{.var = i, .min = tir::make_int(0), .extent = b.load(n, 0), .body = block(b.allocate(x, 4), b.set(x))};
  b.entry({}, block(b.allocate(n, 4), b.set(n), tir::Stmt{std::move(loop)}));
  CHECK(run(b).conflict("n", "x"));
}

TEST_CASE("a while loop extends ranges, also those of its condition") {
  ModuleBuilder b;
  const auto c = b.pointer("c");
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  const auto after = b.pointer("after");
  tir::While loop{.condition = b.load(c, 0), .body = block(b.copy(y, x), b.allocate(after, 4), b.set(after))};
  b.entry({}, block(b.allocate(c, 4), b.allocate(x, 4), b.allocate(y, 4), b.set(c), b.set(x), b.set(y),
                    tir::Stmt{std::move(loop)}));
  const Result r = run(b);
  CHECK(r.live("c") == "0-6");
  CHECK(r.live("x") == "1-6");
  CHECK(r.conflict("c", "after"));
  CHECK(r.conflict("x", "after"));
}

TEST_CASE("asserts, lets, predicates and stored indices read") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  const auto z = b.pointer("z");
  const auto w = b.pointer("w");
  const auto v = b.integer("v");
  tir::Store masked{
      .storage = x, .index = b.load(y, 0), .value = tir::make_int(1, int8_type), .predicate = b.load(z, 0)};
  b.entry({},
          block(b.allocate(x, 4), b.allocate(y, 4), b.allocate(z, 4), b.allocate(w, 4), b.set(y), b.set(z), b.set(w),
                b.let(v, b.load(w, 0)), tir::Stmt{std::move(masked)}, tir::Stmt{tir::Assert{b.load(x, 0), "m"}}));
  const Result r = run(b);
  CHECK(r.live("y") == "0-5");
  CHECK(r.live("z") == "1-5");
  CHECK(r.live("w") == "2-4");
  CHECK(r.live("x") == "4-6");
}

TEST_CASE("a tensor is dead inside its last reader as soon as its last statement there is done") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto q = b.pointer("q");
  const auto early = b.pointer("early");
  const auto late = b.pointer("late");
  const auto i = b.integer("i");
  // The operator reads p into early, and from then on uses late only.
  b.function("op", {p, q},
             block(b.allocate(early, 8), b.allocate(late, 8),
                   b.loop(i, 8, block(b.store(early, b.var(i), b.load(p, b.var(i))))), b.copy(late, early),
                   b.copy(late, late), b.copy(q, late)));
  const auto in = b.pointer("in");
  const auto out = b.pointer("out");
  const auto t = b.pointer("t");
  b.entry({in, out}, block(b.allocate(t, 8), b.set(t), b.call("op", {t, out})));
  const Result r = run(b);
  CHECK(r.live("t") == "0-3");
  CHECK(r.live("early") == "1-4");
  CHECK(r.live("late") == "3-6");
  CHECK(r.conflict("t", "early"));
  CHECK_FALSE(r.conflict("t", "late"));
  REQUIRE(r.analysis.calls.size() == 1);
  CHECK(r.analysis.calls[0].callee == "op");
  CHECK(text({r.analysis.calls[0].ticks}) == "1-6");
}

TEST_CASE("an operator called n times gives its buffers n ranges and one placement") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto q = b.pointer("q");
  const auto s = b.pointer("s");
  b.function("op", {p, q}, block(b.allocate(s, 8), b.copy(s, p), b.copy(q, s), b.copy(q, p)));
  const auto t = b.pointer("t");
  const auto u = b.pointer("u");
  b.entry({}, block(b.allocate(t, 8), b.allocate(u, 8), b.set(t), b.call("op", {t, u}), b.call("op", {u, t}),
                    b.call("op", {t, u})));
  const Result r = run(b);
  CHECK(r.names() == std::vector<std::string>{"t", "u", "s"});
  CHECK(r.live("s") == "1-3 4-6 7-9");
  CHECK(r.site("s").kind == BufferKind::scratch);
  CHECK(r.site("t").kind == BufferKind::tensor);
  CHECK(r.analysis.calls.size() == 3);
}

TEST_CASE("ranges that touch are one") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto s = b.pointer("s");
  b.function("op", {p}, block(b.allocate(s, 8), b.copy(s, p), b.copy(p, s)));
  const auto t = b.pointer("t");
  b.entry({}, block(b.allocate(t, 8), b.call("op", {t}), b.call("op", {t})));
  CHECK(run(b).live("s") == "0-4");
}

TEST_CASE("a call in a loop stands once and its scratch carries nothing round") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto s = b.pointer("s");
  const auto i = b.integer("i");
  b.function("op", {p}, block(b.copy(p, p), b.allocate(s, 8), b.set(s), b.copy(p, s), b.copy(p, p)));
  const auto t = b.pointer("t");
  b.entry({}, block(b.allocate(t, 8), b.set(t), b.loop(i, 4, block(b.call("op", {t})))));
  const Result r = run(b);
  CHECK(r.live("s") == "3-5");
  CHECK(r.live("t") == "0-6");
  CHECK(r.analysis.calls.size() == 1);
}

TEST_CASE("a call inside a larger expression counts for the whole statement") {
  ModuleBuilder b;
  const auto p = b.pointer("p");
  const auto s1 = b.pointer("s1");
  const auto s2 = b.pointer("s2");
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  const auto q = b.pointer("q");
  b.function("f", {p}, block(b.allocate(s1, 8), b.set(s1), b.copy(p, s1)));
  b.function("g", {q}, block(b.allocate(s2, 8), b.set(s2), b.copy(q, s2)));
  // C may run g before f, so x must be safe from g's scratch, too.
  b.entry({}, block(b.allocate(x, 8), b.allocate(y, 8), b.set(x), b.set(y),
                    b.evaluate(add(b.call_expr("f", {b.var(x)}), b.call_expr("g", {b.var(y)})))));
  const Result r = run(b);
  CHECK(r.conflict("x", "s2"));
  CHECK(r.conflict("y", "s1"));
  CHECK_FALSE(r.conflict("s1", "s2"));
}

TEST_CASE("the same variable allocated in two places of a function is one site") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  b.entry({}, block(b.allocate(y, 4), b.scope(block(b.allocate(x, 8), b.set(x))), b.set(y),
                    b.scope(block(b.allocate(x, 4), b.set(x), b.copy(x, y)))));
  const Result r = run(b);
  CHECK(r.names() == std::vector<std::string>{"y", "x"});
  CHECK(r.live("x") == "0-1 2-4");
  CHECK(r.live("y") == "1-4");
  CHECK(r.site("x").size == 8);
}

TEST_CASE("functions that nobody calls have no sites") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  b.function("idle", {}, block(b.allocate(x, 4), b.set(x)));
  b.entry({}, block(b.allocate(y, 4), b.set(y)));
  const Result r = run(b);
  CHECK(r.names() == std::vector<std::string>{"y"});
  CHECK(r.analysis.reached == std::vector<bool>{false, true});
}

}  // namespace
}  // namespace usmp::liveness::testing::ranges_test

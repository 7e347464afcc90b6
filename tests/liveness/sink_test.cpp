// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Buffers that every iteration overwrites before it reads them live only inside the iteration.
//
// Each case allocates `x` (of 8 elements) before a loop over i whose body is under test. The body ends by filling `y`,
// which is allocated inside the loop and first used after the last use of x: x and y conflict exactly if x is taken as
// live around the loop.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "liveness/result.hpp"

namespace usmp::liveness::testing::sink_test {
namespace {

using tir::ExprKind;
using tir::ExprRef;
using tir::make_binary;
using tir::make_int;

struct Nest {
  ModuleBuilder b;
  tir::VarId x = b.pointer("x");
  tir::VarId y = b.pointer("y");
  tir::VarId out = b.pointer("out");
  tir::VarId i = b.integer("i");
  tir::VarId j = b.integer("j");
  tir::VarId k = b.integer("k");
  tir::VarId a = b.pointer("a");

  [[nodiscard]] ExprRef one() const { return make_int(1, int8_type); }
  [[nodiscard]] ExprRef affine(tir::VarId v, std::int64_t factor, std::int64_t plus = 0) const {
    return add(mul(b.var(v), make_int(factor)), make_int(plus));
  }
  // for j in [0, 8): x[j] = 1
  [[nodiscard]] tir::Stmt fill() const { return b.loop(j, 8, block(b.store(x, b.var(j), one()))); }
  // for k in [0, 8): out[k] = x[k]
  [[nodiscard]] tir::Stmt read() const { return b.loop(k, 8, block(b.store(out, b.var(k), b.load(x, b.var(k))))); }

  // Whether x holds nothing from one iteration to the next.
  bool sinks(tir::Block body, tir::Block after = {}, tir::Block before = {}) {
    body.push_back(b.scope(block(b.allocate(y, 8), b.set(y), b.copy(out, y))));
    tir::Block all = block(b.allocate(x, 8));
    all.insert(all.end(), before.begin(), before.end());
    all.push_back(b.loop(i, 4, std::move(body)));
    all.insert(all.end(), after.begin(), after.end());
    b.entry({out}, std::move(all));
    return !run(b).conflict("x", "y");
  }
};

TEST_CASE("a loop that begins by overwriting the buffer does not carry it") {
  SUBCASE("one loop") {
    Nest n;
    CHECK(n.sinks(block(n.fill(), n.read())));
  }
  SUBCASE("two loops, row by row") {
    Nest n;
    const auto index = add(n.affine(n.j, 4), n.b.var(n.k));
    CHECK(n.sinks(block(n.b.loop(n.j, 2, block(n.b.loop(n.k, 4, block(n.b.store(n.x, index, n.one()))))), n.read())));
  }
  SUBCASE("two loops, column by column, with a loop that repeats and one from elsewhere") {
    Nest n;
    const auto r = n.b.integer("r");
    const auto index = add(n.affine(n.j, 1, -3), n.affine(n.k, 2));
    tir::For shifted{
        .var = n.j, .min = make_int(3), .extent = make_int(2), .body = block(n.b.store(n.x, index, n.one()))};
    CHECK(n.sinks(block(n.b.loop(r, 3, block(n.b.loop(n.k, 4, block(tir::Stmt{std::move(shifted)})))), n.read())));
  }
  SUBCASE("a vector store") {
    Nest n;
    tir::Expr ramp;
    ramp.kind = ExprKind::ramp;
    ramp.type = tir::int32_type.with_lanes(4);
    ramp.operands = {n.affine(n.j, 4), make_int(1)};
    tir::Expr value;
    value.kind = ExprKind::broadcast;
    value.type = int8_type.with_lanes(4);
    value.operands = {n.one()};
    CHECK(n.sinks(block(n.b.loop(n.j, 2,
                                 block(n.b.store(n.x, std::make_shared<const tir::Expr>(ramp),
                                                 std::make_shared<const tir::Expr>(value)))),
                        n.read())));
  }
  SUBCASE("wider elements than the allocate's") {
    Nest n;
    CHECK(n.sinks(block(n.b.loop(n.j, 2, block(n.b.store(n.x, n.b.var(n.j), make_int(1)))), n.read())));
  }
  SUBCASE("initialise and accumulate") {
    Nest n;
    const auto index = n.b.var(n.j);
    const auto sum = add(n.b.load(n.x, n.b.var(n.j)), n.one());
    CHECK(n.sinks(block(
        n.b.loop(n.j, 8, block(n.b.store(n.x, index, n.one()), n.b.loop(n.k, 3, block(n.b.store(n.x, index, sum))))),
        n.read())));
  }
  SUBCASE("accumulate and use within the nest only") {
    Nest n;
    CHECK(n.sinks(block(n.b.loop(
        n.j, 8,
        block(n.b.store(n.x, n.b.var(n.j), n.one()), n.b.store(n.out, n.b.var(n.j), n.b.load(n.x, n.b.var(n.j))))))));
  }
  SUBCASE("aliases and callees after the overwriting") {
    Nest n;
    CHECK(n.sinks(block(n.fill(), n.b.let(n.a, n.b.address_of(n.x, 0)), n.b.copy(n.out, n.a),
                        n.b.call("library", {n.b.var(n.x)}))));
  }
  SUBCASE("under a condition that guards all of it") {
    Nest n;
    CHECK(n.sinks(block(n.b.when(n.b.load(n.out, 0), block(n.fill(), n.read())))));
  }
}

TEST_CASE("a single element is overwritten by one store") {
  ModuleBuilder b;
  const auto x = b.pointer("x");
  const auto y = b.pointer("y");
  const auto i = b.integer("i");
  b.entry({}, block(b.allocate(x, 1), b.loop(i, 4, block(b.set(x), b.copy(x, x), b.allocate(y, 4), b.set(y)))));
  CHECK(run(b).live("x") == "1-3");
}

TEST_CASE("it applies inwards as far as it holds") {
  // x is overwritten in each iteration of the inner loop: it lives there, not in the outer one.
  Nest n;
  const auto o = n.b.integer("o");
  const auto z = n.b.pointer("z");
  n.b.entry({n.out},
            block(n.b.allocate(n.x, 8),
                  n.b.loop(o, 4,
                           block(n.b.loop(n.i, 4, block(n.fill(), n.read(), n.b.allocate(n.y, 4), n.b.set(n.y))),
                                 n.b.allocate(z, 4), n.b.set(z)))));
  const Result r = run(n.b);
  CHECK_FALSE(r.conflict("x", "y"));
  CHECK_FALSE(r.conflict("x", "z"));

  // x is overwritten in each iteration of the outer loop only.
  Nest m;
  const auto o2 = m.b.integer("o");
  const auto z2 = m.b.pointer("z");
  m.b.entry({m.out},
            block(m.b.allocate(m.x, 8),
                  m.b.loop(o2, 4,
                           block(m.fill(), m.b.loop(m.i, 4, block(m.read(), m.b.allocate(m.y, 4), m.b.set(m.y))),
                                 m.b.allocate(z2, 4), m.b.set(z2)))));
  const Result s = run(m.b);
  CHECK(s.conflict("x", "y"));
  CHECK_FALSE(s.conflict("x", "z"));
}

TEST_CASE("a buffer that may carry something stays live around the loop") {
  SUBCASE("one element is left out at the end") {
    Nest n;
    CHECK_FALSE(n.sinks(block(n.b.loop(n.j, 7, block(n.b.store(n.x, n.b.var(n.j), n.one()))), n.read())));
  }
  SUBCASE("one element is left out at the start") {
    Nest n;
    CHECK_FALSE(n.sinks(block(n.b.loop(n.j, 8, block(n.b.store(n.x, n.affine(n.j, 1, 1), n.one()))), n.read())));
  }
  SUBCASE("every other element is left out") {
    Nest n;
    CHECK_FALSE(n.sinks(block(n.b.loop(n.j, 8, block(n.b.store(n.x, n.affine(n.j, 2), n.one()))), n.read())));
  }
  SUBCASE("half of the bytes are left out") {
    Nest n;
    CHECK_FALSE(n.sinks(block(n.b.loop(n.j, 1, block(n.b.store(n.x, n.b.var(n.j), make_int(1)))), n.read())));
  }
  SUBCASE("digits that do not fit together") {
    Nest n;
    const auto index = add(n.affine(n.j, 3), n.b.var(n.k));
    CHECK_FALSE(
        n.sinks(block(n.b.loop(n.j, 4, block(n.b.loop(n.k, 2, block(n.b.store(n.x, index, n.one()))))), n.read())));
  }
  SUBCASE("one element an iteration") {
    Nest n;
    CHECK_FALSE(n.sinks(block(n.b.store(n.x, n.b.var(n.i), n.one()), n.read())));
  }
  SUBCASE("the index depends on the loop") {
    Nest n;
    const auto index = add(n.b.var(n.j), n.b.var(n.i));
    CHECK_FALSE(n.sinks(block(n.b.loop(n.j, 8, block(n.b.store(n.x, index, n.one()))), n.read())));
  }
  SUBCASE("the write is conditional") {
    Nest n;
    CHECK_FALSE(n.sinks(block(n.b.when(n.b.load(n.out, 0), block(n.fill())), n.read())));
    Nest m;
    CHECK_FALSE(m.sinks(
        block(m.b.loop(m.j, 8, block(m.b.when(m.b.load(m.out, 0), block(m.b.store(m.x, m.b.var(m.j), m.one()))))),
              m.read())));
  }
  SUBCASE("the store has a predicate") {
    Nest n;
    tir::Stmt store = n.b.store(n.x, n.b.var(n.j), n.one());
    std::get<tir::Store>(store.node).predicate = n.b.load(n.out, 0);
    CHECK_FALSE(n.sinks(block(n.b.loop(n.j, 8, block(store)), n.read())));
  }
  SUBCASE("the number of stores is not known, or may be none") {
    Nest n;
    tir::For loop{.var = n.j,
                  .min = make_int(0),
                  .extent = n.b.load(n.out, 0),
                  .body = block(n.b.store(n.x, n.b.var(n.j), n.one()))};
    CHECK_FALSE(n.sinks(block(tir::Stmt{std::move(loop)}, n.read())));
    Nest m;
    const auto r = m.b.integer("r");
    CHECK_FALSE(m.sinks(block(m.b.loop(r, 0, block(m.fill())), m.read())));
    Nest w;
    CHECK_FALSE(w.sinks(block(tir::Stmt{tir::While{w.b.load(w.out, 0), block(w.fill())}}, w.read())));
  }
  SUBCASE("a read comes first") {
    Nest n;
    CHECK_FALSE(n.sinks(block(n.read(), n.fill())));
  }
  SUBCASE("the write itself reads") {
    Nest n;
    CHECK_FALSE(
        n.sinks(block(n.b.loop(n.j, 8, block(n.b.store(n.x, n.b.var(n.j), n.b.load(n.x, n.b.var(n.j))))), n.read())));
  }
  SUBCASE("the nest reads an element that it has not stored yet") {
    Nest n;
    CHECK_FALSE(n.sinks(block(
        n.b.loop(n.j, 8,
                 block(n.b.store(n.x, n.b.var(n.j), n.one()), n.b.store(n.out, 0, n.b.load(n.x, n.affine(n.j, 1, 1))))),
        n.read())));
  }
  SUBCASE("the nest reads before it stores") {
    Nest n;
    CHECK_FALSE(n.sinks(
        block(n.b.loop(n.j, 8,
                       block(n.b.store(n.out, 0, n.b.load(n.x, n.b.var(n.j))), n.b.store(n.x, n.b.var(n.j), n.one()))),
              n.read())));
  }
  SUBCASE("the nest's variable has another value at the read") {
    Nest n;
    const auto reread = n.b.store(n.out, 0, n.b.load(n.x, n.b.var(n.j)));
    CHECK_FALSE(n.sinks(
        block(n.b.loop(n.j, 8, block(n.b.store(n.x, n.b.var(n.j), n.one()), n.b.loop(n.j, 8, block(reread)))))));
    Nest m;
    const auto stored = m.b.store(m.x, m.b.var(m.j), m.one());
    CHECK_FALSE(m.sinks(block(m.b.loop(m.j, 8, block(m.b.let(m.j, make_int(0)), stored)), m.read())));
  }
  SUBCASE("the nest's variable goes further in another loop of the nest") {
    Nest n;
    const auto row = [&] { return add(n.affine(n.k, 4), n.b.var(n.j)); };
    CHECK_FALSE(n.sinks(block(n.b.loop(n.k, 2,
                                       block(n.b.loop(n.j, 4, block(n.b.store(n.x, row(), n.one()))),
                                             n.b.loop(n.j, 5, block(n.b.store(n.out, 0, n.b.load(n.x, row())))))),
                              n.read())));
  }
  SUBCASE("the nest reads wider elements than it has stored") {
    Nest n;
    const auto wide = tir::make_load(tir::int32_type, n.x, n.b.var(n.j));
    const auto condition = less(n.b.var(n.j), make_int(2));
    CHECK_FALSE(
        n.sinks(block(n.b.loop(n.j, 8,
                               block(n.b.store(n.x, n.b.var(n.j), n.one()),
                                     n.b.when(condition, block(n.b.store(n.out, 0, tir::make_cast(int8_type, wide)))))),
                      n.read())));
  }
  SUBCASE("it is read after the loop") {
    Nest n;
    const auto after = block(n.read());
    CHECK_FALSE(n.sinks(block(n.fill(), n.read()), after));
  }
  SUBCASE("it is read in another loop's iteration") {
    Nest n;
    const auto after = block(n.b.loop(n.k, 8, block(n.b.store(n.out, n.b.var(n.k), n.b.load(n.x, n.b.var(n.k))))));
    CHECK_FALSE(n.sinks(block(n.fill()), after));
  }
  SUBCASE("it is written through an alias") {
    Nest n;
    CHECK_FALSE(n.sinks(
        block(n.b.let(n.a, n.b.var(n.x)), n.b.loop(n.j, 8, block(n.b.store(n.a, n.b.var(n.j), n.one()))), n.read())));
  }
  SUBCASE("an alias made before the loop may read it") {
    Nest n;
    const auto before = block(n.b.let(n.a, n.b.var(n.x)));
    CHECK_FALSE(n.sinks(block(n.b.copy(n.out, n.a), n.fill(), n.read()), {}, before));
  }
  SUBCASE("it is written by a callee") {
    Nest n;
    CHECK_FALSE(n.sinks(block(n.b.call("library", {n.b.var(n.x)}), n.read())));
  }
  SUBCASE("an address is taken in the nest") {
    Nest n;
    CHECK_FALSE(n.sinks(block(n.b.loop(
        n.j, 8, block(n.b.store(n.x, n.b.var(n.j), n.one()), n.b.call("library", {n.b.address_of(n.x, 0)}))))));
  }
}

TEST_CASE("arrays that stay on the stack are no buffers, also in loops that overwrite them") {
  for (const Bytes most : {7, 8}) {
    for (const bool is_inside : {false, true}) {
      CAPTURE(most);
      CAPTURE(is_inside);
      Nest n;
      tir::Stmt array = n.b.allocate(n.x, 8);
      std::get<tir::Allocate>(array.node).was_on_stack = true;
      tir::Block body = block(n.b.loop(n.i, 4, block(n.fill(), n.read())));
      if (is_inside) {
        body = block(n.b.loop(n.i, 4, block(array, n.fill(), n.read())));
      } else {
        body.insert(body.begin(), array);
      }
      n.b.function("op", {n.out}, std::move(body));
      n.b.entry({n.a}, block(n.b.call("op", std::vector<tir::VarId>{n.a})));
      tir::Module module = n.b.build();
      module.stack_arrays = most;
      const Analysis analysis = analyse(module);
      CHECK(std::ranges::count(analysis.sites, "x", &Site::name) == (most < 8 ? 1 : 0));
    }
  }
}

}  // namespace
}  // namespace usmp::liveness::testing::sink_test

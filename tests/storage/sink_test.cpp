// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions whose allocates move into loops, as text, and allocates that stay.
#include "usmp/storage/sink.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "tir_support/module_builder.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/verify.hpp"

namespace usmp::storage::sink_test {
namespace {

using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;
using namespace tir::testing;  // NOLINT(google-build-using-namespace)

// Storage t in front of loops over c, which copy in to out through it.
struct Nest {
  ModuleBuilder b;
  VarId in = b.pointer("in");
  VarId out = b.pointer("out");
  VarId t = b.pointer("t");
  VarId c = b.integer("c");
  VarId i = b.integer("i");
  VarId j = b.integer("j");

  [[nodiscard]] ExprRef zero() const { return tir::make_int(0, int8_type); }
  [[nodiscard]] tir::Stmt fill(std::int64_t count) { return b.loop(i, count, block(b.store(t, b.var(i), zero()))); }
  [[nodiscard]] tir::Stmt use(std::int64_t element) { return b.store(out, b.var(c), b.load(t, element)); }
  // t[0] += in[i]
  [[nodiscard]] tir::Stmt accumulate() { return b.store(t, tir::make_int(0), add(b.load(t, 0), b.load(in, b.var(i)))); }
  [[nodiscard]] ExprRef is_small() const { return less(b.load(in, tir::make_int(0)), tir::make_int(3, int8_type)); }

  // The entry after the pass, without its head.
  std::string sunk(tir::Block body, std::size_t moved) {
    b.entry({in, out}, std::move(body));
    tir::Module module = b.build();
    CHECK(sink(module) == moved);
    tir::verify(module);
    const std::string text = tir::print(module, module.functions[module.entry]);
    CHECK(sink(module) == 0);
    return text.substr(text.find('\n'));
  }
  // `body` of a loop over c behind the allocate.
  std::string in_loop(tir::Block body, std::size_t moved, std::int64_t elements = 4) {
    return sunk(block(b.allocate(t, elements), b.loop(c, 8, std::move(body))), moved);
  }
};

TEST_CASE_FIXTURE(Nest, "sink: a sum moves into the loop that begins it anew") {
  const auto text =
      in_loop(block(b.store(t, tir::make_int(0), zero()), b.loop(i, 8, block(accumulate())), use(0)), 1, 1);
  CHECK(text == R"(
  for c in [0, 8) {
    allocate t: int8[1]
    t[0] = 0i8
    for i in [0, 8) {
      t[0] = t[0] + in[i]
    }
    out[c] = t[0]
  }
}
)");
}

TEST_CASE_FIXTURE(Nest, "sink: into the innermost block that writes first") {
  SUBCASE("of several loops") {
    const VarId d = b.integer("d");
    const auto text = sunk(block(b.allocate(t, 4), b.loop(d, 2, block(b.loop(c, 8, block(fill(4), use(3)))))), 1);
    CHECK(text.find("for c in [0, 8) {\n      allocate t") != std::string::npos);
  }
  SUBCASE("not into a loop that goes on with what another run has left") {
    const auto text = in_loop(
        block(b.loop(j, 2,
                     block(b.when(less(b.var(j), tir::make_int(1)), block(b.store(t, tir::make_int(0), zero()))),
                           b.loop(i, 8, block(accumulate())), use(0)))),
        0, 1);
    CHECK(text.find("\n  allocate t") != std::string::npos);
  }
  SUBCASE("but into the one around it") {
    const auto text = in_loop(
        block(
            b.loop(j, 1, block(fill(4), b.loop(b.integer("k"), 2, block(b.store(t, tir::make_int(1), b.load(t, 0)))))),
            use(3)),
        1);
    CHECK(text.find("for c in [0, 8) {\n    allocate t") != std::string::npos);
  }
  SUBCASE("through a branch") {
    const auto text = in_loop(block(b.when(is_small(), block(fill(4), use(3)))), 1);
    CHECK(text.find("if in[0] < 3i8 {\n      allocate t") != std::string::npos);
  }
  SUBCASE("not into one side of a branch") {
    (void)in_loop(block(b.when(is_small(), block(fill(4), use(3)), block(b.set(t), use(0)))), 0);
  }
  SUBCASE("an element at a time, of as many as iterations") {
    tir::Block element = block(b.store(t, b.var(c), zero()), b.store(out, b.var(c), b.load(t, b.var(c))));
    const auto text = in_loop(block(b.loop(j, 2, std::move(element))), 1, 8);
    CHECK(text.find("for c in [0, 8) {\n    allocate t: int8[8]") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Nest, "sink: storage stays if an iteration may read what another one left") {
  SUBCASE("of an element that is not written") { (void)in_loop(block(fill(3), use(3)), 0); }
  SUBCASE("that is written under a condition") { (void)in_loop(block(b.when(is_small(), block(fill(4))), use(3)), 0); }
  SUBCASE("that is written later") { (void)in_loop(block(use(3), fill(4)), 0); }
  SUBCASE("a sum that goes on") { (void)in_loop(block(b.loop(i, 8, block(accumulate())), use(0)), 0, 1); }
  SUBCASE("of an element that memory says") {
    const ExprRef element = tir::make_cast(tir::int32_type, b.load(in, b.var(c)));
    (void)in_loop(block(fill(4), b.store(out, b.var(c), b.load(t, element))), 0);
  }
  SUBCASE("of the other side of a branch") {
    (void)in_loop(block(b.when(is_small(), block(fill(4)), block(use(3)))), 0);
  }
  SUBCASE("of the element before") {
    (void)in_loop(block(b.store(t, add(b.var(c), 1), zero()), b.store(out, b.var(c), b.load(t, b.var(c)))), 0, 9);
  }
}

TEST_CASE_FIXTURE(Nest, "sink: storage stays if more is read than one statement has written of it") {
  // Some stores and then a load, in each of two iterations over j.
  const auto carried = [this](tir::Block stores, ExprRef load, std::int64_t elements) {
    stores.push_back(b.store(out, b.var(c), std::move(load)));
    (void)in_loop(block(b.loop(j, 2, std::move(stores))), 0, elements);
  };
  const VarId k = b.integer("k");
  const ExprRef wide_zero = tir::make_int(0, tir::int32_type);
  SUBCASE("of wider elements than those that are stored") {
    const auto wide = tir::make_cast(int8_type, tir::make_load(tir::int32_type, t, b.var(j)));
    carried(block(b.loop(i, 4, block(b.store(t, add(b.var(j), b.var(i)), zero())))), wide, 8);
  }
  SUBCASE("what wider stores have left between themselves and others") {
    carried(block(b.loop(i, 4, block(b.store(t, b.var(i), zero()), b.store(t, add(b.var(i), 4), wide_zero)))),
            b.load(t, add(b.var(j), 4)), 32);
  }
  SUBCASE("an element that stores in other steps leave out") {
    const auto even = mul(b.var(i), tir::make_int(2));
    const auto odd = add(mul(b.var(k), tir::make_int(2)), 1);
    tir::Block stores =
        block(b.loop(i, 4, block(b.store(t, even, zero()))), b.loop(k, 2, block(b.store(t, odd, zero()))));
    (void)in_loop(block(b.loop(j, 2, std::move(stores)), use(5)), 0, 8);
  }
  SUBCASE("an element that the same loop variable reaches in another loop only") {
    const auto half = quotient(b.var(i), tir::make_int(2));
    (void)in_loop(block(b.loop(j, 2,
                               block(b.loop(i, 4, block(b.store(t, half, zero()))),
                                     b.loop(i, 8, block(b.store(out, b.var(i), b.load(t, half))))))),
                  0);
  }
  SUBCASE("all of the rows of which a condition allows the first") {
    const auto element = b.load(t, add(mul(b.var(i), tir::make_int(4)), b.var(k)));
    const tir::Stmt read = b.loop(k, 4, block(b.store(out, b.var(k), element)));
    (void)in_loop(block(fill(2), b.loop(i, 4, block(b.when(less(b.var(i), tir::make_int(2)), block(read))))), 0, 16);
  }
  SUBCASE("on the other side of a branch") {
    const auto both =
        tir::make_binary(ExprKind::and_, less(b.var(i), tir::make_int(2)), less(b.var(i), tir::make_int(5)));
    const tir::Stmt choice = b.when(both, block(b.set(out)), block(b.store(out, b.var(i), b.load(t, b.var(i)))));
    (void)in_loop(block(fill(2), b.loop(i, 8, block(choice))), 0, 8);
  }
  SUBCASE("what a predicate may have left out") {
    tir::Stmt store = b.store(t, tir::make_int(0), zero());
    std::get<tir::Store>(store.node).predicate = is_small();
    (void)in_loop(block(std::move(store), use(0)), 0);
  }
}

TEST_CASE_FIXTURE(Nest, "sink: storage stays if not all that is done to it stands inside one loop") {
  SUBCASE("it is read behind the loop") {
    (void)sunk(
        block(b.allocate(t, 4), b.loop(c, 8, block(fill(4), use(3))), b.store(out, tir::make_int(0), b.load(t, 1))), 0);
  }
  SUBCASE("it is written in front of it") {
    (void)sunk(block(b.allocate(t, 4), fill(4), b.loop(c, 8, block(use(3)))), 0);
  }
  SUBCASE("it says how often the loop runs") {
    tir::Block body = block(b.allocate(t, 4), b.loop(c, 8, block(fill(4), use(3))));
    std::get<tir::For>(body[1].node).extent = tir::make_cast(tir::int32_type, b.load(t, 0));
    (void)sunk(std::move(body), 0);
  }
  SUBCASE("a function gets it") {
    const VarId p = b.pointer("p");
    b.function("op", {p}, block(b.store(p, tir::make_int(0), zero())));
    (void)in_loop(block(fill(4), b.call("op", std::vector<VarId>{t}), use(3)), 0);
  }
  SUBCASE("its address goes somewhere") {
    tir::Stmt escape = b.evaluate(b.call_expr("keep", {b.address_of(t, 0)}));
    (void)in_loop(block(fill(4), std::move(escape), use(3)), 0);
  }
  SUBCASE("no loop is there to move into") {
    (void)sunk(
        block(b.allocate(t, 4), b.when(is_small(), block(fill(4), b.store(out, tir::make_int(0), b.load(t, 3))))), 0);
  }
}

TEST_CASE_FIXTURE(Nest, "sink: storage stays if its size or its place is not the same in each iteration") {
  SUBCASE("it is allocated under a condition") {
    tir::Block body = block(b.allocate(t, 4), b.loop(c, 8, block(fill(4), use(3))));
    std::get<tir::Allocate>(body[0].node).condition = is_small();
    (void)sunk(std::move(body), 0);
  }
  SUBCASE("its size is not known") {
    tir::Block body = block(b.allocate(t, 4), b.loop(c, 8, block(fill(4), use(3))));
    std::get<tir::Allocate>(body[0].node).extents = {tir::make_cast(tir::int32_type, b.load(in, tir::make_int(0)))};
    (void)sunk(std::move(body), 0);
  }
  SUBCASE("it is allocated in two places") {
    (void)sunk(block(b.loop(b.integer("e"), 2, block(b.allocate(t, 4))),
                     b.loop(b.integer("f"), 2, block(b.allocate(t, 4), b.loop(c, 8, block(fill(4), use(3)))))),
               0);
  }
}

TEST_CASE_FIXTURE(Nest, "sink: rings stay, whose elements have the numbers of a tensor's") {
  tir::Block body = block(b.allocate(t, 4), b.loop(c, 8, block(fill(4), use(3))));
  std::get<tir::Allocate>(body[0].node).ring = tir::Ring{.stride = 1, .extent = 4, .rows = 4};
  (void)sunk(std::move(body), 0);
}

TEST_CASE_FIXTURE(Nest, "sink: several, in the order in which they were allocated") {
  const VarId u = b.pointer("u");
  const auto text =
      sunk(block(b.allocate(t, 1), b.allocate(u, 2),
                 b.loop(c, 8,
                        block(b.store(u, tir::make_int(1), zero()), b.store(t, tir::make_int(0), b.load(u, 1)),
                              b.loop(i, 2, block(b.store(out, b.var(i), b.load(t, 0))))))),
           2);
  CHECK(text.find("for c in [0, 8) {\n    allocate t: int8[1]\n    allocate u: int8[2]\n") != std::string::npos);
}

}  // namespace
}  // namespace usmp::storage::sink_test

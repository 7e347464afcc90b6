// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Values computed where they are read: results against those before, near misses, hostile programs.
#include "transform/inline.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "transform/program.hpp"

namespace usmp::transform::testing::inline_test {
namespace {

// b[i] = a[i] * 3 + 1; c[i] = b[i] - a[i], with parts exchanged by the tests.
struct Fixture : Program {
  VarId a = input("a", 8);
  VarId c = output("c", 8);
  VarId b = buffer("b");
  VarId i = number("i");
  VarId j = number("j");

  [[nodiscard]] ExprRef value(const ExprRef& index) const { return add(mul(load(a, index), 3), 1); }
  [[nodiscard]] tir::Stmt writer() const { return loop(i, 8, block(store(b, var(i), value(var(i))))); }
  [[nodiscard]] tir::Stmt reader(const ExprRef& index) const {
    return loop(j, 8, block(store(c, var(j), sub(load(b, index), load(a, var(j))))));
  }
  [[nodiscard]] tir::Stmt reader() const { return reader(var(j)); }

  // Names of the buffers that are gone. Whatever was done, the program computes the same.
  std::string inlined(Inlining inlining = Inlining::never_slower) {
    REQUIRE(simple());
    const auto gone = inline_producers(changed(), op(), aliases(), inlining);
    check_same();
    if (gone.empty()) CHECK(is_unchanged());
    return names(gone);
  }
};

TEST_CASE_FIXTURE(Fixture, "inline: an element is computed where it is read, and its buffer goes") {
  body(block(allocate(b, 8), writer(), reader()));
  CHECK(inlined() == "b");
  CHECK(text() == R"(
  for j in [0, 8) {
    c[j] = a[j] * 3 + 1 - a[j]
  }
)");
}

TEST_CASE_FIXTURE(Fixture, "inline: indices are taken apart into the loops of the writer") {
  const VarId k = number("k");
  const ExprRef index = add(mul(var(i), 4), var(k));
  body(block(allocate(b, 8), loop(i, 2, block(loop(k, 4, block(store(b, index, add(mul(load(a, index), 2), var(i))))))),
             reader()));
  CHECK(inlined() == "b");
  CHECK(text() == R"(
  for j in [0, 8) {
    c[j] = a[j] * 2 + floordiv(j, 4) - a[j]
  }
)");
}

TEST_CASE_FIXTURE(Fixture, "inline: loops may begin anywhere, indices be shifted") {
  body(block(allocate(b, 16), loop_from(i, 3, 8, block(store(b, add(var(i), 2), value(sub(var(i), 3))))),
             reader(add(var(j), 5))));
  CHECK(inlined() == "b");
}

TEST_CASE_FIXTURE(Fixture, "inline: a guard that holds for what is read") {
  body(block(allocate(b, 8), loop(i, 8, block(when(at_least(var(i), 4), block(store(b, var(i), value(var(i))))))),
             loop_from(j, 4, 4, block(store(c, var(j), load(b, var(j)))))));
  CHECK(inlined() == "b");
}

TEST_CASE_FIXTURE(Fixture, "inline: lets, outside and inside, are replaced") {
  const VarId t = number("t");
  const VarId u = number("u");
  body(block(allocate(b, 8),
             loop(i, 8, block(let(t, load(a, var(i))), let(u, mul(var(t), 5)), store(b, var(i), sub(var(u), var(t))))),
             reader()));
  CHECK(inlined() == "b");
}

// --- Near misses: nothing is done ------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "inline: not if the buffer is written in two places") {
  body(block(allocate(b, 8), writer(), store(b, 3, load(a, 0)), reader()));
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: not if the element may lie between those that are written") {
  body(block(allocate(b, 16), loop(i, 8, block(store(b, mul(var(i), 2), value(var(i))))),
             loop(j, 8, block(when(less(remainder(var(j), 2), 1), block(store(c, var(j), load(b, var(j)))))))));
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: not if the element may lie outside of those that are written") {
  const ExprRef index = remainder(load(a, var(j)), 8);
  body(block(allocate(b, 8), writer(), reader(index)));
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: not if the element is not known to be among those that are written") {
  const ExprRef few = less(mul(var(j), var(j)), 16);
  body(block(allocate(b, 8), loop(i, 4, block(store(b, var(i), value(var(i))))),
             loop(j, 8, block(when(few, block(store(c, var(j), load(b, var(j)))))))));
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: not if two iterations may write one element") {
  const VarId k = number("k");
  const auto index = add(mul(var(i), 2), var(k));
  body(block(allocate(b, 10), loop(i, 4, block(loop(k, 3, block(store(b, index, load(a, var(i))))))), reader()));
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: not if an index counts down") {
  body(block(allocate(b, 8), loop(i, 8, block(store(b, sub(tir::make_int(7), var(i)), value(var(i))))), reader()));
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: not if a guard is not known to hold") {
  const ExprRef square = mul(var(j), var(j));
  body(block(allocate(b, 8), loop(i, 8, block(when(at_least(var(i), 4), block(store(b, var(i), value(var(i))))))),
             loop(j, 8, block(when(at_least(square, 16), block(store(c, var(j), load(b, var(j)))))))));
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: not if there is an other branch") {
  body(block(allocate(b, 8),
             loop(i, 8,
                  block(when(less(var(i), 4), block(store(b, var(i), value(var(i)))),
                             block(store(c, var(i), tir::make_int(5)))))),
             loop(j, 4, block(store(c, var(j), load(b, var(j)))))));
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: not if the buffer is a parameter") {
  const VarId d = output("d", 8);
  body(block(loop(i, 8, block(store(d, var(i), value(var(i))))), loop(j, 8, block(store(c, var(j), load(d, var(j)))))));
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: not if the element is made of earlier elements of the buffer") {
  const ExprRef before = load(b, sub(var(i), 1));
  body(block(allocate(b, 8),
             loop(i, 8, block(store(b, var(i), choice(less(var(i), 1), load(a, var(i)), sub(before, 1))))), reader()));
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: not if what it is made of is written in between") {
  const VarId d = buffer("d");
  const VarId k = number("k");
  body(block(allocate(d, 8), allocate(b, 8), loop(k, 8, block(store(d, var(k), load(a, var(k))))),
             loop(i, 8, block(store(b, var(i), sub(load(d, var(i)), 1)))), store(d, 3, tir::make_int(7)),
             loop(j, 8, block(store(c, var(j), sub(load(b, var(j)), load(d, var(j))))))));
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: not if what it is made of is written by the reader, under another name too") {
  SUBCASE("the same parameter") {
    const VarId d = output("d", 8);
    body(block(allocate(b, 8), store(d, 0, tir::make_int(3)),
               loop(i, 8, block(store(b, var(i), sub(load(d, 0), var(i))))),
               loop(j, 8, block(store(d, var(j), load(b, var(j)))))));
  }
  SUBCASE("a parameter of the same storage") {
    const VarId d = same_storage("d", a);
    body(block(allocate(b, 8), loop(i, 8, block(store(b, var(i), mul(load(a, sub(tir::make_int(7), var(i))), 1)))),
               loop(j, 8, block(store(d, var(j), load(b, var(j))))),
               loop(number("k"), 8, block(store(c, 0, load(a, 0))))));
  }
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: not if elements of the iteration before are read") {
  const VarId k = number("k");
  body(block(allocate(b, 8),
             loop(k, 3,
                  block(loop(j, 8, block(store(c, var(j), choice(less(var(k), 1), var(j), load(b, var(j)))))),
                        loop(i, 8, block(store(b, var(i), sub(load(a, var(i)), var(k)))))))));
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: not if an expensive value is read often") {
  const VarId k = number("k");
  const auto often = [&](std::int64_t times) {
    return loop(j, 8, block(loop(k, times, block(store(c, var(j), load(b, var(j)))))));
  };
  const auto value = quotient(quotient(load(a, var(i)), 7), 3);
  SUBCASE("often") {
    body(block(allocate(b, 8), loop(i, 8, block(store(b, var(i), value))), often(2)));
    CHECK(inlined().empty());
  }
  SUBCASE("once") {
    body(block(allocate(b, 8), loop(i, 8, block(store(b, var(i), value))), often(1)));
    CHECK(inlined() == "b");
  }
}

TEST_CASE_FIXTURE(Fixture, "inline: not if the loops of the writer never run, or as data say") {
  const ExprRef few = remainder(load(a, 0), 3);
  // Nothing reads an element that was not written, but only the program knows.
  const ExprRef never = less(mul(var(j), var(j)), 0);
  tir::Block write = block(store(b, var(i), value(var(i))));
  std::int64_t first = 0;
  ExprRef element = var(j);
  SUBCASE("never") {
    write = block(loop(i, 0, std::move(write)));
    element = tir::make_int(0);
  }
  SUBCASE("as often as data say") { write = block(loop_to(i, few, std::move(write))); }
  SUBCASE("from where data say") {
    write = block(tir::Stmt{tir::For{i, few, tir::make_int(6), std::move(write)}});
    first = 1;
  }
  body(block(allocate(b, 16), std::move(write[0]),
             loop_from(j, first, 5, block(when(never, block(store(c, var(j), load(b, element))))))));
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: not if something else stands in the writer's loops") {
  SUBCASE("in front") {
    body(block(allocate(b, 8), loop(i, 8, block(store(c, var(i), tir::make_int(3)), store(b, var(i), value(var(i))))),
               loop(j, 4, block(store(c, var(j), load(b, var(j)))))));
  }
  SUBCASE("behind") {
    body(block(allocate(b, 8), loop(i, 8, block(store(b, var(i), value(var(i))), store(c, var(i), tir::make_int(3)))),
               loop(j, 4, block(store(c, var(j), load(b, var(j)))))));
  }
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: conditions do not hold where they do not") {
  const VarId n = number("n");
  // In the other branch n is 4 or more, which no element is; only the program knows that it never reads one.
  const ExprRef never = less(mul(var(n), var(n)), 0);
  const tir::Stmt write = loop(i, 4, block(store(b, var(i), value(var(i)))));
  const tir::Stmt read = when(never, block(store(c, var(n), load(b, var(n)))));
  const tir::Stmt set = store(c, var(n), tir::make_int(3));
  SUBCASE("in a reader") {
    body(block(allocate(b, 4), write, loop(n, 8, block(when(less(var(n), 4), block(set), block(read))))));
  }
  SUBCASE("around the writer") {
    body(block(allocate(b, 4), loop(n, 8, block(when(less(var(n), 4), block(set), block(write, read))))));
  }
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: not if the iteration would be written so that it overflows") {
  // The factor is taken of a difference, of which conditions say that it is small.
  const VarId k = number("k");
  const ExprRef index = mul(sub(var(j), var(k)), std::int64_t{1} << 29);
  const ExprRef inside = both(less(index, 8), at_least(index, 0));
  const tir::Stmt read = when(inside, block(store(c, 0, load(b, index))));
  body(block(allocate(b, 8), writer(), loop_from(j, 5, 4, block(loop_from(k, 5, 4, block(read))))));
  CHECK(inlined().empty());
}

// --- Padding ---------------------------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "inline: a copy with a zero border is read through at any cost, if asked for") {
  const VarId k = number("k");
  const ExprRef inside = both(at_least(var(i), 1), less(var(i), 9));
  const auto border = [&](std::int64_t value) {
    return block(allocate(b, 10),
                 loop(i, 10, block(store(b, var(i), choice(inside, load(a, sub(var(i), 1)), tir::make_int(value))))),
                 loop(j, 8,
                      block(store(c, var(j), tir::make_int(0)),
                            loop(k, 3, block(store(c, var(j), sub(load(c, var(j)), load(b, add(var(j), var(k))))))))));
  };
  SUBCASE("zero") {
    body(border(0));
    CHECK(inlined(Inlining::padding) == "b");
  }
  SUBCASE("another value") {
    body(border(1));
    CHECK(inlined(Inlining::padding).empty());
  }
}

TEST_CASE_FIXTURE(Fixture, "inline: what is much work is no padding") {
  ExprRef work = load(a, var(i));
  for (int n = 0; n < 4; ++n) work = sub(work, n);
  body(block(allocate(b, 8), loop(i, 8, block(store(b, var(i), choice(less(var(i), 3), work, tir::make_int(0))))),
             reader()));
  CHECK(inlined(Inlining::padding).empty());
}

// --- Types -----------------------------------------------------------------------------------------------------------

TEST_CASE("inline: a narrow value is cut to the type of its buffer, which only the store did") {
  Program p;
  const VarId a = p.input("a", 8, int8_type);
  const VarId c = p.output("c", 8);
  const VarId b = p.buffer("b", int8_type);
  const VarId i = p.number("i");
  const VarId j = p.number("j");
  const ExprRef twice = add(p.load(a, p.var(i)), p.load(a, p.var(i)));
  const tir::Stmt reader = p.loop(j, 8, block(p.store(c, p.var(j), tir::make_cast(int32_type, p.load(b, p.var(j))))));
  SUBCASE("in the store") { p.body(block(p.allocate(b, 8), p.loop(i, 8, block(p.store(b, p.var(i), twice))), reader)); }
  SUBCASE("in a let") {
    const VarId t = p.number("t", int8_type);
    const ExprRef same = tir::make_cast(int8_type, tir::make_cast(int32_type, p.var(t)));
    p.body(block(p.allocate(b, 8), p.loop(i, 8, block(p.let(t, twice), p.store(b, p.var(i), same))), reader));
  }
  SUBCASE("in both branches of a choice") {
    const ExprRef chosen = choice(less(p.var(i), 4), p.load(a, p.var(i)), twice);
    p.body(block(p.allocate(b, 8), p.loop(i, 8, block(p.store(b, p.var(i), chosen))), reader));
  }
  CHECK(p.names(inline_producers(p.changed(), p.op(), p.aliases(), Inlining::never_slower)) == "b");
  p.check_same();
}

TEST_CASE("inline: a bool that C may hold as another number than 0 and 1 is not read through") {
  Program p;
  const VarId a = p.input("a", 8);
  const VarId c = p.output("c", 8);
  const VarId b = p.buffer("b", bool_type);
  const VarId i = p.number("i");
  const VarId j = p.number("j");
  const ExprRef positive = less(p.load(a, p.var(i)), 0);
  const tir::Stmt reader = p.loop(j, 8, block(p.store(c, p.var(j), tir::make_cast(int32_type, p.load(b, p.var(j))))));
  SUBCASE("a comparison") {
    p.body(block(p.allocate(b, 8), p.loop(i, 8, block(p.store(b, p.var(i), positive))), reader));
    CHECK(p.names(inline_producers(p.changed(), p.op(), p.aliases(), Inlining::never_slower)) == "b");
  }
  SUBCASE("bits") {
    const ExprRef opposite = tir::make_call(bool_type, "tir.bitwise_not", {positive});
    p.body(block(p.allocate(b, 8), p.loop(i, 8, block(p.store(b, p.var(i), opposite))), reader));
    CHECK(inline_producers(p.changed(), p.op(), p.aliases(), Inlining::padding).empty());
    CHECK(inline_producers(p.changed(), p.op(), p.aliases(), Inlining::never_slower).empty());
    return;
  }
  p.check_same();
}

TEST_CASE("inline: a loop variable is replaced by a value of its own type") {
  Program p;
  const VarId a = p.input("a", 8);
  const VarId c = p.output("c", 8);
  const VarId b = p.buffer("b");
  const VarId i = p.number("i");
  const VarId j = p.number("j", int64_type);
  const ExprRef value = sub(p.load(a, p.var(i)), p.var(i));
  p.body(block(p.allocate(b, 8), p.loop(i, 8, block(p.store(b, tir::make_cast(int64_type, p.var(i)), value))),
               p.loop_from(j, 0, 8, block(p.store(c, p.var(j), p.load(b, p.var(j)))))));
  CHECK(p.names(inline_producers(p.changed(), p.op(), p.aliases(), Inlining::never_slower)) == "b");
  p.check_same();
}

TEST_CASE("inline: a loop of one iteration may count in any type") {
  Program p;
  const VarId a = p.input("a", 8);
  const VarId c = p.output("c", 8);
  const VarId b = p.buffer("b");
  const VarId i = p.number("i", {tir::TypeCode::uint, 8, 1});
  const VarId j = p.number("j");
  p.body(
      block(p.allocate(b, 1),
            p.loop_from(i, 3, 1, block(p.store(b, 0, sub(p.load(a, 0), tir::make_cast(int32_type, add(p.var(i), 1)))))),
            p.loop(j, 8, block(p.store(c, p.var(j), p.load(b, 0))))));
  (void)inline_producers(p.changed(), p.op(), p.aliases(), Inlining::never_slower);
  p.check_same();
}

// --- Hostile programs ------------------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "inline: lets that double each other are not written out") {
  tir::Block lets;
  VarId before = number("t");
  lets.push_back(let(before, load(a, var(i))));
  for (int n = 0; n < 60; ++n) {
    const VarId next = number("t");
    lets.push_back(let(next, sub(var(before), var(before))));
    before = next;
  }
  lets.push_back(store(b, var(i), var(before)));
  body(block(allocate(b, 8), loop(i, 8, std::move(lets)), reader()));
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: a function does not grow without end") {
  // Each buffer is a cheap value with a large index, read in many places.
  tir::Block all = block(allocate(b, 8));
  ExprRef index = var(i);
  for (int n = 0; n < 60; ++n) index = smaller(index, add(var(i), n));
  all.push_back(loop(i, 8, block(store(b, var(i), load(a, index)))));
  for (int n = 0; n < 1000; ++n) all.push_back(store(c, n % 8, load(b, n % 8)));
  body(std::move(all));
  CHECK(inlined().empty());
}

TEST_CASE_FIXTURE(Fixture, "inline: loops at the end of int64") {
  const VarId k = number("k", int64_type);
  const std::int64_t first = std::numeric_limits<std::int64_t>::max() - 8;
  body(block(allocate(b, 8), loop_from(k, first, 8, block(store(b, sub(var(k), first), load(a, 0)))),
             loop(j, 8, block(store(c, var(j), load(b, var(j)))))));
  CHECK(inlined().empty());
}

}  // namespace
}  // namespace usmp::transform::testing::inline_test

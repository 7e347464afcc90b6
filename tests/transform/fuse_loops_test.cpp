// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pairs of loops before and after fusing: results, buffer sizes, near misses.
#include "transform/fuse_loops.hpp"

#include <doctest/doctest.h>

#include "transform/program.hpp"

namespace usmp::transform::testing::fuse_loops_test {
namespace {

// for i { for k { b[i * 4 + k] = a[i * 4 + k] } } for j { for l { c[j * 4 + l] = b[j * 4 + 3 - l] } }, with parts
// exchanged by the tests.
struct Fixture : Program {
  VarId a = input("a", 32);
  VarId c = output("c", 32);
  VarId b = buffer("b");
  VarId i = number("i");
  VarId j = number("j");
  VarId k = number("k");
  VarId l = number("l");

  [[nodiscard]] ExprRef at(VarId outer, const ExprRef& inner) const { return add(mul(var(outer), 4), inner); }
  [[nodiscard]] tir::Stmt write(const ExprRef& index) const {
    return loop(k, 4, block(store(b, index, load(a, at(i, var(k))))));
  }
  [[nodiscard]] tir::Stmt read(const ExprRef& index) const {
    return loop(l, 4, block(store(c, at(j, var(l)), load(b, index))));
  }
  [[nodiscard]] tir::Stmt first() const { return loop(i, 8, block(write(at(i, var(k))))); }
  [[nodiscard]] tir::Stmt second() const { return loop(j, 8, block(read(at(j, sub(tir::make_int(3), var(l)))))); }

  std::string smaller() {
    REQUIRE(simple());
    const auto vars = fuse_loops(changed(), index(), aliases());
    check_same();
    if (vars.empty()) CHECK(is_unchanged());
    return names(vars);
  }
};

TEST_CASE_FIXTURE(Fixture, "fuse_loops: two loops become one, and the buffer what one iteration needs") {
  body(block(allocate(b, 32), first(), second()));
  CHECK(smaller() == "b");
  CHECK(text() == R"(
  for i in [0, 8) {
    allocate b: int32[4]
    for k in [0, 4) {
      b[k] = a[i * 4 + k]
    }
    for l in [0, 4) {
      c[i * 4 + l] = b[3 - l]
    }
  }
)");
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: a loop with a multiple of the iterations is split") {
  SUBCASE("the second") {
    body(block(allocate(b, 32), first(), loop(j, 32, block(store(c, var(j), load(b, var(j)))))));
    CHECK(smaller() == "b b");  // then the inner loops too
    CHECK(text().find("allocate b: int32[1]") != std::string::npos);
  }
  SUBCASE("the first") {
    body(block(allocate(b, 32), loop(i, 32, block(store(b, var(i), load(a, var(i))))), second()));
    CHECK(smaller() == "b");
    CHECK(text().find("allocate b: int32[4]") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: as deep as the nests match, and three of them") {
  const VarId d = buffer("d");
  const VarId m = number("m");
  body(block(allocate(b, 32), allocate(d, 32), first(), loop(m, 32, block(store(d, var(m), mul(load(b, var(m)), 3)))),
             loop(j, 8, block(loop(l, 4, block(store(c, at(j, var(l)), load(d, at(j, var(l))))))))));
  CHECK(smaller() == "b d b d");
  CHECK(text().find("allocate b: int32[1]") != std::string::npos);
  CHECK(text().find("allocate d: int32[1]") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: three loops at once, none of which could go alone") {
  // What sums begin with, their terms, and what becomes of them.
  const VarId m = number("m");
  const VarId r = number("r");
  const ExprRef sum = at(m, var(r));
  const auto terms = loop(m, 8, block(loop(r, 4, block(store(b, sum, add(load(b, sum), load(a, sum)))))));
  SUBCASE("next to each other") {
    body(block(allocate(b, 32), first(), terms, second()));
    CHECK(smaller() == "b");
    CHECK(text().find("allocate b: int32[4]") != std::string::npos);
  }
  SUBCASE("not if the last one reads what others wrote") {
    body(block(allocate(b, 32), first(), terms,
               loop(j, 8, block(read(sub(sub(tir::make_int(31), mul(var(j), 4)), var(l)))))));
    CHECK(smaller().empty());
  }
  SUBCASE("not if a fourth one reads it") {
    body(block(allocate(b, 32), first(), terms, second(), store(c, 0, load(b, 31))));
    CHECK(smaller().empty());
  }
  SUBCASE("not if something stands between them") {
    body(block(allocate(b, 32), first(), terms, store(c, 0, load(b, 31)), second()));
    CHECK(smaller().empty());
  }
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: lets keep their meaning") {
  const VarId t = number("t");
  const VarId u = number("u");
  body(block(allocate(b, 32), loop(i, 8, block(let(t, mul(var(i), 4)), write(add(var(t), var(k))))),
             loop(j, 8, block(let(u, add(mul(var(j), 4), 1)), read(sub(add(var(u), var(l)), 1))))));
  CHECK(smaller() == "b");
}

TEST_CASE("fuse_loops: indices of 64 bits over loops of 32") {
  Program p;
  const VarId a = p.input("a", 8);
  const VarId c = p.output("c", 8);
  const VarId b = p.buffer("b");
  const VarId i = p.number("i");
  const VarId j = p.number("j");
  const auto wide = [&](VarId id) { return tir::make_cast(int64_type, p.var(id)); };
  p.body(block(p.allocate(b, 8), p.loop(i, 8, block(p.store(b, wide(i), p.load(a, p.var(i))))),
               p.loop(j, 8, block(p.store(c, p.var(j), p.load(b, wide(j)))))));
  CHECK(p.names(fuse_loops(p.changed(), p.index(), p.aliases())) == "b");
  p.check_same();
}

// --- Near misses: nothing is done ------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "fuse_loops: not if an iteration reads what another one wrote") {
  SUBCASE("the next") {
    body(block(allocate(b, 36), first(), store(b, 32, tir::make_int(1)), store(b, 33, tir::make_int(1)),
               store(b, 34, tir::make_int(1)), store(b, 35, tir::make_int(1)),
               loop(j, 8, block(read(at(j, add(var(l), 4)))))));
  }
  SUBCASE("the next, in part") {
    body(block(allocate(b, 32), first(), loop(j, 8, block(read(remainder(at(j, add(var(l), 1)), 32))))));
  }
  SUBCASE("backwards") {
    body(block(allocate(b, 32), first(), loop(j, 8, block(read(sub(sub(tir::make_int(31), mul(var(j), 4)), var(l)))))));
  }
  SUBCASE("all the same") { body(block(allocate(b, 32), first(), loop(j, 8, block(read(var(l)))))); }
  SUBCASE("anywhere") {
    body(block(allocate(b, 32), first(), loop(j, 8, block(read(remainder(load(a, at(j, var(l))), 32))))));
  }
  SUBCASE("in a bound") {
    const VarId m = number("m");
    const ExprRef many = remainder(load(b, sub(tir::make_int(31), var(j))), 4);
    body(block(allocate(b, 32), first(), loop(j, 8, block(loop_to(m, many, block(store(c, var(j), var(m))))))));
  }
  SUBCASE("in a condition") {
    const ExprRef positive = less(load(b, sub(tir::make_int(31), var(j))), 0);
    body(block(allocate(b, 32), first(), loop(j, 8, block(when(positive, block(store(c, var(j), tir::make_int(1))))))));
  }
  CHECK(smaller().empty());
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: a shift by one iteration, one iteration less") {
  // The reader's iteration j reads rows j and j + 1.
  const auto row = [&](std::int64_t more) { return load(b, add(at(j, var(l)), more)); };
  body(block(
      allocate(b, 32), first(),
      loop(j, 8,
           block(loop(l, 4, block(store(c, at(j, var(l)), choice(less(var(j), 7), sub(row(0), row(4)), row(0)))))))));
  CHECK(smaller().empty());
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: not if one loop reads in two strides") {
  const auto row = [&](std::int64_t stride) { return load(b, mul(var(j), stride)); };
  SUBCASE("the loop's own last") {
    body(block(allocate(b, 32), first(), loop(j, 8, block(store(c, var(j), sub(row(2), row(4)))))));
  }
  SUBCASE("the loop's own first") {
    body(block(allocate(b, 32), first(), loop(j, 8, block(store(c, var(j), sub(row(4), row(2)))))));
  }
  CHECK(smaller().empty());
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: not if only the other branch's condition keeps an iteration to its elements") {
  const auto read = [&] { return block(store(c, at(j, var(l)), load(b, at(j, var(l))))); };
  tir::Block next_row = block(when(less(var(j), 7), block(store(c, var(j), load(b, at(j, var(l)))))));
  body(block(allocate(b, 32), first(),
             loop(j, 8, block(loop(l, 8, block(when(less(var(l), 4), read(), std::move(next_row))))))));
  CHECK(smaller().empty());
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: indices are not written so that they overflow") {
  // The factor is taken of a difference, of which conditions say that it is small.
  const VarId m = number("m");
  const ExprRef more = mul(sub(var(l), var(m)), std::int64_t{1} << 29);
  const ExprRef inside = both(less(more, 4), at_least(more, 0));
  const tir::Stmt read = when(inside, block(store(c, mul(var(j), 4), load(b, at(j, more)))));
  body(block(allocate(b, 32), first(), loop(j, 8, block(loop_from(l, 5, 4, block(loop_from(m, 5, 4, block(read))))))));
  CHECK(smaller() == "b");
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: not if the second writes what the first reads in later iterations") {
  SUBCASE("by its name") {
    body(block(allocate(b, 32), first(),
               loop(j, 8, block(read(at(j, var(l))), store(a, sub(tir::make_int(31), var(j)), tir::make_int(5))))));
  }
  SUBCASE("by another") {
    const VarId same = same_storage("same", a);
    body(block(allocate(b, 32), first(),
               loop(j, 8, block(read(at(j, var(l))), store(same, sub(tir::make_int(31), var(j)), tir::make_int(5))))));
  }
  SUBCASE("by another, in the same places") {
    const VarId same = same_storage("same", a);
    body(block(allocate(b, 32), first(),
               loop(j, 8, block(read(at(j, var(l))), store(same, mul(var(j), 4), tir::make_int(5))))));
  }
  CHECK(smaller().empty());
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: not if both write another storage in other places") {
  const VarId d = output("d", 32);
  const auto mark = [&](const ExprRef& index, std::int64_t value) { return store(d, index, tir::make_int(value)); };
  SUBCASE("the same element") {
    body(block(allocate(b, 32), loop(i, 8, block(write(at(i, var(k))), mark(tir::make_int(0), 1))),
               loop(j, 8, block(read(at(j, var(l))), mark(var(j), 2)))));
    CHECK(smaller().empty());
  }
  SUBCASE("elements of other strides") {
    body(block(allocate(b, 32), loop(i, 8, block(write(at(i, var(k))), mark(mul(var(i), 2), 1))),
               loop(j, 8, block(read(at(j, var(l))), mark(var(j), 2)))));
    CHECK(smaller().empty());
  }
  SUBCASE("elements of the same iteration") {
    body(block(allocate(b, 32), loop(i, 8, block(write(at(i, var(k))), mark(var(i), 1))),
               loop(j, 8, block(read(at(j, var(l))), mark(var(j), 2)))));
    CHECK(smaller() == "b");
  }
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: not if one loop writes what the other one knows under another name") {
  const VarId d = output("d", 32);
  const VarId e = same_storage("e", d);
  const auto mark = [&](VarId to, VarId at) { return store(to, var(at), tir::make_int(1)); };
  SUBCASE("the first one writes, the second one reads later elements") {
    body(block(
        allocate(b, 32), loop(i, 8, block(write(at(i, var(k))), mark(d, i))),
        loop(j, 8,
             block(read(at(j, var(l))), store(c, at(j, tir::make_int(0)), load(e, sub(tir::make_int(7), var(j))))))));
  }
  SUBCASE("both write, the second one other elements") {
    body(block(allocate(b, 32), loop(i, 8, block(write(at(i, var(k))), mark(d, i))),
               loop(j, 8, block(read(at(j, var(l))), store(e, sub(tir::make_int(7), var(j)), tir::make_int(2))))));
  }
  SUBCASE("the second one writes what the first one reads later") {
    const VarId f = same_storage("f", a);
    const ExprRef last = sub(tir::make_int(31), var(j));
    body(block(allocate(b, 32), first(), loop(j, 8, block(read(at(j, var(l))), store(f, last, tir::make_int(2))))));
  }
  CHECK(smaller().empty());
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: not if somebody else accesses the buffer") {
  SUBCASE("behind the loops") { body(block(allocate(b, 32), first(), second(), store(c, 0, load(b, 17)))); }
  SUBCASE("in front of them") { body(block(allocate(b, 32), store(b, 17, tir::make_int(1)), first(), second())); }
  SUBCASE("a parameter") {
    const VarId d = output("d", 32);
    body(block(loop(i, 8, block(store(d, var(i), load(a, var(i))))),
               loop(j, 8, block(store(c, var(j), load(d, var(j)))))));
  }
  CHECK(smaller().empty());
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: not if the buffer holds values for the next round of a loop around") {
  const VarId m = number("m");
  body(block(allocate(b, 32), loop(j, 8, block(loop(l, 4, block(store(b, at(j, var(l)), tir::make_int(0)))))),
             loop(m, 2,
                  block(loop(i, 8, block(store(c, var(i), load(b, mul(var(i), 4))))),
                        loop(k, 8, block(store(b, mul(var(k), 4), load(a, var(k)))))))));
  CHECK(smaller().empty());
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: not with anything but declarations in between") {
  SUBCASE("a store") { body(block(allocate(b, 32), first(), store(c, 31, tir::make_int(1)), second())); }
  SUBCASE("a let") { body(block(allocate(b, 32), first(), let(number("t"), tir::make_int(1)), second())); }
  CHECK(smaller().empty());
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: declarations in between are no matter") {
  const VarId d = buffer("d");
  const VarId e = buffer("e");
  const VarId m = number("m");
  body(block(allocate(b, 32), first(), allocate(e, 1), allocate(d, 32),
             loop(m, 8, block(store(d, var(m), load(b, mul(var(m), 4))))),
             loop(j, 8, block(store(c, var(j), load(d, var(j)))))));
  CHECK(smaller() == "b d");
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: not if the iterations do not match") {
  SUBCASE("number") { body(block(allocate(b, 32), first(), loop(j, 3, block(read(at(j, var(l))))))); }
  SUBCASE("number, and the first more") {
    const VarId d = output("d", 8);
    body(block(allocate(b, 32), loop(i, 8, block(write(at(i, var(k))), store(d, var(i), var(i)))),
               loop(j, 3, block(read(add(mul(var(j), 8), var(l)))))));
  }
  SUBCASE("number, and the second more") {
    const ExprRef some = choice(less(var(j), 8), load(b, var(j)), tir::make_int(5));
    body(block(allocate(b, 8), loop(i, 8, block(store(b, var(i), load(a, var(i))))),
               loop(j, 12, block(store(c, var(j), some)))));
  }
  SUBCASE("start") {
    body(block(allocate(b, 36), loop_from(i, 1, 7, block(write(at(i, var(k))))),
               loop_from(j, 1, 7, block(read(at(j, var(l)))))));
  }
  SUBCASE("type") {
    const VarId n = number("n", int64_type);
    body(block(allocate(b, 8), loop(i, 8, block(store(b, var(i), load(a, var(i))))),
               loop_from(n, 0, 8, block(store(c, var(n), load(b, var(n)))))));
  }
  SUBCASE("unsigned") {
    const tir::DataType size{tir::TypeCode::uint, 32, 1};
    const VarId m = number("m", size);
    const VarId n = number("n", size);
    body(block(allocate(b, 8), loop_from(m, 0, 8, block(store(b, var(m), load(a, var(m))))),
               loop_from(n, 0, 8, block(store(c, var(n), load(b, var(n)))))));
  }
  CHECK(smaller().empty());
}

TEST_CASE_FIXTURE(Fixture, "fuse_loops: not if no buffer gets smaller") {
  const VarId d = output("d", 8);
  body(block(loop(i, 8, block(store(c, var(i), load(a, var(i))))),
             loop(j, 8, block(store(d, var(j), load(a, var(j)))))));
  CHECK(smaller().empty());
}

}  // namespace
}  // namespace usmp::transform::testing::fuse_loops_test

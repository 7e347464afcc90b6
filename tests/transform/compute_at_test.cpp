// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Producers computed inside of their readers' loops: results against those before, buffers left, near misses.
#include "transform/compute_at.hpp"

#include <doctest/doctest.h>

#include "transform/producer.hpp"
#include "transform/program.hpp"

namespace usmp::transform::testing::compute_at_test {
namespace {

// b is a with a zero on either side; c[j] is 1 - b[j] - b[j + 1] - b[j + 2]; with parts exchanged by the tests.
struct Fixture : Program {
  VarId a = input("a", 8);
  VarId c = output("c", 8);
  VarId b = buffer("b");
  VarId i = number("i");
  VarId j = number("j");
  VarId k = number("k");

  [[nodiscard]] ExprRef padded() const {
    return choice(both(at_least(var(i), 1), less(var(i), 9)), load(a, sub(var(i), 1)), tir::make_int(0));
  }
  [[nodiscard]] tir::Stmt writer() const { return loop(i, 10, block(store(b, var(i), padded()))); }
  [[nodiscard]] tir::Stmt sum_of(const ExprRef& index) const {
    return loop(k, 3, block(store(c, var(j), sub(load(c, var(j)), load(b, index)))));
  }
  [[nodiscard]] tir::Stmt reader() const {
    return loop(j, 8, block(store(c, var(j), tir::make_int(1)), sum_of(add(var(j), var(k)))));
  }

  // Whatever was done, the program computes the same.
  bool again(std::size_t depth) {
    REQUIRE(simple());
    const std::size_t vars = changed().vars.size();
    const bool did = compute_at(changed(), index(), aliases(), b, depth);
    check_same();
    CHECK(did == !is_unchanged());
    if (did) {
      const loops::Accesses accesses = loops::accesses_of(op().body);
      CHECK(accesses.loads_of(b) + accesses.stores_of(b) == 0);
    } else {
      CHECK(changed().vars.size() == vars);
    }
    return did;
  }
  void refused() {
    for (std::size_t depth = at_read; depth <= 3; ++depth) CHECK(!again(depth));
  }
};

TEST_CASE_FIXTURE(Fixture, "compute_at: each iteration of a loop computes what it reads") {
  body(block(allocate(b, 10), writer(), reader()));
  CHECK(again(1));
  CHECK(text() == R"(
  for j in [0, 8) {
    c[j] = 1
    allocate b: int32[3]
    for i in [0, 3) {
      b[i] = tir.if_then_else(j + i >= 1 and j + i < 9, a[j + i - 1], 0)
    }
    for k in [0, 3) {
      c[j] = c[j] - b[k]
    }
  }
)");
}

TEST_CASE_FIXTURE(Fixture, "compute_at: deeper inside, less is held at a time") {
  body(block(allocate(b, 10), writer(), reader()));
  CHECK(again(2));
  CHECK(text().find("allocate b: int32[1]") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "compute_at: for each load, no buffer is left") {
  body(block(allocate(b, 10), writer(), reader()));
  CHECK(again(at_read));
  CHECK(text().find("allocate") == std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "compute_at: several readers have buffers of their own, as large as each needs") {
  const VarId l = number("l");
  const VarId d = output("d", 8);
  body(block(allocate(b, 10), writer(), reader(), loop(l, 8, block(store(d, var(l), load(b, add(var(l), 2)))))));
  SUBCASE("windows") {
    CHECK(again(1));
    CHECK(text().find("allocate b: int32[3]") != std::string::npos);
    CHECK(text().find("allocate b_1: int32[1]") != std::string::npos);
  }
  SUBCASE("for each load") { CHECK(again(at_read)); }
}

TEST_CASE_FIXTURE(Fixture, "compute_at: loads at several places of an iteration share one buffer") {
  const auto at = [&](const ExprRef& first, const ExprRef& second) {
    return block(
        allocate(b, 10), writer(),
        loop(j, 8, block(when(less(var(j), 9), block(store(c, var(j), sub(load(b, first), load(b, second))))))));
  };
  SUBCASE("near each other") {
    body(at(add(var(j), 2), var(j)));
    CHECK(again(1));
    CHECK(text().find("allocate b: int32[3]") != std::string::npos);
  }
  SUBCASE("anywhere") {
    body(at(var(j), sub(tir::make_int(9), var(j))));
    CHECK(!again(1));
  }
  SUBCASE("further and further from each other") {
    body(at(var(j), quotient(var(j), 2)));
    CHECK(!again(1));
  }
}

TEST_CASE_FIXTURE(Fixture, "compute_at: a box of several dimensions") {
  const VarId r = number("r");
  const VarId s = number("s");
  const ExprRef element = add(mul(var(r), 6), var(s));
  const VarId x = input("x", 24);
  const VarId y = output("y", 8);
  // Four rows of six; windows of two rows and three columns.
  body(block(
      allocate(b, 24),
      loop(r, 4, block(loop(s, 6, block(store(b, element, sub(load(x, element), mul(var(r), var(s)))))))),
      loop(j, 2,
           block(loop(i, 4,
                      block(store(y, add(mul(var(j), 4), var(i)), tir::make_int(0)),
                            loop(k, 6,
                                 block(store(y, add(mul(var(j), 4), var(i)),
                                             sub(load(y, add(mul(var(j), 4), var(i))),
                                                 load(b, add(add(mul(add(var(j), quotient(var(k), 3)), 6), var(i)),
                                                             remainder(var(k), 3))))))))))),
      loop(number("m"), 8, block(store(c, 0, load(a, 0))))));
  SUBCASE("1") {
    CHECK(again(1));
    CHECK(text().find("allocate b: int32[12]") != std::string::npos);
  }
  SUBCASE("2") {
    CHECK(again(2));
    CHECK(text().find("allocate b: int32[6]") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Fixture, "compute_at: a concatenation is one buffer") {
  const VarId d = input("d", 4);
  const VarId l = number("l");
  const auto parts = [&](std::int64_t second) {
    return block(allocate(b, 16), loop(i, 6, block(store(b, var(i), mul(load(a, var(i)), 3)))),
                 loop(l, 4, block(store(b, add(var(l), second), load(d, var(l))))),
                 loop(j, 8, block(store(c, var(j), load(b, add(var(j), 1))))));
  };
  SUBCASE("without a gap, for each load") {
    body(parts(6));
    CHECK(again(at_read));
  }
  SUBCASE("without a gap, for each iteration") {
    body(parts(6));
    CHECK(again(1));
  }
  SUBCASE("with a gap") {
    body(block(allocate(b, 16), loop(i, 6, block(store(b, var(i), mul(load(a, var(i)), 3)))),
               loop(l, 4, block(store(b, add(var(l), 7), load(d, var(l))))),
               loop(j, 4, block(store(c, var(j), load(b, add(var(j), 1)))))));
    refused();
  }
  SUBCASE("of parts that meet") {
    body(parts(5));
    refused();
  }
}

// --- Near misses: nothing is done ------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "compute_at: not if iterations of the writer that there are not would be run") {
  // Which elements are read is not known; that they are written is, by the condition.
  const ExprRef index = mul(var(j), var(j));
  body(block(allocate(b, 10), writer(),
             loop(j, 8, block(when(less(index, 10), block(store(c, var(j), load(b, index))))))));
  CHECK(!again(1));
  CHECK(!again(2));
}

TEST_CASE_FIXTURE(Fixture,
                  "compute_at: not if the condition under which an element is read makes it one of the writer's") {
  const ExprRef index = add(mul(var(j), 2), var(k));
  body(block(allocate(b, 10), writer(),
             loop(j, 8,
                  block(store(c, var(j), tir::make_int(0)),
                        loop(k, 3, block(when(less(index, 10), block(store(c, var(j), load(b, index))))))))));
  CHECK(!again(1));
  CHECK(!again(2));
}

TEST_CASE_FIXTURE(Fixture, "compute_at: not if the element is never read, and would not be one of the writer's") {
  // A condition that contradicts the loops leaves an interval from 20 to 4.
  const VarId l = number("l");
  const ExprRef index = add(var(k), var(l));
  body(block(
      allocate(b, 10), writer(),
      loop(j, 8,
           block(store(c, var(j), tir::make_int(0)),
                 loop(k, 3,
                      block(loop(l, 3, block(when(at_least(index, 20), block(store(c, var(j), load(b, index))))))))))));
  CHECK(!again(1));
  CHECK(again(2));  // of one loop, whose interval the condition does not narrow
}

TEST_CASE_FIXTURE(Fixture, "compute_at: not if the bounds of a loop read it") {
  const VarId l = number("l");
  const VarId d = output("d", 3);
  const ExprRef count = larger(tir::make_int(0), smaller(load(b, var(j)), 3));
  body(block(allocate(b, 10), writer(), loop(j, 8, block(loop_to(l, count, block(store(d, 0, load(b, var(j)))))))));
  CHECK(!again(2));
}

TEST_CASE_FIXTURE(Fixture, "compute_at: not if what it is made of is written before it is read") {
  const VarId d = output("d", 8);
  SUBCASE("by the reader") {
    const VarId e = same_storage("e", a);
    body(block(allocate(b, 10), writer(), loop(j, 8, block(store(e, var(j), load(b, var(j))))),
               loop(k, 8, block(store(c, var(k), load(a, var(k))), store(d, var(k), tir::make_int(0))))));
    refused();
  }
  SUBCASE("between two nests that write it") {
    const VarId l = number("l");
    const VarId e = buffer("e");
    body(block(allocate(b, 10), allocate(e, 8), loop(i, 8, block(store(e, var(i), load(a, var(i))))),
               loop(k, 5, block(store(b, var(k), load(e, var(k))))), store(e, 2, tir::make_int(9)),
               loop(l, 5, block(store(b, add(var(l), 5), load(e, 3)))),
               loop(j, 8, block(store(c, var(j), load(b, var(j))), store(d, var(j), tir::make_int(0))))));
    refused();
  }
}

TEST_CASE_FIXTURE(Fixture, "compute_at: not if it is read before all is written") {
  body(block(allocate(b, 10), loop(k, 5, block(store(b, var(k), load(a, var(k))))),
             loop(j, 4, block(store(c, var(j), load(b, var(j))))),
             loop(i, 5, block(store(b, add(var(i), 5), load(a, var(i))))), store(c, 7, load(b, 9))));
  refused();
}

TEST_CASE_FIXTURE(Fixture, "compute_at: not if it is a sum, a parameter, or not stored by loops alone") {
  const VarId l = number("l");
  SUBCASE("a sum") {
    body(block(allocate(b, 10), writer(), loop(l, 10, block(store(b, var(l), sub(load(b, var(l)), 1)))), reader()));
  }
  SUBCASE("an element stored twice") {
    body(block(allocate(b, 10), loop(i, 5, block(loop(k, 6, block(store(b, add(var(i), var(k)), load(a, var(i))))))),
               loop(j, 8, block(store(c, var(j), load(b, var(j)))))));
  }
  SUBCASE("under a condition") {
    body(block(allocate(b, 10),
               loop(i, 8, block(when(less(mul(var(i), var(i)), 17), block(store(b, var(i), load(a, var(i))))))),
               loop(j, 4, block(store(c, var(j), load(b, var(j)))))));
  }
  refused();
}

TEST_CASE_FIXTURE(Fixture, "compute_at: not if indices would overflow in another form") {
  const VarId x = number("x");
  const VarId y = number("y");
  const auto read_within = [&](std::int64_t first, const ExprRef& condition, const ExprRef& index) {
    const tir::Stmt read = when(condition, block(store(c, var(j), load(b, index))));
    body(block(allocate(b, 8), loop(i, 8, block(store(b, var(i), load(a, var(i))))),
               loop(j, 2, block(loop_from(x, first, 3, block(loop_from(y, first, 3, block(read))))))));
  };
  SUBCASE("sums of what is large") {
    constexpr std::int64_t large = std::int64_t{1} << 30;
    const ExprRef index = add(sub(var(x), large), sub(var(y), large));
    read_within(large, less(index, 8), index);
  }
  SUBCASE("multiples of a difference, of which conditions say that it is small") {
    const ExprRef index = mul(sub(var(x), var(y)), std::int64_t{1} << 29);
    read_within(5, both(less(index, 8), at_least(index, 0)), index);
  }
  refused();
}

TEST_CASE_FIXTURE(Fixture, "compute_at: not if nobody says of what type the buffer's elements are") {
  tir::Block all = block(allocate(b, 10), writer(), reader());
  module().vars[b.index()].element = tir::void_type;
  body(std::move(all));
  refused();
}

TEST_CASE("compute_at: a narrow value is cut to the type of its buffer, which only the store did") {
  Program p;
  const VarId a = p.input("a", 8, int8_type);
  const VarId c = p.output("c", 8);
  const VarId b = p.buffer("b", int8_type);
  const VarId i = p.number("i");
  const VarId j = p.number("j");
  const ExprRef twice = add(p.load(a, p.var(i)), p.load(a, p.var(i)));
  p.body(block(p.allocate(b, 8), p.loop(i, 8, block(p.store(b, p.var(i), twice))),
               p.loop(j, 8, block(p.store(c, p.var(j), tir::make_cast(int32_type, p.load(b, p.var(j))))))));
  std::size_t depth = at_read;
  SUBCASE("for each load") {}
  SUBCASE("for each iteration") { depth = 1; }
  CHECK(compute_at(p.changed(), p.index(), p.aliases(), b, depth));
  p.check_same();
}

}  // namespace
}  // namespace usmp::transform::testing::compute_at_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Conditions that become bounds: results and work against those before, near misses, hostile programs.
#include "transform/tighten.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "transform/program.hpp"

namespace usmp::transform::testing::tighten_test {
namespace {

// for o { c[o] = 1; for k { c[o] = c[o] + (o + k >= 1 && o + k < 9 ? a[o + k - 1] : 0) * w[k]; } }, with parts
// exchanged by the tests.
struct Fixture : Program {
  VarId a = input("a", 8);
  VarId w = input("w", 8);
  VarId c = output("c", 8);
  VarId o = number("o");
  VarId k = number("k");

  [[nodiscard]] ExprRef inside() const { return both(at_least(at(), 1), less(at(), 9)); }
  [[nodiscard]] ExprRef at() const { return add(var(o), var(k)); }
  [[nodiscard]] ExprRef padded() const { return choice(inside(), load(a, sub(at(), 1)), tir::make_int(0)); }
  [[nodiscard]] ExprRef product() const { return mul(padded(), load(w, var(k))); }
  [[nodiscard]] tir::Stmt add_up(const ExprRef& what) const { return store(c, var(o), add(load(c, var(o)), what)); }
  [[nodiscard]] tir::Stmt outer(tir::Block inner) const {
    return loop(o, 8, block(store(c, var(o), tir::make_int(1)), loop(k, 3, std::move(inner))));
  }

  bool tightened() {
    REQUIRE(simple());
    const bool did = tighten(changed(), op());
    check_same();
    CHECK(did == !is_unchanged());
    return did;
  }
  [[nodiscard]] bool has(const std::string& what) { return text().find(what) != std::string::npos; }
};

TEST_CASE_FIXTURE(Fixture, "tighten: a term that is zero is skipped, and the loop runs where it is not") {
  body(block(outer(block(add_up(product())))));
  CHECK(tightened());
  CHECK(text() == R"(
  for o in [0, 8) {
    c[o] = 1
    for k in [max(0, 1 - o), max(0, 1 - o) + (min(3, 9 - o) - max(0, 1 - o))) {
      c[o] = c[o] + a[o + k - 1] * w[k]
    }
  }
)");
}

TEST_CASE_FIXTURE(Fixture, "tighten: the term may stand on either side, under casts and factors") {
  SUBCASE("in front") { body(block(outer(block(store(c, var(o), add(product(), load(c, var(o)))))))); }
  SUBCASE("the second factor") { body(block(outer(block(add_up(mul(load(w, var(k)), padded())))))); }
  SUBCASE("under a cast") {
    const ExprRef small =
        choice(inside(), tir::make_cast(int8_type, load(a, sub(at(), 1))), tir::make_int(0, int8_type));
    body(block(outer(block(add_up(mul(tir::make_cast(int32_type, small), load(w, var(k))))))));
  }
  CHECK(tightened());
  CHECK_FALSE(has("if"));
}

TEST_CASE_FIXTURE(Fixture,
                  "tighten: what the loop has nothing to do with goes outside, what memory tells stays inside") {
  const ExprRef known = less(load(w, var(k)), 100);
  const ExprRef all = both(both(less(var(o), 5), at_least(var(k), 2)), known);
  body(block(loop(
      o, 8, block(store(c, var(o), tir::make_int(0)), loop(k, 6, block(when(all, block(add_up(load(w, var(k)))))))))));
  CHECK(tightened());
  CHECK(text() == R"(
  for o in [0, 8) {
    c[o] = 0
    if o - 5 <= -1 {
      for k in [2, 2 + 4) {
        if w[k] < 100 {
          c[o] = c[o] + w[k]
        }
      }
    }
  }
)");
}

TEST_CASE_FIXTURE(Fixture, "tighten: factors and quotients of the loop's variable") {
  const auto only = [&](const ExprRef& condition) {
    body(block(loop(o, 8,
                    block(store(c, var(o), tir::make_int(0)),
                          loop_from(k, -3, 11, block(when(condition, block(add_up(add(var(k), 50))))))))));
  };
  SUBCASE("upper, rounded") { only(less(add(mul(var(k), 3), var(o)), 8)); }
  SUBCASE("lower, rounded") { only(at_least(add(mul(var(k), 3), var(o)), 5)); }
  SUBCASE("upper, by le") { only(binary(ExprKind::le, add(mul(var(k), 3), var(o)), 8)); }
  SUBCASE("lower, by gt") { only(binary(ExprKind::gt, add(mul(var(k), 3), var(o)), 5)); }
  SUBCASE("negative") { only(less(sub(var(o), mul(var(k), 2)), 3)); }
  SUBCASE("never") { only(less(add(var(k), var(o)), -100)); }
  SUBCASE("both ends meet") { only(both(less(var(k), 2), at_least(mul(var(k), 2), add(var(o), 1)))); }
  CHECK(tightened());
  CHECK_FALSE(has("if k"));
}

// An image of 4 lines of 5 columns with a border, whose places are counted with one number.
TEST_CASE_FIXTURE(Fixture, "tighten: of places counted line by line, lines and columns are told apart") {
  const VarId line = number("line");
  const VarId column = number("column");
  const ExprRef lines = add(var(o), var(line));
  const auto around = [&](const ExprRef& condition) {
    const ExprRef padded = choice(condition, load(a, var(k)), tir::make_int(0));
    body(block(loop(o, 3,
                    block(store(c, var(o), tir::make_int(1)),
                          loop(line, 2, block(loop(column, 5, block(loop(k, 1, block(add_up(padded)))))))))));
    CHECK(tightened());
  };
  const ExprRef place = add(mul(lines, 5), var(column));
  SUBCASE("whole lines") {
    around(both(at_least(place, 5), less(place, 15)));
    CHECK(has("for line in [max(0, 1 - o), max(0, 1 - o) + (min(2, 3 - o) - max(0, 1 - o)))"));
    CHECK(has("for column in [0, 5)"));
  }
  SUBCASE("up to a column of the last line that all lines end at") {
    around(both(less(place, 14), less(var(column), 4)));
    CHECK(has("for line in [0, min(2, 3 - o))"));
    CHECK(has("for column in [0, 4)"));
  }
  SUBCASE("up to a column of the last line") {
    around(less(place, 14));
    CHECK(has("for line in [0, 2)"));
  }
  SUBCASE("each decides of the other") {
    around(both(less(add(mul(var(line), 5), var(column)), 9), less(add(mul(var(column), 5), var(line)), 20)));
  }
}

TEST_CASE_FIXTURE(Fixture, "tighten: lets of indices stay in front of what they are used in") {
  const VarId t = number("t");
  const auto with = [&](const ExprRef& value, const ExprRef& condition) {
    body(block(loop(o, 8,
                    block(store(c, var(o), tir::make_int(0)),
                          loop(k, 6, block(let(t, value), when(condition, block(add_up(var(t))))))))));
  };
  SUBCASE("a sum") {
    with(add(var(k), var(o)), less(var(t), 6));
    CHECK(tightened());
    CHECK_FALSE(has("if"));
  }
  SUBCASE("no sum") {
    with(smaller(var(k), var(o)), less(var(t), 2));
    CHECK_FALSE(tightened());
  }
  SUBCASE("of memory") {
    with(load(w, var(k)), less(var(t), 2));
    CHECK_FALSE(tightened());
  }
}

// --- Near misses: nothing is done ------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "tighten: not if the term may be another number than zero") {
  const ExprRef one = choice(inside(), load(a, sub(at(), 1)), tir::make_int(1));
  SUBCASE("one") { body(block(outer(block(add_up(mul(one, load(w, var(k)))))))); }
  SUBCASE("a sum") { body(block(outer(block(add_up(add(padded(), load(w, var(k)))))))); }
  SUBCASE("a difference") { body(block(outer(block(add_up(sub(padded(), load(w, var(k)))))))); }
  CHECK_FALSE(tightened());
}

TEST_CASE_FIXTURE(Fixture, "tighten: not if it is no sum of the element itself") {
  SUBCASE("another element") {
    body(block(outer(block(store(c, var(o), add(load(c, sub(tir::make_int(0), quotient(var(o), 8))), product()))))));
    CHECK_FALSE(tightened());
  }
  SUBCASE("another buffer") {
    body(block(loop(o, 8, block(loop(k, 3, block(store(c, var(o), add(load(a, var(o)), product()))))))));
    CHECK_FALSE(tightened());
  }
  SUBCASE("a difference") {
    body(block(outer(block(store(c, var(o), sub(load(c, var(o)), product()))))));
    CHECK_FALSE(tightened());
  }
}

TEST_CASE_FIXTURE(Fixture, "tighten: not for floats, where adding zero may change the sign of zero") {
  const VarId x = buffer("x", float32_type);
  const VarId y = output("y", 1, float32_type);
  const ExprRef zero = tir::make_float(-0.0, float32_type);
  SUBCASE("zero as a float") {
    body(block(
        allocate(x, 1), store(x, 0, zero),
        loop(k, 3,
             block(store(x, 0, add(load(x, 0), choice(less(var(k), 1), zero, tir::make_float(0.0, float32_type)))))),
        store(y, 0, load(x, 0))));
  }
  SUBCASE("zero as an integer") {
    const ExprRef none = tir::make_int(0, float32_type);
    body(block(allocate(x, 1), store(x, 0, zero),
               loop(k, 3, block(store(x, 0, add(load(x, 0), choice(less(var(k), 1), zero, none))))),
               store(y, 0, load(x, 0))));
    CHECK_FALSE(tighten(changed(), op()));
    return;
  }
  CHECK_FALSE(tightened());
}

TEST_CASE_FIXTURE(Fixture, "tighten: not if the loop does anything else, or otherwise") {
  const tir::Stmt more = store(c, 7, tir::make_int(3));
  SUBCASE("behind") {
    body(block(loop(o, 8, block(store(c, var(o), tir::make_int(0)))),
               loop(k, 6, block(when(less(var(k), 3), block(store(c, var(k), tir::make_int(2)))), more))));
  }
  SUBCASE("in front") {
    body(block(loop(o, 8, block(store(c, var(o), tir::make_int(0)))),
               loop(k, 6, block(more, when(less(var(k), 3), block(store(c, var(k), tir::make_int(2))))))));
  }
  SUBCASE("another branch") {
    body(block(loop(o, 8, block(store(c, var(o), tir::make_int(0)))),
               loop(k, 6,
                    block(when(less(var(k), 5), block(store(c, var(k), tir::make_int(2)))),
                          when(less(var(k), 3), block(store(c, 7, tir::make_int(3))))))));
  }
  SUBCASE("a let behind") {
    body(block(
        loop(o, 8, block(store(c, var(o), tir::make_int(0)))),
        loop(k, 6, block(when(less(var(k), 3), block(store(c, var(k), tir::make_int(2)))), let(number("t"), var(k))))));
  }
  SUBCASE("otherwise") {
    body(block(loop(o, 8, block(store(c, var(o), tir::make_int(0)))),
               loop(k, 6, block(when(less(var(k), 3), block(store(c, var(k), tir::make_int(2))), block(more))))));
  }
  CHECK_FALSE(tightened());
}

TEST_CASE_FIXTURE(Fixture, "tighten: not if a bound would be made of the loop's own variable") {
  const ExprRef half = quotient(var(k), 2);
  ExprRef condition = less(half, 2);
  SUBCASE("by its half alone") {}
  SUBCASE("by its half and itself") { condition = less(add(var(k), half), 5); }
  body(block(loop(o, 8, block(store(c, var(o), tir::make_int(0)))),
             loop(k, 6, block(when(condition, block(store(c, var(k), tir::make_int(2))))))));
  CHECK_FALSE(tightened());
}

TEST_CASE_FIXTURE(Fixture, "tighten: not if a bound would overflow in another form") {
  // The factor is taken of a difference: (o - n) * 2^29 is small enough, o * 2^29 is not.
  const VarId n = number("n");
  const ExprRef large = mul(sub(var(o), var(n)), std::int64_t{1} << 29);
  ExprRef condition = less(large, 5);
  SUBCASE("of what has nothing to do with the loop") {}
  SUBCASE("of the loop's variable") { condition = less(add(large, var(k)), 5); }
  body(block(loop(number("m"), 8, block(store(c, 0, tir::make_int(0)))),
             loop_from(o, 5, 3,
                       block(loop_from(n, 5, 3,
                                       block(loop(k, 6, block(when(condition, block(store(c, var(k), var(o))))))))))));
  CHECK_FALSE(tightened());
}

TEST_CASE_FIXTURE(Fixture, "tighten: not if the distance from the loop's begin to a bound would overflow") {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  body(block(loop(o, 8, block(store(c, var(o), tir::make_int(0)))),
             loop_from(k, most - 10, 4, block(when(less(var(k), -1000000000), block(store(c, 0, tir::make_int(2))))))));
  CHECK_FALSE(tightened());
}

TEST_CASE_FIXTURE(Fixture, "tighten: alternatives stay conditions") {
  body(block(loop(k, 8, block(store(c, var(k), tir::make_int(0)))),
             loop(o, 8,
                  block(when(binary(ExprKind::or_, less(var(o), 2), at_least(var(o), 5)),
                             block(store(c, var(o), tir::make_int(2))))))));
  CHECK_FALSE(tightened());
}

TEST_CASE("tighten: conditions of another type than the loop's stay") {
  Program p;
  const VarId c = p.output("c", 8);
  const VarId i = p.number("i");
  const VarId k = p.number("k");
  const ExprRef wide = tir::make_cast(int64_type, p.var(k));
  p.body(block(p.loop(i, 8, block(p.store(c, p.var(i), tir::make_int(0)))),
               p.loop(k, 8, block(p.when(less(wide, 3), block(p.store(c, p.var(k), tir::make_int(2))))))));
  CHECK_FALSE(tighten(p.changed(), p.op()));
  p.check_same();
}

// --- Hostile programs ------------------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "tighten: bounds that would overflow stay conditions") {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  tir::Block inner = block(store(c, 0, tir::make_int(2)));
  const tir::Stmt zero = loop(o, 8, block(store(c, var(o), tir::make_int(0))));
  SUBCASE("the loop's end") {
    body(block(zero, loop_from(k, most - 3, 4, block(when(at_least(var(k), most - 2), std::move(inner))))));
  }
  SUBCASE("the limit") {
    body(block(zero, loop(k, 8, block(when(less(sub(var(k), 2000000000), -2100000000), std::move(inner))))));
  }
  (void)tighten(changed(), op());
  const auto fault = random_modules::fault_of(changed());
  CHECK_MESSAGE(!fault, fault.value_or(""));
}

TEST_CASE("tighten: factors and limits at the ends of int64") {
  Program p;
  const VarId c = p.output("c", 1);
  const VarId k = p.number("k", int64_type);
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  const ExprRef condition =
      both(less(mul(p.var(k), lowest), 1), less(p.var(k), std::numeric_limits<std::int64_t>::max()));
  p.body(block(p.store(c, 0, tir::make_int(0)),
               p.loop_from(k, 0, 2, block(p.when(condition, block(p.store(c, 0, tir::make_int(2))))))));
  (void)tighten(p.changed(), p.op());
  const auto fault = random_modules::fault_of(p.changed());
  CHECK_MESSAGE(!fault, fault.value_or(""));
}

TEST_CASE_FIXTURE(Fixture, "decisions are counted by how often they are made") {
  body(block(outer(block(add_up(product()))),
             loop(number("m"), 5, block(when(less(load(a, 0), 3), block(store(c, 0, tir::make_int(1))))))));
  CHECK(decisions(changed(), op()) == 8 * 3 + 5);
}

}  // namespace
}  // namespace usmp::transform::testing::tighten_test

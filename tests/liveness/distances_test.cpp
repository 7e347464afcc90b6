// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// How close two buffers may be of which one dies in the loop nest in which the other is born. Which may share bytes at
// all: sharing_conditions_test.cpp. Random nests, whose accesses are replayed byte by byte: random_nests_test.cpp.
#include "usmp/liveness/distances.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "liveness/program_of_nests.hpp"

namespace usmp::liveness::testing::distances_test {
namespace {

// --- Addresses -------------------------------------------------------------------------------------------------------

TEST_CASE("element by element: the new buffer may start where the old one does, or lower") {
  Program p;
  SUBCASE("in one type") {
    const VarId in = p.buffer("in", 16);
    const VarId out = p.buffer("out", 16);
    CHECK(p.found({p.for_i(16, block(p.store(out, p.i(), p.load(in, p.i()))))}) == "in>=out+0");
  }
  SUBCASE("narrowed: writes fall further and further behind") {
    const VarId in = p.buffer("in", 16, int32_type);
    const VarId out = p.buffer("out", 16);
    CHECK(p.found({p.for_i(16, block(p.store(out, p.i(), cast(int8_type, p.load(in, p.i())))))}) == "in>=out+0");
  }
  SUBCASE("widened: the old one ends a little above the new one") {
    const VarId in = p.buffer("in", 16);
    const VarId out = p.buffer("out", 16, int32_type);
    // Before in[15] is read, 60 bytes are written.
    CHECK(p.found({p.for_i(16, block(p.store(out, p.i(), cast(int32_type, p.load(in, p.i())))))}) == "in>=out+45");
  }
  SUBCASE("backwards in both") {
    const VarId in = p.buffer("in", 16);
    const VarId out = p.buffer("out", 16);
    const ExprRef place = sub(15, p.i());
    CHECK(p.found({p.for_i(16, block(p.store(out, place, p.load(in, place))))}) == "out>=in+0");
  }
  SUBCASE("an old one with a head start") {
    const VarId in = p.buffer("in", 20);
    const VarId out = p.buffer("out", 16);
    CHECK(p.found({p.for_i(16, block(p.store(out, p.i(), p.load(in, add(p.i(), 4)))))}) == "in>=out+0");
  }
  SUBCASE("a new one with a head start") {
    const VarId in = p.buffer("in", 16);
    const VarId out = p.buffer("out", 20);
    // Before in[15] is read, out[4] to out[18] are written. Above: in[1] is the first that is read behind a write.
    CHECK(p.found({p.for_i(16, block(p.store(out, add(p.i(), 4), p.load(in, p.i()))))}) == "in>=out+4; out>=in+12");
  }
}

TEST_CASE("windows, borders, reversed and transposed reads") {
  Program p;
  const VarId out = p.buffer("out", 16);
  SUBCASE("a window") {
    const VarId in = p.buffer("in", 18);
    const ExprRef sum = add(p.load(in, p.i()), add(p.load(in, add(p.i(), 1)), p.load(in, add(p.i(), 2))));
    CHECK(p.found({p.for_i(16, block(p.store(out, p.i(), sum)))}) == "in>=out+0");
  }
  SUBCASE("a window that a loop adds up where the result is: its first store comes before its reads") {
    const VarId in = p.buffer("in", 18);
    CHECK(
        p.found({p.for_i(
            16,
            block(p.store(out, p.i(), p.number(0)),
                  p.for_j(3, block(p.store(out, p.i(), add(p.load(out, p.i()), p.load(in, add(p.i(), p.j()))))))))}) ==
        "in>=out+1");
  }
  SUBCASE("a centred window behind a border of zeros") {
    const VarId in = p.buffer("in", 16);
    const auto guarded = [&](std::int64_t by) {
      const ExprRef place = add(p.i(), by);
      const ExprRef is_inside = both(at_least(place, 0), less(place, 16));
      return choice(is_inside, p.load(in, place), p.number(0));
    };
    CHECK(p.found({p.for_i(16, block(p.store(out, p.i(), add(guarded(-1), guarded(1)))))}) == "in>=out+1");
  }
  SUBCASE("padding: the border takes no read") {
    const VarId in = p.buffer("in", 12);
    const ExprRef place = add(p.i(), -2);
    const ExprRef is_inside = both(at_least(place, 0), less(place, 12));
    // in[11] is read when out[12] was the last that was written.
    CHECK(p.found({p.for_i(16, block(p.store(out, p.i(), choice(is_inside, p.load(in, place), p.number(0)))))}) ==
          "in>=out+2");
  }
  SUBCASE("reversed") {
    const VarId in = p.buffer("in", 16);
    CHECK(p.found({p.for_i(16, block(p.store(out, p.i(), p.load(in, sub(15, p.i())))))}) == "in>=out+15; out>=in+15");
  }
  SUBCASE("transposed") {
    const VarId in = p.buffer("in", 16);
    const ExprRef across = add(mul(p.j(), 4), p.i());
    CHECK(
        p.found({p.for_i(4, block(p.for_j(4, block(p.store(out, add(mul(p.i(), 4), p.j()), p.load(in, across))))))}) ==
        "in>=out+9");
  }
  SUBCASE("row by row through a row of sums") {
    const VarId in = p.buffer("in", 16);
    const VarId row = p.temporary("row", 4);
    const ExprRef place = add(mul(p.i(), 4), p.j());
    const auto rows = [&](VarId to, VarId from) {
      return p.for_i(4, block(p.for_j(4, block(p.store(row, p.j(), p.load(from, place)))),
                              p.for_j(4, block(p.store(to, place, p.load(row, p.j()))))));
    };
    // The row is taken as allocated in each iteration, so that it is not born in the loop.
    CHECK(p.found({rows(out, in)}) == "in>=out+0");
  }
  SUBCASE("two that die") {
    const VarId a = p.buffer("a", 16);
    const VarId b = p.buffer("b", 18);
    CHECK(p.found({p.for_i(16, block(p.store(out, p.i(), add(p.load(a, p.i()), p.load(b, add(p.i(), 2))))))}) ==
          "a>=out+0; b>=out+0");
  }
}

TEST_CASE("only one way of a decided condition is walked, both of an open one") {
  Program p;
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  const tir::Block reversed = block(p.store(out, p.i(), p.load(in, sub(15, p.i()))));
  const tir::Block zero = block(p.store(out, p.i(), p.number(0)));
  SUBCASE("one way") {
    // in[8] to in[15] are read, from the top.
    CHECK(p.found({p.for_i(16, block(p.when(less(p.i(), 8), reversed, zero)))}) == "in>=out+0; out>=in+15");
  }
  SUBCASE("the other way") {
    // in[7] to in[0] are read behind out[8] to out[15].
    CHECK(p.found({p.for_i(16, block(p.when(less(p.i(), 8), zero, reversed)))}) == "in>=out+15; out>=in+8");
  }
  SUBCASE("both ways") {
    const VarId flag = p.buffer("flag", 1);
    p.is_kept(flag);
    const ExprRef is_open = less(p.load(flag, 0), 8);
    CHECK(p.found({p.for_i(16, block(p.when(is_open, reversed, zero)))}) == "in>=out+15; out>=in+15");
    const tir::Block other = block(p.store(flag, 0, p.number(2)));
    CHECK(p.found({p.for_i(16, block(p.when(is_open, other, reversed)))}) == "in>=out+15; out>=in+15");
  }
}

TEST_CASE("an index that is data may be any") {
  Program p;
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  const VarId table = p.buffer("table", 16, int32_type);
  p.is_kept(table);
  SUBCASE("of a read") {
    // 15 elements are written when the last one is chosen.
    CHECK(p.found({p.for_i(16, block(p.store(out, p.i(), p.load(in, p.load(table, p.i())))))}) == "in>=out+15");
  }
  SUBCASE("of a write") {
    CHECK(p.found({p.for_i(16, block(p.store(out, p.load(table, p.i()), p.load(in, p.i()))))}) == "in>=out+15");
  }
  SUBCASE("in a variable that is too narrow for its value") {
    const VarId wide = p.buffer("wide", 300);
    const VarId narrow = p.integer("narrow");
    p.module().vars[narrow.index()].type = int8_type;
    const ExprRef sum = add(make_int(100, int8_type), make_int(100, int8_type));  // in C -56 then
    const ExprRef place = add(add(cast(int32_type, p.var(narrow)), 56), p.i());
    CHECK(p.found({p.for_i(16, block(p.let(narrow, sum), p.store(out, p.i(), p.load(wide, place))))}) ==
          "wide>=out+15");
  }
  SUBCASE("in a variable, which holds it to the end of its block") {
    const VarId at = p.integer("at");
    CHECK(p.found({p.for_i(16, block(p.let(at, p.load(table, p.i())), p.store(out, p.i(), p.load(in, p.var(at)))))}) ==
          "in>=out+15");
    CHECK(p.found({p.for_i(16, block(p.let(at, add(p.i(), 0)), p.store(out, p.i(), p.load(in, p.var(at)))))}) ==
          "in>=out+0");
  }
}

TEST_CASE("a variable has its outer value again behind the block that changed it") {
  Program p;
  const VarId in = p.buffer("in", 32);
  const VarId out = p.buffer("out", 16);
  const VarId at = p.integer("at");
  const auto shifted = [&] { return p.store(out, p.i(), p.load(in, add(p.var(at), p.i()))); };
  SUBCASE("a let") {
    // Read at 0 to 15, but the inner variable would say 16 to 31.
    CHECK(p.found({p.for_i(16, block(p.let(at, make_int(0)), p.scope(block(p.let(at, make_int(16)), shifted())),
                                     shifted()))}) == "in>=out+1");
  }
  SUBCASE("a loop") {
    CHECK(p.found({p.for_i(16, block(p.let(at, make_int(0)), p.loop(at, 2, block(p.store(out, p.i(), p.number(0)))),
                                     shifted()))}) == "in>=out+1; out>=in+16");
  }
}

TEST_CASE("reads come before what the statement writes, and before what it contains") {
  Program p;
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  SUBCASE("a condition") {
    CHECK(p.found({p.for_i(16, block(p.when(less(p.load(in, p.i()), 3), block(p.store(out, p.i(), p.number(1))),
                                            block(p.store(out, p.i(), p.number(2))))))}) == "in>=out+0");
  }
  SUBCASE("a variable's value") {
    const VarId value = p.integer("value");
    CHECK(p.found({p.for_i(16, block(p.let(value, cast(int32_type, p.load(in, p.i()))),
                                     p.store(out, p.i(), cast(int8_type, p.var(value)))))}) == "in>=out+0");
  }
  SUBCASE("a statement behind") {
    CHECK(p.found({p.for_i(16, block(p.store(out, p.i(), p.number(1)),
                                     p.store(out, p.i(), add(p.load(out, p.i()), p.load(in, p.i())))))}) ==
          "in>=out+1");
  }
  SUBCASE("a predicate and an index") {
    const VarId table = p.buffer("table", 16, int32_type);
    tir::Stmt store = p.store(out, p.load(table, p.i()), p.number(1));
    std::get<tir::Store>(store.node).predicate = less(p.load(in, p.i()), 3);
    CHECK(p.found({p.for_i(16, block(store))}) == "in>=out+15; table>=out+12");
  }
}

TEST_CASE("the condition of a while loop is read again after what its body writes") {
  Program p;
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  const VarId count = p.buffer("count", 1);
  p.is_kept(count);
  const auto until = [&](const ExprRef& value, tir::Block body) {
    return tir::Stmt{tir::While{less(value, p.load(count, 0)), std::move(body)}};
  };
  SUBCASE("inside the loop") {
    CHECK(p.found({p.for_i(16, block(until(p.load(in, p.i()), block(p.store(out, p.i(), p.number(1))))))}) ==
          "in>=out+1");
  }
  SUBCASE("its body happens in any order") {
    CHECK(p.found({p.for_i(16, block(until(p.number(3), block(p.store(out, p.i(), p.load(in, p.i()))))))}) ==
          "in>=out+1");
  }
  SUBCASE("an outermost one is not looked at") {
    CHECK(p.found({until(p.number(3), block(p.for_i(16, block(p.store(out, p.i(), p.load(in, p.i()))))))}).empty());
  }
}

TEST_CASE("loops with bounds that are data count as one group") {
  Program p;
  const VarId in = p.buffer("in", 16);
  const VarId out = p.buffer("out", 16);
  const VarId count = p.buffer("count", 1, int32_type);
  p.is_kept(count);
  tir::Block row = block(p.store(out, add(mul(p.i(), 4), p.j()), p.load(in, add(mul(p.i(), 4), p.j()))));
  SUBCASE("of its rows, not of everything") {
    // The extent is at most 4.
    const ExprRef known = add(choice(less(p.load(count, 0), 0), make_int(1), make_int(3)), 1);
    CHECK(p.found({p.for_i(4, block(p.ranged(p.j_var(), make_int(0), known, row)))}) == "in>=out+4");
  }
  SUBCASE("read anew in each iteration") {
    // `in` itself says how often: its byte is read after writes.
    const ExprRef extent = choice(less(p.load(in, 0), 0), make_int(2), make_int(4));
    CHECK(p.found({p.for_i(4, block(p.ranged(p.j_var(), make_int(0), extent, row)))}).empty());
  }
  SUBCASE("from another start") {
    CHECK(p.found({p.for_i(4, block(p.ranged(p.j_var(), make_int(1), make_int(3), row)))}) == "in>=out+0; out>=in+15");
  }
  SUBCASE("of no iteration, whose bounds are read") {
    const ExprRef none = choice(less(p.load(in, p.i()), 0), make_int(-1), make_int(0));
    CHECK(p.found({p.for_i(16, block(p.ranged(p.j_var(), make_int(0), none, row),
                                     p.store(out, p.i(), p.number(1))))}) == "in>=out+0");
  }
  SUBCASE("of no iteration") {
    CHECK(p.found({p.for_i(4, block(p.ranged(p.j_var(), make_int(0), sub(0, p.i()), row),
                                    p.for_j(4, block(p.store(out, p.j(), p.load(in, add(p.j(), 12)))))))}) ==
          "in>=out+0");
  }
}

TEST_CASE("with more iterations than groups, some of them are one group") {
  Program p;
  SUBCASE("as many as there are groups") {
    const VarId in = p.buffer("in", 4096);
    const VarId out = p.buffer("out", 4096);
    CHECK(p.found({p.for_i(4096, block(p.store(out, p.i(), p.load(in, p.i()))))}) == "in>=out+0");
  }
  SUBCASE("two or three times as many") {
    const VarId in = p.buffer("in", 10000);
    const VarId out = p.buffer("out", 10000);
    CHECK(p.found({p.for_i(8192, block(p.store(out, p.i(), p.load(in, p.i()))))}) == "in>=out+2; out>=in+8192");
    CHECK(p.found({p.for_i(10000, block(p.store(out, p.i(), p.load(in, p.i()))))}) == "in>=out+3");
  }
  SUBCASE("together with the loops around") {
    const VarId in = p.buffer("in", 64 * 100, int32_type);
    const VarId out = p.buffer("out", 64 * 100, int32_type);
    const ExprRef place = add(mul(p.i(), 100), p.j());
    CHECK(p.found({p.for_i(64, block(p.for_j(100, block(p.store(out, place, p.load(in, place))))))}) ==
          "in>=out+8");  // 64 groups for each row
  }
  SUBCASE("a whole inner loop, if none are left") {
    const VarId in = p.buffer("in", 4096 * 3);
    const VarId out = p.buffer("out", 4096 * 3);
    const ExprRef place = add(mul(p.i(), 3), p.j());
    CHECK(p.found({p.for_i(4096, block(p.for_j(3, block(p.store(out, place, p.load(in, place))))))}) == "in>=out+3");
  }
  SUBCASE("more than fit a number") {
    const VarId in = p.buffer("in", 16);
    const VarId out = p.buffer("out", 16);
    for (const std::int64_t extent : {INT64_MAX - 1, INT64_MAX}) {
      const ExprRef huge = make_int(extent, tir::int64_type);
      CHECK(p.found({p.ranged(p.i_var(), make_int(0, tir::int64_type), huge,
                              block(p.store(out, p.i(), p.load(in, p.i()))))})
                .empty());
    }
  }
}

TEST_CASE("accesses outside of a buffer do not happen: where they seem to, they could be anywhere in it") {
  Program p;
  const ExprRef flag = p.load(p.kept("flag"), 0);  // that guards them is not understood
  SUBCASE("of a group in part: it is the rest") {
    const VarId in = p.buffer("in", 12);
    const VarId out = p.buffer("out", 40);
    const auto rows = [&](std::int64_t first) {
      const ExprRef guarded = choice(flag, p.load(in, add(p.j(), first)), p.number(0));
      const ExprRef one_group = choice(flag, make_int(8), make_int(8));
      const ExprRef place = add(add(mul(p.i(), 8), p.j()), 8);
      return p.for_i(3, block(p.ranged(p.j_var(), make_int(0), one_group, block(p.store(out, place, guarded)))));
    };
    // Bytes 8 to 11, and 0 to 3, are read with every eight that are written.
    CHECK(p.found({rows(8)}) == "in>=out+24; out>=in+4");
    CHECK(p.found({rows(-4)}) == "in>=out+32; out>=in+0");
  }
  SUBCASE("behind its end") {
    const VarId in = p.buffer("in", 12);
    const VarId out = p.buffer("out", 24);
    const ExprRef guarded = choice(flag, p.load(in, p.i()), p.number(0));
    CHECK(p.found({p.for_i(16, block(p.store(out, add(p.i(), 8), guarded)))}) == "in>=out+23; out>=in+4");
  }
  SUBCASE("in front of its begin") {
    const VarId in = p.buffer("in", 9);
    const VarId out = p.buffer("out", 16);
    const ExprRef guarded = choice(flag, p.load(in, sub(8, p.i())), p.number(0));
    CHECK(p.found({p.for_i(16, block(p.store(out, p.i(), guarded)))}) == "in>=out+15");
  }
}

}  // namespace
}  // namespace usmp::liveness::testing::distances_test

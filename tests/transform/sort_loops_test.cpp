// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Orders of loops after the pass and results against those before, with near misses.
#include "transform/sort_loops.hpp"

#include <doctest/doctest.h>

#include "transform/program.hpp"

namespace usmp::transform::testing::sort_loops_test {
namespace {

struct Fixture : Program {
  VarId a = input("a", 64);
  VarId c = output("c", 64);
  VarId b = buffer("b");
  VarId i = number("i");
  VarId j = number("j");
  VarId k = number("k");
  VarId n = number("n");

  [[nodiscard]] ExprRef at(std::int64_t of_i, std::int64_t of_j, std::int64_t of_k = 0) const {
    ExprRef index = add(mul(var(i), of_i), mul(var(j), of_j));
    return of_k == 0 ? index : add(std::move(index), mul(var(k), of_k));
  }
  [[nodiscard]] tir::Stmt copied() const { return loop(n, 64, block(store(c, var(n), load(b, var(n))))); }
  // The loops of the nest that stores to the buffer, from outside.
  std::string sorted(tir::Stmt nest) {
    body(block(allocate(b, 64), loop(n, 64, block(store(b, var(n), var(n)))), std::move(nest), copied()));
    sort_loops(changed(), op(), aliases());
    check_same();
    std::string order;
    for (const auto* one = std::get_if<tir::For>(&op().body[2].node); one != nullptr; one = tir::only_loop(one->body)) {
      order += changed().var(one->var).name;
    }
    return order;
  }
};

TEST_CASE_FIXTURE(Fixture, "sort_loops: the largest parts of what is stored are outside") {
  // Four channels of all pixels at once.
  CHECK(
      sorted(loop(i, 4, block(loop(j, 4, block(loop(k, 4, block(store(b, at(4, 16, 1), load(a, at(16, 4, 1)))))))))) ==
      "jik");
}

TEST_CASE_FIXTURE(Fixture, "sort_loops: terms stay in their order, inside, and neighbours innermost") {
  const ExprRef element = add(mul(var(j), 4), var(k));
  const ExprRef sum = sub(mul(load(b, element), 3), load(a, at(16, 4, 1)));
  CHECK(sorted(loop(i, 4, block(loop(j, 4, block(loop(k, 4, block(store(b, element, sum)))))))) == "jik");
}

TEST_CASE_FIXTURE(Fixture, "sort_loops: parts that loops inside fill") {
  const VarId m = number("m");
  const VarId t = number("t");
  CHECK(sorted(
            loop(i, 4,
                 block(loop(j, 2,
                            block(let(t, at(8, 32)),
                                  loop(m, 8, block(store(b, add(var(t), var(m)), load(a, add(var(t), var(m))))))))))) ==
        "ji");
}

TEST_CASE_FIXTURE(Fixture, "sort_loops: what does not change in the nest does not matter") {
  const VarId m = number("m");
  body(block(
      allocate(b, 64),
      loop(m, 4,
           block(loop(i, 4,
                      block(loop(j, 4, block(store(b, add(add(mul(var(m), 16), var(i)), mul(var(j), 4)), var(m)))))))),
      copied()));
  sort_loops(changed(), op(), aliases());
  check_same();
  CHECK(text().find("for m in [0, 4) {\n    for j in [0, 4) {\n      for i") != std::string::npos);
}

// --- Near misses: nothing is done ------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "sort_loops: not if iterations meet") {
  SUBCASE("elements of each other") {
    CHECK(sorted(
              loop(i, 4, block(loop(j, 4, block(loop(k, 4, block(store(b, at(3, 16, 1), load(a, at(16, 4, 1)))))))))) ==
          "ijk");
  }
  SUBCASE("in the part that loops inside fill") {
    const VarId m = number("m");
    CHECK(sorted(loop(
              i, 4,
              block(loop(j, 2, block(loop(m, 9, block(store(b, remainder(add(at(8, 32), var(m)), 64), var(i))))))))) ==
          "ijm");
  }
  SUBCASE("what another iteration stored is loaded") {
    const ExprRef before = remainder(add(at(4, 16), 48), 64);
    CHECK(sorted(loop(i, 4, block(loop(j, 4, block(store(b, at(4, 16), add(load(b, before), 1))))))) == "ij");
  }
  SUBCASE("what another iteration stores is loaded, in the order of other dimensions") {
    CHECK(sorted(loop(i, 4, block(loop(j, 4, block(store(b, at(4, 16), add(load(b, at(16, 4)), 1))))))) == "ij");
  }
  SUBCASE("the other way round") {
    CHECK(sorted(loop(i, 4, block(loop(j, 4, block(store(b, at(16, 4), add(load(b, at(4, 16)), 1))))))) == "ij");
  }
  SUBCASE("another element of the same") {
    CHECK(sorted(loop(i, 4, block(loop(j, 4, block(store(b, at(4, 16), load(b, add(at(4, 16), 1)))))))) == "ji");
  }
  SUBCASE("backwards") {
    CHECK(sorted(loop(i, 4, block(loop(j, 4, block(store(b, sub(tir::make_int(63), at(4, 16)), var(i))))))) == "ij");
  }
  SUBCASE("a bound that is no number") {
    CHECK(sorted(loop(i, 4, block(loop_to(j, add(remainder(load(a, 0), 3), 2), block(store(b, at(4, 16), var(i))))))) ==
          "ij");
  }
  SUBCASE("a bound that depends on the loop around it") {
    CHECK(sorted(loop(i, 4, block(loop_to(j, add(var(i), 1), block(store(b, at(4, 16), var(i))))))) == "ij");
  }
  SUBCASE("a loop that begins elsewhere") {
    CHECK(sorted(loop(i, 4, block(loop_from(j, 1, 3, block(store(b, at(4, 16), var(i))))))) == "ij");
  }
}

TEST_CASE_FIXTURE(Fixture, "sort_loops: parameters, and what shares bytes with what is stored, stay") {
  SUBCASE("a parameter") {
    body(block(loop(i, 4, block(loop(j, 4, block(loop(k, 4, block(store(c, at(4, 16, 1), var(k))))))))));
  }
  SUBCASE("two buffers in different orders") {
    const VarId d = buffer("d");
    body(block(
        allocate(b, 64), allocate(d, 64),
        loop(i, 4,
             block(
                 loop(j, 4, block(loop(k, 4, block(store(b, at(4, 16, 1), var(k)), store(d, at(16, 4, 1), var(k)))))))),
        loop(n, 64, block(store(c, var(n), add(load(b, var(n)), load(d, var(n))))))));
  }
  SUBCASE("and the other way round") {
    const VarId d = buffer("d");
    body(block(
        allocate(b, 64), allocate(d, 64),
        loop(i, 4,
             block(
                 loop(j, 4, block(loop(k, 4, block(store(b, at(16, 4, 1), var(k)), store(d, at(4, 16, 1), var(k)))))))),
        loop(n, 64, block(store(c, var(n), add(load(b, var(n)), load(d, var(n))))))));
  }
  sort_loops(changed(), op(), aliases());
  check_same();
  CHECK(is_unchanged());
}

// --- Tiles -----------------------------------------------------------------------------------------------------------

struct Tiles : Program {
  VarId a = input("a", 64);
  VarId c = output("c", 64);
  VarId row = number("row");
  VarId tile = number("tile");
  VarId half = number("half");
  VarId pixel = number("pixel");

  // 2 rows of 2 tiles of 4 pixels of 2 · 2 channels.
  [[nodiscard]] ExprRef at(std::int64_t of_tile = 16) const {
    return add(add(add(mul(var(row), 32), mul(var(tile), of_tile)), mul(var(pixel), 4)), mul(var(half), 2));
  }
  std::string joined(const ExprRef& to, const ExprRef& from) {
    body(block(loop(row, 2,
                    block(loop(tile, 2,
                               block(loop(half, 2,
                                          block(loop(pixel, 4,
                                                     block(store(c, to, load(a, from)),
                                                           store(c, add(to, 1), load(a, add(from, 1)))))))))))));
    join_tiles(changed(), op(), aliases());
    check_same();
    std::string order;
    for (const auto* one = std::get_if<tir::For>(&op().body[0].node); one != nullptr; one = tir::only_loop(one->body)) {
      order += changed().var(one->var).name + std::to_string(*tir::as_int(*one->extent)) + " ";
    }
    return order;
  }
};

TEST_CASE_FIXTURE(Tiles, "join_tiles: tiles and their pixels become one loop over pixels") {
  CHECK(joined(at(), at()) == "row2 pixel8 half2 ");
  CHECK(text().find("c[row * 32 + pixel * 4 + half * 2] =") != std::string::npos);
}

TEST_CASE_FIXTURE(Tiles, "join_tiles: not if something depends on the tile alone") {
  CHECK(joined(at(), at(12)) == "row2 tile2 pixel4 half2 ");
}

TEST_CASE_FIXTURE(Tiles, "join_tiles: loops that stand in order stay") {
  body(block(
      loop(row, 2,
           block(loop(tile, 2, block(loop(pixel, 4, block(loop(half, 2, block(store(c, at(), load(a, at()))))))))))));
  join_tiles(changed(), op(), aliases());
  CHECK(is_unchanged());
}

}  // namespace
}  // namespace usmp::transform::testing::sort_loops_test

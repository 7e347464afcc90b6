// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums that are jammed, as text, and near misses.
#include "shape/jam_sums.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "shape/loop_fixture.hpp"

namespace usmp::transform::testing::jam_sums_test {
namespace {

// for first <= i < first + sums: for j < count: y[at] = y[at] + term
struct JamFixture : LoopFixture {
  std::int64_t first = 0;
  std::int64_t sums = 8;
  std::int64_t count = 16;
  bool alone = true;
  ExprRef at = add(tir::make_int(32), var(i));
  ExprRef term = mul(x_at(var(j)), x_at(add(mul(var(i), 16), var(j))));

  bool made_of_sums() {
    body(
        block(filled(), loop_from(i, first, sums, block(loop(j, count, block(store(y, at, add(load(y, at), term))))))));
    for (tir::Param& param : op().params) param.no_alias = alone;
    return made(shape::jam_sums);
  }
};

TEST_CASE_FIXTURE(JamFixture, "jam: four sums in one loop") {
  REQUIRE(made_of_sums());
  CHECK(text() == R"(
  for n in [0, 512) {
    y[n] = n
  }
  for i in [0, 2) {
    for j in [0, 16) {
      y[32 + i * 4] = y[32 + i * 4] + int32(x[j]) * int32(x[i * 4 * 16 + j])
      y[32 + (i * 4 + 1)] = y[32 + (i * 4 + 1)] + int32(x[j]) * int32(x[(i * 4 + 1) * 16 + j])
      y[32 + (i * 4 + 2)] = y[32 + (i * 4 + 2)] + int32(x[j]) * int32(x[(i * 4 + 2) * 16 + j])
      y[32 + (i * 4 + 3)] = y[32 + (i * 4 + 3)] + int32(x[j]) * int32(x[(i * 4 + 3) * 16 + j])
    }
  }
)");
}

TEST_CASE_FIXTURE(JamFixture, "jam: as many as there are") {
  std::int64_t width = 0;
  SUBCASE("three of six") {
    sums = 6;
    width = 3;
  }
  SUBCASE("two of ten") {
    sums = 10;
    width = 2;
  }
  SUBCASE("two") {
    sums = 2;
    width = 2;
  }
  REQUIRE(made_of_sums());
  const auto& outer = std::get<tir::For>(op().body[1].node);
  CHECK(tir::as_int(*outer.extent) == sums / width);
  CHECK(std::get<tir::For>(outer.body[0].node).body.size() == static_cast<std::size_t>(width));
}

TEST_CASE_FIXTURE(JamFixture, "jam: everything else stays") {
  SUBCASE("a number of sums that nothing divides") { sums = 7; }
  SUBCASE("short sums") { count = 15; }
  SUBCASE("sums that begin with another number") { first = 1; }
  SUBCASE("another pointer to the sums") { alone = false; }
  SUBCASE("a term that reads sums") { term = load(y, quotient(var(j), 2)); }
  SUBCASE("sums of several elements each") { at = add(var(i), var(j)); }
  SUBCASE("sums that share an element") { at = quotient(var(i), 2); }
  SUBCASE("sums further apart") { at = mul(var(i), 3); }
  SUBCASE("one sum") { at = tir::make_int(5); }
  SUBCASE("places that are one after all") { at = add(var(i), mul(var(i), -1)); }
  SUBCASE("a place that reads sums") { at = add(var(i), remainder(load(y, tir::make_int(511)), 4)); }
  SUBCASE("a term that reads sums between other things") {
    term = mul(mul(x_at(var(j)), load(y, quotient(var(j), 2))), x_at(var(j)));
  }
  SUBCASE("a place that mentions the number of the sum twice") { at = sub(add(var(i), var(i)), var(i)); }
  CHECK_FALSE(made_of_sums());
}

TEST_CASE_FIXTURE(JamFixture, "jam: loops that hold more") {
  const tir::Stmt sum = store(y, at, add(load(y, at), term));
  SUBCASE("two statements in the inner one") {
    body(block(filled(), loop(i, 8, block(loop(j, 16, block(sum, store(y, tir::make_int(0), var(j))))))));
  }
  SUBCASE("two statements in the outer one") {
    body(block(filled(), loop(i, 8, block(store(y, at, tir::make_int(0)), loop(j, 16, block(sum))))));
  }
  SUBCASE("an inner one that begins elsewhere for each sum") {
    body(block(filled(), loop(i, 8, block(tir::Stmt{tir::For{j, var(i), tir::make_int(16), block(sum)}}))));
  }
  SUBCASE("no sum") { body(block(filled(), loop(i, 8, block(loop(j, 16, block(store(y, at, term))))))); }
  for (tir::Param& param : op().params) param.no_alias = true;
  CHECK_FALSE(made(shape::jam_sums));
}

}  // namespace
}  // namespace usmp::transform::testing::jam_sums_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums in blocks: the calls that are made, and what the interpreter computes before and after.
#include "kernels/blocks.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "kernels/kernel_fixture.hpp"

namespace usmp::transform::testing::kernels_test {
namespace {

TEST_CASE_FIXTURE(KernelFixture, "kernels: four sums and four terms at a time, one stream of weights") {
  program(block(zeros(), nest()));
  REQUIRE(blocked());
  CHECK(has("dot_run<>(sum[0], data[5], weight[0], 0, 2, 96, 6, 0, 4)"));
  CHECK_FALSE(has("sum[first] = 0"));
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: terms that are left over, in windows of rows") {
  terms = 7;
  weight_at = add(add(mul(var(s), rows * terms), mul(var(r), terms)), var(k));
  std::string expected = "window_run<>(sum[0], data[5], weight[0], 0, 2, 21, 1, 0, 0, 21, 0)";
  SUBCASE("a row after the other") {}
  SUBCASE("with a zero point and rows that are apart") {
    offset = -3;
    data_at = add(mul(var(r), 20), var(k));
    expected = "window_run<>(sum[0], data[0], weight[0], 0, 2, 21, 3, 20, 7, 7, -3)";
  }
  SUBCASE("one row") {
    rows = 1;
    weight_at = add(mul(var(s), terms), var(k));
    expected = "window_run<>(sum[0], data[5], weight[0], 0, 2, 7, 1, 7, 0, 7, 0)";
  }
  program(block(zeros(), nest()));
  REQUIRE(blocked());
  CHECK(has(expected));
  CHECK_FALSE(has("sum[first] = 0"));
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: every number of sums and terms") {
  for (sums = 1; sums <= 9; ++sums) {
    for (terms = 1; terms <= 9; ++terms) {
      KernelFixture one;
      one.sums = sums;
      one.terms = terms;
      one.offset = terms % 2 == 0 ? 0 : -128;
      one.program(block(one.zeros(), one.nest()));
      CHECK(one.blocked() == (terms >= 2 || sums % 4 == 0));
    }
  }
}

TEST_CASE("kernels: data and weights of 16 bits") {
  for (const tir::DataType data : {int16_type, int8_type, tir::uint8_type}) {
    for (const tir::DataType weight : {int16_type, int8_type, tir::uint8_type}) {
      for (std::int64_t i = 0; i < 6; ++i) {
        KernelFixture one(data, weight);
        one.sums = i < 3 ? 8 : 7;
        one.terms = i % 3 == 0 ? 8 : 7;
        if (i % 3 == 2) {  // lanes
          one.data_at = add(add(mul(one.var(one.r), 96), mul(one.var(one.k), 12)), one.var(one.s));
        }
        one.program(block(one.zeros(), one.nest()));
        CHECK(one.blocked());
      }
    }
  }
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: sums that begin with what is there") {
  const VarId n = number("n");
  const tir::Stmt filled = loop(n, 64, block(store(sum, var(n), mul(var(n), 3))));
  SUBCASE("in registers") {
    terms = 7;
    weight_at = add(add(mul(var(s), rows * terms), mul(var(r), terms)), var(k));
    program(block(filled, nest()));
  }
  SUBCASE("without a loop in front") { program(block(filled, nest())); }
  SUBCASE("a loop over fewer") {
    program(block(filled, loop(first, 7, block(store(sum, var(first), tir::make_int(0)))), nest()));
  }
  SUBCASE("a loop over others") {
    program(block(filled, loop(first, 8, block(store(sum, add(var(first), 1), tir::make_int(0)))), nest()));
  }
  REQUIRE(blocked());
  CHECK((has("window_run<>(sum[0], data[5], weight[0], 1, ") || has("dot_run<>(sum[0], data[5], weight[0], 1, ")));
}

// Rows outside of [0, 4) of the data are left out, for each of six outputs.
TEST_CASE("kernels: borders") {
  for (std::int64_t i = 0; i < 16; ++i) {
    KernelFixture one;
    one.terms = i / 2 + 1;
    one.sums = i % 2 == 0 ? 8 : 6;
    const VarId j = one.number("j");
    const ExprRef low = larger(imm(0), sub(imm(1), one.var(j)));
    one.begin = low;
    one.length = sub(smaller(imm(3), sub(imm(5), one.var(j))), low);
    one.data_at =
        add(mul(sub(add(one.var(j), one.var(one.r)), 1), one.terms + (one.terms > 4 ? i % 3 : 0)), one.var(one.k));
    one.sum_at = add(mul(one.var(j), one.sums), one.var(one.s));
    const tir::Stmt zeros = one.loop(
        one.first, one.sums, block(one.store(one.sum, add(mul(one.var(j), one.sums), one.var(one.first)), imm(0))));
    one.program(block(one.loop(j, 6, block(zeros, one.nest()))));
    CHECK(one.blocked());
    const bool begins_at_0 = one.text().find("window_run") != std::string::npos;  // whatever rows there are
    CHECK(begins_at_0 != (one.text().find("= 0\n") != std::string::npos));
  }
}

TEST_CASE_FIXTURE(RingFixture, "kernels: windows of a ring") {
  in_windows(nest());
  REQUIRE(blocked());
  CHECK(has("dot_run"));
  CHECK(has("let place"));
  CHECK(has("if part < count"));
  CHECK_FALSE(has("sum[j * 4 + first] = 0"));
}

TEST_CASE_FIXTURE(RingFixture, "kernels: a place in a ring is unsigned where it is proved") {
  const auto changed_text = [&] {
    in_windows(nest());
    REQUIRE(blocked());
    CHECK(has("let place"));
    return text();
  };
  SUBCASE("never below 0") { CHECK(changed_text().find("uint32") != std::string::npos); }
  SUBCASE("below 0 at first") {
    const ExprRef number = sub(add(var(j), var(r)), 4);
    data_at = add(mul(remainder(number, imm(9)), terms), var(k));
    CHECK(changed_text().find("uint32") == std::string::npos);
  }
}

TEST_CASE_FIXTURE(RingFixture, "kernels: windows of a ring whose pixels are not side by side") {
  SUBCASE("part of each") { data_at = add(mul(place, 16), var(k)); }
  SUBCASE("more than the ring has") {
    data_at = add(mul(binary(ExprKind::mod, add(var(j), var(r)), imm(2)), terms), var(k));
  }
  SUBCASE("every other") {
    data_at = add(mul(binary(ExprKind::mod, add(var(j), mul(var(r), 2)), imm(9)), terms), var(k));
  }
  in_windows(nest());
  REQUIRE(blocked());
  CHECK(has("dot_run"));
  CHECK_FALSE(has("let place"));
}

TEST_CASE_FIXTURE(RingFixture, "kernels: windows of a ring, lanes") {
  whole_windows = false;
  terms = 1;
  offset = -7;
  SUBCASE("side by side") { data_at = add(mul(place, 4), var(s)); }
  SUBCASE("apart") { data_at = add(mul(place, 12), var(s)); }
  weight_at = add(mul(var(r), 4), var(s));
  const tir::Stmt lanes = loop(s, 4, block(store(sum, sum_at, add(load(sum, sum_at), term()))));
  in_windows({tir::For{r, begin, length, block(lanes)}});
  REQUIRE(blocked());
  CHECK(has("lane_run"));
  CHECK(has("let place"));
}

// Their sums are set to 0 where no window has a term.
TEST_CASE_FIXTURE(KernelFixture, "kernels: loops that may not run") {
  const VarId j = number("j");
  length = sub(imm(3), var(j));
  sum_at = add(mul(var(j), 8), var(s));
  const tir::Stmt clear = loop(first, 8, block(store(sum, add(mul(var(j), 8), var(first)), imm(0))));
  program(block(loop(j, 5, block(clear, nest()))));
  REQUIRE(blocked());
  CHECK(has("dot_run"));
  CHECK(has("sum[j * 8 + first] = 0"));
}

// weight[…] of a run of eight terms, in fours of the sums of a block.
TEST_CASE_FIXTURE(KernelFixture, "kernels: runs need weights in fours of sums, one after the other") {
  ExprRef lane = remainder(var(s), 4);
  bool is_run = true;
  SUBCASE("as they should be") {}
  SUBCASE("sums the other way round") {
    lane = sub(imm(3), remainder(var(s), 4));
    is_run = false;
  }
  SUBCASE("two terms beyond the last four") {
    terms = 6;
    is_run = false;
  }
  weight_at = add(add(mul(quotient(var(s), 4), 96), mul(var(r), 32)), add(mul(quotient(var(k), 4), 16), mul(lane, 4)));
  weight_at = add(weight_at, remainder(var(k), 4));
  tir::Block all = block(constant(192), zeros(), nest());
  body(std::move(all));
  for (tir::Param& param : op().params) param.no_alias = true;
  kernels::block_sums(changed(), core());
  check_same();
  CHECK(has("dot_run") == is_run);
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: weights that are side by side already stay") {
  weight_at = add(add(mul(var(s), rows * terms), mul(var(r), terms)), var(k));
  sums = 3;
  program(block(zeros(), nest()));
  REQUIRE(blocked());
  CHECK(text().find("weight[") != std::string::npos);
}

struct LanesFixture : KernelFixture {
  LanesFixture() {
    data_at = add(add(mul(var(r), 64), mul(var(k), 8)), var(s));
    weight_at = add(add(mul(var(r), terms * sums), mul(var(k), sums)), var(s));
  }
};

TEST_CASE("kernels: four lanes at a time") {
  for (std::int64_t sums = 1; sums <= 9; ++sums) {
    for (const std::int64_t offset : {0, 3, -255}) {
      KernelFixture one;
      one.sums = sums;
      one.offset = offset;
      one.data_at = add(add(mul(one.var(one.r), 96), mul(one.var(one.k), 12)), one.var(one.s));
      one.program(block(one.zeros(), one.nest()));
      CHECK(one.blocked() == (sums >= 4));
    }
  }
}

TEST_CASE_FIXTURE(LanesFixture, "kernels: data or weights that are not side by side") {
  SUBCASE("data") { data_at = add(add(mul(var(r), 128), mul(var(k), 16)), mul(var(s), 2)); }
  SUBCASE("weights") { weight_at = add(mul(add(mul(var(r), terms), var(k)), 8), sub(imm(7), var(s))); }
  program(block(zeros(), nest()));
  CHECK_FALSE(blocked());
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: what stays") {
  SUBCASE("another pointer to the sums") { alone = false; }
  SUBCASE("sums that share an element") { sum_at = quotient(var(s), 2); }
  SUBCASE("sums apart") { sum_at = mul(var(s), 2); }
  SUBCASE("sums in the place of their terms") { sum_at = add(var(s), mul(var(k), 8)); }
  SUBCASE("data further apart") { data_at = add(mul(var(r), 64), mul(var(k), 2)); }
  SUBCASE("a number too large for 16 bits") { offset = 32600; }
  SUBCASE("a number beside 16 bits") {
    data = input("halves", 512, int16_type);
    offset = 1;
  }
  SUBCASE("16 bits without a sign") {
    data = input("halves", 512, tir::DataType{tir::TypeCode::uint, 16, 1});
    offset = -32768;
  }
  const VarId n = number("n");
  program(block(loop(n, 64, block(store(sum, var(n), imm(0)))), nest()));
  CHECK_FALSE(blocked());
}

// Which no pass has laid out: those of four terms are not side by side.
TEST_CASE_FIXTURE(KernelFixture, "kernels: weights in another order") {
  program(block(zeros(), nest()));
  kernels::block_sums(changed(), core());
  check_same();
  CHECK(text().find("dot4") == std::string::npos);
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: a cast that cuts") {
  const tir::DataType uint16{tir::TypeCode::uint, 16, 1};
  const ExprRef low = sub(tir::make_cast(int16_type, load(data, add(mul(var(r), terms), var(k)))), 7);
  const ExprRef own = add(add(mul(var(r), terms * sums), mul(var(k), sums)), var(s));
  const ExprRef product = mul(tir::make_cast(int32_type, tir::make_cast(uint16, low)), wide(weight, own));
  tir::Stmt cut = loop(
      r, rows, block(loop(k, terms, block(loop(s, sums, block(store(sum, var(s), add(load(sum, var(s)), product))))))));
  program(block(zeros(), cut));
  CHECK_FALSE(blocked());
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: data that are the sums") {
  const VarId bytes = same_storage("bytes", sum);

  data = bytes;
  program(block(zeros(), nest()));
  for (tir::Param& param : op().params) param.no_alias = false;
  kernels::block_sums(changed(), core());
  CHECK(is_unchanged());
}

// The loops inside are a sum of their own.
TEST_CASE_FIXTURE(KernelFixture, "kernels: a bound that is read") {
  length = smaller(load(sum, 7), imm(0));
  weight_at = add(add(mul(var(s), rows * terms), mul(var(r), terms)), var(k));
  program(block(zeros(), nest()));
  REQUIRE(blocked());
  CHECK(text().find("for r in [0, min(sum[7], 0))") != std::string::npos);
}

}  // namespace
}  // namespace usmp::transform::testing::kernels_test

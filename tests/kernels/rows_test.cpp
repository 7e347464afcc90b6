// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums of products of cores with vectors: rows of weights, and small windows that are copied.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "kernels/kernel_fixture.hpp"

namespace usmp::transform::testing::rows_test {
namespace {

using namespace kernels_test;

// Rows of the window are apart, so that the nest is no single run.
struct RowsFixture : KernelFixture {
  explicit RowsFixture(tir::DataType data_type = tir::uint8_type, tir::DataType type = int8_type)
      : KernelFixture(data_type, type) {
    in_rows = true;
  }
  void apart() { data_at = add(add(mul(var(r), terms + 9), var(k)), 5); }
};

TEST_CASE_FIXTURE(RowsFixture, "rows: one run of all terms") {
  program(block(zeros(), nest()));
  REQUIRE(blocked());
  CHECK(has("row_run<>(sum[0], data[5], weight[0], 0, 8, 24, 24, 0, -128)"));
  CHECK_FALSE(has("sum[first] = 0"));
}

TEST_CASE("rows: every number of sums and terms, any types and zero points") {
  for (const tir::DataType data : {int16_type, int8_type, tir::uint8_type}) {
    for (const tir::DataType weight : {int16_type, int8_type, tir::uint8_type}) {
      for (std::int64_t i = 1; i < 40; i += 3) {
        RowsFixture one(data, weight);
        one.sums = i % 9 + 1;
        one.terms = i;
        one.rows = i % 3 + 1;
        one.offset = data.bits == 16 ? 0 : i % 2 == 0 ? 128 : -83;
        if (i % 4 == 0) one.apart();
        one.program(block(one.zeros(), one.nest()));
        CHECK(one.blocked());
        CHECK(one.has("row_run"));
      }
    }
  }
}

TEST_CASE_FIXTURE(RowsFixture, "rows: a small window is copied") {
  apart();
  bool is_copied = true;
  std::string call = "row_run<>(sum[0], window[0], weight[0], 0, 8, 24, 24, ";
  SUBCASE("a whole one") { call += "0, -128)"; }
  SUBCASE("of 100 bytes, in two parts") {
    rows = 10;
    terms = 10;
    call = "row_run<>(sum[0], window[0], weight[50], 1, 8, 100, 50, ";
  }
  SUBCASE("of more than 128 bytes") {
    rows = 17;
    is_copied = false;
    call = "row_run";
  }
  SUBCASE("of 66 bytes, rows of more than half") {
    rows = 2;
    terms = 33;
    is_copied = false;
    call = "row_run";
  }
  SUBCASE("of terms that share a weight") {
    weight_at = add(mul(var(k), sums), var(s));
    weights = terms * sums;
    is_copied = false;
    call = "row_run";
  }
  SUBCASE("of terms some of which share a weight") {
    weight_at = add(add(mul(var(s), 16), mul(var(r), 4)), var(k));
    weights = 16 * sums;
    is_copied = false;
    call = "row_run";
  }
  SUBCASE("with a zero point that no byte is") {
    offset = 1;
    is_copied = false;
    call = "row_run";
  }
  program(block(zeros(), nest()));
  const bool made = blocked();
  CHECK(has("window[") == is_copied);
  if (is_copied) CHECK(made);
  if (is_copied) CHECK(has(call));
}

// For each j a window of up to three rows, of which borders leave two at times: what they leave out is a zero point.
TEST_CASE("rows: windows that the border cuts") {
  for (const std::int64_t zero_point : {0, 128, -83}) {
    for (const std::int64_t terms : {8, 9, 30}) {
      RowsFixture one(zero_point == 0 ? tir::uint8_type : int8_type);
      const VarId j = one.number("j");
      one.offset = zero_point;
      one.terms = terms;
      one.sums = 5;
      one.begin = larger(imm(0), sub(imm(1), one.var(j)));
      one.length = sub(smaller(imm(3), sub(imm(13), one.var(j))), one.begin);
      one.sum_at = add(mul(one.var(j), one.sums), one.var(one.s));
      one.data_at = add(add(mul(add(one.var(j), one.var(one.r)), terms + 2), one.var(one.k)), 5);
      tir::Stmt clear = one.loop(one.first, one.sums,
                                 block(one.store(one.sum, add(mul(one.var(j), one.sums), one.var(one.first)), imm(0))));
      one.program(block(one.loop(j, 12, block(std::move(clear), one.nest()))));
      CHECK(one.blocked());
      CHECK(one.has("window["));
      CHECK(one.has("row_run"));
    }
  }
}

// Of weights that lie sum by sum for lack of whole fours, too, where many sums share the copy.
TEST_CASE("rows: windows that are copied for words") {
  RowsFixture one;
  one.in_rows = false;
  const VarId j = one.number("j");
  one.offset = -83;
  one.terms = 4;
  one.sums = 32;
  one.rows = 10;
  const std::string call = "window_run<>(sum[0], window[0], weight[0], 0, 8, 40, 1, 0, 0, 40, -83)";
  bool is_for_words = true;
  bool copies = true;
  SUBCASE("ten rows") {}
  SUBCASE("for a core that copies none") { is_for_words = copies = false; }
  SUBCASE("few sums") {
    one.sums = 4;
    copies = false;
  }
  SUBCASE("more than 64 bytes") {
    one.rows = 17;
    copies = false;
  }
  SUBCASE("long rows") {
    one.rows = 2;
    one.terms = 20;
    copies = false;
  }
  one.begin = larger(imm(0), sub(imm(2), one.var(j)));
  one.length = sub(imm(one.rows), one.begin);
  one.data_at = add(add(mul(one.var(one.r), one.terms + 2), one.var(one.k)), one.var(j));
  one.weight_at = add(add(mul(one.var(one.s), one.rows * one.terms), mul(one.var(one.r), one.terms)), one.var(one.k));
  one.program(block(one.loop(j, 3, block(one.zeros(), one.nest()))));
  kernels::Core core = one.core();
  core.whole_windows = is_for_words;
  kernels::block_sums(one.changed(), core);
  one.check_same();
  CHECK(one.has("window_run"));
  CHECK(one.has("window[") == copies);
  if (copies) CHECK(one.has(call));
}

TEST_CASE("rows: windows of rings") {
  RingFixture one;
  one.in_rows = true;
  one.in_windows(one.nest());
  CHECK(one.blocked());
  CHECK(one.has("row_run"));
}

}  // namespace
}  // namespace usmp::transform::testing::rows_test

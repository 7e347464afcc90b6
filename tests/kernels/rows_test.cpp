// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums of products of cores with vectors: rows of weights.
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

TEST_CASE("rows: windows of rings") {
  RingFixture one;
  one.in_rows = true;
  one.in_windows(one.nest());
  CHECK(one.blocked());
  CHECK(one.has("row_run"));
}

}  // namespace
}  // namespace usmp::transform::testing::rows_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sums of 64 bits in parts of 32, with the data and weights that come nearest to overflow.
#include "kernels/wide_sums.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "kernels/kernel_fixture.hpp"

namespace usmp::transform::testing::wide_sums_test {
namespace {

using namespace kernels_test;

// For each j int64 sums of products of int16 data, all of them `element` if it is set, as far from 0 as can be.
struct WideFixture : KernelFixture {
  explicit WideFixture(tir::DataType data_type = tir::int16_type, tir::DataType type = int8_type)
      : KernelFixture(data_type, type) {
    sum = output("wide", 256, int64_type);
    data = input("more", most_data, data_type);
    filled = buffer("filled", data_type);
    rows = 1;
    terms = 1024;
  }

  static constexpr std::int64_t most_data = 5000;
  VarId filled;
  VarId j = number("j");
  VarId i = number("i");
  std::int64_t pixels = 1;
  std::int64_t element = 0;
  std::function<int(std::int64_t term, std::int64_t sum)> weight_of = [](std::int64_t, std::int64_t) { return -128; };
  ExprKind kind = ExprKind::mul;
  bool has_weights = true;                // that are constant
  tir::DataType weight_type = int8_type;  // of those that are not
  std::int64_t apart = 1;                 // sums
  ExprRef inner_length = nullptr;         // null: terms

  [[nodiscard]] ExprRef wide_term() const {
    const auto factor = [&](VarId storage, const ExprRef& at) { return tir::make_cast(int64_type, load(storage, at)); };
    const ExprRef x = factor(element != 0 ? filled : data, data_place());
    const ExprRef centred = offset != 0 ? add(x, tir::make_int(offset, int64_type)) : x;
    return binary(kind, centred, factor(weight, weight_place()));
  }
  [[nodiscard]] tir::Stmt constant_weights() const {
    tir::Stmt made = constant(weights != 0 ? weights : rows * terms * sums);
    auto& declared = std::get<tir::AllocateConst>(made.node);
    tir::Constant changed = *declared.data;
    for (std::size_t at = 0; weight_of && at < changed.bytes.size(); ++at) {
      const auto number = static_cast<std::int64_t>(at);
      changed.bytes[at] = static_cast<char>(weight_of(number / sums, number % sums));
    }
    declared.data = std::make_shared<const tir::Constant>(std::move(changed));
    return made;
  }
  void program_with() {
    const auto place = [&](const ExprRef& number) { return add(mul(var(j), sums), mul(number, apart)); };
    const tir::Stmt update = store(sum, place(var(s)), add(load(sum, place(var(s))), wide_term()));
    tir::For inner{k, imm(0), inner_length != nullptr ? inner_length : imm(terms), block(loop(s, sums, block(update)))};
    tir::For outer{r, begin, length != nullptr ? length : imm(rows), block(tir::Stmt{std::move(inner)})};
    tir::Stmt clear = loop(first, sums, block(store(sum, place(var(first)), tir::make_int(3, int64_type))));
    tir::Block all;
    if (has_weights) {
      all.push_back(constant_weights());
    } else {
      weight = input("weights", rows * terms * sums, weight_type);
    }
    const ExprRef value = tir::make_int(element, module().var(filled).element);
    all.push_back(allocate(filled, most_data));
    all.push_back(loop(i, most_data, block(store(filled, var(i), value))));
    all.push_back(loop(j, pixels, block(std::move(clear), tir::Stmt{std::move(outer)})));
    body(std::move(all));
  }
  bool parted() {
    kernels::part_wide_sums(changed());
    if (is_unchanged()) return false;
    check_same();
    return has("wide_part[");
  }
};

// 512 times 128 times 32768 is 1 more than int32 holds.
TEST_CASE("wide sums: as few pieces of a loop as fit, whatever the data are") {
  for (const std::int64_t element : {-32768, 32767}) {
    for (const bool fits : {true, false}) {
      WideFixture one;
      one.element = element;
      one.sums = 2;
      one.weight_of = [&](std::int64_t term, std::int64_t sum) {
        const bool is_smaller = term == 100 || (term == 700 && (fits || sum == 0));
        return is_smaller ? -127 : -128;
      };
      one.program_with();
      REQUIRE(one.parted());
      CHECK(one.has(fits ? "for k_part in [0, 2)" : "for k_part in [0, 4)"));
    }
  }
}

TEST_CASE_FIXTURE(WideFixture, "wide sums: pieces that fours divide come first") {
  SUBCASE("of 1200 terms") {
    terms = 1200;
    program_with();
    REQUIRE(parted());
    CHECK(has("for k_part in [0, 3)"));
    CHECK(has("for k in [0, 400)"));
  }
  SUBCASE("of 1204, 301 in a piece would do") {
    terms = 1204;
    program_with();
    REQUIRE(parted());
    CHECK(has("for k_part in [0, 7)"));
    CHECK(has("for k in [0, 172)"));
  }
  SUBCASE("of 1005 none does") {
    terms = 1005;
    program_with();
    REQUIRE(parted());
    CHECK(has("for k_part in [0, 3)"));
    CHECK(has("for k in [0, 335)"));
  }
  SUBCASE("1009 is prime: each is a part, of too few terms") {
    terms = 1009;
    program_with();
    CHECK_FALSE(parted());
  }
}

TEST_CASE_FIXTURE(WideFixture, "wide sums: the rows of a window, of which borders leave some out") {
  pixels = 4;
  rows = 3;
  terms = 300;
  element = -32768;
  begin = larger(imm(0), sub(imm(1), var(j)));
  length = sub(smaller(imm(3), sub(imm(5), var(j))), begin);
  program_with();
  REQUIRE(parted());
  CHECK(has("for k in [0, 300)"));
  CHECK_FALSE(has("k_part"));
  kernels::lay_out_weights(changed(), core());
  check_same();
  CHECK(blocked_as_laid_out());
  CHECK(has("dot_run<>(wide_part[0]"));
}

TEST_CASE_FIXTURE(WideFixture, "wide sums: each row is a part, not a piece of rows") {
  rows = 3;
  terms = 300;
  program_with();
  REQUIRE(parted());
  CHECK_FALSE(has("r_part"));
}

TEST_CASE_FIXTURE(WideFixture, "wide sums: several rows are a part") {
  rows = 6;
  terms = 150;
  program_with();
  REQUIRE(parted());
  CHECK(has("for r_part in [0, 2)"));
  CHECK(has("for r in [0, 3)"));
}

TEST_CASE_FIXTURE(WideFixture, "wide sums: all terms are one part if they fit") {
  terms = 400;
  program_with();
  REQUIRE(parted());
  CHECK_FALSE(has("k_part"));
}

TEST_CASE("wide sums: any numbers, types and zero points") {
  for (const tir::DataType data : {tir::int16_type, int8_type, tir::uint8_type}) {
    for (std::int64_t terms = 16; terms < 1500; terms += 148) {
      for (const std::int64_t rows : {1, 2, 3}) {
        WideFixture one(data);
        one.rows = rows;
        one.terms = terms;
        one.weight_of = nullptr;
        one.sums = 4;
        one.offset = data == int8_type ? 128 : data == tir::uint8_type ? -128 : 0;
        one.program_with();
        CAPTURE(terms);
        CAPTURE(rows);
        CHECK(one.parted());
        kernels::lay_out_weights(one.changed(), one.core());
        one.check_same();
        CHECK(one.blocked_as_laid_out());
      }
    }
  }
}

// Each j has weights of its own; those of the second one are larger.
TEST_CASE("wide sums: blocks of sums") {
  for (const int larger : {-64, -128}) {
    WideFixture one;
    one.element = -32768;
    one.pixels = 2;
    one.weights = 2 * 1024 * 8;
    one.weight_of = [&](std::int64_t term, std::int64_t) { return term < 1024 ? -60 : larger; };
    one.weight_at = add(one.weight_place(), mul(one.var(one.j), 1024 * 8));
    one.program_with();
    REQUIRE(one.parted());
    CHECK(one.has("for k_part in [0, 4)") == (larger == -128));
  }
}

TEST_CASE_FIXTURE(WideFixture, "wide sums: 64 sums") {
  sums = 64;
  terms = 32;
  program_with();
  CHECK(parted());
}

TEST_CASE("wide sums: nests that stay") {
  WideFixture one;
  SUBCASE("65 sums") {
    one.sums = 65;
    one.terms = 32;
  }
  SUBCASE("15 terms") { one.terms = 15; }
  SUBCASE("a constant that ends early") { one.weights = 8191; }
  SUBCASE("weights that are not constant") { one.has_weights = false; }
  SUBCASE("weights that begin in front of the constant") { one.weight_at = sub(one.weight_place(), imm(1)); }
  SUBCASE("weights that lie the other way round") {
    one.weight_at = add(mul(sub(imm(1023), one.var(one.k)), 8), one.var(one.s));
  }
  SUBCASE("weights that something else numbers so that they overlap") {
    one.pixels = 2;
    one.weights = 8200;
    one.weight_at = add(one.weight_place(), one.var(one.j));
  }
  SUBCASE("terms that share weights, more than there are") {
    one.weights = 8;
    one.weight_at = one.var(one.s);
  }
  SUBCASE("bounds that depend on another loop") { one.inner_length = add(one.var(one.r), imm(1024)); }
  SUBCASE("sums that are apart") { one.apart = 2; }
  SUBCASE("data with a number that 16 bits do not hold") { one.offset = std::int64_t{1} << 40; }
  SUBCASE("terms that are no products") { one.kind = ExprKind::sub; }
  SUBCASE("weights that have 64 bits") {
    one.has_weights = false;
    one.weight_type = int64_type;
  }
  one.program_with();
  CHECK_FALSE(one.parted());
}

TEST_CASE_FIXTURE(KernelFixture, "wide sums: sums of 32 bits stay") {
  terms = 32;
  program(block(zeros(), nest()));
  kernels::part_wide_sums(changed());
  CHECK(is_unchanged());
}

TEST_CASE("wide sums: weights of 16 bits are few terms") {
  WideFixture one(tir::int16_type, tir::int16_type);
  one.program_with();
  CHECK_FALSE(one.parted());
}

}  // namespace
}  // namespace usmp::transform::testing::wide_sums_test

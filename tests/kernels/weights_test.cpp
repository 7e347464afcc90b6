// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Weights in the order in which their sums read them: bytes written down, and results against those before.
#include "kernels/weights.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "kernels/product_sum.hpp"
#include "transform/program.hpp"

namespace usmp::transform::testing::weights_test {
namespace {

// for s: for k: sum[s] = sum[s] + data[k] * weight[…]
struct WeightsFixture : Program {
  VarId data = input("data", 64, tir::uint8_type);
  VarId sum = output("sum", 64);
  VarId s = number("s");
  VarId k = number("k");
  std::int64_t sums = 3;
  std::int64_t terms = 5;
  bool in_rows = false;
  std::int64_t zero_point = 0;  // of the data
  std::shared_ptr<const tir::Constant> bytes = made(15);

  static std::shared_ptr<const tir::Constant> made(std::int64_t elements) {
    tir::Constant constant{int8_type, {elements}, {}};
    for (std::int64_t i = 0; i < elements; ++i) constant.bytes.push_back(static_cast<char>(i));
    return std::make_shared<const tir::Constant>(std::move(constant));
  }
  [[nodiscard]] tir::Stmt constant(VarId weight) const { return {tir::AllocateConst{weight, int8_type, bytes, {}}}; }
  tir::Stmt nest(VarId weight, const ExprRef& at) {
    const ExprRef value = tir::make_cast(int32_type, load(data, var(k)));
    const ExprRef product =
        mul(zero_point == 0 ? value : sub(value, imm(zero_point)), tir::make_cast(int32_type, load(weight, at)));
    return loop(k, terms, block(loop(s, sums, block(store(sum, var(s), add(load(sum, var(s)), product))))));
  }
  tir::Stmt zeros() {
    const VarId n = number("n");
    return loop(n, 64, block(store(sum, var(n), imm(0))));
  }
  [[nodiscard]] ExprRef by_terms() const { return add(mul(var(k), sums), var(s)); }

  bool laid_out() {
    kernels::lay_out_weights(changed(), {.name = "some", .in_rows = in_rows, .paired_terms = 0});
    check_same();
    return !is_unchanged();
  }
  std::string stored(VarId weight) {
    std::string all;
    tir::for_each_stmt(op().body, [&](const tir::Stmt& stmt) {
      const auto* found = std::get_if<tir::AllocateConst>(&stmt.node);
      if (found == nullptr || found->var != weight) return;
      for (const char byte : found->data->bytes) all += std::to_string(static_cast<int>(byte)) + " ";
    });
    return all;
  }
};

TEST_CASE_FIXTURE(WeightsFixture, "names for parts of indices in a sum go, others stay") {
  const VarId weight = pointer("weight", int8_type);
  const VarId t = number("t");
  const VarId u = number("u");
  const ExprRef product =
      mul(tir::make_cast(int32_type, load(data, var(k))), tir::make_cast(int32_type, load(weight, var(u))));
  const auto nest = [&](const ExprRef& named) {
    return loop(k, terms,
                block(loop(s, sums,
                           block(let(t, mul(var(k), sums)), let(u, named),
                                 store(sum, var(s), add(load(sum, var(s)), product))))));
  };
  SUBCASE("of variables") {
    body(block(constant(weight), zeros(), nest(add(var(t), var(s)))));
    kernels::expand_names_in_sums(changed());
    CHECK(text().find("let") == std::string::npos);
    check_same();
    CHECK(laid_out());
  }
  SUBCASE("of what is loaded") {
    body(block(constant(weight), zeros(), nest(remainder(tir::make_cast(int32_type, load(data, var(t))), 15))));
    kernels::expand_names_in_sums(changed());
    CHECK(is_unchanged());
  }
}

TEST_CASE_FIXTURE(WeightsFixture, "weights: those of one sum side by side") {
  const VarId weight = buffer("weight", int8_type);
  body(block(constant(weight), zeros(), nest(weight, by_terms())));
  REQUIRE(laid_out());
  CHECK(stored(weight) == "0 3 6 9 12 1 4 7 10 13 2 5 8 11 14 ");
}

TEST_CASE_FIXTURE(WeightsFixture, "weights: in rows, those of data without sign 128 higher") {
  const VarId weight = buffer("weight", int8_type);
  in_rows = true;
  sums = 4;
  terms = 8;
  bytes = made(32);
  body(block(constant(weight), zeros(), nest(weight, by_terms())));
  REQUIRE(laid_out());
  CHECK(stored(weight).starts_with("-128 -124 -120 -116 -112 -108 -104 -100 -127 "));
  CHECK(text().find("-128") != std::string::npos);
}

TEST_CASE_FIXTURE(WeightsFixture, "weights: in rows, data that may be negative") {
  const VarId weight = buffer("weight", int8_type);
  in_rows = true;
  zero_point = 1;
  body(block(constant(weight), zeros(), nest(weight, by_terms())));
  REQUIRE(laid_out());
  CHECK(stored(weight) == "0 3 6 9 12 1 4 7 10 13 2 5 8 11 14 ");
}

TEST_CASE_FIXTURE(WeightsFixture, "weights: in fours of fours") {
  sums = 4;
  terms = 8;
  bytes = made(32);
  const VarId weight = buffer("weight", int8_type);
  body(block(constant(weight), zeros(), nest(weight, by_terms())));
  REQUIRE(laid_out());
  CHECK(stored(weight) == "0 4 8 12 1 5 9 13 2 6 10 14 3 7 11 15 16 20 24 28 17 21 25 29 18 22 26 30 19 23 27 31 ");
}

TEST_CASE_FIXTURE(WeightsFixture, "weights: of a window that the border cuts, those of one sum side by side") {
  sums = 4;
  bytes = made(32);
  const VarId weight = buffer("weight", int8_type);
  const VarId y = number("y");
  const ExprRef first = binary(ExprKind::max, imm(0), sub(imm(1), var(y)));
  tir::Stmt window = nest(weight, by_terms());
  auto& cut = std::get<tir::For>(window.node);
  cut.min = first;
  cut.extent = sub(imm(8), first);
  body(block(constant(weight), zeros(), loop(y, 2, block(window))));
  REQUIRE(laid_out());
  CHECK(stored(weight) == "0 4 8 12 16 20 24 28 1 5 9 13 17 21 25 29 2 6 10 14 18 22 26 30 3 7 11 15 19 23 27 31 ");
}

TEST_CASE_FIXTURE(WeightsFixture, "weights: terms that have one weight") {
  const VarId r = number("r");
  const VarId weight = buffer("weight", int8_type);
  sums = 4;
  bytes = made(12);
  const ExprRef product = mul(tir::make_cast(int32_type, load(data, add(mul(var(r), 8), var(k)))),
                              tir::make_cast(int32_type, load(weight, add(mul(var(r), 4), var(s)))));
  const tir::Stmt lanes = loop(s, 4, block(store(sum, var(s), add(load(sum, var(s)), product))));
  body(block(constant(weight), zeros(), loop(r, 3, block(loop(k, 8, block(lanes))))));
  REQUIRE(laid_out());
  CHECK(stored(weight) == "0 4 8 1 5 9 2 6 10 3 7 11 ");
}

TEST_CASE_FIXTURE(WeightsFixture, "weights: what stays") {
  const VarId weight = buffer("weight", int8_type);
  const VarId f2 = number("f2");
  VarId read = weight;
  ExprRef at = by_terms();
  tir::Block behind;
  SUBCASE("a constant that is larger") { bytes = made(16); }
  SUBCASE("another use") { behind = block(store(sum, imm(60), tir::make_cast(int32_type, load(weight, 3)))); }
  SUBCASE("two sums of one constant") {
    const ExprRef element = tir::make_cast(int32_type, load(weight, var(f2)));
    behind = block(loop(f2, 3, block(store(sum, var(f2), add(load(sum, var(f2)), element)))));
  }
  SUBCASE("places that overlap") {
    bytes = made(11);
    at = add(mul(var(k), 2), var(s));
  }
  SUBCASE("no constant") { read = input("numbers", 15, int8_type); }
  SUBCASE("a quotient toward zero") { at = add(at, binary(ExprKind::div, sub(imm(2), var(k)), imm(2))); }
  SUBCASE("from another place on") {
    bytes = made(18);
    at = add(at, 3);
  }
  tir::Block all = block(constant(weight), zeros(), nest(read, at));
  for (tir::Stmt& stmt : behind) all.push_back(std::move(stmt));
  body(std::move(all));
  CHECK_FALSE(laid_out());
}

TEST_CASE_FIXTURE(WeightsFixture, "weights: constants that share their data change together or not at all") {
  const VarId a = buffer("a", int8_type);
  const VarId b = buffer("b", int8_type);
  const VarId f2 = number("f2");
  SUBCASE("together") {
    tir::Stmt first = nest(a, by_terms());
    s = f2;
    k = number("k2");
    body(block(constant(a), constant(b), zeros(), first, nest(b, by_terms())));
    REQUIRE(laid_out());
    CHECK(stored(a) == stored(b));
  }
  SUBCASE("not in two orders") {
    bytes = made(27);
    const VarId r = number("r");
    const VarId r2 = number("r2");
    const VarId k2 = number("k2");
    // r, k and s are the same numbers, once in the order of the data and once not.
    const auto sum_of = [&](VarId weight, VarId row, VarId term, VarId lane, VarId first, VarId second) {
      const ExprRef place = add(add(mul(var(first), 9), mul(var(second), 3)), var(lane));
      const ExprRef element = tir::make_cast(int32_type, load(data, add(mul(var(row), 3), var(term))));
      const ExprRef product = mul(element, tir::make_cast(int32_type, load(weight, place)));
      tir::Block inner = block(loop(lane, 3, block(store(sum, var(lane), add(load(sum, var(lane)), product)))));
      return loop(row, 3, block(loop(term, 3, std::move(inner))));
    };
    body(block(constant(a), constant(b), zeros(), sum_of(a, r, k, s, r, k), sum_of(b, r2, k2, f2, k2, r2)));
    CHECK_FALSE(laid_out());
  }
  SUBCASE("not at all") {
    const tir::Stmt other =
        loop(f2, 3, block(store(sum, var(f2), add(load(sum, var(f2)), tir::make_cast(int32_type, load(b, var(f2)))))));
    body(block(constant(a), constant(b), zeros(), nest(a, by_terms()), other));
    CHECK_FALSE(laid_out());
  }
}

}  // namespace
}  // namespace usmp::transform::testing::weights_test

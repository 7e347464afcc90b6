// SPDX-License-Identifier: Apache-2.0
#include "kernels/weights.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>

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
  std::shared_ptr<const tir::Constant> bytes = made(15);

  static std::shared_ptr<const tir::Constant> made(std::int64_t elements) {
    tir::Constant constant{int8_type, {elements}, {}};
    for (std::int64_t i = 0; i < elements; ++i) constant.bytes.push_back(static_cast<char>(i));
    return std::make_shared<const tir::Constant>(std::move(constant));
  }
  [[nodiscard]] tir::Stmt constant(VarId weight) const { return {tir::AllocateConst{weight, int8_type, bytes, {}}}; }
  tir::Stmt nest(VarId weight, const ExprRef& at) {
    const ExprRef product =
        mul(tir::make_cast(int32_type, load(data, var(k))), tir::make_cast(int32_type, load(weight, at)));
    return loop(k, terms, block(loop(s, sums, block(store(sum, var(s), add(load(sum, var(s)), product))))));
  }
  tir::Stmt zeros() {
    const VarId n = number("n");
    return loop(n, 64, block(store(sum, var(n), imm(0))));
  }
  [[nodiscard]] ExprRef by_terms() const { return add(mul(var(k), sums), var(s)); }

  bool laid_out() {
    kernels::lay_out_weights(changed(), 4);
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

TEST_CASE_FIXTURE(WeightsFixture, "weights: those of one sum side by side") {
  const VarId weight = buffer("weight", int8_type);
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

TEST_CASE_FIXTURE(WeightsFixture, "weights: what stays") {
  const VarId weight = buffer("weight", int8_type);
  SUBCASE("a constant that is larger") { bytes = made(16); }
  SUBCASE("another use") {
    body(block(constant(weight), zeros(), nest(weight, by_terms()),
               store(sum, imm(60), tir::make_cast(int32_type, load(weight, 3)))));
    CHECK_FALSE(laid_out());
    return;
  }
  SUBCASE("two sums of one constant") {
    const VarId f2 = number("f2");
    const tir::Stmt second = loop(
        f2, 3, block(store(sum, var(f2), add(load(sum, var(f2)), tir::make_cast(int32_type, load(weight, var(f2)))))));
    body(block(constant(weight), zeros(), nest(weight, by_terms()), second));
    CHECK_FALSE(laid_out());
    return;
  }
  SUBCASE("places that overlap") {
    body(block(constant(weight), zeros(), nest(weight, add(mul(var(k), 2), var(s)))));
    CHECK_FALSE(laid_out());
    return;
  }
  SUBCASE("from another place on") {
    bytes = made(18);
    body(block(constant(weight), zeros(), nest(weight, add(by_terms(), 3))));
    CHECK_FALSE(laid_out());
    return;
  }
  body(block(constant(weight), zeros(), nest(weight, by_terms())));
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
  SUBCASE("not at all") {
    const tir::Stmt other =
        loop(f2, 3, block(store(sum, var(f2), add(load(sum, var(f2)), tir::make_cast(int32_type, load(b, var(f2)))))));
    body(block(constant(a), constant(b), zeros(), nest(a, by_terms()), other));
    CHECK_FALSE(laid_out());
  }
}

}  // namespace
}  // namespace usmp::transform::testing::weights_test

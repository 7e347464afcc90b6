// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Borders of other numbers made zero: results against those before, and borders that stay.
#include "transform/zero_borders.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "transform/fuse.hpp"
#include "transform/program.hpp"

namespace usmp::transform::testing::zero_borders_test {
namespace {

// A row of 8 numbers with two of `border` at each end, and two sums of three of them in each place, weights by terms.
struct Fixture : Program {
  VarId x = input("x", 8, int8_type);
  VarId y = output("y", 20);
  VarId weights = pointer("w", int8_type);
  VarId b = buffer("b", int8_type);
  VarId s = buffer("s");
  VarId i = number("i");
  VarId j = number("j");
  VarId k = number("k");
  VarId c = number("c");
  VarId d = number("d");
  VarId e = number("e");
  std::int64_t border = -128;
  std::int64_t zero = 0;  // that sums begin with

  [[nodiscard]] tir::Stmt constant() const {
    tir::Constant data{int8_type, {6}, {}};
    for (const int value : {3, -5, 7, 11, -128, 127}) data.bytes.push_back(static_cast<char>(value));
    return {tir::AllocateConst{weights, int8_type, std::make_shared<const tir::Constant>(std::move(data)), {}}};
  }
  [[nodiscard]] ExprRef padded() const {
    const ExprRef inside =
        tir::make_binary(ExprKind::and_, tir::make_binary(ExprKind::le, imm(2), var(i)), less(var(i), 10));
    return tir::make_call(int8_type, tir::Op::if_then_else,
                          {inside, load(x, sub(var(i), 2)), tir::make_int(border, int8_type)});
  }
  [[nodiscard]] tir::Stmt pad() const { return loop(i, 12, block(store(b, var(i), padded()))); }
  [[nodiscard]] ExprRef product() const {
    return mul(tir::make_cast(int32_type, load(b, add(var(j), var(k)))),
               tir::make_cast(int32_type, load(weights, add(mul(var(k), 2), var(c)))));
  }
  [[nodiscard]] tir::Stmt begin() const { return loop(d, 2, block(store(s, var(d), imm(zero)))); }
  [[nodiscard]] tir::Stmt terms(const ExprRef& term) const {
    return loop(k, 3, block(loop(c, 2, block(store(s, var(c), add(load(s, var(c)), term))))));
  }
  [[nodiscard]] tir::Stmt end() const {
    return loop(e, 2, block(store(y, add(mul(var(j), 2), var(e)), load(s, var(e)))));
  }
  [[nodiscard]] tir::Stmt sums(tir::Block inside) const {
    inside.insert(inside.begin(), allocate(s, 2));
    return loop(j, 10, std::move(inside));
  }
  void convolution() { body(block(constant(), allocate(b, 12), pad(), sums(block(begin(), terms(product()), end())))); }

  bool moved() {
    const bool is_moved = move_borders(changed(), op()).has_value();
    check_same();
    if (!is_moved) CHECK(is_unchanged());
    return is_moved;
  }
};

TEST_CASE_FIXTURE(Fixture,
                  "borders: of another number than zero become zero, and what they are worth is added to sums") {
  convolution();
  CHECK(moved());
  const std::string after = text();
  CHECK(after.find("allocate b: int16[12]") != std::string::npos);
  CHECK(after.find("int16(x[i - 2]) - -128i16, 0i16)") != std::string::npos);
  CHECK(after.find("s[d] = 0") != std::string::npos);
  CHECK(after.find("y[j * 2 + e] = s[e] + border[e]") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "borders: sums begin with what they are worth where they are not read once each") {
  const auto with = [&](tir::Block inside) {
    inside.insert(inside.begin(), begin());
    inside.insert(inside.begin() + 1, terms(product()));
    body(block(constant(), allocate(b, 12), pad(), sums(std::move(inside))));
    CHECK(moved());
    CHECK(text().find("s[d] = border[d]") != std::string::npos);
  };
  const ExprRef place = add(mul(var(j), 2), var(e));
  SUBCASE("in two places") { with(block(end(), store(y, 0, load(s, 1)))); }
  SUBCASE("twice by one statement") {
    with(block(loop(e, 2, block(store(y, place, sub(load(s, var(e)), load(s, sub(imm(1), var(e)))))))));
  }
  SUBCASE("more often") {
    const VarId again = number("again");
    with(block(loop(again, 3, block(loop(e, 2, block(store(y, place, load(s, var(e)))))))));
  }
  SUBCASE("in a bound") { with(block(loop_to(e, load(s, 0), block(store(y, 0, imm(1)))))); }
  SUBCASE("in an index") { with(block(store(y, remainder(load(s, 0), 20), imm(1)))); }
  SUBCASE("in a condition") { with(block(when(less(load(s, 0), 3), block(store(y, 0, imm(1)))))); }
  SUBCASE("nowhere") { with(block(store(y, 0, imm(1)))); }
}

TEST_CASE_FIXTURE(Fixture, "borders: weights that variables outside of the nest choose") {
  const VarId m = number("m");
  const ExprRef chosen = mul(tir::make_cast(int32_type, load(b, add(var(j), var(k)))),
                             tir::make_cast(int32_type, load(weights, add(mul(var(m), 3), var(k)))));
  body(block(constant(), allocate(b, 12), pad(),
             loop(m, 2,
                  block(loop(j, 10,
                             block(allocate(s, 1), store(s, 0, imm(0)),
                                   loop(k, 3, block(store(s, 0, add(load(s, 0), chosen)))),
                                   store(y, add(mul(var(j), 2), var(m)), load(s, 0))))))));
  CHECK(moved());
  CHECK(text().find("= s[0] + border[m * 1") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "borders: fuse skips them then") {
  convolution();
  std::string lines;
  for (const Change& change : fuse_function(changed(), index(), aliases())) lines += change.text + "\n";
  check_same();
  CHECK(lines.find("b (24 bytes): read without padding, loops skip the border") != std::string::npos);
  CHECK(text().find("allocate b") == std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "borders: fuse leaves those that it cannot skip") {
  const ExprRef turned = mul(tir::make_cast(int32_type, load(b, remainder(add(var(j), mul(var(k), 5)), 12))),
                             tir::make_cast(int32_type, load(weights, add(mul(var(k), 2), var(c)))));
  body(block(constant(), allocate(b, 12), pad(), sums(block(begin(), terms(turned), end()))));
  CHECK(fuse_function(changed(), index(), aliases()).empty());
  CHECK(is_unchanged());
  CHECK(changed().var(b).element == int8_type);
}

// --- Near misses: nothing is done ------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(Fixture, "borders: stay where they are read otherwise than in sums of products with constants") {
  const auto with = [&](tir::Block inside) {
    body(block(constant(), allocate(b, 12), pad(), sums(std::move(inside))));
    CHECK_FALSE(moved());
  };
  const auto alone = store(y, var(j), tir::make_cast(int32_type, load(b, var(j))));
  SUBCASE("zero already") {
    border = 0;
    convolution();
    CHECK_FALSE(moved());
  }
  SUBCASE("alone") { with(block(begin(), terms(product()), alone, end())); }
  SUBCASE("in a condition") {
    with(block(begin(), terms(product()), end(),
               when(less(tir::make_cast(int32_type, load(b, var(j))), 0), block(store(y, 0, imm(1))))));
  }
  SUBCASE("times something else") {
    with(block(begin(),
               terms(mul(tir::make_cast(int32_type, load(b, add(var(j), var(k)))),
                         tir::make_cast(int32_type, load(x, var(k))))),
               end()));
  }
  SUBCASE("times itself") {
    const ExprRef value = tir::make_cast(int32_type, load(b, add(var(j), var(k))));
    with(block(begin(), terms(mul(value, value)), end()));
  }
  SUBCASE("as what a cast leaves of it") {
    const ExprRef cut = tir::make_cast(int32_type, tir::make_cast(tir::uint8_type, load(b, add(var(j), var(k)))));
    with(
        block(begin(), terms(mul(cut, tir::make_cast(int32_type, load(weights, add(mul(var(k), 2), var(c)))))), end()));
  }
  SUBCASE("a sum that begins with another number") {
    zero = 1;
    convolution();
    CHECK_FALSE(moved());
  }
  SUBCASE("a sum that begins nowhere near") {
    with(block(when(less(var(j), 20), block(begin())), terms(product()), end()));
  }
  SUBCASE("a sum that is read before its terms are added") {
    with(block(begin(), store(y, var(j), load(s, 1)), terms(product()), end()));
  }
  SUBCASE("a sum that something else is stored to") {
    with(block(begin(), terms(product()), store(s, 0, imm(3)), end()));
  }
  SUBCASE("a sum whose elements are not those of the weights") {
    const ExprRef turned = mul(tir::make_cast(int32_type, load(b, add(var(j), var(k)))),
                               tir::make_cast(int32_type, load(weights, add(mul(var(k), 2), sub(imm(1), var(c))))));
    with(block(begin(), terms(turned), end()));
  }
  SUBCASE("a sum whose elements are at other distances than those of the weights") {
    const ExprRef apart = mul(tir::make_cast(int32_type, load(b, add(var(j), var(k)))),
                              tir::make_cast(int32_type, load(weights, add(var(k), mul(var(c), 3)))));
    body(block(constant(), allocate(b, 12), pad(),
               loop(j, 10, block(allocate(s, 4), loop(d, 4, block(store(s, var(d), imm(0)))), terms(apart), end()))));
    CHECK_FALSE(moved());
  }
  SUBCASE("a sum of a parameter") {
    const VarId z = y;
    body(block(
        constant(), allocate(b, 12), pad(), loop(d, 2, block(store(z, var(d), imm(0)))),
        loop(k, 3,
             block(loop(
                 c, 2,
                 block(store(z, var(c),
                             add(load(z, var(c)),
                                 mul(tir::make_cast(int32_type, load(b, var(k))),
                                     tir::make_cast(int32_type, load(weights, add(mul(var(k), 2), var(c)))))))))))));
    CHECK_FALSE(moved());
  }
}

}  // namespace
}  // namespace usmp::transform::testing::zero_borders_test

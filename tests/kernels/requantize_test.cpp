// SPDX-License-Identifier: Apache-2.0
#include "kernels/requantize.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transform/program.hpp"

namespace usmp::transform::testing::requantize_test {
namespace {

struct ShiftsFixture : Program {
  VarId x = input("x", 16);
  VarId y = output("y", 16);
  VarId shifts = buffer("shifts", int32_type);
  VarId i = number("i");

  [[nodiscard]] tir::Stmt constant(const std::vector<std::int32_t>& values) const {
    tir::Constant data{int32_type, {static_cast<std::int64_t>(values.size())}, {}};
    for (const std::int32_t value : values) {
      for (int byte = 0; byte < 4; ++byte) {
        data.bytes.push_back(static_cast<char>(static_cast<std::uint32_t>(value) >> (8 * byte)));
      }
    }
    return {tir::AllocateConst{shifts, int32_type, std::make_shared<const tir::Constant>(std::move(data)), {}}};
  }
  [[nodiscard]] ExprRef scaled() const { return mul(load(x, var(i)), 1234567); }
  bool requantized(const std::vector<std::int32_t>& values, const ExprRef& value) {
    body(block(constant(values), loop(i, 16, block(store(y, var(i), value)))));
    kernels::requantize(changed());
    check_same();
    return text().find("multiply_high") != std::string::npos;
  }
  [[nodiscard]] ExprRef per_axis(int q = 31, bool is_left = false) const {
    const ExprRef shift = load(shifts, quotient(var(i), 4));
    return tir::make_call(int32_type, tir::Op::q_multiply_shift_per_axis,
                          {scaled(), imm(1518500250), is_left ? shift : imm(0), is_left ? imm(0) : shift, imm(q),
                           tir::make_int(is_left ? 1 : 0, bool_type), tir::make_int(is_left ? 0 : 1, bool_type)});
  }
  [[nodiscard]] ExprRef by(int shift, int q = 31) const {
    return tir::make_call(int32_type, tir::Op::q_multiply_shift, {scaled(), imm(1518500250), imm(q), imm(shift)});
  }
};

TEST_CASE_FIXTURE(ShiftsFixture, "requantize: shifts to the right that a constant holds") {
  CHECK(requantized({2, 7, 31, 12}, per_axis()));
}
TEST_CASE_FIXTURE(ShiftsFixture, "requantize: a shift of 32 bits rounds in the low half") {
  CHECK_FALSE(requantized({2, 7, 1, 12}, per_axis()));
}
TEST_CASE_FIXTURE(ShiftsFixture, "requantize: a shift of more than 62 bits") {
  body(block(constant({2, 7, 32, 12}), loop(i, 16, block(store(y, var(i), per_axis())))));
  kernels::requantize(changed());
  CHECK(is_unchanged());
}
TEST_CASE_FIXTURE(ShiftsFixture, "requantize: shifts to the left") {
  CHECK_FALSE(requantized({2, 3, 2, 2}, per_axis(31, true)));
}
TEST_CASE_FIXTURE(ShiftsFixture, "requantize: shifts to the left and to the right") {
  const ExprRef both = tir::make_call(int32_type, tir::Op::q_multiply_shift_per_axis,
                                      {scaled(), imm(1518500250), imm(3), load(shifts, quotient(var(i), 4)), imm(31),
                                       tir::make_int(1, bool_type), tir::make_int(1, bool_type)});
  CHECK_FALSE(requantized({2, 7, 31, 12}, both));
}
TEST_CASE_FIXTURE(ShiftsFixture, "requantize: another format") {
  CHECK_FALSE(requantized({2, 7, 3, 12}, per_axis(30)));
}
TEST_CASE_FIXTURE(ShiftsFixture, "requantize: literals") {
  bool is_high = true;
  int shift = -2;
  int q = 31;
  SUBCASE("the least") {}
  SUBCASE("the most") { shift = -31; }
  SUBCASE("less") {
    shift = -1;
    is_high = false;
  }
  SUBCASE("none") {
    shift = 0;
    is_high = false;
  }
  SUBCASE("to the left") {
    shift = 2;
    is_high = false;
  }
  SUBCASE("another format") {
    q = 30;
    is_high = false;
  }
  CHECK(requantized({1}, by(shift, q)) == is_high);
}

}  // namespace
}  // namespace usmp::transform::testing::requantize_test

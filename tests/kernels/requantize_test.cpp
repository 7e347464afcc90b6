// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Products that are requantised by instructions: results against those before, at the limits of every shift.
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
  [[nodiscard]] ExprRef by(int shift, int q = 31, std::int64_t factor = 1518500250) const {
    return tir::make_call(int32_type, tir::Op::q_multiply_shift, {scaled(), imm(factor), imm(q), imm(shift)});
  }
};

TEST_CASE_FIXTURE(ShiftsFixture, "requantize: shifts to the right that a constant holds") {
  CHECK(requantized({2, 7, 31, 12}, per_axis()));
}
TEST_CASE_FIXTURE(ShiftsFixture, "requantize: a shift of 32 bits rounds in the low half") {
  CHECK_FALSE(requantized({2, 7, 1, 12}, per_axis()));
}
TEST_CASE_FIXTURE(ShiftsFixture, "requantize: shifts by which any product rounds to 0") {
  CHECK(requantized({2, 32, 33, 127}, per_axis()));
}
TEST_CASE_FIXTURE(ShiftsFixture, "requantize: a product of two negative numbers that does not round to 0") {
  const ExprRef value = tir::make_call(int32_type, tir::Op::q_multiply_shift_per_axis,
                                       {scaled(), imm(-5), imm(0), load(shifts, quotient(var(i), 4)), imm(31),
                                        tir::make_int(0, bool_type), tir::make_int(1, bool_type)});
  CHECK_FALSE(requantized({2, 7, 32, 12}, value));
}
TEST_CASE_FIXTURE(ShiftsFixture, "requantize: a literal shift of more than 62 bits") {
  body(block(loop(i, 16, block(store(y, var(i), by(-32))))));
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
  int shift = -1;
  int q = 31;
  std::int64_t factor = 1518500250;
  SUBCASE("the least") {}
  SUBCASE("a literal more") { shift = -2; }
  SUBCASE("the most") { shift = -31; }
  SUBCASE("none") {
    shift = 0;
    is_high = false;
  }
  SUBCASE("to the left") {
    shift = 2;
    is_high = false;
  }
  SUBCASE("a factor that fits doubled") {
    q = 30;
    factor = (1 << 30) - 1;
  }
  SUBCASE("a factor that does not") {
    q = 30;
    factor = 1 << 30;
    is_high = false;
  }
  SUBCASE("another format") {
    q = 29;
    factor = 5;
    is_high = false;
  }
  CHECK(requantized({1}, by(shift, q, factor)) == is_high);
}

struct ClipFixture : Program {
  VarId x = input("x", 16);
  VarId y = output("y", 16);
  VarId i = number("i");

  [[nodiscard]] ExprRef value() const { return mul(load(x, var(i)), 7); }
  // With what the value stands in as stores see it.
  std::string after(const ExprRef& result) {
    body(block(loop(i, 16, block(store(y, var(i), result)))));
    kernels::requantize(changed());
    check_same();
    return text();
  }
};

TEST_CASE_FIXTURE(ClipFixture, "requantize: a number that is taken away before a clip and added again after it") {
  const ExprRef clipped = clip(sub(value(), 128), -128, 127);
  SUBCASE("at once") { CHECK(after(add(clipped, 128)).find("max(min(x[i] * 7, 255), 0)") != std::string::npos); }
  SUBCASE("behind casts that keep the value") {
    const ExprRef wide = tir::make_cast(int16_type, tir::make_cast(int8_type, clipped));
    const ExprRef moved = add(wide, tir::make_int(128, int16_type));
    CHECK(after(tir::make_cast(int32_type, moved)).find("max(min(x[i] * 7, 255), 0)") != std::string::npos);
  }
  SUBCASE("the lower limit first") {
    const ExprRef other = smaller(larger(add(value(), 5), imm(-5)), imm(122));
    CHECK(after(sub(other, 5)).find("min(max(x[i] * 7, -10), 117)") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(ClipFixture, "requantize: clips that stay") {
  ExprRef result;
  SUBCASE("another number") { result = add(clip(sub(value(), 128), -100, 100), 127); }
  SUBCASE("limits of a type that would be none") { result = add(clip(sub(value(), 4), -128, 127), 4); }
  SUBCASE("a cast that cuts") {
    result = add(tir::make_cast(int32_type, tir::make_cast(int8_type, clip(sub(value(), 128), -128, 300))), 128);
  }
  SUBCASE("a sum that does not fit its type") {
    const ExprRef narrow = tir::make_cast(int8_type, clip(sub(value(), 100), -100, 127));
    result = tir::make_cast(int32_type, add(narrow, tir::make_int(100, int8_type)));
  }
  SUBCASE("limits in the wrong order, and a cast that cuts") {
    const ExprRef narrow = tir::make_cast(int8_type, clip(sub(value(), 1), 300, 5));
    result = add(tir::make_cast(int32_type, narrow), 1);
  }
  SUBCASE("limits that are read") { result = add(larger(smaller(sub(value(), 4), load(x, 0)), imm(3)), 4); }
  SUBCASE("a limit that is read") { result = add(larger(smaller(sub(value(), 4), imm(7)), load(x, 0)), 4); }
  SUBCASE("in 16 bits") {
    const ExprRef narrow = sub(tir::make_cast(int16_type, load(x, var(i))), 4);
    result = tir::make_cast(int32_type, add(clip(narrow, -100, 100), 4));
  }
  SUBCASE("in 64 bits") {
    constexpr std::int64_t large = std::int64_t{1} << 30;
    const ExprRef clipped = clip(sub(value(), large), -5, (std::int64_t{1} << 31) - 1);
    const ExprRef moved = add(tir::make_cast(int64_type, clipped), tir::make_int(large, int64_type));
    result = tir::make_cast(int32_type, quotient(moved, 2));
  }
  body(block(loop(i, 16, block(store(y, var(i), result)))));
  kernels::requantize(changed());
  CHECK(is_unchanged());
}

}  // namespace
}  // namespace usmp::transform::testing::requantize_test

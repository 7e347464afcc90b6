// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Windows of lanes, whose weights lie in blocks of four sums: which become one call, and what it adds up.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "kernels/kernel_fixture.hpp"

namespace usmp::transform::testing::kernels_test {
namespace {

// For each j eight sums over three rows of three taps; taps are 12 bytes apart, rows 96.
struct LaneWindowFixture : KernelFixture {
  VarId j = number("j");
  std::int64_t outputs = 5;
  ExprRef first_tap = imm(0);
  ExprRef taps = imm(3);
  ExprRef x;  // without the sum's place

  LaneWindowFixture(tir::DataType data_type = tir::uint8_type, tir::DataType type = int8_type)
      : KernelFixture(data_type, type) {
    terms = 3;
    length = imm(3);
    sum_at = add(mul(var(j), 8), var(s));
    x = add(add(mul(var(r), 96), mul(var(k), 12)), mul(var(j), 12));
  }
  [[nodiscard]] tir::Stmt clear() const {
    return loop(first, 8, block(store(sum, add(mul(var(j), 8), var(first)), imm(0))));
  }
  tir::Stmt window() {
    data_at = add(x, var(s));
    tir::For columns{k, first_tap, taps, block(loop(s, sums, block(update())))};
    return {tir::For{r, begin, length, block(tir::Stmt{std::move(columns)})}};
  }
  void windows() { program(block(loop(j, outputs, block(clear(), window())))); }
};

TEST_CASE_FIXTURE(LaneWindowFixture, "kernels: a window of lanes is one call, its weights one stream") {
  std::string expected = "lane_window<>(sum[j * 8], data[j * 12], weight[0], 2, 36, 0, 3, 96, 12, 3, 12, 0, 0, 0, 1)";
  SUBCASE("bytes without a zero point") {}
  SUBCASE("with one") {
    offset = -3;
    expected = "lane_window<>(sum[j * 8], data[j * 12], weight[0], 2, 36, 0, 3, 96, 12, 3, 12, -3, 0, 0, 1)";
  }
  SUBCASE("of five rows of two taps") {
    rows = 5;
    terms = 2;
    length = imm(5);
    taps = imm(2);
    x = add(add(mul(var(r), 48), mul(var(k), 12)), mul(var(j), 24));
    expected = "lane_window<>(sum[j * 8], data[j * 24], weight[0], 2, 40, 0, 5, 48, 8, 2, 12, 0, 0, 0, 1)";
  }
  windows();
  REQUIRE(blocked());
  CHECK(has(expected));
  CHECK_FALSE(has("= 0\n"));
}

TEST_CASE_FIXTURE(LaneWindowFixture, "kernels: a row of lanes") {
  rows = 1;
  data_at = add(add(mul(var(k), 12), mul(var(j), 24)), var(s));
  weight_at = add(mul(var(k), 8), var(s));
  program(block(loop(j, outputs, block(clear(), loop(k, 3, block(loop(s, sums, block(update()))))))));
  REQUIRE(blocked());
  CHECK(has("lane_window<>(sum[j * 8], data[j * 24], weight[0], 2, 12, 0, 1, 0, 0, 3, 12, 0, 0, 0, 1)"));
}

TEST_CASE_FIXTURE(LaneWindowFixture, "kernels: windows of lanes that borders cut") {
  begin = larger(imm(0), sub(imm(1), var(j)));
  length = sub(smaller(imm(3), sub(imm(5), var(j))), begin);
  first_tap = larger(imm(0), sub(imm(2), var(j)));
  taps = sub(smaller(imm(3), sub(imm(6), var(j))), first_tap);
  x = add(add(mul(var(r), 96), mul(var(k), 12)), mul(var(j), 8));
  SUBCASE("of some taps") {}
  SUBCASE("of none") { length = sub(smaller(imm(3), sub(imm(3), var(j))), begin); }
  windows();
  REQUIRE(blocked());
  CHECK(has("lane_window"));
  CHECK(has("let row"));
  CHECK(has("let tap"));
}

TEST_CASE_FIXTURE(LaneWindowFixture, "kernels: windows of lanes in a ring") {
  std::string expected;
  SUBCASE("of rows") {
    x = add(mul(binary(ExprKind::mod, add(mul(var(j), 2), var(r)), imm(5)), 96), mul(var(k), 12));
    expected = ", 2, 36, 0, 3, 96, 12, 3, 12, 0, place * 96, 480, 1)";
  }
  SUBCASE("of rows, as wide as the window") {
    x = add(mul(binary(ExprKind::mod, add(mul(var(j), 2), var(r)), imm(5)), 36), mul(var(k), 12));
    expected = ", 2, 36, 0, 3, 36, 12, 3, 12, 0, place * 36, 180, 1)";
  }
  SUBCASE("of pixels") {
    x = mul(binary(ExprKind::mod, add(add(mul(var(r), 7), var(k)), mul(var(j), 5)), imm(17)), 12);
    expected = ", 2, 36, 0, 3, 84, 12, 3, 12, 0, place * 12, 204, 1)";
  }
  SUBCASE("of pixels, a row as long as the ring") {
    x = mul(binary(ExprKind::mod, add(add(mul(var(r), 17), var(k)), mul(var(j), 5)), imm(17)), 12);
    expected = ", 2, 36, 0, 3, 204, 12, 3, 12, 0, place * 12, 204, 1)";
  }
  SUBCASE("of pixels, one row") {
    rows = 1;
    length = imm(1);
    x = mul(binary(ExprKind::mod, add(var(k), mul(var(j), 5)), imm(17)), 12);
    expected = ", 2, 12, 0, 1, 0, 0, 3, 12, 0, place * 12, 204, 1)";
  }
  windows();
  REQUIRE(blocked());
  CHECK(has("lane_window"));
  CHECK(has(expected));
}

// What is added up is the same; weights that lie in blocks already are read four at a time.
TEST_CASE_FIXTURE(LaneWindowFixture, "kernels: windows of lanes that are no call") {
  SUBCASE("a row beyond the ring") {
    x = mul(binary(ExprKind::mod, add(add(mul(var(r), 18), var(k)), mul(var(j), 5)), imm(17)), 12);
  }
  SUBCASE("rows of a ring in steps") {
    x = add(mul(binary(ExprKind::mod, add(var(j), mul(var(r), 2)), imm(5)), 96), mul(var(k), 12));
  }
  SUBCASE("rows of a ring's pixels in steps") {
    const ExprRef steps = add(mul(var(r), 4), mul(quotient(var(r), 2), 3));
    x = mul(binary(ExprKind::mod, add(add(steps, var(k)), mul(var(j), 5)), imm(17)), 12);
  }
  SUBCASE("taps beyond a ring's row") {
    x = add(mul(binary(ExprKind::mod, add(var(j), var(r)), imm(5)), 24), mul(var(k), 12));
  }
  bool are_laid_out = false;  // before
  SUBCASE("rows both in the ring's place and beside it") {
    x = add(mul(binary(ExprKind::mod, add(add(mul(var(r), 7), var(k)), var(j)), imm(17)), 12), var(r));
    weight_at = add(add(mul(quotient(var(s), 4), 36), mul(var(r), 12)), add(mul(var(k), 4), remainder(var(s), imm(4))));
    are_laid_out = true;
  }
  SUBCASE("rows in steps") {
    x = add(add(mul(add(var(r), quotient(var(r), 2)), 96), mul(var(k), 12)), mul(var(j), 12));
  }
  SUBCASE("taps in steps") {
    x = add(add(mul(var(r), 96), mul(add(var(k), quotient(var(k), 2)), 12)), mul(var(j), 12));
  }
  SUBCASE("rows from the last to the first") {
    x = add(add(mul(sub(imm(2), var(r)), 96), mul(var(k), 12)), mul(var(j), 12));
  }
  SUBCASE("taps that depend on the row") { taps = sub(imm(3), var(r)); }
  windows();
  CHECK((are_laid_out ? blocked_as_laid_out() : blocked()));
  CHECK(has("lane_product"));
  CHECK_FALSE(has("lane_window"));
}

// Their weights stay as they are.
TEST_CASE("kernels: lanes that are no windows") {
  bool is_window = false;
  const auto check = [&](LaneWindowFixture& one, tir::Block statements) {
    one.program(std::move(statements));
    CHECK(one.blocked());
    CHECK(one.has("lane_window") == is_window);
    CHECK(one.has("lane_run") == !is_window);
  };
  LaneWindowFixture one;
  SUBCASE("as they should be") {
    is_window = true;
    check(one, block(one.loop(one.j, 5, block(one.clear(), one.window()))));
  }
  SUBCASE("sums that begin with what is there") {
    const VarId n = one.number("n");
    const tir::Stmt filled = one.loop(n, 64, block(one.store(one.sum, one.var(n), one.var(n))));
    check(one, block(filled, one.loop(one.j, 5, block(one.window()))));
  }
  SUBCASE("for cores that have no such call") {
    one.windows();
    kernels::lay_out_weights(one.changed(), {.name = "some", .whole_windows = false, .paired_terms = 0});
    one.check_same();
    CHECK(one.blocked_as_laid_out());
    CHECK(one.has("lane_run"));
  }
  SUBCASE("numbers of 16 bits") {
    LaneWindowFixture wide(tir::uint8_type, int16_type);
    check(wide, block(wide.loop(wide.j, 5, block(wide.clear(), wide.window()))));
  }
}

// Other loops over parts of the sums are outside of the blocks.
TEST_CASE_FIXTURE(LaneWindowFixture, "kernels: windows of lanes, a part of the channels at a time") {
  const VarId b = number("b");
  sum_at = add(mul(var(b), 8), var(s));
  x = add(add(mul(var(r), 96), mul(var(k), 24)), mul(var(b), 8));
  weights = 216;
  weight_at = add(add(mul(var(r), 72), mul(var(k), 24)), add(mul(var(b), 8), var(s)));
  const tir::Stmt zero = loop(first, 8, block(store(sum, add(mul(var(b), 8), var(first)), imm(0))));
  program(block(loop(b, 3, block(zero, window()))));
  REQUIRE(blocked());
  CHECK(has("lane_window<>(sum[b * 8], data[b * 8], weight[b * 72], 2, 36, 0, 3, 96, 12, 3, 24, 0, 0, 0, 1)"));
}

// For each j some sums of each of four or eight channels, over three rows of three taps.
struct SharedDataFixture : LaneWindowFixture {
  std::int64_t channels = 8;
  std::int64_t together = 2;
  std::int64_t missing = 0;
  ExprRef zero = imm(0);

  SharedDataFixture(tir::DataType data_type = tir::uint8_type, tir::DataType type = int8_type)
      : LaneWindowFixture(data_type, type) {
    outputs = 2;
  }
  void shared() {
    sums = channels * together - missing;
    sum_at = add(mul(var(j), sums), var(s));
    x = add(add(mul(var(r), channels * 4), mul(var(k), channels)), mul(var(j), channels));
    data_at = add(x, binary(ExprKind::floor_div, var(s), imm(together)));
    tir::For columns{k, first_tap, taps, block(loop(s, sums, block(update())))};
    const tir::Stmt clear = loop(first, sums, block(store(sum, add(mul(var(j), sums), var(first)), zero)));
    const tir::Stmt nest{tir::For{r, begin, length, block(tir::Stmt{std::move(columns)})}};
    program(block(loop(j, outputs, block(clear, nest))));
    kernels::part_sums_of_shared_data(changed());
    check_same();
    blocked();
  }
};

TEST_CASE_FIXTURE(SharedDataFixture, "kernels: several sums of a channel are one call") {
  std::string expected = "lane_window<>(sum[j * 16], data[j * 8], weight[0], 2, 36, 0, 3, 32, 12, 3, 8, 0, 0, 0, 2)";
  SUBCASE("two of eight channels") {}
  SUBCASE("for a core that has no other windows of lanes") { whole_windows = false; }
  SUBCASE("for a core whose other weights lie in rows") { in_rows = true; }
  SUBCASE("seven of four") {
    channels = 4;
    together = 7;
    expected = "lane_window<>(sum[j * 28], data[j * 4], weight[0], 1, 36, 0, 3, 16, 12, 3, 4, 0, 0, 0, 7)";
  }
  SUBCASE("windows that borders cut") {
    begin = larger(imm(0), sub(imm(1), var(j)));
    length = sub(imm(3), begin);
    expected = ", weight[0], 2, 36, row * 12, 3 - max(0, 1 - j), 32, 12, 3, 8, 0, 0, 0, 2)";
  }
  shared();
  CHECK(has(expected));
  CHECK_FALSE(has("inside"));
  CHECK_FALSE(has("= 0\n"));
}

TEST_CASE_FIXTURE(SharedDataFixture, "kernels: channels of which the last has fewer sums") {
  missing = 1;
  shared();
  CHECK(has("floordiv"));
}

TEST_CASE("kernels: sums that share data and are no window are parted in place") {
  const auto check = [](SharedDataFixture& one) {
    one.shared();
    CHECK_FALSE(one.has("lane_"));
    CHECK_FALSE(one.has("floordiv"));
    CHECK(one.text().find("for s_channel") < one.text().find("for s_inside"));
    CHECK(one.has("for s_channel in [0, " + std::to_string(one.channels) + ")"));
    CHECK(one.has("for s_inside in [0, " + std::to_string(one.together) + ")"));
  };
  SharedDataFixture one;
  SUBCASE("channels that are no fours") { one.channels = 6; }
  SUBCASE("sums that begin with something else") { one.zero = tir::make_int(3); }
  SUBCASE("numbers of 16 bits") {
    SharedDataFixture wide(tir::uint8_type, int16_type);
    return check(wide);
  }
  check(one);
}

// for j: for p < 2: the eight sums sum[16 · j + 2 · s + p], as they are when channels and their sums are counted apart.
struct PassesFixture : LaneWindowFixture {
  VarId p = number("p");
  std::int64_t passes = 2;
  ExprRef moved = imm(0);  // data
  ExprRef rows_of = imm(3);

  bool passed() {
    sum_at = add(add(mul(var(j), 16), mul(var(s), 2)), var(p));
    x = add(add(mul(var(r), 96), mul(var(k), 12)), add(mul(var(j), 12), moved));
    data_at = add(x, var(s));
    length = rows_of;
    weights = 9 * 16;
    weight_at = add(add(mul(var(r), 48), mul(var(k), 16)), add(mul(var(s), 2), var(p)));
    const tir::Stmt columns = loop(k, 3, block(loop(s, 8, block(update()))));
    const tir::Stmt window{tir::For{r, begin, length, block(columns)}};
    const tir::Stmt clear =
        loop(first, 8, block(store(sum, add(add(mul(var(j), 16), mul(var(first), 2)), var(p)), imm(0))));
    program(block(loop(j, 4, block(loop(p, passes, block(clear, window))))));
    blocked();
    return has("lane_window");
  }
};

TEST_CASE_FIXTURE(PassesFixture, "kernels: passes over the channels") {
  bool is_call = false;
  SUBCASE("for all of their sums") { is_call = true; }
  SUBCASE("for some of them") { passes = 1; }
  SUBCASE("each with data of its own") { moved = var(p); }
  SUBCASE("each of some rows") { rows_of = add(var(p), 2); }
  CHECK(passed() == is_call);
}

TEST_CASE_FIXTURE(LaneWindowFixture, "kernels: sums that are apart and have no window") {
  outputs = 4;
  weights = 9 * 16;
  x = add(add(mul(var(r), 96), mul(var(k), 12)), mul(var(j), 12));
  sum_at = add(mul(var(j), 16), mul(var(s), 2));
  const ExprRef weight_of_tap = add(mul(var(r), 48), mul(var(k), 16));
  weight_at = add(weight_of_tap, var(s));
  data_at = add(x, var(s));
  bool is_blocked = true;
  SUBCASE("weights side by side") {}
  SUBCASE("weights apart as well") {
    weight_at = add(weight_of_tap, mul(var(s), 2));
    is_blocked = false;
  }
  SUBCASE("all of the same data") {
    data_at = x;
    is_blocked = false;
  }
  const tir::Stmt clear = loop(first, 8, block(store(sum, add(mul(var(j), 16), mul(var(first), 2)), imm(0))));
  const tir::Stmt nest = loop(r, 3, block(loop(k, 3, block(loop(s, 8, block(update()))))));
  program(block(loop(j, outputs, block(clear, nest))));
  CHECK(blocked() == is_blocked);
  CHECK_FALSE(has("lane_run"));
}

TEST_CASE_FIXTURE(LaneWindowFixture, "kernels: a window of four channels") {
  sums = 4;
  sum_at = add(mul(var(j), 4), var(s));
  x = add(add(mul(var(r), 32), mul(var(k), 4)), mul(var(j), 4));
  const tir::Stmt zero = loop(first, 4, block(store(sum, add(mul(var(j), 4), var(first)), imm(0))));
  program(block(loop(j, outputs, block(zero, window()))));
  REQUIRE(blocked());
  CHECK(has("lane_window<>(sum[j * 4], data[j * 4], weight[0], 1, 36, 0, 3, 32, 12, 3, 4, 0, 0, 0, 1)"));
}

}  // namespace
}  // namespace usmp::transform::testing::kernels_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What blocks of sums ask for, each with a near miss: without the condition, the program would compute something else.
#include <doctest/doctest.h>

#include <cstdint>
#include <utility>

#include "kernels/kernel_fixture.hpp"

namespace usmp::transform::testing::kernels_test {
namespace {

// Weights in fours of terms of four sums, as Op::dot_run reads them: those of a block, of a four and, if not 0, of a
// row begin so far apart.
ExprRef in_fours(const KernelFixture& one, std::int64_t block, std::int64_t four, std::int64_t row) {
  const ExprRef k = one.var(one.k);
  const ExprRef s = one.var(one.s);
  const ExprRef in_row = add(add(mul(quotient(k, 4), four), mul(remainder(s, 4), 4)), remainder(k, 4));
  const ExprRef place = add(mul(quotient(s, 4), block), in_row);
  return row == 0 ? place : add(mul(one.var(one.r), row), place);
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: a factor is an element and a number") {
  const ExprRef element = wide(data, data_place());
  SUBCASE("not a product") { data_value = mul(element, 3); }
  SUBCASE("not a number less the element") { data_value = sub(imm(128), element); }
  SUBCASE("not with a number that varies") { data_value = add(element, var(k)); }
  SUBCASE("not a sum that wraps") {
    data_value = tir::make_cast(int32_type, add(load(data, data_place()), tir::make_int(200, tir::uint8_type)));
  }
  SUBCASE("not a variable behind more casts than are looked through") {
    data_value = tir::make_cast(tir::uint8_type, var(k));
    for (int i = 0; i < 2; ++i) data_value = tir::make_cast(u16, tir::make_cast(int16_type, data_value));
    data_value = tir::make_cast(int32_type, tir::make_cast(int16_type, data_value));
  }
  SUBCASE("not under a predicate") {
    tir::Expr guarded = *load(data, data_place());
    guarded.operands.push_back(less(var(k), 6));
    data_value = tir::make_cast(int32_type, tir::make_expr(std::move(guarded)));
  }
  SUBCASE("not of 32 bits") { weight_value = load(input("numbers", 512), weight_place()); }
  SUBCASE("weights have no number") { weight_value = add(wide(weight, weight_place()), 3); }
  SUBCASE("only one of two has a number") {
    data_at = add(add(mul(var(r), 64), mul(var(k), 8)), var(s));
    offset = 2;
    weight_value = add(wide(weight, weight_place()), 3);
  }
  program(block(zeros(), nest()));
  CHECK_FALSE(blocked());
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: of lanes either factor may have the number") {
  data_at = add(add(mul(var(r), 64), mul(var(k), 8)), var(s));
  weight_value = add(wide(weight, weight_place()), 3);
  program(block(zeros(), nest()));
  CHECK(blocked());
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: sums are side by side, as one loop from 0 counts them") {
  tir::Stmt sums_of_all = nest();
  SUBCASE("not places that are read") {
    sum_at = remainder(load(input("table", 8), var(s)), 8);
    sums_of_all = nest();
  }
  SUBCASE("not two loops") {
    sum_at = add(var(k), var(s));
    sums_of_all = nest();
  }
  SUBCASE("not in steps") {
    sum_at = add(var(s), mul(quotient(var(s), 4), 4));
    sums_of_all = nest();
  }
  SUBCASE("not from 2 on") {
    weights = 240;
    weight_at = add(add(mul(var(s), 24), mul(var(r), 8)), var(k));
    sums_of_all = loop(r, rows, block(loop(k, terms, block(loop_from(s, 2, sums, block(update()))))));
  }
  SUBCASE("not with terms of their own") {
    sums_of_all = loop(r, rows, block(loop(s, sums, block(loop_to(k, add(var(s), 1), block(update()))))));
  }
  SUBCASE("not from a term on that they decide") {
    weight_at = add(mul(var(k), 8), var(s));
    const tir::For some{k, var(s), imm(8), block(update())};
    sums_of_all = loop(r, rows, block(loop(s, sums, block(tir::Stmt{some}))));
  }
  const VarId other = output("other", 8);
  bool is_other_stored = false;
  SUBCASE("not with something behind them") {
    is_other_stored = true;
    tir::Block all = block(update(), store(other, var(s), var(k)));
    sums_of_all = loop(r, rows, block(loop(k, terms, block(loop(s, sums, std::move(all))))));
  }
  const VarId n = number("n");
  program(block(loop(n, 64, block(store(sum, var(n), imm(0)))), sums_of_all));
  CHECK_FALSE(blocked());
  CHECK(has("other[s] = k") == is_other_stored);
}

TEST_CASE("kernels: sums are of 32 bits with a sign") {
  KernelFixture one(tir::uint8_type, tir::uint8_type);
  one.sum = one.output("unsigned_sum", 64, u32);
  const auto wide = [&](VarId storage, const ExprRef& at) { return tir::make_cast(u32, one.load(storage, at)); };
  one.data_value = wide(one.data, one.data_place());
  one.weight_value = wide(one.weight, one.weight_place());
  const tir::Stmt zeros = one.loop(one.first, 8, block(one.store(one.sum, one.var(one.first), tir::make_int(0, u32))));
  one.program(block(zeros, one.nest()));
  CHECK_FALSE(one.blocked());
}

// Loops of two types are no run.
TEST_CASE("kernels: loops that count in 64 bits") {
  for (const bool is_wide_sum : {false, true}) {
    for (const bool is_wide_row : {false, true}) {
      KernelFixture one;
      if (is_wide_sum) one.s = one.number("wide_s", int64_type);
      if (is_wide_row) one.r = one.number("wide_r", int64_type);
      const auto wide = [&](VarId loop) { return tir::make_cast(int64_type, one.var(loop)); };
      one.data_at = add(mul(wide(one.r), 8), wide(one.k));
      one.weight_at = add(add(mul(wide(one.r), 64), mul(wide(one.k), 8)), wide(one.s));
      one.sum_at = wide(one.s);
      tir::Stmt sums = one.loop_from(one.s, 0, 8, block(one.update()));
      one.program(block(one.zeros(), one.loop_from(one.r, 0, 3, block(one.loop(one.k, 8, block(std::move(sums)))))));
      CHECK(one.blocked());
      CHECK(one.has("dot_run") == !is_wide_sum);
    }
  }
}

// --- Runs ------------------------------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(KernelFixture, "kernels: a run's data and weights lie one after the other") {
  together = 4;
  weights = 0;
  SUBCASE("data in steps") { data_at = add(add(mul(var(r), 16), var(k)), mul(quotient(var(k), 4), 4)); }
  SUBCASE("a quotient toward zero among the data") {
    data_at = add(add(mul(var(r), 16), var(k)), add(binary(ExprKind::div, sub(var(k), 3), imm(2)), 5));
  }
  SUBCASE("terms that begin within a four") {
    weight_at = in_fours(*this, 144, 16, 48);
    weights = 288;
  }
  SUBCASE("fours further apart") {
    weight_at = in_fours(*this, 120, 20, 40);
    weights = 240;
  }
  SUBCASE("a quotient toward zero among the weights") {
    rows = 5;
    weight_at = add(in_fours(*this, 640, 16, 32), mul(binary(ExprKind::div, sub(var(r), 1), imm(2)), 160));
    weights = 1280;
  }
  tir::Stmt sums_of_all = nest();
  if (weights == 288) sums_of_all = loop(r, rows, block(loop_from(k, 2, 8, block(loop(s, sums, block(update()))))));
  program(block(zeros(), sums_of_all));
  if (weights == 0) {
    blocked();
  } else {
    blocked_as_laid_out();
  }
  CHECK_FALSE(has("dot_run"));
}

// For k: for r up to k.
TEST_CASE_FIXTURE(KernelFixture, "kernels: no loop beside a run depends on it") {
  data_at = add(mul(var(r), 16), var(k));
  weights = 512;
  weight_at = add(add(mul(var(r), 64), mul(var(k), 8)), var(s));
  tir::Stmt inner = loop_to(r, add(var(k), 1), block(loop(s, sums, block(update()))));
  program(block(zeros(), loop(k, 8, block(std::move(inner)))));
  CHECK_FALSE(blocked());
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: a loop of one term is one of a run once") {
  terms = 1;
  data_at = add(mul(var(r), 64), var(k));
  program(block(zeros(), nest()));
  CHECK_FALSE(blocked());  // nothing is side by side
}

TEST_CASE_FIXTURE(RingFixture, "kernels: what a window of a ring needs") {
  tir::Stmt window = nest();
  SUBCASE("pixels from their first element on") {
    weights = 112;
    weight_at = in_fours(*this, 0, 16, 32);
    data_at = add(mul(place, terms), var(k));
    window = {tir::For{r, begin, length, block(loop_from(k, 1, terms, block(loop(s, sums, block(update())))))}};
  }
  SUBCASE("weights in the order of the pixels") {
    weight_at = sub(in_fours(*this, 0, 16, 0), mul(sub(var(r), 2), 32));
    weights = 96;
    window = nest();
  }
  SUBCASE("pixels one after the other") {
    const ExprRef number = add(add(mul(var(j), 7), 5), add(var(r), quotient(var(r), 2)));
    data_at = add(mul(binary(ExprKind::mod, number, imm(9)), terms), var(k));
    window = nest();
  }
  SUBCASE("no other place that the pixel decides") {
    data_at = add(add(mul(place, terms), var(k)), var(r));
    window = nest();
  }
  SUBCASE("places in steps of the pixel") {
    data_at = add(quotient(mul(place, 2 * terms + 1), 2), var(k));
    window = nest();
  }
  in_windows(std::move(window));
  if (weights != 0) {
    blocked_as_laid_out();
  } else {
    blocked();
  }
  CHECK_FALSE(has("let place"));
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: a run of lanes has data and weights at equal distances") {
  data_at = add(add(mul(var(r), 128), mul(var(k), 8)), var(s));
  bool is_run = false;
  const ExprRef steps = add(var(k), quotient(var(k), 2));
  SUBCASE("as they should be") { is_run = true; }
  SUBCASE("data in steps") { data_at = add(add(mul(var(r), 128), mul(steps, 8)), var(s)); }
  SUBCASE("weights in steps") {
    weights = 288;
    weight_at = add(add(mul(var(r), 96), mul(steps, 8)), var(s));
  }
  program(block(zeros(), nest()));
  CHECK(blocked());
  CHECK(has("lane_run") == is_run);
}

// A quotient toward zero within something else: what else is in there moves with it.
TEST_CASE_FIXTURE(KernelFixture, "kernels: a run's places by what stands beside a quotient toward zero") {
  rows = 4;
  const ExprRef low = binary(ExprKind::div, sub(var(k), 3), imm(2));
  ExprRef step = mul(low, var(r));
  SUBCASE("in a product") {}
  SUBCASE("in another quotient") { step = quotient(add(low, var(r)), 4); }
  data_at = add(add(mul(var(k), 32), 24), add(var(s), mul(step, 4)));
  program(block(zeros(), loop(k, terms, block(loop(r, rows, block(loop(s, sums, block(update()))))))));
  blocked();
  CHECK_FALSE(has("lane_run"));
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: lanes side by side, no loop around") {
  sums = 12;
  data_at = var(s);
  weight_at = var(s);
  weights = 12;
  program(block(zeros(), loop(s, sums, block(update()))));
  CHECK(blocked());
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: lanes in steps") {
  data_at = add(add(mul(var(r), 128), mul(var(k), 12)), add(var(s), quotient(var(s), 2)));
  program(block(zeros(), nest()));
  CHECK_FALSE(blocked());
}

// An operator of four lanes would read beyond the data.
TEST_CASE("kernels: lanes that are left over end where their data do") {
  KernelFixture one;
  one.data = one.input("exact", 3 * 8 * 7, tir::uint8_type);
  one.sums = 7;
  one.data_at = add(mul(add(mul(one.var(one.r), 8), one.var(one.k)), 7), one.var(one.s));
  one.program(block(one.zeros(), one.nest()));
  CHECK(one.blocked());
}

// --- Blocks ----------------------------------------------------------------------------------------------------------

TEST_CASE_FIXTURE(KernelFixture, "kernels: lets between the sums and what sets them to 0") {
  const VarId before = number("before");
  const VarId y = output("y", 1);
  SUBCASE("that do not read the sums") {
    program(block(zeros(), let(before, wide(data, imm(3))), nest(), store(y, 0, var(before))));
    REQUIRE(blocked());
    CHECK_FALSE(has("sum[first] = 0"));
  }
  SUBCASE("that do") {
    program(block(zeros(), let(before, load(sum, 3)), nest(), store(y, 0, var(before))));
    REQUIRE(blocked());
    CHECK(has("sum[first] = 0"));
  }
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: sums that are not all set to 0 begin with what is there") {
  const VarId other = output("other", 64);
  const VarId n = number("n");
  const auto zero = [&](VarId storage, const ExprRef& at) { return store(storage, at, imm(0)); };
  tir::Stmt clear = loop(first, 8, block(zero(sum, mul(var(first), 2))));
  SUBCASE("every other one") {}
  SUBCASE("those of another tensor") { clear = loop(first, 8, block(zero(other, var(first)))); }
  SUBCASE("some, by a predicate") {
    tir::Store some{sum, var(first), imm(0), less(var(first), 3)};
    clear = loop(first, 8, block(tir::Stmt{std::move(some)}));
  }
  SUBCASE("to numbers of their own") {
    terms = 7;
    weight_at = add(add(mul(var(s), rows * terms), mul(var(r), terms)), var(k));
    clear = loop(first, 8, block(store(sum, var(first), mul(var(first), 3))));
  }
  SUBCASE("from the second on") { clear = loop_from(first, 1, 8, block(zero(sum, var(first)))); }
  SUBCASE("beside something else") {
    clear = loop(first, 8, block(store(other, var(first), var(first)), zero(sum, var(first))));
  }
  program(block(loop(n, 64, block(store(sum, var(n), mul(var(n), 3)), store(other, var(n), imm(1)))), clear, nest()));
  REQUIRE(blocked());
  CHECK((has("dot_run<>(sum[0], data[5], weight[0], 1, ") || has("window_run<>(sum[0], data[5], weight[0], 1, ")));
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: four weights side by side, of each sum and wherever the four begins") {
  const VarId j = number("j");
  SUBCASE("of the last sum only") {
    sums = 4;
    weights = 384;
    const ExprRef step = mul(quotient(sub(add(var(k), 3), var(s)), 4), 4);
    weight_at = add(add(mul(var(r), 128), mul(var(s), 32)), add(var(k), step));
    program(block(zeros(), nest()));
  }
  SUBCASE("terms that begin anywhere") {
    weights = 96;
    weight_at = in_fours(*this, 48, 16, 0);
    data_at = var(k);
    sum_at = add(mul(var(j), 8), var(s));
    const VarId n = number("n");
    const tir::Stmt terms_from = {tir::For{k, var(j), imm(8), block(loop(s, sums, block(update())))}};
    program(block(loop(n, 64, block(store(sum, var(n), imm(0)))), loop(j, 4, block(terms_from))));
  }
  CHECK_FALSE(blocked_as_laid_out());
}

TEST_CASE_FIXTURE(KernelFixture, "kernels: numbers of terms that are known late") {
  const VarId j = number("j");
  sum_at = add(mul(var(j), sums), var(s));
  SUBCASE("whole rows") {
    const ExprRef low = larger(imm(0), sub(imm(1), var(j)));
    begin = low;
    length = sub(smaller(imm(3), sub(imm(5), var(j))), low);
    data_at = add(mul(sub(add(var(j), var(r)), 1), terms), var(k));
    weight_at = add(add(mul(var(s), rows * terms), mul(var(r), terms)), var(k));
  }
  SUBCASE("terms beyond whole fours") {
    weights = 128;
    data_at = var(k);
    weight_at = in_fours(*this, 64, 16, 0);
  }
  const tir::Stmt sums_of_all =
      weights == 0 ? nest() : loop_to(k, sub(imm(15), var(j)), block(loop(s, sums, block(update()))));
  const tir::Stmt clear = loop(first, sums, block(store(sum, add(mul(var(j), sums), var(first)), imm(0))));
  program(block(loop(j, 6, block(clear, sums_of_all))));
  CHECK(blocked_as_laid_out());
  CHECK(has(weights == 0 ? "window_run" : "dot4"));
}

TEST_CASE("kernels: rows that are no window") {
  const auto changed = [](KernelFixture& one) {
    one.weight_at = add(add(mul(one.var(one.s), one.rows * one.terms), mul(one.var(one.r), one.terms)), one.var(one.k));
    one.program(block(one.zeros(), one.nest()));
    CHECK(one.blocked_as_laid_out());
    return one.text();
  };
  SUBCASE("of 16 bits") {
    KernelFixture one(int16_type);
    one.terms = 7;
    CHECK(changed(one).find("dot4(sum3[0]") != std::string::npos);
  }
  SUBCASE("weights of 16 bits") {
    KernelFixture one(tir::uint8_type, int16_type);
    one.terms = 7;
    CHECK(changed(one).find("dot4(sum3[0]") != std::string::npos);
  }
  SUBCASE("of fewer terms than the core wants") {
    KernelFixture one;
    one.terms = 4;
    one.data_at = add(mul(one.var(one.r), 20), one.var(one.k));
    one.weight_at = add(add(mul(one.var(one.s), 12), mul(one.var(one.r), 4)), one.var(one.k));
    one.program(block(one.zeros(), one.nest()));
    kernels::Core core = one.core();
    core.row_terms = 5;
    SUBCASE("of five") {}
    SUBCASE("of none") { core.row_terms = 0; }
    kernels::block_sums(one.changed(), core);
    one.check_same();
    CHECK_FALSE(one.has("window_run"));
    CHECK(one.has("dot4"));
  }
  SUBCASE("a number of sums that four does not divide") {
    KernelFixture one;
    one.terms = 7;
    one.sums = 6;
    CHECK(changed(one).find("window_run") == std::string::npos);
  }
  SUBCASE("that are in a ring") {
    KernelFixture one;
    one.terms = 7;
    one.data_at = add(mul(binary(ExprKind::mod, add(one.var(one.r), 1), imm(2)), one.terms), one.var(one.k));
    CHECK(changed(one).find("window_run") == std::string::npos);
  }
}

}  // namespace
}  // namespace usmp::transform::testing::kernels_test

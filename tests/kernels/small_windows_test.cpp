// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Small windows that are copied to the stack to be one run.
#include "kernels/small_windows.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "kernels/kernel_fixture.hpp"

namespace usmp::transform::testing::small_windows_test {
namespace {

using namespace kernels_test;

// For each j sums of the function's own over a window whose rows are apart, copied to an output.
struct WindowFixture : KernelFixture {
  explicit WindowFixture(tir::DataType data_type = int8_type, tir::DataType type = int8_type)
      : KernelFixture(data_type, type) {
    sum = buffer("own");
    terms = 9;
    offset = 1;
    data_at = add(add(mul(add(var(j), var(r)), 31), var(k)), 5);
  }

  VarId result = sum;  // the output of the fixture
  VarId j = number("j");
  VarId f = number("f");
  std::int64_t pixels = 3;
  ExprRef first_sum = tir::make_int(0);
  bool for_words = true;

  [[nodiscard]] tir::Stmt own_sums() const {
    tir::Stmt own = allocate(sum, sums);
    std::get<tir::Allocate>(own.node).on_stack = std::get<tir::Allocate>(own.node).was_on_stack = true;
    return own;
  }
  void program_with(tir::Block more = {}) {
    const ExprRef at = add(mul(var(j), sums), var(f));
    tir::Stmt clear = loop(first, sums, block(store(sum, var(first), first_sum)));
    tir::Stmt copied = loop(f, sums, block(store(result, at, load(sum, var(f)))));
    tir::Block all = std::move(more);
    if (sum == result) {
      all.push_back(loop(j, 1, block(std::move(clear), nest())));
    } else {
      all.push_back(own_sums());
      all.push_back(loop(j, pixels, block(std::move(clear), nest(), std::move(copied))));
    }
    program(std::move(all));
  }
  [[nodiscard]] kernels::Core for_window() const {
    kernels::Core made = core();
    made.in_rows = !for_words;
    made.paired_terms = for_words ? 8 : 0;
    made.front_percent = 100;
    return made;
  }
  bool taken() {
    kernels::take_small_windows(changed(), for_window());
    check_same();
    return has("window[");
  }
  void finish() {
    kernels::lay_out_weights(changed(), for_window());
    check_same();
    kernels::block_sums(changed(), for_window());
    check_same();
  }
  [[nodiscard]] std::size_t declarations() {
    std::size_t count = 0;
    tir::for_each_stmt(op().body,
                       [&](const tir::Stmt& stmt) { count += std::holds_alternative<tir::AllocateConst>(stmt.node); });
    return count;
  }
};

TEST_CASE_FIXTURE(WindowFixture, "small windows: 27 terms are seven fours") {
  program_with();
  REQUIRE(taken());
  CHECK(has("own[s] + (int32(window[k_1]) + 1) * int32(weight[s * 28 + k_1])"));
  finish();
  CHECK(has("dot_run<>(own[0], window[0], weight[0], 0, 2, 112, 7, 1, 4)"));
}

TEST_CASE_FIXTURE(WindowFixture, "small windows: 27 terms in a row") {
  for_words = false;
  program_with();
  REQUIRE(taken());
  finish();
  CHECK(has("row_run<>(own[0], window[0], weight[0], 0, 8, 27, 27, 1, 0)"));
}

TEST_CASE("small windows: any number of terms, types and zero points") {
  for (const bool for_words : {true, false}) {
    for (const tir::DataType data : {int8_type, tir::uint8_type}) {
      for (std::int64_t terms = 1; terms < 29; terms += 3) {
        for (std::int64_t rows = 2; rows < 5; ++rows) {
          WindowFixture one(data);
          one.for_words = for_words;
          one.terms = terms;
          one.rows = rows;
          one.sums = 16;
          one.offset = data.is_int() ? terms * 4 : -terms * 4;
          one.program_with();
          const bool is_taken = one.taken();
          CAPTURE(terms);
          CAPTURE(rows);
          CHECK((is_taken || for_words));
          if (!is_taken) continue;
          one.finish();
          CHECK(one.has("_run"));
        }
      }
    }
  }
}

TEST_CASE("small windows: what the border leaves out is a zero point") {
  for (const bool for_words : {true, false}) {
    for (const std::int64_t zero_point : {0, 128, -83}) {
      for (const std::int64_t terms : {9, 10, 30}) {
        WindowFixture one(zero_point == 0 ? tir::uint8_type : int8_type);
        one.for_words = for_words;
        one.pixels = 4;
        one.offset = zero_point;
        one.terms = terms;
        one.sums = 16;
        one.begin = larger(imm(0), sub(imm(1), one.var(one.j)));
        one.length = sub(smaller(imm(3), sub(imm(5), one.var(one.j))), one.begin);
        one.program_with();
        CAPTURE(zero_point);
        CAPTURE(terms);
        REQUIRE(one.taken());
        CHECK(one.has("else") == for_words);
        one.finish();
        CHECK(one.has(for_words ? (terms == 30 ? "dot_run" : "pair_run") : "row_run"));
      }
    }
  }
}

// As above, of the terms of a row.
TEST_CASE("small windows: what the border cuts of a run") {
  for (const bool for_words : {true, false}) {
    WindowFixture one;
    one.for_words = for_words;
    one.sums = 16;
    const ExprRef begin = larger(imm(0), sub(imm(2), one.var(one.j)));
    tir::Stmt clear = one.loop(one.first, one.sums, block(one.store(one.sum, one.var(one.first), imm(0))));
    tir::For row{one.k, begin, sub(imm(9), begin), block(one.loop(one.s, one.sums, block(one.update())))};
    tir::Stmt nest = one.loop(one.r, one.rows, block(tir::Stmt{std::move(row)}));
    tir::Stmt copied = one.loop(one.f, one.sums,
                                block(one.store(one.result, add(mul(one.var(one.j), one.sums), one.var(one.f)),
                                                one.load(one.sum, one.var(one.f)))));
    one.program(block(one.own_sums(),
                      one.loop(one.j, one.pixels, block(std::move(clear), std::move(nest), std::move(copied)))));
    REQUIRE(one.taken());
    CHECK(one.has("let first"));
    one.finish();
  }
}

TEST_CASE_FIXTURE(WindowFixture, "small windows: a core that has no pairs") {
  program_with();
  kernels::Core none = for_window();
  none.paired_terms = 0;
  kernels::take_small_windows(changed(), none);
  CHECK(is_unchanged());
}

TEST_CASE_FIXTURE(WindowFixture, "small windows: more than 64 bytes, in two parts") {
  rows = 9;
  terms = 10;
  sums = 16;
  SUBCASE("as they are") {}
  SUBCASE("that the border cuts") {
    begin = larger(imm(0), sub(imm(7), mul(var(j), 4)));
    length = sub(imm(9), begin);
  }
  SUBCASE("in rows") { for_words = false; }
  SUBCASE("in rows, that the border cuts") {
    for_words = false;
    length = smaller(imm(9), add(mul(var(j), 4), 1));
  }
  program_with();
  REQUIRE(taken());
  CHECK(declarations() == 2);
  CHECK(has(for_words ? "window: int8[52]" : "window: int8[50]"));
  CHECK(has("weight_rest"));
  finish();
  CHECK(has(for_words ? "pair_run" : "row_run"));
  CHECK(has(for_words ? "dot_run" : "row_run"));
}

TEST_CASE_FIXTURE(WindowFixture, "small windows: of a ring") {
  data_at = add(mul(binary(ExprKind::mod, add(mul(var(j), 7), var(r)), imm(9)), terms + 2), var(k));
  SUBCASE("for words") {}
  SUBCASE("in rows") { for_words = false; }
  program_with();
  CHECK(taken());
  finish();
}

TEST_CASE_FIXTURE(WindowFixture, "small windows: which are left alone") {
  SUBCASE("a single run of fours") {
    terms = 8;
    data_at = add(add(mul(var(r), 8), var(k)), var(j));
  }
  SUBCASE("a single run, in rows") {
    for_words = false;
    data_at = add(add(mul(var(r), 9), var(k)), var(j));
  }
  SUBCASE("few terms") {
    rows = 1;
    terms = 5;
    sums = 4;
  }
  SUBCASE("sums that fours do not divide") { sums = 7; }
  SUBCASE("more than 128 bytes") {
    rows = 15;
    sums = 16;
  }
  SUBCASE("more than 128 bytes, in rows") {
    for_words = false;
    rows = 15;
  }
  SUBCASE("66 bytes, rows of more than half") {
    for_words = false;
    rows = 2;
    terms = 33;
  }
  SUBCASE("terms that share a weight") {
    weight_at = add(mul(var(k), sums), var(s));
    weights = terms * sums;
  }
  SUBCASE("terms some of which share a weight") {
    terms = 8;
    weight_at = add(add(mul(var(s), 16), mul(var(r), 4)), var(k));
  }
  SUBCASE("a constant of which it reads a part") { weights = 400; }
  SUBCASE("a zero point that no byte is") { offset = 129; }
  SUBCASE("sums that begin with something else") { first_sum = imm(1); }
  SUBCASE("sums that are an output") { sum = result; }
  program_with();
  CHECK_FALSE(taken());
}

TEST_CASE_FIXTURE(WindowFixture, "small windows: weights that something else reads") {
  const VarId n = number("n");
  const VarId copies = output("copies", 8, int8_type);
  program_with(block(loop(n, 8, block(store(copies, var(n), load(weight, var(n)))))));
  CHECK_FALSE(taken());
}

TEST_CASE("small windows: data that another constant has") {
  WindowFixture one;
  const VarId other = one.buffer("other", int8_type);
  one.program_with();
  tir::Block& body = one.op().body;
  auto again = std::get<tir::AllocateConst>(body.front().node);
  again.var = other;
  body.insert(body.begin(), tir::Stmt{std::move(again)});
  kernels::take_small_windows(one.changed(), one.for_window());
  CHECK_FALSE(one.has("window["));
}

TEST_CASE_FIXTURE(WindowFixture, "small windows: constants grow by at most 64 bytes") {
  rows = 3;
  terms = 3;  // 9 terms are padded to 12
  sums = 16;
  bool is_taken = true;
  SUBCASE("48 bytes") {}
  SUBCASE("72 bytes") {
    sums = 24;
    pixels = 2;
    is_taken = false;
  }
  program_with();
  CHECK(taken() == is_taken);
}

}  // namespace
}  // namespace usmp::transform::testing::small_windows_test

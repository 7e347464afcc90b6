// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pairs of weights: what SMLAD adds up, step by step, against plain sums; windows that become one call.
#include "kernels/pairs.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kernels/kernel_fixture.hpp"

namespace usmp::transform::testing::pairs_test {
namespace {

using kernels_test::KernelFixture;

std::int64_t byte_at(const std::string& bytes, std::size_t i) { return static_cast<signed char>(bytes[i]); }

std::uint32_t number_at(const std::string& bytes, std::size_t place, int count) {
  std::uint32_t number = 0;
  for (int i = 0; i < count; ++i) {
    number |= std::uint32_t{static_cast<unsigned char>(bytes[place + static_cast<std::size_t>(i)])} << (8 * i);
  }
  return number;
}

// The word with its bytes from the front on.
std::uint32_t word_of(const std::string& data, std::size_t place) { return number_at(data, place, 4); }
std::int64_t half_of(std::uint32_t word, int half) { return static_cast<std::int16_t>(word >> (16 * half)); }
std::int64_t byte_of(std::uint32_t word, int byte, bool has_sign) {
  const auto value = static_cast<std::uint8_t>(word >> (8 * byte));
  return has_sign ? static_cast<std::int64_t>(static_cast<std::int8_t>(value)) : value;
}

// What the instructions compute for sum `s` of a block: SMLAD of unpacked data and pairs, and of turned data and
// unpacked pairs, in 32 bits, and a shift.
std::int32_t computed(const std::string& pairs, const std::string& data, std::size_t s, bool has_sign) {
  std::uint32_t sum = number_at(pairs, 4 * s, 4);
  for (std::size_t four = 0; four < data.size() / 4; ++four) {
    const std::uint32_t x = word_of(data, 4 * four);
    const std::uint32_t turned = x ^ (has_sign ? 0x007f007fU : 0x80ff80ffU);
    const std::uint32_t word = word_of(pairs, 16 + 16 * four + 4 * s);
    for (const int half : {0, 1}) {
      sum += static_cast<std::uint32_t>(byte_of(x, 2 * half, has_sign) * half_of(word, half));
      sum += static_cast<std::uint32_t>(half_of(turned, half) * byte_of(word, 2 * half, true));
    }
  }
  return static_cast<std::int32_t>(sum) >> 8;
}

TEST_CASE("pairs: what the instructions add up are the sums, of all bytes and zero points") {
  std::uint32_t state = 1;
  const auto next = [&] { return state = state * 1664525U + 1013904223U; };
  for (const bool has_sign : {true, false}) {
    for (const std::int64_t zero_point : {-255, -128, -3, 0, 1, 11, 127, 128}) {
      for (const std::int64_t terms : {4, 8, 52, 128}) {
        CAPTURE(zero_point);
        std::string weights;
        std::string data;
        // The extremes, too: all that is 127, -127 and -128.
        const std::uint32_t kind = next() >> 16 & 3U;
        for (std::int64_t i = 0; i < 4 * terms; ++i) {
          const auto byte = static_cast<char>(next() >> 24);
          weights.push_back(kind == 0 ? byte : kind == 1 ? '\x7f' : i % 2 == 0 ? '\x81' : '\x80');
          if (i % 2 == 1 && weights[weights.size() - 2] == '\x80' && weights.back() < 0) weights.back() = 1;
        }
        for (std::int64_t i = 0; i < terms; ++i) data.push_back(static_cast<char>(next() >> 24));
        const tir::DataType type{has_sign ? tir::TypeCode::int_ : tir::TypeCode::uint, 8, 1};
        const auto pairs = kernels::paired(weights, terms, type, zero_point);
        REQUIRE(pairs);
        REQUIRE(pairs->size() == weights.size() + 16);
        for (std::size_t s = 0; s < 4; ++s) {
          std::int64_t sum = 0;
          for (std::size_t k = 0; k < data.size(); ++k) {
            const std::int64_t x = has_sign ? byte_at(data, k) : static_cast<unsigned char>(data[k]);
            sum += (x + zero_point) * byte_at(weights, k / 4 * 16 + s * 4 + k % 4);
          }
          CHECK(computed(*pairs, data, s, has_sign) == sum);
        }
      }
    }
  }
}

TEST_CASE("pairs: not of what does not fit 16 bits, nor of sums that do not fit 24") {
  const tir::DataType bytes{tir::TypeCode::int_, 8, 1};
  std::string weights(16, '\x80');
  SUBCASE("two of -128") { CHECK_FALSE(kernels::paired(weights, 4, bytes, 0)); }
  SUBCASE("-128 and 0 fit") {
    for (std::size_t i = 1; i < 16; i += 2) weights[i] = 0;
    CHECK(kernels::paired(weights, 4, bytes, 0));
  }
  SUBCASE("2^23 - 1 is the most that any sum may be") {
    // 255 · (127 · 256 + 127 + 127 + 130) is less by 127 than 2^23.
    for (const int last : {0, 1}) {
      weights.assign(std::size_t{4} * 260, 0);
      for (std::size_t k = 0; k < 260; ++k) {
        const int value = k < 259 ? 127 : last + 3;
        weights[k / 4 * 16 + 8 + k % 4] = static_cast<char>(k % 3 == 0 ? -value : value);
      }
      const bool fits = 255 * (259 * 127 + last + 3) < 1 << 23;
      CHECK(kernels::paired(weights, 260, bytes, 128).has_value() == fits);
      CHECK(fits == (last == 0));
    }
  }
}

// For each j all sums of a window that nothing cuts.
struct PairFixture : KernelFixture {
  VarId j = number("j");
  std::int64_t zero_point = 0;
  std::function<char(std::int64_t)> weight_byte = [](std::int64_t i) { return static_cast<char>(i * 37 % 255 - 127); };
  kernels::Core core{.name = "cortex-m4", .paired_terms = 8, .front_percent = 50};

  explicit PairFixture(tir::DataType data_type = tir::uint8_type) : KernelFixture(data_type, int8_type) {
    sum_at = add(mul(var(j), sums), var(s));
    data_at = add(add(mul(var(r), terms), var(k)), mul(var(j), 8));
  }
  [[nodiscard]] tir::Stmt clear(std::int64_t value = 0) {
    return loop(first, sums, block(store(sum, add(mul(var(j), sums), var(first)), imm(value))));
  }
  void in_loop(tir::Block statements) {
    tir::Constant bytes{int8_type, {rows * terms * sums}, {}};
    for (std::int64_t i = 0; i < rows * terms * sums; ++i) bytes.bytes.push_back(weight_byte(i));
    tir::Stmt constant{
        tir::AllocateConst{weight, int8_type, std::make_shared<const tir::Constant>(std::move(bytes)), {}}};
    body(block(std::move(constant), loop(j, 5, std::move(statements))));
    for (tir::Param& param : op().params) param.no_alias = true;
  }
  // Whether the weights become pairs; if so, all of it is then one call.
  bool are_pairs() {
    kernels::lay_out_weights(changed(), core);
    check_same();
    const bool are = has("paired_weight");
    kernels::block_sums(changed(), core);
    check_same();
    CHECK(has("pair_run") == are);
    CHECK_FALSE(has("paired_weight"));
    return are;
  }
};

TEST_CASE_FIXTURE(PairFixture, "pairs: a window that nothing cuts is one call") {
  SUBCASE("of one row") { rows = 1; }
  SUBCASE("of several rows that are one run") {}
  SUBCASE("of a zero point") { offset = 128; }
  in_loop(block(clear(), nest()));
  CHECK(are_pairs());
  CHECK(has(rows == 1 ? ", 2, 2, " : ", 2, 6, "));
}

TEST_CASE("pairs: of bytes with and without a sign") {
  for (const tir::DataType type : {int8_type, tir::uint8_type}) {
    PairFixture one(type);
    one.offset = 5;
    one.in_loop(block(one.clear(), one.nest()));
    CHECK(one.are_pairs());
  }
}

TEST_CASE("pairs: not of 16 bits") {
  PairFixture one(int16_type);
  one.in_loop(block(one.clear(), one.nest()));
  CHECK_FALSE(one.are_pairs());
}

TEST_CASE_FIXTURE(PairFixture, "pairs: what one call does not add up stays as it is") {
  tir::Block statements = block(clear(), nest());
  SUBCASE("a window that a border cuts") {
    begin = larger(imm(0), sub(imm(1), var(j)));
    length = sub(imm(3), begin);
    statements = block(clear(), nest());
  }
  SUBCASE("terms of several places") {
    data_at = add(add(mul(var(r), 32), var(k)), mul(var(j), 8));
    statements = block(clear(), nest());
  }
  SUBCASE("sums that begin with something else") { statements = block(clear(3), nest()); }
  SUBCASE("sums that something else than the loop in front begins") {
    statements = block(clear(), store(sum, imm(0), imm(9)), nest());
  }
  SUBCASE("what would add too much to the constants") { core.front_percent = 16; }
  SUBCASE("few terms") { core.paired_terms = 25; }
  SUBCASE("other cores") { core.paired_terms = 0; }
  SUBCASE("a pair that does not fit") {
    weight_byte = [](std::int64_t) { return '\x80'; };
  }
  in_loop(std::move(statements));
  CHECK_FALSE(are_pairs());
}

TEST_CASE_FIXTURE(PairFixture, "pairs: sums that no loop around begins, too, stay") {
  // Two functions: what sets the sums is not in front of the nest any more when kernels are written.
  sum_at = var(s);
  data_at = nullptr;
  program(block(zeros(), nest()));
  kernels::lay_out_weights(changed(), core);
  CHECK_FALSE(has("paired_weight"));
}

TEST_CASE_FIXTURE(PairFixture, "pairs: rings hold only the newest rows, of which several are no run") {
  const VarId ring = buffer("ring", tir::uint8_type);
  const auto window = [&](std::int64_t of_rows) {
    rows = of_rows;
    data_value = wide(ring, add(mul(var(r), terms), var(k)));
    tir::Stmt stored = loop(number("i"), 1, block(store(ring, imm(0), tir::make_int(7, tir::uint8_type))));
    in_loop(block(clear(), nest()));
    tir::Stmt allocate = {tir::Allocate{.var = ring,
                                        .type = tir::uint8_type,
                                        .extents = {imm(of_rows * terms)},
                                        .condition = nullptr,
                                        .candidate_pools = {}}};
    std::get<tir::Allocate>(allocate.node).ring = tir::Ring{.stride = terms, .extent = of_rows, .rows = of_rows};
    op().body.insert(op().body.begin(), std::move(allocate));
    kernels::lay_out_weights(changed(), core);
    return has("paired_weight");
  };
  SUBCASE("one row") { CHECK(window(1)); }
  SUBCASE("three rows") { CHECK_FALSE(window(3)); }
}

}  // namespace
}  // namespace usmp::transform::testing::pairs_test

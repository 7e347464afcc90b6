// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Random inputs within their bounds, elements as text, and outputs that differ.
#include "execute/tensors.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>

#include "execute/results.hpp"

namespace usmp::execute::tensors_test {

using execute::compare_elements;
using execute::element_text;
using execute::Tensor;
using tir::DataType;
using tir::TypeCode;

namespace {

constexpr DataType type_of(TypeCode code, std::uint8_t bits) { return {code, bits, 1}; }
constexpr DataType i8 = type_of(TypeCode::int_, 8);
constexpr DataType i32 = type_of(TypeCode::int_, 32);
constexpr DataType u64 = type_of(TypeCode::uint, 64);
constexpr DataType f16 = type_of(TypeCode::float_, 16);
constexpr DataType f32 = type_of(TypeCode::float_, 32);
constexpr DataType f64 = type_of(TypeCode::float_, 64);
constexpr DataType bf16 = type_of(TypeCode::bfloat, 16);

std::string random_bytes(DataType element, Bytes size, std::uint64_t seed = 1) {
  return execute::random_inputs({Tensor{"x", "x", element, size}}, 1, seed);
}

template <class T>
std::vector<T> values(const std::string& bytes) {
  std::vector<T> result(bytes.size() / sizeof(T));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// From -4 to 4, over the whole of it, and not all alike.
template <class T>
void check_floats(const std::vector<T>& floats) {
  double least = 0;
  double greatest = 0;
  for (const T value : floats) {
    REQUIRE(std::isfinite(value));
    least = std::min(least, static_cast<double>(value));
    greatest = std::max(greatest, static_cast<double>(value));
  }
  CHECK(least >= -4);
  CHECK(least < -3.9);
  CHECK(greatest < 4);
  CHECK(greatest > 3.9);
  CHECK(std::set<T>(floats.begin(), floats.end()).size() > floats.size() / 2);
}

}  // namespace

TEST_CASE("inputs are the same for the same seed, and others for another") {
  // The low halves of what SplitMix64 is published to give for 0.
  CHECK(values<std::int32_t>(random_bytes(i32, 12, 0)) ==
        std::vector<std::int32_t>{2065550767, -1581685260, -2146876081});
  CHECK(random_bytes(i8, 64, 7) == random_bytes(i8, 64, 7));
  CHECK(random_bytes(i8, 64, 7) != random_bytes(i8, 64, 8));
  const std::string rounds = execute::random_inputs({Tensor{"x", "x", i8, 64}}, 2, 7);
  CHECK(rounds.substr(0, 64) != rounds.substr(64));
}

TEST_CASE("inputs suit their types") {
  const auto bytes = values<std::int8_t>(random_bytes(i8, 20000));
  CHECK(std::set<std::int8_t>(bytes.begin(), bytes.end()).size() == 256);
  // Sums of as many as a tensor has do not overflow, nor does a product of two.
  const auto longs = values<std::int64_t>(random_bytes(type_of(TypeCode::int_, 64), 80000));
  const auto [least, greatest] = std::minmax_element(longs.begin(), longs.end());
  CHECK(*least >= INT32_MIN);
  CHECK(*least < INT32_MIN + 10000000);
  CHECK(*greatest <= INT32_MAX);
  CHECK(*greatest > INT32_MAX - 10000000);
  const auto bools = values<std::uint8_t>(random_bytes(tir::bool_type, 100));
  CHECK(std::set<std::uint8_t>(bools.begin(), bools.end()) == std::set<std::uint8_t>{0, 1});
  check_floats(values<float>(random_bytes(f32, 40000)));
  check_floats(values<double>(random_bytes(f64, 80000)));
  // The formats that C++ does not have, by way of their texts.
  for (const DataType type : {f16, bf16}) {
    const std::string halves = random_bytes(type, 4000);
    std::set<std::string> texts;
    for (std::size_t i = 0; i < 2000; ++i) {
      const std::string text = element_text(type, halves, i);
      CHECK(std::abs(std::stod(text)) < 4);
      texts.insert(text);
    }
    CHECK(texts.size() > 250);
  }
}

TEST_CASE("elements as people read them") {
  CHECK(element_text(i8, "\x01\xff", 1) == "-1");
  CHECK(element_text(i32, bytes_of<std::int32_t>({5, -7}), 1) == "-7");
  CHECK(element_text(u64, bytes_of<std::uint64_t>({~std::uint64_t{0}}), 0) == "18446744073709551615");
  CHECK(element_text(f32, bytes_of<float>({0.1F}), 0) == "0.1 (0x3dcccccd)");
  CHECK(element_text(f32, bytes_of<float>({-0.0F}), 0) == "-0 (0x80000000)");
  CHECK(element_text(f64, bytes_of<double>({1e-310}), 0) == "1e-310 (0x000012688b70e62b)");
  CHECK(element_text(f16, bytes_of<std::uint16_t>({0x3e00, 0x7c00, 0x0001}), 0) == "1.5 (0x3e00)");
  CHECK(element_text(f16, bytes_of<std::uint16_t>({0x3e00, 0xfc00}), 1) == "-inf (0xfc00)");
  CHECK(element_text(bf16, bytes_of<std::uint16_t>({0xc040}), 0) == "-3 (0xc040)");
}

TEST_CASE("what differs") {
  const auto a = bytes_of<float>({1, 2, NAN, 0.0F});
  CHECK(compare_elements(f32, a, a).count == 0);
  const auto difference = compare_elements(f32, a, bytes_of<float>({1, 3, NAN, -0.0F}));
  CHECK(difference.first == 1);
  CHECK(difference.count == 2);
  CHECK(compare_elements(f32, a, bytes_of<float>({1, 2, -NAN, 0.0F})).count == 0);
  CHECK(compare_elements(f32, a, bytes_of<float>({1, 2, INFINITY, 0.0F})).count == 1);
  CHECK(compare_elements(i32, a, bytes_of<float>({1, 2, -NAN, 0.0F})).count == 1);
}

TEST_CASE("what a harness writes") {
  const std::vector<Tensor> outputs = {{"a", "a", i8, 2}, {"b", "b", i8, 1}};
  const std::string fault("F\x01\x02\0\0\0\x05\x01\0\0\0\0\0\0", 14);
  const std::string good("R\0\0\0\0xyz", 8);
  const std::string failed("R\xff\xff\xff\xffxyz", 8);
  const std::string text = good + fault + failed + "R";
  const auto rounds = execute::parse_results(text, outputs).rounds;
  REQUIRE(rounds.size() == 2);
  CHECK(rounds[0].overwritten.empty());
  CHECK(rounds[0].status == 0);
  CHECK(rounds[0].outputs == std::vector<std::string_view>{"xy", "z"});
  CHECK(rounds[1].status == -1);
  REQUIRE(rounds[1].overwritten.size() == 1);
  CHECK(execute::overwritten_text(rounds[1].overwritten[0], {"p", "q", "pool 'r'"}) ==
        "byte 261 beyond the end of pool 'r' was written to");
  for (std::size_t length = 0; length < good.size(); ++length) {
    CHECK(execute::parse_results(good.substr(0, length), outputs).rounds.empty());
    CHECK(execute::parse_results(good + fault.substr(0, length), outputs).rounds.size() == 1);
  }
  CHECK(execute::parse_results("x" + good, outputs).rounds.empty());
  const std::string outside("A\x02\x01\0\0\xfe\xff\xff\xff\xff\xff\xff\xff", 13);
  CHECK(!execute::parse_results(good, outputs).outside);
  CHECK(!execute::parse_results(good + outside.substr(0, 12), outputs).outside);
  const auto ended = execute::parse_results(good + outside, outputs);
  REQUIRE(ended.outside);
  CHECK(ended.rounds.size() == 1);
  CHECK(ended.outside->access == 258);
  CHECK(ended.outside->index == -2);
}

}  // namespace usmp::execute::tensors_test

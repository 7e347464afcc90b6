// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Numbers of tables, read in bulk and token by token, against the values that C says.
#include "tvm_c/text/listed_numbers.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/text/file_scope.hpp"

namespace usmp::tvm_c::listed_numbers_test {
namespace {

using tir::DataType;
using tir::TypeCode;

constexpr DataType int8{TypeCode::int_, 8, 1};
constexpr DataType uint8{TypeCode::uint, 8, 1};
constexpr DataType uint64{TypeCode::uint, 64, 1};
constexpr DataType float32{TypeCode::float_, 32, 1};
constexpr DataType float64{TypeCode::float_, 64, 1};

// What is left, and what was read.
std::string rest(std::string_view text, DataType type, std::int64_t most = 1000) {
  tir::Constant data;
  data.type = type;
  const Listed listed = append_listed(text, 0, most, data);
  CHECK(static_cast<std::int64_t>(data.bytes.size()) == listed.count * type.bytes());
  return std::string(text.substr(listed.end)) + "|" + std::to_string(listed.count);
}

template <class T>
std::vector<T> values(std::string_view text, DataType type) {
  tir::Constant data;
  data.type = type;
  (void)append_listed(text, 0, 1000, data);
  std::vector<T> result(data.bytes.size() / sizeof(T));
  std::memcpy(result.data(), data.bytes.data(), data.bytes.size());
  return result;
}

// The bytes of the table, or the message; with comments in front of the commas no number is read in bulk.
std::string table(std::string_view type, const std::vector<std::string>& numbers, bool has_comments) {
  std::string text = "static const " + std::string(type) + " t[" + std::to_string(numbers.size()) + "] = {";
  for (const std::string& number : numbers) text += number + (has_comments ? "/**/," : ",");
  FileScope scope;
  try {
    const std::string whole = text + "};";
    read_file_scope(split(whole), 0, false, scope);
  } catch (const SyntaxError& error) {
    return "fault: " + error.message;
  }
  return scope.tables.at("t").at(0).data->bytes;
}

TEST_CASE("numbers are read as long as they are plain") {
  CHECK(rest("1, -2,\n+0x7f, 4}", int8) == " 4}|3");
  CHECK(rest("1, 2, 3, 4,", int8, 2) == " 3, 4,|2");
  CHECK(rest("127, -128, 128,", int8) == " 128,|2");
  CHECK(rest("255, 256,", uint8) == " 256,|1");
  CHECK(rest("0, -1,", uint8) == " -1,|1");
  CHECK(rest("0, 017,", int8) == " 017,|1");  // octal
  CHECK(rest("1, 2u,", int8) == " 2u,|1");
  CHECK(rest("1, 2 /* two */, 3,", int8) == " 2 /* two */, 3,|1");
  CHECK(rest("1, name,", int8) == " name,|1");
  CHECK(rest("1, --2,", int8) == " --2,|1");
  CHECK(rest("1, - 2,", int8) == " - 2,|1");
  CHECK(rest("1, 0x,", int8) == " 0x,|1");
  CHECK(rest("1, 2", int8) == " 2|1");
  CHECK(rest("1, 2.5,", int8) == " 2.5,|1");
  CHECK(rest("1, 00000000000000000000001,", int8) == " 00000000000000000000001,|1");
  CHECK(rest("1,", uint64) == "1,|0");
  CHECK(rest("1, \\\n2,", int8) == " \\\n2,|1");
  CHECK(rest("1.5, 2.,", float32) == "|2");
  CHECK(rest("1.5, 2,", float32) == " 2,|1");
  CHECK(rest("1.5, 0x1f,", float32) == " 0x1f,|1");
  CHECK(rest("1.5, 1.5l,", float32) == " 1.5l,|1");
  CHECK(rest("1.5, 1e39,", float32) == " 1e39,|1");
  CHECK(rest("1.5, 1e,", float32) == " 1e,|1");
  CHECK(rest("1.5, .5,", float32) == " .5,|1");
  CHECK(rest("1.5, 0x1p128,", float32) == " 0x1p128,|1");
  CHECK(rest("1.5, 0x1.0000001p0,", float32) == " 0x1.0000001p0,|1");  // is rounded
  CHECK(rest("1.5, inf, nan,", float64) == " inf, nan,|1");
  CHECK(values<std::int8_t>("+0x7f, -0x80, 0, -0,", int8) == std::vector<std::int8_t>{127, -128, 0, 0});
  CHECK(values<float>("-0x1.8p-3, 0x1.fffffep127f, 0x1p-149, 2.5e-1f, -0.0,", float32) ==
        std::vector<float>{-0.1875F, 0x1.fffffep127F, 0x1p-149F, 0.25F, 0.0F});
  CHECK(std::signbit(values<float>("-0x0p+0,", float32)[0]));
  CHECK(values<double>("0x1.fffffffffffffp1, 0.1, 0.1f,", float64) ==
        std::vector<double>{0x1.fffffffffffffp1, 0.1, static_cast<double>(0.1F)});
}

TEST_CASE("numbers in float tables are what C makes of them") {
  const auto value = [](const std::string& number, bool has_comments) {
    float result = 0;
    const std::string bytes = table("float", {number}, has_comments);
    REQUIRE(bytes.size() == sizeof(result));
    std::memcpy(&result, bytes.data(), sizeof(result));
    return result;
  };
  for (const bool has_comments : {false, true}) {
    CHECK(value("0x1f", has_comments) == 31.0F);  // an integer, which ends in no suffix
    CHECK(value("017", has_comments) == 15.0F);
    CHECK(value("-12", has_comments) == -12.0F);
    CHECK(value("16777217", has_comments) == 16777216.0F);
    // Rounded to double first, which is half way between two floats; the float nearest to the number is the other one.
    CHECK(value("1.00000017881393432617187499", has_comments) == 1.00000024F);
    CHECK(value("1.00000017881393432617187499f", has_comments) == 1.00000012F);
  }
}

TEST_CASE("a suffix rounds a hexadecimal number of a table of double as C does") {
  for (const bool has_comments : {false, true}) {
    CHECK(table("double", {"0x1.000001p0f"}, has_comments) == table("double", {"1.0"}, has_comments));
    CHECK(table("double", {"0x1.0000010000001p0f"}, has_comments) == table("double", {"0x1.000002p0"}, has_comments));
    CHECK(table("double", {"0x1p200f"}, has_comments).starts_with("fault: "));
    CHECK(table("double", {"0x1.8p3f"}, has_comments) == table("double", {"12.0"}, has_comments));
    CHECK(table("double", {"0x1.000001p0"}, has_comments) != table("double", {"1.0"}, has_comments));
  }
}

TEST_CASE("casts in tables change nothing, or are refused") {
  const auto one = [](std::string_view type, const std::string& number) { return table(type, {number}, false); };
  CHECK(one("int16_t", "(int16_t)-5") == one("int16_t", "-5"));
  CHECK(one("int16_t", "-(int16_t)(5)") == one("int16_t", "-5"));
  CHECK(one("int16_t", "(int8_t)-5") == one("int16_t", "-5"));
  CHECK(one("int16_t", "(int8_t)127") == one("int16_t", "127"));
  CHECK(one("float", "(float)2.5") == one("float", "2.5"));
  CHECK(one("uint64_t", "(uint64_t)0xffffffffffffffff") == one("uint64_t", "-1"));
  for (const auto& [type, number] :
       std::vector<std::pair<std::string_view, std::string>>{{"int16_t", "(int8_t)200"},
                                                             {"int16_t", "(uint8_t)-1"},
                                                             {"int16_t", "-(uint8_t)5"},
                                                             {"int16_t", "-(int8_t)128"},
                                                             {"int16_t", "(int16_t)(int8_t)200"},
                                                             {"int16_t", "(bool)2"},
                                                             {"int64_t", "-(int64_t)0x80000000"},
                                                             {"float", "(int32_t)2"},
                                                             {"float", "-(float)1u"},
                                                             {"double", "(float)0.1"}}) {
    CHECK_MESSAGE(one(type, number).starts_with("fault: "), number);
  }
}

TEST_CASE("a sign in front of an unsigned literal makes what it makes in C") {
  const auto value = [](std::string_view type, const std::string& number, bool has_comments) {
    const std::string bytes = table(type, {number}, has_comments);
    std::int64_t result = 0;
    if (bytes.size() != sizeof(result)) return bytes;
    std::memcpy(&result, bytes.data(), sizeof(result));
    return std::to_string(result);
  };
  for (const bool has_comments : {false, true}) {
    CHECK(value("int64_t", "-0x000000007fffffff", has_comments) == "-2147483647");
    CHECK(value("int64_t", "-0x0000000080000000", has_comments) == "2147483648");  // of 32 bits
    CHECK(value("int64_t", "-0x00000000ffffffff", has_comments) == "1");
    CHECK(value("int64_t", "-0x0000000100000000", has_comments) == "-4294967296");
    CHECK(value("int64_t", "-0x80000000LL", has_comments) == "-2147483648");
    CHECK(value("int64_t", "-2147483648", has_comments) == "-2147483648");
    CHECK(value("int64_t", "-1u", has_comments) == "4294967295");
    CHECK(value("uint64_t", "-1", has_comments) == "-1");
    CHECK(table("int32_t", {"-0x80000000"}, has_comments) == std::string("\0\0\0\x80", 4));
    CHECK(table("double", {"-0x80000000"}, has_comments) == table("double", {"2147483648.0"}, has_comments));
    CHECK(table("float", {"-1u"}, has_comments) == table("float", {"4294967296.0"}, has_comments));
    CHECK(table("float", {"-3"}, has_comments) == table("float", {"-3.0"}, has_comments));
    // Far from the end, too.
    std::vector<std::string> numbers(2000, "3");
    numbers.front() = "-0x80000000";
    CHECK(table("int64_t", numbers, has_comments).starts_with(std::string("\0\0\0\x80\0\0\0\0\3", 9)));
  }
}

TEST_CASE("tables mean the same with comments among their numbers") {
  std::mt19937 random(2);
  const auto pick = [&](std::string_view characters) {
    return std::string(1, characters[random() % characters.size()]);
  };
  const auto number = [&] {
    std::string text = random() % 3 == 0 ? pick("+-") : "";
    if (random() % 2 == 0) text += "0x";
    for (std::size_t i = random() % 4; i < 4; ++i) text += pick(random() % 3 == 0 ? "0123456789abcdef" : "0123456789");
    if (random() % 3 == 0) text += ".";
    if (random() % 4 == 0) text += pick("0123456789");
    if (random() % 4 == 0) text += pick("epEP") + pick("+-0123456789") + pick("0123456789");
    if (random() % 6 == 0) text += pick("fFuUlL");
    return text;
  };
  for (int i = 0; i < 20000; ++i) {
    const std::string single = number();
    for (const std::string_view type : {"int8_t", "uint8_t", "int16_t", "int32_t", "uint64_t", "float", "double"}) {
      std::vector<std::string> numbers(20, "3");  // far from the end
      numbers.insert(numbers.begin(), {"1", single, "2"});
      CAPTURE(single);
      REQUIRE(table(type, numbers, false) == table(type, numbers, true));
    }
  }
  // As the C library has it.
  for (int i = 0; i < 20000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    if ((bits & 0x7f800000U) == 0x7f800000U) continue;
    const auto expected = std::bit_cast<float>(bits);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), i % 2 == 0 ? "%a" : "%.9e", static_cast<double>(expected));
    const std::string bytes = table("float", {std::string(text.data()) + (i % 3 == 0 ? "f" : "")}, false);
    CAPTURE(text.data());
    REQUIRE(bytes.size() == 4);
    REQUIRE(std::memcmp(bytes.data(), &expected, 4) == 0);
  }
}

TEST_CASE("too many and too few values are told as before") {
  CHECK(table("int8_t", {"1", "2", "3"}, false) == "\x01\x02\x03");
  FileScope scope;
  const auto read = [&](std::string_view text) {
    try {
      read_file_scope(split(text), 0, false, scope);
    } catch (const SyntaxError& error) {
      return error.message;
    }
    return std::string();
  };
  CHECK(read("static const int8_t a[2] = {1, 2, 3};") == "found more values than the array has elements");
  CHECK(read("static const int8_t b[2] = {1, 2, 3,};") == "found more values than the array has elements");
  CHECK(read("static const int8_t c[4] = {1, 2,};").empty());
  CHECK(scope.tables.at("c").at(0).data->bytes == std::string("\1\2\0\0", 4));
  CHECK(read("static const int8_t d[] = {1, 2,\n#if X\n3,\n#endif\n};").starts_with("found #if"));
  CHECK(read("static const int8_t e[] = {1, 300,};").find("which int8 does not hold") != std::string::npos);
}

}  // namespace
}  // namespace usmp::tvm_c::listed_numbers_test

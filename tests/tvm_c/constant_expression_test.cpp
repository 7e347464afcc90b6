// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Integer constant expressions and macros in them, against values that C says.
#include "tvm_c/text/constant_expression.hpp"

#include "tvm_c/text/file_scope.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace usmp::tvm_c::constant_expression_test {
namespace {

using Number = std::optional<std::int64_t>;

const std::map<std::string, std::string, std::less<>> macros = {
    {"KIB", " 1024"},       {"SUM", " 2 + 3"},      {"SIZE", " (4 * KIB)"},
    {"SELF", " SELF"},      {"NEG", " -8"},         {"UP", "(x, by) (((x) + (by) - 1) / (by) * (by))"},
    {"TWICE", " SUM SUM"},  {"GLUE", "(a) a ## 1"}, {"NONE", ""},
    {"BOTH", " (1) + (2)"}, {"LONG", " (5u)"}};

const ConstantNames names = {.definition = [](std::string_view name) -> std::optional<std::string_view> {
                               const auto found = macros.find(name);
                               return found == macros.end() ? std::nullopt
                                                            : std::optional<std::string_view>(found->second);
                             },
                             .enumerator = [](std::string_view name) { return name == "FOUR" ? Number(4) : Number(); }};

Number value(const std::string& text) { return constant_value(text, names); }

TEST_CASE("integer constant expressions have C's value") {
  CHECK(value("20 * 1024") == 20480);
  CHECK(value("1 << 12") == 4096);
  CHECK(value("0x1000 >> 2 | 1") == 1025);
  CHECK(value("100 / 7 % 5") == 4);
  CHECK(value("10 - 3 - 2") == 5);
  CHECK(value("2 + 3 * 4 << 1") == 28);
  CHECK(value("~15 & 0xff") == 0xf0);
  CHECK(value("~0xfffffff0u") == 15);
  CHECK(value("(3 > 2 ? 8 : 9) + !0") == 9);
  CHECK(value("1 == 1 && 2 >= 3 || 4 != 4") == 0);
  CHECK(value("1 ? 0 ? 2 : 3 : 4") == 3);
  CHECK(value("-7 / 2") == -3);
  CHECK(value("-7 % 3") == -1);
  CHECK(value("sizeof(int16_t) * 8 + sizeof(float)") == 20);
  CHECK(value("(size_t)4 * (uint8_t)255") == 1020);
  CHECK(value("FOUR * 2") == 8);
}

TEST_CASE("macros stand for their tokens") {
  CHECK(value("SIZE / 2") == 2048);
  CHECK(value("SUM * 4") == 14);
  CHECK(value("UP(SUM + 1, 16) * 2") == 32);
  CHECK(value("UP(100 + 1, (16))") == 112);
  CHECK(value("KIB NONE") == 1024);
  CHECK(value("GLUE(3)") == 31);
  for (const char* none : {"SELF", "TWICE", "UP(1)", "UP", "NONE", "UNKNOWN", "KIB KIB"}) {
    CHECK_MESSAGE(!value(none), none);
  }
}

TEST_CASE("what C computes otherwise on some machine, or not at all, is no value") {
  for (const char* none : {"2147483647 + 1",
                           "1 << 31",
                           "65536 * 65536",
                           "1 / 0",
                           "5 % 0",
                           "4 - sizeof(int64_t)",
                           "~sizeof(int)",
                           "1 << 32",
                           "1 << -1",
                           "-1 >> 1",
                           "-1 << 1",
                           "(int8_t)200",
                           "1.5",
                           "\"a\"",
                           "sizeof(long)",
                           "sizeof(int*)",
                           "sizeof(struct a)",
                           "sizeof KIB",
                           "x",
                           "1 +",
                           "(1",
                           "1)",
                           "1, 2",
                           "",
                           "(float)1",
                           "(size_t)-1",
                           "9223372036854775807 + 1"}) {
    CHECK_MESSAGE(!value(none), none);
  }
  CHECK(value("4294967295u") == UINT32_MAX);
  CHECK(value("2147483647LL + 1") == 2147483648);
  CHECK(value("1u - 2") == UINT32_MAX);
  CHECK(value("-1 < 1u") == 0);
}

TEST_CASE("expressions have a limit") {
  std::string sum = "1";
  for (int i = 0; i < 300; ++i) sum += " + 1";
  CHECK(value(sum) == 301);
  for (int i = 0; i < 300; ++i) sum += " + 1";
  CHECK_FALSE(value(sum));
}

TEST_CASE("a macro is a number where it may stand in any expression") {
  CHECK(constant_operand("KIB", names) == 1024);
  CHECK(constant_operand("SIZE", names) == 4096);
  CHECK(constant_operand("NEG", names) == -8);
  for (const char* none : {"SUM", "BOTH", "LONG", "NONE", "SELF"}) {
    CHECK_MESSAGE(!constant_operand(none, names), none);
  }
}

TEST_CASE("an array has less than 2^31 elements") {
  const auto extent = [](const std::string& text) {
    FileScope scope;
    const std::string array = "static int8_t a[" + text + "] = {0};";
    read_file_scope(split(array), 0, false, scope, names);
    const auto found = scope.arrays.find("a");
    return found == scope.arrays.end() ? std::nullopt : std::optional(found->second);
  };
  CHECK(extent("SIZE + 2 * (3)") == 4102);
  CHECK(extent("2147483647") == INT32_MAX);
  CHECK(extent("017") == 15);
  CHECK_FALSE(extent("2147483648"));
  CHECK_FALSE(extent("-1"));
  CHECK_FALSE(extent(""));
}

}  // namespace
}  // namespace usmp::tvm_c::constant_expression_test

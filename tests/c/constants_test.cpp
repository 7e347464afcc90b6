// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Values and types of constant expressions, against what the C standard says of them.
#include "usmp/c/constants.hpp"

#include <doctest/doctest.h>

#include "parsed.hpp"

using namespace usmp::c;

namespace {

// "5 32s": value, bits and whether it has a sign; "" if it is not known.
std::string value(const std::string& text) {
  const auto result = parsed(
      "enum { A = 3, B, C = A + 10, D = f(), E, G = 2147483647, H };\n#ifdef P\nenum { F = 1 };\n#endif\nlong long x "
      "= " +
          text + ";",
      false);
  const Tree& tree = result->tree;
  const auto constant = constant_value(tree, tree.decls.back().init);
  if (!constant) return "";
  const auto narrow = constant->as_int64();
  return (narrow ? std::to_string(*narrow) : std::to_string(static_cast<std::uint64_t>(constant->value))) + " " +
         std::to_string(constant->bits) + (constant->is_unsigned ? "u" : "s");
}

}  // namespace

TEST_CASE("constant expressions have C's values and types") {
  CHECK(value("1 + 2 * 3") == "7 32s");
  CHECK(value("A + B + C") == "20 32s");
  CHECK(value("0xFFFFFFFF") == "4294967295 32u");
  CHECK(value("4294967295") == "4294967295 64s");
  CHECK(value("0u - 1") == "4294967295 32u");
  CHECK(value("-1 < 0u") == "0 32s");
  CHECK(value("1 ? -1 : 0u") == "4294967295 32u");
  CHECK(value("sizeof(int16_t[5]) * 2") == "20 0u");
  CHECK(value("(uint8_t)300 + (int8_t)-1") == "43 32s");
  CHECK(value("'a' + '\\x41' + '\\101' + '\\n'") == "237 32s");
  CHECK(value("07 + 0b101 + 0x1F") == "43 32s");
  CHECK(value("1 << 30") == "1073741824 32s");
  CHECK(value("1ull << 63 >> 62") == "2 64u");
  CHECK(value("0 && D") == "0 32s");
  CHECK(value("!(5 > 3) || ~0 == -1") == "1 32s");
  CHECK(value("6 ^ 5") == "3 32s");
  CHECK(value("18446744073709551615u") == "18446744073709551615 64u");
  CHECK(value("0xFFFFFFFFFFFFFFFF") == "18446744073709551615 64u");
  CHECK(value("sizeof(char) + 1u") == "2 0u");
  CHECK(value("-2147483647 - 1") == "-2147483648 32s");
  CHECK(value("(long)-5 + 2") == "-3 0s");
  CHECK(value("2 - (long)3") == "-1 0s");
  CHECK(value("(long)-2147483647 - 1") == "-2147483648 0s");
  SUBCASE("of literals, where their types change") {
    CHECK(value("2147483647") == "2147483647 32s");
    CHECK(value("2147483648") == "2147483648 64s");
    CHECK(value("0x80000000") == "2147483648 32u");
    CHECK(value("4294967295u") == "4294967295 32u");
    CHECK(value("4294967296u") == "4294967296 64u");
    CHECK(value("0x100000000") == "4294967296 64s");
    CHECK(value("9223372036854775807") == "9223372036854775807 64s");
    CHECK(value("0x8000000000000000") == "9223372036854775808 64u");
    CHECK(value("0XaFl + 0B11L") == "178 0s");
    CHECK(value("0") == "0 32s");
    CHECK(value("1lu + 1Lu") == "2 0u");
    CHECK(value("1uLL") == "1 64u");
    CHECK(value("'\\0' + '\\177'") == "127 32s");
  }
  SUBCASE("of operators") {
    CHECK(value("-2 * 3") == "-6 32s");
    CHECK(value("2147483646 + 1") == "2147483647 32s");
    CHECK(value("0xFFFFFFFFFFFFFFFF * 0xFFFFFFFFFFFFFFFF") == "1 64u");
    CHECK(value("0xFFFFFFFFFFFFFFFF << 63") == "9223372036854775808 64u");
    CHECK(value("(0 << 1) + (1 << 0)") == "1 32s");
    CHECK(value("1u - 2ll") == "-1 64s");
    CHECK(value("(1 < 1) + (1 <= 1) * 2 + (1 > 1) * 4 + (1 >= 1) * 8 + (1 == 2) * 16 + (1 != 2) * 32") == "42 32s");
    CHECK(value("-7 / 2 * 10 + -7 % 2") == "-31 32s");
    CHECK(value("(6 & 5) + (6 | 1) * 10") == "74 32s");
    CHECK(value("(1 && 2) + (0 || 0) * 2 + (0 || D) + (1 || D) * 4") == "");
    CHECK(value("(1 && 2) + (0 || 0) * 2 + (1 || D) * 4 + (0 || 3) * 8 + (1 && 0) * 16") == "13 32s");
    CHECK(value("!0 + +5") == "6 32s");
  }
  SUBCASE("of casts") {
    CHECK(value("(_Bool)2 + (_Bool)0 * 2") == "1 32s");
    CHECK(value("(uint32_t)-1") == "4294967295 32u");
    CHECK(value("(int64_t)1") == "1 64s");
    CHECK(value("(int8_t)-128 + (int8_t)127") == "-1 32s");
    CHECK(value("(uint8_t)256 + (uint8_t)-1 + (char)127") == "382 32s");
    CHECK(value("sizeof(float[2]) + sizeof(char[0]) + sizeof(double[A])") == "32 0u");
  }
}

TEST_CASE("operators on constants") {
  const Constant five{5, 32, false};
  const Constant size{5, 0, true};
  CHECK(constant_binary("-", {3, 32, false}, five) == Constant{-2, 32, false});
  CHECK(constant_binary("-", {3, 32, true}, five) == Constant{4294967294, 32, true});
  CHECK(constant_binary("<", {-1, 32, false}, {5, 64, false}) == Constant{1, 32, false});
  CHECK(constant_binary("*", size, five) == Constant{25, 0, true});
  CHECK(constant_binary("-", {3, 32, false}, size) == std::nullopt);
  CHECK(constant_binary("<", {-1, 32, false}, size) == std::nullopt);
  CHECK(constant_binary("%", five, {0, 32, false}) == std::nullopt);
  CHECK(constant_binary("=", five, five) == std::nullopt);
  CHECK(constant_prefix("-", five) == Constant{-5, 32, false});
  CHECK(constant_prefix("~", five) == Constant{-6, 32, false});
  CHECK(constant_prefix("!", size) == Constant{0, 32, false});
  CHECK(constant_prefix("-", size) == std::nullopt);
  CHECK(constant_prefix("*", five) == std::nullopt);
}

TEST_CASE("what is not the same on all machines, or left open by C, is not known") {
  for (const char* text : {"D",
                           "E",
                           "D && 0",
                           "f()",
                           "x",
                           "2147483647 + 1",
                           "1 << 31",
                           "1 << 32",
                           "1 / 0",
                           "-1 >> 1",
                           "sizeof(long)",
                           "sizeof(int*)",
                           "4294967295ul",
                           "~sizeof(int)",
                           "(int8_t)200",
                           "(char)200",
                           "'\\377'",
                           "'ab'",
                           "1.5",
                           "(int)1.5",
                           "99999999999999999999",
                           "0 ? D : 1",
                           "D ? 1 : 1",
                           "1 + D",
                           "D + 1",
                           "(long)-5 + 2u",
                           "18446744073709551615",
                           "F",
                           "H",
                           "sizeof(long double)",
                           "-2147483647 - 2",
                           "(long)2147483647 + 1",
                           "sizeof(int) > -1",
                           "0u << -1",
                           "1u << 32",
                           "1 && D",
                           "0 || D",
                           "sizeof 1",
                           "(int*)0",
                           "(float)1",
                           "(int8_t)128",
                           "(int8_t)-129",
                           "(char)128",
                           "(char)-1",
                           "sizeof(int[-1][-1])",
                           "sizeof(char[65536][65536][65536][65536][65536][65536][65536][65536])",
                           "sizeof(struct S)",
                           "'\xE9'",
                           "'\\x'",
                           "'\\08'",
                           "'\\0001'",
                           "1x5",
                           "1b1",
                           "0123b",
                           "0x10000000000000000",
                           "9223372036854775808",
                           "1lul",
                           "1lL",
                           "sizeof(int[D])",
                           "\"a\"[0]",
                           "L'a'",
                           "08",
                           "1uu",
                           "0x"}) {
    CAPTURE(text);
    CHECK(value(text) == "");
  }
  CHECK_FALSE(integer_literal("''"));
  CHECK_FALSE(integer_literal("'ab"));
}

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#include "usmp/c/constants.hpp"

#include <doctest/doctest.h>

#include "parsed.hpp"

using namespace usmp::c;

namespace {

// "5 32s": value, bits and whether it has a sign; "" if it is not known.
std::string value(const std::string& text) {
  const auto result = parsed("enum { A = 3, B, C = A + 10, D = f(), E };\nlong long x = " + text + ";");
  const Tree& tree = result->tree;
  const auto constant = constant_value(tree, tree.decls.back().init);
  if (!constant) return "";
  return std::to_string(static_cast<long long>(constant->value)) + " " + std::to_string(constant->bits) +
         (constant->is_unsigned ? "u" : "s");
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
  CHECK(value("18446744073709551615u") == "-1 64u");
  CHECK(value("0xFFFFFFFFFFFFFFFF") == "-1 64u");
  CHECK(value("sizeof(char) + 1u") == "2 0u");
  CHECK(value("-2147483647 - 1") == "-2147483648 32s");
  CHECK(value("(long)-5 + 2") == "-3 0s");
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

                           "sizeof(int[D])",
                           "\"a\"[0]",
                           "L'a'",
                           "08",
                           "1uu",
                           "0x"}) {
    CAPTURE(text);
    CHECK(value(text) == "");
  }
}

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Characters that stay as they are and those that are escaped.
#include "usmp/support/printable.hpp"

#include <doctest/doctest.h>

#include <string>

namespace usmp::support::printable_test {

using usmp::printable;

TEST_CASE("plain text stays as it is") {
  CHECK(printable("") == "");
  CHECK(printable("conv2d (a\\b) ~") == "conv2d (a\\b) ~");
  CHECK(printable("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80") == "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
}

TEST_CASE("control characters are written out") {
  CHECK(printable("a\nb\r\tc") == "a\\nb\\r\\tc");
  CHECK(printable("\x1b[2J\x07\x7f") == "\\x1b[2J\\x07\\x7f");
  CHECK(printable(std::string("\0x", 2)) == "\\x00x");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\u009b31m");
}

TEST_CASE("characters that reorder or hide others are written out") {
  CHECK(printable("a\xe2\x80\xae"
                  "b") == "a\\u202eb");
  CHECK(printable("\xe2\x80\xa8\xef\xbb\xbf\xe2\x81\xa6") == "\\u2028\\ufeff\\u2066");
  CHECK(printable("\xf3\xa0\x81\x81") == "\\U000e0041");
}

TEST_CASE("what is no UTF-8 is written out byte by byte") {
  CHECK(printable("\xff") == "\\xff");
  CHECK(printable("\x80z") == "\\x80z");
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");           // overlong
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // surrogate
  CHECK(printable("\xe2\x82") == "\\xe2\\x82");           // cut off
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
}

}  // namespace usmp::support::printable_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// CRC-32 of "123456789" against the check value of the standard.
#include "usmp/support/crc32.hpp"

#include <doctest/doctest.h>

#include <string>

namespace usmp::crc32_test {

TEST_CASE("CRC-32: the check value of its standard, in one piece and in two") {
  CHECK(crc32("") == 0);
  CHECK(crc32("123456789") == 0xcbf43926);
  for (std::size_t cut = 0; cut <= 9; ++cut) {
    const std::string text = "123456789";
    CHECK(crc32(text.substr(cut), crc32(text.substr(0, cut))) == 0xcbf43926);
  }
  CHECK(crc32(std::string(4, '\xff')) == 0xffffffff);
}

}  // namespace usmp::crc32_test

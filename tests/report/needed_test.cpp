// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sizes that pools need, as text.
#include "usmp/report/needed.hpp"

#include <doctest/doctest.h>

namespace usmp::report::needed_test {

TEST_CASE("a needed size: proved, between two bounds, or not found") {
  NeededSize size{.pool = "sram", .available = 8000, .at_least = 9536, .enough = 9536};
  CHECK(needed_text(size) == "9536 bytes needed, 8000 available, 1536 missing");
  size.enough = 10000;
  CHECK(needed_text(size) == "at most 10000 bytes needed, at least 9536, 8000 available, at most 2000 missing");
  size.at_least = 8000;
  CHECK(needed_text(size) == "at most 10000 bytes needed, 8000 available, at most 2000 missing");
  size.enough.reset();
  CHECK(needed_text(size) == "8000 available, no size was found that is enough");
  size.at_least = 8001;
  CHECK(needed_text(size) == "at least 8001 bytes needed, 8000 available");
}

TEST_CASE("needed sizes: one pool, one of several, several together, an algorithm that would do") {
  CHECK(needed_text(NeededSizes{}).empty());
  const NeededSize dtcm{"dtcm", 10, 20, 20};
  const NeededSize sram{"sram", 30, 41, 41};
  const NeededSizes sizes{.shortfalls = {{{{{"fl\nash", 0, 1, 1}}}}, {{{dtcm}, {sram}}}, {{{dtcm, sram}}}},
                          .fits_with = "optimal"};
  CHECK(needed_text(NeededSizes{.shortfalls = {{{{dtcm}, {sram}}}}, .fits_with = {}}) ==
        "\n  one of these is enough, with the other pools unchanged:"
        "\n    dtcm: 20 bytes needed, 10 available, 10 missing"
        "\n    sram: 41 bytes needed, 30 available, 11 missing");
  CHECK(needed_text(sizes) ==
        "\n  fl\\nash: 1 byte needed, 0 available, 1 missing"
        "\n  one of these is needed:"
        "\n    dtcm: 20 bytes needed, 10 available, 10 missing"
        "\n    sram: 41 bytes needed, 30 available, 11 missing"
        "\n  no single pool was found to be enough; these together are:"
        "\n    dtcm: 20 bytes needed, 10 available, 10 missing"
        "\n    sram: 41 bytes needed, 30 available, 11 missing"
        "\n  algorithm optimal finds a plan in these pools");
}

}  // namespace usmp::report::needed_test

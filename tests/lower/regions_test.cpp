// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which of many pointers reach the same bytes: the sweep against all pairs.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "lower/regions.hpp"

namespace usmp::lower::regions_test {
namespace {

Region random_region(std::mt19937& random, bool in_pools) {
  Region region;
  region.kind = in_pools || random() % 4 != 0 ? Region::Kind::pool : static_cast<Region::Kind>(random() % 4);
  region.index = random() % 2;
  if (region.kind != Region::Kind::pool) return region;
  region.begin = static_cast<Bytes>(random() % 40);
  region.end = region.begin + static_cast<Bytes>(random() % 8);
  return region;
}

}  // namespace

TEST_CASE("regions that meet others are found in one sweep as in all pairs") {
  for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<Regions> all(random() % 12);
    for (Regions& regions : all) {
      const std::size_t count = seed % 5 == 0 ? random() % 3 : (random() % 8 != 0 ? 1 : 0);
      while (regions.size() < count) regions.push_back(random_region(random, seed % 2 == 0));
    }
    std::vector<bool> expected(all.size(), false);
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t k = 0; k < all.size(); ++k)
        expected[i] = expected[i] || (i != k && !are_disjoint(all[i], all[k]));
    }
    CHECK(meet_others(all) == expected);
  }
}

}  // namespace usmp::lower::regions_test

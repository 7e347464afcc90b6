// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pools that a buffer names, and the one that it lies in: which of them overflow.
#include "usmp/compare/filling.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace usmp::compare::filling_test {
namespace {

TEST_CASE("a pool overflows where a buffer lies in one that it names later, not earlier") {
  const auto overflows = [](const char* pool, const char* place) {
    Filling<std::string> filling(pool);
    filling.add({"a", "b", "c"}, place, false);
    return filling.overflows();
  };
  CHECK(overflows("a", "b"));
  CHECK(overflows("b", "c"));
  CHECK_FALSE(overflows("b", "a"));
  CHECK_FALSE(overflows("b", "b"));
  CHECK_FALSE(overflows("d", "a"));
  CHECK_FALSE(overflows("a", "d"));
}

}  // namespace
}  // namespace usmp::compare::filling_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Order and validity of ids, whose kinds do not mix.
#include "usmp/support/ids.hpp"

#include <doctest/doctest.h>

#include <type_traits>
#include <unordered_set>

namespace usmp::support::ids_test {
namespace {
struct Apple;
struct Pear;
}  // namespace

TEST_CASE("ids order by index, and the default one names nothing") {
  using AppleId = Id<Apple>;
  static_assert(!std::is_convertible_v<Id<Pear>, AppleId>);
  static_assert(!std::is_convertible_v<std::size_t, AppleId>);
  CHECK_FALSE(AppleId().valid());
  CHECK(AppleId(0).valid());
  CHECK(AppleId(7).index() == 7);
  CHECK(AppleId(1) < AppleId(2));
  CHECK(AppleId(2) == AppleId(2));
  CHECK(AppleId(2) < AppleId());
  const std::unordered_set<AppleId> set{AppleId(1), AppleId(2), AppleId(1)};
  CHECK(set.size() == 2);
}

}  // namespace usmp::support::ids_test

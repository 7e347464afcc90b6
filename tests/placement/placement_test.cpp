// SPDX-License-Identifier: Apache-2.0
#include "usmp/placement/placement.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace usmp::placement::placement_test {
namespace {

Storage storage(Bytes size, std::size_t pool, Bytes offset) {
  return {.name = "x",
          .declarations = {{tir::VarId(0), 0}},
          .kind = BufferKind::tensor,
          .size = size,
          .alignment = 1,
          .live = {},
          .place = {PoolId(pool), offset}};
}

Table table_of(std::vector<Storage> storages) {
  Table table;
  for (const char* name : {"fast", "slow", "idle"}) table.pools.push_back({.name = name});
  table.storages = std::move(storages);
  return table;
}

using Used = std::vector<Bytes>;

TEST_CASE("a pool is in use up to the end of what reaches furthest, not of what comes last") {
  CHECK(used_bytes(table_of({storage(64, 0, 0), storage(8, 0, 16), storage(4, 1, 100), storage(32, 1, 0)})) ==
        Used{64, 104, 0});
  CHECK(used_bytes(table_of({storage(0, 1, 48)})) == Used{0, 48, 0});
  CHECK(used_bytes(table_of({})) == Used{0, 0, 0});
  CHECK(used_bytes({}).empty());
}

}  // namespace
}  // namespace usmp::placement::placement_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Used bytes of pools and contents of several modules, against offsets put down by hand.
#include "usmp/placement/placement.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "usmp/support/error.hpp"

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
TEST_CASE("contents that a programmer writes: one module behind the other, each aligned") {
  const auto module = [](Bytes size, Bytes address) {
    Table table = table_of({storage(size, 1, 8)});
    table.pools[1].address = address;
    table.storages[0].alignment = 8;
    table.pools[2].address = 64;  // of a pool without contents
    return table;
  };
  Table first = module(5, 64);
  Table none = module(0, 64);
  none.storages.clear();
  Table second = module(100, 64);
  put_contents_in_a_row({&first, &none, &second});
  CHECK(first.pools[1].address == 64);
  CHECK(second.pools[1].address == 80);  // 64 + 13, a multiple of 8
  CHECK(first.pools[2].address == 64);

  const auto message_of = [](Table table) -> std::string {
    try {
      put_contents_in_a_row({&table});
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      return error.what();
    }
    return {};
  };
  CHECK(message_of(module(5, 68)) ==
        "pool 'slow': address 0x00000044 is not a multiple of 8, the alignment of its contents");
  Table two = module(8, 64);
  two.pools[0].address = 76;
  two.storages.push_back(storage(4, 0, 0));
  CHECK(message_of(two) == "pools 'fast' and 'slow' both have contents at address 0x0000004c");
  two.pools[0].address = 80;
  CHECK(message_of(two).empty());
  two.pools[0].address = 60;
  CHECK(message_of(two).empty());
}

}  // namespace usmp::placement::placement_test

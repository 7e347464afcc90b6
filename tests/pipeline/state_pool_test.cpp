// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// States of models in a pool of their own: offsets, alignment, and what does not fit.
#include "usmp/pipeline/state_pool.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "usmp/support/error.hpp"

namespace usmp::pipeline::state_pool_test {
namespace {

SourceModule model(const char* name) {
  std::ifstream file(std::string(USMP_TESTDATA "/tflite/") + name + ".tflite", std::ios::binary);
  return read_module("m", std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
}

// With one more state, of a parameter that is an input.
SourceModule two_states() {
  SourceModule source = model("svdf_int8_1001");
  REQUIRE(source.interface.states.size() == 1);
  source.interface.states.push_back(source.interface.inputs.front());
  return source;
}

config::PoolSpec backup(std::optional<Bytes> size, Bytes alignment = 1) {
  config::PoolSpec pool;
  pool.name = "backup";
  pool.size_hint = size;
  pool.alignment = alignment;
  pool.holds_state = true;
  return pool;
}

TEST_CASE("state pool: states stand side by side, aligned, in a pool behind the others") {
  const SourceModule source = two_states();
  for (const Bytes alignment : {1, 64}) {
    placement::Table table;
    table.pools.resize(2);
    place_states(source, source.module, backup({}, alignment), table);
    const Bytes unit = std::max<Bytes>(alignment, 16);
    REQUIRE(table.pools.size() == 3);
    CHECK(table.pools[2].holds_state);
    CHECK(table.pools[2].alignment == unit);
    REQUIRE(table.storages.size() == 2);
    const placement::Storage& first = table.storages[0];
    const placement::Storage& second = table.storages[1];
    CHECK(first.place == Allocation{PoolId(2), 0});
    CHECK(first.size == source.interface.states[0].size);
    CHECK(second.place.offset >= first.size);
    CHECK(second.place.offset % unit == 0);
    CHECK(second.place.offset < first.size + unit);
    CHECK(first.declarations.front().function == source.module.entry);
  }
}

TEST_CASE("state pool: what does not fit, and what there is none of") {
  const SourceModule source = two_states();
  placement::Table table;
  place_states(source, source.module, backup({}), table);
  const Bytes needed = table.storages[1].place.offset + table.storages[1].size;
  place_states(source, source.module, backup(needed), table);
  std::string message;
  try {
    place_states(source, source.module, backup(needed - 1), table);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    message = error.message();
  }
  CHECK(message == "pool 'backup' has " + std::to_string(needed - 1) + " bytes, the state of module 'm' needs " +
                       std::to_string(needed) + " bytes");
  config::PoolSpec behind = backup(needed);
  behind.reserved = 8;
  CHECK_THROWS_WITH_AS(
      place_states(source, source.module, behind, table),
      (message.substr(0, 12) + "' has " + std::to_string(needed) + " bytes, the state of module 'm' needs " +
       std::to_string(needed + 16) + " bytes, with that of the modules before it")
          .c_str(),
      Error);
  placement::Table none;
  const SourceModule stateless = model("add_int8_1001");
  place_states(stateless, stateless.module, backup(1), none);
  CHECK(none.pools.empty());
}

}  // namespace
}  // namespace usmp::pipeline::state_pool_test

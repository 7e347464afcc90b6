// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which storages of a table are looked at: those that are live together and share bytes of a pool.
#include <doctest/doctest.h>

#include "replay/played.hpp"

namespace usmp::replay::testing::pairs_test {
namespace {

struct Placed : Program {
  placement::Table table{.pools = {{.name = "one"}, {.name = "other"}}, .storages = {}};

  VarId add(BufferKind kind, PoolId pool, Bytes offset, LiveRange live) {
    const VarId var = pointer("s" + std::to_string(table.storages.size()));
    table.storages.push_back({.name = module().var(var).name,
                              .declarations = {{var, 0}},
                              .kind = kind,
                              .size = 4,
                              .live = {live},
                              .place = {pool, offset}});
    return var;
  }
  // Replays the entry with these parameters and statements.
  Result replayed(const std::vector<VarId>& params, tir::Block statements) {
    entry(params, std::move(statements));
    return replay(build(), table, {.steps = 1'000'000});
  }
};

TEST_CASE("equal offsets in two pools are two places") {
  Placed p;
  const VarId a = p.add(BufferKind::tensor, PoolId(0), 0, {0, 2});
  const VarId b = p.add(BufferKind::tensor, PoolId(1), 0, {0, 2});
  const VarId c = p.add(BufferKind::tensor, PoolId(0), 1, {0, 2});
  const VarId d = p.add(BufferKind::tensor, PoolId(1), 1, {0, 2});
  const Result result = p.replayed(
      {}, block(p.allocate(a, 4), p.allocate(b, 4), p.allocate(c, 4), p.allocate(d, 4), p.fill(a, 4), p.fill(b, 4),
                p.copy_all(p.sink, a, 1), p.set(d, 0), p.copy_all(p.sink, a, 4), p.copy_all(p.sink, b, 1)));
  CHECK(Program::text(result) == "2 of 2, 15 accesses");
}

TEST_CASE("constants are there when the program begins") {
  Placed p;
  const VarId constant = p.add(BufferKind::constant, PoolId(0), 0, {0, 2});
  const VarId tensor = p.add(BufferKind::tensor, PoolId(0), 3, {0, 2});
  const auto reading = [&](std::int64_t index) {
    return p.replayed({}, block(p.constant(constant, "abcd"), p.allocate(tensor, 4), p.set(tensor, 0),
                                p.copy_all(p.sink, constant, index + 1)));
  };
  SUBCASE("and stay") { CHECK(reading(2).violations.empty()); }
  SUBCASE("and are lost") { CHECK(reading(3).violations.size() == 1); }
}

// So many that they are compared by their places, not by their times.
TEST_CASE("of many storages the same pairs are found") {
  for (const std::size_t count : {100U, 10'100U}) {
    CAPTURE(count);
    Placed p;
    for (std::size_t i = 0; i < count; ++i) {
      p.add(BufferKind::tensor, PoolId(0), 4 * static_cast<Bytes>(i), {0, 2});
    }
    p.add(BufferKind::tensor, PoolId(0), 8, {2, 3});   // at a place that is free then
    p.add(BufferKind::tensor, PoolId(1), 8, {0, 2});   // in another pool
    p.add(BufferKind::tensor, PoolId(0), 41, {1, 2});  // on two others
    const VarId on_first = p.add(BufferKind::tensor, PoolId(0), 1, {1, 2});
    const VarId first = p.table.storages[0].declarations[0].var;
    tir::Block statements;
    for (const placement::Storage& storage : p.table.storages) {
      statements.push_back(p.allocate(storage.declarations[0].var, 4));
    }
    statements.push_back(p.fill(first, 4));
    statements.push_back(p.set(on_first, 2));
    statements.push_back(p.copy_all(p.sink, first, 4));
    const Result result = p.replayed({}, std::move(statements));
    CHECK(Program::text(result) == "4 of 4, 9 accesses\nelement of 's0' at byte 3 of pool 'one' is read after 's" +
                                       std::to_string(count + 3) +
                                       "' has overwritten it, in function 'main', iteration i = 3");
  }
}

}  // namespace
}  // namespace usmp::replay::testing::pairs_test

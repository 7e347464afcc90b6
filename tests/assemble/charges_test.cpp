// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The objective `accesses`: what it costs to have a buffer in each of its pools.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tir_support/module_builder.hpp"
#include "usmp/assemble/assemble.hpp"
#include "usmp/assemble/pins.hpp"

namespace usmp::assemble::charges_test {
namespace {

using config::PoolSpec;
using tir::testing::ModuleBuilder;

// x: 10 loads of 4 bytes and 20 stores; c, a constant: 30 loads of a byte.
struct Example {
  tir::Module module;
  liveness::Analysis analysis;
  config::PoolsConfig pools;

  Example() {
    ModuleBuilder b;
    const auto x = b.pointer("x", tir::int32_type);
    const auto c = b.pointer("c");
    const auto y = b.pointer("y");
    const auto i = b.integer("i");
    const auto times = [&](std::int64_t extent, tir::Stmt stmt) {
      tir::Block body;
      body.push_back(std::move(stmt));
      return b.loop(i, extent, std::move(body));
    };
    tir::Block body;
    body.push_back(b.allocate(x, 8));
    body.push_back(b.constant(c, "weights"));
    body.push_back(b.allocate(y, 8));
    body.push_back(times(20, b.set(x)));
    body.push_back(times(10, b.evaluate(b.load(x, 0))));
    body.push_back(times(30, b.copy(y, c)));
    b.entry({}, std::move(body));
    module = b.build();
    analysis = liveness::analyse(module);
    for (const char* name : {"first", "second", "third"}) {
      PoolSpec pool;
      pool.name = name;
      pools.workspace_pools.push_back(pool);
      pool.name = std::string(name) + "_flash";
      pool.kind = PoolKind::constant;
      pools.parameter_pools.push_back(pool);
    }
    pools.objective = config::Objective::accesses;
  }

  [[nodiscard]] Assembly run() const { return assemble(module, analysis, pools); }
};

const Buffer& buffer(const Assembly& assembly, const std::string& name) {
  for (const Buffer& one : assembly.problem.buffers) {
    if (one.name == name) return one;
  }
  throw std::logic_error(name);
}

using Charges = std::vector<std::int64_t>;
using Ids = std::vector<PoolId>;

}  // namespace

TEST_CASE("by size nothing is charged") {
  Example example;
  example.pools.objective = config::Objective::size;
  const Assembly assembly = example.run();
  CHECK_FALSE(assembly.problem.charged);
  CHECK(assembly.traffic.empty());
  CHECK(buffer(assembly, "x").charges.empty());
}

TEST_CASE("without speeds, an access costs the rank of the pool") {
  const Assembly assembly = Example().run();
  CHECK(assembly.problem.charged);
  CHECK_FALSE(assembly.charges_cycles);
  CHECK((buffer(assembly, "x").charges == Charges{0, 30, 60}));
  CHECK((buffer(assembly, "c").charges == Charges{0, 30, 60}));
  CHECK((assembly.traffic[0] == liveness::Traffic{10, 20, 40, 80}));
}

TEST_CASE("with all speeds, cycles of the fastest clock; the cheapest pool comes first") {
  Example example;
  auto& pools = example.pools.workspace_pools;
  pools[0].speed.clock_hz = 100;
  pools[0].speed.read_latency_cycles = 3;
  pools[0].speed.write_latency_cycles = 5;
  pools[1].speed.clock_hz = 200;
  pools[1].speed.read_bytes_per_cycle = 4;
  pools[1].speed.write_bytes_per_cycle = 2;
  pools[1].speed.read_latency_cycles = 1;
  pools[2].speed.read_latency_cycles = 2;
  for (PoolSpec& pool : example.pools.parameter_pools) pool.speed.read_latency_cycles = 7;
  const Assembly assembly = example.run();
  CHECK(assembly.charges_cycles);
  // 2 * (10 * 3 + 20 * 5), 10 + 20 + 40 / 4 + 80 / 2, 2 * (10 + 20)
  CHECK((buffer(assembly, "x").charges == Charges{60, 80, 260}));
  CHECK((buffer(assembly, "x").candidates == Ids{PoolId(2), PoolId(1), PoolId(0)}));
  CHECK((buffer(assembly, "c").charges == Charges{210, 210, 210}));
  CHECK((buffer(assembly, "c").candidates == Ids{PoolId(3), PoolId(4), PoolId(5)}));
}

TEST_CASE("where the speed of one pool is not known, accesses count; pools without a choice do not matter") {
  Example example;
  for (PoolSpec& pool : example.pools.workspace_pools) pool.speed.read_latency_cycles = 2;
  CHECK_FALSE(example.run().charges_cycles);
  example.pools.parameter_pools.resize(1);
  const Assembly assembly = example.run();
  CHECK(assembly.charges_cycles);
  CHECK((buffer(assembly, "x").charges == Charges{60, 60, 60}));
  CHECK((buffer(assembly, "c").charges == Charges{0}));
}

TEST_CASE("a pinned buffer is charged for its pool") {
  Assembly assembly = Example().run();
  config::PinSpec to_second;
  to_second.buffer = "x";
  to_second.pool = "second";
  CHECK(pin(assembly, {to_second})[0]);
  CHECK((buffer(assembly, "x").charges == Charges{30}));
  CHECK_FALSE(invalid_reason(assembly.problem).has_value());
}

TEST_CASE("charges beyond what a problem may add up to are scaled down together") {
  Example example;
  for (auto* pools : {&example.pools.workspace_pools, &example.pools.parameter_pools}) {
    for (PoolSpec& pool : *pools) pool.speed.read_latency_cycles = INT64_MAX;
  }
  const Assembly assembly = example.run();
  CHECK_FALSE(invalid_reason(assembly.problem).has_value());
  CHECK(buffer(assembly, "x").charges[0] == buffer(assembly, "c").charges[0]);
  CHECK(buffer(assembly, "x").charges[0] > Bytes{1} << 50);
}

}  // namespace usmp::assemble::charges_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The load of a module, and what is live where it is highest.
#include "transform/peak.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "transform/merge_network.hpp"

namespace usmp::transform::peak_test {
namespace {

using namespace testing;  // the fixture and what it is made of

std::set<std::string> names(const tir::Module& module, const std::set<VarId>& vars) {
  std::set<std::string> all;
  for (const VarId var : vars) all.insert(module.var(var).name);
  return all;
}

TEST_CASE("the peak is the largest sum of what is live at one time, and what is live then") {
  Network network;
  const VarId small = network.tensor("small", 8);
  const VarId large = network.tensor("large", 20);
  const VarId table = network.pointer("table");
  network.declarations.push_back(network.constant(table, std::string(1000, '\1')));
  network.then(network.call("pass", {network.in, small}));
  network.then(network.call("fill", {large}));
  network.then(network.call("pass", {table, network.out2}));
  SUBCASE("of tensors that meet") {
    network.then(network.call("add", {small, large, network.out}));
    const tir::Module module = network.network();
    const Peak peak = peak_of(module);
    CHECK(peak.load == 4 * (8 + 20));
    CHECK(names(module, peak.live) == std::set<std::string>{"small", "large"});
  }
  SUBCASE("of tensors that do not") {
    network.calls.insert(network.calls.end() - 2, network.call("pass", {small, network.out}));
    network.then(network.call("pass", {large, network.out}));
    const tir::Module module = network.network();
    const Peak peak = peak_of(module);
    CHECK(peak.load == 4 * 20);
    CHECK(names(module, peak.live) == std::set<std::string>{"large"});
  }
}

TEST_CASE("where the peak is reached several times, all that is live at one of them counts") {
  Network network;
  const VarId other = network.tensor("other", 8);
  network.then(network.call("pass", {network.in, other}));
  network.then(network.call("pass", {other, network.out}));
  const tir::Module module = network.network();
  const Peak peak = peak_of(module);
  CHECK(peak.load == 4 * 8);
  CHECK(names(module, peak.live) == std::set<std::string>{"mid", "other"});
}

TEST_CASE("buffers of operators count, an entry without workspace has no peak") {
  Network network;
  network.calls = block(network.call("fill", {network.out}));
  SUBCASE("no workspace") {
    network.declarations.clear();
    const Peak peak = peak_of(network.network());
    CHECK(peak.load == 0);
    CHECK(peak.live.empty());
  }
  SUBCASE("in an operator") {
    const VarId inner = network.pointer("inner", i32);
    network.function("work", {network.pointer("w", i32)},
                     block(network.allocate(inner, 5), network.set(inner), network.copy(inner, inner)));
    network.calls.push_back(network.call("work", {network.out}));
    const Peak peak = peak_of(network.network());
    CHECK(peak.load == 4 * 5);
    CHECK(peak.live == std::set<VarId>{inner});
  }
}

}  // namespace
}  // namespace usmp::transform::peak_test

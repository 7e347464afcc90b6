// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Orders that are better because buffers may share bytes.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "callees.hpp"
#include "tir_support/module_builder.hpp"
#include "transform/reorder_sharing.hpp"
#include "transform/reorder_tasks.hpp"
#include "usmp/liveness/distances.hpp"
#include "usmp/liveness/uses.hpp"
#include "usmp/mlf/archive.hpp"
#include "usmp/mlf/metadata.hpp"
#include "usmp/tir_json/reader.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform::reorder_sharing_test {

using testing::callees;
using tir::VarId;
using tir::testing::block;
using tir::testing::ModuleBuilder;

namespace {

// make(in, a)  big(a, b)  small(a, s)  last(b, s, out)         a, b: 1600 bytes; s: 16
//
// `big` can write where it reads, if `small` has run before.
class Network {
 public:
  using Names = std::vector<std::string>;

  Network() {
    add("make", 1600);
    add("big", 1600);
    add("small", 16);
    const VarId from = builder.pointer("p0");
    const VarId also = builder.pointer("p1");
    const VarId to = builder.pointer("p2");
    builder.function("last", {from, also, to}, block(builder.copy(to, from), builder.copy(to, also)));
  }

  // name(p, q): q[i] = p[i]
  void add(const std::string& name, std::int64_t elements) {
    const VarId from = builder.pointer("p0");
    const VarId to = builder.pointer("p1");
    const VarId i = builder.integer("i");
    const tir::ExprRef value = tir::make_load(tir::testing::int8_type, from, builder.var(i));
    builder.function(name, {from, to},
                     block(builder.loop(i, elements, block(builder.store(to, builder.var(i), value)))));
  }

  tir::Module module_of(const tir::Block& calls) {
    tir::Block body = block(builder.allocate(a, 1600), builder.allocate(b, 1600), builder.allocate(s, 16));
    body.insert(body.end(), calls.begin(), calls.end());
    ModuleBuilder whole = builder;
    whole.entry({in, out}, std::move(body));
    return whole.build();
  }

  transform::Result run(const tir::Block& calls, std::vector<Step> steps) {
    return transform::transform(module_of(calls), {.steps = std::move(steps)});
  }

  [[nodiscard]] tir::Block calls() const {
    return block(builder.call("make", {in, a}), builder.call("big", {a, b}), builder.call("small", {a, s}),
                 builder.call("last", {b, s, out}));
  }

  ModuleBuilder builder;
  VarId in = builder.pointer("in");
  VarId out = builder.pointer("out");
  VarId a = builder.pointer("a");
  VarId b = builder.pointer("b");
  VarId s = builder.pointer("s");
};

const StepResult& row(const transform::Result& result, Step step) {
  return *std::ranges::find(result.steps, step, &StepResult::step);
}

}  // namespace

TEST_CASE("an order in which the last reader writes where it reads") {
  Network n;
  CHECK(row(n.run(n.calls(), {Step::reorder}), Step::reorder).changes.empty());
  const transform::Result result = n.run(n.calls(), {Step::reorder, Step::inplace});
  CHECK(callees(result.module()) == Network::Names{"make", "small", "big", "last"});
  REQUIRE(row(result, Step::reorder).changes.size() == 1);
  CHECK(row(result, Step::reorder).changes[0].text ==
        "calls reordered: peak live bytes 3200 -> 1616 with shared bytes");
  CHECK(row(result, Step::inplace).load_after == 1616);
}

TEST_CASE("no order helps if what was read is needed later") {
  Network n;
  tir::Block calls = n.calls();
  calls.push_back(n.builder.call("last", {n.a, n.b, n.out}));
  CHECK(row(n.run(calls, {Step::reorder, Step::inplace}), Step::reorder).changes.empty());
}

TEST_CASE("a buffer that has been begun to be written before is not born") {
  for (const bool is_begun : {false, true}) {
    Network n;
    tir::Block calls = n.calls();
    if (is_begun) calls.insert(calls.begin(), n.builder.call("small", {n.in, n.b}));
    const tir::Module module = n.module_of(calls);
    const auto sharing = liveness::find_statement_distances(module);
    const auto tasks = entry_tasks(module, liveness::entry_uses(module), sharing, {});
    REQUIRE(tasks);
    const Task& big = tasks->problem.tasks[is_begun ? 2 : 1];
    CHECK(big.sharing.empty() == is_begun);
  }
}

TEST_CASE("memory of an operator may take the place of what it reads") {
  Network n;
  const VarId from = n.builder.pointer("p0");
  const VarId to = n.builder.pointer("p1");
  const VarId inner = n.builder.pointer("inner");
  const VarId i = n.builder.integer("i");
  const tir::ExprRef value = tir::make_load(tir::testing::int8_type, from, n.builder.var(i));
  n.builder.function("padded", {from, to},
                     block(n.builder.allocate(inner, 1616),
                           n.builder.loop(i, 1600, block(n.builder.store(inner, n.builder.var(i), value))),
                           n.builder.copy(to, inner)));
  tir::Block calls = block(n.builder.call("make", {n.in, n.a}), n.builder.call("padded", {n.a, n.out}),
                           n.builder.call("small", {n.a, n.s}), n.builder.call("last", {n.s, n.s, n.out}));
  // `padded` writes the output, as `last` does, so that `small` is what can move.
  const transform::Result result = n.run(calls, {Step::reorder, Step::inplace});
  CHECK(callees(result.module()) == Network::Names{"make", "small", "padded", "last"});
  CHECK(row(result, Step::inplace).load_after == 1616 + 16);
}

TEST_CASE("what a task needs depends on what is held before and behind it") {
  // A task reads storage 0 in phases 0 and 1, writes storage 1 in phase 1, and has 32 bytes of its own in phase 0.
  OrderProblem problem;
  problem.storages = {{.size = 100}, {.size = 60}};
  Task task{.after = {}, .touches = {{0, 0, 2}, {1, 1, 2}}, .phases = {32, 0}, .sharing = {}, .inner = {{32, 0, 1}}};
  task.sharing = {{.below = 1, .above = 0, .bytes = 10, .dying = 0}, {.below = 0, .above = 2, .bytes = 90, .dying = 0}};
  problem.tasks.push_back(task);
  CHECK(load_of_task(problem, 0, 0b01, 0b10) == 122);  // phase 0: 90 + 32; phase 1: 10 + 100
  CHECK(load_of_task(problem, 0, 0b01, 0b11) == 160);  // the first one is still needed: 100 + 60
  CHECK(load_of_task(problem, 0, 0b00, 0b00) == 122);
}

TEST_CASE("what the step says of archives with shared bytes is what is found afterwards") {
  std::vector<std::filesystem::path> paths;
  for (const char* directory : {USMP_TESTDATA, USMP_SHARED "/archives/own"}) {
    if (!std::filesystem::exists(directory)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      if (entry.path().extension() == ".tar") paths.push_back(entry.path());
    }
  }
  REQUIRE_FALSE(paths.empty());
  int changed = 0;
  for (const std::filesystem::path& path : paths) {
    CAPTURE(path.string());
    const mlf::Archive archive = mlf::read_archive(path.string());
    for (const model::Description& info : mlf::read_metadata(archive).modules) {
      if (info.tir_member.empty()) continue;
      const transform::Result result = transform::transform(tir_json::read_module(archive.find(info.tir_member)->bytes),
                                                            {.steps = {Step::reorder, Step::inplace}});
      for (const Change& change : row(result, Step::reorder).changes) {
        const std::size_t arrow = change.text.find(" -> ");
        REQUIRE(arrow != std::string::npos);
        CHECK(std::stoll(change.text.substr(arrow + 4)) == align_up(row(result, Step::inplace).load_after, 16));
        ++changed;
      }
    }
  }
  if (std::filesystem::exists(USMP_SHARED)) CHECK(changed >= 2);
}

}  // namespace usmp::transform::reorder_sharing_test

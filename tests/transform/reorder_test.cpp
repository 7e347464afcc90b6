// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which calls may change places, and what comes of it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "callees.hpp"
#include "tir_support/module_builder.hpp"
#include "transform/reorder_tasks.hpp"
#include "usmp/liveness/uses.hpp"
#include "usmp/mlf/archive.hpp"
#include "usmp/mlf/metadata.hpp"
#include "usmp/program/entry_calls.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir_json/reader.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform::reorder_test {

using testing::callees;
using tir::VarId;
using tir::testing::block;
using tir::testing::ModuleBuilder;

namespace {

struct Reordered {
  tir::Module module;
  std::vector<transform::Change> changes;
};

Reordered reordered(const tir::Module& module, const liveness::Options& options = {}) {
  transform::Result result = transform::transform(module, {.steps = {transform::Step::reorder}, .liveness = options});
  REQUIRE(result.steps.size() == 1);
  return {result.module(), std::move(result.steps[0].changes)};
}

Bytes peak_load(const tir::Module& module, const liveness::Options& options = {}) {
  const liveness::Analysis analysis = liveness::analyse(module, options);
  std::vector<std::pair<Tick, Bytes>> changes;
  for (const liveness::Site& site : analysis.sites) {
    if (site.kind == BufferKind::constant) continue;
    for (const LiveRange& range : site.live) {
      changes.emplace_back(range.begin, align_up(site.size, 16));
      changes.emplace_back(range.end, -align_up(site.size, 16));
    }
  }
  std::sort(changes.begin(), changes.end());
  Bytes load = 0;
  Bytes peak = 0;
  for (const auto& change : changes) peak = std::max(peak, load += change.second);
  return peak;
}

// An entry whose given order is bad: `big` makes much of the input and stays while `first` and `second` work with large
// tensors of their own. Run behind them, the peak is lower. `second` depends on `big` if it is told to; all that a case
// needs besides is its own.
//
//   big(in, b)  first(in, t)  second(t, s)  last(b, s, out)         b, t: 1600 bytes; s: 16
class Network {
 public:
  using Names = std::vector<std::string>;

  Network() {
    copying("big");
    copying("first");
    copying("second");
    const VarId from = builder.pointer("p0");
    const VarId also = builder.pointer("p1");
    const VarId to = builder.pointer("p2");
    builder.function("last", {from, also, to}, block(builder.copy(to, from), builder.copy(to, also)));
  }

  // name(p, q): q[0] = p[0]
  void copying(const std::string& name) {
    const VarId from = builder.pointer("p0");
    const VarId to = builder.pointer("p1");
    builder.function(name, {from, to}, block(builder.copy(to, from)));
  }

  // The callees after the step, with these statements.
  Names order(tir::Block statements) {
    tir::Block body = declarations();
    std::move(statements.begin(), statements.end(), std::back_inserter(body));
    builder.entry({in, out}, std::move(body));
    module = builder.build();
    result = reordered(module);
    CHECK(peak_load(result.module) <= peak_load(module));
    return callees(result.module);
  }

  tir::Block declarations() {
    return block(builder.allocate(b, 1600), builder.allocate(t, 1600), builder.allocate(s, 16),
                 builder.allocate(x, 16));
  }

  ModuleBuilder builder;
  VarId in = builder.pointer("in");
  VarId out = builder.pointer("out");
  VarId b = builder.pointer("b");
  VarId t = builder.pointer("t");
  VarId s = builder.pointer("s");
  VarId x = builder.pointer("x");
  tir::Module module;
  Reordered result;
};

const Network::Names given = {"big", "first", "second", "last"};
const Network::Names better = {"first", "second", "big", "last"};

tir::Block plain_calls(Network& n) {
  return block(n.builder.call("big", {n.in, n.b}), n.builder.call("first", {n.in, n.t}),
               n.builder.call("second", {n.t, n.s}), n.builder.call("last", {n.b, n.s, n.out}));
}

// The tasks of an entry of copies from one storage to another.
EntryTasks tasks_of(const std::vector<VarId>& params, const std::vector<std::pair<VarId, VarId>>& copies,
                    ModuleBuilder builder) {
  const VarId from = builder.pointer("p0");
  const VarId to = builder.pointer("p1");
  builder.function("copy", {from, to}, block(builder.copy(to, from)));
  std::set<VarId> inner;
  tir::Block body;
  for (const auto& [source, target] : copies) inner.insert({source, target});
  for (const VarId var : inner) {
    if (std::find(params.begin(), params.end(), var) == params.end()) body.push_back(builder.allocate(var, 16));
  }
  for (const auto& [source, target] : copies) body.push_back(builder.call("copy", {source, target}));
  builder.entry(params, std::move(body));
  const tir::Module module = builder.build();
  return entry_tasks(module, liveness::entry_uses(module, {}), {}, {}).value_or(EntryTasks());
}

}  // namespace

TEST_CASE("reorder: independent calls change places if that lowers the peak, and it is told") {
  Network n;
  CHECK(n.order(plain_calls(n)) == better);
  CHECK(peak_load(n.module) == 3216);
  CHECK(peak_load(n.result.module) == 1616);
  REQUIRE(n.result.changes.size() == 1);
  CHECK(n.result.changes[0].step == transform::Step::reorder);
  CHECK(n.result.changes[0].function == "main");
  CHECK(n.result.changes[0].text == "calls reordered: peak live bytes 3216 -> 1616, proved optimal");
}

TEST_CASE("reorder: a program that gains nothing stays as it is") {
  Network n;
  CHECK(n.order(block(n.builder.call("first", {n.in, n.t}), n.builder.call("second", {n.t, n.s}),
                      n.builder.call("big", {n.in, n.b}), n.builder.call("last", {n.b, n.s, n.out}))) == better);
  CHECK(n.result.changes.empty());
  CHECK(tir::print(n.result.module) == tir::print(n.module));
}

TEST_CASE("reorder: what is read is written before") {
  Network n;  // second reads x, which big writes, too
  const VarId from = n.builder.pointer("p0");
  const VarId to = n.builder.pointer("p1");
  const VarId also = n.builder.pointer("p2");
  n.builder.function("big2", {from, to, also}, block(n.builder.copy(to, from), n.builder.copy(also, from)));
  const VarId from2 = n.builder.pointer("p0");
  const VarId to2 = n.builder.pointer("p1");
  const VarId with2 = n.builder.pointer("p2");
  n.builder.function("first2", {from2, to2, with2}, block(n.builder.copy(to2, with2)));
  CHECK(n.order(block(n.builder.call("big2", {n.in, n.b, n.x}), n.builder.call("first2", {n.in, n.t, n.x}),
                      n.builder.call("second", {n.t, n.s}), n.builder.call("last", {n.b, n.s, n.out}))) ==
        Network::Names{"big2", "first2", "second", "last"});
}

TEST_CASE("reorder: what is read is not overwritten before") {
  Network n;  // big reads x, which first overwrites
  const VarId to = n.builder.pointer("p1");
  const VarId also = n.builder.pointer("p2");
  n.builder.function("writer", {to, also}, block(n.builder.set(to), n.builder.set(also)));
  CHECK(n.order(block(n.builder.call("big", {n.x, n.b}), n.builder.call("writer", {n.t, n.x}),
                      n.builder.call("second", {n.t, n.s}), n.builder.call("last", {n.b, n.s, n.out}))) ==
        Network::Names{"big", "writer", "second", "last"});
}

TEST_CASE("reorder: of two writes the later one stays the later one") {
  Network n;  // big and first both write x; nobody reads it before
  const VarId to = n.builder.pointer("p1");
  const VarId also = n.builder.pointer("p2");
  n.builder.function("writer", {to, also}, block(n.builder.set(to), n.builder.set(also)));
  CHECK(n.order(block(n.builder.call("writer", {n.b, n.x}), n.builder.call("writer", {n.t, n.x}),
                      n.builder.call("second", {n.t, n.s}), n.builder.call("last", {n.b, n.s, n.out}))) ==
        Network::Names{"writer", "writer", "second", "last"});
  CHECK(n.result.changes.empty());
}

TEST_CASE("reorder: storage under a second name is the same storage") {
  Network n;  // first reads what big writes, each by another name
  const VarId alias = n.builder.pointer("alias");
  CHECK(n.order(block(n.builder.let(alias, n.builder.address_of(n.b, 4)), n.builder.call("big", {n.in, n.b}),
                      n.builder.call("first", {alias, n.t}), n.builder.call("second", {n.t, n.s}),
                      n.builder.call("last", {n.b, n.s, n.out}))) == given);
}

TEST_CASE("reorder: a name for storage is no obstacle by itself") {
  Network n;
  const VarId alias = n.builder.pointer("alias");
  CHECK(n.order(block(n.builder.let(alias, n.builder.address_of(n.b, 4)), n.builder.call("big", {n.in, alias}),
                      n.builder.call("first", {n.in, n.t}), n.builder.call("second", {n.t, n.s}),
                      n.builder.call("last", {n.b, n.s, n.out}))) == better);
}

TEST_CASE("reorder: operators that are not in the module change places only if they are handed different storage") {
  Network apart;
  CHECK(apart.order(block(apart.builder.call("tvmgen_big", {apart.b}), apart.builder.call("tvmgen_first", {apart.t}),
                          apart.builder.call("second", {apart.t, apart.s}),
                          apart.builder.call("last", {apart.b, apart.s, apart.out}))) ==
        Network::Names{"tvmgen_first", "second", "tvmgen_big", "last"});
  Network shared;  // both may write x
  CHECK(shared.order(block(shared.builder.call("tvmgen_big", {shared.b, shared.x}),
                           shared.builder.call("tvmgen_first", {shared.t, shared.x}),
                           shared.builder.call("second", {shared.t, shared.s}),
                           shared.builder.call("last", {shared.b, shared.s, shared.out}))) ==
        Network::Names{"tvmgen_big", "tvmgen_first", "second", "last"});
}

TEST_CASE("reorder: calls of the firmware and of kept C keep their order") {
  for (const bool is_kept : {false, true}) {
    CAPTURE(is_kept);
    Network n;
    const std::string name = is_kept ? "tvmgen_big" : "show_big";
    const tir::Block body = block(n.builder.call(name, {n.b}), n.builder.call("show_first", {n.t}),
                                  n.builder.call("second", {n.t, n.s}), n.builder.call("last", {n.b, n.s, n.out}));
    if (is_kept) n.builder.function(name, {n.builder.pointer("p0")}, {}, std::string(program::kept_c_target));
    CHECK(n.order(body) == Network::Names{name, "show_first", "second", "last"});
  }
}

TEST_CASE("reorder: nothing passes a call that could do anything") {
  for (const bool inside : {false, true}) {
    CAPTURE(inside);
    Network n;
    if (inside) {
      n.builder.function("first_and_more", {n.builder.pointer("p0")},
                         block(ModuleBuilder::evaluate(ModuleBuilder::call_expr("extern_nothing", {}))));
    }
    const tir::Stmt call =
        inside ? n.builder.call("first_and_more", {n.x}) : n.builder.call("extern_nothing", std::vector<VarId>());
    const auto names = n.order(block(n.builder.call("big", {n.in, n.b}), call, n.builder.call("first", {n.in, n.t}),
                                     n.builder.call("second", {n.t, n.s}), n.builder.call("last", {n.b, n.s, n.out})));
    CHECK(names.front() == "big");
    CHECK(n.result.changes.empty());
  }
}

TEST_CASE("reorder: what stands where a device is open stays there, and others pass hooks") {
  const auto order = [](bool is_open) {
    Network n;
    const auto hook = [](const char* name) { return ModuleBuilder::evaluate(ModuleBuilder::call_expr(name, {})); };
    tir::Block body = block(hook("TVMDeviceEthosUOpen"));
    const tir::Stmt big = n.builder.call("big", {n.in, n.b});
    const tir::Stmt close = hook("TVMDeviceEthosUClose");
    body.push_back(is_open ? big : close);
    body.push_back(is_open ? close : big);
    for (tir::Stmt& stmt : block(n.builder.call("first", {n.in, n.t}), n.builder.call("second", {n.t, n.s}),
                                 n.builder.call("last", {n.b, n.s, n.out}))) {
      body.push_back(std::move(stmt));
    }
    return n.order(std::move(body));
  };
  const std::string open = "TVMDeviceEthosUOpen";
  const std::string close = "TVMDeviceEthosUClose";
  const auto place = [](const Network::Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) - names.begin();
  };
  const auto within = order(true);
  CAPTURE(within);
  CHECK(place(within, open) < place(within, "big"));
  CHECK(place(within, "big") < place(within, close));
  CHECK(place(within, "second") < place(within, "big"));
  const auto behind = order(false);
  CHECK(place(behind, open) < place(behind, close));
  CHECK(place(behind, "second") < place(behind, "big"));
}

TEST_CASE("reorder: nothing passes a loop, a branch, a store or an allocation of unknown size") {
  for (int kind = 0; kind < 4; ++kind) {
    CAPTURE(kind);
    Network n;
    const VarId i = n.builder.integer("i");
    const VarId dynamic = n.builder.pointer("dynamic");
    const tir::ExprRef is_set =
        tir::make_binary(tir::ExprKind::gt, n.builder.load(n.x, 0), tir::make_int(0, tir::testing::int8_type));
    const tir::Stmt barrier = kind == 0   ? ModuleBuilder::loop(i, 4, block(n.builder.set(n.x)))
                              : kind == 1 ? ModuleBuilder::when(is_set, block(n.builder.set(n.x)))
                              : kind == 2 ? n.builder.set(n.x)
                                          : n.builder.allocate(dynamic, std::vector{n.builder.load(n.x, 0)});
    (void)n.order(block(n.builder.call("big", {n.in, n.b}), barrier, n.builder.call("first", {n.in, n.t}),
                        n.builder.call("second", {n.t, n.s}), n.builder.call("last", {n.b, n.s, n.out})));
    CHECK(n.result.changes.empty());
  }
}

TEST_CASE("reorder: behind a barrier calls change places among themselves") {
  Network n;
  CHECK(n.order(block(n.builder.set(n.x), n.builder.call("big", {n.in, n.b}), n.builder.call("first", {n.in, n.t}),
                      n.builder.call("second", {n.t, n.s}), n.builder.call("last", {n.b, n.s, n.out}))) == better);
  CHECK(std::holds_alternative<tir::Store>(n.result.module.functions[n.result.module.entry].body[4].node));
}

TEST_CASE("reorder: a program that lets a pointer out of sight stays as it is") {
  Network n;
  tir::Block body = plain_calls(n);
  const VarId pointers = n.builder.pointer("pointers", tir::handle_type);
  body.insert(body.begin(), n.builder.store(pointers, 0, n.builder.var(n.x)));
  body.insert(body.begin(), n.builder.allocate(pointers, 1));
  CHECK(n.order(std::move(body)) == given);
  CHECK(n.result.changes.empty());
}

TEST_CASE("reorder: the application may pass one tensor for an input and an output") {
  Network n;  // big reads the input, second writes the output, which may be the same memory, and last reads it
  CHECK(n.order(block(n.builder.call("big", {n.in, n.b}), n.builder.call("first", {n.in, n.t}),
                      n.builder.call("second", {n.t, n.out}), n.builder.call("last", {n.b, n.out, n.s}))) == given);
  CHECK(n.result.changes.empty());
}

TEST_CASE("reorder: an input is not read before an output is written that may be the same memory") {
  Network n;  // big writes the output, too, and first reads the input
  const VarId from = n.builder.pointer("p0");
  const VarId to = n.builder.pointer("p1");
  const VarId also = n.builder.pointer("p2");
  n.builder.function("both", {from, to, also}, block(n.builder.copy(to, from), n.builder.copy(also, from)));
  CHECK(n.order(block(n.builder.call("both", {n.x, n.b, n.out}), n.builder.call("first", {n.in, n.t}),
                      n.builder.call("second", {n.t, n.s}), n.builder.call("last", {n.b, n.s, n.x}))) ==
        Network::Names{"both", "first", "second", "last"});
}

TEST_CASE("reorder: tasks wait for what they must, by themselves or through others") {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    ModuleBuilder builder;
    std::vector<VarId> vars;  // four parameters, then four tensors
    for (int n = 0; n < 8; ++n) vars.push_back(builder.pointer("v"));
    const std::vector<VarId> params(vars.begin(), vars.begin() + 4);
    const std::size_t count = 2 + random() % 10;
    std::vector<std::pair<VarId, VarId>> copies;
    while (copies.size() < count) {
      const std::pair copy(vars[random() % 8], vars[random() % 8]);
      if (copy.first != copy.second) copies.push_back(copy);
    }
    const std::vector<Task> tasks = tasks_of(params, copies, builder).problem.tasks;
    REQUIRE(tasks.size() == count);
    const auto is_param = [&](VarId var) { return var.index() <= params.back().index(); };
    std::vector<std::set<std::size_t>> told(count);
    std::vector<std::set<std::size_t>> must(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto [from, to] = copies[i];
      const auto wait = [i](std::vector<std::set<std::size_t>>& all, std::size_t earlier) {
        all[i].insert(earlier);
        all[i].insert(all[earlier].begin(), all[earlier].end());
      };
      for (const std::size_t earlier : tasks[i].after) wait(told, earlier);
      for (std::size_t k = 0; k < i; ++k) {
        const auto [source, target] = copies[k];
        const bool meet = target == from || target == to || source == to;
        if (meet || (is_param(target) && is_param(from)) || (is_param(source) && is_param(to))) wait(must, k);
      }
    }
    CHECK(told == must);
  }
}

TEST_CASE("reorder: of tasks that all access parameters, each waits for few") {
  ModuleBuilder builder;
  std::vector<VarId> params;
  std::vector<std::pair<VarId, VarId>> copies;
  for (int n = 0; n < 200; ++n) {
    params.push_back(builder.pointer("in"));
    params.push_back(builder.pointer("out"));
    copies.emplace_back(params[params.size() - 2], params.back());
  }
  std::size_t edges = 0;
  for (const Task& task : tasks_of(params, copies, builder).problem.tasks) edges += task.after.size();
  CHECK(edges == 199);
}

TEST_CASE("reorder: an entry in which very many wait for very many stays as it is") {
  ModuleBuilder builder;
  std::vector<VarId> params;
  std::vector<std::pair<VarId, VarId>> copies;
  std::size_t writes = 1000;
  SUBCASE("many") {}
  SUBCASE("too many") { ++writes; }
  const VarId inner = builder.pointer("inner");
  for (std::size_t n = 0; n < max_order_edges / 1000; ++n) {
    params.push_back(builder.pointer("in"));
    copies.emplace_back(params.back(), builder.pointer("t"));
  }
  for (std::size_t n = 0; n < writes; ++n) {
    params.push_back(builder.pointer("out"));
    copies.emplace_back(inner, params.back());
  }
  CHECK(tasks_of(params, copies, builder).problem.tasks.empty() == (writes > 1000));
}

TEST_CASE("reorder: an entry of very many statements stays as it is, and the step says so") {
  std::size_t count = max_order_tasks;
  SUBCASE("many") {}
  SUBCASE("too many") { ++count; }
  ModuleBuilder builder;
  const VarId in = builder.pointer("in");
  builder.function("nothing", {builder.pointer("p")}, {});
  tir::Block body;
  while (body.size() < count) body.push_back(builder.call("nothing", std::vector<VarId>{in}));
  builder.entry({in}, std::move(body));
  const auto result = transform::transform(builder.build(), {.steps = {transform::Step::reorder}});
  CHECK(result.steps[0].too_large == (count > max_order_tasks ? "more than 10000 statements" : ""));
}

TEST_CASE("reorder: storage that may not be there, or is on the stack, keeps all in place") {
  Network n;
  tir::Block all = plain_calls(n);
  const VarId r = n.builder.pointer("r");
  tir::Stmt more = n.builder.allocate(r, 16);
  Network::Names expected = given;
  SUBCASE("none") { expected = better; }
  SUBCASE("under a condition") {
    std::get<tir::Allocate>(more.node).condition =
        tir::make_binary(tir::ExprKind::gt, n.builder.load(n.b, 0), tir::make_int(0, tir::testing::int8_type));
  }
  SUBCASE("on the stack") {
    more = n.builder.allocate(r, 1);
    std::get<tir::Allocate>(more.node).on_stack = true;
  }
  all.insert(all.begin() + 1, std::move(more));
  CHECK(n.order(std::move(all)) == expected);
}

TEST_CASE("reorder: calls that write different outputs change places") {
  Network n;
  const VarId out2 = n.builder.pointer("out2");
  tir::Block body = n.declarations();
  const tir::Block calls = block(n.builder.call("big", {n.x, n.b}), n.builder.call("first", {n.x, n.t}),
                                 n.builder.call("second", {n.t, n.out}), n.builder.call("second", {n.b, out2}));
  body.insert(body.end(), calls.begin(), calls.end());
  n.builder.entry({n.in, n.out, out2}, std::move(body));
  const tir::Module module = n.builder.build();
  CHECK(reordered(module).changes.size() == 1);
}

TEST_CASE("reorder: declarations between calls are still in front of their uses") {
  Network n;
  tir::Block body =
      block(n.builder.allocate(n.b, 1600), n.builder.call("big", {n.in, n.b}), n.builder.allocate(n.t, 1600),
            n.builder.call("first", {n.in, n.t}), n.builder.allocate(n.s, 16), n.builder.call("second", {n.t, n.s}),
            n.builder.call("last", {n.b, n.s, n.out}));
  n.builder.entry({n.in, n.out}, std::move(body));
  const tir::Module module = n.builder.build();
  const Reordered result = reordered(module);
  CHECK(callees(result.module) == better);
  CHECK(peak_load(result.module) == 1616);  // throws if a variable is not declared
}

TEST_CASE("reorder: inputs and outputs count where they are planned") {
  Network n;  // the input of `big` dies there and makes room, unless it is not planned
  const VarId in2 = n.builder.pointer("in2");
  tir::Block body = n.declarations();
  const tir::Block calls = block(n.builder.call("first", {n.in, n.t}), n.builder.call("second", {n.t, n.s}),
                                 n.builder.call("second", {in2, n.x}), n.builder.call("last", {n.x, n.s, n.out}));
  body.insert(body.end(), calls.begin(), calls.end());
  n.builder.entry({n.in, in2, n.out}, std::move(body));
  for (tir::Function& function : n.builder.module().functions) {
    if (function.is_entry) function.params[1].shape = std::vector<std::int64_t>{800};
  }
  const tir::Module module = n.builder.build();
  CHECK(reordered(module).changes.empty());
  liveness::Options options;
  options.workspace_io = true;
  options.inputs = {n.in, in2};
  options.outputs = {n.out};
  const Reordered result = reordered(module, options);
  CHECK(callees(result.module) == Network::Names{"second", "first", "second", "last"});
  CHECK(peak_load(result.module, options) < peak_load(module, options));
}

TEST_CASE("reorder: an operator's own memory counts") {
  Network n;
  const VarId from = n.builder.pointer("p0");
  const VarId to = n.builder.pointer("p1");
  const VarId inner = n.builder.pointer("inner");
  n.builder.function("wide", {from, to},
                     block(n.builder.allocate(inner, 1600), n.builder.copy(inner, from), n.builder.copy(to, inner)));
  CHECK(n.order(block(n.builder.call("big", {n.in, n.b}), n.builder.call("wide", {n.in, n.s}),
                      n.builder.call("last", {n.b, n.s, n.out}))) == Network::Names{"wide", "big", "last"});
}

TEST_CASE("reorder: the uses of statements are those of their calls") {
  Network n;
  const VarId from = n.builder.pointer("p0");
  const VarId to = n.builder.pointer("p1");
  const VarId inner = n.builder.pointer("inner");
  n.builder.function(
      "op", {from, to},
      block(n.builder.allocate(inner, 32), n.builder.copy(inner, from), n.builder.copy(to, inner), n.builder.set(to)));
  (void)n.order(block(n.builder.call("op", {n.in, n.b}), n.builder.call("last", {n.b, n.b, n.out})));
  const liveness::EntryUses uses = liveness::entry_uses(n.module);
  CHECK(uses.storages.size() == 6);  // in, out, b, t, s, x
  const liveness::StatementUses& op = uses.statements[4];
  CHECK(op.ticks == 3);
  REQUIRE(op.uses.size() == 2);
  CHECK(op.uses[0].ticks == LiveRange{0, 1});
  CHECK((op.uses[0].reads && !op.uses[0].writes));
  CHECK(op.uses[1].ticks == LiveRange{1, 3});
  CHECK((!op.uses[1].reads && op.uses[1].writes));
  REQUIRE(op.inner.size() == 1);
  CHECK(op.inner[0].ticks == LiveRange{0, 2});
  CHECK(op.inner[0].size == 32);
  CHECK_FALSE(uses.escapes);
}

TEST_CASE("reorder: what it says of real archives is what live ranges say") {
  std::vector<std::filesystem::path> paths;
  for (const char* directory : {USMP_TESTDATA, USMP_SHARED "/archives/own", USMP_SHARED "/archives/variants"}) {
    if (!std::filesystem::exists(directory)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      if (entry.path().extension() == ".tar") paths.push_back(entry.path());
    }
  }
  REQUIRE_FALSE(paths.empty());
  for (const std::filesystem::path& path : paths) {
    CAPTURE(path.string());
    const mlf::Archive archive = mlf::read_archive(path.string());
    const mlf::Metadata metadata = mlf::read_metadata(archive);
    for (const model::Description& info : metadata.modules) {
      if (info.tir_member.empty()) continue;
      const tir::Module module = tir_json::read_module(archive.find(info.tir_member)->bytes);
      const Reordered result = reordered(module);
      for (const transform::Change& change : result.changes) {
        const std::string figures =
            "peak live bytes " + std::to_string(peak_load(module)) + " -> " + std::to_string(peak_load(result.module));
        CHECK(change.text.find(figures) != std::string::npos);
      }
      if (result.changes.empty()) CHECK(tir::print(result.module) == tir::print(module));
    }
  }
}

}  // namespace usmp::transform::reorder_test

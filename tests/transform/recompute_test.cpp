// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The step "recompute": which tensors go at which percentage, and what the module then computes.
#include "transform/recompute.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "transform/merge_network.hpp"
#include "usmp/loops/cost.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform::testing::recompute_test {
namespace {

// in -> divide -> t -> windows -> out: t[i] is in[i] / 7 / 3, of 10 elements, and out[j] is t[j] + t[j + 1] + t[j + 2].
// By loops/cost.hpp that is 10 · 10 and 8 · (1 + 3 · 4) operations, 204. If t is computed for each read, it is
// 8 · (1 + 3 · 12), 296: 45.1 % more.
struct Windows : Builder {
  std::vector<VarId> inputs;
  Block declarations;
  Block calls;

  // Returns the tensor between.
  VarId add_pair(const std::string& name, std::int64_t elements = 10) {
    const VarId in = pointer("in_" + name, i32);
    const VarId tensor = pointer(name, i32);
    inputs.push_back(in);
    declarations.push_back(allocate(tensor, elements));
    const VarId a = pointer("a", i32);
    const VarId t = pointer("t", i32);
    const VarId i = integer("i");
    function("divide_" + name, {a, t},
             block(loop(i, elements, block(store(t, var(i), quotient(quotient(load(a, var(i)), 7), 3))))));
    calls.push_back(call("divide_" + name, {in, tensor}));
    return tensor;
  }
  void add_reader(const std::string& name, VarId tensor, std::int64_t elements = 10, bool bound_in_memory = false) {
    const VarId out = pointer("out_" + name, i32);
    inputs.push_back(out);
    const VarId p = pointer("p", i32);
    const VarId o = pointer("o", i32);
    const VarId j = integer("j");
    const VarId k = integer("k");
    const ExprRef sum = add(load(o, var(j)), load(p, add(var(j), var(k))));
    Block inner = block(store(o, var(j), imm(0)), loop(k, 3, block(store(o, var(j), sum))));
    if (bound_in_memory) {
      Stmt often = loop(integer("r"), 1, std::move(inner));
      std::get<tir::For>(often.node).extent = load(o, imm(0));
      inner = block(std::move(often));
    }
    function("windows_" + name, {p, o}, block(loop(j, elements - 2, std::move(inner))));
    calls.push_back(call("windows_" + name, {tensor, out}));
  }
  tir::Module network() {
    Block body = declarations;
    body.insert(body.end(), calls.begin(), calls.end());
    entry(inputs, std::move(body));
    return build();
  }
};

struct Fixture : Windows {
  std::optional<tir::Module> made;
  Result transformed(std::int64_t percent, const std::string& steps = "fuse,merge") {
    if (!made) made = network();
    return transform(*made, {.steps = *parse_steps(steps), .recompute_percent = percent});
  }
};

const StepResult* recomputed(const Result& result) {
  for (const StepResult& step : result.steps) {
    if (step.step == Step::recompute) return &step;
  }
  return nullptr;
}

TEST_CASE_FIXTURE(Fixture, "recompute: what costs as much as is allowed is done, and no more") {
  add_reader("t", add_pair("t"));
  SUBCASE("less is allowed") { CHECK(recomputed(transformed(45)) == nullptr); }
  SUBCASE("as much") {
    const Result result = transformed(46);
    const StepResult* const step = recomputed(result);
    REQUIRE(step != nullptr);
    CHECK(step->load_before == 40);
    CHECK(step->load_after == 0);
    CHECK(step->extra_work_permille == 451);
    CHECK(step->changes.front().text == "t: removed, each reader computes it, 45.1% more work");
    CHECK(loops::work_of(result.module()) == 296);
  }
  SUBCASE("more: the cheapest is done all the same") {
    const Result result = transformed(1000);
    REQUIRE(recomputed(result) != nullptr);
    CHECK(recomputed(result)->extra_work_permille == 451);
  }
}

TEST_CASE_FIXTURE(Fixture, "recompute: what has been computed more than once before is part of what is allowed") {
  add_reader("t", add_pair("t"));
  const tir::Module module = network();
  const double work = loops::work_of(module);
  REQUIRE(work == 204);
  const double before = 10;  // of these: 296 is 1.526 of 194
  Options options{.steps = *parse_steps("fuse,merge"), .recompute_percent = 52};
  tir::Module changed = module;
  CHECK_FALSE(recompute(changed, options, {}, before));
  options.recompute_percent = 53;
  const auto result = recompute(changed, options, {}, before);
  REQUIRE(result);
  CHECK(loops::work_of(changed) == 296);
  CHECK(result->extra_work_permille == 475);  // 92 of 194
}

TEST_CASE_FIXTURE(Fixture, "recompute: nothing without percent, or without the steps that would do it") {
  add_reader("t", add_pair("t"));
  CHECK(recomputed(transformed(0)) == nullptr);
  CHECK(recomputed(transformed(1000, "none")) == nullptr);
  CHECK(recomputed(transformed(1000, "fuse")) == nullptr);
  CHECK(recomputed(transformed(1000, "merge,narrow,reorder")) == nullptr);
}

TEST_CASE_FIXTURE(Fixture, "recompute: each of several readers computes the tensor, and the writer goes") {
  const VarId t = add_pair("t");
  add_reader("one", t);
  add_reader("two", t);
  SUBCASE("308 operations become 592") { CHECK(recomputed(transformed(92)) == nullptr); }
  SUBCASE("both readers") {
    const Result result = transformed(93);
    REQUIRE(recomputed(result) != nullptr);
    CHECK(recomputed(result)->load_after == 0);
    CHECK(!result.module().find("divide_t"));
    CHECK(result.module().find("windows_one_merged"));
    CHECK(result.module().find("windows_two_merged"));
  }
}

TEST_CASE_FIXTURE(Fixture, "recompute: the budget is one for all that is done") {
  // 408 and 2 · 92 more: 45.1 % for both, 22.6 % for one.
  const VarId t = add_pair("t");
  add_reader("t", t);
  const VarId u = add_pair("u", 11);
  add_reader("u", u, 11);
  SUBCASE("for both") {
    const Result result = transformed(46);
    REQUIRE(recomputed(result) != nullptr);
    CHECK(recomputed(result)->load_after == 0);
  }
  SUBCASE("for the larger") {
    const Result result = transformed(30);
    REQUIRE(recomputed(result) != nullptr);
    CHECK(recomputed(result)->load_before == 44);
    CHECK(recomputed(result)->load_after == 40);
  }
}

TEST_CASE_FIXTURE(Fixture, "recompute: nothing is done if the load stays as high elsewhere") {
  add_reader("t", add_pair("t"));
  add_reader("v", add_pair("v", 5), 5);  // a dip between two peaks
  const VarId u = add_pair("u");
  // Its reader takes it twice, and stays as it is.
  const VarId out = pointer("out", i32);
  inputs.push_back(out);
  const VarId p = pointer("p", i32);
  const VarId q = pointer("q", i32);
  const VarId o = pointer("o", i32);
  const VarId j = integer("j");
  function("twice", {p, q, o}, block(loop(j, 8, block(store(o, var(j), add(load(p, var(j)), load(q, var(j))))))));
  calls.push_back(call("twice", {u, u, out}));
  const Result result = transformed(1000);
  CHECK(recomputed(result) == nullptr);
  CHECK(result.module().find("windows_t"));
}

// Two tensors, one after the other at the peak: both are gone, or only the first that pays, or none.
TEST_CASE_FIXTURE(Fixture, "recompute: what is looked at is limited, and the search ends with what it has") {
  add_reader("t", add_pair("t"));
  add_reader("u", add_pair("u", 11), 11);
  const tir::Module given = network();
  const Options options{.steps = *parse_steps("fuse,merge"), .recompute_percent = 1000};
  const auto load_within = [&](const RecomputeLimits& limits) {
    tir::Module module = given;
    tir::Module again = given;
    const auto result = recompute(module, options, limits);
    CHECK(recompute(again, options, limits).has_value() == result.has_value());
    CHECK(tir::print(again) == tir::print(module));
    if (!result) CHECK(tir::print(module) == tir::print(given));
    return result ? result->load_after : Bytes{44};
  };
  SUBCASE("effort") {
    CHECK(load_within({}) == 0);
    CHECK(load_within({.effort = 0}) == 44);
    Bytes before = 44;
    std::set<Bytes> seen;
    for (std::int64_t effort = 1; effort < 1'000'000; effort += effort / 4 + 1) {
      const Bytes load = load_within({.effort = effort});
      CHECK(load <= before);
      before = load;
      seen.insert(load);
    }
    CHECK(seen == std::set<Bytes>{0, 40, 44});
  }
  SUBCASE("code") {
    CHECK(load_within({.code = -1'000'000}) == 44);
    Bytes before = 44;
    for (std::int64_t code = -400; code <= 400; code += 20) {
      const Bytes load = load_within({.code = code});
      CHECK(load <= before);
      before = load;
    }
    CHECK(before == 0);
  }
  SUBCASE("candidates") {
    CHECK(load_within({.looks = 0}) == 44);
    CHECK(load_within({.looks = 1}) == 0);
  }
}

TEST_CASE_FIXTURE(Fixture, "recompute: how often a loop runs has to be known") {
  add_reader("t", add_pair("t"), 10, true);
  CHECK(recomputed(transformed(1000)) == nullptr);
}

TEST_CASE_FIXTURE(Fixture, "recompute: a buffer inside an operator") {
  // A sum of a window of 5 over a padded copy with a border of 1, so that it is not skipped.
  const VarId in = pointer("in", i32);
  const VarId out = pointer("out", i32);
  inputs = {in, out};
  const VarId a = pointer("a", i32);
  const VarId o = pointer("o", i32);
  const VarId pad = pointer("pad", i32);
  const VarId i = integer("i");
  const VarId j = integer("j");
  const VarId k = integer("k");
  const ExprRef inside = less(var(i), imm(16));
  const ExprRef padded = tir::make_call(i32, "tir.if_then_else", {inside, load(a, var(i)), imm(1)});
  const ExprRef sum = add(load(o, var(j)), load(pad, add(var(j), var(k))));
  function("conv", {a, o},
           block(allocate(pad, 20), loop(i, 20, block(store(pad, var(i), padded))),
                 loop(j, 16, block(store(o, var(j), imm(0)), loop(k, 5, block(store(o, var(j), sum)))))));
  calls.push_back(call("conv", {in, out}));
  const Result result = transformed(100, "fuse");
  REQUIRE(recomputed(result) != nullptr);
  CHECK(recomputed(result)->load_before == 80);
  CHECK(recomputed(result)->load_after == 0);
  CHECK(recomputed(result)->changes.front().function == "conv");
}

}  // namespace
}  // namespace usmp::transform::testing::recompute_test

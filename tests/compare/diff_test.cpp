// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Differences between plans.
#include "usmp/compare/diff.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "compare/match.hpp"
#include "plan_support/diffs.hpp"

namespace usmp::compare::diff_test {

using plan_file::PlanDocument;
using namespace usmp::plan_support::diffs;

namespace {

// By which the pool grows at its peak, according to the buffers.
Bytes growth_of_buffers(const PlanDiff& diff, const PoolDiff& pool) {
  Bytes growth = pool.same_growth_at_peak;
  for (const BufferDiff& buffer : diff.buffers) {
    if (buffer.before && buffer.before->pool == pool.name) growth -= buffer.before->bytes_at_peak;
    if (buffer.after && buffer.after->pool == pool.name) growth += buffer.after->bytes_at_peak;
  }
  return growth;
}

}  // namespace

TEST_CASE("the same plan, and one that only says other things of itself, are equal") {
  CHECK_FALSE(diff_of(example(), example()).differs());
  PlanDocument other = example();
  other.algorithm = "optimal";
  other.seed = 3;
  other.warnings = {"w"};
  const Diff diff = diff_of(example(), other);
  CHECK_FALSE(diff.differs());
  CHECK(diff.modules.at(0).same == 5);
}

TEST_CASE("each figure of a pool and each place is a difference") {
  const auto differs = [](const auto& change) {
    PlanDocument other = example();
    change(other);
    return diff_of(example(), other).differs();
  };
  CHECK(differs([](PlanDocument& d) { d.pools[0].capacity = std::nullopt; }));
  CHECK(differs([](PlanDocument& d) { d.pools[0].used = 80; }));
  CHECK_FALSE(differs([](PlanDocument& d) { d.pools[0].lower_bound = 61; }));  // the problem is the same
  CHECK(differs([](PlanDocument& d) { d.buffers[2].live = {{1, 5}}; }));
  CHECK(differs([](PlanDocument& d) { d.buffers[2].offset = 16; }));
  CHECK(differs([](PlanDocument& d) { d.buffers[2].pool = "sram"; }));
  CHECK(differs([](PlanDocument& d) { d.buffers[2].size = 31; }));
}

TEST_CASE("the effect is how far a buffer reaches into what only one plan uses") {
  PlanDocument smaller = example();
  smaller.pools[0].used = 48;
  smaller.buffers[1].offset = 16;  // b: 48..64 → 16..32
  const PlanDiff diff = diff_of(example(), smaller).modules.at(0);
  REQUIRE(diff.buffers.size() == 1);
  CHECK(diff.buffers[0].change == BufferChange::moved);
  CHECK(diff.buffers[0].effect == -16);
  CHECK(diff_of(smaller, example()).modules.at(0).buffers.at(0).effect == 16);
}

TEST_CASE("a buffer that changes pools has no effect: offsets of two pools are not compared") {
  PlanDocument moved = example();
  moved.buffers[1].pool = "sram";
  moved.buffers[1].offset = 200;
  moved.pools[0].used = 48;
  moved.pools[1].used = 216;
  const PlanDiff diff = diff_of(example(), moved).modules.at(0);
  REQUIRE(diff.buffers.size() == 1);
  CHECK(diff.buffers[0].change == BufferChange::moved);
  CHECK(diff.buffers[0].effect == 0);
}

TEST_CASE("operators have the names of other reports, if the plan knows what any is") {
  PlanDocument before = example();
  PlanDocument after = before;
  after.buffers[1].offset = 32;
  CHECK(diff_of(before, after).modules.at(0).buffers.at(0).shown().caller.empty());
  for (PlanDocument::Call& call : after.calls) call.kind = "conv2d";
  const BufferDiff buffer = diff_of(before, after).modules.at(0).buffers.at(0);
  CHECK(buffer.before->caller.empty());
  CHECK(buffer.after->caller.ends_with(" conv2d"));
  CHECK(buffer.after->caller.starts_with("#"));
  CHECK_FALSE(buffer.after->producer.empty());
  after.calls[0].by_rows = {{6, "add", "add"}};
  after.buffers[1].row_operator = 6;
  CHECK(diff_of(before, after).modules.at(0).buffers.at(0).shown().caller == "#1.6 add");
}

TEST_CASE("what changed at the peak comes first, constants last") {
  PlanDocument before = example();  // dtcm's peak is at tick 1
  PlanDocument after = before;
  after.buffers[1].size = 8;   // b, live at the peak: 16 → 8
  after.buffers[4].size = 90;  // the constant: 10 → 90
  after.pools[2].used = 90;
  PlanDocument::Buffer& late = after.buffers.emplace_back(after.buffers[0]);
  late.name = "late";
  late.size = 20;
  late.live = {{5, 6}};  // large, but not at the peak
  const PlanDiff diff = diff_of(before, after).modules.at(0);
  REQUIRE(diff.buffers.size() == 3);
  CHECK(diff.buffers[0].growth_at_peak() == -8);
  CHECK(diff.buffers[1].shown().name == "late");
  CHECK(diff.buffers[1].growth_at_peak() == 0);
  CHECK(diff.buffers[2].shown().kind == BufferKind::constant);
  CHECK(diff.buffers[2].effect == 80);
}

TEST_CASE("numbers behind names") {
  CHECK(without_number("sid_7") == "sid");
  CHECK(without_number("fused_add_12") == "fused_add");
  CHECK(without_number("fused_multiply_18399028763786443038_") == "fused_multiply");
  CHECK(without_number("conv2d") == "conv2d");
  CHECK(without_number("T_cast") == "T_cast");
  CHECK(without_number("_1") == "_1");
  CHECK(without_number("12") == "12");
  CHECK(without_number("") == "");
}

TEST_CASE("an operator in front renumbers all tensors, and they are the same nevertheless") {
  const auto matches = match_buffers(chain(0, {10, 20, 30, 20}), chain(0, {5, 10, 20, 30, 20}));
  CHECK(matches == std::vector<std::optional<std::size_t>>{1, 2, 3, 4});
  const PlanDiff diff = diff_of(chain(0, {10, 20, 30, 20}), chain(0, {5, 10, 20, 30, 20})).modules.at(0);
  CHECK(diff.renamed == 4);
  REQUIRE(diff.buffers.size() == 1);
  CHECK(diff.buffers[0].change == BufferChange::added);
  CHECK(diff.buffers[0].after->size == 5);
}

TEST_CASE("a tensor that is gone, one that is resized, and other kinds of buffers") {
  CHECK(match_buffers(chain(3, {10, 20, 30}), chain(7, {10, 30})) ==
        std::vector<std::optional<std::size_t>>{0, std::nullopt, 1});
  CHECK(match_buffers(chain(3, {10, 20, 30}), chain(3, {10, 25, 30})) ==
        std::vector<std::optional<std::size_t>>{0, 1, 2});
  PlanDocument scratch = chain(3, {10});
  scratch.buffers[0].kind = BufferKind::scratch;
  CHECK(match_buffers(chain(3, {10}), scratch) == std::vector<std::optional<std::size_t>>{std::nullopt});
  PlanDocument other = chain(3, {10});
  other.calls[0].callee = "pool_3";
  CHECK(match_buffers(chain(3, {10}), other) == std::vector<std::optional<std::size_t>>{std::nullopt});
}

TEST_CASE("the order of declarations is no matter") {
  PlanDocument before = chain(0, {10, 20, 20});
  PlanDocument after = chain(0, {10, 20, 20});
  std::reverse(after.buffers.begin(), after.buffers.end());
  CHECK(match_buffers(before, after) == std::vector<std::optional<std::size_t>>{2, 1, 0});
}

TEST_CASE("modules are matched by name") {
  PlanDocument a = example();
  PlanDocument b = example();
  a.module = "a";
  b.module = "b";
  CHECK_FALSE(diff_modules({a, b}, {b, a}, "x", "y").differs());
  const Diff diff = diff_modules({a, b}, {b}, "x", "y");
  CHECK(diff.differs());
  CHECK(diff.only_before == std::vector<std::string>{"a"});
  CHECK(diff_modules({a}, {b}, "x", "y").modules.size() == 1);
}

TEST_CASE("a module that is renamed because others join it is matched by its archive") {
  PlanDocument old = example();
  old.module = "default";
  old.archive = "kws.tar";
  PlanDocument renamed = old;
  renamed.module = "kws";
  PlanDocument other = example();
  other.module = "vww";
  other.archive = "vww.tar";
  const Diff diff = diff_modules({old}, {other, renamed}, "x", "y");
  REQUIRE(diff.modules.size() == 1);
  CHECK(diff.modules[0].before.module == "default");
  CHECK(diff.modules[0].after.module == "kws");
  CHECK(diff.only_before.empty());
  CHECK(diff.only_after == std::vector<std::string>{"vww"});
  PlanDocument second = renamed;  // of the same archive: which one it was is not known
  second.module = "kws_2";
  const Diff unclear = diff_modules({old}, {second, renamed}, "x", "y");
  CHECK(unclear.modules.empty());
  CHECK(unclear.only_after.size() == 2);
  CHECK(diff_modules({second, renamed}, {old}, "x", "y").modules.empty());
}

TEST_CASE("bytes that live buffers share count once at the peak") {
  PlanDocument sharing = example();
  sharing.distances = {{BufferId(0), BufferId(1), 20}};
  const Diff diff = diff_of(example(), sharing);
  REQUIRE(diff.modules.size() == 1);
  const PoolDiff& dtcm = diff.modules[0].pools[0];
  REQUIRE(dtcm.name == "dtcm");
  CHECK(dtcm.before->live_at_peak == 64);
  CHECK(dtcm.after->live_at_peak == 48);
}

TEST_CASE("at the peak, the changes of all buffers add up to that of the pool") {
  PlanDocument before = example();  // dtcm's peak is at tick 1
  before.distances = {{BufferId(0), BufferId(1), 40}};
  before.buffers[1].offset = 40;  // so a and b share 8 bytes
  PlanDocument moved = before;
  moved.buffers[0].pool = "sram";  // which makes another tick the peak of dtcm
  moved.buffers[0].offset = 100;
  for (const PlanDiff& diff : {diff_of(before, moved).modules.at(0), diff_of(moved, before).modules.at(0),
                               diff_of(before, changed()).modules.at(0), diff_of(before, example()).modules.at(0)}) {
    for (const PoolDiff& pool : diff.pools) {
      CAPTURE(pool.name);
      const Bytes grown =
          (pool.after ? pool.after->occupied_at_peak : 0) - (pool.before ? pool.before->occupied_at_peak : 0);
      CHECK(growth_of_buffers(diff, pool) == grown);
    }
  }
  const PlanDiff diff = diff_of(before, moved).modules.at(0);
  REQUIRE(diff.pools[0].name == "dtcm");
  CHECK(diff.pools[0].before->occupied_at_peak == 56);
  CHECK(diff.pools[0].same_growth_at_peak == 24);  // c, which was not live at the peak, and b, which no longer is
}

TEST_CASE("the name of a module does not count in those of its functions") {
  const auto of_module = [](const std::string& module, Bytes size) {
    PlanDocument plan = fused({{"tvmgen_" + module + "_add", "sid_1: as tvmgen_" + module + "_relu"},
                               {"tvmgen_" + module + "_relu", "sid_2: gone"}});
    plan.module = module;
    for (PlanDocument::Buffer& buffer : plan.buffers) buffer.function = "tvmgen_" + module + "_" + buffer.function;
    for (PlanDocument::Call& call : plan.calls) call.callee = "tvmgen_" + module + "_" + call.callee;
    plan.buffers[1].size = size;
    return plan;
  };
  const Bytes size = example().buffers[1].size;
  PlanDiff diff = diff_plans(of_module("default", size), of_module("kws", size));
  CHECK_FALSE(diff.differs());
  CHECK(diff.renamed == 0);
  CHECK(diff.steps.empty());
  diff = diff_plans(of_module("default", size), of_module("kws", size + 4));
  REQUIRE(diff.buffers.size() == 1);
  CHECK(diff.buffers[0].change == BufferChange::resized);
  CHECK(diff.renamed == 0);
  PlanDocument other = of_module("kws", size);  // the prefix of another module is part of the name
  other.transformed[0].changes[0].what = "sid_1: as tvmgen_default_relu";
  CHECK(diff_plans(of_module("default", size), other).steps.size() == 1);
}

TEST_CASE("warnings are those of the later plan") {
  PlanDocument before = example();
  before.warnings = {"old"};
  PlanDocument after = example();
  after.warnings = {"new"};
  CHECK(diff_plans(before, after).warnings == std::vector<std::string>{"new"});
}

TEST_CASE("other transformations make no difference of what the plans use") {
  PlanDocument other = example();
  other.transformed.clear();
  CHECK_FALSE(diff_of(other, example()).differs());
  CHECK(steps_of(other, example()).size() == 3);
  CHECK(steps_of(example(), example()).empty());
}

TEST_CASE("what was left out, or found nothing to do, did nothing in either plan") {
  PlanDocument other = example();
  other.transformed.erase(other.transformed.begin() + 1, other.transformed.begin() + 3);
  CHECK(steps_of(example(), other).empty());
  CHECK(steps_of(other, example()).empty());
  other = example();
  other.transformed[3].changes.clear();  // constants are shared nevertheless
  CHECK(steps_of(other, example()).size() == 1);
  PlanDocument nothing = example();
  nothing.transformed[3].changes.clear();
  nothing.transformed[3].constants = {10, 10};
  const std::vector<StepDiff> steps = steps_of(nothing, other);
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].step == "constants");
  CHECK_FALSE(steps[0].before);
  CHECK(steps[0].after->constants->after == 10);
}

TEST_CASE("a function of another name has the same changes, one of a name that both plans have its own") {
  CHECK(steps_of(fused({{"old_name", "a_1: gone"}}), fused({{"new_name", "a_2: gone"}})).empty());
  const std::vector<StepDiff> steps =
      steps_of(fused({{"old_name", "a_1: gone"}, {"main", "b: gone"}}), fused({{"main", "a_1: gone"}}));
  REQUIRE(steps.size() == 1);
  CHECK(words_of(steps[0].only_before) == std::vector<std::string>{"old_name: a_1: gone", "main: b: gone"});
  CHECK(words_of(steps[0].only_after) == std::vector<std::string>{"main: a_1: gone"});
}

TEST_CASE("buffers of other names are matched by what their operators are, in order, if their sizes are equal") {
  const auto named = [](const std::string& prefix, const std::vector<Bytes>& sizes, const std::string& kind) {
    PlanDocument plan = chain(1, sizes);
    for (PlanDocument::Buffer& buffer : plan.buffers) buffer.name = prefix + buffer.name + "x";
    for (PlanDocument::Call& call : plan.calls) {
      call.callee = prefix + call.callee + "x";
      call.kind = kind;
    }
    return plan;
  };
  const PlanDiff diff = diff_of(named("a", {8, 16, 8}, "conv2d"), named("b", {4, 8, 16, 8}, "conv2d")).modules.at(0);
  CHECK(diff.same == 3);
  CHECK(diff.renamed == 3);
  REQUIRE(diff.buffers.size() == 1);
  CHECK(diff.buffers[0].change == BufferChange::added);
  CHECK(diff.buffers[0].after->size == 4);
  CHECK(diff_of(named("a", {8}, "conv2d"), named("b", {8}, "softmax")).modules.at(0).buffers.size() == 2);
  CHECK(diff_of(named("a", {8}, "conv2d"), named("b", {9}, "conv2d")).modules.at(0).buffers.size() == 2);
}

TEST_CASE("changes are matched one by one, those of the same numbers first") {
  std::vector<StepDiff> steps =
      steps_of(fused({{"conv_1", "a_1: gone"}, {"conv_1", "a_1: gone"}}), fused({{"conv_1", "a_1: gone"}}));
  REQUIRE(steps.size() == 1);
  CHECK(words_of(steps[0].only_before) == std::vector<std::string>{"conv_1: a_1: gone"});
  CHECK(steps[0].only_after.empty());
  CHECK(steps_of(fused({{"conv_1", "a_1: gone"}, {"conv_2", "a_2 + 12, x_3"}}),
                 fused({{"conv_4", "a_7 + 12, x_3"}, {"conv_3", "a_2: gone"}}))
            .empty());
  steps = steps_of(fused({{"conv_1", "a_1: gone"}, {"conv_2", "a_2: gone"}}), fused({{"conv_2", "a_2: gone"}}));
  REQUIRE(steps.size() == 1);
  CHECK(words_of(steps[0].only_before) == std::vector<std::string>{"conv_1: a_1: gone"});
  for (const PlanDocument::Change& other :
       {PlanDocument::Change{"pool_1", "a_1: gone"}, {"conv_1", "b_1: gone"}, {"conv_1", "a_1: gone, 12"}}) {
    steps = steps_of(fused({{"conv_1", "a_1: gone"}}), fused({other}));
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].only_before.size() == 1);
    CHECK(steps[0].only_after.size() == 1);
  }
}

TEST_CASE("steps stand in the order of both plans, each once") {
  const auto plan = [](const std::vector<std::string>& names) {
    PlanDocument document = example();
    document.transformed.clear();
    for (const std::string& name : names) document.transformed.push_back({name, 1, 1, {{"f", name}}});
    return document;
  };
  std::vector<std::string> names;
  PlanDocument after = plan({"zero", "b", "c", "z", "z"});
  for (PlanDocument::StepOutcome& step : after.transformed) step.changes.push_back({"g", "other"});
  for (const StepDiff& step : steps_of(plan({"a", "b", "d"}), after)) names.push_back(step.step);
  CHECK(names == std::vector<std::string>{"zero", "a", "b", "c", "z", "d"});
}

}  // namespace usmp::compare::diff_test

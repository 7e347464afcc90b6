// Differences between plans. test_schema.py holds diff.json against docs/schema/diff.schema.json.
#include "usmp/report/diff.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "fixtures.hpp"
#include "golden.hpp"
#include "report/match.hpp"

namespace usmp::report::diff_test {
namespace {

PlanDocument example() {
  Planned planned;
  fill_example(planned);
  planned.summary.transformed = example_steps();
  return plan_document(planned.finish());
}

// The example after a change of the model: an operator in front, which renumbers conv's tensors; b larger, and so c
// moved; big gone, and with it its pool. Something is narrowed and merged instead of computed twice, and one more
// tensor is fused.
PlanDocument changed() {
  PlanDocument document = example();
  document.algorithm = "optimal";
  document.pools.erase(document.pools.begin() + 1);
  document.pools[0].used = 72;
  document.pools[0].lower_bound = 72;
  document.buffers.erase(document.buffers.begin() + 3);
  document.buffers[1].size = 24;
  document.buffers[2].offset = 32;
  document.buffers.push_back({.name = "|odd, \"name\"",
                              .function = "conv",
                              .kind = BufferKind::scratch,
                              .pool = "dtcm",
                              .offset = 64,
                              .pinned = false,
                              .size = 8,
                              .alignment = 4,
                              .live = {{{5, 6}}},
                              .candidates = {"dtcm"}});
  std::vector<PlanDocument::Step>& steps = document.transformed;
  steps.pop_back();
  steps[0].changes = {{"conv_2", "T_add: computed where it is read"},
                      {"conv_2", "T_subtract: |odd, \"name\""},
                      {"main", "sid_8: a scalar"}};
  steps[1] = {"narrow", 112, 96, {{"main", "sid_9: stored as int8"}}};
  steps[2].changes = {{"main", "conv_1 and relu: one operator"}};
  steps[3].changes[0].function = "conv_2";
  return document;
}

// Of a plan in which the step fuse did this and nothing else was done.
PlanDocument fused(const std::vector<PlanDocument::Change>& changes) {
  PlanDocument document = example();
  document.transformed = {{"fuse", 160, 112, changes}};
  return document;
}

std::vector<StepDiff> steps_of(const PlanDocument& before, const PlanDocument& after) {
  return diff_plans(before, after).steps;
}

std::vector<std::string> words_of(const std::vector<PlanDocument::Change>& changes) {
  std::vector<std::string> words;
  for (const PlanDocument::Change& change : changes) words.push_back(change.function + ": " + change.what);
  return words;
}

Diff diff_of(const PlanDocument& before, const PlanDocument& after) {
  return diff_modules({before}, {after}, "old.plan.json", "new.plan.json");
}

// Tensors sid_<first>, sid_<first + 1>, … of main, each written by conv_<number>, of the sizes.
PlanDocument chain(int first, const std::vector<Bytes>& sizes) {
  PlanDocument document;
  document.module = "default";
  document.pools.push_back({});
  document.pools.back().name = "sram";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string number = std::to_string(first + static_cast<int>(i));
    const Tick begin = static_cast<Tick>(i);
    PlanDocument::Buffer& buffer = document.buffers.emplace_back();
    buffer.name = "sid_" + number;
    buffer.function = "main";
    buffer.pool = "sram";
    buffer.size = sizes[i];
    buffer.live = {{begin, begin + 1}};
    document.calls.push_back({"conv_" + number, {begin, begin + 1}});
  }
  return document;
}

}  // namespace

TEST_CASE("a difference in every format") {
  const Diff diff = diff_of(example(), changed());
  CHECK(diff.differs());
  check_golden("diff.txt", diff_text(diff, {}));
  check_golden("diff.md", diff_markdown(diff));
  check_golden("diff.json", diff_json(diff));
  check_golden("diff.csv", diff_csv(diff));
}

TEST_CASE("in CSV a name becomes no formula, and a negative figure stays one") {
  Diff diff = diff_of(example(), changed());
  diff.modules.at(0).buffers.back().after.value().name = "=cmd|'x'";
  const std::string csv = diff_csv(diff);
  CHECK(csv.find(",'=cmd|'x',") != std::string::npos);
  CHECK(csv.find(",-") != std::string::npos);
  CHECK(csv.find("'-") == std::string::npos);
}

TEST_CASE("the same plan, and one that only says other things of itself, are equal") {
  CHECK_FALSE(diff_of(example(), example()).differs());
  PlanDocument other = example();
  other.algorithm = "optimal";
  other.seed = 3;
  other.warnings = {"w"};
  const Diff diff = diff_of(example(), other);
  CHECK_FALSE(diff.differs());
  CHECK(diff.modules.at(0).same == 5);
  CHECK(diff_text(diff, {}) ==
        "module default: old.plan.json (hill_climb) -> new.plan.json (optimal)\n"
        "  dtcm uses 64 bytes as before\n  sram uses 100 bytes as before\n  flash uses 10 bytes as before\n"
        "  no difference in pools and buffers (5 as they were)\n");
}

TEST_CASE("each figure of a pool and each place is a difference") {
  const auto differs = [](const auto& change) {
    PlanDocument other = example();
    change(other);
    return diff_of(example(), other).differs();
  };
  CHECK(differs([](PlanDocument& d) { d.pools[0].capacity = std::nullopt; }));
  CHECK(differs([](PlanDocument& d) { d.pools[0].used = 80; }));
  CHECK(differs([](PlanDocument& d) { d.pools[0].lower_bound = 61; }));
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
  CHECK(diff.buffers[0].change == Change::moved);
  CHECK(diff.buffers[0].effect == -16);
  CHECK(diff_of(smaller, example()).modules.at(0).buffers.at(0).effect == 16);
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
  CHECK(diff.buffers[0].change == Change::added);
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
  CHECK(diff_text(diff, {}).ends_with("module a is gone\n"));
  CHECK(diff_modules({a}, {b}, "x", "y").modules.size() == 1);
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

TEST_CASE("other transformations are told, and make no difference of what the plans use") {
  PlanDocument other = example();
  other.transformed.clear();
  const Diff diff = diff_of(other, example());
  CHECK_FALSE(diff.differs());
  const std::string text = diff_text(diff, {});
  CHECK(text.find(R"(  no difference in pools and buffers (5 as they were)

Transformations: 0 gone, 4 new
  Step       Before  After
  fuse       -       load 160 -> 112 bytes, 2 changes
  constants  -       load 112 -> 112 bytes, 1 change, constants 24 -> 10 bytes
  recompute  -       load 112 -> 96 bytes, 1 change, 1.5% more work

  Change  Step       What                               Function
  new     fuse       T_add: computed where it is read   conv_1
  new     fuse       sid_7: a scalar                    main
  new     constants  k: stored as int8 (10 bytes less)  conv_1
  new     recompute  b: a row at a time                 conv_1
)") != std::string::npos);
  CHECK(steps_of(example(), example()).empty());
  CHECK(diff_markdown(diff_of(example(), example())).find("Transformations") == std::string::npos);
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
  for (PlanDocument::Step& step : after.transformed) step.changes.push_back({"g", "other"});
  for (const StepDiff& step : steps_of(plan({"a", "b", "d"}), after)) names.push_back(step.step);
  CHECK(names == std::vector<std::string>{"zero", "a", "b", "c", "z", "d"});
}

TEST_CASE("of many changes the text shows twenty, and all if asked") {
  std::vector<PlanDocument::Change> changes;
  for (int i = 0; i < 23; ++i) changes.push_back({"conv", "number " + std::to_string(i)});
  const Diff diff = diff_of(fused({}), fused(changes));
  const auto shows = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(shows(diff_text(diff, {}), "number 19  conv\n  and 3 more (--verbose lists all)\n"));
  CHECK_FALSE(shows(diff_text(diff, {}), "number 20"));
  CHECK(shows(diff_text(diff, {.verbose = true}), "number 22  conv\n"));
  CHECK(shows(diff_markdown(diff), "number 19 | conv |\n\nand 3 more.\n"));
  CHECK(shows(diff_json(diff), "number 22"));
  CHECK(shows(diff_csv(diff), "transformation,default,new,fuse,conv,,,,,,,,,number 22\n"));
}

}  // namespace usmp::report::diff_test

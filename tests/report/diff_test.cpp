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
  return plan_document(planned.finish());
}

// The example after a change of the model: an operator in front, which renumbers conv's tensors; b larger, and so c
// moved; big gone, and with it its pool.
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
  return document;
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

}  // namespace usmp::report::diff_test

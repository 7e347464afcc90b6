// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a plan's places amount to.
#include "usmp/compare/figures.hpp"

#include <doctest/doctest.h>

#include "plan_support/planned.hpp"
#include "usmp/support/error.hpp"

namespace usmp::compare::figures_test {

using usmp::BufferKind;
using usmp::PoolId;
using usmp::PoolKind;
using usmp::compare::operator_name;
using usmp::compare::plan_figures;
using usmp::compare::PlanFigures;
using usmp::compare::PoolFigures;
using usmp::plan_file::PlanDocument;

TEST_CASE("figures of the example") {
  Planned planned;
  fill_example(planned);
  const PlanDocument document = planned.finish();
  const PlanFigures figures = plan_figures(document);
  REQUIRE(figures.pools.size() == 3);
  const PoolFigures& dtcm = figures.pools[0];
  CHECK(dtcm.buffers == std::vector<std::size_t>{0, 1, 2});
  CHECK(dtcm.asked == 96);
  CHECK(dtcm.timeline == std::vector<PoolFigures::TimelinePoint>{{0, 48}, {1, 64}, {2, 16}, {3, 32}, {5, 0}});
  CHECK(dtcm.load == 64);
  CHECK(dtcm.peak_at == 1);
  CHECK(dtcm.at_peak == std::vector<std::size_t>{0, 1});
  CHECK(dtcm.lost_to_alignment == 0);
  CHECK(dtcm.lost_to_fragmentation() == 0);
  CHECK(dtcm.live_at(0) == 48);
  CHECK(dtcm.live_at(2) == 16);
  CHECK(dtcm.live_at(5) == 0);
  CHECK(figures.pools[1].asked == 100);  // sram stands in front of flash
  CHECK(figures.pools[2].timeline == std::vector<PoolFigures::TimelinePoint>{{0, 10}, {6, 0}});
}

TEST_CASE("bytes that two live buffers share count once") {
  Planned planned;
  fill_example(planned);
  // Both live at 1, 48 and 16 bytes; the second inside of the first.
  planned.problem.distances = {{usmp::BufferId(0), usmp::BufferId(1), 20}, {usmp::BufferId(0), usmp::BufferId(3), 1}};
  const PoolFigures dtcm = plan_figures(planned.finish()).pools[0];
  CHECK(dtcm.timeline == std::vector<PoolFigures::TimelinePoint>{{0, 48}, {2, 16}, {3, 32}, {5, 0}});
  CHECK(dtcm.load == 48);
  CHECK(dtcm.at_peak.size() == 1);
}

TEST_CASE("a buffer's operator is the call it is first live in, a constant's the call of its function") {
  Planned planned;
  fill_example(planned);
  const PlanFigures figures = plan_figures(planned.finish());
  REQUIRE(figures.operators.size() == 5);
  CHECK_FALSE(figures.operators[0]);  // live from 0 on, conv runs in [1, 3)
  CHECK(figures.operators[1] == 0);
  CHECK_FALSE(figures.operators[2]);  // live from 3 on
  CHECK(figures.operators[4] == 0);
  CHECK(figures.pools[0].shares == std::vector<PoolFigures::Share>{{{}, 48}, {0, 16}});
}

TEST_CASE("what is used is reserved, live, lost to alignment, or in gaps that are proved or not") {
  Planned planned;
  planned.add_pool("ram", PoolKind::workspace, std::nullopt, 16);
  planned.problem.pools[0].reserved = 32;
  planned.problem.horizon = 2;
  const std::vector<PoolId> ram = {PoolId(0)};
  planned.add_buffer({"a", "f", BufferKind::tensor, 20, 1, ram, {{0, 2}}}, 0, 32);
  planned.add_buffer({"b", "f", BufferKind::tensor, 20, 1, ram, {{0, 1}}}, 0, 64);
  planned.add_buffer({"c", "f", BufferKind::tensor, 20, 1, ram, {{1, 2}}}, 0, 96);  // 64 would do
  PlanDocument document = planned.finish();
  PoolFigures figures = plan_figures(document).pools[0];
  CHECK(document.pools[0].used == 116);
  CHECK(figures.load == 40);
  CHECK(figures.lost_to_alignment == 12);
  CHECK(figures.proved_gap == 0);
  CHECK(figures.open_gap == 32);
  CHECK(32 + figures.load + figures.lost_to_alignment + figures.lost_to_fragmentation() == 116);
  document.pools[0].lower_bound = 100;
  figures = plan_figures(document).pools[0];
  CHECK(figures.proved_gap == 16);
  CHECK(figures.open_gap == 16);
  document.pools[0].lower_bound = 116;
  CHECK(plan_figures(document).pools[0].proved_gap == 32);
  CHECK(plan_figures(document).pools[0].open_gap == 0);
}

TEST_CASE("buffers that share bytes: which bytes, when, and what each counts for at the peak") {
  Planned planned;
  planned.add_pool("ram", PoolKind::workspace, std::nullopt);
  planned.add_pool("other", PoolKind::workspace, std::nullopt);
  planned.problem.horizon = 9;
  const std::vector<PoolId> ram = {PoolId(0), PoolId(1)};
  planned.add_buffer({"a", "f", BufferKind::tensor, 50, 1, ram, {{0, 3}, {6, 9}}}, 0, 10);
  planned.add_buffer({"b", "f", BufferKind::tensor, 60, 1, ram, {{2, 7}}}, 0, 0);
  planned.add_buffer({"c", "f", BufferKind::tensor, 5, 1, ram, {{0, 3}}}, 0, 60);
  planned.add_buffer({"d", "f", BufferKind::tensor, 8, 1, ram, {{2, 3}}}, 1, 0);   // in another pool
  planned.add_buffer({"e", "f", BufferKind::tensor, 10, 1, ram, {{7, 9}}}, 0, 0);  // touches a, behind b
  const auto id = [](std::size_t i) { return usmp::BufferId(i); };
  planned.problem.distances = {{id(0), id(1), 0}, {id(0), id(4), 0}, {id(1), id(0), 10},
                               {id(1), id(3), 0}, {id(1), id(4), 0}, {id(2), id(1), 0}};
  const PlanFigures figures = plan_figures(planned.finish());
  const PoolFigures& pool = figures.pools[0];
  CHECK(pool.shared_bytes == std::vector<PoolFigures::SharedBytes>{{0, 1, 10, 60, {{2, 3}, {6, 7}}}});
  CHECK(pool.shared_bytes[0].bytes() == 50);
  CHECK(pool.shared_bytes[0].at(2));
  CHECK_FALSE(pool.shared_bytes[0].at(3));
  CHECK(figures.pools[1].shared_bytes.empty());
  CHECK(pool.peak_at == 2);
  CHECK(pool.at_peak == std::vector<std::size_t>{1, 0, 2});
  CHECK(pool.counted == std::vector<usmp::Bytes>{60, 0, 5});
  CHECK(pool.occupied_at_peak == 65);
  CHECK(pool.shares == std::vector<PoolFigures::Share>{{{}, 65}});
}

TEST_CASE("each byte counts once, however the buffers lie") {
  Planned planned;
  planned.add_pool("ram", PoolKind::workspace, std::nullopt);
  planned.problem.horizon = 1;
  const auto add = [&](usmp::Bytes offset, usmp::Bytes size) {
    planned.add_buffer({"b", "f", BufferKind::tensor, size, 1, {PoolId(0)}, {{0, 1}}}, 0, offset);
  };
  add(30, 40);   // [30, 70)
  add(0, 35);    // [0, 35)
  add(65, 30);   // [65, 95): 5 of it taken
  add(20, 29);   // wholly taken
  add(94, 20);   // 1 of it taken
  add(200, 15);  // apart
  add(0, 0);
  const PoolFigures pool = plan_figures(planned.finish()).pools[0];
  CHECK(pool.at_peak == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6});
  CHECK(pool.counted == std::vector<usmp::Bytes>{40, 30, 25, 0, 19, 15, 0});
  CHECK(pool.occupied_at_peak == 129);

  Planned across;  // the largest two apart, the third one over the room between them and both
  across.add_pool("ram", PoolKind::workspace, std::nullopt);
  across.problem.horizon = 1;
  for (const auto& [offset, size] : std::vector<std::pair<usmp::Bytes, usmp::Bytes>>{{0, 40}, {60, 40}, {30, 39}}) {
    across.add_buffer({"b", "f", BufferKind::tensor, size, 1, {PoolId(0)}, {{0, 1}}}, 0, offset);
  }
  CHECK(plan_figures(across.finish()).pools[0].counted == std::vector<usmp::Bytes>{40, 40, 20});
}

TEST_CASE("a pool that buffers could leave for a later choice is filled on purpose") {
  Planned planned;
  fill_example(planned);
  PlanDocument document = planned.finish();
  const auto answers = [&] {
    std::vector<bool> all;
    for (const PoolFigures& pool : plan_figures(document).pools) all.push_back(pool.smaller_is_better);
    return all;
  };
  CHECK(answers() == std::vector<bool>{false, true, true});
  document.search->minimized = "dtcm";
  CHECK(answers() == std::vector<bool>{true, true, true});
  document.search.reset();
  for (std::size_t i = 0; i < 3; ++i) document.buffers[i].pinned = true;
  CHECK(answers() == std::vector<bool>{true, true, true});
}

TEST_CASE("without one of the largest buffers at the peak, the others need what no plan of them can do without") {
  Planned planned;
  fill_example(planned);
  const PlanFigures example = plan_figures(planned.finish());
  // Without a, of 48 bytes, c of 32 is alone at [3, 5); without b, a alone at [0, 1).
  CHECK(example.pools[0].without == std::vector<PoolFigures::Without>{{0, 32}, {1, 48}});
  CHECK(example.pools[1].without == std::vector<PoolFigures::Without>{{3, 0}});
  CHECK(example.pools[2].without.empty());  // constants are all live at every tick

  Planned many;
  many.add_pool("ram", PoolKind::workspace, std::nullopt, 16);
  many.problem.horizon = 1;
  for (const usmp::Bytes size : {10, 20, 30, 40, 50}) {
    const auto offset = static_cast<usmp::Bytes>(many.problem.buffers.size()) * 64;
    many.add_buffer({"b", "f", BufferKind::tensor, size, 1, {PoolId(0)}, {{0, 1}}}, 0, offset);
  }
  const PoolFigures ram = plan_figures(many.finish()).pools[0];
  // The rest rounded up to 16, but for the largest rounding, which may be at the top.
  CHECK(ram.without == std::vector<PoolFigures::Without>{
                           {4, 16 + 32 + 32 + 48 - 12}, {3, 16 + 32 + 32 + 64 - 14}, {2, 16 + 32 + 48 + 64 - 14}});
}

TEST_CASE("names of operators are TVM's without its prefix") {
  PlanDocument document;
  document.module = "my net";
  document.calls = {{"tvmgen_my_net_fused_add", {0, 1}}, {"cmsis_add", {1, 2}}, {"tvmgen_my_net_", {2, 3}}};
  CHECK(operator_name(document, 0) == "#1 fused_add");
  CHECK(operator_name(document, 1) == "#2 cmsis_add");
  CHECK(operator_name(document, 2) == "#3 tvmgen_my_net_");
}

TEST_CASE("operators are named by kind, those of somebody else also by function") {
  PlanDocument document;
  document.module = "net";
  document.calls = {{"tvmgen_net_fused_add", {0, 1}}, {"tvmgen_net_cmsis_nn_main_0", {1, 2}}};
  document.calls[0].kind = "add";
  document.calls[1].kind = "external";
  CHECK(operator_name(document, 0) == "#1 add");
  CHECK(operator_name(document, 1) == "#2 external cmsis_nn_main_0");
}

TEST_CASE("documents without live ranges, or too large, are refused") {
  Planned planned;
  fill_example(planned);
  PlanDocument document = planned.finish();
  document.buffers[3].live.reset();
  CHECK_THROWS_WITH_AS((void)plan_figures(document),
                       "buffers[3]: the key live is missing: expected a plan that says when buffers are live. Plan "
                       "again to get one",
                       usmp::Error);
  document = planned.finish();
  for (PlanDocument::Buffer& buffer : document.buffers) buffer.size = usmp::Problem::max_total_bytes;
  CHECK_THROWS_AS((void)plan_figures(document), usmp::Error);
}

}  // namespace usmp::compare::figures_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A planned module as a document: what is proved, what the pools' statuses are, in which order they stand.
#include "usmp/pipeline/plan_document.hpp"

#include <doctest/doctest.h>

#include "tir_support/module_builder.hpp"
#include "usmp/pipeline/program.hpp"

namespace usmp::pipeline::plan_document_test {
namespace {

using plan_file::PlanDocument;

// A bounded pool, a parameter pool, and an unbounded one, in which b is although the first has room.
struct Planned {
  tir::Module module;
  liveness::Analysis analysis;
  assemble::Assembly assembly;
  PlanResult result;

  Planned() {
    add_pool("dtcm", PoolKind::workspace, Bytes{200});
    add_pool("flash", PoolKind::constant, Bytes{64});
    add_pool("sram", PoolKind::workspace, std::nullopt);
    assembly.pools[1].internal = true;
    assembly.pools[1].section = ".rodata.flash";
    Problem& problem = assembly.problem;
    problem.pools[0].reserved = 32;
    problem.horizon = 2;
    problem.buffers.push_back({"a", "f", BufferKind::tensor, 40, 1, {PoolId(0)}, {{0, 2}}, 40});
    problem.buffers.push_back({"b", "f", BufferKind::tensor, 50, 1, {PoolId(0), PoolId(2)}, {{0, 2}}});
    problem.buffers.push_back({"k", "f", BufferKind::constant, 10, 1, {PoolId(1)}, {{0, 2}}});
    result.status = PlanStatus::feasible;
    result.plan.allocations = {{PoolId(0), 40}, {PoolId(2), 0}, {PoolId(1), 0}};
    module.functions.resize(2);
    module.functions[0].name = "f";
    module.functions[1].name = "main";
  }

  void add_pool(const std::string& name, PoolKind kind, std::optional<Bytes> capacity) {
    assembly.problem.pools.push_back({.name = name, .kind = kind, .capacity = capacity});
    assembly.pools.emplace_back().name = name;
  }

  [[nodiscard]] PlanDocument document() const {
    return plan_document(module, operators::operators_of(module), analysis, assembly, result, "optimal");
  }
};

std::vector<Bytes> bounds_of(const PlanDocument& document) {
  std::vector<Bytes> bounds;
  for (const PlanDocument::Pool& pool : document.pools) bounds.push_back(pool.lower_bound.value());
  return bounds;
}

}  // namespace

TEST_CASE("pools stand in the order of reports, whatever the problem's") {
  const PlanDocument document = Planned().document();
  REQUIRE(document.pools.size() == 3);
  CHECK(document.pools[0].name == "dtcm");
  CHECK(document.pools[0].reserved == 32);
  CHECK(document.pools[1].name == "sram");
  CHECK_FALSE(document.pools[1].internal);
  CHECK(document.pools[2].name == "flash");
  CHECK(document.pools[2].internal);
  CHECK(document.pools[2].section == ".rodata.flash");
  CHECK(document.workspace_used == 80 + 50);
  CHECK(document.constants_used == 10);
  CHECK(document.buffers[0].pinned);
  CHECK(document.buffers[1].pool == "sram");
  CHECK(document.buffers[1].candidates == std::vector<std::string>{"dtcm", "sram"});
}

TEST_CASE("the larger one of the algorithm's bound and the load stands there, with its reason") {
  Planned planned;
  CHECK(planned.document().pools[1].lower_bound == 0);
  CHECK(planned.document().spilled == std::vector<PlanDocument::Spilled>{{50, 0}});
  planned.result.bound = Cost{.spilled = {20}, .used = {72, 0, 50}};
  const PlanDocument document = planned.document();
  CHECK(bounds_of(document) == std::vector<Bytes>{80, 50, 10});
  CHECK(document.pools[0].lower_bound_reason != "proved by optimal");
  CHECK(document.pools[1].lower_bound_reason == "proved by optimal");
  CHECK(document.spilled == std::vector<PlanDocument::Spilled>{{50, 20}});
}

TEST_CASE("an optimal plan is its own lower bound") {
  Planned planned;
  planned.result.status = PlanStatus::optimal;
  const PlanDocument document = planned.document();
  CHECK(bounds_of(document) == std::vector<Bytes>{80, 50, 10});
  CHECK(document.spilled == std::vector<PlanDocument::Spilled>{{50, 50}});
}

TEST_CASE("a pool is optimal exactly when it uses its lower bound") {
  Planned planned;
  CHECK(planned.document().pools[1].status == PlanStatus::feasible);
  planned.result.bound = Cost{.spilled = {0}, .used = {0, 0, 50}};
  CHECK(planned.document().pools[1].status == PlanStatus::optimal);
}

TEST_CASE("without a plan, pools have the status of the result, and nothing is placed") {
  Planned planned;
  planned.result.status = PlanStatus::infeasible;
  for (Allocation& allocation : planned.result.plan.allocations) allocation = {};
  const PlanDocument document = planned.document();
  for (const PlanDocument::Pool& pool : document.pools) {
    CHECK(pool.status == PlanStatus::infeasible);
    CHECK(pool.used == 0);
  }
  CHECK_FALSE(document.buffers[0].placed());
  CHECK(document.buffers[0].offset == 0);
}

TEST_CASE("how the search ended") {
  Planned planned;
  planned.result.stopped = StopReason::node_limit;
  planned.result.iterations = 99;
  CHECK(planned.document().search == PlanDocument::Search{std::nullopt, StopReason::node_limit, 99});
}

TEST_CASE("C of the archive and allocates that nobody plans are named with their functions") {
  Planned planned;
  planned.module.functions[0].imported_c = {"\n \n  int g(void) {\n}\n", std::string(100, 'x')};
  planned.module.functions[1].imported_c = {
      std::string(100, 'x'),  // stands in the C once
      "#define TVM_EXPORTS\n// what it is\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n  static int calls;\nint f;\n",
      "#define A\n#define B\n"};
  planned.analysis.unplanned = {{tir::VarId(0), "dyn", 1, "extent 0 is not a constant"}};
  const PlanDocument document = planned.document();
  REQUIRE(document.imported_c.size() == 4);
  CHECK(document.imported_c[0] == plan_file::ImportedC{"f", 21, "int g(void) {"});
  CHECK(document.imported_c[1] == plan_file::ImportedC{"f", 100, std::string(60, 'x') + "..."});
  CHECK(document.imported_c[2].first_line == "static int calls;");
  CHECK(document.imported_c[3].first_line == "#define A");
  REQUIRE(document.unplanned.size() == 1);
  CHECK(document.unplanned[0].function == "main");
}

TEST_CASE("with the step constants, equal ones have one place") {
  tir::testing::ModuleBuilder b;
  const tir::VarId out = b.pointer("out");
  for (const char* name : {"f", "g"}) {
    const tir::VarId to = b.pointer("to");
    const tir::VarId constant = b.pointer("k");
    b.function(name, {to}, tir::testing::block(b.constant(constant, "weights"), b.copy(to, constant)));
  }
  b.entry({out}, tir::testing::block(b.call("f", {out}), b.call("g", {out})));
  SourceModule source;
  source.module = b.build();
  const auto constants = [&](std::vector<transform::Step> steps) {
    return constants_read(transformed(source, {std::move(steps), 0}, false).analysis);
  };
  CHECK(constants({}) == 14);
  CHECK(constants({transform::Step::constants}) == 7);
}

TEST_CASE("steps are told by name, with what they did") {
  const transform::StepResult constants{
      transform::Step::constants, 5, 4, {{transform::Step::constants, "f", "k: int8", {}}}};
  const std::vector<PlanDocument::StepOutcome> steps = steps_of({constants});
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].step == "constants");
  CHECK(steps[0].changes == std::vector<PlanDocument::Change>{{"f", "k: int8"}});
}

}  // namespace usmp::pipeline::plan_document_test

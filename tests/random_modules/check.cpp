// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Takes a module through interpreter, transformations, planners, verifier, replay and emission.
#include "random_modules/check.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "random_modules/pool_sets.hpp"
#include "random_modules/random.hpp"
#include "random_modules/replay.hpp"
#include "random_modules/transformed.hpp"
#include "usmp/assemble/pins.hpp"
#include "usmp/assemble/placements.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/kernels/kernels.hpp"
#include "usmp/liveness/distances.hpp"
#include "usmp/lower/lower.hpp"
#include "usmp/lower/outline.hpp"
#include "usmp/planners/planner.hpp"
#include "usmp/shape/shape_loops.hpp"
#include "usmp/verify/claims.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::random_modules {
namespace {

// Claims are tested by tests/planners too, and take longer than all else here.
constexpr std::uint64_t checks_claims_every = 16;

class Checker {
 public:
  Checker(const TestModule& test, const CheckOptions& options)
      : given_(test), options_(options), info_(info_of(test)) {}

  Report run() && {
    try {
      report_.reference = Interpreter(given_.module).run(arguments_of(given_));
    } catch (const Undefined& undefined) {
      report_.why_undefined = undefined.what();
      return std::move(report_);
    }
    Transformed made = transformed(given_, *report_.reference,
                                   {.steps = options_.steps,
                                    .recompute_percent = options_.recompute_percent,
                                    .strip_percent = options_.strip_percent,
                                    .rolling_grain = options_.rolling_grain});
    report_.changes = std::move(made.changes);
    if (made.fault) report_.faults.push_back(*made.fault);
    if (made.fault || !options_.plans) return std::move(report_);
    test_ = std::move(made.test);
    outcome_ = std::move(*made.outcome);
    for (const PoolSet& set : pool_sets(test_.seed)) {
      try {
        check(set);
      } catch (const std::exception& error) {
        report_.faults.push_back("pools " + set.name + ": " + error.what());
      }
      if (!report_.faults.empty()) break;
    }
    return std::move(report_);
  }

 private:
  void check(const PoolSet& set) {
    liveness::Analysis analysis = liveness::analyse(test_.module, liveness_options(set));
    if (may_share()) analysis.distances = liveness::find_distances(test_.module, liveness_options(set));
    assemble::Assembly assembly = assemble::assemble(test_.module, analysis, set.pools);
    if (set.pinned_percent > 0) pin(assembly, set.pinned_percent);
    std::vector<Plan> seen;
    for (const planners::Algorithm& algorithm : planners::algorithms()) {
      const std::string origin = std::string(algorithm.name) + ", pools " + set.name;
      const PlanResult result = algorithm.plan(assembly.problem, planner_options());
      if (test_.seed % checks_claims_every == 0) {
        for (const std::string& claim : verify::false_claims(assembly.problem, result)) {
          report_.faults.push_back(origin + ": " + claim);
        }
      }
      if (!result.has_plan()) {
        ++report_.infeasible;
        continue;
      }
      for (const verify::Violation& violation : verify::check(assembly.problem, result.plan)) {
        report_.faults.push_back(origin + ": " + violation.message);
      }
      if (!report_.faults.empty()) return;
      ++report_.plans;
      if (shares_bytes(assembly.problem, result.plan)) ++report_.sharing;
      if (std::find(seen.begin(), seen.end(), result.plan) != seen.end()) continue;
      seen.push_back(result.plan);
      if (const auto fault = replay(test_.module, outcome_, analysis, assembly, result.plan)) {
        report_.faults.push_back(origin + ": " + *fault);
        return;
      }
      if (const auto fault = product_replay_fault(test_.module, outcome_, analysis, liveness_options(set), assembly,
                                                  result.plan, test_.seed, report_.product)) {
        report_.faults.push_back(origin + ": " + *fault);
        return;
      }
      if (options_.emits) emit(origin, set.workspace_io, analysis, assembly, result.plan);
    }
  }

  // Every other module that is not transformed may, too.
  [[nodiscard]] bool may_share() const {
    const bool is_asked = std::ranges::count(options_.steps, transform::Step::inplace) > 0;
    return is_asked || (options_.steps.empty() && test_.seed % 2 == 0);
  }

  static bool shares_bytes(const Problem& problem, const Plan& plan) {
    return std::ranges::any_of(problem.distances, [&](const Distance& distance) {
      const Allocation& below = plan.of(distance.below);
      const Allocation& above = plan.of(distance.above);
      return below.pool == above.pool && below.offset <= above.offset &&
             above.offset < below.offset + problem.buffer(distance.below).size;
    });
  }

  liveness::Options liveness_options(const PoolSet& set) const {
    liveness::Options options;
    options.workspace_io = set.workspace_io;
    const auto& params = test_.module.functions[test_.module.entry].params;
    for (const std::size_t input : test_.inputs) options.inputs.push_back(params[input].var);
    for (const std::size_t output : test_.outputs) options.outputs.push_back(params[output].var);
    return options;
  }

  planners::Options planner_options() const {
    planners::Options options;
    options.seed = test_.seed;
    options.iterations = 200;
    options.node_limit = 2000;
    return options;
  }

  // Pins a part of the buffers where they do not share.
  void pin(assemble::Assembly& assembly, int percent) const {
    const PlanResult apart = planners::none(assembly.problem, planner_options());
    if (!apart.has_plan()) return;
    Random random(test_.seed ^ 0x7117U);
    plan_file::PlanDocument earlier;
    for (std::size_t i = 0; i < assembly.problem.buffers.size(); ++i) {
      const Buffer& buffer = assembly.problem.buffers[i];
      const Allocation& place = apart.plan.allocations[i];
      const bool pinned = random.chance(percent);
      plan_file::PlanDocument::Buffer& before = earlier.buffers.emplace_back();
      before.name = buffer.name;
      before.function = buffer.function;
      if (pinned) before.pool = assembly.problem.pool(place.pool).name;
      before.size = buffer.size;
      before.offset = place.offset;
    }
    (void)assemble::pin_as_before(assembly, earlier);
  }

  void emit(const std::string& origin, bool workspace_io, const liveness::Analysis& analysis,
            const assemble::Assembly& assembly, const Plan& plan) {
    const placement::Table table = assemble::placements_of(analysis, assembly, plan);
    lower::Lowered lowered = lower::outline(lower::lower(test_.module, table), table);
    kernels::write_kernels(lowered.module, core_for(test_.seed));
    shape::shape_loops(lowered.module);
    if (const auto what = random_modules::fault_of(lowered.module, tir::Form::outlined)) {
      report_.faults.push_back(origin + ": lowered, malformed: " + *what);
      return;
    }
    const codegen::EmissionInput planned{
        .info = info_, .source = test_.module, .placements = table, .lowered = lowered, .workspace_io = workspace_io};
    Emitted emitted{.origin = origin,
                    .workspace_io = workspace_io,
                    .external_pools = external_pools(assembly),
                    .header = {},
                    .entry = {},
                    .operators = {}};
    for (const OutputFile& file : codegen::module_files(planned)) {
      StringSink sink;
      file.write(sink);
      if (file.path.ends_with(".h")) emitted.header += sink.text();
      if (file.path.ends_with("_lib0.c")) emitted.entry = sink.text();
      if (file.path.ends_with("_lib1.c")) emitted.operators = sink.text();
    }
    if (!texts_.emplace(emitted.header, emitted.entry, emitted.operators).second) return;
    report_.emitted.push_back(std::move(emitted));
  }

  static std::vector<ExternalPool> external_pools(const assemble::Assembly& assembly) {
    std::vector<ExternalPool> external;
    for (const config::PoolSpec& spec : assembly.pools) {
      if (!spec.internal) external.push_back({spec.name, spec.kind == PoolKind::constant});
    }
    std::ranges::sort(external, {}, &ExternalPool::name);
    return external;
  }

  const TestModule& given_;
  const CheckOptions& options_;
  TestModule test_;  // transformed
  Outcome outcome_;  // of it
  const model::Description info_;
  Report report_;
  std::set<std::tuple<std::string, std::string, std::string>> texts_;
};

}  // namespace

Report check(const TestModule& test, const CheckOptions& options) { return Checker(test, options).run(); }

}  // namespace usmp::random_modules

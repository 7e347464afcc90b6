// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Runs the stages one after another, and checks plan, report, replay and C of each module.
#include "stages.hpp"

#include <algorithm>
#include <utility>

#include "fuzz.hpp"
#include "usmp/assemble/assemble.hpp"
#include "usmp/assemble/pins.hpp"
#include "usmp/assemble/placements.hpp"
#include "usmp/bounds/bounds.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/config/pools.hpp"
#include "usmp/instance/json.hpp"
#include "usmp/kernels/kernels.hpp"
#include "usmp/liveness/distances.hpp"
#include "usmp/lower/lower.hpp"
#include "usmp/lower/outline.hpp"
#include "usmp/mlf/metadata.hpp"
#include "usmp/pipeline/plan_document.hpp"
#include "usmp/plan_file/plan_json.hpp"
#include "usmp/planners/minimize_pool.hpp"
#include "usmp/replay/replay.hpp"
#include "usmp/report/text.hpp"
#include "usmp/shape/shape_loops.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir_json/reader.hpp"
#include "usmp/transform/transform.hpp"
#include "usmp/verify/claims.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::fuzz {
namespace {

// Everything of one module. It does not move: the summary and the files point into it.
struct Run {
  mlf::Metadata metadata;
  tir::Module module;
  codegen::Interface interface;
  liveness::Analysis analysis;
  config::PoolsConfig pools;
  assemble::Assembly assembly;
  PlanResult result;
  placement::Table placements;
  lower::Lowered lowered;

  [[nodiscard]] const model::Description& info() const { return metadata.modules.front(); }
  [[nodiscard]] const Problem& problem() const { return assembly.problem; }
};

void check_plan(const Problem& problem, const PlanResult& result, const char* what) {
  if (result.has_plan()) {
    const auto pairs = verify::check(problem, result.plan, verify::Method::pairs, 1);
    if (!pairs.empty()) fail(std::string(what) + ": " + pairs.front().message);
    require(verify::check(problem, result.plan, verify::Method::sweep, 1).empty(), "the verifier's methods disagree");
  }
  const auto claims = verify::false_claims(problem, result);
  if (!claims.empty()) fail(std::string(what) + ": " + claims.front());
}

PlanResult planned(const Problem& problem, const Wish& wish) {
  planners::Options options;
  options.node_limit = 300;
  options.iterations = 20;
  const planners::Planner planner = [&](const Problem& asked, const planners::Options& wanted) {
    PlanResult result = wish.algorithm->plan(asked, wanted);
    check_plan(asked, result, "a wrong plan");
    return result;
  };
  if (!wish.minimizes) return planner(problem, options);
  PlanResult result = planners::minimize_pool(problem, PoolId(0), planner, options);
  if (result.has_plan()) require(verify::check(problem, result.plan, 1).empty(), "a wrong plan of least size");
  return result;
}

liveness::Options liveness_options(const Run& run, bool workspace_io) {
  liveness::Options options;
  options.workspace_io = workspace_io;
  const auto& params = run.module.functions[run.module.entry].params;
  for (const auto& input : run.interface.inputs) options.inputs.push_back(params[input.param].var);
  for (const auto& output : run.interface.outputs) options.outputs.push_back(params[output.param].var);
  return options;
}

void transform_module(Run& run, const Wish& wish) {
  constexpr std::int64_t percent = 50;
  const transform::Options options{.steps = {std::begin(transform::all_steps), std::end(transform::all_steps)},
                                   .recompute_percent = wish.recomputes ? percent : 0,
                                   .liveness = liveness_options(run, wish.workspace_io)};
  transform::Result result = transform::transform(run.module, options);
  require(tir::print(transform::transform(run.module, options).module()) == tir::print(result.module()),
          "a module is transformed in two ways");
  run.module = result.module();
}

void read(Run& run, const mlf::Archive& archive, const Wish& wish) {
  run.metadata = mlf::read_metadata(archive);
  const mlf::Member* tir = archive.find(run.info().tir_member);
  require(tir != nullptr, "no TIR");
  run.module = tir_json::read_module(tir->bytes);
  run.interface = codegen::interface_of(run.info(), run.module);
  if (wish.transforms) transform_module(run, wish);
  kernels::prepare(run.module, kernels::generic_core());
  run.analysis = liveness::analyse(run.module, liveness_options(run, wish.workspace_io));
  run.analysis.distances = liveness::find_distances(run.module, liveness_options(run, wish.workspace_io));
  run.pools = wish.pools.empty() ? config::default_pools() : config::parse_pools(wish.pools);
}

void assemble_problem(Run& run) {
  run.assembly = assemble::assemble(run.module, run.analysis, run.pools);
  (void)assemble::pin(run.assembly, run.pools.pinned);
  const auto reason = invalid_reason(run.problem());
  if (reason) fail("an invalid problem: " + *reason);
  const std::string text = instance::problem_json(run.problem());
  require(instance::problem_json(instance::parse_problem(text)) == text, "the problem is not read back");
}

// The plan's own file, and every buffer pinned to where it is: then there is one plan.
void check_report(const Run& run, const Wish& wish) {
  plan_file::PlanDocument document =
      pipeline::plan_document(run.module, operators::operators_of(run.module), run.analysis, run.assembly, run.result,
                              std::string(wish.algorithm->name));
  document.module = run.info().name;
  document.archive = "model.tar";
  document.workspace_io = wish.workspace_io;
  const plan_file::PlanDocument earlier = plan_file::parse_plan_document(plan_file::plan_json(document));
  assemble::Assembly pinned = run.assembly;
  (void)assemble::pin_as_before(pinned, earlier);
  const auto reason = invalid_reason(pinned.problem);
  if (reason) fail("an earlier plan makes the problem invalid: " + *reason);
  planners::Options options;
  options.node_limit = 300;
  const PlanResult again = planners::optimal(pinned.problem, options);
  check_plan(pinned.problem, again, "a plan on top of an earlier one");
}

std::string text_of_files(const std::vector<OutputFile>& files) {
  StringSink sink;
  for (const OutputFile& file : files) {
    require(!file.path.starts_with('/') && ("/" + file.path + "/").find("/../") == std::string::npos,
            "a file outside the output directory");
    file.write(sink);
  }
  return sink.text();
}

void check_replay(const Run& run, const Wish& wish) {
  constexpr std::uint64_t steps = 1'000'000;
  const replay::Result result = replay::replay(
      run.module, run.placements, {.steps = steps, .inputs = liveness_options(run, wish.workspace_io).inputs});
  if (!result.violations.empty()) fail("a plan is refused by the replay: " + result.violations.front());
}

void emit(Run& run, const Wish& wish) {
  run.lowered = lower::outline(lower::lower(run.module, run.placements), run.placements);
  kernels::write_kernels(run.lowered.module, kernels::generic_core());
  shape::shape_loops(run.lowered.module);
  const codegen::EmissionInput input{.info = run.info(),
                                     .source = run.module,
                                     .placements = run.placements,
                                     .lowered = run.lowered,
                                     .workspace_io = wish.workspace_io};
  std::vector<OutputFile> files = codegen::module_files(input);
  files.push_back(codegen::metadata_header({input}));
  const std::string text = text_of_files(files);
  require(!text.empty(), "no C");
  require(text == text_of_files(files), "the C is written in two ways");
}

}  // namespace

void run_stages(const mlf::Archive& archive, const Wish& wish) {
  Run run;
  read(run, archive, wish);
  assemble_problem(run);
  run.result = planned(run.problem(), wish);
  if (!run.result.has_plan()) return;
  check_report(run, wish);
  run.placements = assemble::placements_of(run.analysis, run.assembly, run.result.plan);
  check_replay(run, wish);
  emit(run, wish);
}

}  // namespace usmp::fuzz

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes buffers and places of the offsets in TVM's C, and verifies them like any plan.
#include "usmp/pipeline/tvm_plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "pipeline/source.hpp"
#include "pipeline/tvm_bounds.hpp"
#include "usmp/pipeline/algorithm.hpp"
#include "usmp/pipeline/plan_document.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::pipeline {
namespace {

using tvm_c::PlannedPlace;

class PlanReader {
 public:
  explicit PlanReader(const WrittenModule& written) : written_(written) {
    for (const PlannedPlace& place : written.plan.places) places_.emplace(place.var, &place);
  }

  void run(bool workspace_io) {
    for (const tvm_c::PlannedPool& pool : written_.plan.pools) add_pool(pool);
    tir::Module module = written_.source.module;
    // Offsets are multiples of what TVM was told, which the C need not say.
    module.workspace_alignment = 1;
    module.constant_alignment = 1;
    analysis_ = live_ranges(written_.source, module, workspace_io);
    assembly_.problem.horizon = analysis_.horizon;
    for (std::size_t i = 0; i < analysis_.sites.size(); ++i) add_site(liveness::SiteId(i));
    const std::vector<std::optional<Allocation>> places(plan_.allocations.begin(), plan_.allocations.end());
    for (const auto& [buffer, accessed] : not_sized_) {
      let_others_inside(assembly_.problem, buffer, places, std::max(accessed, Bytes{1}));
    }
    std::sort(assembly_.problem.distances.begin(), assembly_.problem.distances.end());
  }

  [[nodiscard]] const liveness::Analysis& analysis() const { return analysis_; }
  [[nodiscard]] const assemble::Assembly& assembly() const { return assembly_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] bool is_placed(tir::VarId var) const { return places_.contains(var); }

 private:
  PoolId add_pool(const tvm_c::PlannedPool& pool) {
    const PoolId id(assembly_.pools.size());
    config::PoolSpec spec;
    spec.name = pool.name;
    spec.kind = pool.is_constant ? PoolKind::constant : PoolKind::workspace;
    spec.size_hint = pool.size;
    assembly_.problem.pools.push_back({.name = pool.name, .kind = spec.kind, .capacity = pool.size});
    assembly_.pools.push_back(std::move(spec));
    pools_.emplace(pool.name, id);
    return id;
  }

  // Constants of one name at one place are one, which several functions use.
  void add_site(liveness::SiteId id) {
    const liveness::Site& site = analysis_.sites[id.index()];
    const auto found = places_.find(site.var);
    if (found == places_.end()) return;  // on the stack, in a table, or the application's
    const PlannedPlace& place = *found->second;
    const bool is_constant = site.kind == BufferKind::constant;
    const auto known = pools_.find(place.pool);
    const PoolId pool = known != pools_.end() ? known->second : add_pool({place.pool, is_constant, {}});
    Problem& problem = assembly_.problem;
    if (is_constant) {
      const auto [one, is_new] = constants_.try_emplace({pool, place.offset, site.name}, problem.buffers.size());
      if (!is_new) {
        Buffer& buffer = problem.buffers[one->second];
        buffer.size = std::max(buffer.size, site.size);
        return;
      }
    }
    problem.buffers.push_back({.name = site.name,
                               .function = written_.source.module.functions[site.function].name,
                               .kind = site.kind,
                               .size = site.size,
                               .alignment = site.alignment,
                               .candidates = {pool},
                               .live = site.live});
    if (!place.is_sized && !is_constant) not_sized_.emplace_back(problem.buffers.size() - 1, place.accessed);
    plan_.allocations.push_back({pool, place.offset});
    assembly_.sites.push_back(id);
  }

  const WrittenModule& written_;
  std::map<tir::VarId, const PlannedPlace*> places_;
  liveness::Analysis analysis_;
  assemble::Assembly assembly_;
  Plan plan_;
  std::vector<std::pair<BufferId, Bytes>> not_sized_;  // and what is known to be accessed
  std::map<std::string, PoolId> pools_;
  std::map<std::tuple<PoolId, Bytes, std::string>, std::size_t> constants_;  // the buffer's index
};

}  // namespace

std::optional<std::string> overlaps_in_plan(const WrittenModule& written) {
  if (written.plan.places.empty()) return std::nullopt;
  const tir::Function& entry = written.source.module.functions[written.source.module.entry];
  const bool has_io = written.source.tvm_pools_have_io;
  const auto is_unknown = [](const tir::Param& param) { return param.is_tensor && !param.shape; };
  if (has_io && std::any_of(entry.params.begin(), entry.params.end(), is_unknown)) return std::nullopt;
  constexpr std::size_t most_overlaps = 1000;
  PlanReader reader(written);
  reader.run(has_io);
  const Problem& problem = reader.assembly().problem;
  std::vector<verify::Violation> overlaps = verify::check(problem, reader.plan(), most_overlaps);
  std::erase_if(overlaps, [&](const verify::Violation& one) {
    const auto is_constant = [&](BufferId id) { return problem.buffer(id).kind == BufferKind::constant; };
    return one.kind != verify::ViolationKind::overlap || is_constant(one.buffer) || is_constant(one.other);
  });
  if (overlaps.empty()) return std::nullopt;
  const std::string more = overlaps.size() > 1 ? ", and others" : "";
  return "TVM's plan is wrong, or somebody changed it: " + overlaps.front().message + more +
         "; planned C keeps them apart, so its results may differ from those of this C";
}

TvmPlan tvm_plan(const model::Description& info, const std::string& archive, const CFiles& files) {
  const WrittenModule written = as_written(info, files);
  if (written.plan.places.empty()) {
    throw Error(ErrorKind::archive, {},
                "TVM has not planned module " + in_quotes(info.name) +
                    ": found no offsets in pools in its C, which takes workspace at run time");
  }
  PlanReader reader(written);
  reader.run(written.source.tvm_pools_have_io);
  PlanResult result;
  result.status = PlanStatus::feasible;
  result.plan = reader.plan();
  TvmPlan plan;
  plan.violations = violations_of(reader.assembly().problem, result.plan);
  plan.conflicts = verify::conflicting_pairs(reader.assembly().problem);
  plan.document = plan_document(written.source.module, operators::operators_of(written.source.module),
                                reader.analysis(), reader.assembly(), result, "TVM");
  plan_file::PlanDocument& document = plan.document;
  if (!plan.violations.empty()) {
    for (plan_file::PlanDocument::Pool& pool : document.pools) {
      pool.status = PlanStatus::feasible;
      pool.lower_bound.reset();
      pool.lower_bound_reason.clear();
    }
  }
  if (auto unused = unused_workspace(written.source)) document.warnings.push_back(std::move(*unused));
  document.search.reset();
  document.module = info.name;
  document.archive = archive;
  bool has_io = false;
  const std::vector<tir::Param>& params = written.source.module.functions[written.source.module.entry].params;
  const auto describe = [&](std::vector<plan_file::PlanDocument::Tensor>& tensors,
                            const std::vector<codegen::InterfaceTensor>& of) {
    for (const codegen::InterfaceTensor& tensor : of) {
      const bool in_pool = reader.is_placed(params[tensor.param].var);
      has_io = has_io || in_pool;
      tensors.push_back({tensor.name, tensor.size > 0 ? std::optional(tensor.size) : std::nullopt, in_pool});
    }
  };
  describe(document.inputs, written.source.interface.inputs);
  describe(document.outputs, written.source.interface.outputs);
  document.workspace_io = has_io;
  return plan;
}

}  // namespace usmp::pipeline

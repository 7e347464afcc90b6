// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// TVM's own plan of the C that was read, taken where it needs less than ours.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/analyse.hpp"
#include "pipeline/tvm_bounds.hpp"
#include "usmp/pipeline/tvm_plan.hpp"
#include "usmp/verify/verify.hpp"

namespace usmp::pipeline {
namespace {

// TVM's pool in the problem: that of its name, or, if TVM has one pool alone, the first one of its kind.
std::optional<PoolId> pool_of(const Problem& problem, const std::string& name, PoolKind kind, bool is_only) {
  std::optional<PoolId> first;
  for (std::size_t i = 0; i < problem.pools.size(); ++i) {
    if (problem.pools[i].kind != kind) continue;
    if (problem.pools[i].name == name) return PoolId(i);
    if (!first) first = PoolId(i);
  }
  return is_only ? first : std::nullopt;
}

// The largest power of two that divides the offset, which is at least what TVM aligned it to.
Bytes alignment_of(Bytes offset, Bytes most) {
  if (offset == 0) return most;
  return std::min(most, Bytes{1} << std::countr_zero(static_cast<std::uint64_t>(offset)));
}

// Where this program would not place buffers, but TVM does.
struct OnlyInTvm {
  bool is_less_aligned = false;  // a place is aligned to less than this program would align it
  bool is_in_device = false;     // a buffer stands inside of the pool that a device gets whole
  bool is_in_bound = false;      // likewise of a buffer whose size is not known
};

// Pins every buffer of workspace where TVM has it. Nothing: TVM has no place for one, or a place in a pool that the
// problem does not have.
std::optional<OnlyInTvm> pin_as_tvm(const TvmWritten& written, const liveness::Analysis& analysis,
                                    assemble::Assembly& assembly) {
  std::map<tir::VarId, const tvm_c::PlannedPlace*> places;
  std::set<std::string> pools;
  std::set<tir::VarId> devices;
  for (const tvm_c::PlannedPlace& place : written.places) places.emplace(place.var, &place);
  for (const tvm_c::PlannedPlace& place : written.whole_pools) {
    places.emplace(place.var, &place);
    devices.insert(place.var);
  }
  for (std::size_t i = 0; i < assembly.sites.size(); ++i) {
    if (assembly.problem.buffers[i].kind == BufferKind::constant) continue;
    const auto place = places.find(analysis.sites[assembly.sites[i].index()].var);
    if (place == places.end()) return std::nullopt;
    pools.insert(place->second->pool);
  }
  OnlyInTvm result;
  std::vector<BufferId> with_pool;
  std::vector<std::pair<BufferId, Bytes>> not_sized;
  std::vector<std::optional<Allocation>> offsets(assembly.sites.size());
  for (std::size_t i = 0; i < assembly.sites.size(); ++i) {
    Buffer& buffer = assembly.problem.buffers[i];
    if (buffer.kind == BufferKind::constant) continue;
    const tir::VarId var = analysis.sites[assembly.sites[i].index()].var;
    const tvm_c::PlannedPlace& place = *places.at(var);
    const auto pool = pool_of(assembly.problem, place.pool, PoolKind::workspace, pools.size() == 1);
    if (!pool || std::ranges::find(buffer.candidates, *pool) == buffer.candidates.end()) return std::nullopt;
    const Bytes alignment = alignment_of(place.offset, buffer.alignment);
    result.is_less_aligned = result.is_less_aligned || alignment < buffer.alignment;
    buffer.alignment = alignment;
    buffer.candidates = {*pool};
    buffer.pinned = place.offset;
    offsets[i] = Allocation{*pool, place.offset};
    if (devices.contains(var)) {
      with_pool.emplace_back(i);
    } else if (!place.is_sized) {
      not_sized.emplace_back(BufferId(i), std::max(place.accessed, Bytes{1}));
    }
  }
  for (const BufferId device : with_pool) {
    result.is_in_device = let_others_inside(assembly.problem, device, offsets, 0) || result.is_in_device;
  }
  for (const auto& [buffer, accessed] : not_sized) {
    result.is_in_bound = let_others_inside(assembly.problem, buffer, offsets, accessed) || result.is_in_bound;
  }
  std::sort(assembly.problem.distances.begin(), assembly.problem.distances.end());
  return result;
}

// Whether the verifier accepts the pinned buffers where they are.
bool is_correct(const Problem& problem) {
  Problem pinned{.pools = problem.pools, .buffers = {}, .horizon = problem.horizon};
  Plan plan;
  std::map<BufferId, BufferId> ids;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (!buffer.pinned) continue;
    ids.emplace(BufferId(i), BufferId(pinned.buffers.size()));
    pinned.buffers.push_back(buffer);
    plan.allocations.push_back({buffer.candidates.front(), *buffer.pinned});
  }
  for (const Distance& one : problem.distances) {
    const auto below = ids.find(one.below);
    const auto above = ids.find(one.above);
    if (below == ids.end() || above == ids.end()) continue;
    pinned.distances.push_back({.below = below->second, .above = above->second, .bytes = one.bytes});
  }
  return verify::check(pinned, plan, 1).empty();
}

}  // namespace

void prefer_tvm_plan(PlannedProgram& planned, const Request& request, const Search& how, const Origin& origin,
                     std::uint64_t replay_steps) {
  if (planned.source.written == nullptr || planned.result.stopped == StopReason::interrupted) return;
  std::optional<Bytes> ours;  // nothing: it does not fit
  if (planned.result.has_plan()) {
    ours = planned.document.workspace_used;
    if (!planned.document.tvm_workspace || *ours <= *planned.document.tvm_workspace) return;
  }
  const bool has_demands = !request.pools.pinned.empty() || !request.earlier.empty() || planned.minimized ||
                           planned.assembly.problem.charged;
  if (has_demands) return;

  PlannedProgram candidate;
  candidate.source = planned.source;
  candidate.source.module = planned.source.written->module;
  candidate.warnings = planned.warnings;
  Transformations none;
  none.core = planned.program.core;
  none.plan_stack = std::numeric_limits<Bytes>::max();  // arrays on the stack stay there
  candidate.program = transformed(candidate.source, none, request.workspace_io);
  candidate.assembly = assembled(candidate.program, request);
  const auto places = pin_as_tvm(*planned.source.written, candidate.program.analysis, candidate.assembly);
  if (!places || !is_correct(candidate.assembly.problem)) return;
  plan(candidate, default_algorithm(), how, origin, replay_steps);
  if (!candidate.result.has_plan() || (ours && candidate.document.workspace_used >= *ours)) return;
  std::string why = "TVM's own plan is taken, which needs " + std::to_string(candidate.document.workspace_used) +
                    " bytes of workspace; that of usmp-plan " +
                    (ours ? "would need " + std::to_string(*ours) : "does not fit the pools");
  if (places->is_less_aligned) why += ", as it aligns buffers that TVM does not align";
  if (places->is_in_bound) why += ", as it does not know how large buffers are that others' functions get";
  if (places->is_in_device) why += ", as it keeps buffers out of the pool that a device gets whole";
  candidate.document.algorithm = origin.algorithm;
  candidate.document.warnings.push_back(std::move(why));
  planned = std::move(candidate);
}

}  // namespace usmp::pipeline

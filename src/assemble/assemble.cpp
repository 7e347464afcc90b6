// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes a buffer of each planned site, with those of the pools offered to it that admit all its targets.
#include "usmp/assemble/assemble.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "assemble/charges.hpp"
#include "usmp/support/line_and_column.hpp"
#include "usmp/support/text.hpp"

namespace usmp::assemble {
namespace {

using config::Access;
using config::PoolSpec;
using liveness::Site;

// No hardware asks for more; what claims more is a damaged file.
constexpr Bytes max_alignment = Bytes{1} << 30;

PoolKind kind_of(const Site& site) {
  return site.kind == BufferKind::constant ? PoolKind::constant : PoolKind::workspace;
}

// Whether code for `target` may do with the pool what buffers of the kind need.
bool admits(const PoolSpec& pool, const std::string& target, PoolKind kind) {
  if (pool.targets.empty() || target.empty()) return true;
  const auto found = pool.targets.find(target);
  if (found == pool.targets.end()) return false;
  return kind == PoolKind::constant || found->second == Access::read_write;
}

bool admits_all(const PoolSpec& pool, const Site& site) {
  const PoolKind kind = kind_of(site);
  return pool.kind == kind && std::all_of(site.targets.begin(), site.targets.end(),
                                          [&](const std::string& target) { return admits(pool, target, kind); });
}

PoolSpec spec_of(const tir::AnnotatedPool& pool) {
  PoolSpec spec;
  spec.name = pool.name;
  spec.kind = pool.is_constant ? PoolKind::constant : PoolKind::workspace;
  spec.size_hint = pool.size_hint;
  spec.internal = pool.is_internal;
  for (const std::string& target : pool.targets) spec.targets[target] = Access::read_write;
  return spec;
}

class Assembler {
 public:
  Assembler(const tir::Module& module, const liveness::Analysis& analysis, const config::PoolsConfig& pools)
      : module_(module), analysis_(analysis) {
    for (const PoolSpec& pool : pools.workspace_pools) add_pool(pool);
    for (const PoolSpec& pool : pools.parameter_pools) add_pool(pool);
    has_parameter_pools_ = !pools.parameter_pools.empty();
    charged_ = pools.objective == config::Objective::accesses;
    file_pools_ = assembly_.pools.size();
    add_annotated_pools();
  }

  Assembly run() && {
    assembly_.problem.horizon = analysis_.horizon;
    for (std::size_t i = 0; i < analysis_.sites.size(); ++i) {
      const Site& site = analysis_.sites[i];
      if (!is_planned(site)) continue;
      assembly_.problem.buffers.push_back(buffer_of(site));
      assembly_.sites.emplace_back(i);
    }
    add_distances();
    if (charged_) add_charges(assembly_, liveness::traffic_of(module_, analysis_));
    check_total();
    return std::move(assembly_);
  }

 private:
  void add_pool(const PoolSpec& spec) {
    [[maybe_unused]] const bool added = by_name_.emplace(spec.name, PoolId(assembly_.pools.size())).second;
    assert(added && "the pools file's reader refuses duplicate names");
    assembly_.pools.push_back(spec);
    assembly_.problem.pools.push_back({spec.name, spec.kind, spec.size_hint, spec.alignment, spec.reserved});
  }

  void add_annotated_pools() {
    std::set<std::string> named;
    for (const Site& site : analysis_.sites) named.insert(site.candidate_pools.begin(), site.candidate_pools.end());
    for (const tir::AnnotatedPool& pool : module_.annotated_pools) {
      if (!named.contains(pool.name) || by_name_.contains(pool.name)) continue;
      if (c_identifier(pool.name) != pool.name) {
        throw Error(ErrorKind::archive, {},
                    "the module's memory pool " + in_quotes(pool.name) + " is not a C identifier");
      }
      add_pool(spec_of(pool));
    }
  }

  void add_distances() {
    std::map<tir::VarId, BufferId> buffers;
    for (std::size_t i = 0; i < assembly_.sites.size(); ++i) {
      buffers.emplace(analysis_.sites[assembly_.sites[i].index()].var, BufferId(i));
    }
    for (const liveness::StorageDistance& distance : analysis_.distances) {
      const auto below = buffers.find(distance.below);
      const auto above = buffers.find(distance.above);
      if (below == buffers.end() || above == buffers.end()) continue;
      assembly_.problem.distances.push_back({below->second, above->second, distance.bytes});
    }
    std::sort(assembly_.problem.distances.begin(), assembly_.problem.distances.end());
  }

  bool is_planned(const Site& site) const {
    return site.kind != BufferKind::constant || has_parameter_pools_ || !site.candidate_pools.empty();
  }

  const std::string& function_of(const Site& site) const { return module_.functions[site.function].name; }

  Buffer buffer_of(const Site& site) const {
    if (site.alignment < 1 || site.alignment > max_alignment ||
        !std::has_single_bit(static_cast<std::uint64_t>(site.alignment))) {
      throw Error(ErrorKind::archive, {.file = {}, .member = {}, .place = function_of(site)},
                  "buffer " + in_quotes(site.name) + " requires an alignment of " + std::to_string(site.alignment) +
                      ", which is not a power of two up to " + std::to_string(max_alignment));
    }
    return {.name = site.name,
            .function = function_of(site),
            .kind = site.kind,
            .size = site.size,
            .alignment = site.alignment,
            .candidates = candidates_of(site),
            .live = site.live};
  }

  std::vector<PoolId> candidates_of(const Site& site) const {
    std::vector<PoolId> candidates;
    for (const PoolId id : offered_to(site)) {
      const bool repeated = std::find(candidates.begin(), candidates.end(), id) != candidates.end();
      if (!repeated && admits_all(assembly_.pools[id.index()], site)) candidates.push_back(id);
    }
    if (candidates.empty()) throw_no_candidate(site);
    return candidates;
  }

  // The pools that the annotation or the file offers, before targets are looked at.
  std::vector<PoolId> offered_to(const Site& site) const {
    std::vector<PoolId> offered;
    for (const std::string& name : site.candidate_pools) {
      const auto found = by_name_.find(name);
      if (found == by_name_.end()) {
        throw Error(ErrorKind::archive, {.file = {}, .member = {}, .place = function_of(site)},
                    "buffer " + in_quotes(site.name) + " names the pool " + in_quotes(name) +
                        " as a candidate, which neither the pools file nor the module describes");
      }
      offered.push_back(found->second);
    }
    if (!site.candidate_pools.empty()) return offered;
    for (std::size_t i = 0; i < file_pools_; ++i) {
      if (assembly_.pools[i].kind == kind_of(site)) offered.emplace_back(i);
    }
    return offered;
  }

  static std::string place_of(const config::Position& position) {
    if (position.line == 0) return {};
    return line_and_column(position.line, position.column);
  }

  // Where the first of the pools that the file has stands in it.
  std::string place_of(const std::vector<PoolId>& pools) const {
    for (const PoolId id : pools) {
      std::string place = place_of(assembly_.pools[id.index()].position);
      if (!place.empty()) return place;
    }
    return {};
  }

  // A pool's target that may be a misspelling of the site's: throws.
  void refuse_misspelled_target(const Site& site) const {
    const std::vector<std::string> needed(site.targets.begin(), site.targets.end());
    for (const PoolId id : offered_to(site)) {
      const config::PoolSpec& pool = assembly_.pools[id.index()];
      for (const auto& known : pool.target_positions) {
        const std::string& target = known.first;
        const auto& position = known.second;
        const bool is_used =
            std::ranges::any_of(analysis_.sites, [&](const Site& one) { return one.targets.contains(target); });
        const std::string hint = is_used ? "" : did_you_mean(target, needed);
        if (hint.empty()) continue;
        throw Error(
            ErrorKind::usage, {.file = {}, .member = {}, .place = place_of(position)},
            "pool " + in_quotes(pool.name) + ": no code of the model is for the target " + in_quotes(target) + hint);
      }
    }
  }

  [[noreturn]] void throw_no_candidate(const Site& site) const {
    refuse_misspelled_target(site);
    const PoolKind kind = kind_of(site);
    std::vector<std::string> refused;
    for (const PoolId id : offered_to(site)) refused.push_back(in_quotes(assembly_.pools[id.index()].name));
    std::vector<std::string> targets;
    for (const std::string& target : site.targets) targets.push_back(in_quotes(target));
    std::string message = "buffer " + in_quotes(site.name) + " of " + in_quotes(function_of(site)) + " has no pool: ";
    if (refused.empty()) {
      message += std::string("there is no ") + to_string(kind) + " pool";
    } else {
      message += std::string("it needs a ") + to_string(kind) + " pool";
      if (!targets.empty()) {
        message += std::string(targets.size() > 1 ? " that the targets " : " that the target ") + joined(targets) +
                   " may " + (kind == PoolKind::constant ? "read" : "read and write");
      }
      message += ", unlike " + joined(refused);
      message += "; add the missing targets to a pool, or leave its key targets out to let every target use it";
    }
    throw Error(ErrorKind::usage, {.file = {}, .member = {}, .place = place_of(offered_to(site))}, std::move(message));
  }

  void check_total() const {
    Bytes total = 0;
    for (const Buffer& buffer : assembly_.problem.buffers) {
      const auto sum = checked_add(total, buffer.size);
      if (!sum || *sum > Problem::max_total_bytes) {
        throw Error(
            ErrorKind::too_large, {},
            "the module's buffers take more than " + std::to_string(Problem::max_total_bytes) + " bytes in total");
      }
      total = *sum;
    }
    if (const auto reason = invalid_reason(assembly_.problem)) throw Error(ErrorKind::usage, {}, *reason);
  }

  const tir::Module& module_;
  const liveness::Analysis& analysis_;
  Assembly assembly_;
  std::map<std::string, PoolId> by_name_;
  std::size_t file_pools_ = 0;  // the first pools of the assembly; those that only the module describes follow
  bool has_parameter_pools_ = false;
  bool charged_ = false;
};

}  // namespace

Assembly assemble(const tir::Module& module, const liveness::Analysis& analysis, const config::PoolsConfig& pools) {
  return Assembler(module, analysis, pools).run();
}

}  // namespace usmp::assemble

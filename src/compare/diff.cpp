// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pairs modules by name, or by archive if renamed, then their pools and buffers, and sorts by growth at the peak.
#include "usmp/compare/diff.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "compare/diff_steps.hpp"
#include "compare/match.hpp"
#include "compare/pool_distances.hpp"
#include "compare/shared_bytes.hpp"
#include "usmp/bounds/load.hpp"
#include "usmp/compare/figures.hpp"

namespace usmp::compare {
namespace {

using plan_file::PlanDocument;

using PeakBytes = std::map<std::size_t, Bytes>;  // PoolFigures::counted of the buffers that are live at a peak
using BuffersByPool = std::map<std::string_view, std::vector<std::size_t>>;  // indices of those that say when they live

BuffersByPool by_pool(const PlanDocument& document) {
  BuffersByPool result;
  for (std::size_t i = 0; i < document.buffers.size(); ++i) {
    if (document.buffers[i].live) result[document.buffers[i].pool].push_back(i);
  }
  return result;
}

// A plan, and its pools by name.
struct Indexed {
  explicit Indexed(const PlanDocument& plan) : document(plan), buffers(by_pool(plan)) {
    for (const PlanDocument::Pool& pool : plan.pools) pools.emplace(pool.name, &pool);
  }

  [[nodiscard]] const PlanDocument::Pool* find_pool(std::string_view name) const {
    const auto found = pools.find(name);
    return found == pools.end() ? nullptr : found->second;
  }

  const PlanDocument& document;
  BuffersByPool buffers;
  std::map<std::string_view, const PlanDocument::Pool*> pools;
};

bounds::Load load_of(const Indexed& plan, const std::string& pool) {
  const auto found = plan.buffers.find(pool);
  if (found == plan.buffers.end()) return {};
  Problem problem;
  std::vector<BufferId> all;
  for (const std::size_t i : found->second) {
    const PlanDocument::Buffer& buffer = plan.document.buffers[i];
    all.emplace_back(problem.buffers.size());
    Buffer& one = problem.buffers.emplace_back();
    one.size = buffer.size;
    one.live = *buffer.live;
  }
  add_distances(problem, plan.document, found->second);
  return bounds::load(problem, all);
}

PoolState figures_of(const Indexed& plan, const PlanDocument::Pool& pool, PeakBytes& bytes) {
  const bounds::Load load = load_of(plan, pool.name);
  Bytes occupied = 0;
  if (const auto found = plan.buffers.find(pool.name); found != plan.buffers.end()) {
    const std::vector<std::size_t> live = live_at(plan.document, found->second, load.at);
    const std::vector<Bytes> counted = bytes_counted_once(plan.document, live);
    for (std::size_t i = 0; i < live.size(); ++i) {
      bytes.emplace(live[i], counted[i]);
      occupied += counted[i];
    }
  }
  return {.capacity = pool.capacity,
          .used = pool.used,
          .lower_bound = pool.lower_bound,
          .live_at_peak = load.bytes,
          .peak = load.at,
          .occupied_at_peak = occupied,
          .status = pool.status,
          .all_modules = pool.all_modules};
}

std::vector<PoolDiff> pools_of(const Indexed& before, const Indexed& after, PeakBytes& at_peak_before,
                               PeakBytes& at_peak_after) {
  std::vector<PoolDiff> pools;
  for (const PlanDocument::Pool& pool : after.document.pools) {
    PoolDiff& diff = pools.emplace_back(PoolDiff{pool.name, pool.kind, {}, figures_of(after, pool, at_peak_after)});
    if (const auto* earlier = before.find_pool(pool.name)) {
      diff.before = figures_of(before, *earlier, at_peak_before);
    }
  }
  for (const PlanDocument::Pool& pool : before.document.pools) {
    if (after.find_pool(pool.name) != nullptr) continue;
    pools.push_back({pool.name, pool.kind, figures_of(before, pool, at_peak_before), {}});
  }
  return pools;
}

Bytes used_of(const Indexed& plan, const std::string& name) {
  const PlanDocument::Pool* const pool = plan.find_pool(name);
  return pool == nullptr ? 0 : pool->used;
}

class Differences {
 public:
  Differences(const PlanDocument& before, const PlanDocument& after)
      : before_(before),
        after_(after),
        indexed_before_(before),
        indexed_after_(after),
        producers_before_(producers(before)),
        producers_after_(producers(after)),
        callers_before_(callers(before)),
        callers_after_(callers(after)) {}

  PlanDiff run() && {
    diff_.before = side_of(before_);
    diff_.after = side_of(after_);
    diff_.pools = pools_of(indexed_before_, indexed_after_, at_peak_before_, at_peak_after_);
    for (std::size_t i = 0; i < diff_.pools.size(); ++i) pool_at_.emplace(diff_.pools[i].name, i);
    diff_.steps = diff_steps(before_, after_);
    diff_.warnings = after_.warnings;
    const auto matches = match_buffers(before_, after_);
    std::vector<bool> matched(after_.buffers.size());
    for (std::size_t i = 0; i < matches.size(); ++i) {
      if (matches[i]) matched[*matches[i]] = true;
      add(i, matches[i]);
    }
    for (std::size_t j = 0; j < matched.size(); ++j) {
      if (!matched[j]) add(std::nullopt, j);
    }
    std::stable_sort(diff_.buffers.begin(), diff_.buffers.end(),
                     [](const BufferDiff& a, const BufferDiff& b) { return rank(a) > rank(b); });
    return std::move(diff_);
  }

 private:
  static std::tuple<bool, Bytes, Bytes, Bytes, Bytes> rank(const BufferDiff& buffer) {
    const auto at_peak = [](const std::optional<BufferPlace>& place) { return place ? place->bytes_at_peak : 0; };
    const Bytes most = buffer.changes_pools() ? std::max(at_peak(buffer.before), at_peak(buffer.after))
                                              : std::abs(buffer.growth_at_peak());
    return {buffer.shown().kind != BufferKind::constant, most, std::abs(buffer.effect), std::abs(buffer.growth()),
            buffer.shown().size};
  }

  static PlanDiff::Side side_of(const PlanDocument& document) {
    return {.file = {},
            .module = document.module,
            .algorithm = document.algorithm,
            .status = document.status,
            .transformed = std::ranges::any_of(document.transformed, &PlanDocument::StepOutcome::did_something)};
  }

  static std::vector<std::string> callers(const PlanDocument& document) {
    std::vector<std::string> names(document.buffers.size());
    if (!knows_kinds(document)) return names;
    const std::vector<OperatorIndex> operators = operators_of(document);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (operators[i]) names[i] = operator_name(document, *operators[i], document.buffers[i].row_operator);
    }
    return names;
  }

  static BufferPlace place_of(const PlanDocument& document, const std::vector<std::string>& producers,
                              const std::vector<std::string>& callers, const PeakBytes& at_peak, std::size_t i) {
    const PlanDocument::Buffer& buffer = document.buffers[i];
    const auto bytes = at_peak.find(i);
    return {.name = buffer.name,
            .function = buffer.function,
            .producer = producers[i],
            .caller = callers[i],
            .pool = buffer.pool,
            .offset = buffer.offset,
            .size = buffer.size,
            .kind = buffer.kind,
            .at_peak = bytes != at_peak.end(),
            .bytes_at_peak = bytes == at_peak.end() ? 0 : bytes->second,
            .index = i,
            .is_used = !buffer.live || !buffer.live->empty()};
  }

  // How far the buffer reaches behind what both plans use of its pool. Empty buffers hold nothing up.
  [[nodiscard]] Bytes reach(const std::optional<BufferPlace>& place) const {
    if (!place || place->pool.empty() || place->size == 0) return 0;
    const Bytes both = std::min(used_of(indexed_before_, place->pool), used_of(indexed_after_, place->pool));
    return std::max<Bytes>(0, place->offset + place->size - both);
  }

  void count_same(const std::string& pool, Bytes growth_at_peak) {
    const auto found = pool_at_.find(pool);
    if (found != pool_at_.end()) diff_.pools[found->second].same_growth_at_peak += growth_at_peak;
  }

  void add(std::optional<std::size_t> before, std::optional<std::size_t> after) {
    BufferDiff buffer;
    if (before) buffer.before = place_of(before_, producers_before_, callers_before_, at_peak_before_, *before);
    if (after) buffer.after = place_of(after_, producers_after_, callers_after_, at_peak_after_, *after);
    if (before && after) {
      const BufferPlace& a = *buffer.before;
      const BufferPlace& b = *buffer.after;
      if (a.name != b.name || without_module(a.function, prefix_before_) != without_module(b.function, prefix_after_))
        ++diff_.renamed;
      if (a.size == b.size && a.pool == b.pool && a.offset == b.offset) {
        ++diff_.same;
        count_same(a.pool, buffer.growth_at_peak());
        return;
      }
      buffer.change = a.size == b.size ? BufferChange::moved : BufferChange::resized;
    } else {
      buffer.change = before ? BufferChange::removed : BufferChange::added;
    }
    if (!buffer.changes_pools()) buffer.effect = reach(buffer.after) - reach(buffer.before);
    diff_.buffers.push_back(std::move(buffer));
  }

  const PlanDocument& before_;
  const PlanDocument& after_;
  std::string prefix_before_ = module_prefix(before_);
  std::string prefix_after_ = module_prefix(after_);
  Indexed indexed_before_;
  Indexed indexed_after_;
  std::vector<std::string> producers_before_;
  std::vector<std::string> producers_after_;
  std::vector<std::string> callers_before_;
  std::vector<std::string> callers_after_;
  PeakBytes at_peak_before_;
  PeakBytes at_peak_after_;
  std::map<std::string, std::size_t> pool_at_;  // index into diff_.pools
  PlanDiff diff_;
};

using ModulesByName = std::map<std::string_view, const PlanDocument*>;

ModulesByName by_name(const std::vector<PlanDocument>& documents) {
  ModulesByName result;
  for (const PlanDocument& document : documents) result.emplace(document.module, &document);
  return result;
}

using Documents = std::vector<const PlanDocument*>;

// Those whose module the others do not have.
Documents unmatched(const std::vector<PlanDocument>& ones, const ModulesByName& others) {
  Documents alone;
  for (const PlanDocument& one : ones) {
    if (!others.contains(one.module)) alone.push_back(&one);
  }
  return alone;
}

std::map<std::string_view, Documents> by_archive(const Documents& documents) {
  std::map<std::string_view, Documents> result;
  for (const PlanDocument* document : documents) result[document->archive].push_back(document);
  return result;
}

std::vector<std::string> modules_of(const Documents& documents) {
  std::vector<std::string> names;
  for (const PlanDocument* document : documents) names.push_back(document->module);
  return names;
}

}  // namespace

const char* to_string(BufferChange change) {
  switch (change) {
    case BufferChange::added:
      return "new";
    case BufferChange::removed:
      return "gone";
    case BufferChange::resized:
      return "resized";
    case BufferChange::moved:
      return "moved";
  }
  return "?";
}

bool PoolDiff::differs() const {
  if (!before || !after) return true;
  return before->capacity != after->capacity || before->used != after->used ||
         before->live_at_peak != after->live_at_peak;
}

Bytes PoolDiff::growth() const { return (after ? after->used : 0) - (before ? before->used : 0); }

Bytes BufferDiff::growth() const { return (after ? after->size : 0) - (before ? before->size : 0); }

bool BufferDiff::changes_pools() const { return before && after && before->pool != after->pool; }

Bytes BufferDiff::growth_at_peak() const {
  return (after ? after->bytes_at_peak : 0) - (before ? before->bytes_at_peak : 0);
}

bool PlanDiff::differs() const {
  return !buffers.empty() ||
         std::any_of(pools.begin(), pools.end(), [](const PoolDiff& pool) { return pool.differs(); });
}

bool Diff::differs() const {
  return !only_before.empty() || !only_after.empty() ||
         std::any_of(modules.begin(), modules.end(), [](const PlanDiff& module) { return module.differs(); });
}

PlanDiff diff_plans(const PlanDocument& before, const PlanDocument& after) { return Differences(before, after).run(); }

Diff diff_modules(const std::vector<PlanDocument>& before, const std::vector<PlanDocument>& after,
                  const std::string& before_file, const std::string& after_file) {
  Diff diff;
  const auto add = [&](const PlanDocument& one, const PlanDocument& other) {
    PlanDiff& module = diff.modules.emplace_back(diff_plans(one, other));
    module.before.file = before_file;
    module.after.file = after_file;
  };
  if (before.size() == 1 && after.size() == 1) {
    add(before.front(), after.front());
    return diff;
  }
  const ModulesByName modules_after = by_name(after);
  for (const PlanDocument& one : before) {
    if (const auto other = modules_after.find(one.module); other != modules_after.end()) add(one, *other->second);
  }
  Documents only_before = unmatched(before, modules_after);
  Documents only_after = unmatched(after, by_name(before));
  const auto archives_before = by_archive(only_before);
  const auto archives_after = by_archive(only_after);
  const auto is_only_one = [](const auto& archives, const PlanDocument* document) {
    const auto found = archives.find(document->archive);
    return found != archives.end() && found->second.size() == 1;
  };
  const auto is_renamed = [&](const PlanDocument* document) {
    return is_only_one(archives_before, document) && is_only_one(archives_after, document);
  };
  for (const PlanDocument* one : only_before) {
    if (is_renamed(one)) add(*one, *archives_after.at(one->archive).front());
  }
  std::erase_if(only_before, is_renamed);
  std::erase_if(only_after, is_renamed);
  diff.only_before = modules_of(only_before);
  diff.only_after = modules_of(only_after);
  return diff;
}

}  // namespace usmp::compare

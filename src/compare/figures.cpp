// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes each pool of a plan a problem again, to ask for its load and its bounds.
#include "usmp/compare/figures.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "compare/match.hpp"
#include "compare/pool_distances.hpp"
#include "compare/shared_bytes.hpp"
#include "usmp/bounds/load.hpp"
#include "usmp/compare/filling.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::compare {
namespace {

using plan_file::PlanDocument;

[[noreturn]] void fail_at(std::string place, std::string message) {
  throw Error(ErrorKind::usage, {{}, {}, std::move(place)}, std::move(message));
}

void require_live_ranges(const PlanDocument& document) {
  for (std::size_t i = 0; i < document.buffers.size(); ++i) {
    if (document.buffers[i].live) continue;
    fail_at("buffers[" + std::to_string(i) + "]",
            "the key live is missing: expected a plan that says when buffers are live. Plan again to get one");
  }
}

// The buffers of one pool as a problem of its own, in their order.
Problem problem_of(const PlanDocument& document, const PlanDocument::Pool& pool,
                   const std::vector<std::size_t>& buffers) {
  Problem problem;
  problem.horizon = document.horizon;
  problem.pools.push_back(
      {.name = pool.name, .kind = pool.kind, .capacity = {}, .alignment = pool.alignment, .reserved = pool.reserved});
  for (const std::size_t index : buffers) {
    const PlanDocument::Buffer& buffer = document.buffers[index];
    problem.buffers.push_back({.name = buffer.name,
                               .function = buffer.function,
                               .kind = buffer.kind,
                               .size = buffer.size,
                               .alignment = buffer.alignment,
                               .candidates = {PoolId(0)},
                               .live = *buffer.live});
  }
  add_distances(problem, document, buffers);
  if (const auto reason = invalid_reason(problem)) fail_at("pool " + pool.name, "cannot be reported: " + *reason);
  return problem;
}

void fill_peak(PoolFigures& figures, const PlanDocument& document, const std::vector<OperatorIndex>& operators) {
  figures.at_peak = live_at(document, figures.buffers, figures.peak_at);
  figures.counted = bytes_counted_once(document, figures.at_peak);
  std::map<std::pair<OperatorIndex, std::size_t>, Bytes> shares;
  for (std::size_t i = 0; i < figures.at_peak.size(); ++i) {
    const std::size_t buffer = figures.at_peak[i];
    shares[{operators[buffer], document.buffers[buffer].row_operator}] += figures.counted[i];
    figures.occupied_at_peak += figures.counted[i];
  }
  for (const auto& [maker, bytes] : shares) figures.shares.push_back({maker.first, bytes, maker.second});
  std::stable_sort(figures.shares.begin(), figures.shares.end(),
                   [](const PoolFigures::Share& a, const PoolFigures::Share& b) { return a.bytes > b.bytes; });
}

Filling<std::string> filling_of(const PlanDocument& document, const PlanDocument::Pool& pool) {
  Filling<std::string> filling(pool.name);
  for (const PlanDocument::Buffer& buffer : document.buffers) {
    if (buffer.placed()) filling.add(buffer.candidates, buffer.pool, buffer.pinned);
  }
  return filling;
}

// The bound of packing without one of the buffers; `problem` has those of the pool in the order of `figures.buffers`.
void fill_without(PoolFigures& figures, const Problem& problem) {
  const std::size_t count = std::min(PoolFigures::most_without, figures.at_peak.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<BufferId> others;
    for (std::size_t k = 0; k < figures.buffers.size(); ++k) {
      if (figures.buffers[k] != figures.at_peak[i]) others.emplace_back(k);
    }
    figures.without.push_back({figures.at_peak[i], bounds::packing_bound(problem, others, problem.pools[0]).bytes});
  }
}

PoolFigures figures_of(const PlanDocument& document, const PlanDocument::Pool& pool, std::vector<std::size_t> buffers,
                       const std::vector<OperatorIndex>& operators) {
  PoolFigures figures;
  figures.buffers = std::move(buffers);
  const Problem problem = problem_of(document, pool, figures.buffers);
  std::vector<BufferId> all;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    all.emplace_back(i);
    figures.asked += problem.buffers[i].size;
  }
  for (const bounds::Load& step : bounds::load_over_time(problem, all))
    figures.timeline.push_back({step.at, step.bytes});
  const bounds::Load load = bounds::load(problem, all);
  figures.load = load.bytes;
  figures.peak_at = load.at;
  fill_peak(figures, document, operators);
  if (pool.kind == PoolKind::workspace) fill_without(figures, problem);
  const bool minimized = document.search && document.search->minimized == pool.name;
  const Filling<std::string> filling = filling_of(document, pool);
  figures.smaller_is_better = minimized || !filling.is_preferred();
  figures.overflows = !minimized && filling.overflows();
  if (pool.used == 0) return figures;
  const Bytes packed = std::min(pool.used, bounds::packing_bound(problem, all, problem.pools[0]).bytes);
  const Bytes minimum = std::clamp(pool.lower_bound.value_or(0), packed, pool.used);
  figures.lost_to_alignment = std::max<Bytes>(0, packed - pool.reserved - load.bytes);
  figures.proved_gap = minimum - packed;
  figures.open_gap = pool.used - minimum;
  return figures;
}

// Which call a tick belongs to, which call is of a function.
class Calls {
 public:
  explicit Calls(const PlanDocument& document) : document_(document), by_tick_(document.calls.size()) {
    std::iota(by_tick_.begin(), by_tick_.end(), std::size_t{0});
    std::stable_sort(by_tick_.begin(), by_tick_.end(),
                     [&](std::size_t a, std::size_t b) { return begin_of(a) < begin_of(b); });
    for (std::size_t i = 0; i < document.calls.size(); ++i) by_callee_.emplace(document.calls[i].callee, i);
  }

  [[nodiscard]] OperatorIndex of(const PlanDocument::Buffer& buffer) const {
    if (buffer.kind == BufferKind::constant) {
      const auto found = by_callee_.find(buffer.function);
      return found == by_callee_.end() ? OperatorIndex() : found->second;
    }
    if (!buffer.live || buffer.live->empty()) return {};
    return at(buffer.live->front().begin);
  }

  // The calls that the live ranges begin in, besides the first one.
  [[nodiscard]] std::vector<std::size_t> more_of(const PlanDocument::Buffer& buffer) const {
    const OperatorIndex first = of(buffer);
    if (buffer.kind == BufferKind::constant || !first) return {};
    std::set<std::size_t> calls;
    for (const LiveRange& range : *buffer.live) {
      if (const OperatorIndex call = at(range.begin)) calls.insert(*call);
    }
    calls.erase(*first);
    return {calls.begin(), calls.end()};
  }

 private:
  [[nodiscard]] OperatorIndex at(Tick tick) const {
    const auto behind = std::upper_bound(by_tick_.begin(), by_tick_.end(), tick,
                                         [&](Tick at, std::size_t call) { return at < begin_of(call); });
    if (behind == by_tick_.begin() || document_.calls[*(behind - 1)].ticks.end <= tick) return {};
    return *(behind - 1);
  }

  [[nodiscard]] Tick begin_of(std::size_t call) const { return document_.calls[call].ticks.begin; }

  const PlanDocument& document_;
  std::vector<std::size_t> by_tick_;
  std::map<std::string, std::size_t> by_callee_;  // the first call of each
};

// Without TVM's prefix.
std::string short_name(const PlanDocument& document, std::string_view name) {
  return std::string(without_module(name, module_prefix(document)));
}

// Somebody else's code has a name that tells more than that it is somebody else's.
std::string kind_text(const PlanDocument& document, const std::string& kind, std::string_view callee) {
  if (kind.empty()) return short_name(document, callee);
  return kind == "external" ? kind + " " + short_name(document, callee) : kind;
}

}  // namespace

bool PoolFigures::SharedBytes::at(Tick tick) const { return overlap(ticks, {{tick, tick + 1}}); }

Bytes PoolFigures::live_at(Tick tick) const {
  const auto behind = std::upper_bound(timeline.begin(), timeline.end(), tick,
                                       [](Tick at, const TimelinePoint& point) { return at < point.at; });
  return behind == timeline.begin() ? 0 : (behind - 1)->live;
}

Bytes PoolFigures::most_live(const LiveRange& ticks) const {
  Bytes most = live_at(ticks.begin);
  for (const TimelinePoint& point : timeline) {
    if (ticks.begin < point.at && point.at < ticks.end) most = std::max(most, point.live);
  }
  return most;
}

std::vector<OperatorIndex> operators_of(const PlanDocument& document) {
  const Calls calls(document);
  std::vector<OperatorIndex> operators;
  for (const PlanDocument::Buffer& buffer : document.buffers) operators.push_back(calls.of(buffer));
  return operators;
}

PlanFigures plan_figures(const PlanDocument& document) {
  require_live_ranges(document);
  PlanFigures figures;
  const Calls calls(document);
  for (const PlanDocument::Buffer& buffer : document.buffers) {
    figures.operators.push_back(calls.of(buffer));
    figures.more_operators.push_back(calls.more_of(buffer));
  }
  std::map<std::string, std::vector<std::size_t>> placed;
  std::map<std::string, std::vector<PoolFigures::SharedBytes>> shared = shared_bytes_of(document);
  for (std::size_t i = 0; i < document.buffers.size(); ++i) {
    if (document.buffers[i].placed()) placed[document.buffers[i].pool].push_back(i);
  }
  for (const PlanDocument::Pool& pool : document.pools) {
    figures.pools.push_back(figures_of(document, pool, std::move(placed[pool.name]), figures.operators));
    figures.pools.back().shared_bytes = std::move(shared[pool.name]);
  }
  return figures;
}

std::string PlanFigures::operators_text(const PlanDocument& document, std::size_t buffer) const {
  if (!operators[buffer]) return {};
  const std::size_t more = more_operators[buffer].size();
  return operator_name(document, *operators[buffer], document.buffers[buffer].row_operator) +
         (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

bool knows_kinds(const PlanDocument& document) {
  return std::any_of(document.calls.begin(), document.calls.end(),
                     [](const PlanDocument::Call& call) { return !call.kind.empty(); });
}

std::string operator_name(const PlanDocument& document, std::size_t call) {
  const PlanDocument::Call& one = document.calls[call];
  return "#" + std::to_string(call + 1) + " " + kind_text(document, one.kind, one.callee);
}

std::string operator_name(const PlanDocument& document, std::size_t call, std::size_t row_operator) {
  const std::vector<PlanDocument::RowOperator>& by_rows = document.calls[call].by_rows;
  const auto found = std::ranges::find(by_rows, row_operator, &PlanDocument::RowOperator::number);
  if (found == by_rows.end()) return operator_name(document, call);
  return "#" + std::to_string(call + 1) + "." + std::to_string(row_operator) + " " +
         kind_text(document, found->kind, found->callee);
}

}  // namespace usmp::compare

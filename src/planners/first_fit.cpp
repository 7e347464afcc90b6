// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sorts what a buffer's placed neighbours take in a pool, and fits the buffer between or above them.
#include "planners/first_fit.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

namespace usmp::planners {
namespace {

constexpr Bytes unbounded = std::numeric_limits<Bytes>::max();

std::size_t find_root(std::vector<std::size_t>& parent, std::size_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

}  // namespace

std::vector<Group> split_by_pools(const Problem& problem) {
  std::vector<std::size_t> parent(problem.pools.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  std::vector<bool> usable(problem.pools.size(), false);
  for (const Buffer& buffer : problem.buffers) {
    const std::size_t root = find_root(parent, buffer.candidates.front().index());
    for (const PoolId pool : buffer.candidates) {
      usable[pool.index()] = true;
      parent[find_root(parent, pool.index())] = root;
    }
  }
  std::vector<Group> groups;
  std::vector<std::size_t> group_of(problem.pools.size(), problem.pools.size());  // by root
  for (std::size_t i = 0; i < problem.pools.size(); ++i) {
    if (!usable[i]) continue;
    std::size_t& group = group_of[find_root(parent, i)];
    if (group == problem.pools.size()) {
      group = groups.size();
      groups.emplace_back();
    }
    groups[group].pools.emplace_back(i);
  }
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const std::size_t root = find_root(parent, problem.buffers[i].candidates.front().index());
    groups[group_of[root]].buffers.emplace_back(i);
  }
  return groups;
}

FirstFit::FirstFit(const Problem& problem, const Conflicts& conflicts, const std::vector<Group>& groups)
    : problem_(problem), plan_{std::vector<Allocation>(problem.buffers.size())} {
  nothing_ = cost_of(problem, plan_);
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (buffer.pinned) plan_.allocations[i] = {buffer.candidates.front(), *buffer.pinned};
  }
  std::vector<std::size_t> group_of(problem.buffers.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const BufferId id : groups[g].buffers) group_of[id.index()] = g;
  }
  first_.reserve(problem.buffers.size() + 1);
  first_.push_back(0);
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    if (problem.buffers[i].size > 0) {
      for (const BufferId other : conflicts.of(BufferId(i))) {
        const bool may_meet = group_of[other.index()] == group_of[i] && problem.buffer(other).size > 0;
        if (may_meet) neighbours_.push_back(other);
      }
    }
    first_.push_back(neighbours_.size());
  }
  note_distances();
}

// Looked up once: placing asks for them again and again.
void FirstFit::note_distances() {
  is_spaced_ = !problem_.distances.empty();
  if (!is_spaced_) return;
  spaced_.reserve(neighbours_.size());
  for (std::size_t i = 0; i < problem_.buffers.size(); ++i) {
    for (const BufferId other : neighbours(BufferId(i))) {
      spaced_.push_back({problem_.buffers[i].size, problem_.buffer(other).size});
    }
  }
  for (const Distance& distance : problem_.distances) {
    if (Spaced* const one = between(distance.below, distance.above)) one->to_it = distance.bytes;
    if (Spaced* const one = between(distance.above, distance.below)) one->from_it = distance.bytes;
  }
}

// Null: they are no neighbours.
FirstFit::Spaced* FirstFit::between(BufferId id, BufferId other) {
  const std::span<const BufferId> all = neighbours(id);
  const auto found = std::ranges::lower_bound(all, other);
  if (found == all.end() || *found != other) return nullptr;
  return &spaced_[first_[id.index()] + static_cast<std::size_t>(found - all.begin())];
}

Bytes FirstFit::offset_in(PoolId pool, BufferId id, Fit fit) {
  taken_.clear();
  const Buffer& buffer = problem_.buffer(id);
  const std::span<const BufferId> others = neighbours(id);
  for (std::size_t k = 0; k < others.size(); ++k) {
    const Allocation& allocation = plan_.of(others[k]);
    if (allocation.pool != pool) continue;
    // As if it took the bytes where the buffer cannot be. Where both may share, the end can be below the begin.
    taken_.push_back(
        {allocation.offset + (buffer.size - distance_to(id, k)), allocation.offset + distance_from(id, k)});
  }
  std::sort(taken_.begin(), taken_.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  const Bytes alignment = alignment_in(buffer, problem_.pool(pool));
  Bytes end = first_offset(buffer, problem_.pool(pool));  // of everything seen so far
  Bytes best = 0;
  Bytes best_gap = unbounded;
  for (const Interval& taken : taken_) {
    const Bytes offset = align_up(end, alignment);
    const Bytes gap = taken.begin - end;
    if (fit != Fit::above_all && taken.begin - offset >= buffer.size && gap < best_gap) {
      if (fit == Fit::lowest_gap) return offset;
      best = offset;
      best_gap = gap;
    }
    end = std::max(end, taken.end);
  }
  return best_gap != unbounded ? best : align_up(end, alignment);
}

std::optional<std::size_t> FirstFit::place(BufferId id, Fit fit) {
  const Buffer& buffer = problem_.buffer(id);
  if (buffer.pinned) return 0;
  assert(!plan_.of(id).placed());
  for (std::size_t rank = 0; rank < buffer.candidates.size(); ++rank) {
    const PoolId pool = buffer.candidates[rank];
    const Bytes capacity = problem_.pool(pool).capacity.value_or(unbounded);
    if (buffer.size > capacity) continue;
    const Bytes offset = offset_in(pool, id, fit);
    if (offset + buffer.size > capacity) continue;
    plan_.allocations[id.index()] = {pool, offset};
    return rank;
  }
  return std::nullopt;
}

void FirstFit::add_to(Score& score, BufferId id, std::optional<std::size_t> rank) const {
  const Bytes size = problem_.buffer(id).size;
  if (!rank) {
    score.unplaced += size;
    return;
  }
  add_choice(problem_, problem_.buffer(id), *rank, score.cost.spilled);
  const Allocation& allocation = plan_.of(id);
  Bytes& used = score.cost.used[allocation.pool.index()];
  used = std::max(used, allocation.offset + size);
}

bool FirstFit::rerun(const Attempt& attempt, std::size_t from, const Score* limit, Score& score) {
  score.unplaced = 0;
  score.cost = nothing_;
  for (std::size_t k = from; k < attempt.order.size(); ++k) remove(attempt.order[k]);
  for (std::size_t k = 0; k < from; ++k) {
    const BufferId id = attempt.order[k];
    const auto& candidates = problem_.buffer(id).candidates;
    const auto found = std::find(candidates.begin(), candidates.end(), of(id).pool);
    const auto rank = static_cast<std::size_t>(found - candidates.begin());
    add_to(score, id, found == candidates.end() ? std::nullopt : std::optional(rank));
  }
  for (std::size_t k = from; k < attempt.order.size(); ++k) {
    const BufferId id = attempt.order[k];
    add_to(score, id, place(id, attempt.fit));
    if (limit != nullptr && score > *limit) return false;
  }
  return true;
}

Score FirstFit::run(const Attempt& attempt) {
  Score score;
  [[maybe_unused]] const bool done = rerun(attempt, 0, nullptr, score);
  assert(done);
  return score;
}

std::optional<Shortage> FirstFit::shortage(const Attempt& attempt) {
  for (const BufferId id : attempt.order) remove(id);
  for (const BufferId id : attempt.order) {
    if (place(id, attempt.fit)) continue;
    Shortage shortage{.buffer = id, .pools = {}};
    for (const PoolId pool : problem_.buffer(id).candidates) {
      const Bytes required = offset_in(pool, id, attempt.fit) + problem_.buffer(id).size;
      shortage.pools.push_back({pool, required, problem_.pool(pool).capacity.value_or(unbounded)});
    }
    return shortage;
  }
  return std::nullopt;
}

}  // namespace usmp::planners

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Buffers share objects that stand one after another: TFLite's way for memories without addresses, such as textures.
//
// Idea: an object belongs to one live buffer at a time and is as large as its largest buffer; what matters is the sum
// of the objects. The i-th positional maximum is the largest i-th largest size that is live at one tick: no choice of
// objects has a smaller i-th largest one. Buffers are assigned in stages, those between the first two maxima first;
// within a stage the buffer goes first that would leave an object idle for the shortest time, then the larger one. It
// takes that object, or a new one if every object is busy during its life. Pinned bytes belong to no object.
// A buffer whose object stands too high for the pool goes to its next candidate, and the objects are made again.
// Cost: O(n² · objects) a round, and a round for each time that buffers had to leave pools.
// Guarantee: none on the distance from the optimum.
// Source: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020), greedy by size
// improved; TFLite's GPU delegate, which lays the objects out so where it has addresses.
// Tests: tests/planners/peers_test.cpp, tests/planners/planners_test.cpp.
#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

#include "planners/outcome.hpp"
#include "usmp/planners/planner.hpp"

namespace usmp::planners {
namespace {

constexpr Tick busy = std::numeric_limits<Tick>::max();

struct Object {
  std::vector<BufferId> buffers;
  Bytes size = 0;
};

// The time between two lives that do not meet; 0 if one lies within a pause of the other.
Tick pause_between(const Buffer& a, const Buffer& b) {
  if (overlap(a.live, b.live)) return busy;
  return std::max({Tick{0}, a.live.front().begin - b.live.back().end, b.live.front().begin - a.live.back().end});
}

Tick pause_beside(const Problem& problem, const Object& object, const Buffer& buffer) {
  Tick shortest = busy;
  for (const BufferId id : object.buffers) {
    const Tick pause = pause_between(problem.buffer(id), buffer);
    if (pause == busy) return busy;
    shortest = std::min(shortest, pause);
  }
  return shortest;
}

std::vector<Bytes> positional_maxima(const Problem& problem, const std::vector<BufferId>& buffers) {
  std::vector<std::tuple<Tick, bool, Bytes>> events;  // ends before begins
  for (const BufferId id : buffers) {
    for (const LiveRange& range : problem.buffer(id).live) {
      events.emplace_back(range.begin, true, problem.buffer(id).size);
      events.emplace_back(range.end, false, problem.buffer(id).size);
    }
  }
  std::sort(events.begin(), events.end());
  std::vector<Bytes> maxima;
  std::multiset<Bytes, std::greater<>> live;
  for (const auto& [tick, begins, size] : events) {
    if (!begins) {
      live.erase(live.find(size));
      continue;
    }
    live.insert(size);
    maxima.resize(std::max(maxima.size(), live.size()), 0);
    std::size_t i = 0;
    for (const Bytes each : live) {
      maxima[i] = std::max(maxima[i], each);
      ++i;
    }
  }
  return maxima;
}

// A buffer without an object, and the object that it would take.
struct Waiting {
  BufferId id;
  std::size_t stage = 0;  // positional maxima that are not below its size
  Tick pause = busy;      // busy: no object is free
  std::size_t object = 0;
};

class Assignment {
 public:
  Assignment(const Problem& problem, const std::vector<BufferId>& buffers) : problem_(problem) {
    const std::vector<Bytes> maxima = positional_maxima(problem, buffers);
    for (const BufferId id : buffers) {
      const auto below =
          std::partition_point(maxima.begin(), maxima.end(), [&](Bytes m) { return m >= problem.buffer(id).size; });
      waiting_.push_back({.id = id, .stage = static_cast<std::size_t>(below - maxima.begin())});
    }
  }

  std::vector<Object> run() {
    while (!waiting_.empty()) {
      const auto next = std::min_element(waiting_.begin(), waiting_.end(), [&](const Waiting& a, const Waiting& b) {
        return std::tuple(a.stage, a.pause, -size_of(a.id), a.id) < std::tuple(b.stage, b.pause, -size_of(b.id), b.id);
      });
      const Waiting chosen = *next;
      waiting_.erase(next);
      const std::size_t object = chosen.pause == busy ? objects_.size() : chosen.object;
      if (object == objects_.size()) objects_.emplace_back();
      objects_[object].buffers.push_back(chosen.id);
      objects_[object].size = std::max(objects_[object].size, size_of(chosen.id));
      for (Waiting& other : waiting_) update(other, object);
    }
    return std::move(objects_);
  }

 private:
  [[nodiscard]] Bytes size_of(BufferId id) const { return problem_.buffer(id).size; }

  // After a change of one object. Of objects with the same pause, the largest is taken.
  void update(Waiting& waiting, std::size_t changed) {
    if (waiting.pause != busy && waiting.object == changed) {
      waiting.pause = busy;
      for (std::size_t i = 0; i < objects_.size(); ++i) consider(waiting, i);
    } else {
      consider(waiting, changed);
    }
  }

  void consider(Waiting& waiting, std::size_t object) const {
    const Tick pause = pause_beside(problem_, objects_[object], problem_.buffer(waiting.id));
    if (pause == busy || pause > waiting.pause) return;
    if (pause == waiting.pause && objects_[object].size <= objects_[waiting.object].size) return;
    waiting.pause = pause;
    waiting.object = object;
  }

  const Problem& problem_;
  std::vector<Waiting> waiting_;
  std::vector<Object> objects_;
};

class SharedObjects {
 public:
  explicit SharedObjects(const Problem& problem)
      : problem_(problem), ranks_(problem.buffers.size(), 0), needs_(problem.buffers.size()) {
    place_fixed(problem, fixed_);
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
      const Buffer& buffer = problem.buffers[i];
      if (!buffer.pinned && buffer.size > 0 && !buffer.live.empty()) movable_.emplace_back(i);
    }
  }

  PlanResult run() {
    Plan plan;
    do {
      plan = fixed_;
    } while (!lay_out(plan));
    std::optional<Shortage> shortage;
    for (std::size_t i = 0; i < plan.allocations.size() && !shortage; ++i) {
      if (plan.allocations[i].placed()) continue;
      const bool left_all = !needs_[i].empty();
      shortage = left_all ? Shortage{.buffer = BufferId(i), .pools = needs_[i]}
                          : shortage_above(problem_, BufferId(i), tops_above_pins(problem_));
    }
    return outcome(problem_, std::move(plan), std::move(shortage), problem_.buffers.size());
  }

 private:
  // Every pool with the buffers whose turn it is; false if some of them have to leave theirs.
  bool lay_out(Plan& plan) {
    const std::vector<Bytes> tops = tops_above_pins(problem_);
    std::vector<std::vector<BufferId>> inhabitants(problem_.pools.size());
    for (const BufferId id : movable_) {
      const Buffer& buffer = problem_.buffer(id);
      if (ranks_[id.index()] == buffer.candidates.size()) continue;
      inhabitants[buffer.candidates[ranks_[id.index()]].index()].push_back(id);
    }
    bool all_fit = true;
    for (std::size_t p = 0; p < problem_.pools.size(); ++p) {
      if (!stack(PoolId(p), inhabitants[p], tops[p], plan)) all_fit = false;
    }
    return all_fit;
  }

  bool stack(PoolId id, const std::vector<BufferId>& buffers, Bytes top, Plan& plan) {
    const Pool& pool = problem_.pool(id);
    const Bytes capacity = pool.capacity.value_or(std::numeric_limits<Bytes>::max());
    bool all_fit = true;
    for (const Object& object : Assignment(problem_, buffers).run()) {
      Bytes end = top;
      for (const BufferId member : object.buffers) {
        const Buffer& buffer = problem_.buffer(member);
        const Bytes offset = align_up(top, alignment_in(buffer, pool));
        if (offset + buffer.size > capacity) {
          needs_[member.index()].push_back({id, offset + buffer.size, capacity});
          ++ranks_[member.index()];
          all_fit = false;
          continue;
        }
        plan.allocations[member.index()] = {id, offset};
        end = std::max(end, offset + buffer.size);
      }
      top = end;
    }
    return all_fit;
  }

  const Problem& problem_;
  std::vector<std::size_t> ranks_;                      // of the candidate whose turn it is, by BufferId
  std::vector<std::vector<Shortage::PoolNeed>> needs_;  // of the candidates that it had to leave, by BufferId
  std::vector<BufferId> movable_;
  Plan fixed_;
};

}  // namespace

PlanResult shared_objects(const Problem& problem, const Options&) { return SharedObjects(problem).run(); }

}  // namespace usmp::planners

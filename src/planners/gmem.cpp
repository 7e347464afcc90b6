// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// TPU-MLIR's scheme for global memory: constants first, then tensors in execution order into blocks that are dead.
//
// Idea: constants stand one after another, each at a multiple of 4 KiB. Every other buffer takes, at the tick where it
// begins, the first block that may be used again, in the order in which the blocks were made; or new bytes at the end.
// A block may be used again when (1) nothing holds it, here a pin or a constant; (2) its address is in use by no
// other buffer; (3) the buffer that had it last has reached its end of life; (4) it is large enough; (5) it is not the
// block of an input of the operator whose result is placed: here, of a buffer that lived until the tick at which the
// new one begins. A block keeps its size for ever, and nobody shares one with another: that is what fragments.
// Between several live ranges a buffer keeps its block. Pinned bytes are never part of a block.
// Cost: O(n · blocks). Guarantee: none on the distance from the optimum.
// Source: TPU-MLIR's developer manual, chapter "GMEM Allocation".
// Tests: tests/planners/peers_test.cpp, tests/planners/planners_test.cpp.
#include <algorithm>
#include <limits>
#include <vector>

#include "planners/outcome.hpp"
#include "usmp/planners/planner.hpp"

namespace usmp::planners {
namespace {

constexpr Bytes constant_alignment = 4096;

class Gmem {
 public:
  explicit Gmem(const Problem& problem)
      : problem_(problem), blocks_(problem.pools.size()), tops_(tops_above_pins(problem)) {
    place_fixed(problem, plan_);
  }

  PlanResult run() {
    std::vector<BufferId> tensors;
    for (std::size_t i = 0; i < problem_.buffers.size(); ++i) {
      if (plan_.allocations[i].placed()) continue;
      const Buffer& buffer = problem_.buffers[i];
      if (buffer.size == 0 || buffer.live.empty()) {
        note_shortage(BufferId(i));
      } else if (buffer.kind == BufferKind::constant) {
        place(BufferId(i));
      } else {
        tensors.emplace_back(i);
      }
    }
    std::stable_sort(tensors.begin(), tensors.end(), [&](BufferId a, BufferId b) {
      return problem_.buffer(a).live.front().begin < problem_.buffer(b).live.front().begin;
    });
    for (const BufferId id : tensors) place(id);
    return outcome(problem_, std::move(plan_), std::move(shortage_), problem_.buffers.size());
  }

 private:
  struct Block {
    Bytes begin = 0;
    Bytes end = 0;
    Tick busy_until = 0;
  };

  void place(BufferId id) {
    for (const PoolId pool : problem_.buffer(id).candidates) {
      const bool constant = problem_.buffer(id).kind == BufferKind::constant;
      if ((!constant && reuse(id, pool)) || extend(id, pool)) return;
    }
    note_shortage(id);
  }

  bool reuse(BufferId id, PoolId pool) {
    const Buffer& buffer = problem_.buffer(id);
    const Bytes alignment = alignment_in(buffer, problem_.pool(pool));
    for (Block& block : blocks_[pool.index()]) {
      if (block.busy_until >= buffer.live.front().begin) continue;
      const Bytes offset = align_up(block.begin, alignment);
      if (offset + buffer.size > block.end) continue;
      block.busy_until = buffer.live.back().end;
      plan_.allocations[id.index()] = {pool, offset};
      return true;
    }
    return false;
  }

  bool extend(BufferId id, PoolId pool) {
    const Buffer& buffer = problem_.buffer(id);
    const Bytes alignment = alignment_in(buffer, problem_.pool(pool));
    const bool constant = buffer.kind == BufferKind::constant;
    Bytes& top = tops_[pool.index()];
    const Bytes capacity = problem_.pool(pool).capacity.value_or(std::numeric_limits<Bytes>::max());
    // Where too few bytes are left, the scheme's alignment is given up: the problem does not ask for it.
    const bool coarse = constant && constant_alignment % alignment == 0;
    for (const Bytes step : {coarse ? constant_alignment : alignment, alignment}) {
      const Bytes offset = align_up(top, step);
      if (offset + buffer.size > capacity) continue;
      plan_.allocations[id.index()] = {pool, offset};
      top = offset + buffer.size;
      if (!constant) blocks_[pool.index()].push_back({offset, top, buffer.live.back().end});
      return true;
    }
    return false;
  }

  void note_shortage(BufferId id) {
    if (!shortage_) shortage_ = shortage_above(problem_, id, tops_);
  }

  const Problem& problem_;
  Plan plan_;
  std::vector<std::vector<Block>> blocks_;  // by PoolId, in order of their making
  std::vector<Bytes> tops_;                 // by PoolId
  std::optional<Shortage> shortage_;
};

}  // namespace

PlanResult gmem(const Problem& problem, const Options&) { return Gmem(problem).run(); }

}  // namespace usmp::planners

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The memory planning problem: buffers with live ranges, pools, and plans. Plain values, independent of archives and of
// the IR.
//
//   time  0   1   2   3   4   5
//   A     |-------|                 size 32   live [0,2)
//   B         |-----------|         size 16   live [1,4)
//   C                 |-------|     size 32   live [3,5)
//
// A and B conflict (both are live at 1), B and C conflict, A and C may share memory: an optimal plan of one pool puts A
// and C at offset 0 and B at offset 32, and needs 48 bytes, which are also the peak live bytes (called "load": the
// largest sum of sizes that are live at one time).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "usmp/problem/storage.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/support/ids.hpp"

namespace usmp {

struct Buffer;
using BufferId = Id<Buffer>;  // index into Problem::buffers

struct Buffer {
  std::string name;      // as in the source; need not be unique
  std::string function;  // the function whose body allocates it; empty if the problem has no functions
  BufferKind kind = BufferKind::tensor;
  Bytes size = 0;                  // >= 0
  Bytes alignment = 1;             // >= 1; the offset is a multiple of it. Need not be a power of two
  std::vector<PoolId> candidates;  // pools it may be placed in, best first, without repetition; never empty
  // Sorted, disjoint, not adjacent. Empty: never live, conflicts with nothing.
  std::vector<LiveRange> live;
  // The offset it must have, in its one candidate pool. Nothing: the planner's choice.
  std::optional<Bytes> pinned = {};
  // What it costs in a charged problem to have the buffer in each of its candidates, in any unit; >= 0, ascending. Else
  // empty.
  std::vector<std::int64_t> charges = {};
};

struct Pool {
  std::string name;  // unique in the problem
  PoolKind kind = PoolKind::workspace;
  std::optional<Bytes> capacity = {};  // nothing: unbounded
  Bytes alignment = 1;  // >= 1; offsets in this pool are multiples of it as well as of the buffer's own alignment
  Bytes reserved =
      0;  // >= 0; bytes at the pool's start that no buffer may use. They count as used if bytes behind them are
};

// Two buffers that are live together may still share bytes if one starts far enough above the other: the one below is
// overwritten only where it has already been read.
//
//   below  |###############|              size 15
//   above       |###############|         may start 5 bytes higher: both need 20 bytes, not 30
//
// The operation must allow it (see liveness/distances.hpp); planners may ignore it.
struct Distance {
  BufferId below;
  BufferId above;
  Bytes bytes = 0;  // from the start of `below` to that of `above`, at least; >= 0, < size of `below`

  friend auto operator<=>(const Distance&, const Distance&) = default;
};

struct Problem {
  std::vector<Pool> pools;  // the user's order
  std::vector<Buffer> buffers;
  Tick horizon = 0;  // every live range ends at or before it
  // Sorted, each pair at most once per direction. All other conflicting buffers must not overlap.
  std::vector<Distance> distances = {};
  // Buffers have charges, and plans that are charged less are better, whatever their sizes.
  bool charged = false;

  // Bound on the sum of all sizes and alignments, on what pools reserve and on the ends of pins, and on the sum of the
  // largest charges, so that no planner's arithmetic can overflow.
  static constexpr Bytes max_total_bytes = Bytes{1} << 56;
  // Some costs grow with the square of the number of pools. Pools files and modules name fewer.
  static constexpr std::size_t max_pools = 256;

  [[nodiscard]] const Buffer& buffer(BufferId id) const { return buffers[id.index()]; }
  [[nodiscard]] const Pool& pool(PoolId id) const { return pools[id.index()]; }
};

// What is wrong with a problem (an id out of range, a live range that is empty or out of order, a total over
// max_total_bytes, …); nothing if it is valid. In a valid problem pins contradict nothing: each has one candidate, is
// aligned, lies within the pool and outside its reserved bytes, and is far enough from every other pin that is live at
// the same tick. Every stage may assume a valid problem. O(total size + pins²).
[[nodiscard]] std::optional<std::string> invalid_reason(const Problem& problem);

// The alignment that a buffer's offset obeys in a pool: the least common multiple of both alignments.
[[nodiscard]] Bytes alignment_in(const Buffer& buffer, const Pool& pool);

// The lowest offset that a buffer may have in a pool: after the reserved bytes, and aligned. 0 for empty buffers, which
// use none of the reserved bytes.
[[nodiscard]] Bytes first_offset(const Buffer& buffer, const Pool& pool);

// Minimum distance from the start of `below` to that of a conflicting buffer `above` in the same pool: from
// Problem::distances, or the size of `below`. O(log distances).
[[nodiscard]] Bytes distance(const Problem& problem, BufferId below, BufferId above);

// Whether two buffers that conflict may have these offsets in one pool: one is far enough above the other, or one of
// them is empty. O(log distances).
[[nodiscard]] bool far_enough(const Problem& problem, BufferId a, Bytes offset_a, BufferId b, Bytes offset_b);

// Which buffers are live together.
class Conflicts {
 public:
  // Two buffers conflict when their live ranges share a tick. O(n log n + conflicts).
  explicit Conflicts(const Problem& problem);

  [[nodiscard]] const std::vector<BufferId>& of(BufferId id) const { return neighbours_[id.index()]; }  // ascending
  [[nodiscard]] bool between(BufferId a, BufferId b) const;                                             // O(log n)
  [[nodiscard]] std::size_t pairs() const;  // unordered pairs

 private:
  std::vector<std::vector<BufferId>> neighbours_;
};

// ---------------------------------------------------------------------------------------------------------------

// Where each buffer is: allocations[i] belongs to Problem::buffers[i]. A complete plan places every buffer.
struct Plan {
  std::vector<Allocation> allocations;

  [[nodiscard]] const Allocation& of(BufferId id) const { return allocations[id.index()]; }
  friend bool operator==(const Plan&, const Plan&) = default;
};

// Bytes that a plan uses in each pool: the largest end (offset + size) of the buffers placed there; 0 if there are
// none. O(n).
[[nodiscard]] std::vector<Bytes> used_bytes(const Problem& problem, const Plan& plan);

// What a plan costs, in order of importance; a smaller cost is a better plan, and the best complete plan is an optimal
// one. First the charges are small, in a charged problem; then as many bytes as possible stay in the first choices of
// the buffers, then in the first two, and so on; then the pools are small, in their order.
struct Cost {
  // What the choice of pools costs: in a charged problem the sum of the charges; then, for each r, bytes of buffers
  // placed beyond the first r + 1 of their candidates.
  std::vector<Bytes> spilled;
  std::vector<Bytes> used;  // by PoolId, see used_bytes

  friend auto operator<=>(const Cost&, const Cost&) = default;
};

// What the placed buffers cost; `spilled` has as many entries for bytes as the longest list of candidates has pools
// beyond the first. O(n · candidates).
[[nodiscard]] Cost cost_of(const Problem& problem, const Plan& plan);

// Adds what it costs to have the buffer in the candidate of this rank to the entries of Cost::spilled. O(rank).
void add_choice(const Problem& problem, const Buffer& buffer, std::size_t rank, std::vector<Bytes>& spilled);

enum class PlanStatus {
  feasible,    // a complete plan, not known to be the best
  optimal,     // a complete plan, and none uses less
  infeasible,  // no plan exists; proved
  not_found,   // the algorithm found no plan; one may exist
};

[[nodiscard]] const char* to_string(PlanStatus status);

// Why a buffer has no place: the size that each of its candidate pools would need.
struct Shortage {
  struct PoolNeed {
    PoolId pool;
    Bytes required = 0;   // size the pool would need for this buffer on top of what was already placed
    Bytes available = 0;  // the pool's capacity
    [[nodiscard]] Bytes missing() const { return required - available; }
  };
  BufferId buffer;
  std::vector<PoolNeed> pools;  // in order of preference
};

// Why an algorithm ended.
enum class StopReason {
  finished,    // nothing was left to do
  node_limit,  // of Options::node_limit or the default
  time_limit,  // the plan depends on the machine's speed
  interrupted,
};

[[nodiscard]] const char* to_string(StopReason reason);

struct PlanResult {
  PlanStatus status = PlanStatus::not_found;
  Plan plan;                              // complete if status is feasible or optimal
  std::optional<Shortage> shortage = {};  // the first buffer that did not fit, if status is infeasible or not_found
  std::uint64_t iterations = 0;           // of the algorithm's own kind (placements, swaps, search nodes, …)
  StopReason stopped = StopReason::finished;
  // Proved lower bounds, entry by entry: every complete plan that is no worse than this one in all more important
  // entries has at least this. Equal to cost_of(plan) if the status is optimal. Nothing: no proof beyond the status.
  std::optional<Cost> bound = {};

  [[nodiscard]] bool has_plan() const { return status == PlanStatus::feasible || status == PlanStatus::optimal; }
};

}  // namespace usmp

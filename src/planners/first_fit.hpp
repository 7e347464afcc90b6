// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Placing buffers one after another, each where it fits among the conflicting buffers placed before it. Every
// algorithm of this module is an order of the buffers (or a search for one) over this. Pinned buffers stand where they
// have to from the beginning, and are never removed.
//
// Source: the first-fit-decreasing family for dynamic storage allocation; TFLite's and Vela's planners place so.
// A placement costs O(d log d) for d conflicting buffers, with scratch memory that is reused.
// Tests: tests/planners/first_fit_test.cpp, and every planner test.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::planners {

// Which of the free places of a pool a buffer takes. All obey the alignment of buffer and pool.
enum class Fit {
  lowest_gap,    // the lowest offset where it fits
  tightest_gap,  // the smallest gap between conflicting buffers that holds it; above them all if there is none
  above_all,     // above every conflicting buffer, as TVM's greedy algorithms place
};

// How good a (partial) placement is: smaller is better, and placing one more buffer never makes it smaller. First
// everything has to fit, then as many bytes as possible stay in preferred pools, then pools shrink, in their order.
struct Score {
  Bytes unplaced = 0;  // sum of the sizes that found no room
  Cost cost;           // of the others

  friend auto operator<=>(const Score&, const Score&) = default;
};

// A set of pools and the buffers that may go there and nowhere else: planned without regard to the rest.
struct Group {
  std::vector<PoolId> pools;      // ascending
  std::vector<BufferId> buffers;  // ascending
};

// The finest partition into groups. Pools that no buffer may use are in none.
[[nodiscard]] std::vector<Group> split_by_pools(const Problem& problem);

// A placement that can be repeated: the order of a group's buffers, and how each chooses its place.
struct Attempt {
  std::vector<BufferId> order;
  Fit fit = Fit::lowest_gap;
};

class FirstFit {
 public:
  // Both must outlive this object. Conflicts between buffers of different groups do not matter and are dropped.
  FirstFit(const Problem& problem, const Conflicts& conflicts, const std::vector<Group>& groups);

  // Places a buffer that is not placed, in the first of its candidate pools that has room; the rank of that pool
  // among its candidates, or nothing if no pool has room.
  std::optional<std::size_t> place(BufferId id, Fit fit);
  void remove(BufferId id) {
    if (!problem_.buffer(id).pinned) plan_.allocations[id.index()] = {};
  }

  // Removes all buffers of the attempt and places them again. Those that find no room stay unplaced.
  Score run(const Attempt& attempt);

  // The same, but order[0 .. from) stay as they are, and it gives up as soon as the score is above `limit` (if there
  // is one): then it returns false, some buffers are not placed, and `score` means nothing.
  [[nodiscard]] bool rerun(const Attempt& attempt, std::size_t from, const Score* limit, Score& score);

  // Runs the attempt up to the first buffer that finds no room, and says what its candidate pools would have needed.
  [[nodiscard]] std::optional<Shortage> shortage(const Attempt& attempt);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const Allocation& of(BufferId id) const { return plan_.of(id); }
  void restore(BufferId id, const Allocation& allocation) { plan_.allocations[id.index()] = allocation; }

  // Conflicting buffers of the same group that are not empty, ascending.
  [[nodiscard]] std::span<const BufferId> neighbours(BufferId id) const {
    return std::span(neighbours_).subspan(first_[id.index()], first_[id.index() + 1] - first_[id.index()]);
  }

  // Minimum distances between the start of `id` and that of its k-th neighbour, with either of them below. O(1).
  [[nodiscard]] Bytes distance_to(BufferId id, std::size_t k) const {
    return is_spaced_ ? spaced_[first_[id.index()] + k].to_it : problem_.buffer(id).size;
  }
  [[nodiscard]] Bytes distance_from(BufferId id, std::size_t k) const {
    const std::size_t at = first_[id.index()] + k;
    return is_spaced_ ? spaced_[at].from_it : problem_.buffer(neighbours_[at]).size;
  }

 private:
  struct Spaced {
    Bytes to_it;
    Bytes from_it;
  };
  struct Interval {
    Bytes begin;
    Bytes end;
  };

  [[nodiscard]] Bytes offset_in(PoolId pool, BufferId id, Fit fit);
  void add_to(Score& score, BufferId id, std::optional<std::size_t> rank) const;
  void note_distances();
  [[nodiscard]] Spaced* between(BufferId id, BufferId other);

  const Problem& problem_;
  Cost nothing_;  // the cost of an empty plan
  Plan plan_;
  std::vector<std::size_t> first_;  // neighbours of i: neighbours_[first_[i] .. first_[i + 1])
  std::vector<BufferId> neighbours_;
  bool is_spaced_ = false;       // the problem has distances
  std::vector<Spaced> spaced_;   // then as neighbours_
  std::vector<Interval> taken_;  // scratch of offset_in
};

}  // namespace usmp::planners

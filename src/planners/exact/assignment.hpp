// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which pool each buffer of a group goes to, without its offset: the relaxation that the exact search over several
// pools rests on (pools.hpp).
//
// Relaxation: at each tick every pool holds no more than its limit, buffers that may share bytes counting less
// (Sharing). Offsets are left out, so what is found may turn out not to be packable; then the search over pools adds a
// cut and asks again.
//
// Method: dynamic programming over the sections of time. Between two sections only the choices of buffers that are
// live on both sides matter (the frontier), so two histories with the same frontier compete and the cheaper one stays.
// That is exact: everything that follows costs both the same, and the parts of the cost (Cost::spilled, which adds up,
// then one pool's height, a maximum) keep their order under it. Networks have few buffers live at one time, so there
// are few states. Of buffers that die together (constants, rings of one chain of operators) only the bytes in each pool
// matter: they enter the frontier as sums.
// When there are more states than the width allows, choices are forgotten, as if the buffer had left its pool: what
// comes out is then still a lower bound, but its assignment may break the limits.
//
// Source: dynamic programming over path decompositions; forgetting is the relaxed decision diagram of Andersen, Hadzic,
// Hooker and Tiedemann (A Constraint Store Based on Multivalued Decision Diagrams, CP 2007).
// Cost: O(decisions · states · width of the frontier).
// Tests: tests/planners/assignment_test.cpp, tests/planners/exact_pools_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planners/exact/packing.hpp"
#include "planners/first_fit.hpp"
#include "usmp/problem/problem.hpp"

namespace usmp::planners::exact {

// A buffer with more than one possible pool that is neither empty nor never live. Pools are indices into Group::pools.
struct Decision {
  BufferId buffer;
  std::vector<std::size_t> pools;         // possible ones, best first
  std::vector<std::size_t> ranks;         // of these pools among the buffer's candidates
  std::vector<std::vector<Bytes>> costs;  // of these pools, as in Cost::spilled
  std::size_t first = 0;                  // section in which it is live first
  std::size_t last = 0;                   // and last
  std::size_t sum = SIZE_MAX;             // of AssignmentModel::sums that it is part of; else none
};

// Buffers that are live in every section from their first to the same last one and share bytes with nothing.
struct Sum {
  std::size_t first = SIZE_MAX;  // section in which one of them is live first
  std::size_t last = 0;
};

// What a buffer asks of one pool.
struct Demand {
  Bytes rounded = 0;   // size rounded up to the pool's granule
  Bytes rounding = 0;  // bytes of that which are not its own
  Bytes alone = 0;     // the height that it needs by itself
};

// Which buffers of a section may share bytes while both are live (Problem::distances), and how many at most.
//
// Bytes of one pool: of buffers that are live together, in the order of their offsets, each one but the topmost saves
// what it shares with the next one, and each but the lowest what the next one below shares with it. So what all of them
// save is at most the sum of what each one can save with one other, above it or else below it, and in a set of buffers
// that are connected by sharing one of them saves nothing.
struct Sharing {
  // A decision, or a buffer of this pool that has no choice.
  struct Member {
    std::uint32_t decision = 0;
    std::optional<std::size_t> pool = {};
    std::uint32_t part = 0;  // of those that sharing connects; ascending
  };
  struct Link {
    std::uint32_t below = 0;  // index into members
    std::uint32_t above = 0;
    std::vector<Bytes> saved = {};  // by pool, in rounded bytes
    Bytes saved_bytes = 0;          // not rounded
  };

  std::vector<Member> members;
  std::vector<Link> links;
};

// The largest sets of buffers that are live together, in time.
struct Section {
  std::vector<std::uint32_t> live;    // decisions that are part of no sum
  std::vector<std::uint32_t> sums;    // of AssignmentModel::sums
  std::vector<Bytes> fixed;           // rounded bytes of buffers without a choice, by pool
  std::vector<Bytes> fixed_rounding;  // the largest rounding among these
  std::vector<Bytes> settled;         // bytes of buffers without a choice, by pool
  std::vector<Bytes> preferred;       // bytes of decisions whose first choice it is, by pool
  Sharing sharing;
  std::size_t after = 0;  // no decision that is live here is live in a section before this one
};

// What most_saved works with, kept from call to call.
struct SharingScratch {
  std::vector<char> there;      // by member
  std::vector<Bytes> as_lower;  // what each saves with the best one above it
  std::vector<Bytes> as_upper;  // and below it

  void reset(std::size_t members);
  [[nodiscard]] Bytes sum(const Sharing& sharing) const;
};

struct AssignmentModel {
  // Memory and time are those of the sections' buffers in all, see section_entries.
  AssignmentModel(const Problem& problem, const Group& group);

  std::vector<PoolId> pools;              // of the group
  std::vector<Bytes> floor;               // what is reserved, rounded up to the granule, by pool
  std::vector<Bytes> base;                // height that the buffers without a choice need, by pool
  std::vector<std::size_t> fixed_pool;    // by position in Group::buffers; `none` if it is a decision
  std::vector<Decision> decisions;        // by first section, then large ones first
  std::vector<std::vector<Demand>> asks;  // by decision and pool
  std::vector<Bytes> sizes;               // by decision
  std::vector<Section> sections;          // in time; those in which a decision is live
  std::vector<Sum> sums;                  // ascending by last section
  std::vector<Bytes> reserved;            // by pool, not rounded
  std::vector<Bytes> fixed_spill;         // Cost::spilled of the buffers without a choice
  bool charged = false;                   // Problem::charged
  bool possible = true;                   // false: some buffer has no pool that is large enough for it

  static constexpr std::size_t none = SIZE_MAX;
};

// What the buffers that are there save in a pool at most. `is_there` says it of a member, `saved` of a link how many
// bytes that is. O(members + links).
template <class IsThere, class Saved>
[[nodiscard]] Bytes most_saved(const Sharing& sharing, const IsThere& is_there, const Saved& saved,
                               SharingScratch& scratch) {
  scratch.reset(sharing.members.size());
  for (std::size_t i = 0; i < sharing.members.size(); ++i) scratch.there[i] = is_there(sharing.members[i]);
  for (const Sharing::Link& link : sharing.links) {
    if (!scratch.there[link.below] || !scratch.there[link.above]) continue;
    scratch.as_lower[link.below] = std::max(scratch.as_lower[link.below], saved(link));
    scratch.as_upper[link.above] = std::max(scratch.as_upper[link.above], saved(link));
  }
  return scratch.sum(sharing);
}

// How many buffers, and pairs of these that may share bytes (32 times), all sections of a group list together: what a
// model costs. O(n log n + live ranges of all that may share · with how many).
[[nodiscard]] std::uint64_t section_entries(const Problem& problem, const Group& group);

// A set of buffers that is known to need more than its load: if all of them are in the pool, its height is at least
// this.
struct Cut {
  std::size_t pool = 0;
  std::vector<std::uint32_t> decisions;  // ascending; the rest of the set has no choice
  Bytes height = 0;
};

struct Query {
  std::vector<Bytes> limits;                  // height that each pool may have
  std::size_t objective = 0;                  // the pool whose height counts after what the choices cost
  std::span<const Cut> cuts = {};             // obeyed by the answer
  std::vector<Bytes> below = {};              // only answers of a smaller cost count; empty: all. Cost as in Relaxed
  std::size_t width = std::size_t{1} << 16U;  // states kept
};

struct Relaxed {
  std::vector<Bytes> cost;              // as Cost::spilled, then the objective's height; empty: there is none
  std::vector<std::size_t> assignment;  // pool by decision
  bool exact = true;                    // no choice was forgotten: the assignment obeys limits and cuts
  bool aborted = false;                 // by the budget: nothing is known

  [[nodiscard]] bool exists() const { return !cost.empty(); }
};

// A lower bound of the first entry of Cost::spilled, of every plan within the limits: bytes that spill out of first
// choices, or charges.
//
// At one tick, the buffers whose first choice is a pool need more together than the pool has by so much: that spills.
// It is charged at least as much as if parts of buffers could go, those first whose charge rises least per byte. Ticks
// that share no buffer add up. For buffers of one live range the best such set of ticks is the linear programming
// bound, since their matrix of ticks is totally unimodular. O(sections · pools).
[[nodiscard]] Bytes least_spill(const AssignmentModel& model, const std::vector<Bytes>& limits);

// A lower bound of a pool's height in all plans of which at most so many bytes spill out of first choices: what prefers
// the pool at one tick is there or spills. For problems that are not charged, with more than one candidate.
// O(sections).
[[nodiscard]] Bytes least_height(const AssignmentModel& model, std::size_t pool, Bytes spill);

// The cheapest assignment, or (not exact) a lower bound of its cost.
[[nodiscard]] Relaxed cheapest_assignment(const AssignmentModel& model, const Query& query, Budget& budget);

}  // namespace usmp::planners::exact

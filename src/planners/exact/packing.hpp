// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// One pool's question, apart from everything else: where to put these items so that they fit, or use least. And what
// an exact search answers.
//
// The search is explained in engine.hpp, its rules in propagate.cpp. Tests: tests/planners/exact_*_test.cpp.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::planners::exact {

struct Item {
  Bytes size = 0;                    // >= 0
  Bytes alignment = 1;               // >= 1; of buffer and pool together
  std::vector<LiveRange> live;       // as in Buffer
  std::optional<Bytes> pinned = {};  // a multiple of the alignment
};

struct Packing {
  std::vector<Item> items;
  Bytes reserved = 0;  // no byte below it is used
};

// The buffers as items of the pool, in their order.
[[nodiscard]] Packing packing_of(const Problem& problem, const std::vector<BufferId>& buffers, PoolId pool);

// One above the other, behind all pins: right, and bad.
[[nodiscard]] std::vector<Bytes> stacked(const Packing& packing);

// The largest end of the items at these offsets; 0 without items.
[[nodiscard]] Bytes peak_of(const Packing& packing, const std::vector<Bytes>& offsets);

// What a search may still spend, and why it had to stop. Shared by the searches of one planning run.
class Budget {
 public:
  static constexpr std::uint64_t unlimited = std::uint64_t{1} << 62U;

  explicit Budget(std::uint64_t nodes) : left_(nodes) {}
  Budget(std::uint64_t nodes, std::optional<std::chrono::milliseconds> time_limit,
         const std::atomic<bool>* interrupted);

  // Takes one node. False when nothing may be spent any more, and from then on always. The clock and the flag are
  // looked at every 256 nodes, and about every ten milliseconds of work.
  [[nodiscard]] bool spend();
  // The same at once for many; takes what is left if that is less.
  [[nodiscard]] bool spend(std::uint64_t nodes);
  // A second limit, on what nodes cost: they differ by a factor of thousands between instances. A unit of work is one
  // bound looked at, about five nanoseconds on a processor of 2026.
  void limit_work(std::uint64_t units) { work_left_ = units; }
  void spend_work(std::uint64_t units);
  // As if all nodes were spent: for a search that cannot go on.
  void give_up();
  // Looks at the clock and the flag before it answers: for heuristics, which spend no nodes.
  [[nodiscard]] bool is_over();
  [[nodiscard]] bool exhausted() const { return reason_ != StopReason::finished; }
  [[nodiscard]] std::uint64_t spent() const { return spent_; }
  [[nodiscard]] std::uint64_t left() const { return left_; }
  // A part of at most so many nodes, under the same clock and flag, for a question that may be given up; `charge` takes
  // from this budget what the part has spent.
  [[nodiscard]] Budget share(std::uint64_t nodes) const;
  void charge(const Budget& share);
  [[nodiscard]] StopReason reason() const { return reason_; }  // `finished` as long as it is not exhausted

 private:
  void look_around();

  std::uint64_t left_;
  std::uint64_t spent_ = 0;
  std::uint64_t work_left_ = unlimited;
  std::uint64_t unseen_work_ = 0;  // since the last look
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  const std::atomic<bool>* interrupted_ = nullptr;
  StopReason reason_ = StopReason::finished;
};

// Parts of the search that only make it faster: no answer changes without them, which tests show by switching them off.
struct Rules {
  bool overload = true;      // sums of sizes in a section
  bool not_first = true;     // items too high to be the lowest of a section
  bool support = true;       // every item stands on another one or at the bottom
  bool twins = true;         // equal items in the order of their numbers
  bool weakening = true;     // explanations that ask for no more than is needed
  bool minimisation = true;  // learned clauses without implied literals
};

enum class Verdict {
  found,
  impossible,  // proved
  gave_up,     // the budget is exhausted
};

// Whether all items fit below `capacity`; if so, `offsets` says where.
[[nodiscard]] Verdict fit(const Packing& packing, Bytes capacity, Budget& budget, std::vector<Bytes>& offsets,
                          const Rules& rules = {});

struct Minimum {
  Bytes lower = 0;  // proved
  Bytes upper = 0;  // the peak of `offsets`
  std::vector<Bytes> offsets;
};

// When there is nothing left to ask.
struct Goal {
  Bytes enough = 0;                                    // a peak of at most so much will do
  Bytes hopeless = std::numeric_limits<Bytes>::max();  // a least peak above this is as bad as any
};

// The least peak. Starts from a right placement `start` and a proved bound `lower`; now and then, the two bounds are
// told to `progress`, if there is one. Ends when they meet, the goal is reached or missed, or the budget is exhausted.
[[nodiscard]] Minimum minimise(const Packing& packing, Bytes lower, std::vector<Bytes> start, const Goal& goal,
                               Budget& budget, const std::function<void(const Minimum&)>& progress = {},
                               const Rules& rules = {});

}  // namespace usmp::planners::exact

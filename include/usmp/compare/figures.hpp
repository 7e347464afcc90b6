// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the places of a plan amount to, pool by pool: live bytes over time, what holds the peak, what is lost and why.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "usmp/plan_file/plan_document.hpp"

namespace usmp::compare {

// Index into PlanDocument::calls; nothing: no call.
using OperatorIndex = std::optional<std::size_t>;

struct PoolFigures {
  // So many bytes are live from `at` on.
  struct TimelinePoint {
    Tick at = 0;
    Bytes live = 0;

    friend bool operator==(const TimelinePoint&, const TimelinePoint&) = default;
  };

  // Two buffers that hold some of the same bytes while both are live, as Problem::distances allow.
  struct SharedBytes {
    std::size_t first = 0;  // indices into PlanDocument::buffers, first < second
    std::size_t second = 0;
    Bytes begin = 0;  // offsets in the pool, begin < end
    Bytes end = 0;
    std::vector<LiveRange> ticks;  // when both are live, not empty

    [[nodiscard]] Bytes bytes() const { return end - begin; }
    [[nodiscard]] bool at(Tick tick) const;
    friend bool operator==(const SharedBytes&, const SharedBytes&) = default;
  };

  // An operator's part of `occupied_at_peak`: the bytes that `counted` gives to its buffers.
  struct Share {
    OperatorIndex call;
    Bytes bytes = 0;
    std::size_t row_operator = 0;  // as in PlanDocument::Buffer

    friend bool operator==(const Share&, const Share&) = default;
  };

  // What would be left to need if a buffer were not there: every plan of the others in this pool uses at least so much.
  struct Without {
    std::size_t buffer = 0;  // index into PlanDocument::buffers
    Bytes at_least = 0;

    friend bool operator==(const Without&, const Without&) = default;
  };
  static constexpr std::size_t most_without = 3;

  std::vector<std::size_t> buffers;  // placed here, indices into PlanDocument::buffers, ascending
  Bytes asked = 0;                   // sum of their sizes: the pool without reuse
  // First at 0, then where it changes. Bytes that two live buffers share count once, as bounds::load counts them.
  std::vector<TimelinePoint> timeline;
  Bytes load = 0;                    // the largest of them
  Tick peak_at = 0;                  // the first such tick
  std::vector<std::size_t> at_peak;  // buffers live then, largest first
  // [i]: bytes of at_peak[i] that none in front of it holds. Each byte counts once, so they add up to:
  std::vector<Bytes> counted;
  Bytes occupied_at_peak = 0;             // at least `load`; more where buffers that may share bytes stand apart
  std::vector<Share> shares;              // largest first; they add up to occupied_at_peak
  std::vector<SharedBytes> shared_bytes;  // by first, then second
  // For the largest of a workspace pool's `at_peak`, in its order: where a change of the model would help most.
  std::vector<Without> without;
  // used = reserved + load + lost_to_alignment + proved_gap + open_gap. To alignment: what every plan of these buffers
  // loses, because offsets are multiples of alignments (bounds::packing_bound). The gaps are bytes that are free at the
  // peak, or lie above it: those up to the pool's proved minimum (its lower bound), and those beyond it.
  Bytes lost_to_alignment = 0;
  Bytes proved_gap = 0;
  Bytes open_gap = 0;
  // Whether a plan is better for using less of the pool, so that its lower bound measures the plan. Not if a buffer in
  // it could be in a pool that is a later choice: such a pool is filled on purpose, unless it is minimised first.
  bool smaller_is_better = true;
  bool overflows = false;  // a buffer lies elsewhere that would rather be here

  [[nodiscard]] Bytes lost_to_fragmentation() const { return proved_gap + open_gap; }
  [[nodiscard]] Bytes live_at(Tick tick) const;
  [[nodiscard]] Bytes most_live(const LiveRange& ticks) const;  // at one of these ticks. O(timeline)
};

struct PlanFigures {
  std::vector<PoolFigures> pools;        // as in the document
  std::vector<OperatorIndex> operators;  // by buffer: the call that it is first live in; of a constant, that uses it
  // By buffer: other calls that one of its live ranges begins in, as of scratch of a function that is called again.
  std::vector<std::vector<std::size_t>> more_operators;

  // "#2 conv2d", "#2 conv2d and 2 more"; empty: no call makes or uses the buffer.
  [[nodiscard]] std::string operators_text(const plan_file::PlanDocument& document, std::size_t buffer) const;
};

// PlanFigures::operators; nothing also where the plan does not say when a buffer is live. O((buffers + calls) log
// calls).
[[nodiscard]] std::vector<OperatorIndex> operators_of(const plan_file::PlanDocument& document);

// Throws Error of kind usage if the document does not say when a buffer is live, or if its sizes add up to more than
// Problem::max_total_bytes. O(n log n) for n buffers, calls, distances and live ranges of buffers with distances.
[[nodiscard]] PlanFigures plan_figures(const plan_file::PlanDocument& document);

// Whether the plan says of any call which operator it is.
[[nodiscard]] bool knows_kinds(const plan_file::PlanDocument& document);

// What reports call a call: "#3 conv2d" for the third one, by its kind; of a plan that does not say, its name without
// TVM's prefix "tvmgen_<module>_".
[[nodiscard]] std::string operator_name(const plan_file::PlanDocument& document, std::size_t call);
// "#1.5 conv2d" for operator 5 of those whose rows the first call computes; 0 or none of them: as above.
[[nodiscard]] std::string operator_name(const plan_file::PlanDocument& document, std::size_t call,
                                        std::size_t row_operator);

}  // namespace usmp::compare

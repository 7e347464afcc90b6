// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Consecutive calls as one chain of row stages: whether that is legal, when which rows are computed, and how many bytes
// it needs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "transform/rolling_schedule.hpp"
#include "transform/rolling_units.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

// What an iteration of a stage computes. Strips: stages run by rows of vertical strips of the last tensor, one strip
// after the other, and compute pixels that two strips need twice.
enum class Grain : std::uint8_t { rows, pixels, strips };

// Units that write one tensor, each its own part of a row, or one unit.
struct RolledStage {
  std::vector<std::size_t> units;
  std::optional<tir::VarId> tensor;  // that its rows are of; nothing: the last stage, which collects what it reads
  std::set<tir::VarId> row_buffers;  // that an iteration writes before it reads them, and nothing else accesses
  Grain grain = Grain::rows;
};

// The unit's stage and loop at this grain, or by rows if it has none by pixels; it must have a stage. Of strips, those
// by pixels.
[[nodiscard]] const loops::Stage& stage_of(const CallRun& run, std::size_t unit, Grain grain);
[[nodiscard]] const tir::For& loop_of(const CallRun& run, std::size_t unit, Grain grain);

// The rows of the storage; null: there are none.
[[nodiscard]] const loops::Rows* rows_in(const std::vector<loops::Rows>& all, tir::VarId storage);

// The columns of its tensor that a stage computes for strip s of `width` columns of the last tensor, those that exist:
// [scale · width · s + low, scale · width · (s + 1) + high).
struct StripColumns {
  std::int64_t columns = 1;  // of the tensor
  loops::Axis pixels;
  std::int64_t scale = 1;
  std::int64_t low = 0;
  std::int64_t high = 0;

  [[nodiscard]] Interval in(std::int64_t strip, std::int64_t width) const;  // both inclusive
};

struct Segment {
  std::size_t first_call = 0;  // of the run
  std::size_t last_call = 0;   // behind
  // Units before and after the chain, as they are.
  std::vector<std::size_t> before;
  std::vector<std::size_t> after;
  std::vector<RolledStage> stages;  // the last one drives the others
  RowChain chain;
  RowSchedule schedule;
  std::map<tir::VarId, std::size_t> tensors;  // of the chain
  std::vector<loops::Axis> axes;              // by tensor
  // Estimated: of the chain's tensors, of buffers of one iteration and what is live besides, and before and after it.
  Bytes chain_bytes = 0;
  Bytes other_bytes = 0;
  Bytes around_bytes = 0;

  // For strips; empty otherwise.
  std::vector<StripColumns> columns;   // by stage
  std::vector<std::int64_t> computed;  // by stage: pixels
  std::int64_t strip_width = 0;        // of the last tensor
  std::int64_t strips = 0;

  [[nodiscard]] Bytes bytes() const { return std::max(chain_bytes + other_bytes, around_bytes); }
  // How the tensor's places are numbered if it is held in part; nothing: it is whole.
  [[nodiscard]] std::optional<tir::Ring> ring_of(std::size_t tensor) const;
  std::vector<std::int64_t> strip_pixels;  // by tensor: places of its ring
};

// The calls [first, last) of the run as a chain of at least two stages. Nothing: they are none, or need more than
// `most` bytes(). Legal because
//  - a tensor that becomes a ring is written by one stage of the chain, a row after the other, each row by one
//    iteration, and nothing outside of the chain accesses it; a stage reads it only in iterations before which the
//    schedule has computed all rows that the iteration reads, and while their places hold them;
//  - all else that a stage writes, no other stage accesses;
//  - a stage's iterations keep their order, or are independent: what they share is written by an iteration before it
//    reads it;
//  - what runs before or after the chain instead of among it has no dependence on what it passes;
//  - in strips, every stage but the last writes a ring, and iterations share nothing: computed again, a pixel is the
//    same.
[[nodiscard]] std::optional<Segment> rolled_segment(const tir::Module& module, const CallRun& run, std::size_t first,
                                                    std::size_t last, Grain grain, Bytes most = no_limit);

// Iterations of a stage that a schedule is looked for.
inline constexpr std::int64_t most_stage_iterations = 16384;

// Estimated bytes of a call as it is.
[[nodiscard]] Bytes plain_bytes(const CallRun& run, std::size_t call);

}  // namespace usmp::transform

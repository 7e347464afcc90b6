// SPDX-License-Identifier: Apache-2.0
// Consecutive calls as one chain of row stages: whether that is legal, when which rows are computed, and how many bytes
// it needs.
#pragma once

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

// What an iteration of a stage computes.
enum class Grain : std::uint8_t { rows, pixels };

// Units that write one tensor, each its own part of a row, or one unit.
struct RolledStage {
  std::vector<std::size_t> units;
  std::optional<tir::VarId> tensor;  // that its rows are of; nothing: the last stage, which collects what it reads
  std::set<tir::VarId> row_buffers;  // that an iteration writes before it reads them, and nothing else accesses
  Grain grain = Grain::rows;
};

// The unit's stage and loop at this grain, or by rows if it has none by pixels; it must have a stage.
[[nodiscard]] const loops::Stage& stage_of(const CallRun& run, std::size_t unit, Grain grain);
[[nodiscard]] const tir::For& loop_of(const CallRun& run, std::size_t unit, Grain grain);

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
  Bytes bytes = 0;                            // estimated, with what is live besides
};

// The calls [first, last) of the run as a chain of at least two stages. Nothing: they are none. Legal because
//  - a tensor that becomes a ring is written by one stage of the chain, a row after the other, each row by one
//    iteration, and nothing outside of the chain accesses it; a stage reads it only in iterations before which the
//    schedule has computed all rows that the iteration reads, and while their places hold them;
//  - all else that a stage writes, no other stage accesses;
//  - a stage's iterations keep their order, or are independent: what they share is written by an iteration before it
//    reads it;
//  - what runs before or after the chain instead of among it has no dependence on what it passes.
[[nodiscard]] std::optional<Segment> rolled_segment(const tir::Module& module, const CallRun& run, std::size_t first,
                                                    std::size_t last, Grain grain);

// Iterations of a stage that a schedule is looked for.
inline constexpr std::int64_t most_stage_iterations = 16384;

// Estimated bytes of a call as it is.
[[nodiscard]] Bytes plain_bytes(const CallRun& run, std::size_t call);

}  // namespace usmp::transform

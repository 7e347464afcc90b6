// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which rows of the tensors of a chain of operators are computed when, so that few of them exist at one time.
//
// Idea: the last stage of the chain runs row by row. Before each of its rows, the stages that it reads from compute the
// rows that it needs and that are not there yet, each after the stages that it reads from in turn: a row is computed
// once, when it is first needed, and its place is free after its last reader. A stage runs inside of the iterations of
// one other stage, so the schedule is a tree of nested loops. After the sliding windows of Halide (Ragan-Kelley et al.,
// PLDI 2013), demand-driven as in streaming execution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "usmp/loops/stage.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/support/interval.hpp"

namespace usmp::transform {

struct RowTensor {
  std::int64_t rows = 1;
  Bytes row_bytes = 0;    // of all planes
  bool is_whole = false;  // all rows have places of their own: something outside of the chain reads it too
  bool is_free = false;   // its bytes do not count: the caller's
  // Rows of a whole tensor of several planes do not stand side by side: their bytes are of no use to others one by one.
  bool is_scattered = false;
};

// Iteration n reads rows advance.at(n) + [reach.low, reach.high] of the tensor, those that exist and, if given, are in
// the lines of a like kind. advance.step >= 0.
struct RowNeed {
  std::size_t tensor = 0;
  loops::Advance advance;
  Interval reach;
  std::optional<loops::Window> lines = {};

  // May be empty.
  [[nodiscard]] Interval in(std::int64_t iteration, std::int64_t rows) const;
};

// Iteration n writes rows step · n + [reach.low, reach.high] of the tensor, and no other one does: step >= 1, and reach
// has at most step rows.
struct RowSupply {
  std::size_t tensor = 0;
  std::int64_t step = 1;
  Interval reach;

  // Rows that are complete after so many iterations.
  [[nodiscard]] std::int64_t complete(std::int64_t iterations, std::int64_t rows) const;
  // Iterations after which row `row` is complete; at least 0.
  [[nodiscard]] std::int64_t iterations_for(std::int64_t row) const;
};

struct RowStage {
  std::int64_t iterations = 1;
  std::optional<RowSupply> supply;  // nothing: the last stage, which collects what it reads
  std::vector<RowNeed> needs;
  Bytes scratch = 0;  // live during an iteration
};

// Stages in an order in which each could run as a whole: a tensor is supplied by one stage, before those that need it.
// Tensors that no stage supplies are inputs, and whole.
struct RowChain {
  std::vector<RowTensor> tensors;
  std::vector<RowStage> stages;  // the last one drives the others
};

struct RowSchedule {
  // By stage, the stages that run inside of its iterations, before its own work, in this order.
  std::vector<std::vector<std::size_t>> inside;
  // By stage: those rows of its tensor are needed that this need of the stage around it names. Not of the last.
  std::vector<RowNeed> demand;
  std::vector<std::int64_t> runs;       // by stage: iterations that run
  std::vector<std::int64_t> ring_rows;  // by tensor: places for so many rows are enough; all of whole ones
  Bytes ring_bytes = 0;                 // of the tensors that are not whole
  // The most bytes that rows of whole tensors take at one time, if a row takes none before it is written and after it
  // is last read, and inputs that are read after the chain always.
  Bytes whole_bytes = 0;
};

inline constexpr Bytes no_limit = std::numeric_limits<Bytes>::max() / 2;  // some may be added or taken away

// A schedule with few bytes. Nothing: a stage would have to run inside of two others, or rows of a tensor that is read
// outside of the chain are not needed by any stage, or all schedules tried have more than `most` ring_bytes and
// whole_bytes. O(iterations of all stages · needs).
[[nodiscard]] std::optional<RowSchedule> row_schedule(const RowChain& chain, Bytes most = no_limit);

}  // namespace usmp::transform

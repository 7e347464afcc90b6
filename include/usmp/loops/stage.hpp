// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loop nests as stages of a pipeline: which rows of a tensor an iteration of the row loop provides, and which rows of
// the tensors before it requires.
//
// Idea: a tensor is divided along one of its dimensions, (element / stride) mod extent. The row loop of a nest is the
// loop variable v, or (v / by) mod rows where TVM has fused the row's loop with others inside and around it, such that
// the row that is stored is the iteration plus what the loops inside add. Every other access then lies in rows step ·
// (n / per) + reach of its own tensor in iteration n: neighbours for a convolution, every second one with strides, n /
// 2 for upsampling, all of them if unknown. The intervals contain all that is accessed, and possibly more. After the
// boxes of Halide's bounds inference (Ragan-Kelley et al., PLDI 2013).
//
// A row may be a pixel: two dimensions as one. The pixels that a window needs then advance by another number from the
// last pixel of a line of the image to the next one's first, and end where the lines do that the window needs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "usmp/arith/facts.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

// A dimension of a tensor that is stored flat: element i is in row (i / stride) mod extent.
struct Axis {
  std::int64_t stride = 1;
  std::int64_t extent = 1;  // rows

  friend auto operator<=>(const Axis&, const Axis&) = default;
};

// Where the rows of an iteration begin: iteration n at step · floor(n / per) + turn · floor(n / width).
struct Advance {
  std::int64_t step = 0;   // 0: the same rows in each iteration
  std::int64_t per = 1;    // >= 1
  std::int64_t turn = 0;   // not 0: step >= 1, per is 1, step + turn >= 0
  std::int64_t width = 1;  // >= 1; 1 without a turn

  // O(1).
  [[nodiscard]] std::int64_t at(std::int64_t iteration) const {
    const std::int64_t begin = per == 1 ? step * iteration : step * floor_quotient(iteration, per);
    return turn == 0 ? begin : begin + turn * floor_quotient(iteration, width);
  }

  friend bool operator==(const Advance&, const Advance&) = default;
};

// The rows of iteration n: advance.at(n) + [reach.low, reach.high].
struct Window {
  Advance advance;
  Interval reach;

  friend bool operator==(const Window&, const Window&) = default;
};

// Rows of a tensor that iteration n of a row loop touches: those of the window, and of pixels those that are also in
// the lines of the image.
struct Rows {
  tir::VarId storage;
  Axis axis;
  Advance advance;
  Interval reach;
  std::optional<Window> lines = {};

  // Share of the tensor that one iteration accesses at most.
  [[nodiscard]] double share() const;
  // The rows of the iteration that exist; may be empty.
  [[nodiscard]] Interval in(std::int64_t iteration) const;
  // The same along an axis with the same planes of which so many rows are one of these. Nothing: it is none such.
  [[nodiscard]] std::optional<Rows> along(const Axis& finer) const;

  friend bool operator==(const Rows&, const Rows&) = default;
};

// A nest as a stage: iteration n is the one in which (var / by) mod rows = n, or var / by = n if rows is 0; with rows,
// the order of the loop's iterations differs from that of the stage. A nest that is not divided has one iteration, and
// no var.
struct Stage {
  std::size_t statement = 0;  // of the function's body
  tir::VarId var;
  std::int64_t by = 1;
  std::int64_t rows = 0;
  std::int64_t iterations = 1;
  std::vector<Rows> provided;  // one per stored tensor, in the order of their variables
  std::vector<Rows> required;  // one per tensor that is only loaded; constants are not listed

  friend bool operator==(const Stage&, const Stage&) = default;
};

// By statement of a function's body, what has been found of it; null, or behind the last: nothing. It is used for a
// loop with the same variable, which has to be the same loop.
struct NestNotes;
using KnownNests = std::vector<std::shared_ptr<NestNotes>>;

// The stages of the loops that stand directly in the function's body, in program order, each divided along the rows of
// the tensors that later ones divide, if any, else along the outermost dimension in which it reads a part at a time.
// Requires that the function consists of loops, branches, lets, scalar loads and stores, and that no parameters alias.
// The dimensions of a tensor are those of its shape; of a buffer without a shape, those that the factors of its indices
// suggest. O(dimensions · accesses · size of the indices), of loops that are not known.
[[nodiscard]] std::vector<Stage> stages_of(const tir::Module& module, const tir::Function& function, KnownNests& known);
[[nodiscard]] std::vector<Stage> stages_of(const tir::Module& module, const tir::Function& function);

// The same loops with a finer division: the rows of `stages` are lines of images, and an iteration is a pixel. In
// program order, only loops that have one; of a tensor that is written, each pixel is written by one iteration.
// Requires and takes what stages_of does.
[[nodiscard]] std::vector<Stage> pixel_stages_of(const tir::Module& module, const tir::Function& function,
                                                 const std::vector<Stage>& stages, KnownNests& known);

}  // namespace usmp::loops

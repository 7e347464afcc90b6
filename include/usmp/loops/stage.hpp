// Loop nests as stages of a pipeline: which rows of a tensor an iteration of the row loop provides, and which rows of
// the tensors before it requires.
//
// Idea: let a tensor be divided along one of its dimensions, which is (element / stride) mod extent. The row loop of a
// nest is the loop variable v, or (v / by) mod rows where TVM has fused the row's loop with others inside and around
// it, such that the row that is stored is the iteration plus what the loops inside add. Every other access then lies in
// rows step · (n / per) + reach of its own tensor in iteration n: neighbours for a convolution, every second one with
// strides, n / 2 for upsampling, all of them where nothing is known. The intervals hold what is accessed; they may hold
// more. After the boxes of Halide's bounds inference (Ragan-Kelley et al., PLDI 2013).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "usmp/arith/facts.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

// A dimension of a tensor that is stored flat: element i stands in row (i / stride) mod extent.
struct Axis {
  std::int64_t stride = 1;
  std::int64_t extent = 1;  // rows

  friend auto operator<=>(const Axis&, const Axis&) = default;
};

// Rows of a tensor that iteration n of a row loop touches: step · floor(n / per) + [reach.low, reach.high].
struct Rows {
  tir::VarId storage;
  Axis axis;
  std::int64_t step = 0;  // 0: the same rows in each iteration
  std::int64_t per = 1;
  Interval reach;

  // Of the tensor, in one iteration at most.
  [[nodiscard]] double share() const;
  [[nodiscard]] Interval in(std::int64_t iteration) const;
};

// A nest as one: iteration n is that in which (var / by) mod rows = n, or var / by = n if rows is 0; with rows, the
// iterations of the loop come in another order than those of the stage. A nest that is not divided has one iteration,
// and no var.
struct Stage {
  std::size_t statement = 0;  // of the function's body
  tir::VarId var;
  std::int64_t by = 1;
  std::int64_t rows = 0;
  std::int64_t iterations = 1;
  std::vector<Rows> provided;  // one a tensor that is stored, in the order of their variables
  std::vector<Rows> required;  // one a tensor that is loaded and not stored; constants are not listed
};

// A function as a chain of stages, the last of which provides its output.
struct Pipeline {
  std::vector<Stage> stages;  // in program order
  // Of the tensor that is divided best: how much of all that is accessed an iteration touches, 1: all.
  double share = 1;
};

// The dimensions of each tensor that the function accesses: those of its shape if it has one, else those that the
// factors of its indices suggest.
// Nothing, and why: no division of the output into rows was found in which all nests are such stages. The function is
// simple in the sense of transform/simple_function.hpp: loops, branches, lets, scalar loads and stores.
// O(dimensions · accesses · size of the indices).
[[nodiscard]] std::optional<Pipeline> pipeline_of(const tir::Module& module, const tir::Function& function,
                                                  std::string* why);

}  // namespace usmp::loops

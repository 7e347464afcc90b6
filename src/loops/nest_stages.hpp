// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The nests of a function as stages, each divided by one of its loops: what the choice of rows (stage.cpp) and of
// pixels (pixel_stages.cpp) is made from.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <variant>
#include <vector>

#include "loops/axes.hpp"
#include "loops/nest_notes.hpp"
#include "loops/row_loop.hpp"
#include "usmp/loops/stage.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

// Nests of more tensors are not divided by every loop that might.
inline constexpr std::size_t most_tensors = 64;

// Finds stages of the loops in a function's body, by their statements. The stages that are looked for differ in how
// tensors are divided, not in what is accessed: what has been found of a loop is noted.
class NestStages {
 public:
  // `known`: with the accesses of all loops.
  NestStages(const tir::Module& module, const tir::Function& function, Tensors tensors, const KnownNests& known);

  // Those that the nest accesses.
  [[nodiscard]] const Tensors& tensors_of(std::size_t nest) const { return known_[nest]->tensors; }
  [[nodiscard]] const TensorAxes& tensor(tir::VarId storage) const { return tensors_.at(storage); }

  // From now on, stages have the tensor's rows along this axis, if none has been chosen for it.
  void choose(tir::VarId storage, const Axis& axis) { chosen_.emplace(storage, axis); }
  [[nodiscard]] bool is_chosen(tir::VarId storage) const { return chosen_.contains(storage); }

  // Outermost loops of the nest, or quotients of one, that the row of an access of the storage moves with.
  std::set<RowLoop> row_loops(std::size_t nest, tir::VarId storage, const Axis& axis);
  // The same along any axis of the storage.
  std::set<RowLoop> row_loops(std::size_t nest, tir::VarId storage);
  // Those that move with the rows of tensors whose axes are chosen.
  std::set<RowLoop> chosen_loops(std::size_t nest);

  // With each of the loops, in their order. One iteration of all: the loop's variable is none, or an iteration of it
  // touches all of everything. The stages' statements are not set.
  std::vector<Stage> stages_with(std::size_t nest, const std::set<RowLoop>& loops);

  // Elements that an iteration touches.
  [[nodiscard]] double touched_by(const Stage& stage) const;

 private:
  [[nodiscard]] const tir::For& loop_of(std::size_t nest) const {
    return std::get<tir::For>(function_.body[nest].node);
  }
  void divide(std::size_t nest, const std::set<RowLoop>& loops);
  [[nodiscard]] bool is_current(const Division& division) const;
  [[nodiscard]] const Rows& rows_of(tir::VarId var, const std::vector<Touched>& all) const;
  void start(tir::VarId var, std::vector<Touched>& all) const;

  const tir::Module& module_;
  const tir::Function& function_;
  const Tensors tensors_;
  const KnownNests& known_;
  std::map<tir::VarId, Axis> chosen_;  // how tensors are divided
};

}  // namespace usmp::loops

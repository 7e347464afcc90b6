// SPDX-License-Identifier: Apache-2.0
// The nests of a function as stages, each divided by one of its loops: what the choice of rows (stage.cpp) and of
// pixels (pixel_stages.cpp) is made from.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "loops/axes.hpp"
#include "loops/row_loop.hpp"
#include "usmp/arith/facts.hpp"
#include "usmp/loops/stage.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

// Nests of more tensors are not divided by every loop that might.
inline constexpr std::size_t most_tensors = 64;

// Remembers what it has found of a nest, which must not change: the stages that are looked for differ in how tensors
// are divided, not in what is accessed.
class NestStages {
 public:
  NestStages(const tir::Module& module, Tensors tensors) : module_(module), tensors_(std::move(tensors)) {}

  // Those that the nest accesses.
  const std::set<tir::VarId>& tensors_of(const tir::Stmt& nest);
  [[nodiscard]] const TensorAxes& tensor(tir::VarId storage) const { return tensors_.at(storage); }

  // From now on, stages have the tensor's rows along this axis, if none has been chosen for it.
  void choose(tir::VarId storage, const Axis& axis) { chosen_.emplace(storage, axis); }
  [[nodiscard]] bool is_chosen(tir::VarId storage) const { return chosen_.contains(storage); }

  // Outermost loops of the nest, or quotients of one, that the row of an access of the storage moves with.
  std::set<RowLoop> row_loops(const tir::Stmt& nest, tir::VarId storage, const Axis& axis);
  // The same along any axis of the storage.
  std::set<RowLoop> row_loops(const tir::Stmt& nest, tir::VarId storage);
  // Those that move with the rows of tensors whose axes are chosen.
  std::set<RowLoop> chosen_loops(const tir::Stmt& nest);

  // With each of the loops, in their order. One iteration of all: the loop's variable is none, or an iteration of it
  // touches all of everything. The stages' statements are not set.
  std::vector<Stage> stages_with(const tir::Stmt& nest, const std::set<RowLoop>& loops);

  // Elements that an iteration touches.
  [[nodiscard]] double touched_by(const Stage& stage) const;

 private:
  // Of a nest's accesses of tensors, in the order of visit_accesses().
  struct Indices {
    std::vector<std::optional<arith::Affine>> forms;
    std::map<tir::VarId, std::vector<std::size_t>> by_storage;
  };

  // A nest divided by one loop.
  struct Division {
    Stage stage;  // without rows
    Digits digits;
    // Along each axis; of what was divided by then, along its own.
    std::map<tir::VarId, std::vector<Touched>> touched;
  };

  // What is known of a nest.
  struct Nest {
    std::optional<std::set<tir::VarId>> tensors;
    std::optional<Indices> indices;
    std::set<tir::VarId> stored;
    std::map<RowLoop, Division> divisions;
  };

  const Indices& indices_of(const tir::Stmt& nest);
  void divide(const tir::Stmt& nest, const std::set<RowLoop>& loops);
  [[nodiscard]] bool is_current(const Division& division) const;
  [[nodiscard]] const Rows& rows_of(tir::VarId var, const std::vector<Touched>& all) const;
  void start(tir::VarId var, std::vector<Touched>& all) const;

  const tir::Module& module_;
  const Tensors tensors_;
  std::map<tir::VarId, Axis> chosen_;  // how tensors are divided
  std::map<const tir::Stmt*, Nest> nests_;
};

}  // namespace usmp::loops

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loop nests around one store that store no element twice.
//
// A reader of an element can then compute it instead: decomposing the element's index gives the iteration that stored
// it.
#pragma once

#include <optional>
#include <vector>

#include "usmp/arith/facts.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

struct NestLoop {
  tir::VarId var;
  tir::DataType type;       // of the variable
  std::int64_t factor = 0;  // in the index, positive
  std::int64_t min = 0;
  std::int64_t extent = 1;
};

struct InjectiveNest {
  tir::VarId storage;
  std::vector<NestLoop> loops;       // by descending factor: each factor exceeds what the loops after it reach
  arith::Affine index;               // of the element
  tir::ExprRef value;                // lets replaced by their values
  std::vector<tir::ExprRef> guards;  // conditions under which the store happens, likewise

  // How many times the store runs if no guard fails.
  [[nodiscard]] double elements() const;
  // The elements that it stores, if they are exactly an interval. Nothing also if there are guards.
  [[nodiscard]] std::optional<Interval> dense_elements() const;
};

// Nothing if the statement is not such a nest, or if it may store an element twice. `facts`: at the statement.
[[nodiscard]] std::optional<InjectiveNest> injective_nest(const tir::Stmt& stmt, arith::Facts& facts);

// The iteration that stores the element `index`: the value of each of nest.loops, proved to be in that loop's range.
// Nothing if no such iteration can be proved to exist.
[[nodiscard]] std::optional<std::vector<arith::Affine>> counts_at(const InjectiveNest& nest, const arith::Affine& index,
                                                                  const arith::Facts& facts);

// The same as expressions: values for the nest's loop variables.
[[nodiscard]] std::optional<Substitution> iteration_of(const InjectiveNest& nest, const arith::Affine& index,
                                                       const arith::Facts& facts, tir::DataType index_type);

}  // namespace usmp::loops

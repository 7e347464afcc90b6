// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What has been found of a loop nest: walks with facts and divisions are most of what stages cost.
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
#include "usmp/support/interval.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

struct NestAccess {
  tir::VarId storage;
  bool is_store = false;
  std::optional<arith::Affine> index;  // nothing: not known
  std::optional<Interval> elements;    // of stores: the values of the index, if they are known
};

// A nest divided by one loop.
struct Division {
  Stage stage;  // without rows
  Digits digits;
  // Along each axis; of what was divided by then, along its own.
  std::map<tir::VarId, std::vector<Touched>> touched;
};

struct NestNotes {
  tir::VarId loop;                   // its variable; none: the statement is no loop
  std::vector<NestAccess> accesses;  // in the order of visit_accesses()
  std::map<tir::VarId, std::vector<std::size_t>> by_storage;
  std::set<tir::VarId> stored;

  Tensors tensors;  // those that it accesses, as they were when it was divided
  std::map<RowLoop, Division> divisions;
};

// The accesses of the statement. `facts`: what is known in front of it.
[[nodiscard]] NestNotes notes_of(const tir::Stmt& nest, arith::Facts& facts);

}  // namespace usmp::loops

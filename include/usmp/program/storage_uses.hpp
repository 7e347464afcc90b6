// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// How code uses the storage that it names, without callees.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::program {

struct StorageUse {
  std::size_t loads = 0;  // places, not executions; with those below address_of
  std::size_t stores = 0;
  std::size_t mentions = 0;          // of the pointer itself: passed, bound, compared, …
  std::vector<tir::DataType> types;  // of the loads and stores, each once, in order of appearance
  bool has_vectors = false;          // some load or store is of several lanes
  bool has_predicates = false;       // or under a predicate
  bool has_addresses = false;        // of elements are taken

  // Whether all uses are loads and stores of scalars of one type, or there are none.
  [[nodiscard]] bool is_of_scalars() const;
};

// By variable of type handle. O(nodes · log).
[[nodiscard]] std::map<tir::VarId, StorageUse> storage_uses(const tir::Block& block);

}  // namespace usmp::program

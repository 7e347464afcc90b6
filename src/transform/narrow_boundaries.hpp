// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which tensors must be stored in one type, and who touches them.
//
// A tensor of the entry function is passed to parameters of operators, and a parameter may be given several tensors;
// all that are linked in this way form one boundary. A boundary is only what every access is known of: see
// `find_boundaries`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::transform {

struct BoundaryParam {
  std::size_t function = 0;  // index into Module::functions
  tir::VarId var;
};

struct Boundary {
  tir::DataType element;              // of every load and store
  std::vector<tir::VarId> tensors;    // that the entry allocates, in the order of their allocates
  std::vector<BoundaryParam> params;  // by function, then in their order; no duplicates
  std::int64_t fewest_elements = 0;   // of the smallest tensor
};

// The boundaries of integers of more than one byte that are accessed in no other way than these:
//  - the entry allocates each tensor unconditionally and of constant size, a whole number of elements, and does nothing
//    with it but pass it, from its start, to operators, whose loops the module has (program/entry_calls.hpp);
//  - each parameter belongs to an operator that only the entry calls, and is loaded and stored as scalars of one type,
//    without predicates; nothing takes its address or passes it on;
//  - something is stored.
// In the order of the first call that one of their tensors is passed to. O(size of the module).
[[nodiscard]] std::vector<Boundary> find_boundaries(const tir::Module& module);

}  // namespace usmp::transform

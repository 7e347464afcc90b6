// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Arrays of four floats on the stack that are only set and read whole: vectors, where Helium has them.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "codegen/facts.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::codegen {

// Arrays of which every store and load is in a statement that is_store_of_floats() holds of. O(statements).
[[nodiscard]] std::unordered_set<tir::VarId> float_vectors(
    const tir::Function& function, const std::unordered_map<tir::VarId, PointerFacts>& pointers);

// Whether the store is one of four neighbours, and its value of sums and products of such loads and of what is the same
// four times. O(nodes).
[[nodiscard]] bool is_store_of_floats(const tir::Store& store,
                                      const std::unordered_map<tir::VarId, PointerFacts>& pointers);

}  // namespace usmp::codegen

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Arrays of four floats on the stack that are only set and read whole: vectors, where Helium has them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "codegen/facts.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::codegen {

// Arrays whose stores and loads all are in statements that vectors do: stores of four neighbours, of sums and products
// of four neighbours and of what is the same four times. O(nodes).
[[nodiscard]] std::unordered_set<tir::VarId> float_vectors(
    const tir::Function& function, const std::unordered_map<tir::VarId, PointerFacts>& pointers);

// What is done with vectors; `repeat`: one number four times, `scale`: times one number.
enum class FloatFunction : std::uint8_t { load, store, repeat, scale, multiply, add };

}  // namespace usmp::codegen

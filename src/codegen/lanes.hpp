// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops over neighbouring elements of up to 32 bits, four at a time: what Helium's vectors compute as C does.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "usmp/arith/ranges.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::codegen {

// Elements of a vector of 32-bit integers.
inline constexpr std::int64_t lane_count = 4;

// Whether four iterations give the same if all their values are read, computed in 32 bits, and stored, in this order:
// the loop runs from 0 a multiple of four times and holds one store at an index that grows by one, into a parameter
// that nothing else reaches; values are sums, products, clips, fixed-point products and shifts to the right of
// neighbours, of what does not depend on the loop, and of literals, none of which leaves its type. The store, with what
// variables in front of it stand for; nothing: it does not. O(size of the loop).
[[nodiscard]] std::optional<tir::Store> store_of_lanes(const tir::Module& module, const tir::Function& function,
                                                       const tir::For& loop, arith::Ranges& ranges);

// Likewise for Arm's DSP extension (fours_of()), into whatever storage, where all that is read is other storage that no
// pointer reaches, `is_own`.
[[nodiscard]] std::optional<tir::Store> store_of_own(const tir::Module& module, const tir::For& loop,
                                                     arith::Ranges& ranges,
                                                     const std::function<bool(tir::VarId)>& is_own);

// Whether the loop from 0 sets neighbouring bytes to a literal, or copies them from a parameter. O(size of the loop).
[[nodiscard]] bool is_copy(const tir::Module& module, const tir::Function& function, const tir::For& loop);

// Bytes of a vector.
inline constexpr std::int64_t bytes_at_once = 16;

}  // namespace usmp::codegen

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// From the module to one list of instructions, calls unfolded.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "replay/instructions.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::replay {

// The sites that are followed, by the variables that declare them. Looked up only.
using Followed = std::unordered_map<tir::VarId, std::uint32_t>;

// Accesses to these sites, and what their addresses and conditions are computed of; nothing else. Gives up on a program
// of more than `most` instructions and expressions. O(size of the module + min(most, size of the program)).
[[nodiscard]] Program compile(const tir::Module& module, const Followed& followed, std::size_t sites, std::size_t most);

}  // namespace usmp::replay

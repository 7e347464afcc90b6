// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which Allocates may be taken as standing inside a loop, although they stand before it.
#pragma once

#include <unordered_map>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::liveness {

// By loop body: the Allocates of an outer block whose storage holds nothing from one iteration to the next.
using SunkAllocates = std::unordered_map<const tir::Block*, std::vector<const tir::Allocate*>>;

[[nodiscard]] SunkAllocates sink_allocates(const tir::Module& module, const tir::Block& body);

}  // namespace usmp::liveness

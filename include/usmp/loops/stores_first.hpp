// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Whether what a block loads of a storage is always its own.
#pragma once

#include <cstdint>

#include "usmp/tir/ir.hpp"

namespace usmp::loops {

// Whether the statements store every one of so many elements of the storage before they load any, or access none. False
// also if it is not known. O(size of the block · depth).
[[nodiscard]] bool stores_first(const tir::Module& module, const tir::Block& block, tir::VarId storage,
                                std::int64_t elements);

}  // namespace usmp::loops

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Storage that holds some rows of a tensor (tir::Ring): elements of the tensor → places in the storage.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::lower {

// Replaces the index of each access by that of its place, (row mod rows) · stride in one term, so that compilers
// compute it once where it does not change; storage has no rings afterwards. O(size of the functions with rings).
void lower_rings(tir::Module& module);

}  // namespace usmp::lower

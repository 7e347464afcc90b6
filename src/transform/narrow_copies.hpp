// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Operators that only copy a tensor are not run.
#pragma once

#include <cstddef>
#include <vector>

#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform {

// Removes calls of operators that copy one tensor to another, element by element, and functions that are then not
// called any more. See the .cpp file for when. Always the first copy of the entry that may go does, until none may.
// Each is looked at once, and again when what it copies from or to has changed by the removal of another one; of these
// second looks there are at most 1000 and 16 a call, so that what they would have removed may stay in very large
// programs. O(n log² n), n being the size of the module. `looks`: gets how often a copy was looked at.
[[nodiscard]] std::vector<Change> remove_copies(tir::Module& module, std::size_t* looks = nullptr);

}  // namespace usmp::transform

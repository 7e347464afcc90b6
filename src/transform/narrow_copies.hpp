// Operators that only copy a tensor are not run.
#pragma once

#include <vector>

#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform {

// Removes calls of operators that copy one tensor to another, element by element, and functions that are then not
// called any more. See the .cpp file for when. O(copies · size of the entry + size of the module).
[[nodiscard]] std::vector<Change> remove_copies(tir::Module& module);

}  // namespace usmp::transform

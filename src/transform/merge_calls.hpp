// Two operators made one, so that the tensor between them need not exist.
#pragma once

#include <vector>

#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform {

// For tensors that are live where the load is highest: if one call writes the tensor and nothing else, one later call
// reads it, and what the first call reads is not written between the two, both become one call of a new function, in
// the place of the second, whose body is theirs one after the other; its loops are then fused (fuse.hpp). Kept if the
// tensor is gone from it, and only as long as the peak load falls in the end. Functions that nobody calls any more go.
// Returns what was done. Throws as liveness::analyse does. O(tensors at the peak · size of the module).
std::vector<Change> merge_calls(tir::Module& module);

}  // namespace usmp::transform

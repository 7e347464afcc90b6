// The step that changes nothing in the program: which buffers may share bytes, and what that is worth.
#pragma once

#include "usmp/transform/transform.hpp"

namespace usmp::transform {

// A change for each pair that liveness::find_distances finds. `load` is that of the module as it is.
[[nodiscard]] StepResult look_for_shared_bytes(const tir::Module& module, const liveness::Options& options, Bytes load);

}  // namespace usmp::transform

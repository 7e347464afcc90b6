// The step that changes nothing in the program: which buffers may share bytes, and what that is worth.
#pragma once

#include "usmp/transform/transform.hpp"

namespace usmp::transform {

// A change for each of the module's distances. `load` is that of the module as it is.
[[nodiscard]] StepResult describe_shared_bytes(const tir::Module& module,
                                               const std::vector<liveness::StorageDistance>& distances, Bytes load);

}  // namespace usmp::transform

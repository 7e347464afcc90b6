// Work for memory: elements that are computed more than once, within a budget.
#pragma once

#include <optional>

#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform {

// Where the load is highest, buffers inside operators and tensors between them that others decline for the work are
// computed again by their readers (windows.hpp), a tensor in each of its readers (merge_calls.hpp). One at a time is
// done: the one that costs least work for a byte that the load falls by, as long as the work of all (work.hpp) stays
// within options.recompute_percent of that of the module given. The load counts what buffers may share if the step
// `inplace` is asked for. What is done lowers the load in the end, or it is not done. Needs the step `fuse`, for
// tensors also `merge`. Nothing: nothing was done.
//
// Throws as liveness::analyse does. The search ends with what it has when it has looked at a hundred million statements
// and expressions, which is counted, not measured: about 10 s. It holds 12 candidates at a time.
std::optional<StepResult> recompute(tir::Module& module, const Options& options);

}  // namespace usmp::transform

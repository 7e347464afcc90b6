// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Two operators made one, so that the tensor between them need not exist.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform {

// For tensors that are live where the load is highest: if one call writes the tensor and nothing else, one later call
// reads it, and what the first call reads is not written between the two, both become one call of a new function, in
// the place of the second, whose body is theirs one after the other; its loops are then fused (fuse.hpp). Kept if the
// tensor is gone from it, and only as long as the peak load falls in the end; the same for tensors that are copies with
// a border, wherever they are live, as long as the peak load does not rise. Functions that nobody calls any more go.
// Returns what was done. Throws as liveness::analyse does. Looking for tensors is O(size of the module · log) for each
// merge that is made, of which there are at most 64; trying one is O(what fusing both functions takes).
std::vector<Change> merge_calls(tir::Module& module);

// StepResult::too_large: merge_calls is not to be called. Nothing: it may be.
[[nodiscard]] std::optional<std::string> too_large_to_merge(const tir::Module& module);

// What was spent, which ends the step when it is as much as this.
struct MergeWork {
  static constexpr std::size_t most_tried = 500'000;
  static constexpr std::size_t most_made = 400'000;
  static constexpr std::size_t least_merges = 20;  // where fewer may be made, none is
  std::size_t tried = 0;  // statements and nodes of expressions of the functions of each merge that was tried
  std::size_t made = 0;   // variables, functions and statements of the entry, of the module for each that was made
};
std::vector<Change> merge_calls(tir::Module& module, MergeWork& work);

// A call that two calls have become.
struct MergedCall {
  std::string function;         // new
  tir::VarId inner;             // in it: what was the tensor
  std::vector<Change> changes;  // of its loops

  [[nodiscard]] bool holds_tensor(const tir::Module& module) const;  // whether anything accesses `inner`
};

// The same for one tensor with any number of readers, each of which gets a copy of the writer; whether the tensor's
// buffer is gone from them is left to the caller. The first statement that passes the tensor writes it. Nothing: not
// legal; the module is then useless.
std::optional<std::vector<MergedCall>> merge_into_readers(tir::Module& module, tir::VarId tensor);

}  // namespace usmp::transform

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Storage that several tensors pass through, taken apart into the tensors.
//
// TVM's StorageRewrite lets tensors share one variable whose lives do not overlap: in the entry, where one `sid` is
// what several calls write, and inside of operators, where a stage overwrites what the stage in front of it has
// computed. Planned as they stand, such tensors are one buffer that is live from the first to the last of them.
//
// Idea: liveness of bytes, within the block that allocates the storage. Of each statement there it is known which bytes
// it may read that it has not written itself, and which it writes for certain. Where no byte is live, one tensor has
// ended, and what follows may as well have storage of its own. A statement that reads each element only for the value
// that it stores in the same place, and writes all that is read later, is the end of one tensor and the beginning of
// the next.
//
// A wrong split is a corrupted tensor: whatever is not proved stays together. Indices have to be sums that
// arith::Facts knows, loops to have constant bounds, and pointers to be passed whole to functions of the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "usmp/support/checked.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::storage {

enum class Where : std::uint8_t {
  between_tensors,  // where no byte is live: what comes of it never needs more memory
  in_place,         // there, and where a statement computes a tensor in the place of another: fusing needs them apart
};

// Pairs of accesses to one storage in one statement that a pass looks at, in all functions together.
inline constexpr std::size_t max_pairs = 4'000'000;

// Gives tensors that share an allocate allocates of their own, each as large as it is used, in the place of the one.
// Returns how many allocates there are more. Throws Error of kind archive for recursion (program::callees_first).
// O(size of the module · log + pairs of accesses to one storage in one statement): beyond max_pairs in all, nothing
// more is split.
std::size_t split(tir::Module& module, Where where);

// Makes each allocate of the functions as large as what is accessed of it, where that is known and less. Throws and
// costs as split.
void fit(tir::Module& module);

// How a function uses storage that it declares or is passed.
struct Extent {
  std::optional<Bytes> end;           // of the bytes accessed, callees included; nothing: not known
  std::optional<tir::DataType> type;  // of what it loads and stores itself; nothing: nothing, or of several types
  // Bytes from the first to the last that are loaded under no condition, as far as it is known, and stored, callees
  // included; nothing: none.
  std::optional<Interval> loaded;
  std::optional<Interval> stored;
  bool are_stores_known = true;
  bool begins_in_front = false;  // under no condition, something in front of the storage is accessed
};

// By function index. Throws and costs as split.
[[nodiscard]] std::vector<std::map<tir::VarId, Extent>> extents(const tir::Module& module);

}  // namespace usmp::storage

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What each statement of a block does to the bytes of a storage.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "storage/accesses.hpp"
#include "storage/byte_set.hpp"

namespace usmp::storage {

// What one statement does to a storage, or a whole function to a parameter.
struct Flow {
  ByteSet exposed;               // may be read with what stood there before
  bool exposes_all = false;      // all of it may be
  ByteSet written;               // for certain
  std::optional<Bytes> end = 0;  // of the bytes accessed; nothing: not known
};

// By function and parameter.
using Flows = std::vector<std::vector<Flow>>;

struct StatementFlow {
  const tir::Stmt* statement = nullptr;
  std::size_t order = 0;
  Flow flow;
  // Each element is read for nothing but the value that is stored in its place, and stored once.
  bool is_in_place = false;
  std::optional<Bytes> loads_end = 0;   // of the bytes loaded; nothing: not known
  std::optional<Bytes> stores_end = 0;  // stored
  std::optional<tir::DataType> loaded;  // the type of what is loaded; nothing: none, or several
  std::optional<tir::DataType> stored;
};

// The flows of the statements that access the storage and stand directly in the block whose chain of owners has `depth`
// statements, in program order. Nothing: something not known is done to the storage, or more pairs of accesses would
// have to be looked at than are left, of which those looked at are taken off.
[[nodiscard]] std::optional<std::vector<StatementFlow>> statement_flows(const FunctionAccesses& function,
                                                                        const StorageAccesses& storage,
                                                                        std::size_t depth, const Flows& callees,
                                                                        std::size_t& pairs_left);

// What the statements do together, one after the other.
[[nodiscard]] Flow together(std::span<const StatementFlow> statements);

}  // namespace usmp::storage

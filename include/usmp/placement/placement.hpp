// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Where the storage of one module is: all that lowering, code generation and replay know about a plan. They see no
// problem and no planner, so they do not depend on how the places were found.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "usmp/problem/storage.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/support/ids.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::placement {

struct Pool {
  std::string name;  // a C identifier, unique in the table
  PoolKind kind = PoolKind::workspace;
  Bytes alignment = 1;       // a power of two; required alignment of the pool's start. Storage may require more
  std::string section = {};  // linker section of an internal pool, or of a binary file's stub; empty: none
  std::string region = {};   // of the linker script; empty: not known
  bool internal = false;     // the generated C owns the array
  bool holds_state = false;  // what the model keeps from run to run, and nothing else
  bool is_binary = false;    // contents of an external parameter pool: a binary file, not a macro
  // Where a programmer writes this file; what other modules have in the pool is not in it.
  std::optional<Bytes> address = {};
};

// A variable that names storage, and the function that declares it.
struct Declaration {
  tir::VarId var;
  std::size_t function = 0;  // index into Module::functions
};

struct Storage;
using StorageId = Id<Storage>;  // index into Table::storages

struct Storage {
  std::string name;  // TVM's name of the variable; an input's or output's parameter name
  // Never empty. More than one for a constant that is declared several times.
  std::vector<Declaration> declarations;
  BufferKind kind = BufferKind::tensor;
  Bytes size = 0;
  Bytes alignment = 1;                // of its address; a power of two. The offset is a multiple of it
  std::vector<LiveRange> live;        // sorted, disjoint. Empty: nothing accesses it, so other storage may overlap it
  Allocation place;                   // always in a pool
  std::optional<RowsHeld> rows = {};  // for readers of the emitted C; nothing: all of the tensor
};

// Storage that is not in the table keeps its place in the module. A variable is declared at most once.
struct Table {
  std::vector<Pool> pools;        // by PoolId
  std::vector<Storage> storages;  // by StorageId

  [[nodiscard]] const Pool& pool(PoolId id) const { return pools[id.index()]; }
  [[nodiscard]] const Storage& storage(StorageId id) const { return storages[id.index()]; }
};

// Bytes in use in each pool: the largest end of the storage placed there; 0 if there is none. O(pools + storages).
[[nodiscard]] std::vector<Bytes> used_bytes(const Table& table);

// Required alignment of each pool's start: its own and that of the storage in it. O(pools + storages).
[[nodiscard]] std::vector<Bytes> alignments(const Table& table);

// Several modules write their contents of a pool one behind the other, in this order, from Pool::address on. Throws
// Error of kind usage if that address is not aligned as the contents of one ask for, or if two pools would have the
// same bytes.
void put_contents_in_a_row(const std::vector<Table*>& modules);

}  // namespace usmp::placement

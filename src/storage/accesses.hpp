// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The accesses of one function to each storage, in program order, with the loops around them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "storage/byte_set.hpp"
#include "usmp/arith/affine.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::storage {

// What a branch around an access says of its index: that the index, or a part of it, is in the interval.
struct Limit {
  const tir::Stmt* branch = nullptr;
  // Nothing: the whole index. Else a sum without constant; the index is a multiple of it and other terms, which do not
  // mention its variables.
  std::optional<arith::Affine> part;
  Interval interval;
};

struct Access {
  bool is_store = false;
  tir::DataType type;                   // of an element
  std::optional<arith::Affine> index;   // in elements; nothing: no sum that is known
  std::optional<ByteRange> bytes;       // that it stays in
  bool is_in_front = false;             // it may reach what stands in front of the storage, unless a condition says no
  std::vector<const tir::Stmt*> chain;  // the statements around it from the function's body on, and its own
  std::vector<Limit> limits;            // of branches around it whose condition says no more
  std::size_t order = 0;                // of its statement in program order

  [[nodiscard]] Bytes width() const { return type.bytes(); }
  [[nodiscard]] bool is_limited_by(const tir::Stmt* branch) const;
};

// A call of a function, to which the storage is passed whole.
struct Passed {
  std::optional<std::size_t> callee;  // index into Module::functions; nothing: none of the module, or opaque
  std::size_t param = 0;
  std::vector<const tir::Stmt*> chain;
  std::size_t order = 0;
};

struct StorageAccesses {
  std::vector<Access> accesses;
  std::vector<Passed> passed;
  bool is_known = true;  // that is all that is done to it: no other pointers, no vectors, no predicates
};

struct FunctionAccesses {
  std::map<tir::VarId, StorageAccesses> storages;
  std::map<tir::VarId, Interval> loops;  // variables of loops with constant bounds that run at least once
};

// Whether the statement is one of the block's own.
[[nodiscard]] bool stands_in(const tir::Stmt* stmt, const tir::Block& block);

// O(size of the function · log + accesses · nesting).
[[nodiscard]] FunctionAccesses accesses_of(const tir::Module& module, const tir::Function& function);

}  // namespace usmp::storage

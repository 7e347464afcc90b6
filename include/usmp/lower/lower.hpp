// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Module + places → module with pool parameters, as TVM's USMP lowers: every planned allocate becomes a pointer at an
// offset of a pool parameter, and each function takes the pool pointers that it or its callees need.
#pragma once

#include <string>
#include <vector>

#include "usmp/placement/placement.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::lower {

// Places of the storage inside one function, for comments in the emitted C.
struct Placement {
  tir::VarId var;
  placement::StorageId storage;
};

// Storage scopes of the pool parameters' variables; a constant pool is only ever read.
inline constexpr const char* workspace_pool_scope = "workspace_pool";
inline constexpr const char* constant_pool_scope = "constant_pool";

struct LoweredFunction {
  // Pools whose pointers the function takes, ascending; the last params of the function, in this order. Only pools that
  // its own code or a callee's uses. Each param is a new handle variable of element type uint8 and of one of the scopes
  // above, named like the pool.
  std::vector<PoolId> pools;
  std::vector<Placement> placements;  // storage declared in this function, in the order of ids; used or not
};

struct Lowered {
  // Planned Allocate and AllocateConst nodes are replaced by
  //   Let(var, address_of(load uint8 pool_param[offset]))
  // (dropped if nothing uses the variable); accesses to storage with a ring name places instead of elements; calls of
  // module functions pass the pool pointers after their own arguments (before the trailing resource handle of
  // tvm_call_cpacked). Entry parameters that are planned (workspace_io) are removed from params and bound by such a Let
  // at the start of the body. Opaque functions (tir::is_opaque) stay as they are.
  tir::Module module;
  std::vector<LoweredFunction> functions;  // by index into module.functions
};

// The table must be of the module and its places verified. Expressions that do not change stay shared with the source
// module. O(size of the module + calls · pools).
[[nodiscard]] Lowered lower(const tir::Module& module, const placement::Table& table);

}  // namespace usmp::lower

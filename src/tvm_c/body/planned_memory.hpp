// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What functions have in memory that TVM has planned: how much of it each buffer and constant is.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "usmp/tir/ir.hpp"
#include "usmp/tir/verify.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// A constant in a pool of the application's, of which only the beginning is known: its AllocateConst has no data yet.
struct PoolConstant {
  tir::VarId var;
  std::string pool_name;
  std::shared_ptr<const std::string> pool;
  std::size_t offset = 0;
};

struct PlannedMemory {
  std::vector<PoolConstant> constants;
  std::vector<PlannedPlace> places;         // of what TVM has planned, constants and entry parameters included
  std::map<tir::VarId, Bytes> last;         // of workspace at several offsets: the last one
  std::map<tir::VarId, std::string> whole;  // of the entry: a pool that somebody gets from its first to its last byte
  std::set<tir::VarId> unbounded;           // planned by TVM into pools of unknown size: what is allocated says nothing

  void add(PlannedMemory&& more);
};

// Gives the constants types and data: each is what is accessed of the pool from its offset on; if that is not known, up
// to the next one. Returns what TVM's plan has overwritten (PlannedModule::lost_constants).
[[nodiscard]] std::optional<std::string> cut_constants(const std::vector<PoolConstant>& constants, tir::Module& module);

// How much is used of what others' functions get is not known: then the next buffer of the plan bounds it. Returns what
// is wrong: a constant that has been taken for workspace. Throws Error of kind archive if nothing bounds a buffer.
[[nodiscard]] std::optional<tir::Fault> find_sizes(PlannedMemory& memory, const std::string& module_name,
                                                   tir::Module& module);

}  // namespace usmp::tvm_c

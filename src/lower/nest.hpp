// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a statement and the blocks inside it use of what stands around them.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::lower {

// What a loop nest needs from outside and does to storage.
struct NestUses {
  std::vector<tir::VarId> free;       // variables not bound inside, in order of appearance
  std::vector<tir::VarId> addresses;  // bound inside to pool addresses, which can be had outside as well
  std::set<tir::VarId> accessed;      // storage that is loaded or stored
  std::set<tir::VarId> written;
  std::map<tir::VarId, std::vector<tir::DataType>> types;  // of the elements accessed, each once
  std::map<tir::VarId, tir::ExprRef> address_values;
  bool can_move = true;
  bool has_calls = false;  // of functions: these access storage that does not show here
};

[[nodiscard]] NestUses read_nest(const tir::Module& module, const tir::Stmt& nest);

// Whether `value` is the address of a planned buffer, as lower() binds it.
[[nodiscard]] bool is_pool_address(const tir::Module& module, const tir::Expr& value);

}  // namespace usmp::lower

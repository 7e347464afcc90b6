// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Joining calls into one.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::program {

// A function with the variables that a call passes to it, one per parameter.
struct PassedFunction {
  const tir::Function& function;
  const std::vector<tir::VarId>& arguments;
};

struct JoinedCalls {
  tir::Function function;
  std::vector<tir::VarId> arguments;       // of its call: those of all calls, each once, without storage between them
  std::map<tir::VarId, tir::VarId> inner;  // storage between them → that storage, inside the function
  std::vector<std::size_t> first;          // by call: its first statement in the function's body
};

// A function that does what the calls do one after the other (at least one), with the storages declared by `between`,
// which only these calls use, as local buffers. All its variables are new in `module`, which also owns the variables of
// the functions; its name and other attributes are those of the last. Nothing: a storage is not a whole number of
// elements of its parameter. O(size of all · log).
[[nodiscard]] std::optional<JoinedCalls> joined(tir::Module& module, std::span<const PassedFunction> calls,
                                                std::span<const tir::Allocate> between);

struct JoinedFunction {
  tir::Function function;
  std::vector<tir::VarId> arguments;  // of its call: those of both, each once, without the storage between the two
  tir::VarId inner;                   // that storage, inside the function
};

// The same for two calls and one storage.
[[nodiscard]] std::optional<JoinedFunction> joined(tir::Module& module, const PassedFunction& first,
                                                   const PassedFunction& second, const tir::Allocate& between);

}  // namespace usmp::program

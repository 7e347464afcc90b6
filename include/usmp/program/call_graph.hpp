// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which functions of a module call which.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::program {

// A call by name (tir::named_call) of a function of the module.
struct CallSite {
  std::size_t callee = 0;  // index into Module::functions
  std::span<const tir::ExprRef> arguments;
};

// By index into Module::functions; opaque functions (tir::is_opaque) have their calls like others. Points into the
// module.
struct CallGraph {
  // By caller: in order of appearance, a call before those inside it; a node shared by several places of an expression
  // once.
  std::vector<std::vector<CallSite>> calls;
  std::vector<std::vector<std::size_t>> callers;  // by callee: each once, ascending
};

// O(size of the module · log functions).
[[nodiscard]] CallGraph call_graph(const tir::Module& module);

// The roots and the functions that their calls reach, callees before callers: depth first, in the order of the roots
// and of the calls. Without opaque functions and what only they call. Throws Error of kind archive (place: function
// name) if a function calls itself, directly or through others. O(functions + calls).
[[nodiscard]] std::vector<std::size_t> callees_first(const tir::Module& module, const CallGraph& graph,
                                                     const std::vector<std::size_t>& roots);

// The same for all functions.
[[nodiscard]] std::vector<std::size_t> callees_first(const tir::Module& module, const CallGraph& graph);

// Error of kind archive about a function: its name is the place.
[[noreturn]] void fail_in(const tir::Function& function, std::string message);

// The error that `callees_first` throws.
[[noreturn]] void fail_recursion(const tir::Function& function);

}  // namespace usmp::program

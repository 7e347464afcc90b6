// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The entry as the list of its calls: what is passed to whom, where, and what else it does with its variables.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "usmp/tir/ir.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::program {

// Function::target of C that is kept as text: a name of no target, so that the function is opaque.
inline constexpr std::string_view kept_c_target = "extern";

// A call of a function of the module with as many arguments as it has parameters.
struct EntryCall {
  std::size_t statement = 0;          // index into the entry's body
  std::size_t callee = 0;             // index into Module::functions
  std::vector<tir::VarId> arguments;  // by parameter; not valid() where the argument is not a variable
  bool passes_variables_only = true;  // all of them are valid
  bool is_opaque = false;             // the callee is opaque (tir::is_opaque)
  bool is_nested = false;             // it is in a block inside the statement
  bool is_plain = false;              // the statement does nothing else (plain_call)
};

struct EntryCalls {
  std::vector<EntryCall> calls;  // in order of appearance, a call before those inside it
  // Variables used other than as arguments of these: read, stored to, part of an argument, …
  std::set<tir::VarId> used_otherwise;
  std::set<std::size_t> called_otherwise;  // functions of the module in calls that are not listed
};

// O(size of the entry · log).
[[nodiscard]] EntryCalls entry_calls(const tir::Module& module);

// The call by name, if the statement does nothing else: its result is dropped or compared with a constant, and its
// arguments call nothing. Nothing for any other statement. Points into `stmt`.
[[nodiscard]] std::optional<tir::NamedCall> plain_call(const tir::Stmt& stmt);

// Whether it calls what may do more than a kernel does with what it is handed: kept C, or the firmware's, of which
// nobody knows whether it logs, or starts a device that the next call waits for. Operators of TVM that are not in the
// module, tvmgen_…, are kernels. O(log functions).
[[nodiscard]] bool may_act(const tir::Module& module, const tir::NamedCall& call);

}  // namespace usmp::program

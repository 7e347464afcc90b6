// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What each statement of the entry function does to storage that exists before and after it. For passes that move
// statements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "usmp/liveness/liveness.hpp"
#include "usmp/problem/problem.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::liveness {

// Storage that a statement of the entry may share with another one.
struct Storage {
  enum class Kind : std::uint8_t {
    parameter,  // of the entry
    workspace,  // an Allocate of the entry
    constant,   // an AllocateConst of the entry
  };
  tir::VarId var;
  Kind kind = Kind::workspace;
  Bytes size = 0;  // 0 for what takes no workspace: constants, sizes not known, parameters without workspace_io
};

// All accesses of one statement to one storage.
struct Use {
  std::size_t storage = 0;  // index into EntryUses::storages
  LiveRange ticks;          // from the first access to after the last; tick 0 is the statement's first
  bool reads = false;
  bool writes = false;
};

// Storage that exists within one statement only: allocated by an operator.
struct InnerRange {
  tir::VarId var;
  LiveRange ticks;  // as above
  Bytes size = 0;
};

struct StatementUses {
  Tick ticks = 0;         // how many
  std::vector<Use> uses;  // by storage, each once
  std::vector<InnerRange> inner;
  // It calls a function that is not analysed, may have side effects and is passed no storage: it could do anything.
  bool calls_blindly = false;
};

struct EntryUses {
  std::vector<Storage> storages;          // parameters of the entry, then declarations in execution order
  std::vector<StatementUses> statements;  // by index in the entry's body
  bool escapes = false;                   // a pointer escapes: nothing is known about who accesses what
};

// Follows calls and aliases as `analyse` does, with the same ticks. With Options::workspace_io the inputs and outputs
// have sizes. Throws as `analyse` does. O(steps of `analyse`).
[[nodiscard]] EntryUses entry_uses(const tir::Module& module, const Options& options = {});

}  // namespace usmp::liveness

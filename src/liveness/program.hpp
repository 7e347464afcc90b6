// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What liveness needs to know of a function, as a flat list of operations: statements without their arithmetic. Built
// once a function, walked once a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "usmp/program/pointers.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::liveness {

using program::PointerSet;  // empty: nothing that is planned
using program::Slot;        // index into the frame of a call

// Storage of the function. Exactly one of the two is set; both live as long as the module.
struct Declaration {
  const tir::Allocate* allocate = nullptr;
  const tir::AllocateConst* constant = nullptr;

  [[nodiscard]] tir::VarId var() const { return allocate != nullptr ? allocate->var : constant->var; }
};

struct Op {
  enum class Kind : std::uint8_t {
    tick,        // the statement ends here
    access,      // of what `slot` points to, by the function `index`
    escape,      // what `slot` points to can from here on be accessed at any time
    declare,     // `slot` points to a new instance of declarations[index]
    bind,        // `slot` points to what pointer_sets[index] point to
    loop_begin,  // until loop_end, everything may run again; loops[index] unless that is no_loop
    loop_end,
    call,    // walks the body of calls[index]
    opaque,  // calls[index] is called and not walked; its accesses stand beside it
  };
  Kind kind = Kind::tick;
  bool reads = false;               // access
  bool writes = false;              // access
  std::uint16_t element_bytes = 1;  // access
  Slot slot = 0;
  std::uint32_t index = 0;
};

inline constexpr std::uint32_t no_loop = UINT32_MAX;  // a while, or a statement with several calls

struct Program {
  std::vector<Op> ops;
  std::vector<const tir::For*> loops;
  std::vector<tir::VarId> slot_vars;  // by Slot
  std::vector<Declaration> declarations;
  std::vector<PointerSet> pointer_sets;
  std::vector<program::PointerCall> calls;
  std::vector<Slot> params;             // by parameter
  std::vector<std::size_t> statements;  // by statement of the function's own block: the first of its ops
  std::size_t slots = 0;
};

// Throws Error of kind archive, see analyse.
[[nodiscard]] Program compile(const tir::Module& module, std::size_t function);

}  // namespace usmp::liveness

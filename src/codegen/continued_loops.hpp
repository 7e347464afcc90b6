// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops over rows that go on where they ended in the iteration before of the loop around them: their variable stands
// outside, and no first value is computed.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::codegen {

struct ContinuedLoops {
  struct Loop {
    tir::VarId var;
    std::int64_t first = 0;  // value of the variable
  };
  // By the variable of the loop in front of which they are declared: those inside of it, outer ones first.
  std::unordered_map<tir::VarId, std::vector<Loop>> declared_at;
  std::unordered_set<tir::VarId> vars;
};

// Proved by their bounds in every iteration of the loop around, which has no more than 65536. O(iterations).
[[nodiscard]] ContinuedLoops continued_loops(const tir::Block& body);

}  // namespace usmp::codegen

// The statements of an operator, in program order, with the values that C computes for variables there and how often a
// statement runs. Proofs about indices use walk.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "usmp/arith/ranges.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

struct Place {
  arith::Ranges& ranges;             // of the variables in scope
  std::optional<std::int64_t> runs;  // at most so often in a call of the function; nothing: not known
};

// Calls `visit` for each statement, before the blocks inside it. `ranges`: what is known at the start.
void walk_operator(const tir::Function& function, arith::Ranges ranges,
                   const std::function<void(const tir::Stmt&, const Place&)>& visit);

}  // namespace usmp::loops

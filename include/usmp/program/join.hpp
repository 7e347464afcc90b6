// SPDX-License-Identifier: Apache-2.0
// Joining two calls into one.
#pragma once

#include <optional>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::program {

// A function with the variables that a call passes to it, one per parameter.
struct PassedFunction {
  const tir::Function& function;
  const std::vector<tir::VarId>& arguments;
};

struct JoinedFunction {
  tir::Function function;
  std::vector<tir::VarId> arguments;  // of its call: those of both, each once, without the storage between the two
  tir::VarId inner;                   // that storage, inside the function
};

// A function that does what `first` does and then what `second` does, with the storage declared by `between`, which the
// first writes for the second, as a local buffer. All its variables are new in `module`, which also owns the variables
// of both functions; its name and other attributes are those of the second. Nothing: the storage is not a whole number
// of elements of its parameter. O(size of both · log).
[[nodiscard]] std::optional<JoinedFunction> joined(tir::Module& module, const PassedFunction& first,
                                                   const PassedFunction& second, const tir::Allocate& between);

}  // namespace usmp::program

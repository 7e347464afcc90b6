// Two calls as one.
#pragma once

#include <optional>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::program {

// A function with the variables that a call passes to it, one a parameter.
struct PassedFunction {
  const tir::Function& function;
  const std::vector<tir::VarId>& arguments;
};

struct JoinedFunction {
  tir::Function function;
  std::vector<tir::VarId> arguments;  // of its call: those of both, each once, without the storage between them
  tir::VarId inner;                   // what that storage is in the function
};

// A function that does what `first` does and then what `second` does, in which the storage that `between` declares,
// which the first writes for the second, is a buffer. All of its variables are new in `module`, of which the functions'
// variables are, too; its name and all else is that of the second. Nothing: the storage is no whole number of elements
// of the parameter that it is passed for. O(size of both · log).
[[nodiscard]] std::optional<JoinedFunction> joined(tir::Module& module, const PassedFunction& first,
                                                   const PassedFunction& second, const tir::Allocate& between);

}  // namespace usmp::program

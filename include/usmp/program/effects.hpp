// What a function does to the storage that it is passed, callees included.
#pragma once

#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::program {

// Through a parameter, or a pointer that is made of it; perhaps.
struct ParamEffects {
  bool is_read = false;
  bool is_written = false;
  bool escapes = false;  // it gets out of sight (see pointers.hpp): anybody may read and write later

  [[nodiscard]] bool may_be_written() const { return is_written || escapes; }
};

// By function index and parameter index; all of an opaque function is read and written. Throws Error of kind archive
// (place: function name): recursion, a wrong number of arguments, a pointer whose storage cannot be told. O(size of the
// module · log).
[[nodiscard]] std::vector<std::vector<ParamEffects>> param_effects(const tir::Module& module);

}  // namespace usmp::program

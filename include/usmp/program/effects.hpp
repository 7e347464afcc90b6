// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a function, including its callees, does to the storage that it is passed.
#pragma once

#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::program {

// Possible effects through a parameter or a pointer derived from it.
struct ParamEffects {
  bool is_read = false;
  bool is_written = false;
  bool escapes = false;  // the pointer escapes (see pointers.hpp): any code may read and write later

  [[nodiscard]] bool may_be_written() const { return is_written || escapes; }
};

// By function index and parameter index; an opaque function reads and writes all its parameters. Throws Error of kind
// archive (place: function name): recursion, a wrong number of arguments, a pointer whose storage is unknown. O(size of
// the module · log).
[[nodiscard]] std::vector<std::vector<ParamEffects>> param_effects(const tir::Module& module);

}  // namespace usmp::program

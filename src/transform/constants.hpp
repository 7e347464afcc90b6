// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Constants in their smallest exact form.
#pragma once

#include <vector>

#include "usmp/tir/ir.hpp"
#include "usmp/transform/transform.hpp"

namespace usmp::transform {

// - Constants that are added to one number become one (added_constants.hpp).
// - A constant all of whose elements are equal becomes a literal where it is read, and its storage vanishes.
// - An integer constant whose values all fit a narrower type of whole bytes is stored in that and widened where it is
//   read. Casts of what is widened are joined: int32(int16(x)) of an int8 is int32(x).
// - Equal constants of one block are stored once; equal ones elsewhere share their data (see tir::AllocateConst).
//
// Only where every use of the constant is the load of a single element of the constant's own type. A constant that is
// handed to a function of the module counts as used by that function, which must get a constant there from all its
// callers; these change together. A parameter that has become a literal is dropped. Everything else (addresses,
// vectors, other types, predicates, functions of others) leaves the constant alone.
//
// O(nodes + bytes of constants · log).
[[nodiscard]] std::vector<Change> shrink_constants(tir::Module& module);

}  // namespace usmp::transform

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::lower {

// Storage with a ring becomes plain storage: accesses name the place (tir::Ring::place) instead of the element. What
// depends on the row only is bound once in the body of the innermost loop that counts rows. Elements of all accesses
// that are executed are within the tensor. O(nodes of the functions with rings).
void place_rings(tir::Module& module);

}  // namespace usmp::lower

// Loops in the shape of which compilers make good code. TIR to TIR; what is read, computed and written, and in which
// order, stays the same, and so do plan and memory.
#pragma once

#include "usmp/lower/lower.hpp"

namespace usmp::lower {

// An operator: zero, of which compilers are not to know that it is. `tir.call` without arguments, int32.
inline constexpr const char* hidden_zero = "usmp.hidden_zero";

// - Innermost loops that ask a condition which does not change in them become a branch around two loops
//   (src/lower/unswitch.hpp).
// - Loops that add to more sums than registers hold become one loop after the other (src/lower/split_sums.hpp).
// - Long sums of products of bytes are written so that the products count as 32 bits wide
// (src/lower/wide_products.hpp). O(size of the module).
[[nodiscard]] Lowered shape_loops(Lowered lowered);

}  // namespace usmp::lower

// Loops in the shape of which compilers make good code. TIR to TIR; what is read, computed and written for each
// element, and in which order, stays the same, and so do plan and memory.
#pragma once

#include "usmp/lower/lower.hpp"

namespace usmp::lower {

// - Innermost loops that ask a condition which does not change in them become a branch around two loops
//   (src/lower/unswitch.hpp).
// - Loops that add to more sums than registers hold become one loop after the other (src/lower/split_sums.hpp).
// - Sums that are added up one after the other become some side by side (src/lower/jam_sums.hpp).
// - Long sums of products of bytes are written so that the products count as 32 bits wide
//   (src/lower/wide_products.hpp).
// O(size of the module).
[[nodiscard]] Lowered shape_loops(Lowered lowered);

}  // namespace usmp::lower

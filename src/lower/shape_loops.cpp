#include "usmp/lower/shape_loops.hpp"

#include "lower/jam_sums.hpp"
#include "lower/split_sums.hpp"
#include "lower/unswitch.hpp"
#include "lower/wide_products.hpp"

namespace usmp::lower {

Lowered shape_loops(Lowered lowered) {
  unswitch(lowered.module);
  split_sums(lowered.module);
  jam_sums(lowered.module);
  widen_products(lowered.module);
  return lowered;
}

}  // namespace usmp::lower

#include "usmp/shape/shape_loops.hpp"

#include "shape/jam_sums.hpp"
#include "shape/split_sums.hpp"
#include "shape/unswitch.hpp"
#include "shape/wide_products.hpp"

namespace usmp::shape {

void shape_loops(tir::Module& module) {
  unswitch(module);
  split_sums(module);
  jam_sums(module);
  widen_products(module);
}

}  // namespace usmp::shape

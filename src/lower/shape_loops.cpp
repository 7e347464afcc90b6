#include "usmp/lower/shape_loops.hpp"

#include <utility>

#include "lower/jam_sums.hpp"
#include "lower/split_sums.hpp"
#include "lower/unswitch.hpp"
#include "lower/wide_products.hpp"
#include "usmp/tir/verify.hpp"

namespace usmp::lower {

Lowered shape_loops(Lowered lowered) {
  constexpr std::pair<const char*, void (*)(tir::Module&)> passes[] = {
      {"unswitch", unswitch}, {"split_sums", split_sums}, {"jam_sums", jam_sums}, {"widen_products", widen_products}};
  for (const auto& [name, pass] : passes) {
    pass(lowered.module);
    tir::check_pass(lowered.module, name, tir::Form::outlined);
  }
  return lowered;
}

}  // namespace usmp::lower

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Runs the passes one after another, and has the form of what each leaves checked.
#include "usmp/shape/shape_loops.hpp"

#include <utility>

#include "shape/collapse.hpp"
#include "shape/jam_sums.hpp"
#include "shape/split_sums.hpp"
#include "shape/unroll.hpp"
#include "shape/unswitch.hpp"
#include "usmp/tir/verify.hpp"

namespace usmp::shape {

void shape_loops(tir::Module& module) {
  constexpr std::pair<const char*, void (*)(tir::Module&)> passes[] = {{"unswitch", unswitch},
                                                                       {"split_sums", split_sums},
                                                                       {"jam_sums", jam_sums},
                                                                       {"collapse", collapse},
                                                                       {"unroll", unroll}};
  for (const auto& [name, pass] : passes) {
    pass(module);
    tir::check_pass(module, name, tir::Form::outlined);
  }
}

}  // namespace usmp::shape

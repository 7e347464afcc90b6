// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Runs the passes in their order, and checks the module after each.
#include "usmp/kernels/kernels.hpp"

#include "kernels/blocks.hpp"
#include "kernels/held_sums.hpp"
#include "kernels/product_sum.hpp"
#include "kernels/requantize.hpp"
#include "kernels/shared_data.hpp"
#include "kernels/small_windows.hpp"
#include "kernels/weights.hpp"
#include "kernels/wide_sums.hpp"
#include "usmp/tir/verify.hpp"

namespace usmp::kernels {

void prepare(tir::Module& module, const Core& core) {
  expand_names_in_sums(module);
  part_wide_sums(module);
  tir::check_pass(module, "part_wide_sums");
  part_sums_of_shared_data(module);
  tir::check_pass(module, "part_sums_of_shared_data");
  take_small_windows(module, core);
  tir::check_pass(module, "take_small_windows");
  lay_out_weights(module, core);
  tir::check_pass(module, "lay_out_weights");
  requantize(module);
  tir::check_pass(module, "requantize");
}

void write_kernels(tir::Module& module, const Core& core) {
  block_sums(module, core);
  tir::check_pass(module, "block_sums", tir::Form::outlined);
  hold_sums(module, core.sums, core.in_rows);
  tir::check_pass(module, "hold_sums", tir::Form::outlined);
}

}  // namespace usmp::kernels

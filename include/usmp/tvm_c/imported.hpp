// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// C that functions of TIR import, such as the kernels of TVM's schedules for Cortex-M.
#pragma once

#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

// Calls of functions that Function::imported_c defines become what these do, where it is understood, like helpers in C
// of TVM's (docs/archives.md). What is not understood stays a call, with its C. Changes nothing that the module
// computes. O(size of the functions that import C + what is read).
void read_imported(tir::Module& module);

}  // namespace usmp::tvm_c

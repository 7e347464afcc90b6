// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// C that functions of TIR import, such as the kernels of TVM's schedules for Cortex-M.
#pragma once

#include <vector>

#include "usmp/tir/ir.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// Calls of functions that Function::imported_c defines become what these do, where it is understood, like helpers in C
// of TVM's (docs/archives.md). What is not understood stays a call, with its C, and is returned, in order; its file is
// "imported C". Changes nothing that the module computes. O(size of the functions that import C + what is read).
std::vector<UnreadCall> read_imported(tir::Module& module);

}  // namespace usmp::tvm_c

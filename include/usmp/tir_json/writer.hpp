// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// tir::Module → the graph that tvm.ir.save_json writes, as TVM 0.17 and 0.18 spell it.
#pragma once

#include "usmp/support/text.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tir_json {

// A key of annotations that no TVM has: the Allocate is an array of the operator's function (Allocate::was_on_stack).
inline constexpr const char* stack_array_annotation = "usmp_stack_array";

// The module as front ends make it: no rings, no variables of C (Allocate::on_stack), no operators that only this
// program has; of these it throws std::logic_error. read_module gives the same module back, its variables in the order
// in which bodies name them; constants that are true are left out. The same module gives the same bytes.
// O(module), a shared expression once.
void write_module(const tir::Module& module, TextSink& sink);

}  // namespace usmp::tir_json

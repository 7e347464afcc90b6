// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Parameters of functions that are tensors: their types, and which of the entry's is which member of the header.
#pragma once

#include <string>
#include <vector>

#include "tvm_c/text/file_scope.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

// As TVM's TIR has them: "input" for "input_buffer_var"; a pointer to void is one to what is accessed through it.
void name_params(tir::Function& function, tir::Module& module);

// An input or output of the entry that stands in a pool: what it is passed for says of what it is.
void type_entry_params(tir::Module& module);

// What somebody's functions get of the entry's parameters is an input or an output, or a tensor's memory. Throws
// SyntaxError with a place in the entry's file: nothing says of which type it is.
void require_typed_params(const FunctionText& entry, const FileScope& scope, const tir::Module& module);

// tvmgen_MODULE_run (`run`) says of which member a parameter of the entry is: entry(inputs->x, outputs->y). Where names
// of parameters are others, they become those of the members. Nothing changes if arguments are computed, or variables:
// such a function is no TVM's. Throws SyntaxError with a place in run's file: an argument is not understood, nothing
// says which struct is which, or an input and one of several outputs have one name.
void name_by_run(const FunctionText& run, const FunctionText& entry, const std::string& symbol,
                 const std::string& entry_name, tir::Module& module);

}  // namespace usmp::tvm_c

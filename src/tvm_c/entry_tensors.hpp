// SPDX-License-Identifier: Apache-2.0
// Parameters of functions that are tensors: their types, and which of the entry's is which member of the header.
#pragma once

#include <optional>
#include <string>

#include "tvm_c/file_scope.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

// As TVM's TIR has them: "input" for "input_buffer_var"; a pointer to void is one to what is accessed through it.
void name_params(tir::Function& function, tir::Module& module);

// An input or output of the entry that stands in a pool: what it is passed for says of what it is.
void type_entry_params(tir::Module& module);

struct UntypedParam {
  std::string name;
  std::string callee;  // somebody's, which gets it
};
[[nodiscard]] std::optional<UntypedParam> untyped_entry_param(const tir::Module& module, const FileScope& scope);

// tvmgen_MODULE_run (`run`) says of which member a parameter of the entry is: entry(inputs->x, outputs->y). Where names
// of parameters are others, they become those of the members. Nothing changes if the call has other arguments. Throws
// SyntaxError with a place in run's file: an input and one of several outputs have one name.
void name_by_run(const FunctionText& run, const FunctionText& entry, const std::string& symbol,
                 const std::string& entry_name, tir::Module& module);

}  // namespace usmp::tvm_c

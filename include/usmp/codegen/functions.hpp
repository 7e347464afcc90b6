// SPDX-License-Identifier: Apache-2.0
// The operators' file: function bodies from lowered TIR. Internal to codegen and its tests.
#pragma once

#include <string>
#include <vector>

#include "usmp/codegen/codegen.hpp"

namespace usmp::codegen {

// Writes M_lib1.c: helpers in use, prototypes of foreign functions, constants, functions (callees before callers), the
// entry last. `check_functions` is what module_files runs first: it throws for every construct without a C translation.
void write_functions(const PlannedModule& module, TextSink& sink);
void check_functions(const PlannedModule& module);

// C name of the function of the lowered module: its global_symbol, sanitised.
[[nodiscard]] std::string function_c_name(const tir::Function& function);

// C declaration of a function without ';', e.g. "int32_t tvmgen_default_f(const int8_t* p0, int16_t* T_cast, uint8_t*
// sram)". Parameters that neither the function nor its callees write are pointers to const.
[[nodiscard]] std::string function_declaration(const PlannedModule& module, std::size_t function);

}  // namespace usmp::codegen

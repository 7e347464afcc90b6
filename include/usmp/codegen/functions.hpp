// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The operators' file: function bodies from lowered TIR. Internal to codegen and its tests.
#pragma once

#include <memory>
#include <string>

#include "usmp/codegen/codegen.hpp"

namespace usmp::codegen {

// M_lib1.c: helpers in use, prototypes of foreign functions, constants, functions (callees before callers), the entry
// last. All but the constants' data is printed at once, and refers to the module.
class Functions {
 public:
  // Throws Error of kind archive for every construct without a C translation.
  explicit Functions(const EmissionInput& module);

  void write(TextSink& sink) const;

  // C declaration without ';', e.g. "int32_t tvmgen_default___tvm_main__(const int8_t* data, int16_t* output, uint8_t*
  // sram)". Parameters that neither the entry nor its callees write are pointers to const.
  [[nodiscard]] std::string declaration_of_entry() const;

 private:
  struct Printed;
  std::shared_ptr<const Printed> printed_;
};

// C name of the function of the lowered module: its global_symbol, sanitised.
[[nodiscard]] std::string function_c_name(const tir::Function& function);

}  // namespace usmp::codegen

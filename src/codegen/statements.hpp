// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// One function of the module as C text.
#pragma once

#include <cstddef>
#include <string>

#include "codegen/expressions.hpp"

namespace usmp::codegen {

// "int32_t f(const int8_t* p0, uint8_t* sram)", "void f(void)".
[[nodiscard]] std::string signature(const tir::Module& module, const FunctionFacts& facts,
                                    const tir::Function& function);

// Comment, helpers made for let expressions, and definition. Throws Error of kind archive for what has no C.
[[nodiscard]] std::string print_function(FileContext& file, std::size_t function);

}  // namespace usmp::codegen

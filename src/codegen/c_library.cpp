// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lists functions on memory and of output; the mathematical ones are those of TIR's operators.
#include "codegen/c_library.hpp"

#include <algorithm>
#include <array>

#include "usmp/tir/ops.hpp"

namespace usmp::codegen {
namespace {

constexpr std::array string_functions = {"memcpy", "memmove", "memset", "memcmp"};
constexpr std::array output_functions = {"printf", "puts", "putchar"};

}  // namespace

std::string_view standard_header_of(std::string_view c_function) {
  if (std::ranges::find(string_functions, c_function) != string_functions.end()) return "string.h";
  if (std::ranges::find(output_functions, c_function) != output_functions.end()) return "stdio.h";
  const bool is_math = std::ranges::any_of(tir::all_ops(), [&](const tir::OpInfo& op) {
    const bool is_float_variant = c_function.ends_with('f') && c_function.substr(0, c_function.size() - 1) == op.c_name;
    return !op.c_name.empty() && (c_function == op.c_name || is_float_variant);
  });
  return is_math ? "math.h" : std::string_view();
}

}  // namespace usmp::codegen

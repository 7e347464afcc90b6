// TIR's elementwise operators and the C functions that compute them.
#pragma once

#include <cstddef>
#include <string_view>

namespace usmp::codegen {

// A function of math.h: `c_name` for double, with the suffix 'f' for float.
struct MathFunction {
  std::string_view op;  // "tir.exp"
  std::string_view c_name;
  std::size_t arity = 1;
};

// Nothing (nullptr) if the operator is not one of math.h.
[[nodiscard]] const MathFunction* find_math_function(std::string_view op);

// Whether the operator only gives a value, so that a statement of it alone can be dropped. False for what is not known.
[[nodiscard]] bool is_pure_operator(std::string_view op);

// The standard header that declares a C function ("memcpy" → "string.h"); empty if it is in none of those that emitted
// code may include. A call_extern of such a function needs no declaration.
[[nodiscard]] std::string_view standard_header_of(std::string_view c_function);

}  // namespace usmp::codegen

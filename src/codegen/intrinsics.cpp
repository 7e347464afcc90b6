#include "codegen/intrinsics.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "usmp/lower/shape_loops.hpp"

namespace usmp::codegen {
namespace {

constexpr MathFunction math_functions[] = {
    {"tir.acos", "acos"},
    {"tir.acosh", "acosh"},
    {"tir.asin", "asin"},
    {"tir.asinh", "asinh"},
    {"tir.atan", "atan"},
    {"tir.atan2", "atan2", 2},
    {"tir.atanh", "atanh"},
    {"tir.ceil", "ceil"},
    {"tir.copysign", "copysign", 2},
    {"tir.cos", "cos"},
    {"tir.cosh", "cosh"},
    {"tir.erf", "erf"},
    {"tir.exp", "exp"},
    {"tir.exp2", "exp2"},
    {"tir.fabs", "fabs"},
    {"tir.floor", "floor"},
    {"tir.fma", "fma", 3},
    {"tir.fmod", "fmod", 2},
    {"tir.hypot", "hypot", 2},
    {"tir.log", "log"},
    {"tir.log10", "log10"},
    {"tir.log1p", "log1p"},
    {"tir.log2", "log2"},
    {"tir.nearbyint", "nearbyint"},
    {"tir.nextafter", "nextafter", 2},
    {"tir.pow", "pow", 2},
    {"tir.round", "round"},
    {"tir.sin", "sin"},
    {"tir.sinh", "sinh"},
    {"tir.sqrt", "sqrt"},
    {"tir.tan", "tan"},
    {"tir.tanh", "tanh"},
    {"tir.trunc", "trunc"},
};

constexpr std::string_view other_pure_operators[] = {
    "tir.address_of",   "tir.assume",         "tir.bitwise_and",      "tir.bitwise_not",
    "tir.bitwise_or",   "tir.bitwise_xor",    "tir.call_pure_extern", "tir.clz",
    "tir.exp10",        "tir.if_then_else",   "tir.isfinite",         "tir.isinf",
    "tir.isnan",        "tir.isnullptr",      "tir.large_uint_imm",   "tir.likely",
    "tir.popcount",     "tir.prefetch",       "tir.q_multiply_shift", "tir.q_multiply_shift_per_axis",
    "tir.reinterpret",  "tir.rsqrt",          "tir.shift_left",       "tir.shift_right",
    "tir.sigmoid",      "tir.tvm_access_ptr", "tir.type_annotation",  "tir.undef",
    lower::hidden_zero, lower::widened};

constexpr std::array string_functions = {"memcpy", "memmove", "memset", "memcmp"};

}  // namespace

const MathFunction* find_math_function(std::string_view op) {
  const auto* found = std::find_if(std::begin(math_functions), std::end(math_functions),
                                   [&](const MathFunction& function) { return function.op == op; });
  return found == std::end(math_functions) ? nullptr : found;
}

bool is_pure_operator(std::string_view op) {
  return find_math_function(op) != nullptr ||
         std::find(std::begin(other_pure_operators), std::end(other_pure_operators), op) !=
             std::end(other_pure_operators);
}

std::string_view standard_header_of(std::string_view c_function) {
  if (std::find(string_functions.begin(), string_functions.end(), c_function) != string_functions.end()) {
    return "string.h";
  }
  for (const MathFunction& function : math_functions) {
    const bool is_float_variant = !c_function.empty() && c_function.back() == 'f' &&
                                  c_function.substr(0, c_function.size() - 1) == function.c_name;
    if (c_function == function.c_name || is_float_variant) return "math.h";
  }
  return {};
}

}  // namespace usmp::codegen

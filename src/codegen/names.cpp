// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Lists what C, its headers and compilers reserve, and numbers names until one is free.
#include "codegen/names.hpp"

#include <algorithm>

#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::codegen {
namespace {

// C99/C11/C23 and C++ keywords, alternative tokens, macros and functions of the headers that the file may include,
// object-like macros that compilers predefine without underscores.
const std::set<std::string, std::less<>>& reserved_names() {
  static const std::set<std::string, std::less<>> names = {
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
      "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const",
      "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
      "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "far", "final", "float", "for", "friend",
      "goto", "if", "import", "inline", "int", "interrupt", "long", "module", "mutable", "namespace", "near", "new",
      "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "override", "private", "protected", "public",
      "register", "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "sizeof", "static",
      "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true", "try",
      "typedef", "typeid", "typename", "typeof", "typeof_unqual", "union", "unsigned", "using", "virtual", "void",
      "volatile", "wchar_t", "while", "xor", "xor_eq",
      // stddef.h, stdint.h, string.h, and what they may bring along
      "NULL", "offsetof", "size_t", "ptrdiff_t", "max_align_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t",
      "uint16_t", "uint32_t", "uint64_t", "intptr_t", "uintptr_t", "intmax_t", "uintmax_t", "INT8_MIN", "INT16_MIN",
      "INT32_MIN", "INT64_MIN", "INT8_MAX", "INT16_MAX", "INT32_MAX", "INT64_MAX", "UINT8_MAX", "UINT16_MAX",
      "UINT32_MAX", "UINT64_MAX", "SIZE_MAX", "PTRDIFF_MIN", "PTRDIFF_MAX", "INTPTR_MIN", "INTPTR_MAX", "UINTPTR_MAX",
      "INTMAX_MIN", "INTMAX_MAX", "UINTMAX_MAX", "WCHAR_MIN", "WCHAR_MAX", "WINT_MIN", "WINT_MAX", "SIG_ATOMIC_MIN",
      "SIG_ATOMIC_MAX", "INT8_C", "INT16_C", "INT32_C", "INT64_C", "UINT8_C", "UINT16_C", "UINT32_C", "UINT64_C",
      "INTMAX_C", "UINTMAX_C", "memcpy", "memmove", "memset", "memcmp", "memchr", "strlen", "strcpy", "strcmp", "index",
      "rindex", "main", "errno", "assert", "linux", "unix", "i386", "arm", "mips", "sparc", "sun", "vax", "near",
      "huge",
      // math.h
      "HUGE_VAL", "HUGE_VALF", "HUGE_VALL", "INFINITY", "NAN", "FP_INFINITE", "FP_NAN", "FP_NORMAL", "FP_SUBNORMAL",
      "FP_ZERO", "FP_ILOGB0", "FP_ILOGBNAN", "FP_FAST_FMA", "FP_FAST_FMAF", "FP_FAST_FMAL", "MATH_ERRNO",
      "MATH_ERREXCEPT", "math_errhandling", "signgam", "isnan", "isinf", "isfinite", "isnormal", "signbit",
      "fpclassify", "isgreater", "isgreaterequal", "isless", "islessequal", "islessgreater", "isunordered", "M_E",
      "M_LOG2E", "M_LOG10E", "M_LN2", "M_LN10", "M_PI", "M_PI_2", "M_PI_4", "M_1_PI", "M_2_PI", "M_2_SQRTPI", "M_SQRT2",
      "M_SQRT1_2", "MAXFLOAT", "OVERFLOW", "UNDERFLOW", "DOMAIN", "SING", "PLOSS", "TLOSS", "HUGE", "X_TLOSS", "I",
      "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "erf",
      "erfc", "exp", "exp10", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "frexp", "gamma",
      "hypot", "ilogb", "j0", "j1", "jn", "ldexp", "lgamma", "llrint", "llround", "log", "log10", "log1p", "log2",
      "logb", "lrint", "lround", "modf", "nan", "nearbyint", "nextafter", "nexttoward", "pow", "remainder", "remquo",
      "rint", "round", "scalb", "scalbln", "scalbn", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc", "y0",
      "y1", "yn"};
  return names;
}

// Whether it begins like a helper or macro of the emitted file, or like a function of the runtime.
bool has_reserved_prefix(std::string_view name) {
  return name.starts_with("usmp_") || name.starts_with("USMP_") || name.starts_with("TVMBackend");
}

}  // namespace

bool is_reserved_name(std::string_view name) {
  const auto& names = reserved_names();
  if (names.contains(name)) return true;
  // float and long double variants of the math functions
  const bool has_variant_suffix = !name.empty() && (name.back() == 'f' || name.back() == 'l');
  if (has_variant_suffix && names.contains(name.substr(0, name.size() - 1))) return true;
  return has_reserved_prefix(name);
}

void require_own_names(std::string_view text, const std::set<std::string>& macros,
                       const std::function<bool(const std::string& name)>& is_taken) {
  while (!text.empty()) {
    const std::size_t comment = std::min(text.find("/*"), text.find("//"));
    for_each_identifier(text.substr(0, comment), [&](std::string_view word) {
      const std::string name(word);
      const bool is_own = name.starts_with("usmp_");
      if (macros.contains(name) && (is_own || !is_reserved_name(name))) {
        throw Error(ErrorKind::archive, {},
                    "found macro " + in_quotes(name) +
                        " in the model's header or one that it includes, a name of planned C's, expected another");
      }
      if (is_own && is_taken(name)) {
        throw Error(
            ErrorKind::archive, {},
            "found " + in_quotes(name) + " in code that stays or its headers, a name of planned C's, expected another");
      }
    });
    if (comment == std::string_view::npos) return;
    const bool is_line = text[comment + 1] == '/';
    const std::size_t end = text.find(is_line ? "\n" : "*/", comment + 2);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + (is_line ? 1 : 2));
  }
}

bool NameTable::is_free(const std::string& name) const {
  for (const NameTable* table = this; table != nullptr; table = table->parent_) {
    if (table->taken_.contains(name)) return false;
  }
  return true;
}

bool NameTable::take(const std::string& name) {
  if (is_reserved_name(name) || !is_free(name)) return false;
  taken_.insert(name);
  return true;
}

std::string NameTable::unique(std::string_view tvm_name) {
  std::string base = c_identifier(tvm_name);
  if (base[0] == '_' || has_reserved_prefix(base)) base.insert(0, 1, 'v');
  if (take(base)) return base;
  // Names already given out of the form base_N are skipped by `take`; the counter only saves trying them again.
  for (std::size_t& suffix = next_suffix_[base];;) {
    std::string name = base + "_" + std::to_string(++suffix);
    if (take(name)) return name;
  }
}

}  // namespace usmp::codegen

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Fills C templates for the types in use, each once, behind the helpers that it calls.
#include "codegen/helpers.hpp"

#include "codegen/c_types.hpp"
#include "codegen/template_text.hpp"
#include "usmp/tir/integer_types.hpp"

namespace usmp::codegen {
namespace {

// "int32_t" → "i32", "double" → "f64".
std::string suffix_of(const std::string& c_type) {
  if (c_type == "float") return "f32";
  if (c_type == "double") return "f64";
  const std::string bits = c_type.substr(c_type.find('t') + 1);
  return (c_type[0] == 'u' ? "u" : "i") + bits.substr(0, bits.find('_'));
}

constexpr std::string_view min_text = "static inline $t $n($t a, $t b) { return a < b ? a : b; }\n";
constexpr std::string_view max_text = "static inline $t $n($t a, $t b) { return a > b ? a : b; }\n";

// The quotient is corrected when the remainder and the divisor have different signs.
constexpr std::string_view int_floordiv_text =
    "static inline $t $n($t a, $t b) { return a / b - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0); }\n";
constexpr std::string_view int_floormod_text =
    "static inline $t $n($t a, $t b) { return a % b + ((a % b != 0 && (a % b < 0) != (b < 0)) ? b : 0); }\n";
constexpr std::string_view float_floordiv_text = "static inline $t $n($t a, $t b) { return floor$f(a / b); }\n";
constexpr std::string_view float_floormod_text = "static inline $t $n($t a, $t b) { return a - floor$f(a / b) * b; }\n";

constexpr std::string_view complement_text = "static inline $t $n($t x) { return ($t)~x; }\n";
constexpr std::string_view popcount_text =
    "static inline int32_t $n($t x) {\n"
    "  int32_t count = 0;\n"
    "  for (; x != 0; x &= x - 1) ++count;\n"
    "  return count;\n"
    "}\n";
constexpr std::string_view clz_text =
    "static inline int32_t $n($t x) {\n"
    "  int32_t count = 0;\n"
    "  int32_t step;\n"
    "  if (x == 0) return $b;\n"
    "  for (step = $b / 2; step > 0; step /= 2) {\n"
    "    if (x >> ($b - step) == 0) {\n"
    "      count += step;\n"
    "      x <<= step;\n"
    "    }\n"
    "  }\n"
    "  return count;\n"
    "}\n";

constexpr std::string_view load_text =
    "static inline $t $n(const void* base, int64_t i) {\n"
    "  $t value;\n"
    "  memcpy(&value, (const char*)base + i * (int64_t)sizeof value, sizeof value);\n"
    "  return value;\n"
    "}\n";
constexpr std::string_view store_text =
    "static inline void $n(void* base, int64_t i, $t value) {\n"
    "  memcpy((char*)base + i * (int64_t)sizeof value, &value, sizeof value);\n"
    "}\n";
constexpr std::string_view reinterpret_text =
    "static inline $t $n($f value) {\n"
    "  $t result;\n"
    "  memcpy(&result, &value, sizeof result);\n"
    "  return result;\n"
    "}\n";

// x * y * 2^-q with the shift s, as TVM computes it: in 64 bits, rounding to nearest with halves up. The left shift
// wraps like TVM's and, unlike x << s, is defined for negative x.
constexpr std::string_view q_multiply_shift_text =
    "static inline int32_t $n(int32_t x, int32_t y, int32_t q, int32_t s) {\n"
    "  const int32_t shift = (s > 0 ? 0 : -s) + q;\n"
    "  const int64_t shifted = s > 0 ? (int64_t)((uint64_t)(int64_t)x << s) : x;\n"
    "  if (shift > 63) return 0; /* any product rounds to 0 */\n"
    "  return (int32_t)((int64_t)((uint64_t)shifted * (uint64_t)(int64_t)y + ((uint64_t)1 << (shift - 1))) >> shift);\n"
    "}\n";
constexpr std::string_view q_multiply_shift_per_axis_text =
    "static inline int32_t $n(int32_t x, int32_t y, int32_t left, int32_t right, int32_t q, bool is_left) {\n"
    "  const int32_t shift = right + q;\n"
    "  const int64_t shifted = is_left ? (int64_t)((uint64_t)(int64_t)x << left) : x;\n"
    "  if (shift > 63) return 0; /* any product rounds to 0 */\n"
    "  return (int32_t)((int64_t)((uint64_t)shifted * (uint64_t)(int64_t)y + ((uint64_t)1 << (shift - 1))) >> shift);\n"
    "}\n";
constexpr std::string_view round_shift_text =
    "static inline int32_t $n(int32_t x, int32_t e) {\n"
    "  if (e >= 0) return (int32_t)((uint32_t)x << e);\n"
    "  return (int32_t)((uint32_t)x + (1U << (-e - 1))) >> -e;\n"
    "}\n";

// The high half of the product, rounded. Where the shift is a variable, its last bit goes through the carry.
constexpr std::string_view multiply_high_text =
    "USMP_INLINE int32_t $n(int32_t x, int32_t y, int32_t shift) {\n"
    "#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)\n"
    "  const int32_t x0 = x & 0xffff, x1 = x >> 16, y0 = y & 0xffff, y1 = y >> 16;\n"
    "  const int32_t a = x1 * y0 + (int32_t)((uint32_t)x0 * (uint32_t)y0 >> 16);\n"
    "  const int32_t b = x0 * y1 + (a & 0xffff);\n"
    "  int32_t high = x1 * y1 + (a >> 16) + (b >> 16); /* no instruction multiplies to 64 bits */\n"
    "#else\n"
    "  int32_t high = (int32_t)(((int64_t)x * y) >> 32);\n"
    "#endif\n"
    "#if defined(__GNUC__) && defined(__thumb2__)\n"
    "  if (!__builtin_constant_p(shift)) {\n"
    "    __asm__(\"asrs %0, %0, %1\\n\\tadc %0, %0, #0\" : \"+r\"(high) : \"r\"(shift) : \"cc\");\n"
    "    return high;\n"
    "  }\n"
    "#endif\n"
    "  return (high + ((int32_t)1 << (shift - 1))) >> shift;\n"
    "}\n";

// The same with a shift of 0.
constexpr std::string_view round_high_text =
    "USMP_INLINE int32_t $n(int32_t x, int32_t y) {\n"
    "#if defined(__GNUC__) && defined(__thumb2__) && defined(__ARM_FEATURE_DSP)\n"
    "  int32_t high;\n"
    "  __asm__(\"smmulr %0, %1, %2\" : \"=r\"(high) : \"r\"(x), \"r\"(y));\n"
    "  return high;\n"
    "#else\n"
    "  return (int32_t)(((int64_t)x * y + ((int64_t)1 << 31)) >> 32);\n"
    "#endif\n"
    "}\n";

constexpr std::string_view clip_text =
    "USMP_INLINE int32_t $n(int32_t x) {\n"
    "#if defined(__ARM_FEATURE_SAT) && defined(__GNUC__)\n"
    "  int32_t result;\n"
    "  __asm__(\"$i %0, #$b, %1\" : \"=r\"(result) : \"r\"(x));\n"
    "  return result;\n"
    "#else\n"
    "  return x < $l ? $l : x > $h ? $h : x;\n"
    "#endif\n"
    "}\n";

// Half precision by bits. float16: subnormal numbers are scaled through a float whose unit in the last place is theirs,
// so that the addition rounds to nearest even.
constexpr std::string_view f16_to_f32_text =
    "static inline float $n(uint16_t half) {\n"
    "  const uint32_t sign = (uint32_t)(half & 0x8000U) << 16;\n"
    "  const uint32_t rest = (uint32_t)(half & 0x7fffU) << 13;\n"
    "  if (rest >= 0x0f800000U) return $b(sign | rest | 0x7f800000U);\n"
    "  if (rest >= 0x00800000U) return $b(sign | (rest + 0x38000000U));\n"
    "  return (sign ? -1.0f : 1.0f) * ($b(rest + 0x38800000U) - 6.1035156e-05f);\n"
    "}\n";
constexpr std::string_view f32_to_f16_text =
    "static inline uint16_t $n(float value) {\n"
    "  const uint32_t bits = $b(value);\n"
    "  const uint32_t sign = bits >> 16 & 0x8000U;\n"
    "  const uint32_t rest = bits & 0x7fffffffU;\n"
    "  if (rest > 0x7f800000U) return (uint16_t)(sign | 0x7e00U | (rest >> 13 & 0x1ffU));\n"
    "  if (rest >= 0x477ff000U) return (uint16_t)(sign | 0x7c00U);\n"
    "  if (rest < 0x38800000U) return (uint16_t)(sign | ($b($c(rest) + 0.5f) - 0x3f000000U));\n"
    "  return (uint16_t)(sign | ((rest - 0x38000000U + 0x0fffU + (rest >> 13 & 1U)) >> 13));\n"
    "}\n";
constexpr std::string_view bf16_to_f32_text =
    "static inline float $n(uint16_t half) { return $b((uint32_t)half << 16); }\n";
constexpr std::string_view f32_to_bf16_text =
    "static inline uint16_t $n(float value) {\n"
    "  const uint32_t bits = $b(value);\n"
    "  if ((bits & 0x7fffffffU) > 0x7f800000U) return (uint16_t)(bits >> 16 | 0x40U);\n"
    "  return (uint16_t)((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);\n"
    "}\n";
constexpr std::string_view round_half_text = "static inline float $n(float value) { return $u($p(value)); }\n";
// A double goes through a float that is rounded to odd: its last bit says that something was cut off, so that the
// second rounding decides as if it saw the double.
constexpr std::string_view round_double_text =
    "static inline float $n(double value) {\n"
    "  const float nearest = (float)value;\n"
    "  uint32_t bits = $b(nearest);\n"
    "  if ((double)nearest != value && (bits & 0x7fffffffU) < 0x7f800000U && (bits & 1U) == 0U) {\n"
    "    bits += (value < (double)nearest) == (value > 0.0) ? 0xffffffffU : 1U;\n"
    "  }\n"
    "  return $r($c(bits));\n"
    "}\n";

std::string half_name(tir::DataType half) { return half.code == tir::TypeCode::bfloat ? "bf16" : "f16"; }

}  // namespace

std::string Helpers::define(const std::string& name, const std::string& text) {
  if (defined_.insert(name).second) texts_.push_back(text);
  return name;
}

void Helpers::define_inline() {
  define("USMP_INLINE",
         "#ifdef __GNUC__\n"
         "#define USMP_INLINE static inline __attribute__((always_inline))\n"
         "#else\n"
         "#define USMP_INLINE static inline\n"
         "#endif\n");
}

std::string Helpers::use_typed(const std::string& operation, tir::DataType type) {
  // Narrow integers are promoted to int before an operator sees them.
  if (!type.is_float() && type.bits < 32) type = tir::int32_type;
  const bool counts_bits = operation == "popcount" || operation == "clz";
  if (counts_bits) type.code = tir::TypeCode::uint;
  const std::string c_type = value_type(type);
  const std::string name = "usmp_" + operation + "_" + suffix_of(c_type);
  std::string_view text;
  if (operation == "min") text = min_text;
  if (operation == "max") text = max_text;
  if (operation == "floordiv") text = type.is_float() ? float_floordiv_text : int_floordiv_text;
  if (operation == "floormod") text = type.is_float() ? float_floormod_text : int_floormod_text;
  if (operation == "popcount") text = popcount_text;
  if (operation == "clz") text = clz_text;
  if (type.is_float() && operation.starts_with("floor")) need_header("math.h");
  return define(name, fill(text, {{'t', c_type},
                                  {'n', name},
                                  {'f', type.bits == 64 ? "" : "f"},
                                  {'b', std::to_string(static_cast<int>(type.bits))}}));
}

std::string Helpers::complement(tir::DataType type) {
  const std::string c_type = value_type(type);
  const std::string name = "usmp_not_" + suffix_of(c_type);
  return define(name, fill(complement_text, {{'t', c_type}, {'n', name}}));
}

std::string Helpers::load(const std::string& storage_type) {
  need_header("string.h");
  const std::string name = "usmp_load_" + suffix_of(storage_type);
  return define(name, fill(load_text, {{'t', storage_type}, {'n', name}}));
}

std::string Helpers::store(const std::string& storage_type) {
  need_header("string.h");
  const std::string name = "usmp_store_" + suffix_of(storage_type);
  return define(name, fill(store_text, {{'t', storage_type}, {'n', name}}));
}

std::string Helpers::reinterpret(const std::string& from, const std::string& to) {
  need_header("string.h");
  const std::string name = "usmp_" + suffix_of(to) + "_from_" + suffix_of(from) + "_bits";
  return define(name, fill(reinterpret_text, {{'t', to}, {'f', from}, {'n', name}}));
}

std::string Helpers::half_to_float(tir::DataType half) {
  const std::string name = "usmp_" + half_name(half) + "_to_f32";
  const std::string from_bits = reinterpret("uint32_t", "float");
  const std::string_view text = half.code == tir::TypeCode::bfloat ? bf16_to_f32_text : f16_to_f32_text;
  return define(name, fill(text, {{'n', name}, {'b', from_bits}}));
}

std::string Helpers::float_to_half(tir::DataType half) {
  const std::string name = "usmp_f32_to_" + half_name(half);
  const std::string to_bits = reinterpret("float", "uint32_t");
  if (half.code == tir::TypeCode::bfloat) return define(name, fill(f32_to_bf16_text, {{'n', name}, {'b', to_bits}}));
  const std::string from_bits = reinterpret("uint32_t", "float");
  return define(name, fill(f32_to_f16_text, {{'n', name}, {'b', to_bits}, {'c', from_bits}}));
}

std::string Helpers::round_to_half(tir::DataType half) {
  const std::string name = "usmp_round_" + half_name(half);
  const std::string unpack = half_to_float(half);
  const std::string pack = float_to_half(half);
  return define(name, fill(round_half_text, {{'n', name}, {'u', unpack}, {'p', pack}}));
}

std::string Helpers::round_double_to_half(tir::DataType half) {
  const std::string name = "usmp_round_f64_to_" + half_name(half);
  const std::string round = round_to_half(half);
  const std::string to_bits = reinterpret("float", "uint32_t");
  const std::string from_bits = reinterpret("uint32_t", "float");
  return define(name, fill(round_double_text, {{'n', name}, {'r', round}, {'b', to_bits}, {'c', from_bits}}));
}

std::string Helpers::q_multiply_shift() {
  return define("usmp_q_multiply_shift", fill(q_multiply_shift_text, {{'n', "usmp_q_multiply_shift"}}));
}

std::string Helpers::q_multiply_shift_per_axis() {
  need_header("stdbool.h");
  const std::string name = "usmp_q_multiply_shift_per_axis";
  return define(name, fill(q_multiply_shift_per_axis_text, {{'n', name}}));
}

std::string Helpers::multiply_high() {
  define_inline();
  return define("usmp_multiply_high", fill(multiply_high_text, {{'n', "usmp_multiply_high"}}));
}

std::string Helpers::round_high() {
  define_inline();
  return define("usmp_round_high", fill(round_high_text, {{'n', "usmp_round_high"}}));
}

std::string Helpers::clip(tir::DataType limits) {
  define_inline();
  const std::string bits = std::to_string(static_cast<int>(limits.bits));
  const std::string name = (limits.is_int() ? "usmp_clip_i" : "usmp_clip_u") + bits;
  const Interval range = tir::range_of_type(limits).value();
  return define(name, fill(clip_text, {{'n', name},
                                       {'i', limits.is_int() ? "ssat" : "usat"},
                                       {'b', bits},
                                       {'l', std::to_string(range.low)},
                                       {'h', std::to_string(range.high)}}));
}

std::string Helpers::round_shift() {
  return define("usmp_round_shift", fill(round_shift_text, {{'n', "usmp_round_shift"}}));
}

void Helpers::write(TextSink& sink) const {
  for (const std::string& text : texts_) {
    sink.write(text);
    sink.write("\n");
  }
}

}  // namespace usmp::codegen

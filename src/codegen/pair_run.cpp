// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The C functions of sums of products whose weights are pairs (Op::pair_run, paired_weight; src/kernels/pairs.hpp).
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "codegen/assembly.hpp"
#include "codegen/c_types.hpp"
#include "codegen/helpers.hpp"
#include "codegen/template_text.hpp"

namespace usmp::codegen {
namespace {

constexpr std::string_view paired_weight_text =
    "USMP_INLINE int32_t usmp_paired_weight(int32_t pair, int32_t k) {\n"
    "  const int32_t second = ((pair + 128) & 255) - 128;\n"
    "  return (k & 1) != 0 ? second : (pair - second) / 256;\n"
    "}\n";

// Data x and y, the lower and the upper byte of half a word, meet a pair 256 a + b as x · pair + z · b, where z is
//   256 y - x + 127, or, of data without a sign, 256 (y - 128) - x + 255:
// the half with some bits turned over. Apart from what b and the zero point are multiplied with, with which sums begin,
// that is 256 times x a + y b.
constexpr std::string_view pair_run_text =
    "USMP_KERNEL void $n(int32_t* sums, const $x* x, const int16_t* w, int32_t blocks, int32_t fours) {\n"
    "#ifdef USMP_DSP_RUNS\n"
    "  if (((uint32_t)w & 3U) == 0U) {\n"
    "    const $x* const end = x + fours * 4;\n"
    "    for (; blocks > 0; --blocks) {\n"
    "      const $x* p = x;\n"
    "      int32_t s0 = (int32_t)usmp_word(w), s1 = (int32_t)usmp_word(w + 2);\n"
    "      int32_t s2 = (int32_t)usmp_word(w + 4), s3 = (int32_t)usmp_word(w + 6);\n"
    "      uint32_t even, c;\n"
    "      w += 8;\n"
    "      __asm__(\n"
    "        USMP_FOURS(\n"
    "            \"ldr %[c], [%[p]], #4\\n\\t\"\n"
    "            \"ldm %[q]!, {r4, r5, r6, r8}\\n\\t\"\n"
    "            \"$e %[even], %[c]\\n\\t\"\n"
    "            \"eor %[c], %[c], $t\\n\\t\"\n"
    "$i"
    "        )\n"
    "        : [p] \"+&r\"(p), [q] \"+&r\"(w), [s0] \"+&r\"(s0), [s1] \"+&r\"(s1), [s2] \"+&r\"(s2), [s3] "
    "\"+&r\"(s3),\n"
    "          [even] \"=&r\"(even), [c] \"=&r\"(c)\n"
    "        : [fours] \"m\"(fours), [end] \"m\"(end)$m\n"
    "        : \"memory\", \"cc\", \"r4\", \"r5\", \"r6\", \"r8\");\n"
    "      sums[0] = s0 >> 8;\n"
    "      sums[1] = s1 >> 8;\n"
    "      sums[2] = s2 >> 8;\n"
    "      sums[3] = s3 >> 8;\n"
    "      sums += 4;\n"
    "    }\n"
    "    return;\n"
    "  }\n"
    "#endif\n"
    "  for (; blocks > 0; --blocks) {\n"
    "    const $x* p = x;\n"
    "    uint32_t s[4];\n"
    "    int32_t i, k;\n"
    "    for (i = 0; i < 4; ++i) {\n"
    "      s[i] = (uint32_t)w[2 * i] & 0xffffU;\n"
    "      s[i] |= (uint32_t)w[2 * i + 1] << 16;\n"
    "    }\n"
    "    w += 8;\n"
    "    for (k = fours; k > 0; --k) {\n"
    "      const int32_t z0 = 256 * (p[1] - $h) - p[0] + $l, z1 = 256 * (p[3] - $h) - p[2] + $l;\n"
    "      for (i = 0; i < 4; ++i) {\n"
    "        s[i] += (uint32_t)(p[0] * w[0] + z0 * usmp_paired_weight(w[0], 1));\n"
    "        s[i] += (uint32_t)(p[2] * w[1] + z1 * usmp_paired_weight(w[1], 1));\n"
    "        w += 2;\n"
    "      }\n"
    "      p += 4;\n"
    "    }\n"
    "    for (i = 0; i < 4; ++i) *sums++ = (int32_t)s[i] / 256;\n"
    "  }\n"
    "}\n";

// Four terms of four sums, the pairs of each in a word of its own. What a sum waits for stands apart, since a Cortex-M7
// begins two instructions at once.
std::string products_of_words() {
  constexpr std::array<const char*, 4> words = {"r4", "r5", "r6", "r8"};
  Assembly code(12);
  for (const bool is_even : {true, false}) {
    const std::string terms = is_even ? "%[even], " : "%[c], ";
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string word = words[i];
      const std::string sum = "%[s" + std::to_string(i) + "]";
      code.add("smlad " + sum + ", " + terms + word + ", " + sum);
      if (is_even) code.unpack_even(tir::int8_type, word, word);
    }
  }
  return code.text(true);
}

}  // namespace

std::string Helpers::paired_weight() {
  define_inline();
  return define("usmp_paired_weight", std::string(paired_weight_text));
}

std::string Helpers::pair_run(tir::DataType data) {
  paired_weight();
  define_pairs(data, data);  // for usmp_word
  define_fours();
  const bool has_sign = data.is_int();
  const std::string name = "usmp_pair_run_" + short_name(data);
  return define(name, fill(pair_run_text, {{'n', name},
                                           {'x', storage_type(data)},
                                           {'e', has_sign ? "sxtb16" : "uxtb16"},
                                           {'t', has_sign ? "#0x007f007f" : "%[turned]"},
                                           {'m', has_sign ? "" : ", [turned] \"r\"(0x80ff80ffU)"},
                                           {'h', has_sign ? "0" : "128"},
                                           {'l', has_sign ? "127" : "255"},
                                           {'i', products_of_words()}}));
}

}  // namespace usmp::codegen

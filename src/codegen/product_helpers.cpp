// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The C functions of sums of products (Op::dot4, dot_run, lane_product, lane_run, lane_window, window_run).
#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include "codegen/assembly.hpp"
#include "codegen/c_types.hpp"
#include "codegen/helpers.hpp"
#include "codegen/template_text.hpp"

namespace usmp::codegen {
namespace {

// Arm's instructions that multiply two numbers of 16 bits each. They see bytes by twos, 0 and 2, 1 and 3; other
// compilers see the same sums of products of bytes.
constexpr std::string_view dsp_text =
    "#if defined(__ARM_FEATURE_DSP) && !defined(__ARM_BIG_ENDIAN) && defined(__GNUC__)\n"
    "#include <arm_acle.h>\n"
    "#include <string.h>\n"
    "#define USMP_DSP 1\n"
    "#ifdef __clang__\n"
    "#define USMP_BYTES int8x4_t /* as its header has them, also without a sign */\n"
    "#define USMP_HALVES int16x2_t\n"
    "#else\n"
    "#define USMP_BYTES uint8x4_t\n"
    "#define USMP_HALVES uint16x2_t\n"
    "#endif\n"
    "#endif\n";
constexpr std::string_view pairs_text =
    "#ifdef USMP_DSP\n"
    "typedef struct { uint32_t even, odd; } usmp_pairs;\n"
    "static inline __attribute__((always_inline)) uint32_t usmp_word(const void* bytes) {\n"
    "  uint32_t word;\n"
    "  memcpy(&word, bytes, sizeof word);\n"
    "  return word;\n"
    "}\n"
    "static inline __attribute__((always_inline, unused)) usmp_pairs usmp_pairs_of_i8(const void* bytes, int32_t "
    "offset) {\n"
    "  const uint32_t word = usmp_word(bytes);\n"
    "  usmp_pairs pairs;\n"
    "  if (__builtin_constant_p(offset) && offset == 0) {\n"
    "    pairs.even = (uint32_t)__sxtb16((int8x4_t)word);\n"
    "    __asm__(\"sxtb16 %0, %1, ror #8\" : \"=r\"(pairs.odd) : \"r\"(word));\n"
    "  } else {\n"
    "    const uint32_t both = (uint32_t)(offset & 0xffff) | (uint32_t)offset << 16;\n"
    "    pairs.even = (uint32_t)__sxtab16((int16x2_t)both, (int8x4_t)word);\n"
    "    __asm__(\"sxtab16 %0, %1, %2, ror #8\" : \"=r\"(pairs.odd) : \"r\"(both), \"r\"(word));\n"
    "  }\n"
    "  return pairs;\n"
    "}\n"
    "static inline __attribute__((always_inline, unused)) usmp_pairs usmp_pairs_of_u8(const void* bytes, int32_t "
    "offset) {\n"
    "  const uint32_t word = usmp_word(bytes);\n"
    "  usmp_pairs pairs;\n"
    "  if (__builtin_constant_p(offset) && offset == 0) {\n"
    "    pairs.even = (uint32_t)__uxtb16((USMP_BYTES)word);\n"
    "    __asm__(\"uxtb16 %0, %1, ror #8\" : \"=r\"(pairs.odd) : \"r\"(word));\n"
    "  } else {\n"
    "    const uint32_t both = (uint32_t)(offset & 0xffff) | (uint32_t)offset << 16;\n"
    "    pairs.even = (uint32_t)__uxtab16((USMP_HALVES)both, (USMP_BYTES)word);\n"
    "    __asm__(\"uxtab16 %0, %1, %2, ror #8\" : \"=r\"(pairs.odd) : \"r\"(both), \"r\"(word));\n"
    "  }\n"
    "  return pairs;\n"
    "}\n"
    "#endif\n";

// Four numbers of 16 bits as bytes are unpacked, 0 and 2, 1 and 3; or as they lie, 0 and 1, 2 and 3.
constexpr std::string_view halves_text =
    "#ifdef USMP_DSP\n"
    "static inline __attribute__((always_inline)) usmp_pairs usmp_halves_of_i16(const void* halves, int32_t offset) {\n"
    "  usmp_pairs pairs;\n"
    "  (void)offset; /* 0: no other leaves 16 bits */\n"
    "  pairs.even = usmp_word(halves);\n"
    "  pairs.odd = usmp_word((const char*)halves + 4);\n"
    "  return pairs;\n"
    "}\n"
    "static inline __attribute__((always_inline, unused)) usmp_pairs usmp_pairs_of_i16(const void* halves, int32_t "
    "offset) {\n"
    "  const usmp_pairs two = usmp_halves_of_i16(halves, offset);\n"
    "  usmp_pairs pairs;\n"
    "  __asm__(\"pkhbt %0, %1, %2, lsl #16\" : \"=r\"(pairs.even) : \"r\"(two.even), \"r\"(two.odd));\n"
    "  __asm__(\"pkhtb %0, %1, %2, asr #16\" : \"=r\"(pairs.odd) : \"r\"(two.odd), \"r\"(two.even));\n"
    "  return pairs;\n"
    "}\n"
    "#endif\n";

constexpr const char* byte_terms =
    "(uint32_t)((x[0] + offset) * w[0] + (x[1] + offset) * w[1] +\n"
    "                                              (x[2] + offset) * w[2] + (x[3] + offset) * w[3])";
// Two products of 16 bits may add up to more than 32 bits hold.
constexpr const char* wide_terms =
    "(uint32_t)((x[0] + offset) * w[0]) + (uint32_t)((x[1] + offset) * w[1]) +\n"
    "                   (uint32_t)((x[2] + offset) * w[2]) + (uint32_t)((x[3] + offset) * w[3])";

constexpr std::string_view dot4_text =
    "USMP_INLINE int32_t $n(int32_t sum, const $x* x, const $w* w, int32_t offset) {\n"
    "#ifdef USMP_DSP\n"
    "  const usmp_pairs a = usmp_$u_of_$a(x, offset);\n"
    "  const usmp_pairs b = usmp_$u_of_$b(w, 0);\n"
    "  return __smlad((int16x2_t)a.odd, (int16x2_t)b.odd, __smlad((int16x2_t)a.even, (int16x2_t)b.even, sum));\n"
    "#else\n"
    "  return (int32_t)((uint32_t)sum + $t);\n"
    "#endif\n"
    "}\n";

constexpr std::string_view lane_product_text =
    "USMP_INLINE int32_t $n(int32_t sum, const $x* x, const $w* w, int32_t offset, int32_t lane) {\n"
    "#ifdef USMP_DSP\n"
    "  const usmp_pairs a = usmp_pairs_of_$a(x, offset);\n"
    "  const usmp_pairs b = usmp_pairs_of_$b(w, 0);\n"
    "  if (lane == 0) return __smlabb((int32_t)a.even, (int32_t)b.even, sum);\n"
    "  if (lane == 1) return __smlabb((int32_t)a.odd, (int32_t)b.odd, sum);\n"
    "  if (lane == 2) return __smlatt((int32_t)a.even, (int32_t)b.even, sum);\n"
    "  return __smlatt((int32_t)a.odd, (int32_t)b.odd, sum);\n"
    "#else\n"
    "  return (int32_t)((uint32_t)sum + (uint32_t)((x[lane] + offset) * w[lane]));\n"
    "#endif\n"
    "}\n";

constexpr std::string_view kernel_text =
    "#ifdef __clang__\n"
    "#define USMP_KERNEL static __attribute__((noinline))\n"
    "#elif defined(__GNUC__)\n"
    "#define USMP_KERNEL static __attribute__((noinline, noclone))\n"
    "#else\n"
    "#define USMP_KERNEL static\n"
    "#endif\n"
    "#if defined(USMP_DSP) && defined(__thumb2__) && defined(__ARM_FEATURE_UNALIGNED) && \\\n"
    "    defined(__OPTIMIZE__) /* without, too few registers are left */\n"
    "#define USMP_DSP_RUNS 1\n"
    "#endif\n";

// The loop of dot_run_words_text: four terms of four sums. Bytes are unpacked, 0 and 2, 1 and 3; numbers of 16 bits
// that meet them are paired alike, data for all sums, weights never. One instruction loads the weights of all sums, or,
// of 16 bits, of two, to r4, r5, r6 and r8: no compiler uses these for something else, as it does r7 and r9. What a sum
// waits for stands apart, since a Cortex-M7 begins two instructions at once.
std::string dot_run_instructions(tir::DataType data, tir::DataType weight, bool has_offset) {
  Assembly code(12);
  const auto add = [&](const std::string& instruction) { code.add(instruction); };
  const std::string load = "ldm %[q]!, {r4, r5, r6, r8}";
  const bool is_wide = weight.bits == 16;
  std::string low = "%[even]";
  if (data.bits == 16) {
    add(std::string("ldr ") + (is_wide ? "%[even]" : "%[c]") + ", [%[p]], #4");
    add("ldr %[odd], [%[p]], #4");
  } else {
    if (has_offset) add("ldr %[c], %[both]");
    add("ldr %[odd], [%[p]], #4");
  }
  add(load);
  if (data.bits == 8) {
    code.unpack_data(data, has_offset ? "%[c]" : "");
    if (is_wide) {
      low = "%[c]";
      add("pkhbt %[c], %[even], %[odd], lsl #16");
      add("pkhtb %[odd], %[odd], %[even], asr #16");
    }
  } else if (!is_wide) {
    add("pkhbt %[even], %[c], %[odd], lsl #16");
    add("pkhtb %[odd], %[odd], %[c], asr #16");
  }
  static constexpr std::array<const char*, 4> words = {"r4", "r5", "r6", "r8"};
  const auto multiply = [&](int sum, const std::string& terms, const std::string& weights) {
    const std::string to = "%[s" + std::to_string(sum) + "]";
    add("smlad " + to + ", " + terms + ", " + weights + ", " + to);
  };
  if (is_wide) {
    for (const int sum : {0, 2}) {
      if (sum != 0) add(load);
      multiply(sum, low, words[0]);
      multiply(sum + 1, low, words[2]);
      multiply(sum, "%[odd]", words[1]);
      multiply(sum + 1, "%[odd]", words[3]);
    }
    return code.text(true);
  }
  for (int sum = 0; sum < 4; ++sum) {
    const std::string word = words[static_cast<std::size_t>(sum)];
    code.unpack_even(weight, "%[c]", word);
    if (sum != 0) multiply(sum - 1, "%[odd]", words[static_cast<std::size_t>(sum - 1)]);
    code.unpack_odd(weight, word);
    multiply(sum, low, "%[c]");
  }
  multiply(3, "%[odd]", words[3]);
  return code.text(true);
}

// The loop over fours from %[p] to %[end]: four at a time, begun where as many are left as fours divide with a
// remainder; %[c] is free. After LSLS the carry is the second bit of the remainder, and the result not 0 if the first
// is 1.
constexpr std::string_view fours_text =
    "#define USMP_NEXT_FOUR \"ldr %[c], %[end]\\n\\tcmp %[p], %[c]\\n\\tbne 1b\"\n"
    "#ifdef __OPTIMIZE_SIZE__\n"
    "#define USMP_FOURS(four) \"1:\\n\\t\" four USMP_NEXT_FOUR\n"
    "#else\n"
    "#define USMP_FOURS(four) \"ldr %[c], %[fours]\\n\\tands %[c], %[c], #3\\n\\tbeq 1f\\n\\tlsls %[c], %[c], "
    "#31\\n\\t\" "
    "\\\n"
    "  \"bhi 2f\\n\\tbcs 3f\\n\\tb 4f\\n\\t1:\\n\\t\" four \\\n"
    "  \"2:\\n\\t\" four \"3:\\n\\t\" four \"4:\\n\\t\" four USMP_NEXT_FOUR\n"
    "#endif\n";
// Compilers keep neither the pointers nor the sums of such a loop in registers; written so it needs 13.
constexpr std::string_view dot_run_words_text =
    "#ifdef USMP_DSP_RUNS\n"
    "  if ((((uint32_t)w | (uint32_t)distance$z) & 3U) == 0U) {\n"
    "$b"
    "    const $x* const end = x + fours * 4;\n"
    "    const int32_t rest = distance - fours * 16;\n"
    "    for (; blocks > 0; --blocks) {\n"
    "      const $x* p = x;\n"
    "      int32_t s0 = keep ? sums[0] : 0, s1 = keep ? sums[1] : 0, s2 = keep ? sums[2] : 0, s3 = keep ? sums[3] : "
    "0;\n"
    "      uint32_t even, odd, c;\n"
    "      __asm__(\n"
    "        USMP_FOURS(\n"
    "$i"
    "        )\n"
    "        : [p] \"+&r\"(p), [q] \"+&r\"(w), [s0] \"+&r\"(s0), [s1] \"+&r\"(s1), [s2] \"+&r\"(s2), [s3] "
    "\"+&r\"(s3),\n"
    "          [even] \"=&r\"(even), [odd] \"=&r\"(odd), [c] \"=&r\"(c)\n"
    "        : [fours] \"m\"(fours), [end] \"m\"(end)$m\n"
    "        : \"memory\", \"cc\", \"r4\", \"r5\", \"r6\", \"r8\");\n"
    "      sums[0] = s0;\n"
    "      sums[1] = s1;\n"
    "      sums[2] = s2;\n"
    "      sums[3] = s3;\n"
    "      sums += 4;\n"
    "      w += rest;\n"
    "    }\n"
    "    return;\n"
    "  }\n"
    "#endif\n";
// Compilers regroup sums and move all loads of such a loop to its start, and with them its sums to the stack. Held like
// this they stay in registers. Of Thumb-1's eight low registers a block of four sums takes all, which GCC does not find
// by itself: it copies each product to a high register and back.
constexpr std::string_view add_product_text =
    "#ifdef __GNUC__\n"
    "#define USMP_HOLD(s) __asm__ __volatile__(\"\" : \"+r\"(s))\n"
    "#else\n"
    "#define USMP_HOLD(s) ((void)0)\n"
    "#endif\n"
    "#define USMP_ADD(s, product) ((s) += (uint32_t)(product)); USMP_HOLD(s)\n"
    "#if defined(__GNUC__) && defined(__thumb__) && !defined(__thumb2__) && !defined(__OPTIMIZE_SIZE__)\n"
    "typedef struct { int8_t bytes[64]; } usmp_window; /* what the loads below may read */\n"
    "#define USMP_TERM(load, s, v, q, k) do { int32_t t = (k) * (int32_t)sizeof *(q); __asm__(\".syntax "
    "unified\\n\\t\" load \" %1, [%2, "
    "%1]\\n\\t\" \\\n"
    "  \"muls %1, %3, %1\\n\\tadds %0, %0, %1\" : \"+l\"(s), \"+l\"(t) : \"l\"(q), \"l\"(v), \\\n"
    "  \"m\"(*(const usmp_window*)(const void*)(q)) : \"cc\"); } while (0)\n"
    "#else\n"
    "#define USMP_TERM(load, s, v, q, k) USMP_ADD(s, (v) * (q)[k])\n"
    "#endif\n";
// An offset that stands in the code leaves a register free; most layers have this one.
constexpr std::string_view dot_run_text =
    "USMP_INLINE void $n_portable(int32_t* sums, const $x* x, const $w* w, int32_t keep, int32_t blocks,\n"
    "                    int32_t distance, int32_t fours, int32_t offset) {\n"
    "  const $x* const end = x + fours * 4;\n"
    "#if !defined(USMP_DSP_RUNS) && (!defined(__thumb__) || defined(__thumb2__)) /* there are registers for it */\n"
    "  for (; blocks > 1; blocks -= 2) {\n"
    "$2"
    "  }\n"
    "#endif\n"
    "  for (; blocks > 0; --blocks) {\n"
    "$1"
    "  }\n"
    "}\n\n"
    "USMP_KERNEL void $n(int32_t* sums, const $x* x, const $w* w, int32_t keep, int32_t blocks, int32_t distance,\n"
    "                    int32_t fours, int32_t offset) {\n"
    "  if (fours <= 0) return;\n"
    "$d"
    "#if defined(__thumb__) && !defined(__thumb2__)\n"
    "  if (offset == $o) {\n"
    "    $n_portable(sums, x, w, keep, blocks, distance, fours, $o);\n"
    "    return;\n"
    "  }\n"
    "#endif\n"
    "  $n_portable(sums, x, w, keep, blocks, distance, fours, offset);\n"
    "}\n";

// The loop body of dot_run for so many blocks side by side: a term of the data is multiplied for all of their sums.
std::string dot_run_blocks(std::int64_t blocks, std::int64_t sums, const std::string& data, const std::string& weight) {
  std::string loads = "    const " + data + "* p = x;\n    const " + weight + "* q = w;\n";
  std::string stores;
  std::string steps = "      p += 4;\n      q += " + std::to_string(4 * sums) + ";\n";
  if (blocks == 2) {
    loads += "    const " + weight + "* r = w + distance;\n";
    steps += "      r += " + std::to_string(4 * sums) + ";\n";
  }
  for (std::int64_t i = 0; i < blocks * sums; ++i) {
    const std::string n = std::to_string(i);
    loads += "    uint32_t s" + n + " = keep ? (uint32_t)sums[" + n + "] : 0U;\n";
    stores += "    sums[" + n + "] = (int32_t)s" + n + ";\n";
  }
  const std::string load = weight == "int16_t" ? "ldrsh" : weight == "int8_t" ? "ldrsb" : "ldrb";
  std::string terms;
  for (std::int64_t term = 0; term < 4; ++term) {
    terms += "      v = p[" + std::to_string(term) + "] + offset;\n";
    for (std::int64_t i = 0; i < blocks * sums; ++i) {
      const std::string sum = "s" + std::to_string(i);
      const std::string place = std::to_string(i % sums * 4 + term);
      if (blocks == 1) {
        terms += "      USMP_TERM(\"" + load + "\", " + sum + ", v, q, " + place + ");\n";
      } else {
        terms += "      USMP_ADD(" + sum + ", v * " + (i < sums ? "q[" : "r[") + place + "]);\n";
      }
    }
  }
  return loads + "    do {\n      int32_t v;\n" + terms + steps + "    } while (p != end);\n" + stores +
         "    sums += " + std::to_string(blocks * sums) + ";\n    w += " + (blocks == 2 ? "2 * " : "") + "distance;\n";
}

// Rows of fours of terms, and of what is left of them: the weights of four sums are %[d] apart, %[t] is thrice that.
// What is loaded is used an instruction later, for which a Cortex-M4 would wait.
std::string window_run_instructions(tir::DataType data, tir::DataType weight, bool has_offset) {
  Assembly code(10);
  const auto add = [&](const std::string& instruction) { code.add(instruction); };
  const auto weight_at = [&](int sum, const std::string& next) {
    return sum == 0   ? "[%[q]], " + next
           : sum == 1 ? "[%[q], %[d]]"
           : sum == 2 ? "[%[q], %[d], lsl #1]"
                      : "[%[q], %[t]]";
  };
  static constexpr std::array<int, 4> order = {1, 2, 3, 0};  // the last goes on to the next weights
  const auto multiply = [&](const std::string& op, int sum, const std::string& data_in, const std::string& weights_in) {
    const std::string to = "%[s" + std::to_string(sum) + "]";
    add(op + to + ", " + data_in + ", " + weights_in + ", " + to);
  };
  add("1:");
  add("ldr %[n], %[fours]");
  add("cmp %[n], #0");
  add("beq 3f");
  add("2:");
  add("ldr %[odd], [%[p]], #4");
  if (has_offset) add("ldr %[c], %[both]");
  add("ldr %[a], " + weight_at(order[0], "#4"));
  code.unpack_data(data, has_offset ? "%[c]" : "");
  std::string word = "%[a]";
  std::string unpacked = "%[c]";
  for (std::size_t k = 0; k < order.size(); ++k) {
    code.unpack_even(weight, unpacked, word);
    code.unpack_odd(weight, word);
    multiply("smlad ", order[k], "%[even]", unpacked);
    if (k + 1 < order.size()) add("ldr " + unpacked + ", " + weight_at(order[k + 1], "#4"));
    multiply("smlad ", order[k], "%[odd]", word);
    std::swap(word, unpacked);
  }
  add("subs %[n], %[n], #1");
  add("bne 2b");
  add("3:");
  add("ldr %[n], %[rest]");
  add("cmp %[n], #0");
  add("beq 5f");
  add("4:");
  add(std::string(data.is_int() ? "ldrsb" : "ldrb") + " %[even], [%[p]], #1");
  if (has_offset) add("ldr %[c], %[both]");
  const std::string load = weight.is_int() ? "ldrsb " : "ldrb ";
  const auto term_of = [](std::size_t k) { return std::string(k % 2 == 0 ? "%[a]" : "%[odd]"); };
  for (std::size_t k = 0; k < 2; ++k) add(load + term_of(k) + ", " + weight_at(order[k], "#1"));
  if (has_offset) add("sxtah %[even], %[even], %[c]");
  for (std::size_t k = 0; k < order.size(); ++k) {
    multiply("mla ", order[k], "%[even]", term_of(k));
    if (k + 2 < order.size()) add(load + term_of(k) + ", " + weight_at(order[k + 2], "#1"));
  }
  add("subs %[n], %[n], #1");
  add("bne 4b");
  add("5:");
  add("ldr %[n], %[next_x]");
  add("add %[p], %[p], %[n]");
  add("ldr %[n], %[next_w]");
  add("add %[q], %[q], %[n]");
  add("ldr %[n], %[left]");
  add("subs %[n], %[n], #1");
  add("str %[n], %[left]");
  add("bne 1b");
  return code.text();
}

constexpr std::string_view window_run_text =
    "USMP_KERNEL void $n(int32_t* sums, const $x* x, const $w* w, int32_t keep, int32_t blocks, int32_t distance,\n"
    "                    int32_t rows, int32_t x_row, int32_t w_row, int32_t terms, int32_t offset) {\n"
    "#ifdef USMP_DSP_RUNS\n"
    "$b"
    "  const int32_t fours = terms / 4, rest = terms % 4, next_x = x_row - terms, next_w = w_row - terms;\n"
    "#endif\n"
    "  for (; blocks > 0; --blocks) {\n"
    "    const $x* p = x;\n"
    "    const $w* q = w;\n"
    "    uint32_t s0 = keep ? (uint32_t)sums[0] : 0U, s1 = keep ? (uint32_t)sums[1] : 0U;\n"
    "    uint32_t s2 = keep ? (uint32_t)sums[2] : 0U, s3 = keep ? (uint32_t)sums[3] : 0U;\n"
    "    int32_t left = terms > 0 ? rows : 0;\n"
    "#ifdef USMP_DSP_RUNS\n"
    "    if (left > 0) {\n"
    "      const int32_t thrice = distance * 3;\n"
    "      uint32_t even, odd, a, c, n;\n"
    "      __asm__(\n"
    "$i"
    "          : [p] \"+&r\"(p), [q] \"+&r\"(q), [s0] \"+&r\"(s0), [s1] \"+&r\"(s1), [s2] \"+&r\"(s2), [s3] "
    "\"+&r\"(s3),\n"
    "            [even] \"=&r\"(even), [odd] \"=&r\"(odd), [a] \"=&r\"(a), [c] \"=&r\"(c), [n] \"=&r\"(n), [left] "
    "\"+m\"(left)\n"
    "          : [d] \"r\"(distance), [t] \"r\"(thrice), [fours] \"m\"(fours), [rest] \"m\"(rest), [next_x] "
    "\"m\"(next_x),\n"
    "            [next_w] \"m\"(next_w)$m\n"
    "          : \"memory\", \"cc\");\n"
    "    }\n"
    "#else\n"
    "    for (; left > 0; --left) {\n"
    "      int32_t k;\n"
    "      for (k = terms; k > 0; --k) {\n"
    "        const int32_t value = *p++ + offset;\n"
    "        s0 += (uint32_t)(value * q[0]);\n"
    "        s1 += (uint32_t)(value * q[distance]);\n"
    "        s2 += (uint32_t)(value * q[2 * distance]);\n"
    "        s3 += (uint32_t)(value * q[3 * distance]);\n"
    "        ++q;\n"
    "      }\n"
    "      p += x_row - terms;\n"
    "      q += w_row - terms;\n"
    "    }\n"
    "#endif\n"
    "    sums[0] = (int32_t)s0;\n"
    "    sums[1] = (int32_t)s1;\n"
    "    sums[2] = (int32_t)s2;\n"
    "    sums[3] = (int32_t)s3;\n"
    "    sums += 4;\n"
    "    w += 4 * distance;\n"
    "  }\n"
    "}\n";

// Windows of three columns are the most frequent.
constexpr std::string_view lane_run_of_three_text =
    "#ifdef USMP_DSP_RUNS\n"
    "  if (taps == 3 && x_distance == w_distance) {\n"
    "    const uint32_t both = (uint32_t)(offset & 0xffff) | (uint32_t)offset << 16;\n"
    "    for (; sums != end; sums += 4) {\n"
    "      int32_t s0 = keep ? sums[0] : 0, s1 = keep ? sums[1] : 0, s2 = keep ? sums[2] : 0, s3 = keep ? sums[3] : "
    "0;\n"
    "      uint32_t even, odd, a, b;\n"
    "      __asm__(\n"
    "          \"ldr %[odd], [%[x], %[d]]\\n\\t\"\n"
    "          \"ldr %[a], [%[w], %[d]]\\n\\t\"\n"
    "          \"$e %[even], %[both], %[odd]\\n\\t\"\n"
    "          \"$f %[b], %[a]\\n\\t\"\n"
    "          \"$e %[odd], %[both], %[odd], ror #8\\n\\t\"\n"
    "          \"$f %[a], %[a], ror #8\\n\\t\"\n"
    "          \"smlabb %[s0], %[even], %[b], %[s0]\\n\\t\"\n"
    "          \"smlabb %[s1], %[odd], %[a], %[s1]\\n\\t\"\n"
    "          \"smlatt %[s2], %[even], %[b], %[s2]\\n\\t\"\n"
    "          \"smlatt %[s3], %[odd], %[a], %[s3]\\n\\t\"\n"
    "          \"ldr %[odd], [%[x], %[d], lsl #1]\\n\\t\"\n"
    "          \"ldr %[a], [%[w], %[d], lsl #1]\\n\\t\"\n"
    "          \"$e %[even], %[both], %[odd]\\n\\t\"\n"
    "          \"$f %[b], %[a]\\n\\t\"\n"
    "          \"$e %[odd], %[both], %[odd], ror #8\\n\\t\"\n"
    "          \"$f %[a], %[a], ror #8\\n\\t\"\n"
    "          \"smlabb %[s0], %[even], %[b], %[s0]\\n\\t\"\n"
    "          \"smlabb %[s1], %[odd], %[a], %[s1]\\n\\t\"\n"
    "          \"smlatt %[s2], %[even], %[b], %[s2]\\n\\t\"\n"
    "          \"smlatt %[s3], %[odd], %[a], %[s3]\\n\\t\"\n"
    "          \"ldr %[odd], [%[x]], #4\\n\\t\"\n"
    "          \"ldr %[a], [%[w]], #4\\n\\t\"\n"
    "          \"$e %[even], %[both], %[odd]\\n\\t\"\n"
    "          \"$f %[b], %[a]\\n\\t\"\n"
    "          \"$e %[odd], %[both], %[odd], ror #8\\n\\t\"\n"
    "          \"$f %[a], %[a], ror #8\\n\\t\"\n"
    "          \"smlabb %[s0], %[even], %[b], %[s0]\\n\\t\"\n"
    "          \"smlabb %[s1], %[odd], %[a], %[s1]\\n\\t\"\n"
    "          \"smlatt %[s2], %[even], %[b], %[s2]\\n\\t\"\n"
    "          \"smlatt %[s3], %[odd], %[a], %[s3]\"\n"
    "          : [x] \"+&r\"(x), [w] \"+&r\"(w), [s0] \"+&r\"(s0), [s1] \"+&r\"(s1), [s2] \"+&r\"(s2), [s3] "
    "\"+&r\"(s3),\n"
    "            [even] \"=&r\"(even), [odd] \"=&r\"(odd), [a] \"=&r\"(a), [b] \"=&r\"(b)\n"
    "          : [both] \"r\"(both), [d] \"r\"(x_distance)\n"
    "          : \"memory\");\n"
    "      sums[0] = s0;\n"
    "      sums[1] = s1;\n"
    "      sums[2] = s2;\n"
    "      sums[3] = s3;\n"
    "    }\n"
    "    return;\n"
    "  }\n"
    "#endif\n";

// What is known of most calls when they are compiled takes no time then.
constexpr std::string_view lane_call_text =
    "USMP_INLINE void $n(int32_t* sums, const $x* x, const $w* w, int32_t keep, int32_t blocks, int32_t taps, int32_t "
    "x_distance,\n"
    "                    int32_t w_distance, int32_t offset) {\n"
    "#ifdef USMP_MVE\n"
    "  if ($q) {\n"
    "    $t;\n"
    "    return;\n"
    "  }\n"
    "#endif\n"
    "  $m(sums, x, w, keep, blocks, taps, x_distance, w_distance, offset);\n"
    "}\n";

constexpr std::string_view lane_run_text =
    "USMP_ALL_REGISTERS USMP_KERNEL void $m(int32_t* sums, const $x* x, const $w* w, int32_t keep, int32_t blocks, "
    "int32_t taps,\n"
    "                    int32_t x_distance, int32_t w_distance, int32_t offset) {\n"
    "  const int32_t* const end = sums + blocks * 4;\n"
    "  if (taps <= 0) return;\n"
    "$v"
    "$3"
    "  for (; sums != end; sums += 4) {\n"
    "    const $x* p = x;\n"
    "    const $w* q = w;\n"
    "    int32_t s0 = keep ? sums[0] : 0, s1 = keep ? sums[1] : 0, s2 = keep ? sums[2] : 0, s3 = keep ? sums[3] : 0;\n"
    "    int32_t t;\n"
    "    for (t = taps; t > 0; --t) {\n"
    "      s0 = $o(s0, p, q, offset, 0);\n"
    "      s1 = $o(s1, p, q, offset, 1);\n"
    "      s2 = $o(s2, p, q, offset, 2);\n"
    "      s3 = $o(s3, p, q, offset, 3);\n"
    "      p += x_distance;\n"
    "      q += w_distance;\n"
    "    }\n"
    "    sums[0] = s0;\n"
    "    sums[1] = s1;\n"
    "    sums[2] = s2;\n"
    "    sums[3] = s3;\n"
    "    x += 4;\n"
    "    w += 4;\n"
    "  }\n"
    "}\n";

}  // namespace

std::string Helpers::use_products(const std::string& operation, std::string_view text, tir::DataType data,
                                  tir::DataType weight) {
  define_pairs(data, weight);
  const std::string name = "usmp_" + operation + "_" + short_name(data) + "_" + short_name(weight);
  const bool has_halves = data.bits == 16 || weight.bits == 16;
  return define(name, fill(text, {{'n', name},
                                  {'x', storage_type(data)},
                                  {'w', storage_type(weight)},
                                  {'a', short_name(data)},
                                  {'b', short_name(weight)},
                                  {'u', data.bits == 16 && weight.bits == 16 ? "halves" : "pairs"},
                                  {'t', has_halves ? wide_terms : byte_terms}}));
}

void Helpers::define_pairs(tir::DataType data, tir::DataType weight) {
  define_inline();
  define("USMP_DSP", std::string(dsp_text));
  define("usmp_pairs", std::string(pairs_text));
  if (data.bits == 16 || weight.bits == 16) define("usmp_halves", std::string(halves_text));
}

void Helpers::define_kernel() {
  define("USMP_DSP", std::string(dsp_text));
  define("USMP_KERNEL", std::string(kernel_text));
}

void Helpers::define_fours() {
  define_kernel();
  define("USMP_FOURS", std::string(fours_text));
}

std::string Helpers::dot4(tir::DataType data, tir::DataType weight) {
  return use_products("dot4", dot4_text, data, weight);
}

std::string Helpers::lane_product(tir::DataType data, tir::DataType weight) {
  return use_products("lane_product", lane_product_text, data, weight);
}

std::string Helpers::dot_run(tir::DataType data, tir::DataType weight, std::int64_t sums, bool has_offset) {
  define_pairs(data, weight);
  define_fours();
  define("USMP_ADD", std::string(add_product_text));
  const std::string x = storage_type(data);
  const std::string w = storage_type(weight);
  const std::string name = "usmp_dot_run" + std::to_string(sums) + "_" + short_name(data) + "_" + short_name(weight) +
                           (has_offset ? "_offset" : "");
  std::map<char, std::string> values = {{'n', name},
                                        {'x', x},
                                        {'w', w},
                                        {'i', dot_run_instructions(data, weight, has_offset)},
                                        {'b', has_offset ? both_text : ""},
                                        {'m', has_offset ? ", [both] \"m\"(both)" : ""},
                                        {'z', weight.bits == 16 ? " * 2U" : ""},
                                        {'o', data.bits == 8 && data.is_int() ? "128" : "0"},
                                        {'1', dot_run_blocks(1, sums, x, w)},
                                        {'2', dot_run_blocks(2, sums, x, w)}};
  values['d'] = sums == 4 ? fill(dot_run_words_text, values) : "";
  return define(name, fill(dot_run_text, values));
}

std::string Helpers::window_run(tir::DataType data, tir::DataType weight, bool has_offset) {
  define_inline();
  define_kernel();
  const std::string name =
      "usmp_window_run_" + short_name(data) + "_" + short_name(weight) + (has_offset ? "_offset" : "");
  return define(name, fill(window_run_text, {{'n', name},
                                             {'x', storage_type(data)},
                                             {'w', storage_type(weight)},
                                             {'b', has_offset ? both_text : "  (void)offset; /* 0 */\n"},
                                             {'m', has_offset ? ", [both] \"m\"(both)" : ""},
                                             {'i', window_run_instructions(data, weight, has_offset)}}));
}

std::string Helpers::lane_run(tir::DataType data, tir::DataType weight) {
  const std::string product = lane_product(data, weight);
  define_kernel();
  const std::string name = "usmp_lane_run" + product.substr(std::string_view("usmp_lane_product").size());
  std::map<char, std::string> values = {{'n', name},
                                        {'m', name + "_of"},
                                        {'x', storage_type(data)},
                                        {'w', storage_type(weight)},
                                        {'o', product},
                                        {'e', data.is_int() ? "sxtab16" : "uxtab16"},
                                        {'f', weight.is_int() ? "sxtb16" : "uxtb16"}};
  values['v'] = lane_vectors(data, weight);
  values['3'] = data.bits == 8 && weight.bits == 8 ? fill(lane_run_of_three_text, values) : "";
  define(name + "_of", fill(lane_run_text, values));
  values['t'] = lane_three(name, data, weight);
  values['q'] = "taps == 3 && x_distance == w_distance && blocks > 0 && ((uint32_t)blocks & 1U) == 0U";
  if (!has_zero_point(data)) values['q'] += " && offset == 0";
  return define(name, fill(lane_call_text, values));
}

}  // namespace usmp::codegen

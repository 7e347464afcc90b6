// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The C functions of rows of sums (Op::row_run), for Helium (MVE), Arm's vectors of 16 bytes.
#include <map>

#include "codegen/c_types.hpp"
#include "codegen/helpers.hpp"
#include "codegen/template_text.hpp"

namespace usmp::codegen {
namespace {

// Integer vectors. Without optimisation there are too few registers for the assembly.
constexpr std::string_view vectors_text =
    "#if defined(__ARM_FEATURE_MVE) && !defined(__ARM_BIG_ENDIAN) && defined(__GNUC__) && defined(__OPTIMIZE__)\n"
    "#if __ARM_FEATURE_MVE & 1\n"
    "#include <arm_mve.h>\n"
    "#define USMP_MVE 1\n"
    "#endif\n"
    "#endif\n"
    "#if defined(USMP_MVE) && defined(__clang__)\n"
    "#pragma clang diagnostic ignored \"-Wunused-function\" /* what vectors do instead */\n"
    "#endif\n"
    "#if defined(USMP_MVE) && !defined(__clang__)\n"
    "#define USMP_ALL_REGISTERS __attribute__((optimize(\"omit-frame-pointer\")))\n"
    "#else\n"
    "#define USMP_ALL_REGISTERS\n"
    "#endif\n";

// Data and weights of both 8 bits are multiplied as they lie, 16 at a time, the data's sign made that of the weights;
// others are widened to 16 bits, 8 at a time.
struct Lanes {
  tir::DataType data;
  tir::DataType weight;
  bool are_widened = false;  // in any case

  [[nodiscard]] bool are_bytes() const { return data.bits == 8 && weight.bits == 8 && !are_widened; }
  [[nodiscard]] bool changes_sign() const { return are_bytes() && data.is_int() != weight.is_int(); }
  [[nodiscard]] std::string type() const { return are_bytes() ? (weight.is_int() ? "s8" : "u8") : "s16"; }
  [[nodiscard]] std::string load(tir::DataType element, const char* to, const std::string& from) const {
    const int step = are_bytes() || element.bits == 16 ? 16 : 8;
    const std::string width = element.bits == 16 ? "vldrh." : "vldrb.";
    const std::string lane = std::string(element.is_int() ? "s" : "u") + (are_bytes() ? "8" : "16");
    return width + lane + " " + to + ", [%[" + from + "]], #" + std::to_string(step);
  }
  // The operand of assembly that a load moves on; those that widen want one of the eight low registers.
  [[nodiscard]] std::string pointer(tir::DataType element, const std::string& name, std::string variable = {}) const {
    if (variable.empty()) variable = name;
    return ", [" + name + "] \"+&" + (are_bytes() || element.bits == 16 ? "r" : "l") + "\"(" + variable + ")";
  }
  // Terms of a vector, and bytes of its weights.
  [[nodiscard]] int terms() const { return are_bytes() ? 16 : 8; }
  [[nodiscard]] int weight_step() const { return are_bytes() || weight.bits == 16 ? 16 : 8; }
};

class Loop {
 public:
  explicit Loop(const char* indent) : indent_(indent) {}
  void add(const std::string& instruction) {
    if (!text_.empty()) text_ += "\\n\\t\"\n";
    text_ += indent_ + ("\"" + instruction);
  }
  [[nodiscard]] std::string text() const { return text_ + "\"\n"; }

 private:
  std::string indent_;
  std::string text_;
};

// `q3`, where it is used, holds the number that is added to the data: with bytes its products with the weights are
// added, with wider data it is added to them.
void data_load(const Lanes& lanes, Loop& loop, bool has_offset) {
  loop.add(lanes.load(lanes.data, "q0", "p"));
  if (lanes.changes_sign()) loop.add("veor q0, q0, q2");
  if (has_offset && !lanes.are_bytes()) loop.add("vadd.i16 q0, q0, q3");
}

void begin(const Lanes& lanes, Loop& loop, bool has_offset) {
  if (lanes.changes_sign()) loop.add("vmov.i8 q2, #0x80");
  if (has_offset) loop.add(lanes.are_bytes() ? "vdup.8 q3, %[o]" : "vdup.16 q3, %[o]");
  loop.add(lanes.are_bytes() ? "dlstp.8 lr, %[n]" : "dlstp.16 lr, %[n]");
  loop.add("2:");
}

// One sum.
std::string row_loop(const Lanes& lanes, bool has_offset) {
  Loop loop("          ");
  begin(lanes, loop, has_offset);
  data_load(lanes, loop, has_offset);
  const std::string multiply = "vmladava." + lanes.type() + " ";
  loop.add(lanes.load(lanes.weight, "q1", "w0"));
  loop.add(multiply + "%[s0], q0, q1");
  if (has_offset && lanes.are_bytes()) loop.add(multiply + "%[s0], q1, q3");
  loop.add("letp lr, 2b");
  return "      __asm__ __volatile__(\n" + loop.text() + "          : " + lanes.pointer(lanes.data, "p").substr(2) +
         lanes.pointer(lanes.weight, "w0") + ", [s0] \"+&Te\"(s0)\n          : [n] \"r\"(terms)" +
         (has_offset ? ", [o] \"r\"(more)" : "") +
         "\n          : \"lr\", \"cc\", \"memory\", \"q0\", \"q1\", \"q2\", \"q3\");\n";
}

// The loop over fours of sums, data as they lie. `c`: the data, the distance of the weights of two sums in bytes, what
// sums begin with, the number of terms, what is between the end of the first sum's weights and the next four's, and
// what is added to data.
std::string row_fours(const Lanes& lanes, bool keeps, bool has_offset) {
  Loop loop("            ");
  if (lanes.changes_sign()) loop.add("vmov.i8 q2, #0x80");
  if (has_offset) loop.add("ldr %[p], [%[c], #20]");
  if (has_offset) loop.add(lanes.are_bytes() ? "vdup.8 q3, %[p]" : "vdup.16 q3, %[p]");
  loop.add("1:");
  const std::string begin = lanes.are_bytes() ? "dlstp.8 lr, " : "dlstp.16 lr, ";
  if (keeps) {
    loop.add("ldrd %[s0], %[s1], [%[t]]");
    loop.add("ldrd %[s2], %[s3], [%[t], #8]");
    loop.add("ldrd %[p], %[w1], [%[c], #8]");
    for (const char* sum : {"%[s0]", "%[s1]", "%[s2]", "%[s3]"})
      loop.add(std::string("add ") + sum + ", " + sum + ", %[p]");
    loop.add(begin + "%[w1]");
  } else {
    loop.add("ldrd %[s0], %[s1], [%[c], #8]");
    loop.add(begin + "%[s1]");
    for (const char* sum : {"%[s1]", "%[s2]", "%[s3]"}) loop.add(std::string("mov ") + sum + ", %[s0]");
  }
  loop.add("ldrd %[p], %[w1], [%[c]]");
  loop.add("add %[w2], %[w0], %[w1], lsl #1");
  loop.add("add %[w3], %[w2], %[w1]");
  loop.add("add %[w1], %[w1], %[w0]");
  loop.add("2:");
  data_load(lanes, loop, has_offset);
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    loop.add(lanes.load(lanes.weight, "q1", "w" + n));
    loop.add("vmladava." + lanes.type() + " %[s" + n + "], q0, q1");
    if (has_offset && lanes.are_bytes()) loop.add("vmladava." + lanes.type() + " %[s" + n + "], q1, q3");
  }
  loop.add("letp lr, 2b");
  loop.add("strd %[s0], %[s1], [%[t]], #8");
  loop.add("strd %[s2], %[s3], [%[t]], #8");
  loop.add("ldr %[p], [%[c], #16]");
  loop.add("add %[w0], %[w0], %[p]");
  loop.add("subs %[n], %[n], #1");
  loop.add("bne 1b");
  const auto free = [](std::string operand) {  // what the assembly sets
    return operand.replace(operand.find("+&"), 2, "=&");
  };
  std::string results = "[t] \"+&r\"(sums), [n] \"+&r\"(fours)" + lanes.pointer(lanes.weight, "w0", "w") +
                        free(lanes.pointer(lanes.data, "p"));
  for (const char* w : {"w1", "w2", "w3"}) results += free(lanes.pointer(lanes.weight, w));
  for (const char* s : {"s0", "s1", "s2", "s3"}) results += std::string(", [") + s + "] \"=&Te\"(" + s + ")";
  return "          __asm__ __volatile__(\n" + loop.text() + "            : " + results +
         "\n            : [c] \"r\"(c)\n            : \"lr\", \"cc\", \"memory\", \"q0\", \"q1\", \"q2\", \"q3\");\n";
}

// Only bytes have an offset beside them.
std::string row_fours_of(const Lanes& lanes, bool keeps) {
  std::string plain = row_fours(lanes, keeps, false);
  if (lanes.data.bits == 16) return plain;
  return "        if (more == 0) {\n" + plain + "        } else {\n" + row_fours(lanes, keeps, true) + "        }\n";
}

// The loop over sums that are left, one after the other.
std::string row_singles(const Lanes& lanes, const std::string& weight) {
  return "    for (; count > 0; --count) {\n      const void* p = x;\n      const " + weight +
         "* w0 = w;\n"
         "      int32_t s0 = keep ? (int32_t)((uint32_t)start + (uint32_t)*sums) : start;\n"
         "      if (more == 0) {\n" +
         row_loop(lanes, false) + "      } else {\n" + row_loop(lanes, true) +
         "      }\n      *sums++ = s0;\n      w += distance;\n    }\n";
}

// The sum of the data, of which the weights' offset is a multiple.
std::string data_sum(const Lanes& lanes) {
  Loop loop("          ");
  begin(lanes, loop, !lanes.are_bytes());
  data_load(lanes, loop, !lanes.are_bytes());
  loop.add("vaddva." + lanes.type() + " %[s], q0");
  loop.add("letp lr, 2b");
  return "      __asm__ __volatile__(\n" + loop.text() + "          : " + lanes.pointer(lanes.data, "p").substr(2) +
         ", [s] \"+&Te\"(all)\n          : [n] \"r\"(terms)" + (lanes.are_bytes() ? "" : ", [o] \"r\"(more)") +
         "\n          : \"lr\", \"cc\", \"memory\", \"q0\", \"q2\", \"q3\");\n";
}

constexpr std::string_view row_run_text =
    "USMP_ALL_REGISTERS USMP_KERNEL void $n(int32_t* sums, const $x* x, const $w* w, int32_t keep, int32_t count, "
    "int32_t distance,\n"
    "                    int32_t terms, int32_t offset, int32_t weight_offset) {\n"
    "  if (terms <= 0) return;\n"
    "#ifdef USMP_MVE\n"
    "  const int32_t more = offset$o;\n"
    "  if ($f) {\n"
    "    int32_t start = 0;\n"
    "    if (weight_offset != 0) {\n"
    "      const void* p = x;\n"
    "      int32_t all = 0;\n"
    "$s"
    "      start = (int32_t)((uint32_t)weight_offset * $a);\n"
    "    }\n"
    "    if (count >= 4) {\n"
    "      const uint32_t bytes = (uint32_t)distance * (uint32_t)sizeof *w;\n"
    "      const uint32_t c[6] = {(uint32_t)(uintptr_t)x, bytes, (uint32_t)start, (uint32_t)terms,\n"
    "                             4U * bytes - ((uint32_t)terms + $m) / $l * $b, (uint32_t)more};\n"
    "      int32_t fours = (int32_t)((uint32_t)count / 4U), s0, s1, s2, s3;\n"
    "      const void *p, *w1, *w2, *w3;\n"
    "      if (keep) {\n"
    "$k"
    "      } else {\n"
    "$j"
    "      }\n"
    "      count = (int32_t)((uint32_t)count % 4U);\n"
    "    }\n"
    "$1"
    "    return;\n"
    "  }\n"
    "#endif\n"
    "  for (; count > 0; --count) {\n"
    "    uint32_t sum = keep ? (uint32_t)*sums : 0U;\n"
    "    int32_t k;\n"
    "    for (k = 0; k < terms; ++k) sum += (uint32_t)((x[k] + offset) * (w[k] + weight_offset));\n"
    "    *sums++ = (int32_t)sum;\n"
    "    w += distance;\n"
    "  }\n"
    "}\n";

// A loop over sums side by side, eight at a time, of so many taps: q0 has the even ones, q1 the odd ones. Its operands
// are [s], [x0], [w0] and so on; `is_set`: those of the further taps by instructions of the loop.
std::string lane_loop_of(const Lanes& lanes, int taps, bool keeps, bool has_offset, bool is_set, Loop& loop) {
  loop.add("2:");
  if (keeps) loop.add("vld20.32 {q0, q1}, [%[s]]");
  if (keeps) loop.add("vld21.32 {q0, q1}, [%[s]]");
  std::string results = "[s] \"+&r\"(s)";
  for (int i = 0; i < taps; ++i) {
    const std::string n = std::to_string(i);
    const bool is_first = i == 0 && !keeps;
    loop.add(lanes.load(lanes.data, "q2", "x" + n));
    if (has_offset) loop.add("vadd.i16 q2, q2, q6");
    loop.add(lanes.load(lanes.weight, "q3", "w" + n));
    loop.add(std::string("vmullb.s16 ") + (is_first ? "q0" : "q4") + ", q2, q3");
    loop.add(std::string("vmullt.s16 ") + (is_first ? "q1" : "q5") + ", q2, q3");
    if (!is_first) loop.add("vadd.i32 q0, q0, q4");
    if (!is_first) loop.add("vadd.i32 q1, q1, q5");
    for (std::string operand : {lanes.pointer(lanes.data, "x" + n), lanes.pointer(lanes.weight, "w" + n)})
      results += i > 0 && is_set ? operand.replace(operand.find("+&"), 2, "=&") : operand;
  }
  loop.add("vst20.32 {q0, q1}, [%[s]]");
  loop.add("vst21.32 {q0, q1}, [%[s]]!");
  loop.add("le lr, 2b");
  return results;
}

std::string lane_clobbers(bool has_offset) {
  return std::string("\"lr\", \"cc\", \"memory\", \"q0\", \"q1\", \"q2\", \"q3\", \"q4\", \"q5\"") +
         (has_offset ? ", \"q6\"" : "");
}

// `c`: the distances in bytes of data and of weights, the number of eights, and what is added to data.
std::string lane_loop(tir::DataType data, tir::DataType weight, int taps, bool keeps, bool has_offset) {
  Loop loop("            ");
  if (has_offset) loop.add("ldr lr, [%[c], #12]");
  if (has_offset) loop.add("vdup.16 q6, lr");
  if (taps > 1) loop.add("ldrd %[x1], %[w1], [%[c]]");
  if (taps > 2) loop.add("add %[x2], %[x0], %[x1], lsl #1");
  if (taps > 2) loop.add("add %[w2], %[w0], %[w1], lsl #1");
  if (taps > 1) loop.add("add %[x1], %[x1], %[x0]");
  if (taps > 1) loop.add("add %[w1], %[w1], %[w0]");
  loop.add("ldr lr, [%[c], #8]");
  loop.add("dls lr, lr");
  const std::string results = lane_loop_of({data, weight, true}, taps, keeps, has_offset, true, loop);
  return "          __asm__ __volatile__(\n" + loop.text() + "            : " + results +
         "\n            : [c] \"r\"(c)\n            : " + lane_clobbers(has_offset) + ");\n";
}

// Three taps, of sums by eights, data and weights equally far apart: most windows, in half the instructions around the
// loop.
std::string lane_loop_of_three(tir::DataType data, tir::DataType weight, bool keeps, bool has_offset) {
  Loop loop("      ");
  if (has_offset) loop.add("vdup.16 q6, %[o]");
  loop.add("dls lr, %[e]");
  const std::string results = lane_loop_of({data, weight, true}, 3, keeps, has_offset, false, loop);
  return "    __asm__ __volatile__(\n" + loop.text() + "      : " + results + "\n      : [e] \"r\"(eights)" +
         (has_offset ? ", [o] \"r\"(offset)" : "") + "\n      : " + lane_clobbers(has_offset) + ");\n";
}

constexpr std::string_view lane_three_text =
    "#ifdef USMP_MVE\n"
    "USMP_ALL_REGISTERS USMP_KERNEL void $n(int32_t* s, const $x* x0, const $w* w0, int32_t distance, int32_t eights, "
    "int32_t keep$p) {\n"
    "  const $x *x1 = x0 + distance, *x2 = x1 + distance;\n"
    "  const $w *w1 = w0 + distance, *w2 = w1 + distance;\n"
    "  if (keep) {\n"
    "$k"
    "  } else {\n"
    "$j"
    "  }\n"
    "}\n"
    "#endif\n";

std::string lane_loops(tir::DataType data, tir::DataType weight, bool has_offset) {
  std::string text;
  for (int taps = 3; taps >= 1; --taps) {
    text += taps == 3   ? "        if (taps >= 3) {\n"
            : taps == 2 ? "        } else if (taps == 2) {\n"
                        : "        } else {\n";
    text += "          if (keep) {\n" + lane_loop(data, weight, taps, true, has_offset) + "          } else {\n" +
            lane_loop(data, weight, taps, false, has_offset) + "          }\n";
  }
  return text + "        }\n";
}

// Up to three taps at once; four sums that are left over by themselves.
constexpr std::string_view lane_vectors_text =
    "#ifdef USMP_MVE\n"
    "  if ($c) {\n"
    "    const int32_t eights = (int32_t)((uint32_t)blocks / 2U);\n"
    "    const int32_t c[4] = {x_distance * (int32_t)sizeof *x, w_distance * (int32_t)sizeof *w, eights, offset};\n"
    "    for (;;) {\n"
    "      int32_t* s = sums;\n"
    "      const $x *x0 = x, *x1, *x2;\n"
    "      const $w *w0 = w, *w1, *w2;\n"
    "      if (eights > 0) {\n"
    "$l"
    "      }\n"
    "      if (((uint32_t)blocks & 1U) != 0U) {\n"
    "        int32_t t;\n"
    "        int32x4_t four = keep ? vldrwq_s32(s) : vdupq_n_s32(0);\n"
    "        x0 = x + eights * 8;\n"
    "        w0 = w + eights * 8;\n"
    "        for (t = taps > 3 ? 3 : taps; t > 0; --t) {\n"
    "          four = vaddq_s32(four, vmulq_s32(vaddq_n_s32($X, offset), $W));\n"
    "          x0 += x_distance;\n"
    "          w0 += w_distance;\n"
    "        }\n"
    "        vstrwq_s32(s, four);\n"
    "      }\n"
    "      taps -= 3;\n"
    "      if (taps <= 0) return;\n"
    "      x += 3 * x_distance;\n"
    "      w += 3 * w_distance;\n"
    "      keep = 1;\n"
    "    }\n"
    "  }\n"
    "#endif\n";

// Four elements, widened to 32 bits.
std::string four_of(tir::DataType type, const std::string& from) {
  const std::string load = type.bits == 16 ? "vldrhq" : "vldrbq";
  return type.is_int() ? load + "_s32(" + from + ")" : "vreinterpretq_s32_u32(" + load + "_u32(" + from + "))";
}

}  // namespace

std::string Helpers::lane_vectors(tir::DataType data, tir::DataType weight) {
  define_vectors();
  const bool has_offset = has_zero_point(data);
  return fill(lane_vectors_text, {{'x', storage_type(data)},
                                  {'w', storage_type(weight)},
                                  {'c', has_offset ? "1" : "offset == 0"},
                                  {'l', lane_loops(data, weight, has_offset)},
                                  {'X', four_of(data, "x0")},
                                  {'W', four_of(weight, "w0")}});
}

std::string Helpers::lane_three(const std::string& run, tir::DataType data, tir::DataType weight) {
  const bool has_offset = has_zero_point(data);
  return define(run + "_three", fill(lane_three_text, {{'n', run + "_three"},
                                                       {'x', storage_type(data)},
                                                       {'w', storage_type(weight)},
                                                       {'p', has_offset ? ", int32_t offset" : ""},
                                                       {'k', lane_loop_of_three(data, weight, true, has_offset)},
                                                       {'j', lane_loop_of_three(data, weight, false, has_offset)}})) +
         "(sums, x, w, x_distance, (int32_t)((uint32_t)blocks / 2U), keep" + (has_offset ? ", offset)" : ")");
}

void Helpers::define_vectors() { define("USMP_MVE", std::string(vectors_text)); }

std::string Helpers::row_run(tir::DataType data, tir::DataType weight) {
  define_vectors();
  define_kernel();
  const Lanes lanes{data, weight};
  const std::string w = storage_type(weight);
  const std::string name = "usmp_row_run_" + short_name(data) + "_" + short_name(weight);
  // A byte's products with the weights must be those of vectors, too.
  const std::string fits = !lanes.are_bytes() ? "1"
                           : weight.is_int()  ? "more == (int8_t)more"
                                              : "more == (uint8_t)more";
  std::map<char, std::string> values = {
      {'n', name},
      {'x', storage_type(data)},
      {'w', w},
      {'o', !lanes.changes_sign() ? ""
            : data.is_int()       ? " - 128"
                                  : " + 128"},
      {'f', fits},
      {'s', data_sum(lanes)},
      {'a', lanes.are_bytes() ? "((uint32_t)all + (uint32_t)more * (uint32_t)terms)" : "(uint32_t)all"},
      {'k', row_fours_of(lanes, true)},
      {'j', row_fours_of(lanes, false)},
      {'l', std::to_string(lanes.terms()) + "U"},
      {'m', std::to_string(lanes.terms() - 1) + "U"},
      {'b', std::to_string(lanes.weight_step()) + "U"},
      {'1', row_singles(lanes, w)}};
  return define(name, fill(row_run_text, values));
}

}  // namespace usmp::codegen

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The C functions of whole windows of sums side by side (Op::lane_window): depthwise convolutions.
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "codegen/assembly.hpp"
#include "codegen/c_types.hpp"
#include "codegen/helpers.hpp"
#include "codegen/template_text.hpp"

namespace usmp::codegen {
namespace {

// Nine taps of four sums; data of three rows from %[p0], %[p1] and %[p2] on, %[d] from tap to tap, the weights one
// stream. A row's first tap comes last, with which pointers move on. The first products set the sums.
std::string lane_window_instructions(tir::DataType data, tir::DataType weight, bool has_offset) {
  Assembly code(10);
  const auto add = [&](const std::string& instruction) { code.add(instruction); };
  for (int row = 0; row < 3; ++row) {
    const std::string p = "[%[p" + std::to_string(row) + "]";
    const std::pair<std::string, const char*> taps[] = {
        {p + ", %[d]]", ", #4]"}, {p + ", %[d], lsl #1]", ", #8]"}, {p + "], #4", "], #12"}};
    for (const auto& [place, weight_place] : taps) {
      const bool is_first = code.is_empty();
      const auto multiply = [&](const char* halves, const std::string& s, const std::string& x, const std::string& w) {
        const std::string operands = s + ", " + x + ", " + w;
        add((is_first ? "smul" : "smla") + (halves + (" " + operands)) + (is_first ? "" : ", " + s));
      };
      add("ldr %[odd], " + place);
      if (has_offset) add("ldr %[b], %[both]");
      add(std::string("ldr %[a], [%[q]") + weight_place);
      code.unpack_data(data, has_offset ? "%[b]" : "");
      code.unpack_even(weight, "%[b]", "%[a]");
      code.unpack_odd(weight, "%[a]");
      multiply("bb", "%[s0]", "%[even]", "%[b]");
      multiply("tt", "%[s2]", "%[even]", "%[b]");
      multiply("bb", "%[s1]", "%[odd]", "%[a]");
      multiply("tt", "%[s3]", "%[odd]", "%[a]");
    }
  }
  return code.text();
}

// Up to nine taps of four sums, of data at the addresses in %[t], none where it is 0.
std::string some_taps_instructions(tir::DataType data, tir::DataType weight, bool has_offset) {
  Assembly code(10);
  const auto add = [&](const std::string& instruction) { code.add(instruction); };
  for (int tap = 0; tap < 9; ++tap) {
    const std::string place = std::to_string(4 * tap) + "]";
    add("ldr %[odd], [%[t], #" + place);
    add("cbz %[odd], 1f");
    add("ldr %[odd], [%[odd], %[c]]");
    add("ldr %[a], [%[q], #" + place);
    code.unpack_data(data, has_offset ? "%[both]" : "");
    code.unpack_even(weight, "%[b]", "%[a]");
    code.unpack_odd(weight, "%[a]");
    add("smlabb %[s0], %[even], %[b], %[s0]");
    add("smlatt %[s2], %[even], %[b], %[s2]");
    add("smlabb %[s1], %[odd], %[a], %[s1]");
    add("smlatt %[s3], %[odd], %[a], %[s3]");
    add("1:");
  }
  return code.text();
}

constexpr std::string_view lane_window_text =
    "USMP_KERNEL void $n(int32_t* sums, const $x* x, const $w* w, int32_t blocks, int32_t distance, int32_t first,\n"
    "                    int32_t rows, int32_t x_row, int32_t w_row, int32_t taps, int32_t x_tap, int32_t offset$r) {\n"
    "$d"
    "  if (rows <= 0 || taps <= 0) rows = first = 0;\n"
    "#ifdef USMP_DSP_RUNS\n"
    "$b"
    "  if (rows == 3 && taps == 3 && w_row == 12 && distance == 36) {\n"
    "$p"
    "    $i{\n"
    "$y"
    "      for ($l; $4) {\n"
    "        int32_t s0, s1, s2, s3;\n"
    "        uint32_t even, odd, a, b;\n"
    "        __asm__(\n"
    "$a"
    "            : [p0] \"+&r\"(p0), [p1] \"+&r\"(p1), [p2] \"+&r\"(p2), [q] \"+&r\"(w), [s0] \"=&r\"(s0), [s1] "
    "\"=&r\"(s1),\n"
    "              [s2] \"=&r\"(s2), [s3] \"=&r\"(s3), [even] \"=&r\"(even), [odd] \"=&r\"(odd), [a] \"=&r\"(a), [b] "
    "\"=&r\"(b)\n"
    "            : [d] \"r\"(x_tap)$m\n"
    "            : \"memory\");\n"
    "        sums[$0] = s0;\n"
    "        sums[$1] = s1;\n"
    "        sums[$2] = s2;\n"
    "        sums[$3] = s3;\n"
    "      }\n"
    "      return;\n"
    "    }\n"
    "  }\n"
    "  if (distance == 36) { /* the addresses of taps, at the places of their weights */\n"
    "    const $x* at[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};\n"
    "    int32_t tap = first / 4, c, r, t;\n"
    "$f"
    "    for (r = rows; r > 0; --r) {\n"
    "$g"
    "      for (t = 0; t < taps; ++t) {\n"
    "$h"
    "        at[tap + t] = p;\n"
    "$j"
    "      }\n"
    "$k"
    "      tap += w_row / 4;\n"
    "    }\n"
    "$z"
    "    for ($c; c += 4) {\n"
    "      int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;\n"
    "      uint32_t even, odd, a, b;\n"
    "      __asm__(\n"
    "$t"
    "          : [s0] \"+&r\"(s0), [s1] \"+&r\"(s1), [s2] \"+&r\"(s2), [s3] \"+&r\"(s3), [even] \"=&r\"(even), [odd] "
    "\"=&l\"(odd),\n"
    "            [a] \"=&r\"(a), [b] \"=&r\"(b)\n"
    "          : [t] \"r\"(at), [c] \"r\"(c), [q] \"r\"(w)$u\n"
    "          : \"memory\");\n"
    "      sums[$0] = s0;\n"
    "      sums[$1] = s1;\n"
    "      sums[$2] = s2;\n"
    "      sums[$3] = s3;\n"
    "      $4;\n"
    "      w += 36;\n"
    "    }\n"
    "    return;\n"
    "  }\n"
    "#endif\n"
    "$v"
    "  for ($l; $4) {\n"
    "    const $w* q = w + first;\n"
    "$f"
    "    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;\n"
    "    int32_t r, t;\n"
    "    for (r = rows; r > 0; --r) {\n"
    "$g"
    "      for (t = taps; t > 0; --t) {\n"
    "$h"
    "        s0 = $o(s0, p, q, offset, 0);\n"
    "        s1 = $o(s1, p, q, offset, 1);\n"
    "        s2 = $o(s2, p, q, offset, 2);\n"
    "        s3 = $o(s3, p, q, offset, 3);\n"
    "        q += 4;\n"
    "$j"
    "      }\n"
    "$k"
    "      q += w_row - taps * 4;\n"
    "    }\n"
    "    sums[$0] = s0;\n"
    "    sums[$1] = s1;\n"
    "    sums[$2] = s2;\n"
    "    sums[$3] = s3;\n"
    "    x += 4;\n"
    "    w += distance;\n"
    "  }\n"
    "}\n";

}  // namespace

std::string Helpers::lane_window(tir::DataType data, tir::DataType weight, bool is_ring, bool has_offset,
                                 std::int64_t step) {
  const std::string product = lane_product(data, weight);
  define_kernel();
  const std::string name = "usmp_lane_window_" + short_name(data) + "_" + short_name(weight) +
                           (is_ring ? "_ring" : "") + (has_offset ? "_offset" : "") +
                           (step == 1 ? "" : "_by" + std::to_string(step));
  const std::string x = storage_type(data);
  std::map<char, std::string> values = {{'n', name},
                                        {'x', x},
                                        {'w', storage_type(weight)},
                                        {'o', product},
                                        {'a', lane_window_instructions(data, weight, has_offset)},
                                        {'b', has_offset ? both_text : ""},
                                        {'t', some_taps_instructions(data, weight, has_offset)},
                                        {'u', has_offset ? ", [both] \"r\"(both)" : ""},
                                        {'m', has_offset ? ", [both] \"m\"(both)" : ""}};
  if (step == 1) {
    values['d'] = "  const int32_t* const end = sums + blocks * 4;\n";
    values['l'] = "; sums != end";
    values['c'] = "c = 0; sums != end";
    values['4'] = "sums += 4";
    values['y'] = values['z'] = values['v'] = "";
    for (const char lane : {'0', '1', '2', '3'}) values[lane] = lane;
  } else {  // passes over the channels, each for the next of their sums; its weights follow
    const std::string by = std::to_string(4 * step);
    const std::string pass = "for (pass = 0; pass < " + std::to_string(step) + "; ++pass";
    values['d'] = "  const int32_t end = blocks * " + by + ";\n  int32_t pass, i;\n";
    values['l'] = "i = pass; i < end";
    values['c'] = "c = 0, i = pass; i < end";
    values['4'] = "i += " + by;
    values['y'] = "      " + pass + ", p0 -= blocks * 4, p1 -= blocks * 4, p2 -= blocks * 4)\n";
    values['z'] = "    " + pass + ")\n";
    values['v'] = "  " + pass + ", x -= blocks * 4)\n";
    values['0'] = "i";
    for (const char lane : {'1', '2', '3'}) values[lane] = "i + " + std::to_string((lane - '0') * step);
  }
  if (is_ring) {
    values['r'] = ", int32_t place, int32_t size";
    values['p'] =
        "    const int32_t second = place + x_row - (place + x_row >= size ? size : 0);\n"
        "    const int32_t third = second + x_row - (second + x_row >= size ? size : 0);\n"
        "    const " +
        x +
        " *p0 = x + place, *p1 = x + second, *p2 = x + third;\n"
        "    const int32_t last = size - x_tap * 2; /* where a row that does not go on at the beginning may begin */\n";
    values['i'] = "if (place < last && second < last && third < last) ";
    values['f'] = "    int32_t row = place;\n";
    values['g'] = "      int32_t place_of_tap = row;\n";
    values['h'] = "        const " + x + "* const p = x + place_of_tap;\n";
    values['j'] = "        place_of_tap += x_tap;\n        if (place_of_tap >= size) place_of_tap -= size;\n";
    values['k'] = "      row += x_row;\n      if (row >= size) row -= size;\n";
  } else {
    values['p'] = "    const " + x + " *p0 = x, *p1 = x + x_row, *p2 = p1 + x_row;\n";
    values['i'] = "";
    values['h'] = "";
    values['r'] = "";
    values['f'] = "    const " + x + "* row = x;\n";
    values['g'] = "      const " + x + "* p = row;\n";
    values['j'] = "        p += x_tap;\n";
    values['k'] = "      row += x_row;\n";
  }
  return define(name, fill(lane_window_text, values));
}

}  // namespace usmp::codegen

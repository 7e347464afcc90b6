// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements that are written once a channel become loops. What they compute before and after is compared in
// tests/e2e/dsp_helpers.py.
#include "tvm_c/body/reroll.hpp"

#include <doctest/doctest.h>

#include <string>

#include "usmp/tir/printer.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::reroll_test {
namespace {

// The body of the operator in TIR.
std::string read(const std::string& body) {
  const std::string text = "int32_t tvmgen_m_op(int8_t* p, int8_t* q, int32_t* c) {\n" + body +
                           "  return 0;\n}\n"
                           "int32_t tvmgen_m___tvm_main__(int8_t* p, int8_t* q, int32_t* c) {\n"
                           "  if (tvmgen_m_op(p, q, c) != 0 ) return -1;\n  return 0;\n}\n";
  const Source source{"lib1.c", text};
  const tir::Module module = read_module("m", {&source, 1});
  const std::string printed = tir::print(module, module.functions[*module.find("tvmgen_m_op")]);
  const std::size_t begin = printed.find("{\n") + 2;
  return printed.substr(begin, printed.rfind('}') - begin);
}

bool is_rerolled(const std::string& body) { return read(body).find("lane") != std::string::npos; }

}  // namespace

TEST_CASE("sums of neighbours become a loop over them") {
  const std::string declared = "  int32_t s0 = 0;\n  int32_t s1 = 0;\n  int32_t s2 = 0;\n";
  const std::string loops = "  for (int32_t k = 0; k < 9; ++k) {\n";
  const std::string terms =
      "    s0 += p[(k * 4)] * q[k];\n    s2 += p[((k * 4) + 2)] * q[(k + 20)];\n    s1 += p[((k * 4) + 1)] * q[(k + "
      "10)];\n  }\n";
  const std::string stored = "  c[5] = s0;\n  c[7] = s1;\n  c[9] = s2;\n";
  CHECK(read(declared + loops + terms + stored) ==
        "  allocate s0: int32[3]\n"
        "  for lane in [0, 3) {\n    s0[lane] = 0\n  }\n"
        "  for k in [0, 9) {\n"
        "    for lane_1 in [0, 3) {\n      s0[lane_1] = s0[lane_1] + int32(p[k * 4 + lane_1] * q[k + lane_1 * 10])\n   "
        " }\n"
        "  }\n"
        "  for lane_2 in [0, 3) {\n    c[5 + lane_2 * 2] = s0[lane_2]\n  }\n");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string all = declared + loops + terms + stored;
    all.replace(all.find(from), from.size(), to);
    CAPTURE(all);
    return is_rerolled(all);
  };
  CHECK(with("c[9]", "c[9]"));
  // Near misses.
  CHECK_FALSE(with("c[9]", "c[10]"));
  CHECK_FALSE(with("c[9] = s2", "c[9] = s1"));
  CHECK_FALSE(with("c[9] = s2", "c[9] = s2 + 1"));
  CHECK_FALSE(with("int32_t s2 = 0", "int32_t s2 = c[0]"));
  CHECK_FALSE(with("int32_t s2 = 0", "int16_t s2 = 0"));
  CHECK_FALSE(with("p[((k * 4) + 2)]", "p[((k * 4) + 3)]"));
  CHECK_FALSE(with("p[((k * 4) + 2)]", "q[((k * 4) + 2)]"));
  CHECK_FALSE(with("p[((k * 4) + 2)]", "p[((k * 5) + 2)]"));
  CHECK_FALSE(with("q[(k + 20)]", "s0"));
  CHECK(is_rerolled(declared + loops + "    s0 += s0;\n    s1 += s1;\n    s2 += s2;\n  }\n" + stored));
  CHECK_FALSE(is_rerolled(declared + loops + "    s0 += s1;\n    s1 += s2;\n    s2 += s0;\n  }\n" + stored));
  CHECK_FALSE(with("s2 +=", "s2 -="));
  CHECK_FALSE(with("s2 += p", "s2 += 1 + p"));
  CHECK_FALSE(with("  c[5] = s0", "  s1 = s0;\n  c[5] = s0"));
  CHECK_FALSE(with("  c[5] = s0", "  if (s1 > 3) {\n    c[0] = 1;\n  }\n  c[5] = s0"));
  CHECK_FALSE(with("    s0 +=", "    c[k] = s2;\n    s0 +="));
  CHECK_FALSE(with("  c[7] = s1;\n", ""));
}

TEST_CASE("variables that are not stored side by side stay") {
  CHECK_FALSE(is_rerolled("  int32_t s0 = 0;\n  s0 += p[0];\n  c[0] = s0;\n"));
  CHECK_FALSE(is_rerolled(
      "  int32_t s0 = 0;\n  int32_t s1 = 0;\n  s0 += p[0];\n  s1 += p[1];\n  c[p[2]] = s0;\n  c[p[3]] = s1;\n"));
}

TEST_CASE("values of variables do not wait behind stores to these, but behind others") {
  const std::string text = read(
      "  int32_t s = p[0];\n  int32_t t = p[1];\n  int32_t v = s;\n  int32_t u = t + 1;\n  s = 3;\n  t = v + s;\n  "
      "c[0] = u + t;\n");
  CAPTURE(text);
  const std::size_t value = text.find("let v: int32 = s[0]");
  CHECK(value < text.find("s[0] = 3"));
  CHECK(text.find("let u: int32 = t[0] + 1") > text.find("s[0] = 3"));
  CHECK(text.find("let u: int32 = t[0] + 1") < text.find("t[0] = v + s[0]"));
}

}  // namespace usmp::tvm_c::reroll_test

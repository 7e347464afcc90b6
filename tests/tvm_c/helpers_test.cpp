// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions that operators call are read where they are called, or stay.
#include "tvm_c/body/helpers.hpp"

#include <doctest/doctest.h>

#include <string>

#include "usmp/support/error.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::helpers_test {
namespace {

// The body of the operator in TIR; "stays: " and the names of functions whose C stays.
std::string read(const std::string& body, const std::string& helpers) {
  const std::string text = helpers + "int32_t tvmgen_m_op(int8_t* p, int8_t* q, int32_t* c) {\n" + body +
                           "\n  return 0;\n}\n"
                           "int32_t tvmgen_m___tvm_main__(int8_t* p, int8_t* q, int32_t* c) {\n"
                           "  if (tvmgen_m_op(p, q, c) != 0 ) return -1;\n  return 0;\n}\n";
  const Source source{"lib1.c", text};
  try {
    const PlannedModule module = read_planned_module("m", {&source, 1}, {}, {}, Unread::kept);
    std::string kept;
    for (const KeptFunction& one : module.kept) kept += " " + one.name;
    if (!kept.empty()) return "stays:" + kept;
    const std::string printed = tir::print(module.module, module.module.functions[*module.module.find("tvmgen_m_op")]);
    const std::size_t begin = printed.find("{\n") + 2;
    return printed.substr(begin, printed.rfind('}') - begin);
  } catch (const Error& error) {
    return error.what();
  }
}

// As TVM writes them for Cortex-M.
const std::string gemm = R"(
static inline int32_t gemm_loop(int8_t *aa, int8_t *bb, int32_t *cc, int A_stride, int C_stride) {
  for (int i = 0; i < 1; i++) {
    for (int j = 0; j < 1; j++) {
      int32_t sum = 0;
      for (int l = 0; l < 1; l++) {
        sum += (int32_t) aa[i*A_stride + l] * (int32_t) bb[j + l];
      }
      // with comments
      cc[i*C_stride + j] += sum;
    }
  }
  return 0;
}
#ifdef __cplusplus
extern "C"
#endif
__attribute__((always_inline)) static inline int32_t gemm(int8_t *aa, int8_t *bb, int32_t *cc, int A_stride, int C_stride) {
  int16_t bb_pad[1];
  int32_t retcode = 0;
  if ( 1 < 2 && A_stride < 2 ) {
    retcode = gemm_loop(aa, bb, cc, A_stride, C_stride);
    goto out;
  }
  for (int i = 0; i < 1; i++) cc[i] = __smlad(*(int32_t*)aa, bb_pad[0], 0);
out:
  return retcode;
}
)";

}  // namespace

TEST_CASE("a helper is read with the values of its arguments") {
  CHECK(read("  for (int32_t k = 0; k < 64; ++k) {\n    gemm((&(p[k])), (&(q[(k * 2)])), (&(c[3])), 1, 1);\n  }",
             gemm) == read("  for (int32_t k = 0; k < 64; ++k) {\n    int32_t sum = ((int32_t)p[k]) * ((int32_t)q[k * "
                           "2]);\n    c[3] = c[3] + sum;\n  }",
                           ""));
  // Another path of it, with what is not read.
  CHECK(read("  gemm(p, q, c, 2, 1);", gemm).starts_with("stays:"));
}

TEST_CASE("loops, branches and variables of helpers") {
  const auto is_same = [](const std::string& helper, const std::string& inlined) {
    const std::string found = read(
        "  f(p, q, c, 4);", "static int32_t f(int8_t* a, int8_t* b, int32_t* c, int n) {" + helper + " return 0; }\n");
    const std::string expected = read(inlined, "");
    CHECK(found == expected);
  };
  is_same("for (int i = 0; i < n; ++i) c[i] = a[i] + b[2 * i];",
          "  for (int32_t i = 0; i < 4; ++i) {\n    c[i] = p[i] + q[2 * i];\n  }");
  is_same("for (int i = 1; i <= n * 2; i++) { c[i] += a[i]; }",
          "  for (int32_t i = 1; i < 9; ++i) {\n    c[i] = c[i] + p[i];\n  }");
  is_same("for (int i = 0; i < n; ++i) if (a[i] > b[i]) b[i] = a[i]; else { b[i] = 0; }",
          "  for (int32_t i = 0; i < 4; ++i) {\n    if (p[i] > q[i]) {\n      q[i] = p[i];\n    } else {\n      q[i] = "
          "0;\n    }\n  }");
  is_same("int32_t s = 0; for (int i = 0; i < n; ++i) s += a[i] * b[i]; c[0] = s;",
          "  int32_t s;\n  s = 0;\n  for (int32_t i = 0; i < 4; ++i) {\n    s = s + p[i] * q[i];\n  }\n  c[0] = s;");
  is_same("int8_t* r = a + n; c[0] = *r++; c[1] = *r; r += 0; --r; c[2] = r[1];",
          "  c[0] = p[4];\n  c[1] = p[5];\n  c[2] = p[5];");
  is_same("switch (n % 3) { case 0: c[0] = 1; break; case 1: c[0] = 2; break; case 2: c[0] = 3; break; }",
          "  c[0] = 2;");
  is_same("int k = (n / 4) * 4; { int k = 7; c[k] = 1; } c[k] = 2;", "  c[7] = 1;\n  c[4] = 2;");
  is_same("n -= 4; if (n == 0) goto out; c[0] = 1; out: c[1] = 2;", "  c[1] = 2;");
  is_same("if (n > 4) return 1; for (int i = 5; i < n; ++i) return 1; c[0] = n > 3 ? 1 : 2;",
          "  c[0] = (4 > 3) ? 1 : 2;");
  // What is loaded stays what it was.
  is_same("int8_t x = a[0]; a[0] = b[0]; b[0] = x;", "  int8_t x = p[0];\n  p[0] = q[0];\n  q[0] = x;");
  is_same("int32_t x0 = c[0]; int32_t x = x0; for (int i = 0; i < n; ++i) { x = x + 1; c[i] = x; }",
          "  int32_t x0 = c[0];\n  int32_t x;\n  x = x0;\n  for (int32_t i = 0; i < 4; ++i) {\n    x = x + 1;\n    "
          "c[i] = x;\n  }");
}

TEST_CASE("what is beyond what is read stays, with its call") {
  for (const std::string body : {"while (n) { n--; } return 0;",
                                 "return n;",
                                 "return 1;",
                                 "c[0] = n;",
                                 "return a[0];",
                                 "undeclared(n); return 0;",
                                 "int8_t x; c[0] = x; return 0;",
                                 "int8_t x[4]; x[0] = 1; return 0;",
                                 "static int x = 0; c[0] = x; return 0;",
                                 "c[0] = counter; return 0;",
                                 "counter = n; return 0;",
                                 "for (int i = 0; i < a[0]; ++i) c[i] = 1; return 0;",
                                 "for (int i = 0; i < n; ++i) { if (a[i]) break; } return 0;",
                                 "for (int i = 0; i < n; ++i) { if (a[i]) return 0; } return 0;",
                                 "for (int i = 0; i < n; ++i) { ++i; c[i] = 1; } return 0;",
                                 "for (int i = 0; i < 1; ++i) { --i; c[0] = 1; } return 0;",
                                 "for (int i = 0; i < n; ++i) { c[i] = *a++; } return 0;",
                                 "for (int i = n; i > 0; --i) { c[i] = 1; } return 0;",
                                 "back: c[0] = 1; if (n > 3) goto back; return 0;",
                                 "return f(a, b, c, n);",
                                 "c[0] = (int)sizeof(a); return 0;",
                                 "volatile int8_t* r = a; c[0] = *r; return 0;",
                                 "long k = n; c[k] = 1; return 0;",
                                 "c[0] = a[0] b; return 0;",
                                 "asm(\"nop\"); return 0;",
                                 "c[0] = (n, 1); return 0;",
                                 "switch (a[0]) { case 1: c[0] = 1; break; } return 0;",
                                 "switch (n) { default: c[0] = 1; break; } return 0;",
                                 "int m = n++ + 1; c[0] = m; return 0;"}) {
    CAPTURE(body);
    const std::string found =
        read("  f(p, q, c, 4);", "int counter;\nint32_t f(int8_t* a, int8_t* b, int32_t* c, int n) { " + body + " }\n");
    CHECK(found.starts_with("stays: f"));
  }
  const std::string plain = "int32_t f(int8_t* a, int8_t* b, int32_t* c, int n) { c[n] = a[0]; return 0; }\n";
  CHECK(read("  f(p, q, c, 4);", plain) == read("  c[4] = p[0];", ""));
  CHECK(read("  f(p, q, c, 4);", "__attribute__((weak)) " + plain).starts_with("stays: f"));
  CHECK(read("  f(p, q, c, 4);", "UNKNOWN " + plain).starts_with("stays: f"));
  CHECK(read("  f(p, q, c, 4);", "#ifdef FAST\n" + plain + "#endif\n").find("c[4] = p[0]") == std::string::npos);
  CHECK(read("  f(p, q, c);", plain).find("stays: f") != std::string::npos);
}

}  // namespace usmp::tvm_c::helpers_test

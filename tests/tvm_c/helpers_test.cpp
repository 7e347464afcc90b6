// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions that operators call are read where they are called, or stay.
#include "tvm_c/body/helpers.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tvm_c/read_helper.hpp"

namespace usmp::tvm_c::helpers_test {
using test::read_helper;
using test::Staying;

namespace {

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

const std::string other_loop = "a loop other than for (int i = A; i < B; ++i), A and B constant";
const std::string other_widths =
    "a number of size_t, long or such, with which not all machines, or all values of a variable, compute the same";

}  // namespace

TEST_CASE("a helper is read with the values of its arguments") {
  CHECK(read_helper("  for (int32_t k = 0; k < 64; ++k) {\n    gemm((&(p[k])), (&(q[(k * 2)])), (&(c[3])), 1, 1);\n  }",
                    gemm) ==
        read_helper("  for (int32_t k = 0; k < 64; ++k) {\n    int32_t sum = ((int32_t)p[k]) * ((int32_t)q[k * "
                    "2]);\n    c[3] = c[3] + sum;\n  }",
                    ""));
  // Another path of it, with what is not read.
  CHECK(read_helper("  gemm(p, q, c, 2, 1);", gemm).starts_with("stays:"));
}

TEST_CASE("helpers see the headers that their file includes") {
  const std::string call = "  f(p, q, c, 4);";
  const std::string front = "#include \"conf.h\"\nstatic int32_t f(int8_t* a, int8_t* b, int32_t* c, int n) { ";
  const auto with = [&](const std::string& header, const std::string& helper) {
    return read_helper(call, front + helper + " return 0; }\n", {{"a/conf.h", header}});
  };
  CHECK(with("#define ROWS 3\n#define AT(x) (x + 1)\n", "c[AT(n)] = ROWS;") == read_helper("  c[5] = 3;", ""));
  CHECK(with("#define FAST 1\n", "\n#if FAST\nc[0] = 1;\n#else\nc[0] = 2;\n#endif\n") ==
        read_helper("  c[0] = 1;", ""));
  CHECK(
      with("#ifdef UNKNOWN\n#define ROWS 3\n#else\n#define ROWS 4\n#endif\n", "c[0] = ROWS;").starts_with("stays: f"));
  // A macro in the place of a function in front of it, also where headers of one name differ.
  const std::string g = "static int32_t g(int32_t x) { return x + 1; }\n";
  const std::string of_g = "static int32_t f(int8_t* a, int8_t* b, int32_t* c, int n) { c[0] = g(n); return 0; }\n";
  CHECK(read_helper(call, g + of_g) == read_helper("  c[0] = 4 + 1;", ""));
  const std::string macro = "#define g(x) (x * 2)\n";
  CHECK(read_helper(call, g + "#include \"conf.h\"\n" + of_g, {{"conf.h", macro}}) ==
        read_helper("  c[0] = 4 * 2;", ""));
  CHECK(read_helper(call, g + "#include \"conf.h\"\n" + of_g, {{"a/conf.h", macro}, {"b/conf.h", ""}})
            .starts_with("stays: f g"));
  // Functions of a header are no helpers.
  CHECK(read_helper(call, "#include \"conf.h\"\n" + of_g, {{"conf.h", g}}).starts_with("stays:"));
}

TEST_CASE("loops, branches and variables of helpers") {
  const auto is_same = [](const std::string& helper, const std::string& inlined) {
    const std::string found = read_helper(
        "  f(p, q, c, 4);", "static int32_t f(int8_t* a, int8_t* b, int32_t* c, int n) {" + helper + " return 0; }\n");
    const std::string expected = read_helper(inlined, "");
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
  is_same("switch (n) { case 4: c[0] = 1; return 0; case 5: c[0] = 2; } c[1] = 3;", "  c[0] = 1;");
  is_same("if (n) goto out; c[0] = 1; other: c[0] = 2; out: c[1] = 3;", "  c[1] = 3;");
  is_same("int k = (n / 4) * 4; { int k = 7; c[k] = 1; } c[k] = 2;", "  c[7] = 1;\n  c[4] = 2;");
  is_same("int8_t k = 300; size_t m = n; ++m; c[m] = k;", "  c[5] = 44;");
  is_same(
      "for (int i = 0; i < n; ++i) { c[i] = *a; for (int j = 1; j < 4; ++j) ++a; }",
      "  for (int32_t i = 0; i < 4; ++i) {\n    c[i] = p[i * 3];\n    for (int32_t j = 1; j < 4; ++j) {\n    }\n  }");
  // What changes behind a loop is no variable of the loop.
  is_same("for (int i = 0; i < n; ++i) c[i] = 1; n += 3; c[n] = 1;",
          "  for (int32_t i = 0; i < 4; ++i) {\n    c[i] = 1;\n  }\n  c[7] = 1;");
  is_same("for (int i = 0; i < n; ++i) { int m = 2; for (int j = 0; j < m; ++j) c[i * m + j] = 1; }",
          "  for (int32_t i = 0; i < 4; ++i) {\n    for (int32_t j = 0; j < 2; ++j) {\n      c[i * 2 + j] = 1;\n    "
          "}\n  }");
  is_same("for (int i = 0; i < n; ++i) { int8_t x; x = *a++; c[i] = x; } c[4] = *a;",
          "  for (int32_t i = 0; i < 4; ++i) {\n    int8_t x = p[i];\n    c[i] = x;\n  }\n  c[4] = p[4];");
  is_same("for (int i = 4; i < n; ++i) return 1; for (int i = 1; i < 2; ++i) c[i] = 1;", "  c[1] = 1;");
  is_same(
      "uint8_t m = n; for (int i = 0; i < 4u; ++i) c[i] = 1; for (int i = -1; i < m; ++i) c[i + 1] = 1;",
      "  for (int32_t i = 0; i < 4; ++i) {\n    c[i] = 1;\n  }\n  for (int32_t i = -1; i < 4; ++i) {\n    c[i + 1] = "
      "1;\n  }");
  is_same("for (int i = 0x7ffffffe; i < 0x7fffffff; ++i) c[0] = 1;", "  c[0] = 1;");
  is_same("n -= 4; if (n == 0) goto out; c[0] = 1; out: c[1] = 2;", "  c[1] = 2;");
  is_same("if (n > 4) return 1; for (int i = 5; i < n; ++i) return 1; c[0] = n > 3 ? 1 : 2;",
          "  c[0] = (4 > 3) ? 1 : 2;");
  is_same("for (int i = 0; i < n; ++i) { c[i] = *a++; } c[n] = *a;",
          "  for (int32_t i = 0; i < 4; ++i) {\n    c[i] = p[i];\n  }\n  c[4] = p[4];");
  is_same(
      "int8_t* r = b + 1; for (int i = 2; i < n; ++i) { c[i] = *r; ++r; for (int j = 0; j < 3; j++) r++; } c[n] = *r;",
      "  for (int32_t i = 2; i < 4; ++i) {\n    c[i] = q[1 + (i - 2) * 4];\n    for (int32_t j = 0; j < 3; ++j) {\n    "
      "}\n  "
      "}\n  c[4] = q[9];");
  is_same("int16_t x[n]; for (int i = 0; i < n; ++i) x[i] = a[i]; c[0] = x[3] + (int)sizeof(x);",
          "  int16_t x[4];\n  for (int32_t i = 0; i < 4; ++i) {\n    x[i] = ((int16_t)p[i]);\n  }\n  c[0] = x[3] + 8;");
  is_same("memset(a, 0xff, n * sizeof(*a)); memcpy(b, a, 3);",
          "  for (int32_t i = 0; i < 4; ++i) {\n    p[i] = (int8_t)-1;\n  }\n  for (int32_t i = 0; i < 3; ++i) {\n    "
          "q[i] = p[i];\n  }");
  is_same("memset(a, 1, 0); memcpy(a, b, 0); c[0] = 1;", "  c[0] = 1;");
  is_same("int32_t w[2]; memcpy(w, c, 8); c[0] = w[1];",
          "  int32_t w[2];\n  for (int32_t i = 0; i < 2; ++i) {\n    w[i] = c[i];\n  }\n  c[0] = w[1];");
  is_same("a += 3; a -= 1; c[0] = a[n - 3];", "  c[0] = p[3];");
  is_same("c[0] = -n; c[1] = !n; c[2] = ~n;", "  c[0] = -4;\n  c[1] = 0;\n  c[2] = -5;");
  is_same("size_t m = 0; c[m] = 1; size_t last = 0x7fffffff; c[last - 0x7ffffffe] = 2;", "  c[0] = 1;\n  c[1] = 2;");
  is_same("memset(a, 0, (int)sizeof(int32_t) - 3);", "  for (int32_t i = 0; i < 1; ++i) {\n    p[i] = (int8_t)0;\n  }");
  // Numbers of size_t and sizeof, where all machines compute the same.
  is_same("size_t m = n; m = m * 2 + 1; m -= 4; c[m / 2] = m % 3; c[0] = m > 4u && !(m < n);",
          "  c[2] = 2;\n  c[0] = 1;");
  is_same("long k = -2; c[n + k] = -k; a[n - sizeof(int16_t)] = 1; a += sizeof(*c) != sizeof(int32_t) ? 1 : 2; *a = 1;",
          "  c[2] = 2;\n  p[2] = (int8_t)1;\n  p[2] = (int8_t)1;");
  // Whatever i is.
  is_same("for (int i = 0; i < n; ++i) { if ((i * 6) % 2 != 0) return 1; if ((i * 8 - 4) % 4) return 1; c[i] = 1; }",
          "  for (int32_t i = 0; i < 4; ++i) {\n    c[i] = 1;\n  }");
  // What is loaded stays what it was.
  is_same("int8_t* r = a + c[0]; c[0] = 1; c[1] = *r;", "  int32_t r = c[0];\n  c[0] = 1;\n  c[1] = p[r];");
  is_same("int8_t x = a[0]; a[0] = b[0]; b[0] = x;", "  int8_t x = p[0];\n  p[0] = q[0];\n  q[0] = x;");
  is_same("int32_t x0 = c[0]; int32_t x = x0; for (int i = 0; i < n; ++i) { x = x + 1; c[i] = x; }",
          "  int32_t x0 = c[0];\n  int32_t x;\n  x = x0;\n  for (int32_t i = 0; i < 4; ++i) {\n    x = x + 1;\n    "
          "c[i] = x;\n  }");
}

TEST_CASE("what is beyond what is read stays, with its call") {
  for (const auto& [body, reason] : std::vector<Staying>{
           {"while (n) { n--; } return 0;", "'while', a statement beyond what is read"},
           {"return n;", "a result other than 0, expected none or 0"},
           {"return 1;", "a result other than 0, expected none or 0"},
           {"c[0] = n;", "an end of the function without a value"},
           {"return a[0];", "a result other than 0, expected none or 0"},
           {"undeclared(n); return 0;", "a call of 'undeclared', which this file does not define"},
           {"int8_t x; c[0] = x; return 0;", "'x' used, which is no variable of the function with a value"},
           {"int8_t x[n + a[0]]; x[0] = 1; return 0;", "an array without a constant number of elements"},
           {"int8_t x[n - n]; x[0] = 1; return 0;", "'x' used, which is no variable of the function with a value"},
           {"static int x = 0; c[0] = x; return 0;", "a declaration with more than a type, a name and a number"},
           {"c[0] = counter; return 0;", "'counter' used, which is no variable of the function with a value"},
           {"counter = n; return 0;", "'counter' changed before it has a value"},
           {"for (int i = 0; i < a[0]; ++i) c[i] = 1; return 0;", other_loop},
           {"for (int i = 0; i < n; ++i) { if (a[i]) break; } return 0;", "'break', a statement beyond what is read"},
           {"for (int i = 0; i < n; ++i) { if (a[i]) return 0; } return 0;",
            "return or goto in a loop or in a branch that is not constant"},
           {"for (int i = 0; i < n; ++i) { ++i; c[i] = 1; } return 0;", "a loop's counter changed in the loop"},
           {"for (int i = 0; i < 1; ++i) { --i; c[0] = 1; } return 0;", "a loop's counter changed in the loop"},
           {"for (int i = 0; i < n; ++i) { a = b; c[i] = *a++; } return 0;", "'a' set in a loop"},
           {"for (int i = 0; i < n; ++i) { if (b[i]) a++; c[i] = *a; } return 0;", "'a' moved under a condition"},
           {"for (int i = 0; i < n; ++i) { a += b[i]; c[i] = *a; } return 0;", "'a' set in a loop"},
           {"for (int i = 0; i < n; ++i) { for (int j = i; j < n; ++j) c[i] = *a++; } return 0;",
            "'i' used, which is no variable of the function with a value"},
           {"for (int i = n; i > 0; --i) { c[i] = 1; } return 0;", other_loop},
           {"for (int i = 0x7ffffffe; i <= 0x7fffffff; ++i) { c[i] = 1; } return 0;", other_loop},
           {"back: c[0] = 1; if (n > 3) goto back; return 0;",
            "goto to a label that is not further down in the function's own block"},
           {"return f(a, b, c, n);", "calls more than 16 deep"},
           {"c[0] = (int)sizeof(a); return 0;", "sizeof of what is no number, element or array"},
           {"volatile int8_t* r = a; c[0] = *r; return 0;", "a type that is volatile or bool"},
           {"long k = c[0]; c[k] = 1; return 0;", "a type that is not known, or not of the same size on all machines"},
           {"c[0] = a[0] b; return 0;", "'c', a statement beyond what is read"},
           {"asm(\"nop\"); return 0;", "'asm', a statement beyond what is read"},
           {"c[0] = (n, 1); return 0;", "an expression beyond what is read"},
           {"switch (a[0]) { case 1: c[0] = 1; break; } return 0;", "switch of what is no constant"},
           {"switch (n) { default: c[0] = 1; break; } return 0;", "default in switch"},
           {"size_t m = n; c[0] = m - 5 > 0; return 0;", other_widths},
           {"size_t m = n; c[0] = a[0] / m; return 0;", other_widths},
           {"size_t m = n; c[0] = -m; return 0;", other_widths},
           {"size_t m = n; m -= 5; c[0] = m; return 0;", other_widths},
           {"size_t m = n; c[0] = n > 3 ? m : -1; return 0;", other_widths},
           {"int k = -1; c[0] = k < sizeof(int32_t); return 0;", other_widths},
           {"long k = -1; c[0] = k < 1u; return 0;", other_widths},
           {"c[0] += sizeof(int32_t); return 0;", other_widths},
           {"c[0] = ~sizeof(int32_t) > 5; return 0;", other_widths},
           {"size_t m = n; for (int i = -1; i < m; ++i) c[i + 1] = 1; return 0;", other_loop},
           {"for (int i = -1; i < 4u; ++i) c[i + 1] = 1; return 0;", other_loop},
           {"for (int i = 0; i < n; ++i) { n--; c[i] = 1; } return 0;", "'n' changed in a loop that it ends"},
           {"for (int i = 3; i < n + 1; ++i) { if (a[i]) n = 0; c[i] = 1; } return 0;",
            "'n' changed in a loop that it ends"},
           {"for (int i = 3; i < n; ++i) { memcpy(&n, a, 4); } return 0;", "'n' changed in a loop that it ends"},
           {"c[0] = a[0] ? *b++ : 0; c[1] = *b; return 0;",
            "++ or -- of a pointer in an expression of a condition, a size, a call or a return"},
           {"c[0] = a[0] && *b++; c[1] = *b; return 0;",
            "++ or -- of a pointer in an expression of a condition, a size, a call or a return"},
           {"c[0] = a[0] || *b++; c[1] = *b; return 0;",
            "++ or -- of a pointer in an expression of a condition, a size, a call or a return"},
           {"c[0] = a[0] ? g(a[0]) : 0; return 0;", "a call in an operand that C may skip"},
           {"c[0] = a[0] ? 0 : g(a[0]); return 0;", "a call in an operand that C may skip"},
           {"c[0] = a[0] && g(a[0]); return 0;", "a call in an operand that C may skip"},
           {"c[0] = a[0] || 1 + g(a[0]); return 0;", "a call in an operand that C may skip"},
           {"switch (n) case 4: c[0] = 1; return 0;", "switch without a block"},
           {"unsigned k = -1; switch (k) { case -1: c[0] = 1; break; } return 0;",
            "a case that is no constant of int, from 0 on"},
           {"switch (n) { case 0x80000000u: c[0] = 1; break; } return 0;",
            "a case that is no constant of int, from 0 on"},
           {"for (int i = 0;; ++i) { c[0] = 1; } return 0;", other_loop},
           {"for (int i; i < n; ++i) { c[0] = 1; } return 0;", other_loop},
           {"for (int i = 0; i < 65536; ++i) { for (int j = 0; j < 65536; ++j) c[0] = *a++; } return 0;",
            "a pointer that moves too far"},
           {"for (int i = 0; i < 65536; ++i) { for (int j = 0; j < 65536; ++j) c[0] = *a--; } return 0;",
            "a pointer that moves too far"},
           {"int32_t x UNKNOWN = 1; c[0] = x; return 0;", "a declaration with more than a type, a name and a number"},
           {"for (int i = 0; i < n;) { c[0] = 1; } return 0;", other_loop},
           {"for (int i = 0, j = 0; i < n; ++i) { c[0] = 1; } return 0;", other_loop},
           {"for (int8_t i = 0; i < n; ++i) { c[0] = 1; } return 0;", other_loop},
           {"for (int i = 0; n < 5; ++i) { c[0] = 1; } return 0;", other_loop},
           {"for (int i = 0; i != n; ++i) { c[0] = 1; } return 0;", other_loop},
           {"for (int i = 0; i < n; --i) { c[0] = 1; } return 0;", other_loop},
           {"for (int i = 0; i < n; ++n) { c[0] = 1; } return 0;", other_loop},
           {"for (int i = 0; i < n; i += 1) { c[0] = 1; } return 0;", other_loop},
           {"int x __attribute__((aligned(8))) = 1; c[0] = x; return 0;",
            "a declaration with more than a type, a name and a number"},
           {"int x[2] = {1, 2}; c[0] = x[0]; return 0;", "a declaration with more than a type, a name and a number"},
           {"int8_t x[0x80000000u]; x[0] = 1; return 0;", "an array without a constant number of elements"},
           {"int8_t* x[2]; x[0] = a; return 0;", "an array without a constant number of elements"},
           {"void* x[2]; x[0] = a; return 0;", "an array without a constant number of elements"},
           {"(int)g(n); return 0;", "the result of a call as something else"},
           {"(void)n; return 0;", "a statement that is no assignment and no call"},
           {"c[0]; return 0;", "a statement that is no assignment and no call"},
           {"if (*a++) c[0] = 1; return 0;",
            "++ or -- of a pointer in an expression of a condition, a size, a call or a return"},
           {"_Bool k = n; c[0] = k; return 0;", "a type that is volatile or bool"},
           {"struct S* s = (struct S*)a; s = s + 1; return 0;", "a pointer to void moved, expected one to numbers"},
           {"int8_t** r = (int8_t**)a; return 0;", "a pointer to pointers, expected one to numbers"},
           {"size_t m = 0x80000000u; c[0] = m == 0; return 0;",
            "a type that is not known, or not of the same size on all machines"},
           {"size_t m = 0 - n; c[0] = m == 0; return 0;",
            "a type that is not known, or not of the same size on all machines"},
           {"c[0] = (int)sizeof(void); return 0;", "sizeof of what is no number, element or array"},
           {"void* v = a; c[0] = (int)sizeof(*v); return 0;", "sizeof of what is no number, element or array"},
           {"c[0] = (int)sizeof(!a); return 0;", "sizeof of an expression"},
           {"c[0] = (int)sizeof(undeclared); return 0;", "sizeof of an expression"},
           {"c[0] = 5 * 0.5f; return 0;", "a literal that is no integer"},
           {"c[0] = 5L; return 0;", "a literal whose type is not the same on all machines"},
           {"c[0] = 0xffffffffffffffffu != 0; return 0;", "a literal whose type is not the same on all machines"},
           {"for (int i = 0; i < n; ++i) { if ((i * 2) % 4 != 0) return 1; } return 0;",
            "return or goto in a loop or in a branch that is not constant"},
           {"for (int i = 0; i < n; ++i) { if ((i * 3) % 3 != 0) return 1; } return 0;",
            "return or goto in a loop or in a branch that is not constant"},
           {"for (int i = 0; i < n; ++i) { if ((i * 4) % 3 != 0) return 1; } return 0;",
            "return or goto in a loop or in a branch that is not constant"},
           {"for (int i = 0; i < n; ++i) { if (c[i * 4] % 4 != 0) return 1; } return 0;",
            "return or goto in a loop or in a branch that is not constant"},
           {"int x; if (a[0]) x = 1; c[0] = x; return 0;", "'x' changed in a loop or branch, declared around it"},
           {"int x; for (int i = 0; i < n; ++i) x = i; c[0] = x; return 0;",
            "'x' changed in a loop or branch, declared around it"},
           {"if (a[0]) a = b; c[0] = a[0]; return 0;", "'a' changed in a loop or branch, which is no number"},
           {"int x; x += n; c[0] = x; return 0;", "'x' changed before it has a value"},
           {"int m = n++ + 1; c[0] = m; return 0;", "an expression that changes something else than a pointer"}}) {
    CAPTURE(body);
    const std::string found =
        read_helper("  f(p, q, c, 4);",
                    "int counter;\nint32_t g(int32_t x) { return 100 / x; }\nint32_t f(int8_t* a, "
                    "int8_t* b, int32_t* c, int n) { " +
                        body + " }\n");
    CHECK(found.starts_with("stays: f"));
    CHECK(found.ends_with(", found " + reason));
  }
  const std::string plain = "int32_t f(int8_t* a, int8_t* b, int32_t* c, int n) { c[n] = a[0]; return 0; }\n";
  CHECK(read_helper("  f(p, q, c, 4);", plain) == read_helper("  c[4] = p[0];", ""));
  CHECK(read_helper("  f(p, q, c, 4);", "__attribute__((weak)) " + plain).starts_with("stays: f"));
  CHECK(read_helper("  f(p, q, c, 4);", "UNKNOWN " + plain).starts_with("stays: f"));
  CHECK(read_helper("  f(p, q, c, 4);", "#ifdef FAST\n" + plain + "#endif\n").find("c[4] = p[0]") == std::string::npos);
  CHECK(read_helper("  f(p, q, c);", plain).find("stays: f") != std::string::npos);
  // Functions without a result, whose calls may be cast to void; with more arguments, as they like.
  const std::string without = "static void g(int32_t* c) { c[1] = 5; }\nstatic void f(int32_t* c) { (void)g(c); }\n";
  CHECK(read_helper("  f(c);", without) == read_helper("  c[1] = 5;", ""));
  CHECK(read_helper("  f(c);", "static void f(int32_t* c, ...) { c[1] = 5; }\n") ==
        "stays: f, found a call with other arguments than the function has");
}

TEST_CASE("pointers to void are not moved, as some compilers count bytes there") {
  const auto moved = [](const std::string& pointer) {
    return read_helper("  f(p, q, c);", "static int32_t f(void* a, int8_t* b, int32_t* c) { int32_t* r = " + pointer +
                                            "; r[0] = 1; return 0; }\n");
  };
  CHECK(moved("(int32_t*)(void*)(c + 1)") == read_helper("  c[1] = 1;", ""));
  const std::string message = "stays: f, found a pointer to void moved, expected one to numbers";
  CHECK(moved("(int32_t*)((void*)c + 1)") == message);
  CHECK(moved("(int32_t*)(((void*)b - 4))") == message);
  CHECK(moved("(int32_t*)(a + 4)") == message);
  CHECK(moved("(int32_t*)((void*)c + 0)") == read_helper("  c[0] = 1;", ""));
  CHECK(moved("(int32_t*)&((void*)c)[1]") == message);
  // In the operator itself.
  CHECK(read_helper("  void* v = c;\n  int32_t* r = (int32_t*)v;\n  r[1] = 1;", "") == read_helper("  c[1] = 1;", ""));
  for (const std::string body : {"  void* v = c;\n  int32_t* r = (int32_t*)(v + 4);\n  r[0] = 1;",
                                 "  memcpy((void*)c + 4, q, 4);", "  void* v = c;\n  memcpy(c, q, sizeof(*v));",
                                 "  void* w = TVMBackendAllocWorkspace(1, 0, (uint64_t)64, 0, 32);\n  int32_t* r = "
                                 "(int32_t*)(w + 4);\n  r[0] = c[0];\n  c[1] = r[0];\n  if "
                                 "(TVMBackendFreeWorkspace(1, 0, w) != 0) return -1;"}) {
    CAPTURE(body);
    CHECK(read_helper(body, "").starts_with("stays: tvmgen_m_op"));
  }
}

TEST_CASE("why a call stays names the place in the file") {
  const auto why = [](const std::string& text, const std::vector<Source>& headers = {},
                      const std::string& call = "f(c);") {
    const std::string whole = text + "int32_t tvmgen_m_op(int32_t* c) {\n  " + call +
                              "\n  return 0;\n}\n"
                              "int32_t tvmgen_m___tvm_main__(int32_t* c) {\n  if (tvmgen_m_op(c) != 0 ) "
                              "return -1;\n  return 0;\n}\n";
    const Source source{"lib1.c", whole};
    const PlannedModule module = read_planned_module("m", {&source, 1}, {}, {}, Unread::kept, {}, headers);
    REQUIRE(module.unread_calls.size() == 1);
    CHECK(module.unread_calls[0].name == "f");
    CHECK(module.unread_calls[0].file == "lib1.c");
    return module.unread_calls[0].reason;
  };
  CHECK(why("int32_t f(int32_t* c) {\n  c[0] = 1;\n  while (c[0]) c[0]--;\n  return 0;\n}\n") ==
        "line 3, column 3: found 'while', a statement beyond what is read");
  // What a macro makes is at the macro's name.
  CHECK(why("#define LOOP while (c[0]) c[0]--\nint32_t f(int32_t* c) {\n    LOOP;\n  return 0;\n}\n") ==
        "line 3, column 5: found 'while', a statement beyond what is read");
  // In a function that it calls.
  CHECK(why("int32_t g(int32_t* c) { return c[1]; }\nint32_t f(int32_t* c) {\n  return g(c);\n}\n") ==
        "line 3, column 10: found a result other than 0, expected none or 0");
  CHECK(why("int32_t g(int32_t* c) {\n  return h(c); }\nint32_t f(int32_t* c) {\n  return g(c);\n}\n") ==
        "line 2, column 10: found a call of 'h', which this file does not define");
  // No one function.
  const std::string function = "int32_t f(int32_t* c) { c[0] = 1; return 0; }\n";
  CHECK(why("__attribute__((weak)) " + function) == "found 'f' declared as one that another definition may replace");
  CHECK(why("static int32_t g(int32_t* c) __attribute__((cold));\nint32_t f(int32_t* c) { return g(c); }\nstatic "
            "int32_t g(int32_t* c) __attribute__((naked)) { return 0; }\n") ==
        "line 2, column 32: found a call of 'g', which this file does not define for certain: an attribute, a "
        "condition or a macro that is not known, or more than one definition");
  CHECK(why(function, {}, "if (f(c) != 0) return -1;") == "found a call that asks for the result");
  CHECK(
      why("#include \"conf.h\"\n" + function, {{"conf.h", "#if 1\n"}}) ==
      "found a call of 'f', in a file that is not understood: conf.h, line 1, column 1: the conditional group does not "
      "end, expected #endif");
}

}  // namespace usmp::tvm_c::helpers_test

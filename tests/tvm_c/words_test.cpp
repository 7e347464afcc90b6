// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Words of several numbers in functions that operators call are read as their parts, or stay.
#include "tvm_c/body/words.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tvm_c/read_helper.hpp"

namespace usmp::tvm_c::words_test {

using test::read_helper;
using test::Staying;

TEST_CASE("words of several numbers are their parts") {
  const auto is_same = [](const std::string& helper, const std::string& inlined) {
    CAPTURE(helper);
    const std::string packs =
        "#define __pkhbt(A,B,C) ({ uint32_t r; __asm(\"pkhbt %0, %1, %2, lsl %3\" : \"=r\"(r) : \"r\"(A), \"r\"(B), "
        "\"I\"(C)); r; })\n"
        "static inline uint32_t turned(uint32_t x, uint32_t by) { by %= 32U; if (by == 0U) { return x; } return (x >> "
        "by) | "
        "(x << (32U - by)); }\n";
    CHECK(read_helper("  f(p, q, c);", packs + "static int32_t f(int8_t* a, int8_t* b, int32_t* c) {" + helper +
                                           " return 0; }\n") == read_helper(inlined, ""));
  };
  const std::string x = "int32_t x; memcpy(&x, a, 4); ";
  const std::string y = "int32_t y = *(int32_t*)(b + 8); ";
  const auto product = [](int i, int k) {
    return "((int32_t)p[" + std::to_string(i) + "]) * ((int32_t)q[" + std::to_string(8 + k) + "])";
  };
  is_same(x + y + "c[0] = __smlad(__sxtb16(x), __SXTB16(y), 0);",
          "  c[0] = " + product(0, 0) + " + " + product(2, 2) + ";");
  is_same(x + y + "c[0] = __smuad(__sxtb16(__ror(x, 8)), __sxtb16(turned((uint32_t)y, 24)));",
          "  c[0] = " + product(1, 3) + " + " + product(3, 1) + ";");
  is_same(x + y + "c[0] = __smlabt(__sxtb16(x), __sxtb16(y), __smlatb(__sxtb16(x), __sxtb16(y), 5));",
          "  c[0] = 5 + " + product(2, 0) + " + " + product(0, 2) + ";");
  is_same(x + y + "c[0] = __smulbb(__sxtb16(x), __sxtb16(y)); c[1] = __smultt(__sxtb16(x), __sxtb16(y));",
          "  int8_t x = p[2];\n  int8_t y = q[10];\n  c[0] = " + product(0, 0) +
              ";\n  c[1] = ((int32_t)x) * ((int32_t)y);");
  is_same("int32_t y = ((int32_t*)b)[2]; int32_t x = *(((int32_t*)a) + 0); c[0] = __smuad(__sxtb16(x), __sxtb16(y));",
          "  c[0] = " + product(0, 0) + " + " + product(2, 2) + ";");
  // Sums of products one after the other, from 0 again, and added to when no product follows.
  is_same(x + y +
              "int32_t s = 0; s = __smlad(__sxtb16(x), __sxtb16(y), s); s = __smlad(__sxtb16(x), __sxtb16(y), s); c[0] "
              "= s;",
          "  int8_t x = p[0];\n  int8_t x_1 = p[2];\n  int8_t y = q[8];\n  int8_t y_1 = q[10];\n  c[0] = ((int32_t)x) "
          "* ((int32_t)y) + ((int32_t)x_1) * ((int32_t)y_1) + ((int32_t)x) * ((int32_t)y) + ((int32_t)x_1) * "
          "((int32_t)y_1);");
  is_same(
      "int32_t s = 5; for (int j = 0; j < 2; ++j) { s = 0; for (int i = 0; i < 2; ++i) { s = "
      "__smlad(__sxtb16(*(int32_t*)(a + 4 * i)), 1, s); } c[j] = s; }",
      "  int32_t s;\n  s = 5;\n  for (int32_t j = 0; j < 2; ++j) {\n    s = 0;\n    for (int32_t i = 0; i < 2; ++i) "
      "{\n      s = s + ((int32_t)p[4 * i]) * 1 + ((int32_t)p[4 * i + 2]) * 0;\n    }\n    c[j] = s;\n  }");
  is_same(x + y + "int32_t s = 0; s = __smlad(__sxtb16(x), __sxtb16(y), s); s += c[1]; c[0] = s;",
          "  c[0] = " + product(0, 0) + " + " + product(2, 2) + " + c[1];");
  is_same(
      "int32_t s = 0; for (int i = 0; i < 2; ++i) { s = __smlad(__sxtb16(*(int32_t*)(a + 4 * i)), 1, s); } s += c[1]; "
      "c[0] = s;",
      "  int32_t s;\n  s = 0;\n  for (int32_t i = 0; i < 2; ++i) {\n    s = s + ((int32_t)p[4 * i]) * 1 + "
      "((int32_t)p[4 * i + 2]) * 0;\n  }\n  s = s + c[1];\n  c[0] = s;");
  // Halves of two words, as they are in memory.
  is_same(
      x + "int16_t w[4]; int32_t e = __sxtb16(x); int32_t o = __sxtb16(__ror(x, 8)); *(int32_t*)&w[0] = __pkhbt(e, o, "
          "16); *(int32_t*)&w[2] = (int32_t)__pkhtb(o, e, 16); c[0] = w[1] + w[2];",
      "  int16_t w[4];\n  int8_t x = p[1];\n  int8_t x_1 = p[2];\n  int8_t x_2 = p[3];\n  w[0] = "
      "((int16_t)p[0]);\n  w[1] = ((int16_t)x);\n  w[2] = ((int16_t)x_1);\n  w[3] = ((int16_t)x_2);\n  c[0] = w[1] + "
      "w[2];");
  // The flags of the last subtraction.
  is_same("int32_t x = *(int32_t*)a; int32_t y = *(int32_t*)b; __ssub8(x, y); *(int32_t*)b = __sel(x, y);",
          "  int8_t x = p[1];\n  int8_t x_1 = p[2];\n  int8_t x_2 = p[3];\n  int8_t y = q[1];\n  int8_t y_1 = q[2];\n  "
          "int8_t "
          "y_2 = q[3];\n  q[0] = p[0] > q[0] ? p[0] : q[0];\n  q[1] = x > y ? x : y;\n  q[2] = x_1 > y_1 ? x_1 : "
          "y_1;\n  q[3] = "
          "x_2 > y_2 ? x_2 : y_2;");
  is_same("uint32_t x; memcpy(&x, a, 4); " + y + "c[0] = __smuad(__sxtb16(x << 16), __sxtb16(y));",
          "  c[0] = 0 * ((int32_t)q[8]) + " + product(0, 2) + ";");
  is_same("c[0] = __ssat(c[1], 8);", "  int32_t v = c[1] < 127 ? c[1] : 127;\n  c[0] = v > -128 ? v : -128;");
  // A copy that is read before anything is stored is not made.
  is_same(
      "int32_t w[3]; memcpy(w, a, sizeof(w)); int32_t* r = w; int32_t s = 0; for (int i = 0; i < 3; i++) { s = "
      "__smlad(__sxtb16(*r), 0x00010002, s); r++; } c[0] = s;",
      "  int32_t s;\n  s = 0;\n  for (int32_t i = 0; i < 3; ++i) {\n    s = s + ((int32_t)p[i * 4]) * 2 + "
      "((int32_t)p[i * 4 + "
      "2]) * 1;\n  }\n  c[0] = s;");
  // Storage begins at a multiple of 4.
  is_same("if ((uintptr_t)(a + 8) & 3) return 1; c[0] = (int32_t)(b + 6) & 3;", "  c[0] = 2;");
  is_same("for (int i = 0; i < 2; ++i) { if ((uintptr_t)(a + i * 4 - 4) & 3) return 1; c[i] = 1; }",
          "  for (int32_t i = 0; i < 2; ++i) {\n    c[i] = 1;\n  }");
}

TEST_CASE("words whose bits move, or are one number, stay") {
  const std::string prefix =
      "int32_t f(int8_t* a, int8_t* b, int32_t* c) { int32_t x = *(int32_t*)a; int32_t y = *(int32_t*)b; ";
  const auto found = [&](const std::string& body, const std::string& before = {}) {
    return read_helper("  f(p, q, c);", before + prefix + body + " return 0; }\n");
  };
  CHECK_FALSE(found("c[0] = __smuad(__sxtb16(x), __sxtb16(y));").starts_with("stays"));
  for (const auto& [body, reason] : std::vector<Staying>{
           {"c[0] = x;", "a word as a number"},
           {"int32_t s = c[0]; for (int i = 0; i < 4; ++i) s = __smlad(__sxtb16(x), __sxtb16(y), s); c[0] = s;",
            "products added to what may be any number"},
           {"c[0] = x + 1;", "operator + of words"},
           {"c[0] = (uint32_t)x >> 4;", "a word shifted by something else than whole parts"},
           {"c[0] = x >> 8;", "a word with a sign shifted to the right"},
           {"c[0] = x & 0xff;", "operator & of words"},
           {"c[0] = x == y;", "operator == of words"},
           {"c[0] = (int16_t)x;", "a word as another number"},
           {"c[0] = x ? 1 : 2;", "a pointer, expected a number"},
           {"c[0] = (int64_t)x;", "a word as another number"},
           {"c[0] = x | y;", "parts of words that overlap"},
           {"c[0] = ((uint32_t)x << 8) | y;", "parts of words that overlap"},
           {"c[0] = __smuad(__sxtb16((uint32_t)x >> 4), __sxtb16(y));",
            "a word shifted by something else than whole parts"},
           {"c[0] = __smuad(__sxtb16(x | y), 1);", "parts of words that overlap"},
           {"uint32_t k = (uint32_t)a; if (k & 3) return 1;", "a word as another number"},
           {"c[0] = (int8_t)a & 3;", "a pointer, expected a number"},
           {"int32_t s = 0; s = __smlad(__sxtb16(x), __sxtb16(y), s); uint32_t t = s; c[0] = __smlad(__sxtb16(x), "
            "__sxtb16(y), t);",
            "products added to what may be any number"},
           {"int32_t s = 1; s += x; c[0] = s;", "an operator on a word that becomes another value"},
           {"c[0] = 1 & x;", "operator & with a word"},
           {"c[0] = __smuad(x, y);", "another number, expected a word of two halves"},
           {"c[0] = __smuad(__sxtb16(__ror(x, 4)), __sxtb16(y));", "a word rotated by something else than whole parts"},
           {"c[0] = __smuad(__sxtb16(__ror(x, a[0])), __sxtb16(y));", "an argument that is no number"},
           {"c[0] = __smlad(__sxtb16(x), __sxtb16(y), c[0]);", "products added to what may be any number"},
           {"int32_t s = b[0]; c[0] = __smlad(__sxtb16(x), __sxtb16(y), s);",
            "products added to what may be any number"},
           {"int32_t s = 0; for (int i = 0; i < 40000; ++i) { s = __smlad(__sxtb16(x), __sxtb16(y), s); } c[0] = s;",
            "sums that may leave 32 bits"},
           {"int32_t s = 0; for (int i = 0; i < 4; ++i) { s = __smlad(__sxtb16(x), __sxtb16(y), s); s += a[i]; } c[0] "
            "= s;",
            "a number that may be larger than a sum of products relies on"},
           {"int32_t s = 0; for (int i = 0; i < 4; ++i) { s += a[i]; s = __smlad(__sxtb16(x), __sxtb16(y), s); } c[0] "
            "= s;",
            "products added to what may be any number"},
           {"int16_t w[2]; w[0] = c[0]; w[1] = c[1]; c[0] = __smuad(*(int32_t*)w, *(int32_t*)w);",
            "sums that may leave 32 bits"},
           {"c[0] = __smuad(__pkhbt(__sxtb16(x), __sxtb16(y), 8), 1);",
            "halves shifted by something else than their width"},
           {"*(int32_t*)a = __sel(x, y);", "a selection without a subtraction"},
           {"__ssub8(x, y, 1);", "other arguments of __ssub8"},
           {"c[0] = __smlad(__sxtb16(x), __sxtb16(y));", "other arguments of __smlad"},
           {"c[0] = __ssat(a[0], 33);", "another number of bits"},
           {"c[0] = *(uint8_t*)(int32_t*)a;", "a pointer to words as one to other elements"},
           {"c[0] = -*(int32_t*)a;", "operator - of a word"},
           {"c[0] = !*(int32_t*)a;", "operator ! of a word"},
           {"c[0] = ~((int32_t*)a)[1];", "operator ~ of a word"},
           {"int16_t w[2]; memcpy(w, a, 4); c[0] = __smuad(__sxtb16(w[0]), 1);",
            "memcpy between elements of different types"},
           {"int32_t w[2]; memcpy(w, a, 4); c[0] = __smuad(__sxtb16(w[0]), 1);",
            "memcpy to a part of an array of words"},
           {"memcpy(&x, a, 2); c[0] = __smuad(__sxtb16(x), 1);", "operator & of a word"},
           {"int16_t w[2]; w[0] = a[0]; w[1] = 1; c[0] = __smuad(*(int32_t*)w, 0x10001); w[0] = c[0];",
            "a number that may be larger than a sum of products relies on"},
           {"int32_t w[1]; memcpy(w, a, 4); a[0] = 1; c[0] = __smuad(__sxtb16(w[0]), 1);",
            "elements read through a copy of them behind a store"},
           {"int32_t w[1]; memcpy(w, a, 4); for (int i = 0; i < 3; ++i) c[i] = __smuad(__sxtb16(w[0]), 1);",
            "elements read through a copy of them behind a store"},
           {"int8_t v[4]; v[0] = 1; int32_t w[1]; memcpy(w, v, 4); c[0] = __smuad(__sxtb16(w[0]), 1);",
            "memcpy to words from what the function has computed"},
           {"int32_t w[1]; memcpy(w, a, 4); w[0] = 1;", "an assignment to an element of words that were copied"},
           {"int32_t* r = (int32_t*)a; if (r == 0) c[0] = 1;", "operator == with a word"},
           {"c[0] = (int32_t)(a + c[1]) & 3;", "an address of which is not known whether it is a multiple of 4"},
           {"for (int i = 0; i < 8; ++i) { if ((int32_t)(a + i) & 3) return 1; }",
            "an address of which is not known whether it is a multiple of 4"},
           {"c[0] = (int32_t)a;", "a word as a number"},
           {"c[0] = (int32_t)a & 7;", "an address as a number"},
           {"memset((int32_t*)a, 0, 4);", "memset of other elements than int8_t, or to a value that is no constant"},
           {"memset(a, 0, -4);", "a size that is no constant"},
           {"memset(a, 0, 0x80000000u);", "a size that is no constant"},
           {"memcpy(c, (int32_t*)a, 4);", "memcpy from something else than numbers"},
           {"memcpy((int32_t*)a, b, 4);", "memcpy between elements of different types"},
           {"memcpy(undeclared, a, 4);", "'undeclared' used, which is no variable of the function with a value"},
           {"memcpy(&c, a, 4);", "& of what is no element, expected one of storage"},
           {"int16_t h = 0; memcpy(&h, a, 2);", "& of what is no element, expected one of storage"},
           {"memset(c, 1, 4);", "memset of other elements than int8_t, or to a value that is no constant"},
           {"memset(a, b[0], 4);", "memset of other elements than int8_t, or to a value that is no constant"},
           {"memcpy(c, a, 4);", "memcpy between elements of different types"},
           {"memcpy(a, b, c[0]);", "a size that is no constant"}}) {
    CAPTURE(body);
    CHECK(found(body) == "stays: f, found " + reason);
  }
  // What the file defines itself.
  CHECK(found("c[0] = __smuad(__sxtb16(x), 1);", "int __sxtb16(int x) { return x; }\n") ==
        "stays: __sxtb16 f, found another number, expected a word of two halves");
  const std::string of_library = ", found a function of the name of one of the C library";
  CHECK(found("memset(a, 0, 4);", "static void memset(int8_t* p, int v, int n) { p[0] = 7; }\n") ==
        "stays: f memset" + of_library);
  CHECK(found("memset(a, 0, 4);", "void (*memset)(int8_t* p, int v, int n);\n") == "stays: f" + of_library);
  CHECK_FALSE(found("memset(a, 0, 4);", "void* memset(void* p, int v, unsigned n);\n").starts_with("stays"));
  const std::string product = "c[0] = __smuad(__sxtb16(x), __sxtb16(y));";
  CHECK(found(product, "int32_t (*__smuad)(int32_t, int32_t);\n") ==
        "stays: f, found a function of the name of an instruction");
  CHECK_FALSE(found(product, "int32_t __smuad(int32_t, int32_t);\n").starts_with("stays"));
  CHECK(found("c[0] = __pkhbt(x, x, 16);", "#define __pkhbt(A,B,C) __asm(\"pkhbt %0, %2, %1, lsl %3\")\n")
            .starts_with("stays: f"));
}

}  // namespace usmp::tvm_c::words_test

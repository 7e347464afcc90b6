// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops and variables of operators.
#include <doctest/doctest.h>

#include <string>

#include "usmp/support/error.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::loops_test {
namespace {

// The operator as TIR, or why it is not read.
std::string read(const std::string& body) {
  const std::string text = "int32_t tvmgen_m_op(int8_t* p, int8_t* q, int32_t* r) {\n" + body +
                           "\n  return 0;\n}\n"
                           "int32_t tvmgen_m___tvm_main__(int8_t* p, int8_t* q, int32_t* r) {\n"
                           "  if (tvmgen_m_op(p, q, r) != 0 ) return -1;\n  return 0;\n}\n";
  const Source file{"lib1.c", text};
  try {
    const tir::Module module = read_module("m", {&file, 1});
    return tir::print(module, module.functions[*module.find("tvmgen_m_op")]);
  } catch (const Error& error) {
    return error.what();
  }
}

std::string loop(const std::string& head, const std::string& store = "q[i] = p[i];") {
  return "  for (" + head + ") {\n    " + store + "\n  }";
}

const std::string plain = read(loop("int32_t i = 0; i < 16; ++i"));

TEST_CASE("loops are read as TVM writes them, others stay") {
  CHECK(plain.find("q[i] = ") != std::string::npos);
  CHECK(read(loop("int32_t i = 0; i < 16; i++")) == plain);
  CHECK(read(loop("const int i = 0; i < 16; ++i")) == plain);
  CHECK(read(loop("int64_t i = 0; i < 16; ++i")).find("for i in [0i64, 16i64)") != std::string::npos);
  CHECK(read(loop("int32_t i = 2; i < 16; ++i")).find("for i in [2, 2 + 14)") != std::string::npos);
  CHECK(read(loop("int32_t i = 5; i < 3; ++i")).find("found") == std::string::npos);
  CHECK(read(loop("uint32_t i = 2; i < 16; ++i")).find("for i in [2u32, 2u32 + 14u32)") != std::string::npos);
  for (const char* type : {"uint8_t", "int16_t", "float"}) {
    CHECK_MESSAGE(read(loop(std::string(type) + " i = 0; i < 16; ++i")).find("expected a loop over 32 or 64 bits") !=
                      std::string::npos,
                  type);
  }
  for (const char* head :
       {"size_t i = 0; i < 16; ++i", "long i = 0; i < 16; ++i", "int32_t i = 0; i <= 15; ++i",
        "int32_t i = 0; i != 16; ++i", "int32_t i = 0; 16 > i; ++i", "int32_t i = 15; i >= 0; --i",
        "int32_t i = 0; i < 16; i += 1", "int32_t i = 0; i < 16; i = i + 1", "int32_t i = 0; i < 16; --i",
        "int32_t i = 0, j = 0; i < 16; ++i", "int32_t i; i < 16; ++i", "; p[0] < 16; ++p[0]",
        "int32_t i = 0; p[0] < 16; ++i", "int32_t i = 0; i < 16; ++p[0]", "int32_t i = 0; i < 16 && 1; ++i"}) {
    CHECK_MESSAGE(read(loop(head)).find("found") != std::string::npos, std::string(head));
  }
  CHECK(read("  int32_t i;\n" + loop("i = 0; i < 16; ++i")).find("expected the loop's variable") != std::string::npos);
  CHECK(read(loop("int i = 0; i < 16 && r[0]; ++i")).find("found '&&', expected '<'") != std::string::npos);
  for (const char* change : {"i += 1;", "--i;", "p++;", "q[*p++] = 1;"}) {
    CHECK_MESSAGE(read(loop("int i = 0; i < 16; ++i", change)).find("found") != std::string::npos, std::string(change));
  }
}

TEST_CASE("a loop whose end its counter may not hold is not read") {
  const std::string holds = "expected an end that the counter's type holds";
  const std::string sign = "expected two numbers with a sign";
  for (const char* end : {"4294967312", "-4294967280", "(int64_t)r[0] * 4", "3.5f", "(float)p[0]"}) {
    CHECK_MESSAGE(read(loop("int32_t i = 0; i < " + std::string(end) + "; ++i")).find(holds) != std::string::npos,
                  std::string(end));
  }
  // C compares without sign, so that it never runs, or longer.
  for (const char* head : {"int i = -4; i < 4u; ++i", "int i = r[0]; i < 4u; ++i", "int i = 0; i < (uint32_t)r[0]; ++i",
                           "int32_t i = 0; i < 0xffffffffffffffff; ++i", "uint32_t i = 5; i < 3; ++i",
                           "uint32_t i = 5; i < (uint32_t)r[0]; ++i", "uint32_t i = r[0]; i < 9; ++i"}) {
    CHECK_MESSAGE(read(loop(head)).find(sign) != std::string::npos, std::string(head));
  }
  for (const char* head :
       {"int32_t i = 0; i < (uint8_t)p[0]; ++i", "int32_t i = 0; i < r[0] * 4; ++i", "int32_t i = p[0]; i < p[1]; ++i",
        "int32_t i = 0; i < 4u; ++i", "int64_t i = 0; i < (int64_t)r[0] * 4; ++i", "int32_t i = 0; i < 2147483647; ++i",
        "uint32_t i = 0; i < (uint32_t)r[0]; ++i", "uint32_t i = r[0]; i < (uint32_t)r[0] + 9; ++i",
        "uint32_t i = 0; i < 4294967295; ++i"}) {
    const std::string found = read("  int8_t own[1];\n" + loop(head, "own[0] = 1;"));
    CHECK_MESSAGE(found.find("found") == std::string::npos, std::string(head));
  }
}

TEST_CASE("a loop that may write to where its end is is not read") {
  const auto found = [&](const std::string& end, const std::string& store) {
    return read(loop("int32_t i = 0; i < " + end + "; ++i", store));
  };
  CHECK(found("p[0]", "p[i] = 1;").find("found a loop that changes its own end") != std::string::npos);
  for (const char* store : {"q[i] = 1;", "r[i] = 1;", "if (p[i]) { q[i] = 1; }"}) {
    CHECK_MESSAGE(found("p[0]", store).find("found a loop that writes to where its end may be") != std::string::npos,
                  std::string(store));
  }
  CHECK(found("(r[0] & 7) + 1", "q[i] = 1;").find("writes to where its end may be") != std::string::npos);
  CHECK(found("r[0]", "((uint32_t*)q)[i] = 1;").find("writes to where its end may be") != std::string::npos);
  CHECK(found("r[0] + (((float*)r)[1] < 3)", "((float*)q)[i] = 1;").find("writes to where its end may be") !=
        std::string::npos);
  // An int32_t is no float, and no int16_t.
  CHECK(found("r[0]", "((float*)q)[i] = 1;").find("found") == std::string::npos);
  CHECK(found("r[0]", "((int16_t*)q)[i] = 1;").find("found") == std::string::npos);
  CHECK(read("  int32_t n = p[0];\n" + loop("int32_t i = 0; i < n; ++i")).find("found") == std::string::npos);
  CHECK(read("  int8_t own[2];\n  own[0] = p[0];\n" + loop("int32_t i = 0; i < own[0]; ++i")).find("found") ==
        std::string::npos);
}

TEST_CASE("volatile is not read") {
  for (const char* body : {"  volatile int32_t n = 3;\n  r[0] = n;", "  *(volatile int8_t*)q = 1;",
                           "  for (volatile int32_t i = 0; i < 9; ++i) {\n  }",
                           "  volatile int8_t* v = q;\n  v[0] = 1;", "  _Atomic int32_t n = 3;\n  r[0] = n;"}) {
    CHECK_MESSAGE(read(body).find("found ") != std::string::npos, std::string(body));
  }
  const std::string text =
      "int32_t tvmgen_m_op(volatile int8_t* p, int8_t* q) {\n  q[0] = p[0];\n  return 0;\n}\n"
      "int32_t tvmgen_m___tvm_main__(int8_t* p, int8_t* q) {\n  if (tvmgen_m_op(p, q) != 0 ) return -1;\n  return "
      "0;\n}\n";
  const Source file{"lib1.c", text};
  CHECK_THROWS_AS((void)read_module("m", {&file, 1}), Error);
}

TEST_CASE("what C does not define is not read, with the place") {
  for (const char* value : {"p[0] / 0", "p[0] % (1 - 1)", "p[0] << 32", "r[0] >> -1", "1 << 99", "p[0] / 0u"}) {
    const std::string text = read("  r[0] = " + std::string(value) + ";\n");
    CHECK_MESSAGE((text.find("found a division by zero") != std::string::npos ||
                   text.find("found a shift by ") != std::string::npos),
                  text);
  }
  for (const char* value : {"p[0] / 1", "p[0] << 31", "(int64_t)r[0] >> 63", "((float*)r)[0] / 0"}) {
    CHECK_MESSAGE(read("  r[0] = " + std::string(value) + ";\n").find("found") == std::string::npos, value);
  }
}

TEST_CASE("variables that statements change are storage, others are not") {
  const std::string sum =
      read("  int32_t sum = 3;\n" + loop("int i = 0; i < 16; ++i", "sum += p[i];") + "\n  r[0] = sum;");
  CHECK(sum.find("sum[0] = 3") != std::string::npos);
  CHECK(sum.find("sum[0] = sum[0] + ") != std::string::npos);
  const std::string both = read("  int32_t a = 1, b = 2;\n  ++a;\n  b--;\n  r[0] = a * b;");
  CHECK_MESSAGE(both.find("b[0] = b[0] - 1") != std::string::npos, both);
  CHECK(read("  int32_t a = 1, b = 2;\n  r[0] = a * b;").find("allocate") == std::string::npos);
  // Nothing is left of what nothing reads.
  CHECK(read("  int32_t unused;\n  int other = 3;\n  other = p[0];\n" + loop("int32_t i = 0; i < 16; ++i")) == plain);
}

}  // namespace
}  // namespace usmp::tvm_c::loops_test

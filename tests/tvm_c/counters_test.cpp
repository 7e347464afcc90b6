// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Loops and variables of operators that somebody edited by hand.
#include <doctest/doctest.h>

#include <string>

#include "usmp/support/error.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::counters_test {
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

TEST_CASE("counters of any type and with any step of 1 are those of int32_t") {
  CHECK(plain.find("q[i] = ") != std::string::npos);
  for (const char* type :
       {"uint32_t", "size_t", "unsigned", "unsigned int", "unsigned long", "long", "signed", "short", "unsigned short",
        "uint8_t", "unsigned char", "int16_t", "uint_fast16_t", "const size_t", "ptrdiff_t"}) {
    CHECK_MESSAGE(read(loop(std::string(type) + " i = 0; i < 16; ++i")) == plain, type);
  }
  for (const char* head :
       {"int32_t i = 0; i < 16; i++", "int32_t i = 0; i < 16; i += 1", "int32_t i = 0; i < 16; i = i + 1",
        "int32_t i = 0; i <= 15; ++i", "int32_t i = 0; i != 16; ++i", "int32_t i = 0; 16 > i; ++i",
        "int32_t i = 0; 15 >= i; ++i", "size_t i = 0u; i < 16u; i++", "uint8_t i = 0; i <= 15; i++"}) {
    CHECK_MESSAGE(read(loop(head)) == plain, head);
  }
  // In front of the loop, also of several loops.
  for (const char* type : {"int", "size_t", "uint8_t", "int32_t"}) {
    const std::string declared = "  " + std::string(type) + " i, j;\n";
    CHECK_MESSAGE(read(declared + loop("i = 0; i < 16; ++i")) == plain, type);
    CHECK(read(declared + loop("i = 0; i < 16; ++i") + loop("i = 0; i < 4; ++i")).find("found") == std::string::npos);
  }
  CHECK(read("  int i = 0;\n" + loop("i = 0; i < 16; ++i")).find("found 'i'") != std::string::npos);
}

TEST_CASE("loops that count down or by more than 1 have the values that C gives the counter") {
  CHECK(read(loop("int i = 15; i >= 0; --i")).find("q[15 - i] = ") != std::string::npos);
  CHECK(read(loop("int i = 16; i > 0; i--", "q[i - 1] = p[i - 1];")).find("for i in [0, 16)") != std::string::npos);
  CHECK(read(loop("size_t i = 16; i != 0; i -= 2", "q[i - 2] = p[i - 1];")).find("for i in [0, 8)") !=
        std::string::npos);
  CHECK(read(loop("size_t i = 1; i < 16; i += 4")).find("for i in [0, 4)") != std::string::npos);
  CHECK(read(loop("int i = 3; i < 3; i += 4")).find("for i in [0, 0)") != std::string::npos);
  CHECK(read(loop("int i = 5; i < 3; i += 4")).find("for i in [0, 0)") != std::string::npos);
}

TEST_CASE("a loop that C does not end, or whose counter wraps, is not read") {
  for (const char* head :
       {"uint8_t i = 0; i < 256; ++i", "uint8_t i = 0; i <= 255; ++i", "unsigned i = 15; i >= 0; --i",
        "size_t i = 15; i > -1; --i", "int8_t i = 0; i <= 127; ++i", "int i = 0; i > 16; ++i", "int i = 16; i < 0; --i",
        "int i = 0; i != 15; i += 2", "int i = 16; i != 20; --i", "uint8_t i = 250; i < 255; i += 4",
        "unsigned i = 2; i >= 1; i -= 3", "int32_t i = 0; i < 4294967312; ++i", "int32_t i = 0; i <= 2147483647; ++i",
        "int32_t i = 0; 4294967312 > i; ++i", "int32_t i = 0; i < -4294967280; ++i",
        "int32_t i = 0; i < 0xffffffffffffffff; ++i", "int32_t i = 5; i >= 0xffffffffffffffff; --i"}) {
    CHECK_MESSAGE(read(loop(head)).find("expected a loop that ends") != std::string::npos, std::string(head));
  }
  // C compares without sign, so that it never runs.
  CHECK(read(loop("int i = -4; i < 4u; ++i")).find("expected two numbers with a sign") != std::string::npos);
  CHECK(read(loop("int i = -4; 4u > i; ++i")).find("expected two numbers with a sign") != std::string::npos);
  CHECK(read(loop("int i = r[0]; i < 4u; ++i")).find("expected two numbers with a sign") != std::string::npos);
  CHECK(read(loop("int i = -4; i < 4u; i += 2")).find("expected two numbers with a sign") != std::string::npos);
  // An int32 holds less than what it is compared with, a uint8 no negative end, and 3 is less than 3.5.
  for (const char* head : {"int32_t i = 0; i < (int64_t)r[0] * 4; ++i", "uint8_t i = 0; i < (int8_t)p[0]; ++i",
                           "uint16_t i = 0; i < (int8_t)p[0]; ++i", "int8_t i = 0; i < (uint8_t)p[0]; ++i",
                           "int i = 0; i < 3.5f; ++i", "uint8_t i = 0; i < r[0]; ++i"}) {
    CHECK_MESSAGE(read(loop(head)).find("expected an end that the counter's type holds") != std::string::npos,
                  std::string(head));
  }
  for (const char* head : {"int16_t i = 0; i < (uint8_t)p[0]; ++i", "uint16_t i = 0; i < (uint8_t)p[0]; ++i",
                           "int8_t i = 0; i < (int8_t)p[0]; ++i"}) {
    CHECK_MESSAGE(read(loop(head)).find("found") == std::string::npos, std::string(head));
  }
  CHECK(read(loop("int32_t i = 0; i < r[0] * 4; ++i")).find("found") == std::string::npos);
  CHECK(read(loop("int i = r[0]; i >= 0; --i")).find("expected a loop from and to a number") != std::string::npos);
  // An end is not what stands behind '<' alone.
  CHECK(read(loop("int i = 0; i < 16 && r[0]; ++i")).find("found '&&', expected '<'") != std::string::npos);
  CHECK(read(loop("int i = 0; i < 16 && 1; ++i")).find("found '&&', expected '<'") != std::string::npos);
  CHECK(read(loop("int i = 0; i < 16; i += r[0]")).find("expected a number") != std::string::npos);
  CHECK(read(loop("int i = 0; i < 16; i += 0")).find("expected a step of at least 1") != std::string::npos);
  CHECK(read(loop("int i = 0; i < 16; ++i", "i += 1;")).find("found 'i' changed") != std::string::npos);
  CHECK(read(loop("int i = 0; i < 16; ++i", "--i;")).find("found 'i' changed") != std::string::npos);
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

TEST_CASE("what is stored or bound of a counter has the type that C gives it") {
  const std::string bound = read(loop("uint32_t i = 0; i < 16; ++i", "uint32_t v = i; q[v] = p[i];"));
  CHECK_MESSAGE(bound.find("uint32(i)") != std::string::npos, bound);
  const std::string stored = read(loop("uint32_t i = 0; i < 16; ++i", "((uint32_t*)r)[i] = i;"));
  CHECK_MESSAGE(stored.find("uint32(i)") != std::string::npos, stored);
  const std::string wide = read(loop("long i = 0; i < 8; ++i", "((int64_t*)r)[i] = i;"));
  CHECK_MESSAGE(wide.find("int64(i)") != std::string::npos, wide);
}

TEST_CASE("where a counter's type decides what C computes, it is not read") {
  const std::string open = "found a counter of a type that has another size elsewhere";
  const auto stored = [](const std::string& type, const std::string& value) {
    return read(loop(type + " i = 0; i < 16; ++i", "r[0] = " + value + ";"));
  };
  for (const char* value : {"i - 1", "i * -1", "-i", "~i", "i * 1000000000", "i + p[0]", "p[0] < i", "p[0] * i",
                            "(i - 8) / 2", "i << 30", "r[1] + i", "i < r[0] ? 1 : 0"}) {
    CHECK_MESSAGE(stored("size_t", value).find(open) != std::string::npos, value);
  }
  for (const char* value : {"i + 1", "i * 4 % 3", "(i + 1) / 2", "15 - i", "i & 3", "(int32_t)i - 8", "p[0] + (int)i",
                            "i < 4 ? 1 : 0", "i > 3 && i < 9", "p[i + 2]", "(float)i"}) {
    CHECK_MESSAGE(stored("size_t", value) == stored("int32_t", value), value);
  }
  // int64_t on one machine, int32_t on another.
  CHECK(stored("long", "i - 1").find(open) != std::string::npos);
  // Of a type that is the same everywhere it is known what C computes.
  CHECK(stored("unsigned", "i - 1").find("u32") != std::string::npos);
  CHECK(read(loop("size_t i = 0; i < 16; ++i", "size_t at = i * 2; q[at] = p[at];")) ==
        read(loop("int32_t i = 0; i < 16; ++i", "int32_t at = i * 2; q[at] = p[at];")));
  CHECK(read(loop("int i = 0; i < 16; ++i", "size_t at = p[i]; q[at] = 1;")).find(open) != std::string::npos);
  CHECK(read(loop("size_t i = 0; i < 16; ++i", loop("size_t j = i; j < 16; ++j"))) ==
        read(loop("int32_t i = 0; i < 16; ++i", loop("int32_t j = i; j < 16; ++j"))));
}

TEST_CASE("a counter that is declared outside has no value outside of its loops") {
  const std::string outside = "found a loop's counter outside of its loop";
  for (const char* type : {"int", "size_t"}) {
    const std::string declared = "  " + std::string(type) + " i;\n";
    CHECK(read(declared + loop("i = 0; i < 16; ++i") + "\n  r[0] = i;").find(outside) != std::string::npos);
    CHECK(read(declared + loop("i = 0; i < 16; ++i") + "\n  i = 3;").find(outside) != std::string::npos);
  }
  // Also where that stands in front of the loop, which may be in a loop itself.
  CHECK(read("  int i;\n  i = 3;\n" + loop("i = 0; i < 16; ++i")).find("found 'i', expected a loop over") !=
        std::string::npos);
  CHECK(read("  int i;\n" + loop("int j = 0; j < 2; ++j", "r[j] = i;\n" + loop("i = 0; i < 16; ++i")))
            .find("found 'i', expected a loop over") != std::string::npos);
  CHECK(read("  size_t n;\n  n = 3;").find(outside) != std::string::npos);
}

TEST_CASE("variables that statements change are storage, others are not") {
  const std::string sum =
      read("  int32_t sum = 3;\n" + loop("int i = 0; i < 16; ++i", "sum += p[i];") + "\n  r[0] = sum;");
  CHECK(sum.find("sum[0] = 3") != std::string::npos);
  CHECK(sum.find("sum[0] = sum[0] + ") != std::string::npos);
  const std::string both = read("  int32_t a = 1, b = 2;\n  ++a;\n  b--;\n  r[0] = a * b;");
  CHECK(both.find("  r[0] = 2 * 1\n") != std::string::npos);
  CHECK(read("  int32_t a = 1, b = 2;\n  r[0] = a * b;").find("allocate") == std::string::npos);
  // Nothing is left of what nothing reads.
  CHECK(read("  int32_t unused;\n  int other = 3;\n  other = p[0];\n" + loop("int32_t i = 0; i < 16; ++i")) == plain);
}

}  // namespace
}  // namespace usmp::tvm_c::counters_test

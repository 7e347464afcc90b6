// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Pointers that statements move, and variables that they count beside other things; what loops make of both.
#include <doctest/doctest.h>

#include <string>

#include "usmp/support/error.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::walkers_test {
namespace {

// The body of the operator in TIR, or why its C stays.
std::string read(const std::string& body) {
  const std::string text =
      "static const int8_t w[4] = {1, 2, 3, 4};\n"
      "int32_t tvmgen_m_op(int8_t* p, int8_t* q, int32_t* r, void* v, int32_t m) {\n" +
      body +
      "\n  return 0;\n}\n"
      "int32_t tvmgen_m___tvm_main__(int8_t* p, int8_t* q, int32_t* r, void* v) {\n"
      "  if (tvmgen_m_op(p, q, r, v, 3) != 0 ) return -1;\n  return 0;\n}\n";
  const Source source{"lib1.c", text};
  try {
    const PlannedModule module = read_planned_module("m", {&source, 1}, {}, {}, Unread::kept);
    if (!module.kept.empty()) return module.kept[0].reason;
    const std::string printed = tir::print(module.module, module.module.functions[*module.module.find("tvmgen_m_op")]);
    const std::size_t begin = printed.find("{\n") + 2;
    return printed.substr(begin, printed.rfind('}') - begin);
  } catch (const Error& error) {
    return error.what();
  }
}

bool stays(const std::string& body) { return read(body).find("expected ") != std::string::npos; }

const std::string copy = read("  for (int32_t i = 0; i < 16; ++i) {\n    q[i] = p[i];\n  }");

TEST_CASE("pointers that loops move are indices of the loops' counters") {
  for (const char* body :
       {"  int8_t* from = p;\n  for (int32_t i = 0; i < 16; ++i) {\n    q[i] = *from++;\n  }",
        "  for (int32_t i = 0; i < 16; ++i) {\n    *q++ = *p++;\n  }",
        "  for (int32_t i = 0; i < 16; ++i) {\n    *q = *p;\n    q++;\n    p += 1;\n  }",
        "  const int8_t* from = p;\n  int8_t* to = q;\n  for (int32_t i = 0; i < 16; ++i) {\n    to[0] = from[0];\n    "
        "++to;\n"
        "    from = from + 1;\n  }",
        "  int n = 0;\n  for (int32_t i = 0; i < 16; ++i) {\n    q[i] = p[n++];\n  }",
        "  int n = 16;\n  n -= 16;\n  for (int32_t i = 0; i < 16; ++i) {\n    q[n] = p[n];\n    n++;\n  }"}) {
    CHECK_MESSAGE(read(body) == copy, body);
  }
  CHECK(read("  int n = -1;\n  for (int32_t i = 0; i < 16; ++i) {\n    q[i] = p[++n];\n  }").find("load") ==
        std::string::npos);
  CHECK(read("  int8_t* from = p + 15;\n  for (int32_t i = 0; i < 16; ++i) {\n    q[i] = *from--;\n  }") ==
        read("  for (int32_t i = 0; i < 16; ++i) {\n    q[i] = p[15 + i * -1];\n  }"));
  CHECK(read("  for (int32_t i = 2; i < 5; ++i) {\n    for (int32_t j = 0; j < 3; ++j) {\n      *q++ = p[j];\n    }\n"
             "    q += 2;\n  }") == read("  for (int32_t i = 2; i < 5; ++i) {\n    for (int32_t j = 0; j < 3; ++j) {\n "
                                         "     q[(i - 2) * 5 + j] = p[j];\n"
                                         "    }\n  }"));
  // Behind the loop, and set again in it.
  CHECK(read("  for (int32_t i = 0; i < 3; ++i) {\n    *q++ = 1;\n  }\n  *q = 2;").find("q[3] = 2i8") !=
        std::string::npos);
  CHECK(read("  for (int32_t i = 0; i < 3; ++i) {\n    const int8_t* from = p + i * 4;\n    for (int32_t j = 0; j < 4; "
             "++j) {\n"
             "      r[i] = *from++;\n    }\n  }") == read("  for (int32_t i = 0; i < 3; ++i) {\n    for (int32_t j = "
                                                          "0; j < 4; ++j) {\n      r[i] = p[i * 4 + j];\n    }\n  }"));
}

TEST_CASE("a value that is not known is loaded") {
  const auto loads = [](const std::string& body) {
    const std::string text = read(body);
    return text.find("_at[0]]") != std::string::npos || text.find("q[n[0]]") != std::string::npos ||
           text.find("q[int32(n[0])]") != std::string::npos;
  };
  CHECK(loads("  for (int32_t i = 0; i < 16; ++i) {\n    if (p[i] > 0) { *q++ = p[i]; }\n  }"));
  CHECK(loads("  for (int32_t i = 0; i < 16; ++i) {\n    *q = 1;\n    q += i;\n  }"));
  CHECK(loads("  for (int32_t i = 0; i < m; ++i) {\n    *q++ = 1;\n  }"));
  CHECK(loads("  for (int32_t i = 0; i < 4; ++i) {\n    *q++ = 1;\n    if (p[i]) { q += 2; } else { q += 3; }\n  }"));
  CHECK(loads("  q += p[0];\n  *q = 1;"));
  CHECK(loads("  int8_t n = 0;\n  for (int32_t i = 0; i < 300; ++i) {\n    q[n] = 1;\n    n++;\n  }"));  // wraps
  CHECK(loads("  uint32_t n = 0;\n  for (int32_t i = 0; i < 16; ++i) {\n    q[n] = 1;\n    n++;\n  }"));
  CHECK(loads("  for (int32_t i = 0; i < 16; ++i) {\n    *q++ = 1;\n    q = q + p[i];\n  }"));
  CHECK_FALSE(
      loads("  for (int32_t i = 0; i < 4; ++i) {\n    *q = 1;\n    if (p[i]) { q += 2; } else { q += 2; }\n  }"));
  CHECK(loads("  int n = 0;\n  while (p[0] > n) { q[n] = 1; n++; }"));
  CHECK(loads("  int n = 0;\n  for (int32_t i = 0; i < 4; ++i) {\n    q[n] = 1;\n    while (p[n] > 0) { n++; }\n  }"));
  // After a loop without iterations there is none.
  CHECK(read("  for (int32_t i = 0; i < 0; ++i) {\n    q++;\n  }\n  *q = 2;").find("q[0] = 2i8") != std::string::npos);
}

TEST_CASE("a pointer to another's place has that of its declaration") {
  CHECK(read("  int8_t* at = q;\n  q += 3;\n  *at = 1;\n  *q = 2;") == "  q[0] = 1i8\n  q[3] = 2i8\n");
  CHECK(read("  int n = 1;\n  int8_t* at = &q[n];\n  n = n + 5;\n  *at = 1;\n  q[n] = 2;") ==
        "  q[1] = 1i8\n  q[6] = 2i8\n");
  const std::string loaded = read("  int8_t* at = &q[p[0]];\n  p[0] = 3;\n  *at = 1;");
  CHECK(loaded.find("let ") < loaded.find("p[0] = "));
}

TEST_CASE("steps happen once, where C orders them") {
  CHECK(read("  *q++ = 1;\n  *q = 2;") == "  q[0] = 1i8\n  q[1] = 2i8\n");
  CHECK(read("  q++;\n  *--q = 1;") == "  q[0] = 1i8\n");
  CHECK(read("  int n = 0;\n  int k = n++;\n  q[k] = 1;\n  q[n] = 2;").find("q[1] = 2i8") != std::string::npos);
  CHECK(read("  for (int32_t i = 0; i < 2; ++i) *q++ = 1;\n  *q = 2;") ==
        read("  for (int32_t i = 0; i < 2; ++i) { q[i] = 1; }\n  q[2] = 2;"));
  for (const char* statement : {"*q++ = *q;",
                                "*q = *p ? *p++ : 1;",
                                "*q = (int8_t)(*p && *p++);",
                                "*q = (int8_t)(m && *p++);",
                                "q = q++;",
                                "q[(m ? 1 : 0)] = *p++;",
                                "*q = (int8_t)sizeof(*p++);",
                                "*q = (int8_t)++p[0];",
                                "q[p[0]++] = 1;",
                                "q = p;",
                                "q = (int8_t*)r;",
                                "v++;",
                                "int8_t* s = w;\n  q[0] = s++;",
                                "if (*p++ > 3) { q[0] = 1; }",
                                "while (m--) { q[0] = 1; }",
                                "w++;",
                                "int32_t* s = (int32_t*)v;\n  s += 1;\n  s = (int32_t*)q;",
                                "int8_t a = *p++, b = *p++;\n  *q = a + b;",
                                "q += p;",
                                "int8_t* s;\n  s = q;\n  *s++ = 1;"}) {
    CHECK_MESSAGE(stays("  " + std::string(statement)), statement);
  }
}

TEST_CASE("a loop that changes its own end stays text") {
  CHECK(read("  int n = 8;\n  for (int32_t i = 0; i < n; ++i) {\n    q[i] = 1;\n    n--;\n  }")
            .find("changes its own end") != std::string::npos);
}

}  // namespace
}  // namespace usmp::tvm_c::walkers_test

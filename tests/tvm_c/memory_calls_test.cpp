// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// memcpy, memmove and memset in operators; branches that go on with the next iteration; conditions of the preprocessor.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::memory_calls_test {
namespace {

// The body of the operator in TIR, or why its C stays.
std::string read(const std::string& body, const std::string& file = "", const std::vector<Source>& headers = {}) {
  const std::string text =
      file + "int32_t tvmgen_m_op(int8_t* p, int8_t* q, float* f, float* g, void* v, int32_t n) {\n" + body +
      "\n  return 0;\n}\n"
      "int32_t tvmgen_m___tvm_main__(int8_t* p, int8_t* q, float* f, float* g, void* v) {\n"
      "  if (tvmgen_m_op(p, q, f, g, v, 3) != 0 ) return -1;\n  return 0;\n}\n";
  const Source source{"lib1.c", text};
  try {
    const PlannedModule module = read_planned_module("m", {&source, 1}, {}, {}, Unread::kept, {}, headers);
    if (!module.kept.empty()) return module.kept[0].reason;
    const std::string printed = tir::print(module.module, module.module.functions[*module.module.find("tvmgen_m_op")]);
    const std::size_t begin = printed.find("{\n") + 2;
    return printed.substr(begin, printed.rfind('}') - begin);
  } catch (const Error& error) {
    return error.what();
  }
}

bool stays(const std::string& body, const std::string& file = "", const std::vector<Source>& headers = {}) {
  return read(body, file, headers).find("expected ") != std::string::npos;
}

TEST_CASE("memcpy is a loop over elements") {
  CHECK(read("  memcpy(q, p, 64);") == read("  for (int32_t i = 0; i < 64; ++i) {\n    q[i] = p[i];\n  }"));
  const std::string floats = read("  for (int32_t i = 0; i < 16; ++i) {\n    g[i] = f[i];\n  }");
  for (const char* size : {"64", "16 * sizeof(float)", "sizeof(float) * 16", "sizeof(*f) * (4 << 2)",
                           "16 * sizeof(f[0])", "(size_t)16 * sizeof *f + 0"}) {
    const bool is_read = read("  memcpy(g, f, " + std::string(size) + ");") == floats;
    CHECK_MESSAGE(is_read == (std::string(size).find("sizeof *") == std::string::npos), size);
  }
  CHECK(read("  (void)memcpy(g + 2, &f[n], n * sizeof(float));") ==
        read("  for (int32_t i = 0; i < n; ++i) {\n    g[2 + i] = f[n + i];\n  }"));
  CHECK(read("  memcpy(q, p, (size_t)(n + 1) * sizeof(*q));") ==
        read("  for (int32_t i = 0; i < n + 1; ++i) {\n    q[i] = p[i];\n  }"));
  CHECK(read("  int8_t buffer[8];\n  memcpy(buffer, p, sizeof(buffer));\n  q[0] = buffer[n];").find("[0, 8)") !=
        std::string::npos);
  CHECK(read("  memcpy(q, p, 0);\n  q[0] = 1;") == "  q[0] = 1i8\n");
  // A pointer to void is one to what the other points to; without a type both are bytes.
  CHECK(read("  memcpy(v, f, 16);") == read("  for (int32_t i = 0; i < 4; ++i) {\n    ((float*)v)[i] = f[i];\n  }"));
}

TEST_CASE("what C computes in front of memcpy is computed once") {
  const std::string body = read("  memcpy(&q[q[0]], p, 4);");
  CHECK(body.find("let ") < body.find("for "));
  CHECK(read("  memcpy(q, p, q[0] * sizeof(int8_t));").find("let ") != std::string::npos);
  const std::string filled = read("  memset(q, q[1], 4);");
  CHECK(filled.find("let ") < filled.find("for "));
}

TEST_CASE("memmove goes backwards where it moves up") {
  const std::string up = read("  memmove(q + 1, q, 8);");
  CHECK(up == read("  for (int32_t i = 0; i < 8; ++i) {\n    q[1 + (7 - i)] = q[7 - i];\n  }"));
  CHECK(read("  memmove(q, q + 1, 8);") == read("  for (int32_t i = 0; i < 8; ++i) {\n    q[i] = q[1 + i];\n  }"));
  CHECK(stays("  memmove(q + n, q, 8);"));
  CHECK(stays("  memmove(q, p, 8);"));  // which may be one
  CHECK_FALSE(stays("  int8_t t[8];\n  memmove(t, p, 8);\n  q[0] = t[n];"));
}

TEST_CASE("memset writes bytes") {
  CHECK(read("  memset(q, -128, 4);") == read("  for (int32_t i = 0; i < 4; ++i) {\n    q[i] = (int8_t)-128;\n  }"));
  CHECK(read("  memset(f, 0, 4 * sizeof(float));") ==
        read("  for (int32_t i = 0; i < 4; ++i) {\n    f[i] = 0.0f;\n  }"));
  CHECK(read("  int32_t x[4];\n  memset(x, 0xff, sizeof(x));\n  q[0] = (int8_t)x[n];").find("= -1") !=
        std::string::npos);
  CHECK(read("  memset(q, 200, 4);").find("-56i8") != std::string::npos);
  CHECK(stays("  memset(f, 1, 16);"));
  CHECK(stays("  memset(f, 0xff, 16);"));
  CHECK(stays("  memset(f, n, 16);"));
}

TEST_CASE("memory that is not understood as elements stays text") {
  for (const char* call :
       {"memcpy(q, f, 4);", "memcpy(f, q, 4);", "memcpy(g, f, 6);", "memcpy(g, f, n);", "memcpy(g, f, n * 4 + 8);",
        "memcpy(q, p, -1);", "memcpy(q, p, n / sizeof(*q));", "memcpy(q, p, sizeof(q));", "memcpy(q, p, sizeof(v));",
        "memcpy(q, p, n % 4);", "memcpy(q, 0, 4);", "memcpy(q, p);", "int8_t* r = memcpy(q, p, 4);",
        "memcpy(q, p, (4 - sizeof(float) * 2) / 2 + 8);", "memcpy(q, p, 8 / (sizeof(float) - 8) + 8);",
        "memcpy(q, p, (4 - sizeof(float) * 2) / (0 - 2) + 8);", "memcpy(q, p, (0 - 1 < sizeof(float)) * 8);",
        "memcpy(q, p, (uint8_t)n);", "memcpy(q, p, n > 3 ? n : 3);"}) {
    CHECK_MESSAGE(stays("  " + std::string(call)), call);
  }
  CHECK(stays("  memcpy(q, p, 4);", "#define memcpy(a, b, c) copy(a, b, c)\n"));
  CHECK(read("  memcpy(q, p, 4) ;;)").find("found ) without the bracket that it closes") != std::string::npos);
}

TEST_CASE("what stands behind continue is under the other condition") {
  const auto in_loop = [](const std::string& text) {
    return read("  for (int32_t i = 0; i < 8; ++i) {\n" + text + "  }");
  };
  const std::string plain = in_loop("    if (!(p[i] == 0)) {\n      q[i] = p[i];\n    }\n");
  CHECK(in_loop("    if (p[i] == 0) continue;\n    q[i] = p[i];\n").find("else {\n      q[i] = p[i]") !=
        std::string::npos);
  CHECK(in_loop("    if (p[i] == 0) {\n      q[i] = 1;\n      continue;\n    }\n    q[i] = p[i];\n") ==
        in_loop("    if (p[i] == 0) {\n      q[i] = 1;\n    } else {\n      q[i] = p[i];\n    }\n"));
  CHECK(in_loop("    if (p[i] == 0) { q[i] = 1; continue; }\n    if (p[i] == 1) { q[i] = 2; continue; }\n    q[i] = "
                "p[i];\n") == in_loop("    if (p[i] == 0) {\n      q[i] = 1;\n    } else {\n      if (p[i] == 1) { "
                                      "q[i] = 2; } else { q[i] = p[i]; }\n    }\n"));
  for (const char* other :
       {"    continue;\n", "    if (p[i]) { continue; q[i] = 1; }\n", "    if (p[i]) continue; else q[i] = 1;\n",
        "    if (p[i]) { if (p[0]) continue; q[i] = 1; }\n", "    if (p[i]) if (p[0]) continue;\n    q[i] = 1;\n",
        "    if (p[i]) break;\n    q[i] = 1;\n", "    { if (p[i]) continue; q[i] = 1; }\n",
        "    if (p[i]) { q[i] = 1; } else { continue; }\n    q[i] = 2;\n"}) {
    CHECK_MESSAGE(in_loop(other).find("expected ") != std::string::npos, other);
  }
  CHECK(stays("  for (int32_t i = 0; i < 8; ++i) if (p[i]) continue;\n  q[0] = 1;"));
}

TEST_CASE("conditions of the preprocessor that the files decide are the text's own") {
  const std::string group = "#if WIDTH > 4\n  q[0] = 1;\n#else\n  q[0] = 2;\n#endif";
  const std::string one = read("  q[0] = 1;");
  const std::string two = read("  q[0] = 2;");
  CHECK(read(group, "#define WIDTH 8\n") == one);
  CHECK(read(group, "#define WIDTH (2 + 2)\n") == two);
  CHECK(read("#ifdef FAST\n  q[0] = 1;\n#else\n  q[0] = 2;\n#endif", "#define FAST\n") == one);
  CHECK(read("#ifndef FAST\n  q[0] = 1;\n#else\n  q[0] = 2;\n#endif", "#define FAST\n") == two);
  CHECK(read("#if WIDTH == 2\n  q[0] = 3;\n#elif defined(FAST)\n  q[0] = 1;\n#else\n  q[0] = 2;\n#endif",
             "#define FAST 1\n#define WIDTH 8\n") == one);
  CHECK(read(group, "#include \"size.h\"\n", {{"size.h", "#define WIDTH 8\n"}}) == one);
  CHECK(read(group, "#define WIDTH 8\n#undef WIDTH\n") == two);
  CHECK(read(group, "#define WIDTH 8\n#undef WIDTH\n#define WIDTH 2\n") == two);
  for (const char* front : {"", "#ifdef A\n#define WIDTH 8\n#endif\n", "#define WIDTH OTHER\n"}) {
    CHECK_MESSAGE(stays(group, front), front);
  }
  CHECK(stays(group, "#ifdef A\n#include \"size.h\"\n#endif\n", {{"size.h", "#define WIDTH 8\n"}}));
  CHECK(stays(group, "#include \"size.h\"\n", {{"a/size.h", "#define WIDTH 8\n"}, {"b/size.h", "\n"}}));
  // Only from there on.
  CHECK(stays(group + "\n  return 0;\n}\n#define WIDTH 8\nint32_t other(void) {"));
  CHECK(stays("#ifdef FAST\n  q[0] = 1;\n#endif"));
}

}  // namespace
}  // namespace usmp::tvm_c::memory_calls_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The text of functions that stay.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::kept_text_test {
namespace {

// An operator that is not read.
std::string op(const std::string& name, const std::string& value) {
  return "int32_t tvmgen_m_" + name + "(int8_t* p, int8_t* q) {\n  int i = 0;\n  do { q[i] = (int8_t)(" + value +
         "); } while (++i < 4);\n  return 0;\n}\n";
}

const std::string entry =
    "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n"
    "  if (tvmgen_m_a(x_buffer_var, y_buffer_var) != 0 ) return -1;\n"
    "  if (tvmgen_m_b(x_buffer_var, y_buffer_var) != 0 ) return -1;\n  return 0;\n}\n";

// The text that stays of a file with two operators, what stands in front of them and what they compute.
std::string kept(const std::string& front, const std::string& value = "f(p[i])") {
  const std::string text = front + op("a", value) + op("b", value);
  const std::vector<Source> files = {{"lib1.c", text}, {"lib3.c", entry}};
  const PlannedModule planned = read_planned_module("m", files, {}, {}, Unread::kept);
  std::string result;
  for (const std::string& one : planned.module.functions[planned.module.entry].imported_c) result += one;
  return result;
}

std::string error_of(const std::vector<Source>& files) {
  try {
    (void)read_planned_module("m", files, {}, {}, Unread::kept);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

const std::string function = "static int f(int x) { return x / 2; }\n";

}  // namespace

TEST_CASE("all that stays is in one file") {
  const std::string a = op("a", "f(p[i])");
  const std::string b = op("b", "f(p[i])");
  const std::string read =
      "int32_t tvmgen_m_b(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 4; ++i) {\n    q[i] = g(p[i]);\n  }\n"
      "  return 0;\n}\n";
  const std::string copy = "int32_t tvmgen_m_b(int8_t* p, int8_t* q) {\n  q[0] = p[0];\n  return 0;\n}\n";
  const std::string timed = entry.substr(0, entry.find("  return 0;")) + "  stop();\n  return 0;\n}\n";
  const std::string both = function + a + b;
  const std::string first = function + a;
  const std::string second = function + b;
  const std::string other = "static int g(int x) { static int n; return x + n++; }\n" + read;
  CHECK(error_of({{"lib1.c", both}, {"lib3.c", entry}}) == "none");
  CHECK(error_of({{"lib1.c", first}, {"lib2.c", copy}, {"lib3.c", entry}}) == "none");
  CHECK(error_of({{"lib1.c", first}, {"lib2.c", second}, {"lib3.c", entry}}) ==
        "lib1.c: line 1, column 1: found code that stays as it is, and in lib2.c, too, expected one file that has all "
        "of it: move it there, static names that both have under other names");
  // A helper of a planned operator, and a call of the entry.
  const std::string tells = "lib1.c: line 1, column 1: found code that stays as it is, and in ";
  CHECK(error_of({{"lib1.c", first}, {"lib2.c", other}, {"lib3.c", entry}}).find(tells + "lib2.c") == 0);
  CHECK(error_of({{"lib1.c", both}, {"lib3.c", timed}}).find(tells + "lib3.c") == 0);
  CHECK(error_of({{"lib3.c", timed}, {"lib4.c", both}}).find("lib3.c: line 1, column 1: found code") == 0);
  CHECK(error_of({{"lib1.c", both + timed}}) == "none");
}

TEST_CASE("tables of other files stand in front of what stays") {
  const std::string by_table = function + op("a", "w[p[i] & 1]") + op("b", "f(p[i])");
  const auto text = [&](const std::string& table) {
    try {
      const std::vector<Source> files = {{"lib1.c", by_table}, {"lib3.c", entry}, {"weights.c", table}};
      const PlannedModule planned = read_planned_module("m", files, {}, {}, Unread::kept);
      return planned.module.functions[planned.module.entry].imported_c.at(0);
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  const std::string others = "#define SHIFT 3\nint8_t twice(int8_t x);\n";
  for (const std::string table :
       {"const int8_t w[2] = {7, 8};", "const float w[] __attribute__((aligned(8))) = {-1.5f, 2.0f};"}) {
    CHECK(text(others + table + "\n").starts_with("#include <stdint.h>\n\n" + table + "\n\n"));
  }
  CHECK(text("const int8_t w[2] = {7, 8};\nconst int8_t w[2] = {7, 8};\n") ==
        "weights.c: line 2, column 1: found another 'w', which stays as it is, expected one of that name");
  const std::string tells = "lib1.c: line 1, column 1: found code that stays as it is, and in weights.c, too";
  for (const std::string table :
       {"const int8_t w[2] FAST = {7, 8};", "int8_t w[2] = {7, 8};", "const int8_t w[2] = {7, SHIFT};",
        "const int8_t w[2] = {7,\n#if SHIFT\n8};\n#else\n9};\n#endif\n"}) {
    CAPTURE(table);
    CHECK(text(others + table + "\n").find(tells) == 0);
  }
}

TEST_CASE("macros that are defined within what does not stay are defined all the same") {
  const std::string table =
      "#define N 1\nstatic const int unused[2] = {1,\n#undef N\n#ifdef A\n#define N 7\n#else\n#define N "
      "8\n#endif\n2};\n";
  const std::string text = kept(table, "3");
  CHECK(text.find("unused") == std::string::npos);
  std::size_t at = 0;
  for (const char* line : {"#define N 1\n", "#undef N\n", "#ifdef A\n", "#define N 7\n", "#else\n", "#define N 8\n",
                           "#endif\n", "q[i] = (int8_t)(3)"}) {
    at = text.find(line, at);
    CHECK_MESSAGE(at != std::string::npos, line);
  }
  CHECK(kept("static const int unused[1] = {\n#pragma x\n#if 1\n2\n#endif\n};\n", "3").find("#if") ==
        std::string::npos);
}

TEST_CASE("a static function of another file is not what is called") {
  const std::string text = entry.substr(0, entry.find("  return 0;")) + "  f(3);\n  return 0;\n}\n";
  const auto read = [&](const std::string& linkage) {
    const std::string a = linkage + "void f(int n) { (void)n; }\n";
    const std::string b = op("a", "1") + op("b", "2") + text;
    const std::vector<Source> files = {{"lib1.c", a}, {"lib3.c", b}};
    (void)read_planned_module("m", files, {}, {}, Unread::kept);
  };
  read("");
  CHECK_THROWS_WITH_AS(read("static "), doctest::Contains("found a call of 'f', of which lib1.c has a static one"),
                       Error);
}

TEST_CASE("a header of what stays declares no operator that is written anew") {
  const std::string read =
      "int32_t tvmgen_m_c(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 4; ++i) {\n"
      "    q[i] = p[i];\n  }\n  return 0;\n}\n";
  const std::string calls = entry.substr(0, entry.find("  return 0;")) +
                            "  if (tvmgen_m_c(x_buffer_var, y_buffer_var) != 0 ) return -1;\n  return 0;\n}\n";
  const auto visible = [&](const std::string& declared, const std::string& name = "ops.h") {
    const std::string a = "#include \"" + name + "\"\n" + op("a", "1") + op("b", "2");
    const std::string b = read;
    const std::string header = "int32_t " + declared + "(int8_t* p, int8_t* q);\n";
    const std::vector<Source> files = {{"lib1.c", a}, {"lib2.c", b}, {"lib3.c", calls}};
    const std::vector<Source> headers = {{"ops.h", header}};
    return read_planned_module("m", files, {}, {}, Unread::kept, {}, headers).visible_names;
  };
  CHECK(visible("tvmgen_m_a") == std::set<std::string>{"int32_t", "tvmgen_m_a", "int8_t", "p", "q"});
  CHECK(visible("tvmgen_m_c", "other.h").empty());
  for (const std::string name : {"tvmgen_m_c", "tvmgen_m___tvm_main__"}) {
    CHECK_THROWS_WITH_AS((void)visible(name), doctest::Contains("ops.h: line 1, column 9: found '"), Error);
  }
}

TEST_CASE("what another name stands for stays with it") {
  const std::string g = "static int g(int x) { return x / 3; }\n";
  for (const std::string other :
       {"int f(int x) __attribute__((alias(\"g\")));\n", "static int f(int x) __attribute__((weakref(\"g\")));\n",
        "int f(int x);\n#pragma weak f = g\n",
        "#define ALIAS(n) __attribute__((alias(#n)))\nint f(int x) ALIAS(g);\n"}) {
    CAPTURE(other);
    CHECK(kept(g + other).find(g) != std::string::npos);
    CHECK(kept(g + other, "p[i]").find(g) != std::string::npos);
  }
  const std::string read =
      "int32_t tvmgen_m_c(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 4; ++i) {\n"
      "    q[i] = p[i];\n  }\n  return 0;\n}\n";
  const std::string a =
      read + "int f(int8_t* p, int8_t* q) __attribute__((alias(\"tvmgen_m_c\")));\n" + op("a", "1") + op("b", "2");
  const std::string calls = entry.substr(0, entry.find("  return 0;")) +
                            "  if (tvmgen_m_c(x_buffer_var, y_buffer_var) != 0 ) return -1;\n  return 0;\n}\n";
  const std::vector<Source> files = {{"lib1.c", a}, {"lib3.c", calls}};
  const PlannedModule planned = read_planned_module("m", files, {}, {}, Unread::kept);
  CHECK(planned.kept.size() == 3);
}

TEST_CASE("functions that variables point to, or that run by themselves, stay") {
  const std::string g = "static int g(int x) { return x / 3; }\n";
  for (const std::string variable : {"static int (*f)(int) = g;\n", "static int (*const f[1])(int) = {g};\n",
                                     "#define G g\nstatic int (*f)(int) = G;\n"}) {
    CAPTURE(variable);
    CHECK(kept(g + variable, "p[i]").find(g) != std::string::npos);
  }
  const std::string init = "__attribute__((constructor)) static void init(void) { level = 3; }\n";
  CHECK(kept("static int level;\n" + init + function, "p[i]").find(init) != std::string::npos);
  CHECK(kept(g + function, "p[i]").find(g) == std::string::npos);
}

}  // namespace usmp::tvm_c::kept_text_test

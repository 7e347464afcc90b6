// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Code of several files that stays, and comes into one.
#include "tvm_c/kept/merged_files.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::merged_files_test {
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

// The text that stays of two files with an operator each, what stands in front of them and what the operators compute.
std::string kept(const std::string& first, const std::string& second, const std::string& value = "f(p[i])",
                 const std::vector<Source>& headers = {}) {
  const std::string a = first + op("a", value);
  const std::string b = second + op("b", value);
  const std::vector<Source> files = {{"lib1.c", a}, {"lib2.c", b}, {"lib3.c", entry}};
  const PlannedModule planned = read_planned_module("m", files, {}, {}, Unread::kept, {}, headers);
  std::string text;
  for (const std::string& one : planned.module.functions[planned.module.entry].imported_c) text += one;
  return text;
}

std::string error_of(const std::string& first, const std::string& second, const std::string& value = "f(p[i])",
                     const std::vector<Source>& headers = {}) {
  try {
    (void)kept(first, second, value, headers);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t result = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++result;
  return result;
}

const std::string function = "static int f(int x) { return x / 2; }\n";

}  // namespace

TEST_CASE("a function or constant that two files have stands once, but variables are each file's own") {
  CHECK(count(kept(function, function), function) == 1);
  for (const std::string constant : {"static const int t[2] = {1, 2};\n", "static const char* const t = \"a\";\n"}) {
    CAPTURE(constant);
    CHECK(count(kept(constant, constant, "t[i & 1]"), constant) == 1);
  }
  for (const std::string variable : {"static int t[2];\n", "static int t[2] = {1, 2};\n", "static int t = 3;\n",
                                     "static const char* t = \"a\";\n"}) {
    CAPTURE(variable);
    CHECK(error_of(variable, variable, "(int)(t + i)").find("declares 't', as lib1.c does") != std::string::npos);
  }
  CHECK(error_of("static int a, t;\n", "static int a, t;\n", "(int)(t + i)").find("declares 'a', as lib1.c does") !=
        std::string::npos);
  const std::string counter = "static int f(int x) { static int n; return x + n++; }\n";
  CHECK(error_of(counter, counter).find("declares static variables in 'f', as lib1.c does") != std::string::npos);
}

TEST_CASE("a name that two files declare is one thing, or refused") {
  const auto error = [](const std::string& first, const std::string& second, const std::vector<Source>& headers = {}) {
    return error_of(first, second, "sizeof(v)", headers);
  };
  const std::string tells = "', as lib1.c does";  // also of u
  const std::string same = "#define LOCAL static\n#define VAR(n) static int n\n";
  const std::vector<std::string> own = {"static int v;\n",
                                        "static int v = 3;\n",
                                        "static int u, v;\n",
                                        "static int (v);\n",
                                        "static int (*v)(int);\n",
                                        "static int (*v[2])(int);\n",
                                        "LOCAL int v;\n",
                                        "VAR(v);\n",
                                        "static int v __attribute__((aligned(8)));\n",
                                        "UNKNOWN int v;\n",
                                        "#ifdef A\nstatic int v;\n#endif\n",
                                        "static int v __attribute__((section(\".fast\")));\n",
                                        "static struct { int x; } v;\n"};
  for (const std::string& first : own) {
    for (const std::string& second : {first, own[0], own[1], std::string("int v;\n"), std::string("extern int v;\n"),
                                      std::string("MAKE(v);\n"), std::string("typedef int v;\n")}) {
      CAPTURE(first);
      CAPTURE(second);
      // Of a function whose file may have it or not, the group is told.
      for (const std::string& told : {error(same + first, same + second), error(same + second, same + first)}) {
        const bool is_group = told.find("which another file defines, too, in a conditional group") != std::string::npos;
        CHECK((told.find(tells) != std::string::npos || (is_group && first.starts_with("#ifdef"))));
      }
    }
  }
  CHECK(error("MAKE(v);\n", "MAKE(v);\n").find("declares 'MAKE', as lib1.c does") != std::string::npos);
  CHECK(error("static int v(int x) { return x; }\n", "int v(int x);\n").find(tells) != std::string::npos);
  for (const std::string one : {"extern int v;\n", "int v(int x);\n", "typedef int v;\n", "TVM_DLL int v(int x);\n",
                                "int v;\n", "#define v 3\n", "enum { v = 3 };\n", "struct v { int x; };\n"}) {
    CAPTURE(one);
    CHECK(error(one, one) == "none");
  }
  // Of headers: a constant or a function is one where the header is.
  const auto from_header = [&](const std::string& header, bool is_twice = false) {
    const std::string include = "#include \"h.h\"\n";
    const std::string text = header + "#pragma once\n";
    std::vector<Source> headers = {{"h.h", text}};
    if (is_twice) headers.push_back({"other/h.h", "int w;\n"});
    return error(include, include, headers);
  };
  const std::string in_header = "h.h: line 1, column 12: declares 'v', and lib1.c and lib2.c include it";
  CHECK(from_header("static int v;\n").find(in_header) != std::string::npos);
  CHECK(from_header("static int v;\n", true).find(in_header) != std::string::npos);
  CHECK(from_header("static int v(void) { static int n; return n++; }\n").find("declares static variables in 'v'") !=
        std::string::npos);
  for (const std::string one : {"static inline int v(int x) { return x; }\n", "static const int v[2] = {1, 2};\n",
                                "extern int v;\n", "__STATIC_INLINE int v(int x) { return x; }\n"}) {
    CAPTURE(one);
    CHECK(from_header(one) == "none");
    CHECK(from_header(one, true) == "none");
  }
  // Functions of one text that call what is not one.
  const std::string call = "static int f(int x) { return x + v++; }\n";
  CHECK(error_of("static int v;\n" + call, "static int v = 0;\n" + call).find(tells) != std::string::npos);
  // Conditions that divide brackets, or belong in part to what does not stay.
  const std::string cut = "#ifdef A\nstatic int f(int x) {\n#else\nstatic int f(int x, ...) {\n#endif\nreturn x; }\n";
  const std::string comes = ": its code comes into one file with that of others";
  CHECK(error(cut, function).find("lib1.c: the conditional group does not end, expected #endif" + comes) == 0);
  CHECK(from_header("int a;\n#if X\nint b[] = {\n#endif\n};\n").find("h.h: line 3, column 11: the bracket { is not") ==
        0);
}

TEST_CASE("macros that are defined within what does not stay are defined all the same") {
  const std::string table =
      "#define N 1\nstatic const int unused[2] = {1,\n#undef N\n#ifdef A\n#define N 7\n#else\n#define N "
      "8\n#endif\n2};\n";
  const std::string text = kept(table, "", "3");
  CHECK(text.find("unused") == std::string::npos);
  std::size_t at = 0;
  for (const char* line : {"#define N 1\n", "#undef N\n", "#ifdef A\n", "#define N 7\n", "#else\n", "#define N 8\n",
                           "#endif\n", "q[i] = (int8_t)(3)"}) {
    at = text.find(line, at);
    CHECK_MESSAGE(at != std::string::npos, line);
  }
  CHECK(kept("static const int unused[1] = {\n#pragma x\n#if 1\n2\n#endif\n};\n", "", "3").find("#if") ==
        std::string::npos);
}

TEST_CASE("a type that two files declare stands once") {
  const std::vector<std::pair<std::string, std::string>> types = {
      {"typedef struct { int8_t low; } f;\n", "typedef struct { int8_t low, high; } f;\n"},
      {"enum { f = 2, e };\n", "enum { f = 3, e };\n"},
      {"enum { e, f };\n", "typedef enum { f, h } g;\n"},
      {"struct f { int x; };\n", "struct f { int8_t x; };\n"},
      {"typedef int (*f)(int, int);\n", "typedef int (*f)(int);\n"},
      {"typedef int8_t f;\n", "typedef int16_t f;\n"},
      {"typedef int f[3];\n", "typedef int f[4];\n"}};
  for (const auto& [type, other] : types) {
    CAPTURE(type);
    CHECK(count(kept(type, type, "sizeof(int8_t)"), type) == 1);
    CHECK(error_of(type, other, "sizeof(int8_t)").find("f' otherwise than lib1.c") != std::string::npos);
  }
  CHECK(count(kept("typedef struct { int f; } g;\n", "typedef struct { int f; } h;\n", "1"), "int f;") == 2);
  // In a group that may not be compiled, both stay.
  const std::string type = "typedef int8_t f;\n";
  CHECK(count(kept("#ifdef A\n" + type + "#endif\n", type, "sizeof(int8_t)"), type) == 2);
  CHECK(count(kept("#ifdef A\n#else\n" + type + "#endif\n", type, "sizeof(int8_t)"), type) == 2);
  CHECK(count(kept("#ifndef A\n" + type + "#endif\n", type, "sizeof(int8_t)"), type) == 2);
  // Which C allows for types without braces alone.
  for (const std::string once :
       {"typedef struct { int8_t low; } f;\n", "struct f { int x; };\n", "enum { f = 2 };\n"}) {
    const std::string group = "#ifdef A\n" + once + "#endif\n";
    for (const auto& [first, second] : {std::pair(group, once), std::pair(once, group), std::pair(group, group)}) {
      CAPTURE(first);
      CHECK(error_of(first, second, "sizeof(int8_t)").find("f' under other conditions than lib") != std::string::npos);
    }
  }
  CHECK(error_of("#ifdef A\ntypedef int f;\n#else\ntypedef char f;\n#endif\n", "#ifdef B\ntypedef long f;\n#endif\n",
                 "sizeof(int8_t)")
            .find("f' under other conditions than lib") != std::string::npos);
}

TEST_CASE("a header that two files include has a guard, and no other one has that") {
  const std::string include = "#include \"h.h\"\n";
  const auto error = [&](const std::string& header, const std::string& second, const std::string& other = "") {
    return error_of(include, second, "p[i]", {{"h.h", header}, {"g.h", other}});
  };
  const std::string tells = "includes 'h.h', as lib1.c does, expected '#pragma once' or an include guard";
  for (const std::string once : {"typedef struct { int a; } t;\n", "struct t { int a; };\n", "enum { a = 3 };\n",
                                 "static const int a = 3;\n", "static inline int a(void) { return 3; }\n"}) {
    CAPTURE(once);
    CHECK(error(once, include).find(tells) != std::string::npos);
    CHECK(error(once, "#include \"g.h\"\n", include).find(tells) != std::string::npos);
    CHECK(error("#ifndef H\n#define H\n#endif\n" + once, include).find(tells) != std::string::npos);
    CHECK(error(once, "") == "none");
    for (const std::string front : {"#ifndef H\n", "#if !defined(H)\n", "#if ! defined H\n"}) {
      CHECK(error(front + "#define H\n" + once + "#endif\n", include) == "none");
    }
    CHECK(error("#pragma once\n" + once, include) == "none");
  }
  CHECK(error("#define A 3\nint f(int);\nextern int n;\n", include) == "none");
  const std::string guarded = "#ifndef H\n#define H\nint f(int);\n#endif\n";
  CHECK(error(guarded, "#include \"g.h\"\n", guarded)
            .find("includes 'g.h', whose include guard 'H' lib1.c or a header of its defines, too") !=
        std::string::npos);
  CHECK(error(guarded, "#include \"g.h\"\n", "#ifndef G\n#define G\nint f(int);\n#endif\n") == "none");
}

TEST_CASE("a declaration in a function means what the file has") {
  const auto error = [](const std::string& first, const std::string& declaration) {
    return error_of("int g(void);\n" + first, "int g(void) { " + declaration + " return 0; }\n", "g()");
  };
  const std::string tells = "declares 'v', as lib1.c does";
  for (const std::string declaration : {"extern int v;", "extern const int u, v[];"}) {
    CAPTURE(declaration);
    CHECK(error("static int v = 3;\n", declaration).find(tells) != std::string::npos);
  }
  for (const std::string declaration : {"int v(void);", "extern int v(int);"}) {
    CAPTURE(declaration);
    CHECK(error("static int v(void) { return 3; }\nstatic int (*at)(void) = v;\n", declaration).find(tells) !=
          std::string::npos);
  }
  CHECK(error("static int v = 3;\n", "int v = 2; (void)v;") == "none");
}

TEST_CASE("a static function of another file is not what is called") {
  const std::string text = entry.substr(0, entry.find("  return 0;")) + "  f(3);\n  return 0;\n}\n";
  const auto read = [&](const std::string& linkage) {
    const std::string a = linkage + "void f(int n) { (void)n; }\n" + op("a", "1");
    const std::string b = op("b", "2");
    const std::vector<Source> files = {{"lib1.c", a}, {"lib2.c", b}, {"lib3.c", text}};
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
    const std::string a = "#include \"" + name + "\"\n" + op("a", "1");
    const std::string b = op("b", "2") + read;
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
    CHECK(kept(g + other, "").find(g) != std::string::npos);
    CHECK(kept(g + other, "", "p[i]").find(g) != std::string::npos);
  }
  const std::string read =
      "int32_t tvmgen_m_c(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 4; ++i) {\n"
      "    q[i] = p[i];\n  }\n  return 0;\n}\n";
  const std::string a = read + "int f(int8_t* p, int8_t* q) __attribute__((alias(\"tvmgen_m_c\")));\n" + op("a", "1");
  const std::string b = op("b", "2");
  const std::string calls = entry.substr(0, entry.find("  return 0;")) +
                            "  if (tvmgen_m_c(x_buffer_var, y_buffer_var) != 0 ) return -1;\n  return 0;\n}\n";
  const std::vector<Source> files = {{"lib1.c", a}, {"lib2.c", b}, {"lib3.c", calls}};
  const PlannedModule planned = read_planned_module("m", files, {}, {}, Unread::kept);
  CHECK(planned.kept.size() == 3);
}

TEST_CASE("a header that two files include means the same in both") {
  const std::string include = "#include \"h.h\"\n";
  const auto error = [&](const std::string& first, const std::string& second, const std::string& header,
                         const std::string& other = "") {
    const std::vector<Source> headers = {{"h.h", header}, {"g.h", other}};
    return error_of(first, second, "p[i] / DIV", headers);
  };
  const std::string by_level =
      "#ifndef H\n#define H\n#ifdef LEVEL\n#define DIV 2\n#else\n#define DIV 3\n#endif\n#endif\n";
  const std::string level = "#define LEVEL 2\n";
  const auto tells = [](const std::string& message, const std::string& name) {
    return message.find("uses '" + name + "', a macro that lib1.c or a header of its defines otherwise") !=
           std::string::npos;
  };
  CHECK(error(include, include, by_level) == "none");
  CHECK(error(level + include, level + include, by_level) == "none");
  CHECK(tells(error(level + include, include, by_level), "LEVEL"));
  CHECK(tells(error(include, level + include, by_level), "LEVEL"));
  CHECK(tells(error(level, include, by_level), "LEVEL"));
  // What one header leaves is seen by the next.
  const std::string by_default = "#ifndef DIV\n#define DIV 3\n#endif\n";
  const std::string other = "#include \"g.h\"\n";
  CHECK(tells(error(other + include, include, by_default, "#define DIV 2\n"), "DIV"));
  CHECK(tells(error(other + include, include + other, by_default, "#ifndef DIV\n#define DIV 2\n#endif\n"), "DIV"));
  CHECK(error(other + include, other + include, by_default, "#define DIV 2\n") == "none");
  // A compiler's words.
  CHECK(error("#define __STATIC_INLINE static inline\n" + include,
              "#ifndef __STATIC_INLINE\n#define __STATIC_INLINE static\n#endif\n" + include, by_level) == "none");
}

TEST_CASE("packing ends with its file") {
  const std::string tells = "'#pragma pack' that goes on to the end";
  CHECK(error_of("#pragma pack(push, 1)\n#pragma pack(pop)\n" + function, function) == "none");
  CHECK(error_of("#pragma pack(1)\n#pragma pack()\n" + function, function) == "none");
  CHECK(error_of(function, "#pragma pack(1)\n" + function) == "none");
  CHECK(error_of("#pragma pack(1)\n" + function, function).find(tells) != std::string::npos);
  CHECK(error_of("# pragma pack ( push , 1 )\n" + function, function).find(tells) != std::string::npos);
  const std::string macros = "#define BEGIN _Pragma(\"pack(push, 1)\")\n#define END _Pragma(\"pack(pop)\")\n";
  CHECK(error_of(macros + "BEGIN\nEND\nint x;\n" + function, macros + function) == "none");
  CHECK(error_of(macros + "BEGIN\nint x;\n" + function, macros + function).find(tells) != std::string::npos);
  CHECK(error_of("_Pragma(\"pack(1)\")\nint x;\n" + function, function).find(tells) != std::string::npos);
  const std::vector<Source> headers = {{"begin.h", "#pragma pack(push, 1)\n"}, {"end.h", "#pragma pack(pop)\n"}};
  const std::string begin = "#include \"begin.h\"\n";
  CHECK(error_of(begin + "#include \"end.h\"\n" + function, function, "f(p[i])", headers) == "none");
  CHECK(error_of(begin + function, function, "f(p[i])", headers).find(tells) != std::string::npos);
  const std::vector<Source> two = {{"begin.h", "#pragma pack(push, 1)\n"}, {"other/begin.h", "int a;\n"}};
  CHECK(error_of(begin + function, function, "f(p[i])", two).find(tells) != std::string::npos);
}

TEST_CASE("functions that variables point to, or that run by themselves, stay") {
  const std::string g = "static int g(int x) { return x / 3; }\n";
  for (const std::string variable : {"static int (*f)(int) = g;\n", "static int (*const f[1])(int) = {g};\n",
                                     "#define G g\nstatic int (*f)(int) = G;\n"}) {
    CAPTURE(variable);
    CHECK(kept(g + variable, "", "p[i]").find(g) != std::string::npos);
  }
  const std::string init = "__attribute__((constructor)) static void init(void) { level = 3; }\n";
  CHECK(kept("static int level;\n" + init, function, "p[i]").find(init) != std::string::npos);
  CHECK(kept(g, function, "p[i]").find(g) == std::string::npos);
}

}  // namespace usmp::tvm_c::merged_files_test

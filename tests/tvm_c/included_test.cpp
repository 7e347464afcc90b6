// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Names that the preprocessor may change: what a function needs that is not certain keeps the function's C.
#include "tvm_c/text/included.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "tvm_c/text/preprocessed.hpp"
#include "usmp/support/characters.hpp"
#include "usmp/support/error.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::included_test {
namespace {

const std::string table = "static const int8_t w[2] = {1, 2};\n";
const std::string op = "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  q[0] = (int8_t)(p[0] + w[1]);\n  return 0;\n}\n";
const std::string exp_op = "int32_t tvmgen_m_op(float* p, float* q) {\n  q[0] = expf(p[0]);\n  return 0;\n}\n";
const std::string entry =
    "int32_t tvmgen_m___tvm_main__(void* in_buffer_var, void* output_buffer_var) {\n"
    "  if (tvmgen_m_op(in_buffer_var, output_buffer_var) != 0 ) return -1;\n  return 0;\n}\n";

PlannedModule read(const std::vector<Source>& files, const std::vector<Source>& headers = {}) {
  return read_planned_module("m", files, {}, {}, Unread::kept, {}, headers);
}

// Why the operator's C stays; "read": it does not.
std::string reason_of(const std::vector<Source>& files, const std::vector<Source>& headers = {}) {
  const PlannedModule module = read(files, headers);
  for (const KeptFunction& function : module.kept) {
    if (function.name == "tvmgen_m_op") return function.reason;
  }
  return "read";
}

std::string reason_of(const std::string& text, const std::vector<Source>& headers = {}) {
  return reason_of(std::vector<Source>{{"lib1.c", text}}, headers);
}

std::string error_of(const std::string& text) {
  try {
    (void)read({{"lib1.c", text}});
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

// The values of the table that the operator reads.
std::vector<int> values_of(const std::vector<Source>& files, const std::vector<Source>& headers = {}) {
  std::vector<int> values;
  const PlannedModule module = read(files, headers);
  for (const tir::Stmt& stmt : module.module.functions[*module.module.find("tvmgen_m_op")].body) {
    const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
    if (constant == nullptr) continue;
    for (const char byte : constant->data->bytes) values.push_back(byte);
  }
  return values;
}

std::string macro_reason(const std::string& place, const std::string& name) {
  return place + ": found '" + name + "', which is a macro here, expected a name or a macro for a number";
}

}  // namespace

TEST_CASE("a function that uses a macro's name stays as it is") {
  CHECK(reason_of(table + op + entry) == "read");
  CHECK(reason_of("#define w v\nstatic const int8_t v[2] = {3, 4};\n" + table + op + entry) ==
        macro_reason("line 5, column 26", "w"));
  CHECK(reason_of("#define expf(x) (x)\n" + exp_op + entry) == macro_reason("line 3, column 10", "expf"));
  CHECK(reason_of("#ifdef FAST\n#define expf(x) (x)\n#endif\n" + exp_op + entry) ==
        macro_reason("line 5, column 10", "expf"));
  CHECK(reason_of("#define float double\n" + exp_op + entry) == macro_reason("line 2, column 21", "float"));
  CHECK(reason_of("#undef expf\n" + exp_op + entry) == macro_reason("line 3, column 10", "expf"));
  CHECK(reason_of("#define other 1\n#define TVM_DLL\nTVM_DLL " + exp_op + entry) == "read");
  CHECK(error_of("#define tvmgen_m_op other\n" + table + op + entry)
            .starts_with("lib1.c: line 8, column 7: found 'tvmgen_m_op', which is a macro here"));
  // Whatever takes memory, planned memory takes its place.
  CHECK(error_of(
            "#define TVMBackendAllocWorkspace(a, b, c, d, e) malloc(c)\n#define NULL 0\n" + table + op +
            "int32_t tvmgen_m___tvm_main__(void* in_buffer_var, void* output_buffer_var) {\n"
            "  void* s = TVMBackendAllocWorkspace(1, 0, (uint64_t)1, 0, 8);\n  if (s == NULL) {\n    return -1;\n  }\n"
            "  if (tvmgen_m_op(in_buffer_var, s) != 0 ) return -1;\n"
            "  if (tvmgen_m_op(s, output_buffer_var) != 0 ) return -1;\n"
            "  if (TVMBackendFreeWorkspace(1, 0, s) != 0) {\n    return -1;\n  }\n  return 0;\n}\n") == "none");
}

TEST_CASE("macros of headers count where they are included") {
  const Source fast{"include/fast.h", "#pragma once\n#define expf(x) (x)\n"};
  const Source indirect{"all.h", "#include <model/fast.h>\n"};
  CHECK(reason_of(exp_op + entry, {fast, indirect}) == "read");
  CHECK(reason_of("#include \"fast.h\"\n" + exp_op + entry, {fast}) == macro_reason("line 3, column 10", "expf"));
  CHECK(reason_of("#include \"all.h\"\n" + exp_op + entry, {fast, indirect}) ==
        macro_reason("line 3, column 10", "expf"));
}

TEST_CASE("a macro for a number is the number") {
  const std::string loop =
      "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < N; ++i) {\n    q[i] = p[i];\n  }\n"
      "  return 0;\n}\n";
  const auto reason = [&](const std::string& front, const std::vector<Source>& headers = {}) {
    return reason_of(front + loop + entry, headers);
  };
  CHECK(reason("#define N 8\n") == "read");
  CHECK(reason("#define N (8)  // elements\n") == "read");
  CHECK(reason("#define N 8\n#if 0\n#ifdef X\n#else\n#endif\n#define N 9\n#endif\n") == "read");
  CHECK(reason("#define N 8\n#if 0\n#else\n#define N 9\n#endif\n") != "read");
  const std::string as_header = "#ifndef SIZES_H\n#define SIZES_H\n#ifdef __cplusplus\n#endif\n#define N 8\n#endif\n";
  CHECK(reason("#include \"sizes.h\"\n", {{"inc/sizes.h", as_header}}) == "read");
  for (const std::string& front : std::vector<std::string>{
           "#ifndef N\n#define N 8\n#endif\n", "#define N 8\n#undef N\n#define N 9\n", "#define N 8\n#undef N\n",
           "#define N() 8\n", "#define N 4 + 4\n", "#define N (8\n", "#define N 8u\n", "#define N M\n", "#define N\n",
           "#ifdef X\n#else\n#define N 8\n#endif\n", "#ifndef X\n#define X 1\n#define N 8\n#endif\n",
           "#ifndef X\n#define X\n#define N 8\n#else\n#define M\n#endif\n",
           "#ifndef X\n#define X\n#define N 8\n#endif\n#define M\n"}) {
    CHECK(reason(front).find("found 'N', which is a macro here") != std::string::npos);
  }
  CHECK(reason("#include \"sizes.h\"\n#define N 8\n", {{"sizes.h", "#define N 9\n"}}).find("found 'N'") !=
        std::string::npos);
  CHECK(values_of({{"lib1.c", "#define N 3\nstatic const int8_t w[N] = {5, 6};\n" + op + entry}}) ==
        std::vector<int>{5, 6, 0});
  // An enumerator, too.
  const std::vector<Source> enumeration = {{"sizes.h", "enum { N = 8 };\n"}};
  CHECK(reason("#include \"sizes.h\"\n", enumeration) == "read");
  CHECK(reason("#ifdef A\n#include \"sizes.h\"\n#endif\n", enumeration) != "read");
  for (const char* front :
       {"enum { M, N = 8, L };\n", "enum sizes { M = 3, L = (3 + 4), N };\n",
        "enum { M = 7 };\nenum { L, N = 3 + 5 };\n", "typedef enum { M = 7, N, } sizes_t;\n",
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\nenum { N = 8 };\n#ifdef __cplusplus\n}\n#endif\n",
        "enum {\n  N = 8,\n#ifdef A\n  M,\n#endif\n};\n", "struct s { enum { N = 8 } size; };\n"}) {
    CHECK_MESSAGE(reason(front) == "read", front);
  }
  for (const char* front :
       {"enum {\n#ifdef A\n  M,\n#endif\n  N = 8 };\n", "enum { M, N = K };\n", "enum { N, N2 };\nenum { N = 8 };\n",
        "static int size(void) { enum { N = 8 }; return N; }\n", "enum { N = };\n", "enum e;\nenum e N;\n",
        "#if 0\nenum { N = 8 };\n#endif\n", "enum { N = 0x100000008 };\n"}) {
    CHECK_MESSAGE(reason(front) != "read", front);
  }
}

TEST_CASE("a function that the C defines itself is none of math.h") {
  CHECK(reason_of(exp_op + entry) == "read");
  CHECK(reason_of("static float expf(float x) { return x; }\n" + exp_op + entry) ==
        "line 3, column 10: found 'expf', which the C defines itself, expected the function of math.h");
}

TEST_CASE("several tables in one declaration stay as they are") {
  const std::string both = "static const int8_t s[2] = {3, 4}, w[2] = {1, 2};\n";
  const PlannedModule planned = read({{"lib1.c", both + op + entry}});
  REQUIRE(planned.kept.size() == 1);
  const std::vector<std::string>& kept = planned.module.functions[planned.module.entry].imported_c;
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].find(both) != std::string::npos);
  CHECK(reason_of("static const int8_t w[2] = {1, 2}, s[2] = {3, 4};\n" + op + entry).find("found 'w'") !=
        std::string::npos);
}

TEST_CASE("what a conditional group has otherwise is not read") {
  const std::string other = "static const int8_t w[2] = {3, 4};\n";
  const std::string w = "found 'w', which a conditional group that is left out (line 1, column ";
  CHECK(reason_of("#ifdef V2\n" + other + "#else\n" + table + "#endif\n" + op + entry) ==
        "line 7, column 26: " + w + "10) defines, expected one definition");
  for (const std::string& front : std::vector<std::string>{
           "#if V2 > 1\n" + other + "#else\n" + table + "#endif\n",
           "#ifndef V2\n" + table + "#else\n" + other + "#endif\n", "#if defined(V2)\n" + other + "#endif\n" + table,
           "#if 0\n#elif V2\n" + other + "#else\n" + table + "#endif\n",
           "#ifdef V2\nstatic const int8_t w[2] =\n#else\nstatic const int8_t w[2] =\n#endif\n{1, 2};\n",
           "#ifdef V2\n#ifdef V3\n" + other + "#endif\n#endif\n" + table,
           "#ifdef V2\nenum { w = 3 };\n#endif\n" + table}) {
    CHECK(reason_of(front + op + entry).find("found 'w', which a conditional group") != std::string::npos);
  }
  for (const std::string& front : std::vector<std::string>{
           "#if 0\n" + other + "#else\n" + table + "#endif\n",
           "#ifdef __cplusplus\n" + other + "#else\n" + table + "#endif\n",
           "#if 1\n" + table + "#else\n" + other + "#endif\n",
           "#if defined(__cplusplus)\n" + other + "#endif\n" + table,
           "#ifdef TEST\nint main(void) { return w[0]; }\nextern int8_t v;\nextern const int8_t w[2];\n#endif\n" +
               table}) {
    CHECK(reason_of(front + op + entry) == "read");
  }
  // Somebody else may have what is left out. What the entry needs, too, is there where the model is.
  CHECK(reason_of("#ifndef V2\n" + table + "#endif\n" + op + entry) ==
        "line 5, column 26: found 'w' under a condition that the files do not decide, #ifndef V2 (lib1.c: line 2, "
        "column 1), expected one definition");
  CHECK(reason_of(table + "#ifndef FAST\n" + op + "#endif\n" + entry)
            .starts_with("line 3, column 9: found 'tvmgen_m_op' under a condition that the files do not decide, "));
  CHECK(reason_of("#ifndef NO_MODEL\n" + table + op + entry + "#endif\n") == "read");
  CHECK(reason_of(table + "#ifdef V2\nint32_t tvmgen_m_op(int8_t* p, int8_t* q) { return 0; }\n#else\n" + op +
                  "#endif\n" + entry) ==
        "line 5, column 9: found 'tvmgen_m_op', which a conditional group that is left out (line 2, column 10) "
        "defines, too, expected one function of that name");
  CHECK(error_of(table + op + "#ifdef V2\n" + entry + "#else\n" + entry + "#endif\n")
            .starts_with("lib1.c: line 12, column 9: found 'tvmgen_m___tvm_main__', which a conditional group"));
  CHECK(error_of("#ifdef USE_MODEL\n" + table + op + entry + "#endif\n") ==
        "lib1.c: line 1, column 17: found the entry function in a conditional group whose macro the file does not "
        "define, expected it outside of such groups, or that #define in the file");
}

TEST_CASE("directives stand where a compiler sees them") {
  const std::string good = "static const int8_t w[2] = {1, 2};\n";
  const std::string bad = "static const int8_t w[2] = {8, 9};\n";
  const std::string begin = "#if 0\n";
  const std::string end = "#else\n" + good + "#endif\n";
  for (const std::string& front : std::vector<std::string>{
           begin + "/* of spring:\n#else\n// */\n" + bad + end,  // a comment that is left out
           begin + "/* of spring:\n#endif */\n" + bad + end,
           begin + "// of spring \\\n#else\n" + bad + end,    // goes on behind the splice
           begin + "static const char* s = \"/*\";\n" + end,  // none
           begin + "it's /* none\n" + end,
           begin + bad + "/* */ #else\n" + good + " /*\n*/ #endif\n",       // a directive behind a comment
           begin + bad + " \\\n#else\n" + good + " \\\r\n\f#endif\n",       // behind a splice
           begin + bad + "#/* */else\n" + good + "# /*\n */ \\\n endif\n",  // in the directive
           begin + bad + "#else /* of\n" + bad + "*/\n" + good + "#endif // 0\n",
           "#ifdef __cplusplus /*\n#endif */\n" + bad + end,
           "#define /* n */ N 1 /*\n" + bad + "*/\n#ifdef /* n */ N\n" + good + "#endif\n",
           "#/**/define N 3\n#ifdef N\n" + good + "#endif\n"}) {
    CAPTURE(front);
    CHECK(values_of({{"lib1.c", front + op + entry}}) == std::vector<int>{1, 2});
  }
}

TEST_CASE("other spellings of # and of a backslash are not read") {
  CHECK(error_of("%:define w v\n" + table + op + entry) ==
        "lib1.c: line 1, column 1: found the digraph %:, expected the character that it stands for");
  CHECK(error_of(table + "  ?\?=undef w\n" + op + entry) ==
        "lib1.c: line 2, column 3: found the trigraph ?\?=, which some compilers take for another character");
  CHECK(error_of("// why?\?/\n" + table + op + entry).starts_with("lib1.c: line 1, column 1: found a comment that"));
  CHECK(reason_of("// why?\?/ \n// why?\n" + table + op + entry) == "read");
  CHECK(error_of("#def\\\nine w v\n" + table + op + entry) ==
        "lib1.c: line 1, column 2: found a line splice inside of a token, expected it between two");
  CHECK(reason_of("#define N 1,\\\n  2\n" + table + op + entry) == "read");
}

TEST_CASE("what is known of conditions is of the file's own") {
  const std::string include = "#include \"a.h\"\n";
  const std::string text = include + "#if A\n#endif\n#ifdef B\n#endif\n";
  const std::vector<Source> files = {{"lib1.c", text}};
  const std::string header = std::string(include.size(), '\n') + "#if 1\n#endif\n#define B\n";
  const std::vector<Source> headers = {{"a.h", header}};
  CHECK(*known_conditions(Included(files, headers), 0) == Conditions{{include.size() + 13, true}});
}

TEST_CASE("macros that come back are not read") {
  const std::string expected = "found pop_macro, expected macros that only #define and #undef change";
  CHECK(error_of("#pragma pop_macro(\"w\")\n" + table + op + entry) == "lib1.c: line 1, column 9: " + expected);
  CHECK(error_of("_Pragma(\"pop_macro(\\\"w\\\")\")\n" + table + op + entry) ==
        "lib1.c: line 1, column 9: " + expected);
  CHECK(reason_of("static const char* s = \"pop_macro\";\n" + table + op + entry) == "read");
}

TEST_CASE("a header that cannot be split into tokens counts if the files include it") {
  const Source header{"odd.h", "#define ROWS 4 \\ \n + 2\n"};
  CHECK(reason_of({{"lib1.c", table + op + entry}}, {header}) == "read");
  try {
    (void)read({{"lib1.c", "#include \"odd.h\"\n" + table + op + entry}}, {header});
    FAIL("is read");
  } catch (const Error& error) {
    const std::string what = error.what();
    CHECK_MESSAGE(what.starts_with("odd.h: line 1, column 16: found a backslash, blanks and the end"), what);
  }
}

TEST_CASE("text that stays has what a group that is left out needs of it") {
  const std::string other = "static const int8_t v[2] = {3, 4};\n";
  const std::string with_v = "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  q[0] = v[0];\n  return 0;\n}\n";
  const std::string text =
      table + other + "#ifdef V2\n#ifdef __cplusplus\n#endif\n" + with_v + "#else\n" + op + "#endif\n" + entry;
  const PlannedModule module = read({{"lib1.c", text}});
  const std::vector<std::string>& kept = module.module.functions[module.module.entry].imported_c;
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].find(table) != std::string::npos);
  CHECK(kept[0].find(other) != std::string::npos);
}

TEST_CASE("a table is what its file sees") {
  const Source other{"lib2.c", "static const int8_t w[2] = {7, 8};\n"};
  const Source shared{"lib2.c", "const int8_t w[2] = {7, 8};\n"};
  const Source header{"weights.h", "#ifndef W\n#define W\nstatic const int8_t w[2] = {5, 6};\n#endif\n"};
  const std::string include = "#include \"weights.h\"\n";
  CHECK(values_of({{"lib1.c", op + entry}, shared}) == std::vector<int>{7, 8});
  CHECK(reason_of({{"lib1.c", op + entry}, other}) == "line 2, column 26: found 'w', which is not declared here");
  const std::string by_condition = "#ifdef V2\n" + table + "#else\nconst int8_t w[2] = {7, 8};\n#endif\n";
  const Source uncertain{"lib2.c", by_condition};
  CHECK(reason_of({{"lib1.c", op + entry}, uncertain}) == "line 2, column 26: found 'w', which is not declared here");
  CHECK(values_of({{"lib1.c", "#include \"lib2.c\"\n" + op + entry}, other}) == std::vector<int>{7, 8});
  CHECK(values_of({{"lib1.c", include + op + entry}, other}, {header}) == std::vector<int>{5, 6});
  CHECK(reason_of(include + op + entry, {{"weights.h", "#ifdef V2\n" + table + "#else\n" + table + "#endif\n"}}) ==
        "line 3, column 26: found 'w', which is not declared here");
  CHECK(reason_of("#define int8_t int16_t\n" + table +
                  "int32_t tvmgen_m_op(float* p, float* q) {\n  q[0] = p[0] + (float)w[1];\n  return 0;\n}\n" +
                  entry) == "line 4, column 24: found 'w', which is not declared here");
}

TEST_CASE("tables are read as people write them") {
  const auto values = [](const std::string& front) { return values_of({{"lib1.c", front + op + entry}}); };
  CHECK(values("static const int8_t w[] = {5, 6};\n") == std::vector<int>{5, 6});
  CHECK(values("static int8_t const w[2] = {5, 6};\n") == std::vector<int>{5, 6});
  CHECK(values("static const int8_t w[2] PROGMEM = {5, 6};\n") == std::vector<int>{5, 6});
  CHECK(values("static const int8_t w[2] __attribute__((used)) ALIGNED(16) IN_FLASH = {5, 6};\n") ==
        std::vector<int>{5, 6});
  const std::string unread = "found 'w', which is not declared here";
  for (const std::string& front : std::vector<std::string>{
           "static const int8_t w[2] = {\n#include \"w.inc\"\n};\n",
           "static const int8_t w[2] = {\n5,\n#ifdef X\n6\n#endif\n};\n", "static const int8_t w[1][2] = {5, 6};\n",
           "static const int8_t w[][2] = {5, 6};\n", "extern const int8_t w[];\n",
           "static const int8_t w[N] = {5, 6};\n", "static const volatile int8_t w[2] = {5, 6};\n",
           "typedef int8_t t;\nstatic const t w[2] = {5, 6};\n"}) {
    CHECK(reason_of(front + op + entry).find(unread) != std::string::npos);
  }
  CHECK(values("static const int8_t w[2] = {\n#pragma GCC x\n5, 6};\n") == std::vector<int>{5, 6});
  // The text of other tables is passed over.
  CHECK(values("static const int8_t v[] = \"a\" (\";\");\nstatic const int8_t w[2] = {5, 6};\n") ==
        std::vector<int>{5, 6});
  CHECK(reason_of("static const int8_t w[] = \"ab\";\n" + op + entry).find(unread) != std::string::npos);
  const std::string pool =
      "static const struct pool {\n  int8_t w[2];\n} constants = {\n  .w = {5, 6},\n#ifdef X\n#endif\n};\n";
  CHECK(error_of(pool + table + op + entry) ==
        "lib1.c: line 3, column 15: found constants with a directive inside, expected nothing but numbers");
}

TEST_CASE("what TVM has planned may be in a header, and have a type where it is used") {
  const std::string pool =
      "static const struct global_const_workspace {\n  int8_t a_let[2] __attribute__((packed, aligned(16)));\n} "
      "global_const_workspace = {\n  .a_let = {5, 6},\n};\n";
  const std::string main =
      "int32_t tvmgen_m_op(int8_t* p, int8_t* q, uint8_t* global_const_workspace_1_var, uint8_t* "
      "global_workspace_2_var) "
      "{\n  const int8_t* a_let = (const int8_t*)(&(global_const_workspace_1_var[0]));\n  int8_t* s_let = "
      "(int8_t*)(&(global_workspace_2_var[16]));\n  s_let[1] = (int8_t)(p[0] + a_let[1]);\n  q[0] = s_let[1];\n"
      "  return 0;\n}\n"
      "int32_t tvmgen_m___tvm_main__(void* in_buffer_var, void* output_buffer_var, uint8_t* "
      "global_const_workspace_0_var, uint8_t* global_workspace_1_var) {\n"
      "  if (tvmgen_m_op(in_buffer_var, output_buffer_var, global_const_workspace_0_var, global_workspace_1_var) != 0 "
      ") "
      "return -1;\n  return 0;\n}\n";
  const std::string include = "#include \"pool.h\"\n" + main;
  CHECK(reason_of(include, {{"pool.h", pool}}) == "read");
  CHECK(values_of({{"lib1.c", include}}, {{"pool.h", pool}}) == std::vector<int>{5, 6});
  const std::string uncertain = "#ifdef X\n" + pool + "#else\n" + pool + "#endif\n";
  CHECK_THROWS_AS((void)read({{"lib1.c", include}}, {{"pool.h", uncertain}}), Error);
  CHECK(error_of(pool + main) == "none");
  CHECK(error_of(uncertain + main).find("a constant, whose value is not here") != std::string::npos);
}

TEST_CASE("a missing allocation is looked for in several ways") {
  const auto error = [](const std::string& check) {
    return error_of(table + op +
                    "int32_t tvmgen_m___tvm_main__(void* in_buffer_var, void* output_buffer_var) {\n"
                    "  void* s = TVMBackendAllocWorkspace(1, 0, (uint64_t)1, 0, 8);\n  if (" +
                    check +
                    ") return -1;\n  if (tvmgen_m_op(in_buffer_var, s) != 0 ) return -1;\n"
                    "  if (tvmgen_m_op(s, output_buffer_var) != 0 ) return -1;\n  return 0;\n}\n");
  };
  for (const char* check : {"s == NULL", "NULL == s", "!s", "s == 0", "0 == s", "s == nullptr"}) {
    CHECK(error(check) == "none");
  }
  for (const char* check : {"s == 1", "s != NULL", "!!s", "NULL != s", "s == NULL || 1"}) {
    CHECK(error(check) != "none");
  }
}

}  // namespace usmp::tvm_c::included_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Workspace that functions of other code generators take at run time. That what comes of it computes the same is
// tests/e2e/kept_c.py.
#include "usmp/tvm_c/taken_workspace.hpp"
#include "tvm_c/text/syntax.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace usmp::tvm_c::taken_workspace_test {
namespace {

const std::vector<std::string> functions = {"f", "g"};
const std::string take = "  void* a = TVMBackendAllocWorkspace(1, 0, (uint64_t)20, 0, 8);\n";
const std::string give_back = "  return TVMBackendFreeWorkspace(1, 0, a);\n";

std::string function(const std::string& body, const std::string& params = "int8_t* x") {
  return "int32_t f(" + params + ") {\n" + body + "}\n";
}

std::vector<TakenWorkspace> taken(const std::string& text, const std::string& other = "") {
  const std::vector<Source> files = {{"lib2.c", text}, {"other.h", other}};
  return taken_workspace(functions, files, 16);
}

std::string changed(const std::string& text) {
  const std::vector<Source> files = {{"lib2.c", text}};
  const auto result = with_workspace_params(taken_workspace(functions, files, 16), files, 16);
  return result.empty() ? "" : result.front().text;
}

// What the function became, behind what is written in front of it.
std::string function_of(const std::string& text) {
  const std::string all = changed(text);
  const std::size_t begin = all.find("int32_t f(");
  return begin == std::string::npos ? all : all.substr(begin);
}

TEST_CASE("prototypes of the function get the parameter, if the text has nothing else of it") {
  const auto in_prototypes = [](const std::string& text) {
    return with_workspace_in_prototypes(text, "f").value_or("refused");
  };
  const std::string front = "#include <stdint.h>\nint32_t f_2(void);\n";
  CHECK(in_prototypes(front) == front);
  CHECK(in_prototypes(front + "TVM_DLL int32_t f(int8_t* x,\n  int8_t* y);\nextern int f(void);\n") ==
        front +
            "TVM_DLL int32_t f(int8_t* x,\n  int8_t* y, uint8_t* usmp_workspace);\n"
            "extern int f(uint8_t* usmp_workspace);\n");
  for (const char* text :
       {"int32_t g(void) { return f(0); }\n", "int32_t (*p)(int8_t*) = f;\n", "#define CALL f(0)\n", "// f\n",
        "int32_t f(int8_t* x) { return 0; }\n", "int32_t f(int (*x)(int));\n",
        "#if A > 1\nint32_t f(int8_t* x);\n#endif\n", "int32_t f(int8_t* x); /*", "int32_t f();\n",
        "int32_t f(int8_t* x /* in) */, int8_t* y);\n", "int32_t f(int8_t* x, // in)\n int8_t* y);\n",
        "int32_t f /* (old) */ (int8_t* x);\n", "int32_t f( void /* none */);\n"}) {
    CHECK_MESSAGE(in_prototypes(front + text) == "refused", std::string(text));
  }
  const std::string prototype = "int32_t op_main_0(int8_t* x);\n";
  for (const char* macro : {"#define CALL(n, x) op_main_ ## n(x)\n", "#define CALL(m, x) m##_0(x)\n"}) {
    CHECK_MESSAGE(!with_workspace_in_prototypes(prototype + macro, "op_main_0"), std::string(macro));
    CHECK_MESSAGE(with_workspace_in_prototypes(prototype + macro, "an_op"), std::string(macro));
  }
}

TEST_CASE("workspace of constant size is a parameter, at offsets") {
  const std::string text = function(take +
                                    "  int16_t* b = (int16_t*)TVMBackendAllocWorkspace(1, 0, 0x20, 0, 16);\n"
                                    "  if (b == NULL) {\n    return -1;\n  }\n"
                                    "  TVMBackendFreeWorkspace(1, 0, (void*)b);\n" +
                                    give_back);
  const auto found = taken(text);
  REQUIRE(found.size() == 1);
  CHECK(found[0].function == "f");
  CHECK(found[0].bytes == 32 + 32);
  CHECK(found[0].parameters == 1);
  CHECK_FALSE(found[0].has_param);
  const std::string planned = function_of(text);
  CHECK(planned ==
        "int32_t f(int8_t* x, uint8_t* /* 64 bytes */ usmp_workspace) {\n"
        "  void* a = ((void*)(usmp_workspace + 0));\n"
        "  int16_t* b = (int16_t*)((void*)(usmp_workspace + 32));\n"
        "  if (b == NULL) {\n    return -1;\n  }\n"
        "  usmp_workspace_given_back(1, 0, (void*)b);\n"
        "  return usmp_workspace_given_back(1, 0, a);\n}\n");
  // Planned again.
  const auto again = taken(changed(text));
  REQUIRE(again.size() == 1);
  CHECK(again[0].bytes == 64);
  CHECK(again[0].parameters == 1);
  CHECK(again[0].has_param);
  CHECK(changed(changed(text)).empty());
}

TEST_CASE("parameters, prototypes, the head of the file") {
  for (const char* none : {"", "void"}) {
    CAPTURE(none);
    const auto found = taken(function(take + give_back, none));
    REQUIRE(found.size() == 1);
    CHECK(found[0].parameters == 0);
    const std::string text = function_of(function(take + give_back, none));
    CHECK(text.starts_with("int32_t f(uint8_t* /* 20 bytes */ usmp_workspace) {\n"));
  }
  const auto found = taken(function(take + give_back, "int8_t* x, int (*y)(int, int), int n"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].parameters == 3);
  CHECK(taken(function(take + give_back, "int8_t x[2][3], int n")).size() == 1);
  for (const char* wrong : {"int8_t* x, g(void* y ] 7", "int8_t* x[2), int n", "int8_t* x, @ int n", "int8_t (*x]"}) {
    CAPTURE(wrong);
    CHECK(taken(function(take + give_back, wrong)).empty());
  }
  CHECK(with_workspace_param("int32_t f(int8_t* x)") == "int32_t f(int8_t* x, uint8_t* usmp_workspace)");
  CHECK(with_workspace_param("int32_t f(void)") == "int32_t f(uint8_t* usmp_workspace)");
  CHECK(with_workspace_param("int32_t f()") == "int32_t f(uint8_t* usmp_workspace)");
  const std::string target = "// tvm target: cmsis-nn\n";
  CHECK(
      changed(target + function(take + give_back)).starts_with(target + "static inline int usmp_workspace_given_back"));
  CHECK(taken("// tvm target: cmsis-nn \\\n\n" + function(take + give_back)).empty());  // the comment goes on
  CHECK(changed(function(take + give_back)).starts_with("static inline int usmp_workspace_given_back"));
}

TEST_CASE("what is not taken once, or not given back, stays a call") {
  const std::string assigned = "  void* a;\n  a = TVMBackendAllocWorkspace(1, 0, 20, 0, 8);\n";
  CHECK(taken(function(assigned + give_back)).size() == 1);
  CHECK(taken(function("  void* a = TVMBackendAllocWorkspace(d[h(0)], (int)(0), 20, 0, 8);\n" + give_back)).size() ==
        1);
  const std::string call = "TVMBackendAllocWorkspace(1, 0, 20, 0, 8);\n";
  const auto found = taken(
      function("  void* a = TVMBackendAllocWorkspace(1, 0, 20 * 2, 0, 8), *b = 0;\n  asm(\"nop\");\n" + give_back));
  REQUIRE(found.size() == 1);
  CHECK(found[0].bytes == 40);
  for (const std::string& body : std::vector<std::string>{
           "  void* a = TVMBackendAllocWorkspace(1, 0, n, 0, 8);\n" + give_back,
           "  void* a = (TVMBackendAllocWorkspace(1, 0, 20, 0, 8));\n" + give_back,
           "  void* a = TVMBackendAllocWorkspace(1, 0, -20, 0, 8);\n" + give_back,
           take + "  asm(\"\" : : \"r\"(TVMBackendAllocWorkspace));\n" + give_back,
           take + "  if (x) {\n    void* a = x;\n    TVMBackendFreeWorkspace(1, 0, a);\n  }\n" + give_back,
           "  b = " + call + "  return TVMBackendFreeWorkspace(1, 0, b);\n",
           take + "  if (x) TVMBackendFreeWorkspace;\n" + give_back,
           take + "#pragma GCC unroll 2\n" + give_back,
           "  void* a = TVMBackendAllocWorkspace(1, 0, 0, 0, 8);\n" + give_back,
           "  void* a = TVMBackendAllocWorkspace(1, 0, 20);\n" + give_back,
           "  void* a;\n  for (int i = 0; i < 2; ++i) a = " + call + give_back,
           "  void* a;\n  if (x) { a = " + call + "}\n" + give_back,
           "  void* a;\n  if (x) x = 0; else a = " + call + give_back,
           "  void* a = x ? x : " + call + give_back,
           "  void* a[2];\n  a[0] = " + call + give_back,
           "  void* a = (char*)" + call.substr(0, call.size() - 2) + " + 4;\n" + give_back,
           take + "again:\n  if (x) goto again;\n" + give_back,
           "#if X\n" + take + "#endif\n" + give_back,
           take,
           take + "  void* b = " + call + give_back,
           take + "  TVMBackendFreeWorkspace(1, 0, x);\n" + give_back,
           take + "  TVMBackendFreeWorkspace(1, 0, a + 4);\n",
           take + take + give_back,
           "  void* a = TVMBackendAllocWorkspace(1, ], 20, 0, 8);\n" + give_back,
           "  void* a = TVMBackendAllocWorkspace(1, (0], 20), 0, 8);\n" + give_back,
           "  void* a = TVMBackendAllocWorkspace(1, #, 20, 0, 8);\n" + give_back,
           "  void* a = TVMBackendAllocWorkspace(1, {0}, 20, 0, 8);\n" + give_back,
       }) {
    CAPTURE(body);
    CHECK(taken(function(body)).empty());
    CHECK(changed(function(body)).empty());
  }
}

TEST_CASE("what C that is not planned may call stays as it is") {
  const std::string text = function(take + give_back);
  CHECK(taken(text).size() == 1);
  CHECK(taken(text, "int32_t fg(int8_t* x);").size() == 1);
  CHECK(taken(text, "int32_t f(int8_t* x);").empty());
  CHECK(taken(text + "int32_t g(int8_t* x) { return f(x); }\n").empty());
  CHECK(taken("int32_t f(int8_t* x);\n" + text).empty());
  CHECK(taken(function("  if (x) f(x);\n" + take + give_back)).empty());
  // A function of this name that is not the model's.
  CHECK(taken("int32_t h(int8_t* x) {\n" + take + give_back + "}\n").empty());
  // No C.
  CHECK(taken(text + "\" ").empty());
}

TEST_CASE("an earlier plan's parameter has its size") {
  CHECK(taken("int32_t f(int8_t* x, uint8_t* /* 7 bytes */ usmp_workspace) { }").size() == 1);
  for (const char* params : {"int8_t* x, uint8_t* usmp_workspace", "int8_t* x, uint8_t* /* 0 bytes */ usmp_workspace",
                             "int8_t* x, uint8_t* /* 99999999999 bytes */ usmp_workspace",
                             "int8_t* x, uint8_t* /* 7 bytes */ usmp_workspace_2"}) {
    CAPTURE(params);
    CHECK(taken(function("", params)).empty());
  }
}

}  // namespace
}  // namespace usmp::tvm_c::taken_workspace_test

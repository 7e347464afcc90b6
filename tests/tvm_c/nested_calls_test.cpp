// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Operators that operators call are read in place of the call, or the caller stays.
#include "tvm_c/body/nested_calls.hpp"

#include <doctest/doctest.h>

#include <string>

#include "usmp/support/error.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::nested_calls_test {
namespace {

const std::string op = "int32_t tvmgen_m_op(int8_t* p, int8_t* q, int32_t* c) {\n";
const std::string main_function =
    "int32_t tvmgen_m___tvm_main__(int8_t* p, int8_t* q, int32_t* c) {\n"
    "  if (tvmgen_m_op(p, q, c) != 0 ) return -1;\n  return 0;\n}\n";

std::string print(const PlannedModule& module, const std::string& function) {
  const std::string text = tir::print(module.module, module.module.functions[*module.module.find(function)]);
  const std::size_t begin = text.find("{\n") + 2;
  return text.substr(begin, text.rfind('}') - begin);
}

// The operator's body in TIR, and in front of it the other functions of the module; "stays: " and functions whose C
// stays, with the operator's reason.
std::string read(const std::string& body, const std::string& callees, const std::string& other_file = "") {
  const std::string text = callees + op + body + "\n  return 0;\n}\n" + main_function;
  const Source sources[] = {{"lib1.c", text}, {"lib2.c", other_file}};
  try {
    const PlannedModule module = read_planned_module("m", sources, {}, {}, Unread::kept);
    for (const std::string& warning : module.warnings) CHECK(warning.find("tvmgen_m_g") == std::string::npos);
    std::string kept;
    std::string reason;
    for (const KeptFunction& one : module.kept) {
      kept += " " + one.name;
      if (one.name == "tvmgen_m_op") reason = one.reason;
    }
    if (!kept.empty()) return "stays:" + kept + "; " + reason;
    std::string others;
    for (const tir::Function& one : module.module.functions) {
      if (one.name != "tvmgen_m_op" && one.name != "tvmgen_m___tvm_main__") others += one.name + "\n";
    }
    return others + print(module, "tvmgen_m_op");
  } catch (const Error& error) {
    return error.what();
  }
}

std::string callee(const std::string& body, const std::string& params = "int8_t* a, int8_t* b, int32_t n") {
  return "int32_t tvmgen_m_g(" + params + ") {\n" + body + "\n}\n";
}

const std::string refuses = callee("  if (a[n] < 2) {\n    return -1;\n  }\n  b[1] = a[1];\n  return 0;");
const std::string refused =
    "  int32_t result;\n  {\n    if (p[4] < 2) {\n      result = -1;\n    } else {\n      q[1] = p[1];\n      result = "
    "0;\n"
    "    }\n  }\n";

}  // namespace

TEST_CASE("an operator that another calls is read where it is called") {
  const std::string expected = read(refused + "  if (result == 0) {\n    c[0] = 1;\n  }", "");
  CHECK(expected.find("if int32(p[4]) < 2") != std::string::npos);
  CHECK(read("  if (tvmgen_m_g(p, q, 4) == 0) {\n    c[0] = 1;\n  }", refuses) == expected);
  CHECK(read("  if ((tvmgen_m_g(p, q, 4) == 0)) c[0] = 1;", refuses) == expected);
  // Not its name, but its statements are in the module.
  CHECK(read("  if (tvmgen_m_g(p, q, 4) == 0) {\n    c[0] = 1;\n  }", "", refuses) == expected);

  CHECK(read("  if (tvmgen_m_g(p, q, 4) == -1) {\n    c[0] = 1;\n  } else {\n    c[1] = 2;\n  }", refuses) ==
        read(refused + "  if (result == -1) {\n    c[0] = 1;\n  } else {\n    c[1] = 2;\n  }", ""));
  CHECK(read("  if (tvmgen_m_g(p, q, 4)) {\n    c[0] = 1;\n  }", refuses) ==
        read(refused + "  if (result != 0) {\n    c[0] = 1;\n  }", ""));
  CHECK(read("  if (!(tvmgen_m_g(p, q, 4) == 0)) {\n    c[0] = 1;\n  }", refuses) ==
        read(refused + "  if (!(result == 0)) {\n    c[0] = 1;\n  }", ""));
  CHECK(read("  if (!tvmgen_m_g(p, q, 4)) {\n    c[0] = 1;\n  }", refuses) ==
        read(refused + "  if (!(result != 0)) {\n    c[0] = 1;\n  }", ""));
  CHECK(read("  int32_t r = tvmgen_m_g(p, q, 4);\n  c[0] = r;\n  c[1] = r;", refuses) ==
        read(refused + "  int32_t r = result;\n  c[0] = r;\n  c[1] = r;", ""));
  CHECK(read("  c[2] = tvmgen_m_g(p, q, 4);", refuses) == read(refused + "  c[2] = result;", ""));
  // Nothing asks for the result.
  CHECK(read("  tvmgen_m_g(p, q, 4);\n  c[0] = 1;", refuses) ==
        read("  {\n    if (p[4] < 2) {\n    } else {\n      q[1] = p[1];\n    }\n  }\n  c[0] = 1;", ""));
}

TEST_CASE("returns of an operator that another calls") {
  const auto is_same = [](const std::string& body, const std::string& inlined) {
    const std::string found = read("  if (tvmgen_m_g(p, q, 4) == 0) {\n    c[0] = 1;\n  }", callee(body));
    const std::string expected =
        read("  int32_t result;\n  {\n" + inlined + "  }\n  if (result == 0) {\n    c[0] = 1;\n  }", "");
    CHECK(found == expected);
  };
  is_same(
      "if (a[0] > 1) { b[0] = 1; return -1; } if (a[1]) return 0; b[2] = 3; if (a[2] == n) { return -7; } b[3] = 4; "
      "return 0;",
      "if (p[0] > 1) { q[0] = 1; result = -1; } else { if (p[1]) { result = 0; } else { q[2] = 3;\n"
      "if (p[2] == 4) { result = -7; } else { q[3] = 4; result = 0; } } }");
  is_same("if (a[0] > 1) return 0; return -1;", "if (p[0] > 1) { result = 0; } else { result = -1; }");
  is_same("b[0] = 1; return a[0] - n;", "q[0] = 1; result = p[0] - 4;");
  is_same("for (int32_t i = 0; i < 8; ++i) { if (a[i] == 0) continue; b[i] = 1; } if (n) return 2; return 1;",
          "for (int32_t i = 0; i < 8; ++i) { if (p[i] == 0) { } else { q[i] = 1; } } if (4 != 0) { result = 2; } else "
          "{ result = 1; }");
  is_same("if (n > 3) { b[0] = 1; return -1; } b[1] = 2; return 0;",
          "if (4 > 3) { q[0] = 1; result = -1; } else { q[1] = 2; result = 0; }");
  // What is always 0 is no variable, and what never happens is gone.
  for (const std::string condition : {"== 0", ">= 0"}) {
    CHECK(read("  if (tvmgen_m_g(p, q, 4) " + condition + ") {\n    c[0] = 1;\n  }\n  c[1] = 2;",
               callee("b[n] = a[n]; return 0;")) ==
          read("  {\n    q[4] = p[4];\n  }\n  {\n    c[0] = 1;\n  }\n  c[1] = 2;", ""));
  }
  CHECK(read("  int32_t code = tvmgen_m_g(p, q, 4);\n  if (!(code == 0)) {\n    TVMAPISetLastError(\"failed\");\n    "
             "return -1;\n  }\n  c[1] = 2;",
             callee("if (a[2]) { b[1] = 3; return 0; } b[n] = a[n]; return 0;")) ==
        read("  {\n if (p[2]) { q[1] = 3; } else { q[4] = p[4]; }\n  }\n  c[1] = 2;", ""));
}

TEST_CASE("arguments of an operator that another calls") {
  const auto is_same = [](const std::string& call, const std::string& body, const std::string& inlined,
                          const std::string& params = "int8_t* a, int8_t* b, int32_t n") {
    const std::string found = read(call, callee(body, params));
    CHECK(found == read(inlined, ""));
  };
  is_same(
      "  for (int32_t i = 0; i < 4; ++i) {\n    if (tvmgen_m_g((&(p[i * 4])), q + 3, c[i]) == 0) {\n      c[0] = 1;\n  "
      "  }\n  }",
      "b[n] = a[n]; b[0] = n; return 0;",
      "  for (int32_t i = 0; i < 4; ++i) {\n    {\n      int32_t n = c[i];\n      q[3 + n] = p[i * 4 + n];\n      q[3] "
      "= n;\n    }\n"
      "    {\n      c[0] = 1;\n    }\n  }");
  // What is passed stays what it was.
  is_same("  c[0] = tvmgen_m_g(c, (int8_t)c[1]);", "a[1] = 5; a[2] = n; return n;",
          "  int32_t result;\n  {\n    int8_t n = c[1];\n    c[1] = 5;\n    c[2] = n;\n    result = n;\n  }\n  c[0] = "
          "result;",
          "int32_t* a, int8_t n");
  is_same(
      "  if (tvmgen_m_g(p + c[0], c) == 0) {\n    c[1] = 1;\n  }", "b[0] = 2; a[0] = 3; a[1] = 4; return 0;",
      "  {\n    int32_t at = c[0];\n    c[0] = 2;\n    p[at] = 3;\n    p[at + 1] = 4;\n  }\n  {\n    c[1] = 1;\n  }",
      "int8_t* a, int32_t* b");
  // An array of the caller.
  is_same("  int32_t at[1];\n  at[0] = 3;\n  if (tvmgen_m_g(at, q) == 0) {\n    c[at[0]] = 1;\n  }",
          "at[0] = (at[0] + 1); q[at[0]] = (int8_t)7; return 0;",
          "  int32_t at[1];\n  at[0] = 3;\n  {\n    at[0] = (at[0] + 1);\n    q[at[0]] = (int8_t)7;\n  }\n  {\n    "
          "c[at[0]] = 1;\n  }",
          "int32_t* at, int8_t* q");
}

TEST_CASE("workspace of an operator that another calls") {
  const std::string takes = callee(
      "  void* s = TVMBackendAllocWorkspace(1, 0, (uint64_t)16, 0, 32);\n  if (s == NULL) {\n    return -1;\n  }\n"
      "  ((int32_t*)s)[n] = a[n];\n  b[n] = ((int32_t*)s)[n];\n  if (TVMBackendFreeWorkspace(1, 0, s) != 0) {\n    "
      "return -1;\n  }\n  return 0;");
  CHECK(read("  if (tvmgen_m_g(p, q, 3) == 0) {\n    c[0] = 1;\n  }", takes) ==
        read("  {\n    void* s = TVMBackendAllocWorkspace(1, 0, (uint64_t)16, 0, 32);\n    ((int32_t*)s)[3] = p[3];\n  "
             "  q[3] = "
             "((int32_t*)s)[3];\n  }\n  {\n    c[0] = 1;\n  }",
             ""));
  // The pool under two names; each call has a buffer of its own, at one place. A call that TVM checks is read, too.
  const std::string text =
      callee(
          "  void* s_let = (&(global_workspace_7_var[32]));\n  ((int32_t*)s_let)[0] = a[0];\n  if (a[1]) return -1;\n  "
          "b[0] = "
          "((int32_t*)s_let)[0];\n  return 0;",
          "int8_t* a, int8_t* b, uint8_t* global_workspace_7_var") +
      "int32_t tvmgen_m_op(int8_t* p, int8_t* q, int32_t* c, uint8_t* global_workspace_3_var, uint8_t* sram_4_var) {\n"
      "  void* t_let = (&(global_workspace_3_var[64]));\n"
      "  if (tvmgen_m_g(p, t_let, global_workspace_3_var) == 0) {\n    c[0] = ((int8_t*)t_let)[0];\n  }\n"
      "  if (tvmgen_m_g(q, t_let, POOL) != 0 ) return -1;\n  c[1] = ((int8_t*)t_let)[0];\n  return 0;\n}\n"
      "int32_t tvmgen_m___tvm_main__(int8_t* p, int8_t* q, int32_t* c, uint8_t* global_workspace_0_var, uint8_t* "
      "sram_1_var) {\n"
      "  if (tvmgen_m_op(p, q, c, global_workspace_0_var, sram_1_var) != 0 ) return -1;\n  return 0;\n}\n"
      "static uint8_t global_workspace[80];\nstatic uint8_t sram[80];\n";
  const auto with = [&](const std::string& pool) {
    std::string result = text;
    return result.replace(result.find("POOL"), 4, pool);
  };
  const std::string right = with("global_workspace_3_var");
  const Source source{"lib1.c", right};
  const PlannedModule module = read_planned_module("m", {&source, 1}, {}, {}, Unread::kept);
  CHECK(module.kept.empty());
  REQUIRE(module.places.size() == 3);
  std::string places;
  for (const PlannedPlace& place : module.places) {
    CHECK(place.is_sized);
    places += module.module.var(place.var).name + "@" + std::to_string(place.offset) + " ";
  }
  CHECK(places == "t@64 s@32 s@32 ");
  const std::string printed = print(module, "tvmgen_m_op");
  CHECK(printed.find("allocate s") != printed.rfind("allocate s"));
  // One that cannot fail is read for the pool alone.
  std::string plain = right;
  plain.erase(plain.find("  if (a[1]) return -1;\n"), 23);
  const Source sure{"lib1.c", plain};
  CHECK(!read_module("m", {&sure, 1}).find("tvmgen_m_g"));
  // Another pool, or none.
  for (const std::string pool : {"q", "NULL", "sram_4_var"}) {
    std::string wrong = with(pool);
    wrong.replace(wrong.find("!= 0 ) return -1;"), 17, "== 0)");
    const Source other{"lib1.c", wrong};
    CHECK_THROWS_WITH_AS((void)read_planned_module("m", {&other, 1}, {}, {}, Unread::refused),
                         doctest::Contains("'global_workspace_7_var', expected the pool that the call passes"), Error);
  }
}

TEST_CASE("constants of an operator that another calls") {
  const std::string two = "static const int8_t w[2] = {5, 6};\n";
  const std::string table = "static const int8_t w[2] = {7, 8};\n" + callee("b[n] = w[n]; return a[n];");
  CHECK(read("  if (tvmgen_m_g(p, q, 1) == 0) {\n    c[0] = w[0];\n  }", two, table).find("w[0]") != std::string::npos);
  const std::string text =
      two + op +
      "  if (tvmgen_m_g(p, q, 1) == 0) {\n    c[0] = w[0];\n  }\n  c[1] = tvmgen_m_g(p, q, 0);\n  return 0;\n}\n" +
      main_function;
  const Source sources[] = {{"lib1.c", text}, {"lib2.c", table}};
  const tir::Module module = read_module("m", sources);
  std::string bytes;
  for (const tir::Stmt& stmt : module.functions[*module.find("tvmgen_m_op")].body) {
    const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
    if (constant != nullptr) bytes += constant->data->bytes + " ";
  }
  CHECK(bytes == "\5\6 \7\10 ");  // each once
}

TEST_CASE("calls of operators that are not read") {
  const auto stays = [](const std::string& body, const std::string& reason, const std::string& callees) {
    const std::string found = read(body, callees);
    CAPTURE(callees);
    CHECK_MESSAGE((found.starts_with("stays:") && found.find(reason) != std::string::npos), found);
  };
  const std::string call = "  if (tvmgen_m_g(p, q, 4) == 0) {\n    c[0] = 1;\n  }";
  const std::string front = "found a call of 'tvmgen_m_g', which is not read (line ";
  for (const auto& [body, reason] : {
           std::pair("for (int32_t i = 0; i < 4; ++i) { if (a[i]) { return -1; } } return 0;",
                     "column 47: found 'return', expected a return at the end of the function, or of a branch in its "
                     "own block"),
           std::pair("if (a[0]) { if (a[1]) { return -1; } } return 0;", "expected a return at the end"),
           std::pair("if (a[0]) { return -1; b[0] = 1; } return 0;", "expected a return at the end"),
           std::pair("if (a[0]) { b[0] = 1; } else { return -1; } return 0;", "expected a return at the end"),
           std::pair("if (a[0]) return -1; else b[0] = 1; return 0;", "expected no else behind what leaves"),
           std::pair("{ return 0; }", "expected a return at the end"),
           std::pair("return 0; b[0] = 1;", "expected a return at the end"),
           std::pair("b[0] = 1;", "found no return at its end"),
           std::pair("return b[0] = 1;", "found '='"),
           std::pair("if (a == NULL) { return -1; } return 0;", "compared with NULL"),
           std::pair("int8_t* d = a; if (d == NULL) { return -1; } return 0;", "compared with NULL"),
           std::pair("static int8_t d[4]; d[n] = a[n]; b[n] = d[0]; return 0;", "found 'static'"),
           std::pair("if (tvmgen_m_g(a, b, n) == 0) { b[0] = 1; } return 0;", "found a function that calls itself"),
           std::pair("tvmgen_m_op(a, b, NULL); return 0;", "found "),
           std::pair("printf(\"x\"); return 0;", "expected an expression"),
           std::pair("if (other(a) != 0) return -1; return 0;", "expected a call of an operator"),
           std::pair("int32_t r = other(a); if (r != 0) return r; return 0;",
                     "found a call of 'other' in an expression"),
           std::pair("n = 3; b[n] = 1; return 0;", "found 'n' changed"),
       }) {
    stays(call, front, "int32_t other(int8_t* a) {\n  return a[0];\n}\n" + callee(body));
    stays(call, reason, "int32_t other(int8_t* a) {\n  return a[0];\n}\n" + callee(body));
  }
  stays(call, "found a result of another type", "int8_t" + callee("return 256;").substr(7));
  stays(call, "found a call with 3 arguments, expected 2", callee("return 0;", "int8_t* a, int8_t* b"));
  stays(call, "expected storage in the call", callee("return 0;", "int8_t* a, int8_t* b, int8_t* n"));
  stays(call, "found a directive in a function", callee("#ifdef X\n  b[0] = 1;\n#endif\n  return 0;"));
  stays(call, "found 'b', which is a macro here", "#define b bb\n" + callee("return 0;"));
  // One that TVM checks stays alone.
  const std::string alone =
      read("  if (tvmgen_m_g(p, q, 4) != 0) return -1;", callee("if (a[0]) return -1; goto out; out: return 0;"));
  CHECK(alone == "stays: tvmgen_m_g; ");
  stays("  int32_t r = 0;\n  if ((r = tvmgen_m_g(p, q, 4)) == 0) {\n    c[0] = 1;\n  }", "", refuses);
  stays("  while (tvmgen_m_g(p, q, 4) == 0) {\n    c[0] = 1;\n  }", "", refuses);
  stays("  if (tvmgen_m_g(p, q, 4) == 0 && p[0]) {\n    c[0] = 1;\n  }", "found '&&', expected ')'", refuses);
}

TEST_CASE("a call that TVM checks") {
  const std::string asked = read(refused + "  if (result == 0) {\n    c[0] = 1;\n  }", "");
  CHECK(read("  if (tvmgen_m_g(p, q, 4) != 0 ) return -5;\n  c[0] = 1;", refuses) ==
        asked.substr(0, asked.find("  if result")) + "  tir.tvm_check_return(0, -5, result[0])\n  c[0] = 1\n");
  // Early, but nothing else than 0; with or without a check.
  const std::string early = callee("if (a[0]) { return 0; } b[n] = a[n]; return 0;");
  const std::string inlined =
      read("  {\n    if (p[0]) {\n    } else {\n      q[4] = p[4];\n    }\n  }\n  c[0] = 1;", "");
  CHECK(read("  if (tvmgen_m_g(p, q, 4) != 0 ) return -1;\n  c[0] = 1;", early) == inlined);
  CHECK(read("  (void)tvmgen_m_g(p, q, 4);\n  c[0] = 1;", early) == inlined);
  CHECK(read("  tvmgen_m_g(p, q, 4);\n  c[0] = 1;", callee("b[n] = a[n]; return a[0];")) ==
        read("  {\n    q[4] = p[4];\n  }\n  c[0] = 1;", ""));
  // One that cannot fail stays a call.
  CHECK(read("  if (tvmgen_m_g(p, q, 4) != 0 ) return -1;\n  c[0] = 1;", callee("b[n] = a[n]; return 0;"))
            .starts_with("tvmgen_m_g\n"));
}

TEST_CASE("what never happens") {
  CHECK(read("  if (0) {\n    c[1] = 1;\n    return -1;\n  }\n  c[0] = 1;", "") == read("  c[0] = 1;", ""));
  // What does not leave the function is a branch like others.
  CHECK(read("  if (0) {\n    c[1] = 1;\n  }\n  c[0] = 1;", "") != read("  c[0] = 1;", ""));
  CHECK(read("  if (0) {\n    return -1;\n  } else {\n    c[0] = 1;\n  }", "").starts_with("stays: tvmgen_m_op"));
}

TEST_CASE("an operator that fails where the one that it calls does has to be asked") {
  const std::string text =
      refuses + op + "  if (tvmgen_m_g(p, q, 4) != 0 ) return -1;\n  return 0;\n}\n" + main_function;
  std::string unasked = text;
  unasked.replace(unasked.rfind("if (tvmgen_m_op(p, q, c) != 0 ) return -1;"), 42, "(void)tvmgen_m_op(p, q, c);");
  const Source asked{"lib1.c", text};
  CHECK_NOTHROW((void)read_module("m", {&asked, 1}));
  const Source source{"lib1.c", unasked};
  CHECK_THROWS_WITH_AS((void)read_module("m", {&source, 1}),
                       doctest::Contains("'tvmgen_m_op', which may fail, and nothing asks"), Error);
}

TEST_CASE("calls of operators inside each other, and their limits") {
  const auto chain = [](std::size_t deep, const std::string& again) {
    std::string text;
    for (std::size_t i = 0; i < deep; ++i) {
      const std::string next = "tvmgen_m_" + std::string(1, static_cast<char>('a' + i + 1)) + "(x, y)";
      const std::string body =
          i + 1 < deep ? "  if (" + next + " == 0) {\n    y[1] = 2;\n  }\n" + again : "  if (x[0]) return -1;\n";
      std::string own =
          "int32_t tvmgen_m_" + std::string(1, static_cast<char>('a' + i)) + "(int8_t* x, int8_t* y) {\n" + body;
      std::size_t at = own.find("NEXT");
      if (at != std::string::npos) own.replace(at, 4, next);
      text += own + "  return 0;\n}\n";
    }
    return text;
  };
  const std::string call = "  if (tvmgen_m_a(p, q) == 0) {\n    c[0] = 1;\n  }";
  CHECK(read(call, chain(most_nested_deep, "")).find("stays") == std::string::npos);
  CHECK(read(call, chain(most_nested_deep + 1, "")).find("expected at most 16 inside each other") != std::string::npos);
  // 2^15 times the last one.
  const std::string twice = read(call, chain(most_nested_deep, "  if (NEXT == 0) {\n    y[1] = 2;\n  }\n"));
  CHECK(twice.find("and 1000000 bytes of what they do") != std::string::npos);
}

}  // namespace usmp::tvm_c::nested_calls_test

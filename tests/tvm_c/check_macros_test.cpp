// SPDX-License-Identifier: Apache-2.0
// Checks of calls in the entry that are macros.
#include "tvm_c/respelled/check_macros.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tvm_c/read_entry.hpp"

namespace usmp::tvm_c::check_macros_test {
namespace {

const std::string call = "tvmgen_m_op(x_buffer_var, y_buffer_var)";

// The entry as TIR, or why it is not read; the operator may fail.
std::string read(const std::string& macros, const std::string& statements, const std::string& header = "") {
  return test::read_entry(
      macros +
          "int helper(int8_t*);\nint32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  if (helper(p) != 0) return -5;\n"
          "  for (int32_t i = 0; i < 4; ++i) {\n    q[i] = p[i];\n  }\n  return 0;\n}\n",
      statements, header);
}

// With one macro, CHECK.
std::string with(const std::string& definition, const std::string& statement) {
  return read("#define CHECK" + definition + "\n", "  " + statement + "\n");
}

bool is_refused(const std::string& definition, const std::string& statement) {
  return with(definition, statement).starts_with("lib1.c: line 1");
}

}  // namespace

TEST_CASE("a macro that checks a call of the entry is the check that it stands for") {
  const std::string plain = read("", "  if (" + call + " != 0) return -3;\n");
  REQUIRE(plain.find("tvm_check_return(0, -3, ") != std::string::npos);
  const std::string statement = "CHECK(" + call + ");";
  for (const std::string definition :
       {"(x) if ((x) != 0) return -3", "(x) if (x) return -3;", "(x) do { if ((x) != 0) { return (-3); } } while (0)",
        "(rc) do { if (rc) return -3; } while (0);", "(x) { if ((x)) return -3; }",
        "(x) do {  \\\n  if (x != 0) /* failed */ \\\n    return -3; \\\n} while (0)  // always",
        "(x) do { int32_t rc = (x); if (rc != 0) return -3; } while (0)",
        "(x) { int rc = x; if (rc) { return -3; } }"}) {
    CHECK_MESSAGE(with(definition, statement) == plain, definition);
  }
  const std::string equal = "CHECK(" + call + " == 0);";
  for (const std::string definition : {"(x) if (!(x)) return -3", "(x) do { if ((x) == 0) return -3; } while (0)"}) {
    CHECK_MESSAGE(with(definition, equal) == plain, definition);
  }
  CHECK(with("(x) if ((x) != 0) return -3", "CHECK(" + call + " != 0);") == plain);
  const std::string own = read("", "  { int rc = " + call + "; if (rc) return rc; }\n");
  CHECK(own.find("usmp_own_code") != std::string::npos);
  CHECK(with("(x) do { int32_t rc = (x); if (rc != 0) { return rc; } } while (0)", statement) == own);
  CHECK(with("(x) do { const int rc = x; if (rc) return (rc); } while (0)", statement) == own);
  // Of a header; several in an entry.
  CHECK(read("#include \"check.h\"\n", "  " + statement + "\n",
             "#ifndef CHECK_H\n#define CHECK_H\n#define CHECK(x) if (x) return -3\n#endif\n") == plain);
  const std::string both = with("(x) if ((x) != 0) return -3", statement + "\n  runs++;\n  " + statement);
  CHECK(both.find("check_return(0, -3, ") != both.rfind("check_return(0, -3, "));
}

TEST_CASE("a macro that does something else than to check a call is read as it is expanded, or refused") {
  const std::string statement = "CHECK(" + call + ");";
  for (const std::string definition :
       {"(x) do { if ((x) == 0) return -3; } while (0)", "(x) if (!(x)) return -3", "(x) if ((x) != 1) return -3",
        "(x) if ((x) != 0) return -3; else n = 1", "(x) if ((x) != 0) goto end",
        "(x) do { if (x) return -3; } while (1)", "(x) do { if (x) break; } while (0)",
        "(x, y) if ((x) != 0) return -3", "(x) if ((x) < 0) return -3",
        "(x) do { int rc = (y); if (rc) return rc; } while (0)",
        "(x) do { int x_buffer_var = x; if (x_buffer_var) return x_buffer_var; } while (0)", "(x) ((void)(x))",
        "(x) if ((x) != 0) return -3\n#undef CHECK\n#define CHECK(x)",
        "(x) if ((x) != 0) return -3\n#ifdef FAST\n#undef CHECK\n#endif"}) {
    CHECK_MESSAGE(is_refused(definition, statement), definition);
  }
  const std::string equal = "CHECK(" + call + " == 0);";
  for (const std::string definition : {"(x) if ((x) != 0) return -3", "(x) if (!!x) return -3",
                                       "(x) do { int rc = (x); if (rc) return rc; } while (0)"}) {
    CHECK_MESSAGE(is_refused(definition, equal), definition);
  }
  const std::string plain = "(x) if ((x) != 0) return -3";
  for (const std::string& other :
       {"if (n) " + statement, statement + " else n = 1;", "CHECK(" + call + " == 1);", "CHECK(1 + " + call + ");",
        "n = CHECK(" + call + ");", "CHECK(" + call + ")\n#pragma x\n;"}) {
    CHECK_MESSAGE(is_refused(plain, other), other);
  }
  const auto failure = [&](const std::string& definition) { return with(definition, statement); };
  CHECK(failure("(x) do { if ((x) != 0) log(); } while (0)").find("usmp_kept_failure \\nlog();") != std::string::npos);
  CHECK(failure("(x) do { if ((x) != 0) { log(); return -3; } } while (0)").find("log(); return -3;") !=
        std::string::npos);
  CHECK(failure("(x) if ((x) != 0) return ERROR").find("return ERROR;") != std::string::npos);
  CHECK(failure("(x) if ((x) != 0) return 0").find("return 0;") != std::string::npos);
  CHECK(failure("(...) if (__VA_ARGS__) return -3").find("check_return(0, -3, ") != std::string::npos);
  CHECK(failure("(x) do { int8_t rc = (x); if (rc) return rc; } while (0)").find("int8_t rc_1\\nreturn rc_1;") !=
        std::string::npos);
  CHECK(failure("(x) int rc = (x); if (rc) return rc").find("usmp_own_code") != std::string::npos);
  CHECK(failure("(x) do { int rc = (x); if (rc) return n; } while (0)").find("return n;") != std::string::npos);
  CHECK(with(plain, "CHECK(" + call + ") + 1;").find("return -3 + 1;") != std::string::npos);
}

TEST_CASE("places behind a check that is a macro have the lines of the file") {
  const std::string many = "  CHECK(\n    tvmgen_m_op(x_buffer_var,\n      y_buffer_var)\n  );\n";
  const std::string error = read("#define CHECK(x) if (x) return -3\n", many + "  goto end;\n");
  CHECK(error.starts_with("lib1.c: line 15, column 3: found 'goto'"));
}

TEST_CASE("a macro that no file defines is named") {
  const std::string expected = "; 'CHECK' around it may be a macro, which no file here defines";
  CHECK(read("", "  CHECK(" + call + ");\n").find(expected) != std::string::npos);
  CHECK(read("", "  if (CHECK(" + call + ")) return -1;\n").find(expected) != std::string::npos);
  CHECK(read("", "  check(" + call + ");\n").find("may be a macro") == std::string::npos);
  const std::string in_front = "call the operator in front of assert";
  CHECK(read("#include <assert.h>\n", "  assert(" + call + " == 0);\n").find(in_front) != std::string::npos);
  CHECK(read("", "  check(" + call + " == 0);\n").find(in_front) == std::string::npos);
}

}  // namespace usmp::tvm_c::check_macros_test

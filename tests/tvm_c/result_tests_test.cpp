// SPDX-License-Identifier: Apache-2.0
// Conditions of the entry that ask whether a call has failed, in other words than TVM's.
#include <doctest/doctest.h>

#include <string>

#include "tvm_c/read_entry.hpp"

namespace usmp::tvm_c::result_tests_test {
namespace {

// The entry as TIR, or why it is not read.
std::string read(const std::string& macros, const std::string& statements, const std::string& header = "") {
  return test::read_entry(macros + test::two_operators, statements, header);
}

bool is_refused(const std::string& macros, const std::string& statement, const std::string& header = "") {
  return read(macros, "  " + statement + "\n", header).starts_with("lib1.c: line ");
}

const std::string call = "tvmgen_m_dev(x_buffer_var, y_buffer_var)";
const std::string sure = "tvmgen_m_op(x_buffer_var, y_buffer_var)";

}  // namespace

TEST_CASE("a condition that asks whether a call has failed is TVM's check in any spelling") {
  const std::string plain = read("", "  if (" + call + " != 0) return -3;\n");
  REQUIRE(plain.find("tvm_check_return(0, -3, ") != std::string::npos);
  for (const std::string front_and_back : {"|",
                                           "0 != |",
                                           "(|)",
                                           "((|) != 0)",
                                           "!(| == 0)",
                                           "!!|",
                                           "!!(|)",
                                           "!!!!|",
                                           "!(!|)",
                                           "(0) != (|)",
                                           "| != 0x0",
                                           "| != 0u",
                                           "| != (0)",
                                           "!(0 == |)",
                                           "!| == 0",
                                           "unlikely(|)",
                                           "unlikely(| != 0)",
                                           "likely(0 != |)",
                                           "!likely(| == 0)",
                                           "__builtin_expect(!!(|), 0)",
                                           "__builtin_expect(|, 0) != 0",
                                           "__builtin_expect((| != 0), 1)",
                                           "\n  (|) /* failed */\n !=0"}) {
    const std::size_t at = front_and_back.find('|');
    const std::string condition = front_and_back.substr(0, at) + call + front_and_back.substr(at + 1);
    CHECK_MESSAGE(read("", "  if (" + condition + ") return -3;\n") == plain, condition);
  }
  // Macros, also of a header, one that the compiler may have, and one that is defined in two ways that come to the
  // same.
  const std::string hint = "#define unlikely(x) __builtin_expect(!!(x), 0)\n";
  const std::string hinted = "  if (unlikely(" + call + ")) return -3;\n";
  for (const std::string& definitions : {hint, "#ifndef unlikely\n" + hint + "#endif\n",
                                         "#ifdef A\n" + hint + "#else\n#define unlikely(x) (x)\n#endif\n",
                                         "#ifdef A\n" + hint +
                                             "#elif B\n#define unlikely(x) (0 != (x))\n#else\n#ifndef "
                                             "unlikely\n#define unlikely(x) (x)\n#endif\n#endif\n"}) {
    CHECK_MESSAGE(read(definitions, hinted) == plain, definitions);
    CHECK(read("#include \"check.h\"\n", hinted, "#ifndef H\n#define H\n" + definitions + "#endif\n") == plain);
  }
  CHECK(read("#define OK 0\n#define FAILED(x) ((x) != OK)\n", "  if (FAILED(" + call + ")) return -3;\n") == plain);
  CHECK(read("#define NAME tvmgen_m_dev\n", "  if (0 != NAME(x_buffer_var, y_buffer_var)) return -3;\n") == plain);
  // Of a variable that has the result.
  const std::string own = read("", "  { int32_t rc = " + call + "; if (rc != 0) return rc; }\n");
  for (const char* condition : {"0 != rc", "unlikely(rc)", "!(rc == 0)", "(rc)"}) {
    CHECK(read("", "  { int32_t rc = " + call + "; if (" + condition + ") return rc; }\n") == own);
  }
  CHECK(read("", "  int32_t rc = 0;\n  if (unlikely((rc = " + call + ") != 0)) return -3;\n") ==
        read("", "  int32_t rc = 0;\n  if ((rc = " + call + ") != 0) return -3;\n"));
}

TEST_CASE("conditions that ask something else of a call are refused") {
  for (const std::string& condition :
       {call + " == 0", "!" + call, "!(" + call + " != 0)", call + " != 1", call + " < 0",
        call + " != 0 && x_buffer_var", call + " | 1", "-" + call + " == 0", "!(!!" + call + ")", "1 != " + call,
        call + " == 0 == 0 == 0", "__builtin_expect(" + call + ", 0, 1)", "hint(" + call + " != 0)",
        call + " != 0.0"}) {
    CHECK_MESSAGE(is_refused("", "if (" + condition + ") return -3;"), condition);
  }
  const std::string hinted = "if (unlikely(" + call + ")) return -3;";
  for (const std::string definitions :
       {"#define unlikely(x) (!(x))\n", "#ifdef A\n#define unlikely(x) (x)\n#else\n#define unlikely(x) !(x)\n#endif\n",
        // It may be a function, or another macro.
        "#ifdef A\n#define unlikely(x) (x)\n#else\nint unlikely(int);\n#endif\n",
        "#ifdef A\n#define unlikely(x) (x)\n#elif B\n#define unlikely(x) (x)\n#endif\n",
        "#ifndef B\n#define unlikely(x) (x)\n#endif\n",
        "#define unlikely(x) (x)\n#undef unlikely\nint unlikely(int);\n",
        "#ifdef A\n#define NOT !\n#else\n#define NOT\n#endif\n#ifdef B\n#define unlikely(x) NOT(!(x))\n#else\n#define "
        "unlikely(x) NOT(x)\n#endif\n"}) {
    CHECK_MESSAGE(is_refused(definitions, hinted), definitions);
  }
  CHECK(is_refused(
      "#ifdef A\n#include \"check.h\"\n#endif\n", hinted,
      "#ifndef H\n#define H\n#ifdef B\n#define unlikely(x) (x)\n#else\n#define unlikely(x) !!(x)\n#endif\n#endif\n"));
  CHECK(is_refused("", hinted + "\n  return 0;\n}\n#define unlikely(x) (!(x))\nint f(void) {"));
  // One of a header that a group includes, or that is included behind the entry.
  const std::string hint = "#pragma once\n#define unlikely(x) (x)\n";
  CHECK(is_refused("#ifdef A\n#include \"check.h\"\n#else\nint unlikely(int);\n#endif\n", hinted, hint));
  CHECK(is_refused("int unlikely(int);\n", hinted + "\n  return 0;\n}\n#include \"check.h\"\nint f(void) {", hint));
  // A function of that name.
  CHECK(is_refused("static int unlikely(int x) { return !x; }\n", hinted));
  CHECK(is_refused("#include \"check.h\"\n", hinted, "static inline int\n unlikely(int x) { return x < 0; }\n"));
  CHECK(!is_refused("// an unlikely case\nstatic int f(int x) { return unlikely(x); }\n", hinted));
  // A macro may give the function another name.
  CHECK(is_refused("#define tvmgen_m_dev other\n", "if (0 != " + call + ") return -3;"));
  // A variable hides the name for 0.
  CHECK(is_refused("enum { OK };\n", "int32_t OK = 3; if (OK != " + call + ") return -3;"));
  CHECK(is_refused("enum { OK };\n", "int32_t n = 0, OK = 3; if (OK != " + call + ") return -3;"));
  CHECK(is_refused("static int kTvmErrorNoError = 1;\n", "if (kTvmErrorNoError != " + call + ") return -3;"));
  CHECK(!is_refused("", "if (kTvmErrorNoError != " + call + ") return -3;"));
  // A name for 0 is one behind the entry only, or where a header is included.
  CHECK(is_refused("static int OK = 1;\n",
                   "if (OK != " + call + ") return -3;\n  return 0;\n}\n#define OK 0\nint f(void) {"));
  const std::string condition = "if (OK != " + call + ") return -3;";
  const std::string included = "#ifdef A\n#include \"check.h\"\n#else\nstatic int OK = 1;\n#endif\n";
  CHECK(is_refused(included, condition, "enum { OK };\n"));
  CHECK(is_refused(included, condition, "#define OK 0\n"));
  CHECK(!is_refused("#include \"check.h\"\n", condition, "enum { OK };\n"));
  CHECK(!is_refused("#include \"check.h\"\n", condition, "#define OK 0\n"));
}

TEST_CASE("a call that may fail is asked for its result") {
  const auto reads = [](const std::string& function, const std::string& call) {
    const std::string text = "#include <stdio.h>\nvoid prefetch(int8_t* p);\n" + test::two_operators +
                             "#define TRY(x) if (x) return -1\n#define LEAVE return 2\n" +
                             "int32_t tvmgen_m_f(int8_t* p, int8_t* q) {\n" + function + "\n}\n";
    return !test::read_entry(text, "  " + call + "\n  if (tvmgen_m_dev(x_buffer_var, y_buffer_var) != 0) return -1;\n",
                             "")
                .starts_with("lib1.c: line ");
  };
  for (const char* call :
       {"tvmgen_m_f(x_buffer_var, y_buffer_var);", "(void)tvmgen_m_f(x_buffer_var, y_buffer_var);"}) {
    CAPTURE(call);
    CHECK(reads("  q[0] = p[0];\n  return 0;", call));
    CHECK(reads("  if (p[0] > 3) goto end;\n  q[0] = p[0];\nend:\n  return (0);", call));  // stays
    for (const char* result :
         {"return -1;", "return device(1);", "TRY(device(1));", "LEAVE;", "if (device(1) != 0) return 3;"}) {
      CAPTURE(result);
      CHECK_FALSE(reads("  q[0] = p[0];\n  " + std::string(result) + "\n  return 0;", call));
      CHECK_FALSE(
          reads("  if (p[0] > 3) goto end;\n  q[0] = p[0];\nend:\n  " + std::string(result) + "\n  return 0;", call));
    }
  }
  CHECK(reads("  if (device(1) != 0) return -1;\n  return 0;",
              "if (tvmgen_m_f(x_buffer_var, y_buffer_var) != 0) return -1;"));
  // Planned C does not lack workspace, so TVM 0.8 may ignore this.
  const std::string takes =
      "  void* w = TVMBackendAllocWorkspace(1, 0, (uint64_t)4, 0, 8);\n  if (w == NULL) {\n    return -1;\n  }\n";
  const std::string gives = "  if (TVMBackendFreeWorkspace(1, 0, w) != 0) {\n    return -1;\n  }\n  return 0;";
  const std::string unasked = "(void)tvmgen_m_f(x_buffer_var, y_buffer_var);";
  const std::string helper = "  prefetch((&(p[0])));\n";
  CHECK(reads(takes + helper + gives, unasked));
  for (const char* other : {"  if (p == NULL) {\n    return -1;\n  }\n", "  if (w == NULL) {\n  } else return 4;\n",
                            "  if (w != NULL) {\n    return -1;\n  }\n", "  if (p[0] > 3) {\n    return 2;\n  }\n"}) {
    CAPTURE(other);
    CHECK_FALSE(reads(takes + helper + other + gives, unasked));
  }
  // What an operator asks for its result is looked at, too.
  const std::string zero = "  return 0;\n}\nint32_t tvmgen_m_g(int8_t* p) {\n";
  CHECK(reads("  if (tvmgen_m_g((&(p[0]))) != 0 ) return -1;\n" + zero + takes + helper + gives, unasked));
  CHECK_FALSE(reads(
      "  if (tvmgen_m_g((&(p[0]))) != 0 ) return -1;\n" + zero + "  if (p[0] > 3) {\n    return 2;\n  }\n  return 0;",
      unasked));
  CHECK_FALSE(reads(takes + "  if (p[0] > 3) goto end;\nend:\n" + gives, unasked));
  // Also among others, whatever the order of their names.
  const std::string others = "  if (tvmgen_m_dev(x_buffer_var, y_buffer_var) != 0) return -1;\n  " + unasked +
                             "\n  if (tvmgen_m_op(x_buffer_var, y_buffer_var) != 0) return -1;\n";
  CHECK(test::read_entry(
            test::two_operators +
                "int32_t tvmgen_m_f(int8_t* p, int8_t* q) {\n  if (p[0] > 3) {\n    return 2;\n  }\n  return 0;\n}\n",
            others, "")
            .find("found a call of 'tvmgen_m_f', which may fail") != std::string::npos);
  // An operator that calls it so stays.
  const std::string outer = "int32_t tvmgen_m_f(int8_t* p, int8_t* q) {\n  tvmgen_m_dev(p, q);\n  return 0;\n}\n";
  CHECK(test::read_entry(test::two_operators + outer, "  if (tvmgen_m_f(x_buffer_var, y_buffer_var) != 0) return -1;\n",
                         "")
            .find("call_extern(\"tvmgen_m_f\"") != std::string::npos);
}

TEST_CASE("results that are 0 may be gathered") {
  const std::string twice = "  " + sure + ";\n  " + sure + ";\n";
  const auto calls_of = [](const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = text.find("tvmgen_m_op"); at != std::string::npos; at = text.find("tvmgen_m_op", at + 1))
      ++count;
    return count;
  };
  const std::size_t calls = calls_of(read("", twice));
  for (const std::string op : {"|=", "+="}) {
    const std::string gathered = "  int err = 0;\n  err " + op + " " + sure + ";\n  err " + op + " " + sure + ";\n";
    for (const std::string end : {"  if (err != 0) return err;\n", "  if (err) {\n    return -1;\n  }\n", ""}) {
      const std::string text = read("", gathered + end);
      CHECK_MESSAGE(calls_of(text) == calls, text);
      CHECK_MESSAGE(!text.starts_with("lib1.c: "), text);
    }
  }
  CHECK(is_refused("", "int err = 0;\n  err |= " + call + ";\n  if (err != 0) return err;"));  // it may fail
  CHECK(is_refused("", "int err = 1;\n  err |= " + sure + ";\n  if (err != 0) return err;"));  // it is not 0
  CHECK(is_refused("", "int err = 0;\n  err &= " + sure + ";\n  if (err != 0) return err;"));
  CHECK(is_refused("", "int err;\n  err |= " + sure + ";\n  if (err != 0) return err;"));
  for (const std::string other : {"err = 3;", "err++;", "x_buffer_var[err] = 1;", "err |= x_buffer_var[0];"}) {
    CHECK_MESSAGE(is_refused("", "int err = 0;\n  " + other + "\n  err |= " + sure + ";\n  if (err != 0) return err;"),
                  other);
  }
}

TEST_CASE("less than 0 is a check of what never fails only") {
  const std::string plain = read("", "  if (" + sure + " != 0) return -3;\n");
  CHECK(read("", "  if (" + sure + " < 0) return -3;\n") == plain);
  CHECK(read("", "  if (" + sure + " < 0) { log(3); return -3; }\n") ==
        read("", "  if (" + sure + " != 0) { log(3); return -3; }\n"));
  const std::string later = "  int32_t rc = " + sure + ";\n  if (rc != 0) return rc;\n";
  CHECK(read("", "  int32_t rc = " + sure + ";\n  if (rc < 0) return rc;\n") == read("", later));
  CHECK(is_refused("", "{ int32_t rc = " + call + "; if (rc < 0) return rc; }"));
  CHECK(is_refused("", "{ int32_t rc = " + sure + "; if (rc < 1) return rc; }"));
}

TEST_CASE("what stands in front of a check stays in front of it where it is conditional") {
  const std::string group = "\n#ifdef A\n  log(3);\n#endif\n";
  CHECK(is_refused("", "int32_t rc = " + call + ";" + group + "  if (rc != 0) return rc;"));
  const std::string sure_text = read("", "  int32_t rc = " + sure + ";" + group + "  if (rc != 0) return rc;\n");
  CHECK(sure_text.find("log(3)") != std::string::npos);
}

}  // namespace usmp::tvm_c::result_tests_test

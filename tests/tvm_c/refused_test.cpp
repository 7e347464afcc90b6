// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Edits by hand that are understood no more, or never were: each is refused in one sentence that says what to do.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tvm_c/read_entry.hpp"

namespace usmp::tvm_c::refused_test {
namespace {

const std::string call = "tvmgen_m_dev(x_buffer_var, y_buffer_var)";
const std::string sure = "tvmgen_m_op(x_buffer_var, y_buffer_var)";

std::string read(const std::string& front, const std::string& statements) {
  return test::read_entry(front + test::two_operators, statements, "");
}

// The place, the reason, the function, and the way out.
bool is_refused(const std::string& front, const std::string& statements, const std::string& reason) {
  const std::string error = read(front, statements);
  const std::string way_out =
      "\n  move the addition out of 'tvmgen_m___tvm_main__': it calls operators as TVM does, if (f(…) != 0) return "
      "-1;, "
      "and between these calls stand only calls of other functions, and statements that use nothing of the model's or "
      "only pass on its tensors and access their elements";
  const bool is_one = error.starts_with("lib1.c: line ") && error.find(": found " + reason) != std::string::npos &&
                      error.find(way_out) != std::string::npos;
  if (!is_one) MESSAGE(error);
  return is_one;
}

}  // namespace

TEST_CASE("wrapped calls") {
  REQUIRE(read("", "  if (" + call + " != 0) return -3;\n").find("tvm_check_return(0, -3, ") != std::string::npos);
  const std::string macro = ", which is a macro here";
  CHECK(is_refused("#define PROFILE(n, x) do { if ((x) != 0) return -1; } while (0)\n",
                   "  PROFILE(\"a\", " + call + ");\n", "'PROFILE'" + macro));
  CHECK(is_refused("#define CHECK(x) if ((x) != 0) return -3\n", "  CHECK(" + call + ");\n", "'CHECK'" + macro));
  CHECK(is_refused("#define CHECK(x) if (!(x)) return -3\n", "  CHECK(" + call + " == 0);\n", "'CHECK'" + macro));
  CHECK(is_refused("#ifdef A\n#define P(x) if (x) return -3\n#else\n#define P(x) if ((x) != 0) return -3\n#endif\n",
                   "  P(" + call + ");\n", "'P'" + macro));
  CHECK(is_refused("", "  CHECK(" + call + ");\n", "a call of 'tvmgen_m_dev' in an expression"));
  CHECK(is_refused("#define OPERATOR tvmgen_m_dev\n", "  if (OPERATOR(x_buffer_var, y_buffer_var) != 0) return -3;\n",
                   "'OPERATOR'" + macro));
  CHECK(is_refused("#define RUN if (" + call + " != 0) return -3\n", "  RUN;\n", "'RUN'"));
  CHECK(is_refused("#define BEGIN {\n#define END }\n", "  BEGIN\n  if (" + call + " != 0) return -3;\n  END\n",
                   "'BEGIN'" + macro));
  CHECK(is_refused("#define tvmgen_m_dev other\n", "  if (" + call + " != 0) return -3;\n", "'tvmgen_m_dev'" + macro));
}

TEST_CASE("other tests of results") {
  for (const std::string front_and_back :
       {"0 != |", "(|)", "!(| == 0)", "!!|", "unlikely(|)", "__builtin_expect(!!(|), 0)", "| == 0", "!|", "| != 1",
        "| != OK", "kTvmErrorNoError != |", "| < 0", "| != 0 && x_buffer_var"}) {
    CAPTURE(front_and_back);
    const std::size_t at = front_and_back.find('|');
    const std::string condition = front_and_back.substr(0, at) + call + front_and_back.substr(at + 1);
    CHECK(is_refused("#define OK 0\n#define unlikely(x) (x)\n", "  if (" + condition + ") return -3;\n", ""));
  }
  // Where nothing may fail, too.
  for (const char* condition : {" == 0", " >= 0", " <= 0", " < 1", " > 1", " + 1 != 0", " + 1 < 0"}) {
    CHECK_MESSAGE(is_refused("", "  if (" + sure + condition + ") return -3;\n", ""), condition);
  }
  CHECK(is_refused("", "  if (" + call + " == 0) return -3;\n", "'==', expected '!='"));
  CHECK(is_refused("", "  if (" + call + " != 1) return -3;\n", "'1', expected '0'"));
  CHECK(is_refused("", "  if (" + call + " != 0 && x_buffer_var) return -3;\n", "'&&', expected ')'"));
  for (const char* condition : {"0 != rc", "unlikely(rc)", "rc < 1"}) {
    CHECK(is_refused("", "  { int32_t rc = " + call + "; if (" + condition + ") return rc; }\n", ""));
  }
}

TEST_CASE("else and goto") {
  const std::string next = "  if (tvmgen_m_dev(y_buffer_var, x_buffer_var) != 0) return -4;\n";
  CHECK(is_refused("", "  if (" + call + " != 0) return -3; else { device(2); }\n", "'else'"));
  CHECK(is_refused("", "  if (" + call + " == 0) { device(2); } else { return -3; }\n", "'else'"));
  CHECK(is_refused("", "  if (" + call + " != 0) goto fail;\n  return 0;\nfail:\n  device(3);\n  return -3;\n",
                   "'goto'"));
  CHECK(is_refused("", "  if (" + call + " != 0) { device(2); goto fail; }\n" + next + "fail:\n", "'device'"));
}

TEST_CASE("gathered results, and those that are asked for later") {
  const std::string end = "  if (err != 0) return err;\n";
  for (const std::string& op : {call, sure}) {
    CHECK(is_refused("", "  int err = 0;\n  err |= " + op + ";\n" + end, "'|=', expected an element of storage"));
    CHECK(is_refused("", "  int err = 0;\n  err += " + op + ";\n" + end, "'+=', expected an element of storage"));
    CHECK(is_refused("", "  int err = " + op + ";\n  device(3);\n" + end, "a call of 'tvmgen_m_"));
    CHECK(is_refused("", "  int err = " + op + ";\n#ifdef A\n  device(3);\n#endif\n" + end, "a call of 'tvmgen_m_"));
  }
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
  for (const char* other :
       {"  int8_t* v = TVMBackendAllocWorkspace(1, 0, (uint64_t)4, 0, 8);\n  if (*v) {\n    return -1;\n  }\n",
        "  if (p == NULL) {\n    return -1;\n  }\n", "  if (w == NULL) {\n  } else return 4;\n",
        "  if (w != NULL) {\n    return -1;\n  }\n", "  if (p[0] > 3) {\n    return 2;\n  }\n"}) {
    CAPTURE(other);
    CHECK_FALSE(reads(takes + helper + other + gives, unasked));
  }
  // An operator that does not ask stays.
  const std::string caller =
      "int32_t device(int32_t x);\nint32_t tvmgen_m_g(int8_t* p) {\n  if (device(1) != 0) return 3;\n  return 0;\n}\n"
      "int32_t tvmgen_m_op(int8_t* p) {\n  tvmgen_m_g(p);\n  return 0;\n}\n"
      "int32_t tvmgen_m___tvm_main__(int8_t* p) {\n  if (tvmgen_m_op(p) != 0 ) return -1;\n  return 0;\n}\n";
  const Source source{"lib1.c", caller};
  const PlannedModule module = read_planned_module("m", {&source, 1}, {}, {}, Unread::kept);
  REQUIRE(module.kept.size() == 2);
  CHECK(module.kept[1].name == "tvmgen_m_op");
  CHECK(module.kept[1].reason.find("'tvmgen_m_g', which may fail, and nothing asks") != std::string::npos);
  // What an operator asks for its result is looked at, too.
  const std::string zero = "  return 0;\n}\nint32_t tvmgen_m_g(int8_t* p) {\n";
  CHECK(reads("  if (tvmgen_m_g((&(p[0]))) != 0 ) return -1;\n" + zero + takes + helper + gives, unasked));
  CHECK_FALSE(reads("  if (tvmgen_m_g((&(p[0]))) == 0 ) return -1;\n" + zero + takes + helper + gives, unasked));
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

TEST_CASE("less than 0 is a check of what never fails only") {
  const std::string plain = read("", "  if (" + sure + " != 0) return -3;\n");
  CHECK(read("", "  if (" + sure + " < 0) return -3;\n") == plain);
  CHECK(read("", "  if (" + sure + " > 0) return -3;\n") == plain);
  CHECK(read("", "  if (" + sure + " < 0) { log(3); return -3; }\n") ==
        read("", "  if (" + sure + " != 0) { log(3); return -3; }\n"));
  const std::string later = "  int32_t rc = " + sure + ";\n  if (rc != 0) return rc;\n";
  CHECK(read("", "  int32_t rc = " + sure + ";\n  if (rc < 0) return rc;\n") == read("", later));
  CHECK(is_refused("", "  { int32_t rc = " + call + "; if (rc < 0) return rc; }\n", ""));
}

TEST_CASE("functions that somebody made of the entry") {
  const auto is_part = [](const std::string& front, const std::string& statements, const std::string& name) {
    const std::string error = read(front, statements);
    return error.starts_with("lib1.c: line ") &&
           error.find("found 'tvmgen_m_dev' called by '" + name +
                      "', expected operators called by 'tvmgen_m___tvm_main__' alone: move the statements of '" + name +
                      "' there") != std::string::npos;
  };
  const std::string declared = "int32_t tvmgen_m_dev(int8_t*, int8_t*);\n";
  const std::string body = "(int8_t* p, int8_t* q) {\n  if (tvmgen_m_dev(p, q) != 0) return -2;\n  return 0;\n}\n";
  const std::string checked = "  if (part(x_buffer_var, y_buffer_var) != 0) return -1;\n";
  CHECK(is_part(declared + "static int32_t part" + body, checked, "part"));
  // By way of others, of macros, and from statements that stay.
  CHECK(is_part(declared + "static int32_t half" + body +
                    "static int32_t part(int8_t* p, int8_t* q) {\n  return half(p, q);\n}\n",
                checked, "part"));
  CHECK(is_part(declared + "#define RUN(p, q) tvmgen_m_dev(p, q)\nstatic int32_t part(int8_t* p, int8_t* q) {\n"
                           "  if (RUN(p, q)) return -2;\n  return 0;\n}\n",
                checked, "part"));
  CHECK(is_part(declared + "static int32_t part" + body, "  if (runs > 3) { part(0, 0); }\n  runs = part(0, 0);\n",
                "part"));
  // Others are helpers.
  CHECK(read("static int32_t part(int8_t* p, int8_t* q) {\n  if (p == q) goto end;\n  q[0] = p[0];\nend:\n  return "
             "0;\n}\n",
             checked)
            .find("call_extern(\"part\"") != std::string::npos);
}

TEST_CASE("pointers of the file") {
  const std::string taken =
      "  sid_1 = TVMBackendAllocWorkspace(1, 0, (uint64_t)16, 0, 8);\n  if (sid_1 == NULL) {\n    return -1;\n  }\n"
      "  if (tvmgen_m_dev(x_buffer_var, sid_1) != 0) return -1;\n";
  REQUIRE(read("", "  void* sid_1;\n" + taken).starts_with("lib1.c: line "));
  CHECK(is_refused("static void* sid_1;\n", taken,
                   "'sid_1', which is not declared here, expected a variable of the function: that of the file (line "
                   "1, column 1) may change between its calls; declare it in the function"));
}

TEST_CASE("workspace is given back by who takes it") {
  const std::string takes =
      "  void* sid_1 = TVMBackendAllocWorkspace(1, 0, (uint64_t)4, 0, 8);\n  if (sid_1 == NULL) {\n    return -1;\n  "
      "}\n"
      "  if (tvmgen_m_dev(x_buffer_var, sid_1) != 0) return -1;\n";
  const std::string free = "  if (TVMBackendFreeWorkspace(1, 0, sid_1) != 0) return -1;\n";
  // `goto`: it stays.
  const auto part = [&](const std::string& what) {
    return "static int32_t part(void* p, int8_t* y) {\n  if (device(2)) goto end;\n  y[0] = ((int8_t*)p)[0];\n" + what +
           "end:\n  return 0;\n}\n";
  };
  const std::string use = "  if (part(sid_1, y_buffer_var) != 0) return -1;\n";
  const auto reads = [&](const std::string& front, const std::string& statements) {
    const std::string text = read("int32_t device(int32_t n);\n" + front, statements);
    return text.find("call_extern(\"part\"") != std::string::npos;
  };
  CHECK(reads(part(""), takes + use + free));
  for (const char* what : {"p", "(void*)p", "(p)", "(int8_t*)(p)", "p + 0", "y ? p : p"}) {
    CAPTURE(what);
    const std::string given = part("  TVMBackendFreeWorkspace(1, 0, " + std::string(what) + ");\n");
    CHECK(read("int32_t device(int32_t n);\n" + given, takes + use).find("given back in a function whose C stays") !=
          std::string::npos);
  }
  // By a macro, too; what it is given may be taken by one.
  const std::string macros =
      "#define GIVE(p) TVMBackendFreeWorkspace(1, 0, (p))\n#define GIVE_ALL(p) do { GIVE(p); } while (0)\n"
      "#define TAKE(n) TVMBackendAllocWorkspace(1, 0, (uint64_t)(n), 0, 8)\n";
  for (const std::string macro : {"GIVE", "GIVE_ALL"}) {
    CHECK_FALSE(reads(macros + part("  " + macro + "(p);\n"), takes + use + free));
    CHECK(reads(macros + part("  void* q = TAKE(16);\n  " + macro + "(q);\n"), takes + use + free));
  }
  // What is its own, as long as it is nothing else.
  const auto own = [&](const std::string& changed) {
    return reads(macros + part("  int8_t* q = TAKE(16);\n" + changed + "  TVMBackendFreeWorkspace(1, 0, q);\n"),
                 takes + use + free);
  };
  CHECK(own("  q[0] = 1;\n"));
  CHECK(own("  if (y) { int8_t* q = y; q++; }\n"));  // another variable
  CHECK(own("  q = NULL;\n  q = 0;\n  y[0] = !q + (int)sizeof(q) + *q;\n"));
  CHECK(own("  asm volatile (\"\" : : \"r\"(y));\n"));
  for (const char* changed : {"  q++;\n", "  q--;\n", "  ++q;\n", "  --q;\n", "  q -= 0;\n", "  q += 4;\n",
                              "  q = y;\n", "  device((int32_t)&q);\n", "  asm volatile (\"\" : \"+r\"(q));\n"}) {
    CHECK_FALSE_MESSAGE(own(changed), changed);
  }
  CHECK_FALSE(
      reads(macros + part("  if (y) p = TAKE(16);\n  TVMBackendFreeWorkspace(1, 0, p);\n"), takes + use + free));
  CHECK_FALSE(reads(part("  device((int32_t)TVMBackendFreeWorkspace);\n"), takes + use + free));
  CHECK(reads("static void* own;\n" + part("  own = (int8_t*)TVMBackendAllocWorkspace(1, 0, (uint64_t)16, 0, 8);\n"
                                           "  TVMBackendFreeWorkspace(1, 0, own);\n"),
              takes + use + free));
  CHECK_FALSE(
      reads("static void* own;\n" + part("  own = p;\n  TVMBackendFreeWorkspace(1, 0, own);\n"), takes + use + free));
  // The entry does not give back what others have taken.
  CHECK(is_refused("static void* own;\n", takes + "  if (TVMBackendFreeWorkspace(1, 0, own) != 0) return -1;\n",
                   "'own'"));
  CHECK(is_refused("", takes + "  TVMBackendFreeWorkspace(1, 0, x_buffer_var);\n", "'x_buffer_var'"));
}

TEST_CASE("what only a function that stays gets has a type in the entry") {
  const std::string text =
      "#include <stdint.h>\nint32_t device(int32_t n);\nstatic int32_t part(void* from, int8_t* y) {\n"
      "  if (device(2)) goto end;\n  y[0] = ((int8_t*)from)[0];\nend:\n  return 0;\n}\n"
      "int32_t tvmgen_m___tvm_main__(void* x, int8_t* y_buffer_var) {\n"
      "  if (part(x, y_buffer_var) != 0) return -1;\n  return 0;\n}\n";
  const Source file{"lib1.c", text};
  CHECK_THROWS_WITH(read_planned_module("m", {&file, 1}, {}, {}, Unread::kept, {}, {}),
                    doctest::Contains("lib1.c: line 9, column 37: found a parameter without type, and 'part'"));
}

TEST_CASE("vector types, with which TVM's C does not compile") {
  const auto read_with = [](const std::string& front, const std::string& header = "") {
    const std::string op =
        "int32_t tvmgen_m_v(float* p, float* q) {\n  for (int32_t i = 0; i < 4; ++i) {\n"
        "    float4 v_ = *(float4*)(p + (i * 4));\n    *(float4*)(q + (i * 4)) = v_;\n  }\n  return 0;\n}\n";
    const std::string text = front + op +
                             "int32_t tvmgen_m___tvm_main__(float* x_buffer_var, float* y_buffer_var) {\n"
                             "  if (tvmgen_m_v(x_buffer_var, y_buffer_var) != 0 ) return -1;\n  return 0;\n}\n";
    const Source file{"lib1.c", text};
    const std::vector<Source> headers = {{"vectors.h", header}};
    try {
      return std::to_string(read_planned_module("m", {&file, 1}, {}, {}, Unread::kept, {}, headers).kept.size());
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  CHECK(read_with("") ==
        "lib1.c: line 3, column 5: found the vector type 'float4' in 'tvmgen_m_v', which no file defines, so TVM's C "
        "does not compile: build the archive with the pass option tir.disable_vectorize=True");
  // Somebody's stays.
  const std::string type = "typedef float float4 __attribute__((vector_size(16)));\n";
  CHECK(read_with(type) == "1");
  CHECK(read_with("#include \"vectors.h\"\n", type) == "1");
  CHECK(read_with("#define float4 struct vector\n") == "1");
}

TEST_CASE("C that usmp-plan wrote") {
  const std::string text = "// Operators of module m, with planned memory. Generated by usmp-plan; do not edit.\n";
  CHECK(test::read_entry(text, "", "") ==
        "lib1.c: found C that usmp-plan wrote, expected TVM's: plan what it was made of (TVM's C, its archive, or a "
        ".tflite)");
}

}  // namespace usmp::tvm_c::refused_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions and tables of which another definition may be compiled or linked are not read.
#include "tvm_c/text/doubts.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::doubts_test {
namespace {

const std::string table = "static const int8_t w[2] = {1, 2};\n";
const std::string op = "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  q[0] = (int8_t)(p[0] + w[1]);\n  return 0;\n}\n";
const std::string entry =
    "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n"
    "  if (tvmgen_m_op(x_buffer_var, y_buffer_var) != 0 ) return -1;\n  return 0;\n}\n";
const std::string replaced = "declared as one that another definition may replace";
const std::string conditional = "under a condition that the files do not decide, #";

// Why the operator's C stays, without the place; "read": it does not; or what is refused.
std::string reason_of(const std::vector<Source>& files, const std::vector<Source>& headers = {}) {
  try {
    const PlannedModule module = read_planned_module("m", files, {}, {}, Unread::kept, {}, headers);
    for (const KeptFunction& function : module.kept) {
      if (function.name == "tvmgen_m_op") return function.reason.substr(function.reason.find("found "));
    }
    return "read";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string reason_of(const std::string& text, const std::vector<Source>& headers = {}) {
  return reason_of(std::vector<Source>{{"lib1.c", text}}, headers);
}

}  // namespace

TEST_CASE("what may be weak stays as it is, however that is said") {
  const std::string of_op = "found 'tvmgen_m_op' " + replaced;
  CHECK(reason_of(table + op + entry) == "read");
  for (const std::string front :
       {"__attribute__((weak)) ", "__weak ", "ESP_WEAK ", "#ifdef BOARD\n__weak\n#endif\n",
        "#define OVERRIDE __attribute__((weak))\n#define MAYBE OVERRIDE\nMAYBE ",
        "int32_t tvmgen_m_op(int8_t* p, int8_t* q) __attribute__((weak));\n", "#pragma weak tvmgen_m_op\n",
        "_Pragma(\"weak tvmgen_m_op\")\n", "void f(void) { _Pragma(\"weak tvmgen_m_op\") }\n"}) {
    CAPTURE(front);
    CHECK(reason_of(table + front + op + entry).starts_with(of_op));
  }
  const std::string prototype = "int32_t tvmgen_m_op(int8_t* p, int8_t* q)";
  const std::string include = "#include \"ops.h\"\n";
  CHECK(reason_of(include + table + op + entry, {{"ops.h", "__weak " + prototype + ";\n"}}) ==
        of_op + " in a header, expected one function of it");
  CHECK(reason_of(include + table + "MAYBE " + op + entry, {{"ops.h", "#define MAYBE __attribute__((weak))\n"}})
            .starts_with(of_op));
  CHECK(reason_of(include + table + op + entry, {{"ops.h", "__weak int32_t other(void);\n" + prototype + ";\n"}}) ==
        "read");
  CHECK(reason_of("#define OVERRIDE inline\n" + table + "OVERRIDE " + op + entry) == "read");
  CHECK(reason_of("#pragma inline tvmgen_m_op\n" + table + op + entry) == "read");
  // Tables, and the entry itself.
  CHECK(reason_of("__attribute__((weak)) const int8_t w[2] = {1, 2};\n" + op + entry) ==
        "found 'w' " + replaced + ", expected one definition");
  CHECK(reason_of(table + op + "__weak " + entry).find("found 'tvmgen_m___tvm_main__' " + replaced) !=
        std::string::npos);
}

TEST_CASE("what stands under a condition that the entry is not under stays as it is") {
  CHECK(reason_of(table + "#ifndef FAST\n" + op + "#endif\n" + entry) ==
        "found 'tvmgen_m_op' " + conditional + "ifndef FAST (lib1.c: line 3, column 1), expected one function of it");
  CHECK(reason_of("#if !defined(FAST)\n" + table + "#endif\n" + op + entry).starts_with("found 'w' " + conditional));
  CHECK(reason_of("#ifdef FAST\n#else\n" + table + "#endif\n" + op + entry).starts_with("found 'w' " + conditional));
  for (const std::string group : {"#ifndef FAST\n", "#if !defined(FAST)\n"}) {
    CHECK(reason_of(group + table + op + entry + "#endif\n") == "read");
    CHECK(reason_of({{"lib0.c", group + "const int8_t w[2] = {1, 2};\n#endif\n"},
                     {"lib1.c", group + "extern const int8_t w[2];\n" + op + entry + "#endif\n"}}) == "read");
  }
  for (const std::string group : {"#if 1\n", "#ifndef __cplusplus\n", "#define A\n#ifdef A\n", "#ifndef H\n#define H\n",
                                  "#if !defined(H)\n#define H\n", "#if !defined H\n#define H\n"}) {
    CHECK(reason_of(group + table + "#endif\n" + op + entry) == "read");
  }
  // Conditions of a header that is here are decided.
  CHECK(reason_of("#include \"board.h\"\n#ifndef FAST\n" + table + "#endif\n" + op + entry,
                  {{"board.h", "#undef FAST\n"}}) == "read");
  // Another file has it in the part that is left out.
  CHECK(reason_of({{"a.c", "#ifdef V2\nconst int8_t w[2] = {3, 4};\n#endif\n"},
                   {"b.c", "const int8_t w[2] = {1, 2};\n"},
                   {"lib1.c", "extern const int8_t w[2];\n" + op + entry}})
            .starts_with("a.c: line 1, column 10: found 'w', which another file defines, too, in a conditional group"));
}

TEST_CASE("tables of headers are read where each compiler takes the same one") {
  const std::string other = "static const int8_t w[2] = {3, 4};\n";
  const std::string uncertain = "found 'w' in a header that may be another, expected one definition";
  CHECK(reason_of("#include \"v1.h\"\n" + op + entry, {{"v1.h", table}}) == "read");
  CHECK(reason_of("#include \"v1.h\"\n#include \"sub/v1.h\"\n" + op + entry, {{"v1.h", table}}) == "read");
  for (const std::string include :
       {"#if V == 2\n#include \"v2.h\"\n#else\n#include \"v1.h\"\n#endif\n",
        "#define V 2\n#if V == 2\n#include \"v2.h\"\n#else\n#include \"v1.h\"\n#endif\n",
        "#ifdef V1\n#include \"v1.h\"\n#endif\n", "#if __has_include(\"v1.h\")\n#include \"v1.h\"\n#endif\n"}) {
    CAPTURE(include);
    CHECK(reason_of(include + op + entry, {{"v1.h", table}, {"v2.h", other}}) == uncertain);
  }
  CHECK(reason_of("#include \"w.h\"\n" + op + entry, {{"a/w.h", table}, {"b/w.h", other}}) == uncertain);
}

}  // namespace usmp::tvm_c::doubts_test

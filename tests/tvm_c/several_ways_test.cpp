// SPDX-License-Identifier: Apache-2.0
// Macros around calls of the entry that a conditional group defines in several ways.
#include <doctest/doctest.h>

#include <string>

#include "tvm_c/read_entry.hpp"
#include "usmp/support/line_and_column.hpp"

namespace usmp::tvm_c::several_ways_test {
namespace {

// The entry as TIR, or why it is not read.
std::string read(const std::string& macros, const std::string& statements, const std::string& header = "") {
  return test::read_entry(macros + test::two_operators, statements, header);
}

// With a message that names the macro, which stands in the file.
bool is_refused(const std::string& macros, const std::string& statement, const std::string& header = "") {
  const std::string message = read(macros, "  " + statement + "\n", header);
  return message.starts_with("lib1.c: line ") && message.find(": found 'P', which is a macro") != std::string::npos;
}

const std::string call = "tvmgen_m_dev(x_buffer_var, y_buffer_var)";
const std::string sure = "tvmgen_m_op(x_buffer_var, y_buffer_var)";

// The macro P as the group has it.
std::string both(const std::string& one, const std::string& other) {
  return "#ifdef A\n#define P(x) " + one + "\n#else\n#define P(x) " + other + "\n#endif\n";
}

const std::string use = "P(" + call + ");";

std::string with(const std::string& one, const std::string& other) { return read(both(one, other), "  " + use + "\n"); }

std::string of(const std::string& statements) { return read("", "  " + statements + "\n"); }

}  // namespace

TEST_CASE("checks that a group defines in two ways that come to the same are these checks") {
  const std::string plain = of("if (" + call + " != 0) return -3;");
  CHECK(with("do { if ((x) != 0) return -3; } while (0)", "{ if (x) { return -3; } }") == plain);
  CHECK(read("#ifndef P\n#define P(x) do { if (x) return -3; } while (0)\n#endif\n", "  " + use + "\n") == plain);
}

TEST_CASE("what a group's macros do differently around a call stands in such groups") {
  const std::string timed = "do { int t = now(); if ((x) != 0) return -3; log(t); } while (0)";
  CHECK(with(timed, "do { if ((x) != 0) return -3; } while (0)") ==
        of("\n#ifdef A\nint t_1 = now();\n#else\n\n#endif\nif (" + call +
           " != 0) return -3;\n#ifdef A\nlog(t_1);\n#else\n\n#endif\n"));
  // Where it fails, with the same variable.
  CHECK(with("do { int32_t rc = (x); if (rc != 0) { log(rc); return rc; } } while (0)",
             "do { int32_t st = x; if (st) return st * 2; } while (0)") ==
        of("int32_t rc_1 = " + call +
           "; if (rc_1 != 0) {\n#ifdef A\nlog(rc_1); return rc_1;\n#else\nreturn rc_1 * 2;\n#endif\n}"));
  CHECK(with("do { if ((x) != 0) { log(1); return -3; } } while (0)", "x") ==
        of("if (" + call + " != 0) {\n#ifdef A\nlog(1); return -3;\n#else\n\n#endif\n}"));
  // do { … } while (0) in a group is a block, and nothing is nothing.
  const std::string log =
      "#ifdef A\n#define L(s) do { log(s); } while (0)\n#else\n#define L(s) do {} while (0)\n#endif\n#define P(x) do { "
      "L(1); if (x) return -3; } while (0)\n";
  CHECK(read(log, "  " + use + "\n") ==
        of("\n#ifdef A\n{ log(1); }\n#else\n\n#endif\nif (" + call + " != 0) return -3;"));
  // A result that is asked later, of what never fails.
  CHECK(read(both("do { int rc = (x); log(3); if (rc) return rc; } while (0)",
                  "do { int rc = (x); if (rc) return rc; } while (0)"),
             "  P(" + sure + ");\n") ==
        of("int rc_1 = " + sure + ";\n#ifdef A\nlog(3);\n#else\n\n#endif\nif (rc_1 != 0) return rc_1;"));
}

TEST_CASE("macros of a group that are no such calls are refused") {
  const std::string check = "do { if ((x) != 0) return -3; } while (0)";
  for (const std::string other :
       {"do { log(3); } while (0)", "do { if (x) return -3; if (x) return -4; } while (0)",
        "do { if ((x) == 0) return -3; } while (0)", "do { if (x) return -3; else log(3); } while (0)",
        "do { int8_t rc = (x); if (rc) return -4; } while (0)",
        "do { int rc = (x); if (rc) return -3; log(rc); } while (0)", "do { if (n) { if (x) return -3; } } while (0)",
        "do { rc = (x); if (rc) return -4; } while (0)", "do { if (x) goto end; } while (0)",
        "do { if (tvmgen_m_op(x_buffer_var, y_buffer_var) != 0) return -3; } while (0)"}) {
    CHECK_MESSAGE(is_refused(both(check, other), use), other);
    CHECK_MESSAGE(is_refused(both(other, check), use), other);
  }
  const std::string timed = "do { int t = now(); if ((x) != 0) return -3; log(t); } while (0)";
  const std::string two = both(timed, check);
  CHECK(!is_refused(two, use));
  // Its condition may be another one where the macro is used, it may be undefined, or something else behind the group.
  CHECK(is_refused(two + "#define A 1\n", use));
  CHECK(is_refused(two + "#undef A\n", use));
  CHECK(is_refused("#include \"check.h\"\n" + two, use, "#define A\n"));
  CHECK(is_refused(two + "#undef P\n", use));
  CHECK(is_refused(two + "#include <board.h>\n", use));
  CHECK(is_refused("#include \"check.h\"\n#include <board.h>\n", use, two));
  CHECK(is_refused("#include \"check.h\"\n", use, two + "#include <board.h>\n"));
  CHECK(is_refused("#ifdef B\n#include \"check.h\"\n#endif\n", use, two));
  CHECK(!is_refused("#include <board.h>\n#include \"check.h\"\n#include <stdio.h>\n", use, two));

#include "tvm_c/read_entry.hpp"
  CHECK(is_refused("#ifdef A\n#define P(x) " + timed + "\n#elif B\n#define P(x) " + check + "\n#endif\n", use));
  CHECK(is_refused("#ifdef B\n" + two + "#else\n#define P(x) " + check + "\n#endif\n", use));
  CHECK(is_refused(two, "if (n) P(" + call + ");"));
  CHECK(is_refused(two, "if (n) { P(" + call + "); }"));
}

TEST_CASE("messages behind such groups name the places of the file") {
  const std::string timed = both("do { int t = now(); if ((x) != 0) return -3; log(t); } while (0)",
                                 "do { if ((x) != 0) return -3; } while (0)");
  const std::string check = "#define CHECK(x) do { if ((x) != 0) { return -5; } } while (0)\n";
  const std::string front = timed + check + test::two_operators +
                            "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n";
  const std::string wrong = "goto out;";
  for (const std::string& statements :
       {"  " + use + "\n  " + use + "\n  " + wrong + "\n", "  " + use + " " + use + " " + wrong + "\n",
        "  P(\n" + call + "\n  ); " + wrong + "\n", "  CHECK(\n    " + call + "\n); " + wrong + "\n",
        "  CHECK(" + call + "); if (!(" + call + " == 0)) return -1; " + use + " " + wrong + "\n"}) {
    const std::string text = front + statements + "  return 0;\n}\n";
    const std::string message = test::read_entry(timed + check + test::two_operators, statements, "");
    CAPTURE(statements);
    CAPTURE(message);
    CHECK(message.starts_with("lib1.c: " + line_and_column(text, text.find(wrong) + 1) + ": "));
  }
}

}  // namespace usmp::tvm_c::several_ways_test

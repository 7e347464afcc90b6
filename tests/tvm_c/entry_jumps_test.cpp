// SPDX-License-Identifier: Apache-2.0
// Else and goto that somebody wrote around calls of the entry.
#include <doctest/doctest.h>

#include <string>

#include "tvm_c/read_entry.hpp"
#include "tvm_c/respelled/respelled.hpp"

namespace usmp::tvm_c::entry_jumps_test {
namespace {

std::string read(const std::string& statements) {
  return test::read_entry("#include <stdio.h>\n" + test::two_operators, statements, "");
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

bool is_refused(const std::string& statements) { return read(statements).starts_with("lib1.c: line "); }

const std::string call = "tvmgen_m_dev(x_buffer_var, y_buffer_var)";
const std::string next = "tvmgen_m_dev(y_buffer_var, x_buffer_var)";

}  // namespace

TEST_CASE("a branch that ends with return needs no else") {
  const std::string plain = read("  if (" + call + " != 0) return -3;\n  if (" + next + " != 0) return -4;\n");
  REQUIRE(plain.find("tvm_check_return(0, -4, ") != std::string::npos);
  for (const std::string& statements : {
           "  if (" + call + " == 0) {} else return -3;\n  if (" + next + " == 0) { } else { return -4; }\n",
           "  if (!" + call + ") ; else { return -3; }\n  if (0 == " + next + ") ; else return -4;\n",
           "  if (" + call + " != 0) return -3; else if (" + next + " != 0) return -4;\n",
           "  if (" + call + ") {\n    return -3;\n  } else if (" + next + ") {\n    return -4;\n  }\n",
       }) {
    CHECK_MESSAGE(read(statements) == plain, statements);
  }
  // In one another.
  const std::string nested = "  if (" + call + " == 0) {\n    if (" + next + " == 0) {\n    } else { return -4; }\n" +
                             "  } else {\n    return -3;\n  }\n";
  CHECK(read(nested) == plain);
  // What is done if it fails, or does not, stays.
  const std::string no = "if (" + call + " != 0) { puts(\"no\"); return -3; }";
  const std::string logged = without_blanks(read("  " + no + "\n  puts(\"yes\");\n"));
  REQUIRE(logged.find("yes") != std::string::npos);
  const std::string first =
      "  if (" + call + " == 0) {\n    puts(\"yes\");\n  } else {\n    puts(\"no\");\n    return -3;\n  }\n";
  CHECK(without_blanks(read(first)) == logged);
  const std::string block = without_blanks(read("  " + no + "\n  { puts(\"yes\"); }\n"));
  CHECK(without_blanks(read("  " + no + " else { puts(\"yes\"); }\n")) == block);
  // A macro that declares one keeps its braces, too, and so does what may be one.
  const auto branch = [&](const std::string& macros, const std::string& statement) {
    const std::string text =
        "if (" + call + " == 0) { " + statement + " puts(\"yes\"); } else { puts(\"no\"); return -3; }";
    return without_blanks(test::read_entry("#include <stdio.h>\nstatic int32_t n;\n" + macros + test::two_operators,
                                           "  " + text + "\n  device(n);\n", ""));
  };
  CHECK(branch("#define BEGIN int32_t n = 2\n", "BEGIN;").find("{BEGIN;puts") != std::string::npos);
  CHECK(branch("", "BEGIN();").find("{BEGIN();puts") != std::string::npos);
  CHECK(branch("", "int (*n)(const char*) = puts;").find("{int(*n)") != std::string::npos);
  CHECK(branch("#define BEGIN puts(\"begin\")\n", "BEGIN;").find("{BEGIN;puts") == std::string::npos);
  // A variable of the branch stays its own.
  const std::string declared = "{ int n = 2; printf(\"%d\", n); }";
  CHECK(without_blanks(read("  if (" + call + " == 0) " + declared + " else { puts(\"no\"); return -3; }\n")) ==
        without_blanks(read("  " + no + "\n  " + declared + "\n")));
}

TEST_CASE("else stays where control may come behind it") {
  for (const std::string& statements : {
           "  if (" + call + " == 0) { puts(\"yes\"); } else { puts(\"no\"); }\n",
           "  if (" + call + " != 0) { if (device(2)) return -3; } else { puts(\"yes\"); }\n",
           "  if (device(2)) if (" + call + " != 0) return -3; else puts(\"yes\");\n",
           "  if (" + call + " == 0) LOG(\"yes\"); else return -3;\n",  // which may be an if
           "  if (" + call + " != 0) {\n#ifdef STRICT\n    return -3;\n#endif\n  } else { puts(\"yes\"); }\n",
           "  if (" + call + " != 0) {\n#ifdef LAX\n#else\n    return -3;\n#endif\n  } else { puts(\"yes\"); }\n",
       }) {
    CHECK_MESSAGE(is_refused(statements), statements);
  }
}

TEST_CASE("goto to what stands at the function's end is what stands there") {
  const std::string plain = read("  if (" + call + " != 0) { puts(\"no\"); return -3; }\n  if (" + next +
                                 " != 0) { puts(\"next\"); puts(\"no\"); return -3; }\n");
  REQUIRE(plain.find("next") != std::string::npos);
  const std::string jumps = "  if (" + call + " != 0) goto fail;\n  if (" + next +
                            " != 0) { puts(\"next\"); goto fail; }\n  return 0;\nfail:\n";
  const auto ends = [&](const std::string& end, const std::string& front = "") {
    const std::string text = "#include <stdio.h>\n" + test::two_operators +
                             "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n" + front +
                             jumps + end + "}\n";
    const Source file{"lib1.c", text};
    try {
      const PlannedModule module = read_planned_module("m", {&file, 1}, {}, {}, Unread::kept, {}, {});
      return tir::print(module.module, module.module.functions[module.module.entry]);
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  CHECK(ends("  puts(\"no\");\n  return -3;\n") == plain);
  const std::string taken =
      "  void* sid_1 = TVMBackendAllocWorkspace(1, 0, (uint64_t)16, 0, 8);\n  if (sid_1 == NULL) return -1;\n";
  const std::string frees = "  TVMBackendFreeWorkspace(1, 0, sid_1);\n  puts(\"no\");\n  return -3;\n";
  CHECK(ends(frees, taken) == plain);
  // GCC warns of what stands behind if (x) f(); on its line.
  CHECK(ends("  for (int i = 0; i < 2; ++i) puts(\"no\");\n  return -3;\n").find("puts(\\\"no\\\");\\n") !=
        std::string::npos);
  CHECK(ends("  if (device(3)) puts(\"no\");\n  return -3;\n").find("if (device(3)) puts(\\\"no\\\");\\n") !=
        std::string::npos);
  // What else is given back there is none of the plan's.
  CHECK(ends("  TVMBackendFreeWorkspace(1, 0, more);\n  puts(\"no\");\n  return -3;\n", taken) != plain);
  // What stands behind a label that is reached in some builds stays there, too.
  const std::string front = "  if (" + call + " != 0) goto fail;\n";
  for (const std::string ends_before : {"#ifndef A\n  return 0;\n#endif\n", "#ifdef A\n  return 0;\n#endif\n"}) {
    const std::string body = front + ends_before + "fail:\n  puts(\"no\");\n  return -3;\n}\n";
    const std::string text = "#include <stdio.h>\n" + test::two_operators +
                             "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n" + body;
    const Source file{"lib1.c", text};
    const Respelled read = respelled({&file, 1}, {}, "m", true);
    CHECK(read.files[0].text.find("puts(\"no\")", read.files[0].text.find("#endif")) != std::string::npos);
  }
  // Names that its macros say.
  const std::string block = " if (" + call + " != 0) goto fail; }\n  return 0;\nfail:\n";
  const auto is_hidden = [&](const std::string& macros, const std::string& end,
                             const std::string& own = "int32_t n = 2;") {
    const std::string text = "#include <stdio.h>\nstatic int32_t n;\n" + macros + test::two_operators +
                             "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n" + "  { " +
                             own + block + end + "}\n";
    const Source file{"lib1.c", text};
    const Respelled read = respelled({&file, 1}, {}, "m", true);
    return read.files[0].text.find("goto") != std::string::npos;
  };
  REQUIRE_FALSE(is_hidden("", "  puts(\"no\");\n  return -3;\n"));
  CHECK(is_hidden("", "  device(n);\n  return -3;\n"));
  CHECK(is_hidden("#define SHOW() device(n)\n", "  SHOW();\n  return -3;\n"));
  CHECK(is_hidden("#define SHOW() device(n)\n", "  SHOW();\n  return -3;\n", "enum { n = 2 };"));
  CHECK(is_hidden("", "  device(3);\n  return -3;\n", "int32_t (*device)(int32_t) = 0;"));
  CHECK(is_hidden("", "  puts(\"no\");\n  if (device(2)) return -3;\n"));  // and goes on
  CHECK(is_hidden("#define STATUS (n - 3)\n", "  return STATUS;\n"));
  CHECK(is_hidden("", "  SHOW();\n  return -3;\n"));  // of a header that is not known
  // Other labels, jumps back, no end, and names that mean something else there.
  CHECK(ends("  puts(\"no\");\nmore:\n  return -3;\n").starts_with("lib1.c: line "));
  CHECK(ends("  if (device(2)) goto fail;\n  return -3;\n").starts_with("lib1.c: line "));
  CHECK(is_refused("  if (" + call +
                   " != 0) { int n = 2; if (n) goto end; }\n  int n = 1;\n  return 0;\nend:\n  puts(n);\n"));
}

}  // namespace usmp::tvm_c::entry_jumps_test

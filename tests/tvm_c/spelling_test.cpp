// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
#include "tvm_c/text/spelling.hpp"
#include "tvm_c/read_entry.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tvm_c/text/lexer.hpp"

namespace usmp::tvm_c::spelling_test {
namespace {

// What is said of the text, and where.
std::string fault(const std::string& text) {
  try {
    check_spelling(text);
    return "none";
  } catch (const SyntaxError& error) {
    return std::to_string(error.offset) + ": " + error.message;
  }
}

TEST_CASE("a line splice stands between tokens") {
  const std::string joined = "found a line splice inside of a token, expected it between two";
  CHECK(fault("#un\\\ndef Q\n") == "3: " + joined);
  for (const char* text : {"#el\\\r\nse\n", "int a\\\n\\\nb;\n", "/\\\n* x */\n", "/\\\n/ x\n", "/* x *\\\n/\n",
                           "/* x *\\ \n/\n", "a +\\\n+;\n", "a &\\\n& b\n", "#define N 1\\\n0\n",
                           "char c = '\\\\\n n';\n", "\"\\\\\nn\"\n", "#if 0\n/\\\n*\n#endif\n", "%\\\n:define A\n"}) {
    CHECK_MESSAGE(fault(text).ends_with(": " + joined), std::string(text));
  }
  for (const char* text : {"#define F(x) \\\n  do { \\\n  } while (0)\n", "#define N a;\\\nb\n", "f(a,\\\nb);\\\nc\n",
                           "\"a\\\nb\" \"\\\r\nc\"\n", "// a\\\nb\n", "/* a\\\nb */\n", "#define A /* */\\\n/* */ b\n",
                           "\\\n", "\\", "a\\", "/\\\n", "'\\\n", "\"\\", "*\\\n"}) {
    CHECK_MESSAGE(fault(text) == "none", std::string(text));
  }
}

TEST_CASE("blanks behind a backslash do not decide what is compiled") {
  CHECK(fault("int a; \\ \n  b\n").starts_with("7: found a backslash, blanks and the end of the line"));
  for (const char* text : {"// C:\\ \n#define Q\n", "// C:\\\t\r\n#define Q\n", "\"a\\ \nb\"\n",
                           "#define Q 1 \\ \n + 2\n", "#if 0\n// \\ \n#else\n#endif\n", "a\\\t\nb\n"}) {
    CHECK_MESSAGE(fault(text).find(": found a backslash, blanks and the end of the line") != std::string::npos,
                  std::string(text));
  }
  for (const char* text : {"// /\\ \n// \\/ \nint a;\n", "// C:\\ \n\nint a;\n", "/* C:\\ \n */\n", "// C:\\ ",
                           "// C:\\ \n", "#define Q 1 \\\r\n + 2\n", "\"C:\\ \"\n"}) {
    CHECK_MESSAGE(fault(text) == "none", std::string(text));
  }
}

TEST_CASE(
    "other spellings of characters, raw strings and macros that come back are found, also in text that is left out") {
  CHECK(fault("#if 0\n%:endif\n") == "6: found a directive that does not begin with #");
  CHECK(fault("#if 0\n /* */ ?\?=else\n").ends_with(": found a directive that does not begin with #"));
  CHECK(fault("#if 0\n// x?\?/\n#else\n#endif\n") ==
        "6: found a comment that ends with ?\?/, which some compilers take for a backslash");
  CHECK(fault("#define A ?\?/\n 2\n") == "10: found ?\?/, which some compilers take for a backslash");
  CHECK(fault("\"?\?/\" /*\"\n") == "1: found ?\?/, which some compilers take for a backslash");
  CHECK(fault("#if 0\na ?\?'/*\n#endif\n") == "8: found ?\?', which some compilers take for ^");
  CHECK(fault("#if 0\nR\"(\n#endif\n)\"\n#endif\n") ==
        "6: found a raw string, which some compilers take for a name and a string");
  CHECK(fault("#pragma pop_macro(\"Q\")\n") ==
        "8: found pop_macro, expected macros that only #define and #undef change");
  CHECK(fault("_Pragma(\"pop_macro(\\\"Q\\\")\")\n").starts_with("8: found pop_macro"));
  CHECK(fault("#ifdef Q$a\n") == "8: found $ behind a name, which is a part of it for some compilers");
  CHECK(fault("\xEF\xBB\xBFint a;\n").starts_with("0: found a byte order mark"));
  for (const char* text : {"// a\r#undef Q\n", "int a;\r#undef Q\n", "#if 0\n'\r#endif\n"}) {
    CHECK_MESSAGE(fault(text).ends_with(": found a carriage return inside of a line, which some compilers end"),
                  std::string(text));
  }
  for (const char* text : {"/* a\rb */ int a; // c\r\r\n\rint b;\r\n", "a\r", "// a\r", "\"a$\" // a$b\n"}) {
    CHECK_MESSAGE(fault(text) == "none", std::string(text));
  }
  for (const char* text : {"// why?\?/ \n// R\"(\n// pop_macro %: ?\?=\n", "/* ?\?/\n%: ?\?' R\"( pop_macro */\n",
                           "\"pop_macro\"\n", "\"what?\?!\"\n", "VR\"a\" FOUR\n", "a %:b\n", "'R\"('\n"}) {
    CHECK_MESSAGE(fault(text) == "none", std::string(text));
  }
}

}  // namespace
TEST_CASE("spellings of headers count if the model's files include them") {
  const std::string header = "#define ROWS 4 \\ \n + 2\n";
  const std::string statements = "  if (tvmgen_m_op(x_buffer_var, y_buffer_var) != 0) return -1;\n";
  const auto read = [&](const std::string& include) {
    return test::read_entry(include + test::two_operators, statements, header);
  };
  CHECK_MESSAGE(read("").find("tvmgen_m_op") != std::string::npos, read(""));
  const std::string refusal = read("#include \"check.h\"\n");
  CHECK_MESSAGE(refusal.starts_with("check.h: line 1, column 16: found a backslash, blanks"), refusal);
}

}  // namespace usmp::tvm_c::spelling_test

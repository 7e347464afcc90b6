// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the preprocessor's lines of a file say, and the groups around its declarations.
#include "tvm_c/text/macros.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tvm_c/text/lexer.hpp"

namespace usmp::tvm_c::macros_test {
namespace {

// What stands behind N, if that is certain.
std::string value_of_n(const std::string& text) {
  const Macros macros(split(text));
  return std::string(macros.definition("N").value_or("none"));
}

TEST_CASE("what stands around a header is no condition") {
  CHECK(value_of_n("#ifndef H\n#define H\n#define N 3\n#endif\n") == " 3");
  CHECK(value_of_n("#if !defined(H)\n#define H\n#define N 3\n#endif\n") == " 3");
  for (const char* text :
       {"#ifdef H\n#define H\n#define N 3\n#endif\n", "#ifndef H\n#undef H\n#define N 3\n#endif\n",
        "#ifndef H\n#define G\n#define N 3\n#endif\n", "#ifndef H\n#define H\n#define N 3\n#else\n#endif\n",
        "#ifndef H\n#define H\n#define N 3\n#elif G\n#endif\n", "#ifndef H\n#define H\n#define N 3\n",
        "#ifndef H\n#define H\n#define N 3\n#endif\n#define M 1\n"}) {
    CHECK_MESSAGE(value_of_n(text) == "none", text);
  }
  const std::string header = "#ifndef H\n#define H\nenum { a, b };\n#endif\n";
  CHECK(Macros(split(header)).enumerators().size() == 2);
}

TEST_CASE("macros of another file are as certain as it is there") {
  const std::string text = "#define N 2\n#ifdef X\n#define C 3\n#endif\n";
  const Macros others(split(text));
  const std::string own_text = "#define A 1\n";
  for (const bool in_any_case : {true, false}) {
    Macros macros(split(own_text));
    macros.add(others, in_any_case);
    CHECK(macros.definition("N").has_value() == in_any_case);
    CHECK(macros.contains("C"));
    CHECK_FALSE(macros.definition("C"));
  }
}

TEST_CASE("names of what macros stand for, up to a limit") {
  const std::string quote = "#if 0\ndon't a\n#endif\n";
  CHECK(Macros(split(quote)).names_in(split(quote), 6, 13) == Names{"a", "don", "t"});
  const std::string text = "#define A " + std::string(4'000'000, 'x') + "\nA\n";
  const Macros macros(split(text));
  const auto is_too_much = [&] {
    return macros.names_in(split(text), text.size() - 2, text.size()).contains(Macros::anything);
  };
  CHECK_FALSE(is_too_much());
  CHECK_FALSE(is_too_much());
  CHECK(is_too_much());
  const Code code = split("#include <a.h>\n#define A B\n#undef A\n");
  CHECK(macro_definitions(std::span(&code, 1)).at("A").size() == 1);
}

TEST_CASE("what may be more than headers and linkage is hidden code") {
  const auto hides = [](const std::string& text) { return has_hidden_code(split(text), 0, text.size()); };
  for (const char* text :
       {"#include <vector>\n", "#include <a.h>\n", "#include \"a.hpp\" // b\n", "extern \"C\" {\n}\n;\n",
        "#if 0\nx\n#endif\n#if 0\ny\n#endif\n", "#if 0\n#if A\nx\n#else\ny\n#endif\n#endif\n"}) {
    CHECK_MESSAGE(!hides(text), text);
  }
  for (const char* text : {"#include <a.inc>\n", "#include \"a\"\n", "#if 0\nx\n#endif\ny\n", "y\n#if 0\nx\n#endif\n",
                           "#if 1\nx\n#endif\n", "#if 0\nx\n#else\ny\n#endif\n", "#if 0\nx\n#elif A\ny\n#endif\n",
                           "#if 0\nx\n", "#ifdef A\n'\n#endif\n"}) {
    CHECK_MESSAGE(hides(text), text);
  }
}

// From where "int f" begins, with the groups that belong to it.
std::string with_groups(const std::string& text) {
  return text.substr(begin_with_groups(split(text), 0, text.find("int f"), text.size()));
}

TEST_CASE("groups in front of a declaration that belong to it") {
  for (const std::string text :
       {"#ifdef A\nFAST\n#endif\nint f;", "#ifdef A\n__attribute__((aligned(4)))\n#endif\nint f;",
        "#ifdef A\nFAST\n#endif\n#ifdef B\nTVM_DLL\n#endif\nint f(\n#ifdef C\nint a\n#endif\n);",
        "#if A\nPLACE(a) int g\n#else\nint f\n#endif\n;"}) {
    CHECK(with_groups(text) == text);
  }
  for (const char* text : {"#ifdef A\nFAST\n#endif\nlong int f;", "#ifdef A\nPLACE(a)\n#endif\nint f;",
                           "#ifdef A\n#endif\nint f;", "#if A\nint g;\n#else\nint f\n#endif\n;"}) {
    CHECK(with_groups(text).starts_with("int f"));
  }
  CHECK(with_groups("#define A\nint f\n#endif\n;") == "int f\n#endif\n;");
}

}  // namespace
}  // namespace usmp::tvm_c::macros_test

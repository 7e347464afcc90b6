// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Texts split into tokens: kinds, spellings, gaps and lines, and texts that are refused.
#include "usmp/c/lexer.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace usmp::c;

namespace {

std::string spelled(std::string_view text) {
  const File file{"f.c", text};
  const Lexed lexed = lex(file, 0);
  std::string result;
  for (const Token& token : lexed.tokens) {
    if (token.kind == TokenKind::end) break;
    if (token.begins_line) result += "\n";
    if (token.has_gap && !token.begins_line) result += " ";
    result += token.kind == TokenKind::numbers ? "<" + std::to_string(token.text.size()) + ">"
              : token.kind == TokenKind::other ? "?" + std::string(token.text)
                                               : std::string(token.text);
  }
  return result;
}

// Each token's kind and text, one behind the other.
std::string kinds(std::string_view text) {
  const File file{"f.c", text};
  const Lexed lexed = lex(file, 0);
  std::string result;
  for (const Token& token : lexed.tokens) {
    if (token.kind == TokenKind::end) break;
    const char* kind = token.kind == TokenKind::identifier   ? "name "
                       : token.kind == TokenKind::number     ? "number "
                       : token.kind == TokenKind::string     ? "string "
                       : token.kind == TokenKind::character  ? "character "
                       : token.kind == TokenKind::punctuator ? "punctuator "
                                                             : "other ";
    result += (result.empty() ? "" : ", ") + (kind + std::string(token.text));
  }
  return result;
}

std::string refusal(std::string_view text) {
  const File file{"f.c", text};
  try {
    (void)lex(file, 0);
  } catch (const SyntaxError& error) {
    return std::to_string(error.offset) + ": " + error.message;
  }
  return "";
}

}  // namespace

TEST_CASE("tokens of C, with the gaps in front of them") {
  CHECK(spelled("int a=b+++c; // x") == "\nint a=b+++c;");
  CHECK(spelled("a>>=1;b->c...") == "\na>>=1;b->c...");
  CHECK(spelled("x = 0x1.8p-3f+1.e+5-.5e3 2.a_3;") == "\nx = 0x1.8p-3f+1.e+5-.5e3 2.a_3;");
  CHECK(spelled("s = \"a\\\"b // c\" '\\'' L\"w\" u8\"v\" U'x';") ==
        "\ns = \"a\\\"b // c\" '\\'' L\"w\" u8\"v\" U'x';");
  CHECK(spelled("a/* x \n y */b\n  c") == "\na b\nc");
  CHECK(spelled("a // b \\\n c\nd") == "\na\nd");
  CHECK(spelled("#define A(x) x\r\nA") == "\n#define A(x) x\nA");
  CHECK(spelled("a \x01 b @") == "\na ?\x01 b ?@");
}

TEST_CASE("kinds of tokens, however they stand beside each other") {
  CHECK(kinds("a\tb\vc\fd") == "name a, name b, name c, name d");
  CHECK(kinds("L\"w\"u\"v\"U'x'u8\"y\"u'z'") ==
        "string L\"w\", string u\"v\", character U'x', string u8\"y\", character u'z'");
  CHECK(kinds("x\"w\"R'x'") == "name x, string \"w\", name R, character 'x'");
  CHECK(kinds("a<<=b...c##d=e") ==
        "name a, punctuator <<=, name b, punctuator ..., name c, punctuator ##, name d, punctuator =, name e");
  CHECK(kinds("-=- ;.x") == "punctuator -=, punctuator -, punctuator ;, punctuator ., name x");
  CHECK(kinds("#define A\n#\n# if") == "punctuator #, name define, name A, punctuator #, punctuator #, name if");
  CHECK(kinds("") == "");
  CHECK(kinds("a\\") == "name a, other \\");
  CHECK(kinds("'\\") == "other '\\");
  CHECK(kinds("a/") == "name a, punctuator /");
  CHECK(kinds("a/*b*c**/d/**/e/*/ f */") == "name a, name d, name e");
}

TEST_CASE("directives end where their last line does") {
  const auto ends = [](std::string_view text) {
    const File file{"f.c", text};
    std::string result;
    for (const Directive& one : lex(file, 0).directives)
      result += std::to_string(one.token) + "-" + std::to_string(one.end) + " ";
    return result;
  };
  CHECK(ends("#if A\n  # else // x\nb\n#endif") == "0-5 3-19 6-28 ");
  CHECK(ends("#define A \\\n b\nc # d\n") == "0-14 ");
  CHECK(ends("/* a\n */ # define A /* b\n */ c\nd") == "0-30 ");
}

TEST_CASE("line splices between and inside of tokens") {
  CHECK(spelled("a \\\n b") == "\na b");
  CHECK(spelled("in\\\nt x\\\r\n1 = 2\\\n3 +\\\n= 4;") == "\nint x1 = 23 += 4;");
  CHECK(spelled("\"a\\\nb\" /\\\n/ comment\nc /\\\n* d *\\\n/ e") == "\n\"ab\"\nc e");
  CHECK(spelled("1.5e-\\\n3f") == "\n1.5e-3f");
  const File file{"f.c", "in\\\nt x\\\n1 +\\\n= 1.5e-\\\n3f;"};
  CHECK(lex(file, 0).tokens.size() == 6);  // int x1 += 1.5e-3f ; and the end
  CHECK(spelled("a\\\n\\\n\\\n\\\nb\\\n\\\n\\\nc") == "\nabc");
}

TEST_CASE("a literal that does not end takes the rest of its line") {
  CHECK(spelled("don't\nx") == "\ndon?'t\nx");
  CHECK(spelled("\"a\\\"\nb") == "\n?\"a\\\"\nb");
}

TEST_CASE("a long list of numbers behind a brace is one token") {
  std::string list;
  for (int i = 0; i < 100; ++i) list += std::to_string(i) + ", ";
  CHECK(spelled("int a[] = {" + list + "};") == "\nint a[] = {<" + std::to_string(list.size()) + "> };");
  CHECK(spelled("int a[] = {" + list + "7};") == "\nint a[] = {<" + std::to_string(list.size()) + "> 7};");
  CHECK(spelled("int a[] = {1, 2};") == "\nint a[] = {1, 2};");
  const std::string token = "<" + std::to_string(list.size()) + ">";
  CHECK(spelled("{" + list + "/**/" + list + "}") == "\n{" + token + " " + token + " }");
  CHECK(spelled("{" + list + "7 +" + list + "}").find('<', 5) == std::string::npos);
  // A line break in front of the last number is none behind the list.
  CHECK(spelled("{1,\n" + list + "# x") == "\n{<" + std::to_string(list.size() + 3) + "> # x");
  // An element that is no number is none of the list, nor is a part of it.
  CHECK(spelled("{" + list + "7 * 8}") == "\n{<" + std::to_string(list.size()) + "> 7 * 8}");
  CHECK(spelled("{" + list + "- /**/ 7}") == "\n{<" + std::to_string(list.size()) + "> - 7}");
  CHECK(spelled("{" + list + "7 }") == "\n{<" + std::to_string(list.size() + 2) + "> }");
  CHECK(spelled("f(" + list + "0)").find('<') == std::string::npos);
  CHECK(spelled("{a" + list + "0}").find('<') == std::string::npos);
  // The shortest one.
  std::string shortest;
  while (shortest.size() < fewest_listed_bytes) shortest += "1,";
  CHECK(spelled("{" + shortest + "}") == "\n{<" + std::to_string(shortest.size()) + "> }");
  CHECK(spelled("{" + shortest.substr(2) + "}") == "\n{" + shortest.substr(2) + "}");
  // It would end the directive.
  CHECK(spelled("#define A {1,\n" + list).find('<') == std::string::npos);
  const std::string lines = "{1,\n" + list + "\n#define A";
  CHECK(spelled("x " + lines) == "\nx {<" + std::to_string(list.size() + 4) + ">\n#define A");
}

TEST_CASE("what compilers do not agree on is refused, where it stands") {
  CHECK(refusal("\xEF\xBB\xBFint a;").starts_with("0: found a byte order mark"));
  CHECK(refusal("a ?\?= b") == "2: found the trigraph ?\?=, which some compilers take for another character");
  CHECK(refusal("\"?\?/\"").starts_with("1: found the trigraph"));
  CHECK(refusal("// a ?\?= b\n/* ?\?/ */ a ? ?: b") == "");
  CHECK(refusal("// a ?\?/\nb").starts_with("0: found a comment that ends with ?\?/"));
  CHECK(refusal("a ?\?a b ?\?") == "");
  for (const char third : {'=', '/', '\'', '(', ')', '!', '<', '>', '-'})
    CHECK(refusal(std::string("a ?\?") + third).starts_with("2: found the trigraph"));
  CHECK(refusal("a<:1:>").starts_with("1: found the digraph <:"));
  for (const char* two : {"<:", ":>", "<%", "%>", "%:", "<\\\n:"})
    CHECK(refusal(std::string("a ") + two).starts_with("2: found the digraph "));
  CHECK(refusal("a < : > % = <<= %= :: ==>") == "");
  for (const char* prefix : {"R", "LR", "uR", "UR", "u8R"})
    CHECK(refusal(std::string(prefix) + "\"(x)\"").starts_with("0: found a raw string"));
  CHECK(refusal("R (x) xR\"(x)\" R'x'") == "");
  CHECK(refusal("#ifdef A\n # elifdef B\n#endif") == "12: found #elifdef, which not all compilers know");
  for (const char* word : {"elifndef", "embed", "assert", "defines"})
    CHECK(refusal("a\n#" + std::string(word) + " x").starts_with("3: found #"));
  for (const char* word : {"if", "ifdef", "ifndef", "elif", "else", "endif", "define", "undef", "include",
                           "include_next", "import", "pragma", "error", "warning", "line", "ident", "12", ""})
    CHECK(refusal("a\n#" + std::string(word) + "\nelifdef x") == "");
  CHECK(refusal("#define A(x) # x # elifdef\nb # elifdef") == "");
  CHECK(refusal("a$b").starts_with("0: found $"));
  CHECK(refusal("a\rb").starts_with("1: found a carriage return"));
  CHECK(refusal("a\r\nb\r\r\nc\r") == "");
  CHECK(refusal("a\n\rb").starts_with("2: found a carriage return"));
  CHECK(refusal("// a\rb").starts_with("4: found a carriage return"));
  CHECK(refusal("// a\r\n\"b\rc\"").starts_with("8: found a carriage return"));
  CHECK(refusal("#define A b \\ \n c").starts_with("12: found a backslash, blanks"));
  CHECK(refusal("// b \\ \n c").starts_with("5: found a backslash, blanks"));
  CHECK(refusal("// b \\ \r\n c").starts_with("5: found a backslash, blanks"));
  CHECK(spelled("// b \\\r\n c\nd") == "\nd");
  CHECK(refusal("a \\\rb").starts_with("3: found a carriage return"));
  CHECK(refusal("// b \\\t\n  // c") == "");
  CHECK(refusal("// b \\ \n\n// b \\ \n// c") == "");
  CHECK(refusal("a \\ b") == "");
  CHECK(refusal("'a ?\?= b'").starts_with("3: found the trigraph"));
  CHECK(refusal("'a ?\?= b").starts_with("3: found the trigraph"));
  CHECK(refusal("1$ <<: >>=:").empty());
  CHECK(refusal("\"$\" /* $ */ // $") == "");
  CHECK(refusal("a /* b").starts_with("2: the comment does not end"));
}

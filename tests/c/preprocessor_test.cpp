// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Expanded text against the standard's examples and GCC's results; conditions, includes, refusals.
#include "usmp/c/preprocessor.hpp"

#include <doctest/doctest.h>

#include "parsed.hpp"

TEST_CASE("macros are expanded as the standard's examples say") {
  // C11 6.10.3.5, examples 3, 4, 5 and 7.
  CHECK(preprocessed(
            "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n"
            "#define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n#define q(x) x\n"
            "f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);\np() i[q()] = { q(1) };") ==
        "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ; f ( 2 * ( 2 + ( 3 , 4 "
        ") - "
        "0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ m ( 0 , 1 ) ; int i [ ] = { 1 } ;");
  CHECK(preprocessed(
            "#define str(s) # s\n#define xstr(s) str(s)\n#define INCFILE(n) vers ## n\n#define glue(a, b) a ## b\n"
            "#define xglue(a, b) glue(a, b)\n#define HIGHLOW \"hello\"\n#define LOW LOW \", world\"\n"
            "str(strncmp(\"abc\\0d\", \"abc\", '\\4') == 0) str(: @\\n)\nxstr(INCFILE(2).h) glue(HIGH, LOW); "
            "xglue(HIGH, LOW)") ==
        "\"strncmp(\\\"abc\\\\0d\\\", \\\"abc\\\", '\\\\4') == 0\" \": @\\n\" \"vers2.h\" \"hello\" ; \"hello\" \", "
        "world\"");
  CHECK(preprocessed("#define t(x,y,z) x ## y ## z\nint j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), "
                     "t(,,12), t(,,) };") == "int j [ ] = { 123 , 45 , 67 , 89 , 10 , 11 , 12 , } ;");
  CHECK(preprocessed("#define debug(...) fprintf(stderr, __VA_ARGS__)\n#define report(test, ...) ((test)?puts(#test): "
                     "printf(__VA_ARGS__))\n"
                     "debug(\"X = %d\\n\", x); report(x>y, \"x\", x);") ==
        "fprintf ( stderr , \"X = %d\\n\" , x ) ; ( ( x > y ) ? puts ( \"x>y\" ) : printf ( \"x\" , x ) ) ;");
  CHECK(preprocessed("#define log(f, ...) p(f, ## __VA_ARGS__)\n#define old(f, args...) p(f, args)\nlog(1) log(1, 2, "
                     "3) old(1, 2, 3)") == "p ( 1 ) p ( 1 , 2 , 3 ) p ( 1 , 2 , 3 )");
}

TEST_CASE("macros are expanded as GCC does") {
  CHECK(preprocessed("#define f(x) x\nf") == "f");
  CHECK(preprocessed("#define f(x) x\nf\n#define g\n+ f + f(1) f\n(2)") == "f + f + 1 2");
  CHECK(preprocessed("#define A B\n#define cat(x, y) x ## y\ncat(A, 1) cat(1, A)") == "A1 1A");
  CHECK(preprocessed("#define cat(x, y) x ## y\n#define A cat(A, )\nA") == "A");
  CHECK(preprocessed("#define f(x, ...) x ## __VA_ARGS__\nf(a, b)") == "ab");
  CHECK(preprocessed("#define f(x, ...) #__VA_ARGS__\nf(a)") == "\"\"");
  CHECK(preprocessed("#define f(a, ...) g(a, ## __VA_ARGS__)\nf(, 1) f(1,)") == "g ( , 1 ) g ( 1 , )");
  CHECK(preprocessed("#define f(...) g(a, ## __VA_ARGS__)\nf(1)") == "g ( a , 1 )");
  CHECK(preprocessed("#define A-1\n#define B (x)\nA B") == "- 1 ( x )");
}

TEST_CASE("a long list of numbers is several arguments of a macro, but in brackets") {
  std::string list;
  std::string tokens;
  for (int i = 0; i < 100; ++i) {
    list += std::to_string(i) + ", ";
    tokens += std::to_string(i) + " , ";
  }
  CHECK(preprocessed("#define first(x, ...) x\nfirst({" + list + "})") == "{ 0");
  CHECK(preprocessed("#define one(x) x\none(({" + list + "}))") == "( { " + tokens + "} )");
}

TEST_CASE("what the environment says of names and macros") {
  usmp::c::Environment environment;
  const auto shown = [&](std::string_view text) {
    usmp::c::Files files;
    return tokens_of(preprocess(files, files.add({"f.c", text}), environment));
  };
  const auto message = [&](const std::string& text) {
    try {
      return shown(text);
    } catch (const usmp::c::SyntaxError& error) {
      return error.message;
    }
  };
  environment.is_undefined = [](std::string_view name) { return name == "NONE"; };
  environment.stays = [](std::string_view name) { return name == "STAYS"; };
  environment.calls_stay = [](const usmp::c::Macro& macro) { return macro.name == "CALL"; };
  CHECK(shown("#ifdef NONE\na\n#endif\n#ifdef OTHER\nb\n#endif") == "#if b #endif");
  CHECK(shown("#define STAYS 1\n#define CALL(x) 2\n#define GOES 3\nSTAYS CALL(1) GOES") == "STAYS CALL ( 1 ) 3");
  CHECK(shown("#include <a.h>\na") == "a");
  std::string list = "f({1, ";
  for (int i = 0; i < 50; ++i) list += "1234, ";
  environment.most_expanded = 100;
  CHECK(message("#define f(...)\n" + list + "})").starts_with("found a list of numbers"));
  environment.most_expanded = 1000;
  CHECK(shown("#define f(...)\n" + list + "})") == "");
}

TEST_CASE("pragmas and includes") {
  const auto unit = parsed(
      "#define H \"h.h\"\n#define a x\n#pragma\n#\nb\n#pragma once a\n#include H\n#include <a.h>\n#include abc>\n"
      "#include <a.h\n#include_next <h.h>\n#import \"h.h\"\n#define f(x) x\n#include <f(.h>",
      true, {{"h.h", "c"}}, false);
  CHECK(tokens_of(unit->unit) == "b c");
  REQUIRE(unit->unit.pragmas.size() == 2);
  CHECK(unit->unit.pragmas[0].tokens.empty());
  CHECK(unit->unit.pragmas[1].at == 1);
  REQUIRE(unit->unit.pragmas[1].tokens.size() == 2);
  CHECK(unit->unit.pragmas[1].tokens[1].text == "a");
  std::string names;
  for (const usmp::c::Include& one : unit->unit.includes) names += (one.is_quoted ? "\"" : "") + one.name + ' ';
  CHECK(names == "\"h.h a.h   h.h \"h.h f(.h ");
}

TEST_CASE("include guards") {
  const auto guard = [](std::string_view text) {
    usmp::c::Files files;
    return std::string(include_guard(files.tokens(files.add({"f.c", text}))).value_or(""));
  };
  CHECK(guard("#ifndef H\n#define H\nvoid f() { if (a) b; }\n#endif") == "H");
  CHECK(guard("#if !defined H\n#define H\n#endif") == "H");
  CHECK(guard("#if !defined(H)\n#define H 1\n#if A\n#elif B\n#else\n#endif\n#endif") == "H");
  for (const char* text : {"",
                           "#",
                           "#ifndef",
                           "#ifndef H",
                           "#ifndef H\n#",
                           "#ifndef H\n#define",
                           "#if",
                           "#if !",
                           "#if !defined",
                           "#if !defined(",
                           "#if !defined(H)",
                           "#if !defined(H)\n#define",
                           "x ifndef H\n#define H\n#if A\n#endif",
                           "#ifdef H\n#define H\n#endif",
                           "#if +defined H\n#define H\n#endif",
                           "#if !sizeof H\n#define H\n#endif",
                           "#ifndef H # define H\n#endif",
                           "#ifndef H\nx define H\n#endif",
                           "#ifndef H\n#undef H\n#endif",
                           "#ifndef H\n#define G\n#endif",
                           "#ifndef H\n#define H\n#elif A\n#endif",
                           "#ifndef H\n#define H\n#else\n#endif",
                           "#ifndef H\n#define H\n#endif\nx"}) {
    CAPTURE(text);
    CHECK(guard(text) == "");
  }
}

TEST_CASE("conditions") {
  CHECK(preprocessed("#if 1\na\n#elif 1\nb\n#else\nc\n#endif\n#if 0\nd\n#elif 2 > 1\ne\n#else\nf\n#endif") == "a e");
  CHECK(preprocessed("#define A 3\n#if defined A && defined(B) || A == 3\na\n#endif\n#ifdef A\nb\n#endif\n#ifndef "
                     "A\nc\n#else\nd\n#endif") == "a b d");
  CHECK(preprocessed("#if 0\n#if 1\na\n#else\nb\n#endif\ndon't\n#else\nc\n#endif") == "c");
  CHECK(preprocessed("#if -1 > 0u\na\n#endif\n#if (1 ? 2u : 0 / 0) == 2\nb\n#endif") == "a b");
  CHECK(preprocessed("#if 1 / 0\na\n#endif") == "#if a #endif");
  CHECK(preprocessed("#if 2147483647 + 1 > 0\na\n#endif") == "a");
  CHECK(preprocessed("#if 0\n#ifndef A\n#else\na\n#endif\nb\n#endif") == "");
  CHECK(preprocessed("#if 1\n#include \"h.h\"\n#endif", true, {{"h.h", "a"}}) == "a");
  const auto is = [](const std::string& condition) {
    const std::string found = preprocessed(
        "#define A 1\n#define DEFINES defined(A) || 1\n#undef NONE\n#if " + condition + "\nyes\n#else\nno\n#endif",
        false);
    return found.starts_with("#if") ? "?" : found;
  };
  CHECK(is("1 && 2") == "yes");
  CHECK(is("UNKNOWN && 1") == "?");
  CHECK(is("defined A") == "yes");
  CHECK(is("defined(NONE)") == "no");
  CHECK(is("defined UNKNOWN") == "?");
  CHECK(is("NONE") == "no");
  CHECK(is("DEFINES") == "?");
  CHECK(is("(int)1") == "?");
  CHECK(is("1 +") == "?");
  CHECK(is("1 2") == "?");
  CHECK(is("1 ? 2 : UNKNOWN") == "?");  // -1 < 0 is not known: of UNKNOWN 1u it has no sign
  CHECK(is("(1 ? 2u : UNKNOWN) - 3 > 0") == "yes");
  CHECK(is("0 ? UNKNOWN : 2u") == "yes");
}

TEST_CASE("a group that depends on what somebody else may define stays, with all its parts") {
  CHECK(preprocessed("#ifdef P\na\n#else\nb\n#endif", false) == "#if a #else b #endif");
  CHECK(preprocessed("#if P > 1\na\n#elif 0\nb\n#elif 1\nc\n#else\nd\n#endif", false) == "#if a #else c #endif");
  CHECK(preprocessed("#if 0\na\n#elif P\nb\n#endif\n#if P && 0\nc\n#endif\n#if P || 1\nd\n#endif", false) ==
        "#if b #endif d");
  CHECK(preprocessed("#ifdef __cplusplus\na\n#endif", false) == "");
  SUBCASE("what it defines is not sure, unless all parts agree") {
    CHECK(preprocessed("#ifdef P\n#define A 1\n#endif\nA", false) == "#if #endif ?A");
    CHECK(preprocessed("#ifdef P\n#define A 1\n#else\n#define A 2\n#endif\nA", false) == "#if #else #endif ?A");
    CHECK(preprocessed("#ifdef P\n#define A 1\nA\n#else\n#define A 1\n#endif\nA", false) == "#if 1 #else #endif 1");
    CHECK(preprocessed("#define A 1\n#ifdef P\n#undef A\n#define A 1\n#endif\nA", false) == "#if #endif 1");
    CHECK(preprocessed("#define A 1\n#ifdef P\n#undef A\n#endif\nA\n#ifdef A\nb\n#endif", false) ==
          "#if #endif ?A #if b #endif");
    CHECK(preprocessed("#ifdef P\n#define A 1\n#elif defined(Q)\nA\n#endif", false) == "#if #elif A #endif");
    CHECK(preprocessed("#ifdef P\n#undef A\n#endif\n#ifdef A\nb\n#endif", false) == "#if #endif #if b #endif");
    for (const char* two :
         {"A x+y\n#else\n#define A x + y", "A(x...) x\n#else\n#define A(x) x", "A(x, y) x\n#else\n#define A(y, x) x"}) {
      CAPTURE(two);
      CHECK(preprocessed("#ifdef P\n#define " + std::string(two) + "\n#endif\nA", false) == "#if #else #endif ?A");
    }
    CHECK(preprocessed("#ifdef P\n#ifdef Q\n#define A 1\n#endif\n#endif\nA", false) == "#if #if #endif #endif ?A");
  }
  SUBCASE("a header's guard is its own") {
    const std::string header = "#ifndef H\n#define H\nint a;\n#endif\n";
    CHECK(preprocessed("#include \"h.h\"\n#include \"h.h\"\nb", false, {{"h.h", header}}) == "int a ; b");
    CHECK(preprocessed("#include \"h.h\"\nb", false, {{"h.h", header + "c"}}) == "#if int a ; #endif c b");
    const std::string ifdefs = "#ifndef H\n#define H\n#ifdef P\nint a;\n#endif\n#endif\n";
    CHECK(preprocessed("#include \"h.h\"\n#include \"h.h\"\nb", false, {{"h.h", ifdefs}}) == "#if int a ; #endif b");
    const std::string alternative = "#ifndef H\n#define H\nint a;\n#else\nint b;\n#endif\n";
    CHECK(preprocessed("#include \"h.h\"\n", false, {{"h.h", alternative}}) == "#if int a ; #else int b ; #endif");
    CHECK(preprocessed("#include <h.h>\n#include \"h.h\"", false, {{"h.h", "#pragma once\na"}}) == "a");
    CHECK(preprocessed("#include <h.h>\n#include \"h.h\"", false, {{"h.h", "#pragma pack\na"}}) == "a a");
  }
}

TEST_CASE("conditions that are known") {
  const auto known = [](std::string_view text) {
    const auto result = parsed(text, false, {}, false);
    std::string all;
    for (const usmp::c::Condition& one : result->unit.conditions)
      all += std::to_string(one.offset) + (one.holds ? "+ " : "- ");
    return all;
  };
  CHECK(known("#if 1\n#elif A\n#else\n#endif\n#ifdef __cplusplus\n#endif") == "0+ 6- 27- ");
  CHECK(known("#if A\n#elif 1\n#elif B\n#endif") == "6+ 14- ");
  CHECK(known("#define A 2\n#ifdef A\n#undef A\n#endif\n#if A\n#endif\n#if !B\n#endif") == "12+ 37- ");
}

TEST_CASE("gaps in what # makes a string of") {
  CHECK(preprocessed(
            "#define str(x) #x\n#define xstr(x) str(x)\n#define none\nxstr(a none b) xstr(a+none+b) xstr( none a)") ==
        "\"a b\" \"a++b\" \"a\"");
  const std::string xstr = "#define str(x) #x\n#define xstr(x) str(x)\n#define none\n";
  CHECK(preprocessed(xstr + "xstr(a none+b)") == "\"a +b\"");
  CHECK(preprocessed(xstr + "#define f(x) a x+b\nxstr(f())") == "\"a +b\"");
  CHECK(preprocessed(xstr + "#define f(x) a+x\nxstr(f(1))") == "\"a+1\"");
  CHECK(preprocessed(xstr + "#define f(x) a x\nxstr(f()+b)") == "\"a +b\"");
  CHECK(preprocessed(xstr + "#define f(x, ...) g(x, ## __VA_ARGS__)\nxstr(f(1))") == "\"g(1)\"");
  CHECK(preprocessed(xstr + "str(don't \"\n)") == "\"don't \"\"");
}

TEST_CASE("places of tokens, includes, and what is left out are known") {
  const auto unit =
      parsed("#define A(x) (x + 1)\n#include <none.h>\nint b = A(c);\n#if 0\nint d;\n#endif\n", true, {}, true);
  const auto& tokens = unit->unit.tokens;
  REQUIRE(tokens.size() == 10);  // int b = ( c + 1 ) ; end
  CHECK(tokens[4].text == "c");
  CHECK(unit->text->substr(tokens[4].offset, 1) == "c");
  CHECK(tokens[4].expansion == 0);
  CHECK(tokens[6].text == "1");
  REQUIRE(tokens[6].expansion != 0);
  const auto& expansion = unit->unit.expansions[tokens[6].expansion];
  CHECK(expansion.macro->name == "A");
  CHECK(unit->text->substr(expansion.offset, 4) == "A(c)");
  REQUIRE(unit->unit.includes.size() == 1);
  CHECK(unit->unit.includes[0].name == "none.h");
  CHECK_FALSE(unit->unit.includes[0].found);
  REQUIRE(unit->unit.left_out.size() == 1);
  CHECK(unit->text->substr(unit->unit.left_out[0].begin, unit->unit.left_out[0].end - unit->unit.left_out[0].begin) ==
        "int d;\n");
  CHECK(parsed("#if 0\n#endif")->unit.left_out.empty());
}

TEST_CASE("what the preprocessor refuses") {
  CHECK(refused("#if 1\na").starts_with("0: the conditional group does not end"));
  CHECK(refused("#if 0\na").starts_with("0: the conditional group does not end"));
  CHECK(refused("a\n#endif").starts_with("2: found #endif without #if"));
  CHECK(refused("#if 1\n#else\n#else\n#endif").find("behind #else") != std::string::npos);
  CHECK(refused("#if 1\n#include \"h.h\"\n", true, {{"h.h", "#endif"}}).find("#endif without #if") !=
        std::string::npos);
  CHECK(refused("#ifdef 1\n#endif").find("expected a name behind it") != std::string::npos);
  for (const char* condition : {"", "(", "(1)", "(A", "(A B)"})
    CHECK(refused("#if defined" + std::string(condition) + "\n#endif").find("expected a name behind") !=
          std::string::npos);
  CHECK(refused("#if P\n#else\n#elif 1\n#endif", false).find("behind #else") != std::string::npos);
  CHECK(refused("#undef A B").find("expected one name") != std::string::npos);
  CHECK(refused("#undef 1").find("expected one name") != std::string::npos);
  CHECK(refused("#define").find("expected a name") != std::string::npos);
  CHECK(refused("#define 1").find("expected a name") != std::string::npos);
  for (const char* list : {"(", "(x", "(x,", "(x x", "(1) x", "(x;y) y", "(..., x) x"})
    CHECK(refused("#define f" + std::string(list) + "\n").find("expected a list of parameters") != std::string::npos);
  CHECK(refused("#define f(a, b) a b\nf(1)").find("found 1 arguments of the macro f, expected 2") != std::string::npos);
  CHECK(refused("#define f(x) x\nf(1").find("do not end") != std::string::npos);
  CHECK(refused("#define f(x) x\nf(1\n#define g\n)").find("do not end, or have directives inside") !=
        std::string::npos);
  CHECK(refused("#define f(x) x\nf\n#define g\n(1)").find("found directives between the macro f and its arguments") !=
        std::string::npos);
  CHECK(refused("#define f(x) x\nf(1, 2)").find("found 2 arguments of the macro f, expected 1") != std::string::npos);
  CHECK(refused("#define f(x) #y\n").find("expected a parameter behind it") != std::string::npos);
  CHECK(refused("#define f(x) x #").find("expected a parameter behind it") != std::string::npos);
  CHECK(refused("#define f ## x\n").find("expected it between two tokens") != std::string::npos);
  CHECK(refused("#define f x ##\n").find("expected it between two tokens") != std::string::npos);
  for (const char* body : {"(a, b) a ## b\nf(+, x)", "(a, b) a ## b\nf(/, /)", "(a, b) a ## b\nf(/, *)",
                           "(a) x, ## a\nf(1)", "(a, ...) x, ## a\nf(1)", "(a, ...) x, ## __VA_ARGS__ ## y\nf(1)"})
    CHECK(refused("#define f" + std::string(body)).find("expected what makes one token") != std::string::npos);
  CHECK(refused("#define f(...) x, ## __VA_ARGS__\nf()").find("in front of no arguments") != std::string::npos);
  for (const char* call : {"p(1)", "p(,)", "v(1)"})
    CHECK(refused("#define p() x\n#define v(a, b, ...) a\n" + std::string(call)).find(" arguments of the macro") !=
          std::string::npos);
  CHECK(refused("#pragma push_macro(\"A\")").find("pop_macro") != std::string::npos);
  CHECK(refused("#include \"h.h\"", true, {{"h.h", "#include \"h.h\"\n"}}).find("more than 200 deep") !=
        std::string::npos);
  std::map<std::string, std::string, std::less<>> chain;
  for (int i = 1; i < 200; ++i) chain["h" + std::to_string(i)] = "#include \"h" + std::to_string(i + 1) + "\"\n";
  CHECK(refused("#include \"h1\"", true, chain) == "");
  chain["h200"] = "";
  CHECK(refused("#include \"h1\"", true, chain).find("more than 200 deep") != std::string::npos);
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += "#include \"h.h\"\n";
  CHECK(refused(many, true, {{"h.h", ""}}) == "");
  CHECK(refused(many + "#include \"h.h\"", true, {{"h.h", ""}}).find("more than 10000 inclusions") !=
        std::string::npos);
  std::string bomb = "#define a0 x x\n";
  for (int i = 1; i < 40; ++i)
    bomb += "#define a" + std::to_string(i) + " a" + std::to_string(i - 1) + " a" + std::to_string(i - 1) + "\n";
  CHECK(refused(bomb + "a39").find("more than 4000000 tokens") != std::string::npos);
  std::string deep = "x";
  for (int i = 0; i < 100; ++i) deep = "f(" + deep + ")";
  CHECK(refused("#define f(x) x\n" + deep) == "");
  CHECK(refused("#define f(x) x\nf(" + deep + ")").find("more than 100 deep") != std::string::npos);
}

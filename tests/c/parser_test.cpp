// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Trees of declarations, expressions and statements, written out in brackets.
#include "usmp/c/parser.hpp"

#include <doctest/doctest.h>

#include "parsed.hpp"

using namespace usmp::c;

namespace {

std::string shown(const Tree& tree, TypeId id) {
  const Type& type = tree[id];
  const std::string front = std::string(type.is_const ? "const " : "") + (type.is_volatile ? "volatile " : "");
  switch (type.kind) {
    case TypeKind::pointer:
      return front + "*" + shown(tree, type.of);
    case TypeKind::array:
      return "[]" + shown(tree, type.of);
    case TypeKind::function: {
      std::string result = "fn(";
      for (const DeclId param : type.params)
        result += (result.back() == '(' ? "" : ", ") + shown(tree, tree[param].type);
      return result + ")" + shown(tree, type.of);
    }
    case TypeKind::record:
      return front + "record " + std::string(type.name);
    case TypeKind::unknown:
      return front + "?" + std::string(type.name);
    case TypeKind::enumeration:
      return front + "enum";
    default:
      return front + std::string(type.name);
  }
}

std::string shown(const Tree& tree, ExprId id) {
  const Expr& expr = tree[id];
  if (expr.kind == ExprKind::opaque) return "opaque";
  std::string text(expr.kind == ExprKind::call          ? "call"
                   : expr.kind == ExprKind::subscript   ? "[]"
                   : expr.kind == ExprKind::conditional ? "?:"
                   : expr.kind == ExprKind::braces      ? "{}"
                   : expr.kind == ExprKind::literal     ? "literal"
                   : expr.kind == ExprKind::numbers     ? "numbers"
                   : expr.kind == ExprKind::designated  ? "=" + std::string(expr.name)
                                                        : expr.text);
  if (expr.kind == ExprKind::postfix) text += "post";
  if (expr.kind == ExprKind::member) text += expr.name;
  if (expr.type.valid())
    text = (expr.kind == ExprKind::size_of ? "sizeof "
            : expr.kind == ExprKind::cast  ? "cast "
                                           : "literal ") +
           shown(tree, expr.type);
  const auto operands = tree.operands_of(id);
  if (operands.empty()) return text;
  std::string result = "(" + text;
  for (const ExprId operand : operands) result += " " + shown(tree, operand);
  return result + ")";
}

std::string shown(const Tree& tree, StmtId id) {
  const Stmt& stmt = tree[id];
  const auto list = [&](const std::vector<StmtId>& parts) {
    std::string result;
    for (const StmtId part : parts) result += (result.empty() ? "" : " ") + shown(tree, part);
    return result;
  };
  const std::string expr = stmt.expr.valid() ? shown(tree, stmt.expr) : "";
  switch (stmt.kind) {
    case StmtKind::opaque:
      return "opaque";
    case StmtKind::empty:
      return ";";
    case StmtKind::block:
      return "{" + list(stmt.body) + "}";
    case StmtKind::expression:
      return expr + ";";
    case StmtKind::declaration: {
      std::string result;
      for (const DeclId id2 : stmt.decls) {
        const Decl& decl = tree[id2];
        result += std::string(decl.name) + ": " + shown(tree, decl.type) +
                  (decl.init.valid() ? " = " + shown(tree, decl.init) : "") + ";";
        if (decl.body.valid()) result += shown(tree, decl.body);
      }
      return result;
    }
    case StmtKind::if_else:
      return "if " + expr + " " + list(stmt.body) + (stmt.other.empty() ? "" : " else " + list(stmt.other));
    case StmtKind::for_loop:
      return "for " + list(stmt.other) + expr + "; " + (stmt.step.valid() ? shown(tree, stmt.step) : "") + " " +
             list(stmt.body);
    case StmtKind::while_loop:
      return "while " + expr + " " + list(stmt.body);
    case StmtKind::do_loop:
      return "do " + list(stmt.body) + " while " + expr;
    case StmtKind::switch_of:
      return "switch " + expr + " " + list(stmt.body);
    case StmtKind::case_of:
      return "case " + expr + ": " + list(stmt.body);
    case StmtKind::default_of:
      return "default: " + list(stmt.body);
    case StmtKind::label:
      return std::string(stmt.text) + ": " + list(stmt.body);
    case StmtKind::jump_to:
      return "goto " + std::string(stmt.text) + ";";
    case StmtKind::break_out:
      return "break;";
    case StmtKind::continue_on:
      return "continue;";
    case StmtKind::return_to:
      return "return " + expr + ";";
    case StmtKind::linkage:
      return "linkage{" + list(stmt.body) + "}";
    case StmtKind::group:
      return "group(" + list(stmt.body) + ")";
  }
  return "";
}

std::string items(std::string_view text, bool known = true) {
  const auto result = parsed(text, known);
  std::string all;
  for (const StmtId item : result->tree.items) all += (all.empty() ? "" : " ") + shown(result->tree, item);
  return all;
}

// The last record: "tag 2" for two members, with "?" if not all of it is known.
std::string record(std::string_view text) {
  const auto result = parsed(text, false);
  const Record& last = result->tree.records.back();
  return std::string(last.tag) + " " + std::to_string(last.members.size()) + (last.is_known ? "" : "?");
}

// `TEXT;` in a function that has int a, b, c, d, *p and a function f.
std::string expression(const std::string& text) {
  const std::string all = items(
      "typedef int T; struct S { int m; }; int f(int); void g(int a, int b, int c, int d, int *p) { " + text + "; }");
  const std::size_t begin = all.find(")void;{") + 7;
  return all.substr(begin, all.size() - begin - 1);
}

}  // namespace

TEST_CASE("expressions bind as C says") {
  CHECK(expression("a + b * c - d") == "(- (+ a (* b c)) d);");
  CHECK(expression("a = b = c ? a : b ? c : d") == "(= a (= b (?: c a (?: b c d))));");
  CHECK(expression("a << b + c < d == a & b ^ c | d && a || b") ==
        "(|| (&& (| (^ (& (== (< (<< a (+ b c)) d) a) b) c) d) a) b);");
  CHECK(expression("-a[b]++") == "(- (++post ([] a b)));");
  CHECK(expression("*p++ = !~a") == "(= (* (++post p)) (! (~ a)));");
  CHECK(expression("&((int8_t*)p)[a + 1]") == "(& ([] (cast *int8_t p) (+ a 1)));");
  CHECK(expression("(T)a + (b)(c) * (unsigned char)-d") ==
        "(+ (cast int a) (* (call b c) (cast unsigned char (- d))));");
  CHECK(expression("f(a, (b, c), f(d))") == "(call f a (, b c) (call f d));");
  CHECK(expression("a, b = 1, c") == "(, (, a (= b 1)) c);");
  CHECK(expression("sizeof(int32_t[4]) + sizeof a + sizeof(a) + sizeof(T*)") ==
        "(+ (+ (+ sizeof []int32_t (sizeof a)) (sizeof a)) sizeof *int);");
  CHECK(expression("p->x.y[1](2)") == "(call ([] (.y (->x p)) 1) 2);");
  CHECK(expression("a ? b, c : d") == "(?: a (, b c) d);");
  CHECK(expression("f((struct S){.m = a}.m)") == "(call f (.m (literal record S ({} (=m a)))));");
  CHECK(expression("a = \"x\" \"y\"[0]") == "(= a ([] \"x\" 0));");
  CHECK(expression("f(\"x\" PRIu32 \"y\", a)") == "(call f \"x\" a);");
  CHECK(expression("f(\"x\" b)").find("opaque") != std::string::npos);
  CHECK(expression("(U*)p") == "(cast *?U p);");
  CHECK(expression("f(&(U){a, 3}, b)") == "(call f (& (literal ?U ({} a 3))) b);");
  CHECK(expression("(U)a") == "(cast ?U a);");
  CHECK(expression("(p)(a)") == "(call p a);");
  CHECK(expression("a = (U)5") == "(= a (cast ?U 5));");
  CHECK(expression("(U)\"x\", (U)'x'") == "(, (cast ?U \"x\") (cast ?U 'x'));");
  CHECK(expression("(V * b) + 1") == "(+ (* V b) 1);");
  CHECK(expression("f(\"x\" SCNu32, a)") == "(call f \"x\" a);");
  CHECK(expression("(struct S){}") == "(literal record S {});");
  CHECK(expression("sizeof (int){1} + sizeof(int)") == "(+ (sizeof (literal int ({} 1))) sizeof int);");
  CHECK(expression("a = __extension__ b") == "(= a b);");
}

TEST_CASE("expressions have their tokens") {
  const auto one = parsed("int x[] = {[1] = -a * (T)b + (c)[2], .m = d = f(1)++, e ? (struct S){g, 1} : 2};");
  std::string all;
  for (const Expr& expr : one->tree.exprs) {
    for (std::uint32_t i = expr.tokens.begin; i < expr.tokens.end; ++i) all += one->unit.tokens[i].text;
    all += ' ';
  }
  CHECK(all ==
        "1 a -a b (T)b -a*(T)b (c) 2 (c)[2] -a*(T)b+(c)[2] [1]=-a*(T)b+(c)[2] d f 1 f(1) f(1)++ d=f(1)++ .m=d=f(1)++ e "
        "g 1 "
        "{g,1} (structS){g,1} 2 e?(structS){g,1}:2 {[1]=-a*(T)b+(c)[2],.m=d=f(1)++,e?(structS){g,1}:2} ");
  const auto loop = parsed("void f(void) { for (a b) { } }");
  REQUIRE(loop->tree.exprs.back().kind == ExprKind::opaque);
  CHECK(loop->tree.exprs.back().tokens == TokenRange{8, 10});
}

TEST_CASE("what is no expression of the grammar makes its statement opaque") {
  for (const char* text : {"a b c d",
                           "a +",
                           "f(a,)",
                           "({ a; })",
                           "a = {1}",
                           "__builtin_va_arg(p, int)",
                           "(U)(a)",
                           "static_cast<int>(a)",
                           "a ? b",
                           "a[b",
                           "_Generic(a, int: 1)",
                           "sizeof",
                           "a..b",
                           "T + 1",
                           ".m = 1",
                           "a = .m",
                           "f(.m = 1)",
                           "(const W int)a",
                           "(int 5)a",
                           "(a)5",
                           "sizeof(int 5)",
                           "a = / b"}) {
    CAPTURE(text);
    if (std::string_view(text) == "(U)(a)") {
      CHECK(expression(text) == "(call U a);");  // a call, where U is no type
    } else if (std::string_view(text) == "a[b") {
      CHECK(refused("void g(void) { a[b; }") != "");
    } else {
      CHECK(expression(text).find("opaque") != std::string::npos);
    }
  }
}

TEST_CASE("declarations") {
  CHECK(items("int a, *b, c[2][3], (*d)[4], *e(void), (*f)(int, char*);") ==
        "a: int;b: *int;c: [][]int;d: *[]int;e: fn()*int;f: *fn(int, *char)int;");
  CHECK(items("static const int8_t t[2] = {1, -2}; unsigned long long int x; long double y;") ==
        "t: []const int8_t = ({} 1 (- 2)); x: unsigned long long; y: long double;");
  CHECK(items("typedef struct { int a; } S; S s; S *f(const S *p) { return 0; }") ==
        "S: record ; s: record ; f: fn(*const record )*record ;{return 0;}");
  CHECK(items("enum E { A, B = 4, C } e; int x[C];") == "e: enum; x: []int;");
  CHECK(items("extern \"C\" { int a; } extern \"C\" int b;") == "linkage{a: int;} b: int;");
  CHECK(items("extern struct { int a; } b;") == "b: record ;");
  CHECK(items("int x = {1 2}; int y;") == "x: int = opaque; y: int;");
  CHECK(items("a; int x = f({1}); int y;") == "opaque opaque y: int;");
  CHECK(items("int x[] = {.a[1].b = 2};") == "x: []int = ({} (=a (= 1 (=b 2))));");
  SUBCASE("words that make a type") {
    CHECK(items("volatile int a; _Atomic int b; volatile const int c; int * const d, * volatile e, * _Atomic f, "
                "*restrict g;") ==
          "a: volatile int; b: volatile int; c: const volatile int; d: const *int;e: volatile *int;f: volatile *int;g: "
          "*int;");
    CHECK(items("__const int a; _Bool b; double long c; short d; unsigned short int e; int long unsigned f;") ==
          "a: const int; b: bool; c: long double; d: short; e: unsigned short; f: unsigned long;");
    for (const char* words : {"long float", "double double", "float int", "long long double", "unsigned signed",
                              "short long", "short int int", "int int", "long long long", "char int", "char char"}) {
      CAPTURE(words);
      CHECK(items(std::string(words) + " a; int b;") == "opaque b: int;");
    }
    CHECK(items("enum E a; enum + b;") == "a: enum; opaque");
    const auto storages =
        parsed("static _Thread_local int a; __thread int b; extern __thread int c; int d(register int e);");
    std::string all;
    for (const Decl& decl : storages->tree.decls) all += std::to_string(static_cast<int>(decl.storage));
    CHECK(all == "24100");
    CHECK(items("int f(static int a);") == "opaque");
  }
  SUBCASE("declarators") {
    CHECK(items("int x asm(\"y\"); void f(void) __asm__(\"g\"); void g(void) __attribute__((x)) { }") ==
          "x: int; f: fn()void; g: fn()void;{}");
    CHECK(items("int f(void *p), g(int a[static 3], int b[const], int c[restrict 4]);") ==
          "f: fn(*void)int;g: fn([]int, []int, []int)int;");
    CHECK(items("typedef int T; int f(int (int), int (*)(char), int (a), int ([2]), int ((*g)), int (T));") ==
          "T: int; f: fn(fn(int)int, *fn(char)int, int, []int, *int, fn(int)int)int;");
    CHECK(items("int (__attribute__((x)) *p);") == "p: *int;");
  }
  CHECK(items("struct S { int a; }; int b;") == "b: int;");
  CHECK(items("int a, f(void) { }") == "opaque");
  CHECK(items("typedef int f(void) { }") == "opaque");
  CHECK(items("void f(void) { int g(void) { } int a; }") == "f: fn()void;{opaque a: int;}");
  CHECK(items("int x[] = {[2] = 1, {3}}; struct P p = {.a.b = 1, .c = {2}};") ==
        "x: []int = ({} (= 2 1) ({} 3)); p: record P = ({} (=a (=b 1)) (=c ({} 2)));");
  SUBCASE("with words that no file declares") {
    const auto one =
        parsed("IRAM_ATTR static int f(TVMValue* args, DLTensor) { return 0; } UNKNOWN t; A(16) int8_t x[4];");
    REQUIRE(one->tree.items.size() == 3);
    CHECK(shown(one->tree, one->tree.items[0]) == "f: fn(*?TVMValue, ?DLTensor)int;{return 0;}");
    CHECK(one->tree[one->tree[one->tree.items[0]].decls[0]].unknown.size() == 1);
    CHECK(shown(one->tree, one->tree.items[1]) == "t: ?UNKNOWN;");
    CHECK(shown(one->tree, one->tree.items[2]) == "x: []int8_t;");
    CHECK(one->tree[one->tree[one->tree.items[2]].decls[0]].unknown.size() == 1);
    CHECK(items("U a, b; U c = 1; U d[2]; U e(int); U f __attribute__((used)); U g asm(\"h\"); U V i; void h(U j);") ==
          "a: ?U;b: ?U; c: ?U = 1; d: []?U; e: fn(int)?U; f: ?U; g: ?U; i: ?V; h: fn(?U)void;");
    CHECK(items("A(16) U x; int8_t ALIGNED const y; int f(U[2]);") == "x: ?U; y: const int8_t; f: fn([]?U)int;");
    CHECK(items("int f(A(1) int x); int g(A(b)); int c;") == "opaque opaque c: int;");
    CHECK(items("W\n#ifdef P\nstatic\n#endif\nint a; A(1)\n#ifdef P\nstatic\n#endif\nint b;", false) ==
          "a: int; b: int;");
    CHECK(items("W\n#ifdef P\nint b;\n#endif\nint c;", false) == "opaque");
    CHECK(items("static\n#ifdef P\nint b;\n#endif\nint c;", false) == "opaque");
    CHECK(items("#ifdef P\nint b; static\n#else\nextern\n#endif\nint c;", false) ==
          "group({b: int; opaque} {opaque}) c: int;");
  }
  SUBCASE("with words that no file declares, around a name") {
    const auto unknown = [](const std::string& text, std::size_t item = 0) {
      const auto one = parsed(text);
      const Decl& decl = one->tree[one->tree[one->tree.items[item]].decls[0]];
      std::string result(decl.name);
      for (const TokenRange words : decl.unknown) result += " " + std::string(one->unit.tokens[words.begin].text);
      return result + (decl.body.valid() ? " {}" : decl.init.valid() ? " =" : "");
    };
    CHECK(unknown("const int8_t t[2] PROGMEM ALIGN(4) = {1, 2};") == "t PROGMEM ALIGN =");
    CHECK(unknown("struct { int a; } s PROGMEM = {1};") == "s PROGMEM =");
    CHECK(unknown("struct { int a; } s SECTION(\".x\") = {1};") == "s SECTION =");
    CHECK(unknown("typedef struct { int a; } PACKED s;") == "s PACKED");
    CHECK(unknown("int SECTION(\".x\") t[2];") == "t SECTION");
    CHECK(unknown("int SECTION(\".x\") t = 1;") == "t SECTION =");
    CHECK(unknown("void RAM(1) f(void) { }") == "f RAM {}");
    CHECK(unknown("void f(void) RAM { }") == "f RAM {}");
    CHECK(unknown("void f(void) ALIAS(g);") == "f ALIAS");
    CHECK(unknown("void f(void) ALIAS(g) __attribute__((used)) WEAK;") == "f ALIAS WEAK");
    CHECK(items("void f(void) { int a[1] B = {1}; }") == "f: fn()void;{opaque}");
  }
  SUBCASE("parameters that are declared behind the brackets") {
    CHECK(items("int f(a, n) char* a; int n; { return a[n]; } int b;").starts_with("f: fn()int;{"));
    CHECK(items("int f(a) char* b; int c;") == "opaque c: int;");
    CHECK(items("int f(a) RAM { a; { } }") == "f: fn(?a)int;{a; {}}");
    CHECK(items("int f(a) char* b; { }").starts_with("opaque"));
    CHECK(items("int f(a) char* a = 0; { }").starts_with("opaque"));
    CHECK(items("int f(a) char* b") == "opaque");
    CHECK(items("int f(a)\n#ifdef P\nchar* a; { }\n#else\n#endif\nint b;", false) == "opaque");
    const auto one = parsed("int f(a) char* a; { return 0; } int g(void);");
    REQUIRE(one->tree.items.size() == 2);
    const Type& type = one->tree[one->tree[one->tree[one->tree.items[0]].decls[0]].type];
    CHECK_FALSE(type.has_prototype);
    CHECK(type.params.empty());
  }
  SUBCASE("bodies that are passed over") {
    const auto one = parsed("int f(void) { if (a) } int b;", true, {}, false);
    const Tree tree = parse(one->unit.tokens, Bodies::passed_over);
    REQUIRE(tree.items.size() == 2);
    const Stmt& body = tree[tree[tree[tree.items[0]].decls[0]].body];
    CHECK(body.kind == StmtKind::opaque);
    CHECK(one->unit.tokens[body.tokens.end - 1].is("}"));
    CHECK(shown(tree, tree.items[1]) == "b: int;");
  }
  SUBCASE("specifiers and qualifiers") {
    const auto one = parsed(
        "static inline int f(void); extern int a; __extension__ int b; int* volatile c; void g(void) { A(16) int8_t x; "
        "register int y; }");
    const Tree& tree = one->tree;
    REQUIRE(tree.decls.size() == 7);
    CHECK(tree.decls[0].is_inline);
    CHECK(tree.decls[0].storage == Storage::internal);
    CHECK(tree.decls[1].storage == Storage::external);
    CHECK(tree.decls[2].name == "b");
    CHECK(tree[tree.decls[3].type].is_volatile);
    CHECK(tree.decls[3].is_at_file_scope);
    CHECK(tree.decls[5].name == "x");
    CHECK(tree.decls[5].unknown.size() == 1);
    CHECK_FALSE(tree.decls[5].is_at_file_scope);
    CHECK(tree.decls[6].storage == Storage::automatic);
  }
  SUBCASE("lists of numbers are elements of braces, and of nothing else") {
    std::string list;
    for (int i = 0; i < 100; ++i) list += std::to_string(i) + ", ";
    CHECK(items("int a[] = {" + list + "}; int b[] = {" + list + "7}; struct S s = {.m = {" + list + "7}};") ==
          "a: []int = ({} numbers); b: []int = ({} numbers 7); s: record S = ({} (=m ({} numbers 7)));");
    CHECK(items("enum {" + list + "}; int c;") == "opaque c: int;");
    // Whatever stands in an element behind the list.
    CHECK(items("int a[] = {" + list + "7 /**/, 8};") == "a: []int = ({} numbers 7 8);");
    CHECK(items("int a[] = {" + list + "- /**/ 7, " + list + "};").find(" (- 7) ") != std::string::npos);
    CHECK(items("int a[] = {" + list + "7 * 8, 9};") == "a: []int = ({} numbers (* 7 8) 9);");
  }
  SUBCASE("attributes") {
    const auto one = parsed(
        "static const int8_t __attribute__((section(\".r\"), aligned(16))) a[4] = {1}; int b __attribute__((used)); "
        "alignas(4) _Pragma(\"x\") int c;");
    REQUIRE(one->tree.items.size() == 3);
    CHECK(one->tree[one->tree[one->tree.items[2]].decls[0]].attributes.size() == 2);
    CHECK(shown(one->tree, one->tree.items[0]) == "a: []const int8_t = ({} 1);");
    CHECK(one->tree[one->tree[one->tree.items[0]].decls[0]].attributes.size() == 1);
    CHECK(one->tree[one->tree[one->tree.items[1]].decls[0]].attributes.size() == 1);
  }
  SUBCASE("a name hides a type's") {
    CHECK(items("typedef int T; void f(int T) { T * 2; { int8_t int8_t; } }").find("(* T 2);") != std::string::npos);
    CHECK(items("void f(void) { U * x; a * 2; }") == "f: fn()void;{x: *?U; (* a 2);}");
    CHECK(items("void f(void) { U x; W int y; U * const z; U *restrict a, b; U * c = d; U *e[2]; }") ==
          "f: fn()void;{x: ?U; y: int; z: const *?U; a: *?U;b: ?U; c: *?U = d; e: []*?U;}");
    CHECK(items("void f(void) { V * w + 1; V(1); A(1) int b; }") == "f: fn()void;{(+ (* V w) 1); (call V 1); b: int;}");
  }
  SUBCASE("records whose layout is known") {
    const auto one = parsed(
        "struct A { int8_t a[4]; struct { int b; }; }; struct B { int x : 3; }; struct C { int a; } "
        "__attribute__((packed)); struct D { FOO(1) }; struct E;");
    REQUIRE(one->tree.records.size() == 6);
    CHECK(one->tree.records[0].is_known);
    CHECK(one->tree.records[0].members.size() == 2);
    CHECK_FALSE(one->tree.records[2].is_known);
    CHECK_FALSE(one->tree.records[3].is_known);
    CHECK_FALSE(one->tree.records[4].is_known);
    CHECK_FALSE(one->tree.records[5].is_complete);
    CHECK(record("struct A { int a;; int b; };") == "A 2");
    CHECK(record("struct A { struct { int b; }; };") == " 1");
    CHECK(record("union A { enum { B }; int c : 1, : 2; };") == "A 2?");
    CHECK(record("struct A { U a; U b[2]; };") == "A 2");
    CHECK(record("struct A { U a : 1; };") == "A 1?");
    CHECK(record("struct A { W int a; };") == "A 1?");
    CHECK(record("struct A { ALIGN(4) int a; };") == "A 1?");
    CHECK(record("struct A { static int a; };") == "A 0?");
    CHECK(record("struct A; struct A { int a; }; struct A b;") == "A 1");
    CHECK(record("enum A { B }; struct A { int b; } c;") == "A 1");
    const auto two = parsed("#ifdef P\nstruct A { int a; };\n#else\nstruct A { int b; };\n#endif", false);
    REQUIRE(two->tree.records.size() == 2);
    CHECK(two->tree.records[0].members.size() == 1);
    const auto again = parsed("struct A; struct A { int a; }; struct A b; enum E { F }; enum E c;");
    CHECK(again->tree.records.size() == 1);
    CHECK(again->tree.decls.back().type == again->tree.decls[2].type);
    CHECK_FALSE(parsed("enum { A = 2147483647, B };")->tree.decls[1].value);
  }
}

TEST_CASE("statements") {
  CHECK(items("int f(int a) { for (int i = 0; i < a; ++i) { if (i) continue; else break; } while (a) a--; do { } while "
              "(0); return a; }") ==
        "f: fn(int)int;{for i: int = 0;(< i a); (++ i) {if i continue; else break;} while a (--post a); do {} while 0 "
        "return a;}");
  CHECK(items("int f(int a) { switch (a) { case 1: a = 2; break; default: goto out; } out: return a; }") ==
        "f: fn(int)int;{switch a {case 1: (= a 2); break; default: goto out;} out: return a;}");
  CHECK(items("void f(void) { for (;;) ; }") == "f: fn()void;{for ;  ;}");
  CHECK(items("_Static_assert(sizeof(int) == 4, \"\"); void f(void) { static_assert(1, \"\"); } int a;") ==
        "; f: fn()void;{;} a: int;");
  SUBCASE("opaque ones are as small as they can be") {
    CHECK(items("void f(int a) { a b c; a = 1; FOREACH(x) { y(); } a = 2; if (a b) a = 3; for (a b) { a = 4; } asm "
                "volatile(\"nop\"); }") ==
          "f: fn(int)void;{opaque (= a 1); opaque (= a 2); if opaque (= a 3); for opaque;  {(= a 4);} opaque}");
    CHECK(items("MACRO(x); int a; MACRO(y) { int b; } int c; namespace n { int d; } int e;") ==
          "opaque a: int; opaque c: int; opaque e: int;");
    CHECK(items("void f(int a) { a = ({ int b; b; }); a = 1; }") == "f: fn(int)void;{opaque (= a 1);}");
    for (const char* one : {"b c = {1} d;", "b c[;];", "b c {1}, d;", "b c {1}.d;", "b c {1}[d];",
                            "b c\n#ifdef P\n+ d\n#endif\n;", "FOREACH(x) { y(); }"}) {
      CAPTURE(one);
      CHECK(items("void f(int a) { " + std::string(one) + " a = 1; }", false) == "f: fn(int)void;{opaque (= a 1);}");
    }
    CHECK(items("void f(int a) { b c } int d;") == "f: fn(int)void;{opaque} d: int;");
    for (const char* one :
         {"a b + c = {1} d;", "a + b[;];", "a + {} , b;", "{ int b; }", "a +\n#ifdef P\nb\n#endif\n;"}) {
      CAPTURE(one);
      CHECK(items(std::string(one) + " int c;", false) == "opaque c: int;");
    }
    CHECK(items("extern \"C\" { a + } int b;") == "linkage{opaque} b: int;");
  }
  SUBCASE("what belongs to what has to be known: else the function is opaque") {
    CHECK(items("void f(int a) { else a = 1; } int b;") == "f: fn(int)void;opaque b: int;");
    CHECK(items("void f(int a) { case 1 ... 2: a = 1; } int b;") == "f: fn(int)void;opaque b: int;");
    CHECK(items("void f(int a) { case 1: } int b;") == "f: fn(int)void;opaque b: int;");
    CHECK(items("void f(int a) { if (a) } int b;") == "f: fn(int)void;opaque b: int;");
    CHECK(items("void f(int a) { DO(x) { a = 1; } while (a); } int b;") == "f: fn(int)void;opaque b: int;");
    CHECK(items("void f(int a) { if (a)\n#ifdef P\na = 1;\n#endif\na = 2; } int b;", false) ==
          "f: fn(int)void;opaque b: int;");
    CHECK(items("void f(int a) {\n#ifdef P\nif (a)\n#endif\na = 2; } int b;", false) ==
          "f: fn(int)void;opaque b: int;");
    CHECK(items("void f(int a) { if (a) a = 1;\n#ifdef P\nelse a = 2;\n#endif\n} int b;", false) ==
          "f: fn(int)void;opaque b: int;");
    CHECK(items("void f(int a) {\n#ifdef P\na =\n#endif\n2; } int b;", false) == "f: fn(int)void;opaque b: int;");
  }
}

TEST_CASE("conditional groups of which is not known what is taken") {
  CHECK(items("void f(int a) { a = 1;\n#ifdef P\na = 2;\n#else\na = 3;\n#endif\na = 4; }", false) ==
        "f: fn(int)void;{(= a 1); group({(= a 2);} {(= a 3);}) (= a 4);}");
  CHECK(items("#ifdef P\nint a;\n#elif Q\nint b;\n#endif\nint c;", false) == "group({a: int;} {b: int;}) c: int;");
  CHECK(items("void f(int a) { a = g(1,\n#ifdef P\n2\n#else\n3\n#endif\n); a = 4; }", false) ==
        "f: fn(int)void;{opaque (= a 4);}");
  CHECK(items("#ifdef ESP32\nIRAM_ATTR\n#endif\nint f(void) { return 1; }", false) == "f: fn()int;{return 1;}");
  CHECK(items("#ifdef P\nIRAM\n#else\nextern \"C\"\n#endif\nint f(void);", false) == "f: fn()int;");
  CHECK(items("#ifdef P\ntypename\n#endif\nint a;", false) == "group({opaque}) a: int;");
  CHECK(items("#ifdef P\na +\n#else\nb + c\n#endif\nint d;", false) == "group({opaque} {opaque}) d: int;");
  CHECK(items("void f(void) {\n#ifdef P\nstatic\n#endif\nint a; }", false) == "f: fn()void;{a: int;}");
  const auto one = parsed("#ifdef P\nint a;\n#endif\nint b;", false);
  CHECK(one->tree[one->tree[one->tree.items[0]].body[0]].tokens == TokenRange{1, 4});
  CHECK(one->tree.decls[0].is_conditional);
  CHECK_FALSE(one->tree.decls[1].is_conditional);
  CHECK(refused("#ifdef P\nvoid f() {\n#else\nvoid g() {\n#endif\n}", false)
            .find("is not closed in the part of a conditional group") != std::string::npos);
  CHECK(refused("void f() {\n#ifdef P\n}\n#endif", false)
            .find("found } without the bracket that it closes, in a conditional group") != std::string::npos);
}

TEST_CASE("words") {
  for (const char* word : {"if", "__inline__", "size_t"}) CHECK(is_word(word));
  CHECK_FALSE(is_word("x"));
}

TEST_CASE("brackets that do not match, and depth") {
  CHECK(refused("int f(void) {") == "12: the bracket { is not closed");
  CHECK(refused("int a];") == "5: found ] without the bracket that it closes");
  CHECK(refused("int a[(2];") == "8: found ] without the bracket that it closes");
  std::string deep = "int x = ";
  for (int i = 0; i < 100'000; ++i) deep += "(-";
  deep += "1" + std::string(100'000, ')') + ";";
  const auto expression = parsed(deep);
  CHECK(expression->tree.exprs.size() == 100'001);
  std::string blocks = "void f(void) ";
  for (int i = 0; i < 1000; ++i) blocks += "{";
  CHECK(items(blocks + std::string(1000, '}') + " int b;") == "f: fn()void;opaque b: int;");
  std::string stars = "int ";
  for (int i = 0; i < 1000; ++i) stars += "(*";
  CHECK(items(stars + "a" + std::string(1000, ')') + "; int b;") == "opaque b: int;");
}

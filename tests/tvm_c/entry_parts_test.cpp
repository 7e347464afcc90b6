// SPDX-License-Identifier: Apache-2.0
// Entries that somebody divided into functions, with pointers that these share.
#include <doctest/doctest.h>

#include <string>

#include "tvm_c/read_entry.hpp"
#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/syntax.hpp"

namespace usmp::tvm_c::entry_parts_test {
namespace {

std::string read(const std::string& front, const std::string& statements) {
  return test::read_entry("#include <stdio.h>\n" + test::two_operators + front, statements, "");
}

// Its calls are calls of a function.
bool stays(const std::string& front, const std::string& statements, const std::string& function) {
  return read(front, statements).find("call_extern(\"" + function + "\"") != std::string::npos;
}

bool is_refused(const std::string& front, const std::string& statements) {
  return read(front, statements).starts_with("lib1.c: line ");
}

// Allocates where the pointer is declared, or set.
std::string taken(const std::string& pointer) {
  return "  " + pointer +
         " = TVMBackendAllocWorkspace(1, 0, (uint64_t)16, 0, 8);\n  if (sid_1 == NULL) {\n    return -1;\n  }\n";
}

const std::string plain_statements = taken("void* sid_1") +
                                     "  if (tvmgen_m_dev(x_buffer_var, sid_1) != 0) return -1;\n"
                                     "  if (tvmgen_m_dev(sid_1, y_buffer_var) != 0) return -1;\n";
const std::string pointer = "static void* sid_1;\n";
const std::string calls = "  if (first(x_buffer_var) != 0) return -1;\n  if (second(y_buffer_var) != 0) return -1;\n";

// Of the second part: its last statements.
std::string parts(const std::string& end = "  return 0;\n") {
  return pointer + "static int32_t first(int8_t* from) {\n" + taken("sid_1") +
         "  if (tvmgen_m_dev(from, sid_1) != 0) return -2;\n  return 0;\n}\n" +
         "static int32_t second(int8_t* y_buffer_var) {\n  if (tvmgen_m_dev(sid_1, y_buffer_var) != 0) return -1;\n" +
         end + "}\n";
}

}  // namespace

TEST_CASE("pointers of the file that the entry alone sets and uses are its variables") {
  const std::string plain = read("", plain_statements);
  REQUIRE(plain.find("tvm_check_return") != std::string::npos);
  std::string statements = plain_statements;
  statements.erase(statements.find("void* "), 6);
  CHECK(read(pointer, statements) == plain);
  CHECK(read("static void* sid_1 = NULL;\n", statements) == plain);
  const std::string use = "  if (tvmgen_m_dev(x_buffer_var, sid_1) != 0) return -1;\n";
  CHECK(is_refused(pointer, use + statements));                                         // before it is set
  CHECK(is_refused(pointer, statements + taken("sid_1")));                              // twice
  CHECK(is_refused(pointer, "  if (device(1)) {\n" + taken("sid_1") + "  }\n" + use));  // perhaps
  CHECK(is_refused("void* sid_1;\n", statements));                                      // of other files, too
  CHECK(is_refused(pointer + "void* where(void) { return sid_1; }\n", statements));     // or functions
  CHECK(is_refused(pointer, "#ifdef A\n" + statements + "#endif\n" + use));
  const auto including = [&](const std::string& header) {
    return test::read_entry("#include <stdio.h>\n" + test::two_operators + pointer + "#include \"check.h\"\n",
                            statements, header);
  };
  CHECK(including("static inline int other(void) { return 3; }\n") == plain);
  CHECK(including("static inline void* where(void) { return sid_1; }\n").starts_with("lib1.c: line "));
  const auto with_header = [&](const std::string& header) {
    return test::read_entry("#include <stdio.h>\n#include \"check.h\"\n" + test::two_operators + pointer, statements,
                            header);
  };
  CHECK(with_header("#define SHOW() puts(sid_2)\n") == plain);
  CHECK(with_header("#define SHOW() puts(sid_1)\n").starts_with("lib1.c: line "));
}

TEST_CASE("functions that somebody made of the entry are read as its statements") {
  const std::string plain = read("", plain_statements);
  CHECK(read(parts(), calls) == plain);
  // In one another, and declared first.
  const std::string all = "static int32_t both(int8_t* from, int8_t* to);\n" + parts() +
                          "static int32_t both(int8_t* from, int8_t* to) {\n  if (first(from)) return -1;\n"
                          "  if (second(to)) { return -1; }\n  return 0;\n}\n";
  CHECK(read(all, "  if (both(x_buffer_var, y_buffer_var) != 0) return -1;\n") == plain);
  // What they declare does not mix with what the entry does.
  const std::string counted =
      "static void part(int8_t* p, int8_t* q) {\n  int32_t ret = tvmgen_m_op(p, q);\n  (void)ret;\n}\n";
  const std::string rest = "  int32_t ret = tvmgen_m_dev(y_buffer_var, x_buffer_var);\n  if (ret != 0) return ret;\n";
  CHECK(read(counted, "  part(x_buffer_var, y_buffer_var);\n" + rest) ==
        read("", "  int32_t more = tvmgen_m_op(x_buffer_var, y_buffer_var);\n  (void)more;\n" + rest));
}

TEST_CASE("a function that only sets the file's pointers to workspace is a part of the entry, too") {
  const std::string pooled = "#include <stdio.h>\n" + test::two_operators;
  const auto planned = [&](const std::string& front, const std::string& statements) {
    const std::string text = pooled + front +
                             "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* "
                             "sram_0_var) {\n" +
                             statements + "  return 0;\n}\n";
    const Source file{"lib1.c", text};
    const PlannedModule read = read_planned_module("m", {&file, 1}, {}, {}, Unread::kept);
    return tir::print(read.module, read.module.functions[read.module.entry]);
  };
  const std::string operators =
      "  if (tvmgen_m_dev(x_buffer_var, sid_1) != 0) return -1;\n  if (tvmgen_m_dev(sid_1, y_buffer_var) != 0) return "
      "-1;\n";
  const std::string plain = planned("", "  void* sid_1 = (&(sram_0_var[16]));\n" + operators);
  const std::string params = "(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* sram_0_var)";
  const std::string arguments = "(x_buffer_var, y_buffer_var, sram_0_var) != 0) return -1;\n";
  const auto setup = [&](const std::string& sets) {
    return pointer + "static int32_t setup" + params + " {\n" + sets + "  return 0;\n}\nstatic int32_t kernels" +
           params + " {\n" + operators + "  return 0;\n}\n";
  };
  const std::string both = "  if (setup" + arguments + "  if (kernels" + arguments;
  CHECK(planned(setup("  sid_1 = (&(sram_0_var[16]));\n"), both) == plain);
  CHECK(planned(setup("  sid_1 = &sram_0_var[16];\n"), both) == plain);
  CHECK(read(pointer + "static void setup(void) {\n" + taken("sid_1").substr(0, taken("sid_1").find("  if")) + "}\n",
             "  setup();\n  if (sid_1 == NULL) {\n    return -1;\n  }\n" + operators) == read("", plain_statements));
  // What others set is not the entry's.
  CHECK(is_refused(pointer + "void* place(void);\nstatic void setup(void) {\n  sid_1 = place();\n}\n",
                   "  setup();\n" + operators));
  CHECK_THROWS_AS((void)planned(setup("  sram_0_var = sram_0_var + 16;\n  sid_1 = (&(sram_0_var[0]));\n"), both),
                  Error);
  CHECK_THROWS_AS((void)planned(setup("  sid_1 = &sram_0_var;\n"), both), Error);
}

TEST_CASE("the address of an element is not that of the pointer") {
  const auto changes = [](const std::string& statement) {
    const std::vector<Token> tokens = tokens_of(Lexer(statement));
    const auto p = std::find_if(tokens.begin(), tokens.end(), [](const Token& token) { return token.is("p"); });
    return is_changed(tokens, static_cast<std::size_t>(p - tokens.begin()));
  };
  for (const char* statement : {"p = q;", "p += 3;", "(p)++;", "--p;", "f(&p);", "f(&(p));", "f(&(p) + 1);"}) {
    CHECK_MESSAGE(changes(statement), statement);
  }
  for (const char* statement : {"f(p);", "f(&p[3]);", "f((&(p[3])));", "f(&(p)[3]);", "p[3] = 2;", "q = p;"}) {
    CHECK_MESSAGE(!changes(statement), statement);
  }
}

TEST_CASE("functions that take and give back the entry's workspace are read as its statements") {
  const std::string free = "  if (TVMBackendFreeWorkspace(1, 0, sid_1) != 0) return -1;\n";
  const std::string uses = plain_statements.substr(plain_statements.find("  if (tvmgen_m_dev"));
  const std::string front =
      pointer + "static int32_t take(void) {\n" + taken("sid_1") +
      "  return 0;\n}\nstatic int32_t give_back(void* p) {\n  if (TVMBackendFreeWorkspace(1, 0, p) != 0) "
      "return -1;\n  return 0;\n}\n";
  CHECK(read(front, "  if (take() != 0) return -1;\n" + uses + "  if (give_back(sid_1) != 0) return -1;\n") ==
        read("", plain_statements + free));
}

TEST_CASE("functions of the entry stay functions where a call may be something else") {
  CHECK(stays(parts("  return device(2);\n"), calls, "second"));
  CHECK(stays(parts(), calls + calls, "second"));                                        // called twice
  CHECK(stays(parts(), "  first(x_buffer_var);\n  second(y_buffer_var);\n", "second"));  // leaves the part alone
  CHECK(stays(parts("  y_buffer_var += 1;\n  return 0;\n"), calls, "second"));
  CHECK(stays(parts() + "int32_t again(int8_t* p) { return second(p); }\n", calls, "second"));
  std::string shared = parts();
  shared.replace(shared.find("static int32_t second"), 6, "");
  CHECK(stays(shared, calls, "second"));  // other files may call it
  // A parameter of another type accesses other elements.
  const std::string words = "static void part(int32_t* p, int8_t* q) {\n  p[0] = 1;\n  tvmgen_m_op(q, q);\n}\n";
  CHECK(stays(words, "  part(x_buffer_var, y_buffer_var);\n", "part"));
}

namespace {

// An entry with a part, and how the two differ from the plainest.
struct OnePart {
  std::string front = {};  // of the file
  std::string type = "static int32_t";
  std::string params = "int8_t* p, void* q";
  std::string arguments = "x_buffer_var, sid_1";
  std::string body = {};
  std::string end = "  return 0;\n";
  std::string between = {};  // the part and the entry
  std::string before = {};   // the call, in the entry
  std::string after = {};
};

std::string read(const OnePart& one) {
  const std::string call =
      one.before + taken("void* sid_1") + "  if (part(" + one.arguments + ") != 0) return -1;\n" + one.after;
  return read(one.front + one.type + " part(" + one.params + ") {\n  if (tvmgen_m_dev(p, q) != 0) return -2;\n" +
                  one.body + one.end + "}\n" + one.between,
              call);
}

bool stays(const OnePart& one) { return read(one).find("call_extern(\"part\"") != std::string::npos; }

const std::string counted = "static int32_t n = 5;\n";
const std::string uses = "  device(n);\n";
const std::string declares = "  int32_t n = 3;\n";

}  // namespace

TEST_CASE("names of a part and of the entry do not become each other's") {
  REQUIRE_FALSE(stays({.front = counted, .body = uses}));
  // The entry's own.
  CHECK(stays({.front = counted, .body = uses, .before = declares}));
  CHECK(stays({.front = counted, .body = uses, .before = "#ifdef A\n" + declares + "#endif\n"}));
  CHECK(stays({.front = counted, .body = uses, .before = "  int32_t k = 2, n = 3;\n"}));
  CHECK(stays({.front = counted, .body = uses, .before = "  int32_t (*n)(int32_t) = device;\n"}));
  CHECK(stays({.front = counted, .body = uses, .before = "  { int32_t (n) = 2; }\n"}));
  CHECK(stays({.front = counted, .body = uses, .before = "  int32_t n __attribute__((unused)) = 2;\n"}));
  CHECK(stays({.front = counted, .body = uses, .before = "  int32_t __attribute__((unused)) n = 2;\n"}));
  CHECK(stays({.front = counted + "#define BEGIN int32_t n = 2\n", .body = uses, .before = "  BEGIN;\n"}));
  CHECK(stays({.front = counted + "#define COUNT() device(n)\n", .body = "  COUNT();\n", .before = declares}));
  CHECK(stays({.front = "static int32_t* x_buffer_var;\n",
               .arguments = "y_buffer_var, sid_1",
               .body = "  *x_buffer_var = 1;\n"}));
  // The part's own: another name where the entry has it, if all places of the part are known.
  CHECK_FALSE(stays({.body = declares + uses, .after = declares + uses}));
  CHECK(stays({.front = counted, .body = "  { int32_t n = 2; device(n); }\n" + uses, .after = uses}));
  CHECK(stays({.front = "#include \"check.h\"\n", .body = uses + "  { int32_t n = 2; device(n); }\n", .after = uses}));
  CHECK(stays({.body = "  int32_t k = 1, n = 2;\n" + uses, .after = declares + uses}));
  CHECK(stays({.front = counted, .body = "  int32_t k = 2 * n;\n  device(k);\n", .after = uses}));
  const std::string shows = "#define COUNT() device(n)\n";
  CHECK(stays({.front = shows, .body = declares + "  COUNT();\n", .after = declares + uses}));
  CHECK(stays({.front = counted + shows, .body = declares + uses, .after = "  COUNT();\n"}));
  CHECK(stays({.front = counted + "#define BEGIN int32_t n = 2\n", .body = "  BEGIN;\n", .after = uses}));
  CHECK(stays({.front = counted, .body = "  enum { n = 2 };\n" + uses, .after = uses}));
}

TEST_CASE("macros of a part are the same in the entry, and do not leave it") {
  REQUIRE_FALSE(stays({.front = "#define N 3\n", .body = "  device(N);\n"}));
  CHECK(stays({.front = "#define N 3\n", .body = "  device(N);\n", .between = "#undef N\n#define N 5\n"}));
  CHECK(stays({.front = "#define N 3\n#define M N\n", .body = "  device(M);\n", .between = "#undef N\n#define N 5\n"}));
  CHECK(stays({.front = "#define N 3\n", .body = "  device(N);\n", .between = "#include \"check.h\"\n"}));
  CHECK(stays({.front = "#define leave_if(c) if (c) return 0\n", .body = "  leave_if(device(2));\n"}));
  CHECK(stays(
      {.front = "#define RESULT return\n#define leave_if(c) if (c) RESULT 0\n", .body = "  leave_if(device(2));\n"}));
  CHECK(stays({.body = "  LEAVE_IF(device(2));\n"}));  // of a header that is not known
  CHECK(stays({.front = "#define SAY(x) puts(#x)\n", .body = "  SAY(p);\n"}));
  CHECK(stays({.front = "#define FIRST() (p[0])\n", .body = "  device(FIRST());\n"}));
}

TEST_CASE("arguments of a part are as good as its parameters") {
  const auto number = [](const std::string& type, const std::string& value) {
    return OnePart{
        .params = "int8_t* p, void* q, " + type + " n", .arguments = "x_buffer_var, sid_1, " + value, .body = uses};
  };
  REQUIRE_FALSE(stays(number("int32_t", "300")));
  CHECK_FALSE(stays(number("const int", "3")));
  CHECK(stays(number("int8_t", "300")));
  CHECK(stays(number("uint32_t", "1")));
  CHECK(stays(number("float", "3")));
  CHECK(stays(number("int32_t", "4294967295")));
  CHECK(stays(number("int32_t", "1u")));
  const auto words = [](const std::string& body) {
    return OnePart{
        .params = "int8_t* p, void* q, int32_t* w", .arguments = "x_buffer_var, sid_1, x_buffer_var", .body = body};
  };
  REQUIRE_FALSE(stays(words("  printf(\"%p\", w);\n")));
  CHECK(stays(words("  (w)[0] = 513;\n")));
  CHECK(stays(words("  *(w) = 513;\n")));
  CHECK(stays(words("  device((int32_t)*(w));\n")));
  CHECK(stays(words("  if ((w)[0] > 300) puts(\"more\");\n")));
  CHECK(stays({.body = "  (p)++;\n  device(*p);\n"}));
  CHECK(stays({.body = "  (p) = q;\n  device(*p);\n"}));
  // What else may change while the part runs, or is larger.
  const auto other = [](const std::string& front, const std::string& argument) {
    return OnePart{.front = front,
                   .params = "int8_t* p, void* q, int8_t* r",
                   .arguments = "x_buffer_var, sid_1, " + argument,
                   .body = "  printf(\"%p\", r);\n"};
  };
  REQUIRE_FALSE(stays(other("", "y_buffer_var")));
  CHECK(read(other("static int8_t* next;\n", "next"))
            .starts_with("lib1.c: line "));  // a call with what is not the entry's
  CHECK(read(other("static int8_t next[30];\n", "next")).starts_with("lib1.c: line "));
  CHECK(stays({.params = "volatile int8_t* p, void* q", .body = "  printf(\"%d\", p[0]);\n"}));
}

TEST_CASE("a part returns a status as the entry does, and is the same in all builds") {
  CHECK(stays({.type = "static int8_t"}));
  CHECK(stays({.type = "static __attribute__((section(\".itcm\"))) int32_t"}));
  CHECK(stays({.body = "  if (device(2)) return 4294967296;\n"}));
  CHECK(stays({.body = "  puts(__FUNCTION__);\n"}));
  const OnePart one = {.before = "#ifdef A\n  puts(\"A\");\n#endif\n"};
  CHECK_FALSE(stays(one));
  CHECK(read("static int32_t part(int8_t* p, int8_t* q) {\n  if (tvmgen_m_dev(p, q) != 0) return -2;\n  return 0;\n}\n",
             "#ifndef A\n  if (part(x_buffer_var, y_buffer_var) != 0) return -1;\n#endif\n")
            .find("call_extern(\"tvmgen_m_dev\"") == std::string::npos);
  // Pointers that stay the file's.
  for (const std::string pointers :
       {"void* sid_1;\n", "static void *sid_1, *more;\n", "static void* volatile sid_1;\n"}) {
    std::string text = parts();
    text.replace(0, pointer.size(), pointers);
    CHECK_MESSAGE(stays(text, calls, "second"), pointers);
  }
  CHECK(is_refused(
      pointer,
      taken("sid_1") + "  (sid_1) = x_buffer_var;\n  if (tvmgen_m_dev(x_buffer_var, sid_1) != 0) return -1;\n"));
}

TEST_CASE("workspace is given back by who takes it, if functions of the entry stay") {
  const std::string taken_here = taken("void* sid_1");
  const std::string uses = "  if (tvmgen_m_dev(x_buffer_var, sid_1) != 0) return -1;\n";
  const std::string free = "  if (TVMBackendFreeWorkspace(1, 0, sid_1) != 0) return -1;\n";
  // `goto`: it stays.
  const auto part = [&](const std::string& params, const std::string& statements) {
    return "static int32_t part(" + params + ") {\n  if (device(2)) goto end;\n" + statements +
           "end:\n  return 0;\n}\n";
  };
  const std::string call = "  if (part(sid_1, y_buffer_var) != 0) return -1;\n";
  const std::string passed = "  if (tvmgen_m_dev(p, y) != 0) return -1;\n";
  const auto gives_back = [&](const std::string& what) {
    return part("void* p, int8_t* y", passed + "  TVMBackendFreeWorkspace(1, 0, " + what + ");\n");
  };
  CHECK(stays(part("void* p, int8_t* y", passed), taken_here + uses + call + free, "part"));
  for (const char* what : {"p", "(void*)p", "(p)", "(int8_t*)(p)", "p + 0", "y ? p : p"}) {
    CAPTURE(what);
    CHECK(is_refused(gives_back(what), taken_here + uses + call));
  }
  // By a macro, too; what it is given may be taken by one.
  const std::string macros =
      "#define GIVE(p) TVMBackendFreeWorkspace(1, 0, (p))\n#define GIVE_ALL(p) do { GIVE(p); } while (0)\n"
      "#define TAKE(n) TVMBackendAllocWorkspace(1, 0, (uint64_t)(n), 0, 8)\n";
  for (const char* macro : {"GIVE", "GIVE_ALL"}) {
    const std::string given = part("void* p, int8_t* y", passed + "  " + macro + "(p);\n");
    CHECK(is_refused(macros + given, taken_here + uses + call));
    const std::string taken_by_it =
        "  void* q = TAKE(16);\n" + passed + "  if (tvmgen_m_dev(q, y) != 0) return -1;\n  " + macro + "(q);\n";
    CHECK(stays(macros + part("void* p, int8_t* y", taken_by_it), taken_here + uses + call + free, "part"));
  }
  const auto own = [&](const std::string& more) {
    return "static void* own;\nstatic int32_t part(void* p, int8_t* y) {\n  if (device(2)) goto end;\n"
           "  own = (int8_t*)TVMBackendAllocWorkspace(1, 0, (uint64_t)16, 0, 8);\n" +
           more + "  if (tvmgen_m_dev(p, own) != 0 || tvmgen_m_dev(own, y) != 0) return -1;\nend:\n  return 0;\n}\n";
  };
  const std::string other =
      "static int32_t other(void) {\n  if (device(2)) goto end;\n  TVMBackendFreeWorkspace(1, 0, own);\n" +
      std::string("end:\n  return 0;\n}\n");
  const std::string both = taken_here + uses + call + "  if (other() != 0) return -1;\n" + free;
  CHECK(read(own("") + other, both).find("other() != 0") != std::string::npos);
  CHECK(is_refused(own("  own = p;\n") + other, both));
  CHECK(is_refused(own("  void** q = &own; *q = p;\n") + other, both));
  // The entry does not give back what they have taken.
  CHECK(is_refused(own(""), taken_here + uses + call + "  if (TVMBackendFreeWorkspace(1, 0, own) != 0) return -1;\n"));
  CHECK(is_refused(own(""), taken_here + uses + call + "  TVMBackendFreeWorkspace(1, 0, x_buffer_var);\n"));
}

TEST_CASE("what only a function that stays gets has a type in the entry") {
  const std::string part =
      "static int32_t part(void* from, int8_t* y) {\n  if (device(2)) goto end;\n"
      "  if (tvmgen_m_dev(from, y) != 0) return -1;\nend:\n  return 0;\n}\n";
  const std::string text = "#include <stdio.h>\n" + test::two_operators + part +
                           "int32_t tvmgen_m___tvm_main__(void* x, int8_t* y_buffer_var) {\n"
                           "  if (part(x, y_buffer_var) != 0) return -1;\n  return 0;\n}\n";
  const Source file{"lib1.c", text};
  CHECK_THROWS_WITH(read_planned_module("m", {&file, 1}, {}, {}, Unread::kept, {}, {}),
                    doctest::Contains("lib1.c: line 23, column 37: found a parameter without type, and 'part'"));
}

TEST_CASE("of 65 functions none is read as a part of the entry") {
  const auto all = [](int count) {
    std::string front;
    std::string statements;
    for (int i = 0; i < count; ++i) {
      const std::string name = "part_" + std::to_string(i);
      front += "static void " + name + "(int8_t* p, int8_t* q) {\n  (void)tvmgen_m_op(p, q);\n}\n";
      statements += "  " + name + "(x_buffer_var, y_buffer_var);\n";
    }
    return read(front, statements).find("call_extern(\"part_") != std::string::npos;
  };
  CHECK_FALSE(all(64));
  CHECK(all(65));
}

}  // namespace usmp::tvm_c::entry_parts_test

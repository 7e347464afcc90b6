// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements that somebody added to the entry.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::added_test {
namespace {

const std::string op =
    "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 4; ++i) {\n    q[i] = p[i];\n  }\n"
    "  return 0;\n}\n";
const std::string call = "  if (tvmgen_m_op(x_buffer_var, sid_1) != 0 ) return -1;\n";
const std::string last = "  if (tvmgen_m_op(sid_1, y_buffer_var) != 0 ) return -1;\n";

struct Parts {
  std::string file;  // in front of the functions
  std::string front;
  std::string middle;
  std::string end;
};

std::string text_of(const Parts& parts) {
  return parts.file + op + "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n" +
         parts.front +
         "  void* sid_1 = TVMBackendAllocWorkspace(1, 0, (uint64_t)4, 0, 8);\n  if (sid_1 == NULL) {\n    return -1;\n "
         " }\n" +
         call + parts.middle + last + "  if (TVMBackendFreeWorkspace(1, 0, sid_1) != 0) {\n    return -1;\n  }\n" +
         parts.end + "  return 0;\n}\n";
}

// Its entry also gets a pool.
std::string pooled_text() {
  std::string text = text_of({"", "", "", ""});
  return text.replace(text.find("y_buffer_var) {"), 15, "y_buffer_var, uint8_t* sram_0_var) {");
}

// Without the warning that nothing defines tvmgen_m_run.
PlannedModule read(const std::string& text) {
  const Source file{"lib1.c", text};
  PlannedModule result = read_planned_module("m", {&file, 1}, {}, {}, Unread::kept);
  std::erase_if(result.warnings,
                [](const std::string& one) { return one.starts_with("no file of the model defines"); });
  return result;
}

// The texts that stay, and "call" for calls of the operator, in order.
std::vector<std::string> entry_of(const PlannedModule& read) {
  std::vector<std::string> result;
  tir::for_each_expr_in(read.module.functions[read.module.entry].body, [&](const tir::Expr& expr) {
    const auto named = tir::named_call(expr);
    if (!named) return;
    const std::string* text = tir::kept_text_of(expr);
    result.push_back(text != nullptr ? *text : *named->name == "tvmgen_m_op" ? "call" : *named->name);
  });
  return result;
}

std::vector<std::string> entry_of(const Parts& parts) { return entry_of(read(text_of(parts))); }

std::string error_of(const Parts& parts) {
  try {
    (void)read(text_of(parts));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

using Texts = std::vector<std::string>;

TEST_CASE("statements that use nothing of the model's stay at their place, text for text") {
  CHECK(entry_of({"", "", "", ""}) == Texts{"call", "call"});
  CHECK(entry_of({"", "  runs++;\n", "  /* now */ ticks [1] = CYCCNT - t0; // spent\n", "  log(\"%d\\n\", t0);\n"}) ==
        Texts{"  runs++;", "call", "  /* now */ ticks [1] = CYCCNT - t0; // spent", "call", "  log(\"%d\\n\", t0);"});
  // Neighbours are one text, comments and all between them included.
  const std::string several =
      "  // since\n  uint32_t t0 = CYCCNT;\n\n  assert(t0 > 0);  /* more\n  lines */\n  if (t0 == 3) { a(); } else "
      "b();\n"
      "  for (int i = 0; i < 3; ++i) { if (i) continue; c(i); }\n  do { d(t0); } while (--t0);\n  { int e = 1; f(e); "
      "}\n"
      "  int g[] = {1, 2};\n  switch (t0) { case 1: { h(); break; } default: ; }\n  k((struct s){1}, t0);\n";
  CHECK(entry_of({"", "", several, ""}) == Texts{"call", several.substr(0, several.size() - 1), "call"});
  // A group of the preprocessor, whatever its condition; and one in a block.
  for (const char* condition : {"ifdef PROFILE", "ifndef NDEBUG", "if LEVEL > 2", "if 1", "if 0"}) {
    const std::string group =
        "#" + std::string(condition) +
        "\n  printf(\"%d\", n);\n# if A\n  b();\n# endif\n#elif B\n#else /* no */\n  c(n);\n#endif";
    CHECK(entry_of({"", "", group + "\n", ""}) == Texts{"call", group, "call"});
    const std::string block = "  if (verbose) {\n" + group + "\n  }";
    CHECK(entry_of({"", "", "", block + "\n"}) == Texts{"call", "call", block});
  }
  // What both call is no name that they share.
  CHECK(entry_of({"", "", "  puts(n);\n  memset(sid_1, 0, 4);\n  memset(state, 0, size);\n", ""}) ==
        Texts{"call", "  puts(n);", "memset", "  memset(state, 0, size);", "call"});
  for (const std::string directive : {"#pragma GCC unroll 2", "#line 3"}) {
    const std::string block = "  if (n) {\n" + directive + "\n    log(n, m);\n  }";
    CHECK(entry_of({"", "", block + "\n", ""}) == Texts{"call", block, "call"});
  }
  for (const std::string group : {"#if 0\n  log(sid_1);\n#endif\n", "#line 3\n"}) {
    CHECK(entry_of({"", "", group, ""}) == Texts{"call", "call"});
  }
  CHECK(entry_of({"", "#if 1\n", "#endif\n", ""}) == Texts{"call", "call"});
  // A macro is called as it stands, since it may be no expression.
  CHECK(entry_of({"#define probe(i) do { p[i]++; } while (0)\n", "", "  probe(1);\n  PROBE(2);\n", ""}) ==
        Texts{"call", "  probe(1);\n  PROBE(2);", "call"});
  CHECK(entry_of({"", "", "  probe(1);\n", ""}) == Texts{"call", "probe", "call"});
  CHECK(entry_of({"", "", "  probe(-1, \"x\");;\n", ""}) == Texts{"call", "probe", "call"});
  for (const char* text : {"  (void)probe(1);", "  (probe(1));", "  probe(1)(2);", "  a(n); /* b */"}) {
    CHECK(entry_of({"", "", text + std::string("\n"), ""}) == Texts{"call", text, "call"});
  }
  CHECK(entry_of({"", "", "  a(n); /* b */", ""}) == Texts{"call", "  a(n);", "call"});
}

TEST_CASE("messages say what to do with variables that live longer than a call") {
  const std::string plain = text_of({});
  const auto with = [&](const std::string& file, const std::string& from, const std::string& to) {
    std::string text = file + plain;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const auto entry_error = [](const std::string& text) {
    try {
      (void)read(text);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string expected =
      ", expected a variable of the function: that of the file (line 2, column 1) may change between its calls; "
      "declare it in the function, and pass it on as a parameter";
  // The entry of which somebody made two functions.
  const std::string pointer =
      entry_error(with("\nstatic void* sid_1; void* where(void) { return sid_1; }\n", "  void* sid_1 =", "  sid_1 ="));
  CHECK(pointer.starts_with("lib1.c: line 10, column 3: found 'sid_1', which is not declared here" + expected + "\n"));
  CHECK(entry_error(with("", "  void* sid_1 =", "  static void* sid_1 ="))
            .find("found 'static', which is not declared here, expected variables that begin anew with each call") !=
        std::string::npos);
  const auto reason = [&](const std::string& file, const std::string& value) {
    return read(with(file, "q[i] = p[i]", "q[i] = " + value)).kept.at(0).reason;
  };
  for (const auto& [declaration, wanted] :
       {std::pair("static const int8_t t[2] = {1, 2}", "constants in front of the function"),
        std::pair("static int8_t t[2]", "variables that begin anew with each call"),
        std::pair("static const int8_t* t", "variables that begin anew with each call")}) {
    const std::string text = with("", "  for (", "  " + std::string(declaration) + ";\n  for (");
    CHECK(read(text).kept.at(0).reason ==
          "line 2, column 3: found 'static', which is not declared here, expected " + std::string(wanted));
  }
  CHECK(reason("\nstatic int32_t gain = 3;\n", "gain") ==
        "line 5, column 12: found 'gain', which is not declared here" + expected);
  CHECK(reason("\nstatic const int32_t gain = 3;\n", "gain") ==
        "line 5, column 12: found 'gain', which is not declared here");
  CHECK(reason("\nextern int32_t gain;\n", "gain") == "line 5, column 12: found 'gain', which is not declared here");
}

TEST_CASE("numbers that TVM names and does not use are gone, those of somebody's statements stay") {
  CHECK(entry_of({"", "    uint64_t v_ = (uint64_t)0;\n", "  int32_t v__1 = 3;\n", ""}) == Texts{"call", "call"});
  for (const char* name : {"  uint32_t t = 3;", "  volatile uint32_t t = 3;", "  uint32_t t = CYCCNT;"}) {
    const std::string first = name;
    CHECK(entry_of({"", first + "\n", "  log(t);\n", ""}) == Texts{first, "call", "  log(t);", "call"});
  }
  for (const char* name : {"  volatile uint32_t t = 3;", "  reg_t t = 3;", "  uint32_t t = (reg_t)3;"}) {
    CHECK(entry_of({"typedef volatile int reg_t;\n", "", name + std::string("\n"), ""}) == Texts{"call", name, "call"});
  }
}

TEST_CASE("a statement stays as a whole, whatever is in it") {
  for (const std::string part :
       {"  if (n) do log(n, m); while (m);", "  if (n) {\n    log(n,\n#ifdef A\n  m\n#else\n  n\n#endif\n);\n  }",
        "  EACH(k) { log(k); }", "  do log(n); while (n--);",
        "  if (n) log(n); else if (m) { log(m); } else return 3;"}) {
    CAPTURE(part);
    CHECK(entry_of({"", "", part + "\n", ""}) == Texts{"call", part, "call"});
  }
}

TEST_CASE("statements that leave the entry under a condition stay, too") {
  for (const std::string statement :
       {"  if (idle) return 0;", "  if (fault) { log(fault); return -fault; }", "  switch (mode) { case 1: return 3; }",
        "  while (n-- > 0) { if (stop) return (7); }", "#ifdef DRY\n  return 0;\n#endif", "  { return runs; }"}) {
    CHECK(entry_of({"", "", statement + "\n", ""}) == Texts{"call", statement, "call"});
    CHECK(entry_of({"", "", "", statement + "\n"}) == Texts{"call", "call", statement});
  }
  CHECK(entry_of({"#define check(a) if (!(a)) return -1\n", "", "  check(v);\n", ""}) ==
        Texts{"call", "  check(v);", "call"});
  CHECK(entry_of({"", "", "  if (x_buffer_var[0] == 3) return 0;\n", ""}) == Texts{"call", "return 0;", "call"});
}

TEST_CASE("what such statements need of their file stays") {
  const std::string head =
      "#include <stdio.h>\n#define NOW() clock_of(&board)\nstatic int board[2] = {1, 2};\nuint32_t a = 1, runs;\n"
      "static unsigned clock_of(const int* b) { return (unsigned)*b++; }\n";
  const PlannedModule planned = read(text_of({head + "static int unused[1] = {1};\n", "  runs = NOW();\n", "", ""}));
  CHECK(entry_of(planned) == Texts{"  runs = NOW();", "call", "call"});
  CHECK(planned.module.functions[planned.module.entry].imported_c == Texts{head});
  CHECK(planned.module.functions[*planned.module.find("tvmgen_m_op")].imported_c.empty());
  REQUIRE(planned.kept.size() == 1);
  CHECK(planned.kept[0].name == "clock_of");
}

TEST_CASE("statements that may have to do with the model are refused, with the reason") {
  const auto reason = [](const std::string& statement, const std::string& file = "") {
    const std::string error = error_of({file, "", statement + "\n", ""});
    const std::size_t at = error.find(": this one ");
    return at == std::string::npos ? error : error.substr(at + 11);
  };
  CHECK(error_of({"", "", "  int8_t t0 = first(x_buffer_var);\n", ""}) ==
        "lib1.c: line 13, column 15: found a call of 'first' in an expression, expected a function of math.h\n  "
        "move the addition out of 'tvmgen_m___tvm_main__': it calls operators as TVM does, if (f(…) != 0) return -1;, "
        "and between these calls stand only calls of other functions, and statements that use nothing of the model's "
        "or only pass on its tensors and access their elements: this one declares something");
  CHECK(reason("  if (fault) goto end;") == "has 'goto'");
  CHECK(reason("  end: fault = 0;") == "has a label");
  const std::string other_form =
      "calls 'tvmgen_m_op' in another form: write if (tvmgen_m_op(…) != 0) return -1; and put what else it does in "
      "front or behind";
  CHECK(reason("  status = tvmgen_m_op(a, b);") == other_form);
  CHECK(reason("  if (tvmgen_m_op(a, b) != OK) return -1;") == other_form);
  CHECK(reason("  status |= tvmgen_m_op(a, sid_1);") == other_form);
  for (const std::string name : {"TVMValue", "DLTensor", "usmp_n", "USMP_N", "tvmgen_n"}) {
    CHECK(reason("  n = sizeof(" + name + ");") == "mentions '" + name + "', which is the model's");
  }
  CHECK(entry_of({"static struct flash { int8_t a[1]; } flash = { .a = {5}, };\n", "", "  n = flash.a[0];\n", ""}) ==
        Texts{"call", "usmp_added_1", "call"});
  CHECK(reason("  if (v) return sid_1 == NULL;") == "has 'return'");
  CHECK(reason("  return;") == "has 'return'");
  CHECK(reason("#ifdef A\n  return sid_1 == NULL;\n#endif") == "has 'return'");
  CHECK(reason("#define N 3") == "has a directive");
  // What is no whole statement. None of the block stays then.
  for (const char* part :
       {"#ifdef A\n  if (n)\n#endif\n    log(n, m);", "#ifdef A\n  {\n#endif\n  log(n, m);\n#ifdef A\n  }\n#endif",
        "  if (n)\n#ifdef A\n    log(n, m);\n#else\n    log(m, n);\n#endif"}) {
    CHECK(reason(part).find("found ") != std::string::npos);
  }
  // A variable that both use is the model's, whichever is first.
  CHECK(entry_of({"", "  int32_t ret = f();\n", "", ""}) == Texts{"  int32_t ret = f();", "call", "call"});
  CHECK(entry_of({"", "  int32_t ret = 0;\n",
                  "  ret = tvmgen_m_op(x_buffer_var, sid_1);\n  if (ret != 0) return ret;\n", ""}) ==
        Texts{"call", "call", "call"});
  CHECK(reason("  ret = 3;\n  ret = tvmgen_m_op(x_buffer_var, sid_1);\n  if (ret != 0) return ret;") != "no error");
  CHECK(entry_of({"", "", "  if (n) a(n); else b(sid_1);\n", ""}) == Texts{"call", "usmp_added_1", "call"});
  // Behind the end nothing stays.
  std::string behind = text_of({"", "", "", ""});
  behind.insert(behind.size() - 2, "#ifdef A\n  runs++;\n#endif\n");
  CHECK_THROWS_AS((void)read(behind), Error);
  CHECK(error_of({"", "", "", "  return 0;\n  runs++;\n"}).find("one return, at the end") != std::string::npos);
  CHECK_THROWS_AS((void)read_module("m", std::vector<Source>{{"a.c", text_of({"", "", "  runs++;\n", ""})}}), Error);
}

// The entry as TIR, or why it is not read.
std::string printed(const std::string& text, Unread unread = Unread::kept) {
  const Source file{"lib1.c", text};
  try {
    const PlannedModule read = read_planned_module("m", {&file, 1}, {}, {}, unread);
    return tir::print(read.module, read.module.functions[read.module.entry]);
  } catch (const Error& error) {
    return error.what();
  }
}

TEST_CASE("checks of arguments stay, those of workspace are gone") {
  const auto entry = [](const std::string& front) { return printed(text_of({"", front, "", ""})); };
  const std::string plain = entry("");
  const std::string one = entry("  if (x_buffer_var == NULL) return -1;\n");
  CHECK(one.find("tvm_check_return(0, -1, int32(tir.isnullptr<bool>(x_buffer_var)))") != std::string::npos);
  for (const char* same : {"  if (!x_buffer_var) { return -1; }\n", "  if (NULL == x_buffer_var) return (-1);\n",
                           "  if ((x_buffer_var == NULL)) return -1;\n", "  if (x_buffer_var == 0) return -1;\n"}) {
    CHECK_MESSAGE(entry(same) == one, same);
  }
  CHECK(entry("  if (x_buffer_var == NULL || !y_buffer_var) {\n    return -2;\n  }\n") ==
        entry("  if (x_buffer_var == NULL) return -2;\n  if (!y_buffer_var) return -2;\n"));
  // Text stands once, with the variables that it has.
  const std::string both =
      entry("  if (x_buffer_var == NULL || !y_buffer_var) { static int n; log(++n); return -2; }\n");
  CHECK(both.find("int32(tir.isnullptr<bool>(x_buffer_var) or tir.isnullptr<bool>(y_buffer_var))") !=
        std::string::npos);
  CHECK(both.find("static int n") == both.rfind("static int n"));
  CHECK(entry("  if (!x_buffer_var || !y_buffer_var) { log(3); }\n").find("usmp_kept_failure") != std::string::npos);
  CHECK(entry("  if (x_buffer_var == NULL) return -2;\n").find("check_return(0, -2, ") != std::string::npos);
  CHECK(entry("  if (!x_buffer_var) return 3;\n").find("check_return(0, 3, ") != std::string::npos);
  for (const char* other :
       {"  if (x_buffer_var == NULL) { log(x_buffer_var); return -1; }\n",
        "  if (x_buffer_var == NULL && y_buffer_var == NULL) return -1;\n", "  if (x_buffer_var == NULL) goto end;\n",
        "  if (x_buffer_var != NULL) return -1;\n", "  if (x_buffer_var == NULL) return -1; else n = 1;\n"}) {
    CHECK_MESSAGE(entry(other).find("found ") != std::string::npos, other);
  }
  CHECK(entry("  if (*x_buffer_var) return -1;\n").find("if x_buffer_var[0] != 0i8 {") != std::string::npos);
  const auto kept = [&](const std::string& text) {
    return entry("  if (x_buffer_var == NULL) " + text + "\n").find("usmp_kept_failure") != std::string::npos;
  };
  CHECK(kept("{ log(\"no input\"); return -1; }"));
  CHECK(kept("return error;"));
  CHECK(kept("return 3000000000;"));
  CHECK(kept("return -2147483648;"));
  CHECK(entry("  if (!x_buffer_var) return 2147483647;\n").find("check_return(0, 2147483647, ") != std::string::npos);
  CHECK(entry("  if (!x_buffer_var) return -2147483647;\n").find("check_return(0, -2147483647, ") != std::string::npos);
  CHECK(kept("return 0;"));
  CHECK(kept("log(3);"));
  CHECK(entry("  if (!x_buffer_var || !y_buffer_var) { log(3); return -1; }\n").find("usmp_kept_failure") !=
        std::string::npos);
  // Workspace that is planned is there.
  const auto workspace = [&](const std::string& failure) {
    std::string text = text_of({"", "", "", ""});
    const std::string check = "{\n    return -1;\n  }\n";
    text.replace(text.find(check), check.size(), failure);
    return printed(text);
  };
  for (const char* failure : {"return kTvmErrorPlatformNoMemory;\n", "{ log(\"no memory\", n); return -3; }\n",
                              "{\n  if (verbose) { log(n); }\n  return error(3);\n}\n", "{ log(\"no memory\"); }\n",
                              "{ if (n) return -1; }\n", "{ x_buffer_var[0] = 1; return -1; }\n", "log(n);\n",
                              "{ return -1; log(n); }\n", "{\n#ifdef LOG\n  LOG(n);\n#endif\n  return -1;\n}\n"}) {
    CHECK_MESSAGE(workspace(failure) == plain, failure);
  }
  for (const char* failure :
       {"{ if (x_buffer_var[0]) goto end; return -1; }\n",
        "{ switch (x_buffer_var[0]) { case 1: n = 1; } return -1; }\n",
        "{ switch (x_buffer_var[0]) { default: n = 1; } return -1; }\n", "{ x_buffer_var[0] = 1; end: return -1; }\n",
        "{ goto end; }\n", "{ return -1; } else { n = 1; }\n", "{ end: return -1; }\n"}) {
    CHECK_MESSAGE(workspace(failure).find("found ") != std::string::npos, failure);
  }
}

TEST_CASE("what follows a call that fails is kept, if it may fail") {
  const auto with = [](const std::string& instead, const std::string& in_operator = "") {
    std::string text = text_of({"int helper(int8_t*);\n", "", "", ""});
    text.replace(text.find(call), call.size(), instead);
    text.replace(text.find("    q[i] = p[i];"), 0, in_operator);
    return printed(text);
  };
  const std::string plain = printed(text_of({"int helper(int8_t*);\n", "", "", ""}));
  const std::string op_call = "tvmgen_m_op(x_buffer_var, sid_1)";
  const std::string log = "{\n    log(\"failed\");\n    return -1;\n  }\n";
  CHECK(with("  if (" + op_call + " != 0) " + log) == plain);
  CHECK(with("  if (" + op_call + " != 0) return error;\n") == plain);
  CHECK(with("  int ret = " + op_call + ";\n  if (ret != 0) " + log) == plain);
  CHECK(with("  if (" + op_call + " != 0) return -2;\n").find("check_return(0, -2, ") != std::string::npos);
  CHECK(with("  if (" + op_call + " != 0) { log(\"failed\"); }\n") == plain);
  CHECK(with("  if (" + op_call + " != 0) goto end;\n").find("found ") != std::string::npos);
  // It calls something that may fail.
  const std::string fails = "    if (helper(p) != 0) return -1;\n";
  const std::string kept = "\"usmp_kept_failure ";
  CHECK(with("  if (" + op_call + " != 0) " + log, fails).find(kept) != std::string::npos);
  CHECK(with("  if (" + op_call + " != 0) " + log, "    helper(p);\n").find(kept) != std::string::npos);
  CHECK(with("  if (" + op_call + " != 0) return -2;\n", fails).find("check_return(0, -2, ") != std::string::npos);
  CHECK(with("  if (start_timer(x_buffer_var) != 0) return -2;\n  " + call).find("check_return(0, -2, ") !=
        std::string::npos);
  CHECK(with("  int ret = " + op_call + ";\n  if (ret != 0) " + log, fails).find(kept) != std::string::npos);
  // It asks for its arguments, by whatever name.
  for (
      const char* asks :
      {"    if (p == NULL) return -3;\n", "    if (!p) { return -3; }\n", "    if (0 == q) return (-3);\n",
       "    void* other = p;\n    if (other == NULL) return -3;\n",
       "    void* s = TVMBackendAllocWorkspace(1, 0, (uint64_t)4, 0, 8);\n    if (s == NULL || p == NULL) return -3;\n",
       "    void* s = TVMBackendAllocWorkspace(1, 0, (uint64_t)4, 0, 8);\n    { void* s = p; if (!s) return -3; }\n"}) {
    CHECK_MESSAGE(with("  if (" + op_call + " != 0) " + log, asks).find(kept) != std::string::npos, asks);
    CHECK_MESSAGE(with("  int ret = " + op_call + ";\n  if (ret != 0) " + log, asks).find(kept) != std::string::npos,
                  asks);
  }
  CHECK(with("  if (" + op_call + " != 0) " + log,
             "    void* s = TVMBackendAllocWorkspace(1, 0, (uint64_t)4, 0, 8);\n    if (s == NULL) { return -3; }\n"
             "    int8_t* t = (int8_t*)TVMBackendAllocWorkspace(1, 0, (uint64_t)4, 0, 8);\n    if (!t) return -3;\n"
             "    if (TVMBackendFreeWorkspace(1, 0, t) != 0) return -1;\n") == plain);
  // Its C stays.
  CHECK(with("  if (" + op_call + " != 0) " + log, "    goto next;\n").find(kept) != std::string::npos);
}

TEST_CASE("what somebody does where an operator fails stays as text, if it uses nothing of the model's") {
  const std::string helper = "int helper(int8_t*);\n#define FAIL(text) do { log(text); return -9; } while (0)\n";
  const auto with = [&](const std::string& instead, const std::string& front = "") {
    std::string text = text_of({helper, front, "", ""});
    text.replace(text.find(call), call.size(), instead);
    text.insert(text.find("    q[i] = p[i];"), "    if (helper(p) != 0) return -1;\n");
    return text;
  };
  const std::string op_call = "tvmgen_m_op(x_buffer_var, sid_1)";
  // The texts, and the variables that they use.
  const auto kept = [&](const std::string& instead, const std::string& front = "") {
    Texts result;
    const PlannedModule planned = read(with(instead, front));
    tir::for_each_expr_in(planned.module.functions[planned.module.entry].body, [&](const tir::Expr& expr) {
      const auto failure = tir::kept_failure_of(expr);
      if (!failure) return;
      result.emplace_back(failure->variable);
      result.emplace_back(failure->text);
    });
    return result;
  };
  const std::string condition = "  if (" + op_call + " != 0) ";
  CHECK(kept(condition + "{\n    // now\n    LOG(\"failed\", n); errors++;\n    return kError;\n  }\n") ==
        Texts{"", "// now\n    LOG(\"failed\", n); errors++;\n    return kError;"});
  CHECK(kept(condition + "{ TVMLogf(\"failed\"); }\n") == Texts{"", "TVMLogf(\"failed\");"});
  CHECK(kept(condition + "FAIL(\"op\");\n") == Texts{"", "FAIL(\"op\");"});
  CHECK(kept("  if (" + op_call + ") return -error;\n") == Texts{"", "return -error;"});
  CHECK(kept(condition + "{\n#ifdef LOG\n    LOG(3);\n#endif\n    return -1;\n  }\n") ==
        Texts{"", "#ifdef LOG\n    LOG(3);\n#endif\n    return -1;"});
  const Texts with_status = {"int32_t ret", "log(\"%d\", ret);\n    return ret;"};
  const std::string body = "{\n    log(\"%d\", ret);\n    return ret;\n  }\n";
  CHECK(kept("  int ret = " + op_call + ";\n  if (ret != 0) " + body) == with_status);
  CHECK(kept("  if ((ret = " + op_call + ") != 0) " + body, "  int ret = 0;\n") == with_status);
  CHECK(kept("  { int32_t ret = " + op_call + ";\n  if (ret) " + body + " }\n") == with_status);
  CHECK(kept("  int64_t ret = " + op_call + ";\n  if (ret) return 2 * ret;\n") ==
        Texts{"int64_t ret", "return 2 * ret;"});
  CHECK(kept("  int ret = " + op_call + ";\n  if (ret) { log(3); return -1; }\n") == Texts{"", "log(3); return -1;"});
  CHECK(kept("  int ret = " + op_call + ";\n  if (ret) { log(ret); }\n") == Texts{"int32_t ret", "log(ret);"});
  CHECK(kept("  int ret = " + op_call + ";\n  if (ret) {\n    log(3);\n#ifdef A\n    return ret;\n#endif\n  }\n") ==
        Texts{"int32_t ret", "log(3);\n#ifdef A\n    return ret;\n#endif"});
  CHECK(printed(with("  int ret = " + op_call + ";\n  if (ret) {\n#ifdef A\n    return ret;\n#endif\n  }\n" +
                     "  y_buffer_var[0] = ret;\n"))
            .find("expected a return in that statement") != std::string::npos);
  // 256 is 0 there.
  CHECK(kept("  int8_t ret = " + op_call + ";\n  if (ret) return -1;\n") == Texts{"int8_t ret", "return -1;"});
  const std::string loops = "for (int k = 0; k < 3; ++k) { if (k == n) steady(); else blink(k); } return -1;";
  CHECK(kept(condition + "{ " + loops + " }\n") == Texts{"", loops});
  CHECK(kept(condition + "{ while (busy()) { } return 3; }\n") == Texts{"", "while (busy()) { } return 3;"});
  CHECK(
      printed(with(condition + "{ log(2); } else { log(3); }\n")).find("found 'else', expected none behind a check") !=
      std::string::npos);
  // Under conditions of the model's.
  CHECK(entry_of({"", "", "", "  if (y_buffer_var[3] > 3) {\n    alarms++;\n  }\n"}) ==
        Texts{"call", "call", "alarms++;"});
  // What is text of its own elsewhere is none of the model's for that.
  CHECK(kept(condition + "{ errors++; return -1; }\n", "  errors += 2;\n") == Texts{"", "errors++; return -1;"});
  // With what it needs of the file.
  const std::string counter = "static int errors;\n";
  const PlannedModule planned = read(counter + with(condition + "{ errors++; return -1; }\n"));
  CHECK(planned.module.functions[planned.module.entry].imported_c.at(0).find(counter) != std::string::npos);
  // Only the first statement of a macro is under the condition, unless braces hold them.
  const std::string several = "#define NOTE(x) log(x); errors++\n";
  CHECK(printed(several + with(condition + "NOTE(3);\n")).find("found ") != std::string::npos);
  CHECK(printed(with(condition + "LOGE(3);\n")).find("found ") != std::string::npos);
  CHECK(printed(with(condition + "log(3);\n")).find("found ") == std::string::npos);
  const PlannedModule held = read(several + with(condition + "{ NOTE(3); }\n"));
  CHECK(held.module.functions[held.module.entry].imported_c.at(0).find(several) != std::string::npos);
  for (const std::string& other :
       {condition + "{ log(sid_1); return -1; }\n", condition + "{ log(3); goto end; }\n",
        condition + "{ log(n); } else { log(3); }\n", condition + "{ tvmgen_m_op(a, b); return -1; }\n",
        call + "  int32_t n = y_buffer_var[3];\n  if (n != 0) { return n; }\n",
        "  int ret = " + op_call + ";\n  int more = 0;\n  if (ret) { log(more); return ret; }\n",
        "  for (int32_t i = 0; i < 2; ++i) {\n  " + condition + "{ n++; break; }\n  }\n"}) {
    CHECK_MESSAGE(printed(with(other)).find("found ") != std::string::npos, other);
  }
}

TEST_CASE("why what stands under a condition may not stay is told") {
  std::string text = text_of({"", "", "", ""});
  text.replace(text.find(call), call.size(),
               "  if (tvmgen_m_op(x_buffer_var, sid_1) != 0) { log(sid_1); return -1; }\n");
  text.insert(text.find("    q[i] = p[i];"), "    if (helper(p) != 0) return -1;\n");
  CHECK(printed(text).ends_with(": what stands under this condition mentions 'sid_1', as the model does"));
}

TEST_CASE("a name of the C library may be a variable of the entry") {
  // Both its declaration and its uses are the model's then.
  const std::string helper = "int helper(int8_t*);\n";
  const std::string status = "  int32_t exit = tvmgen_m_op(x_buffer_var, sid_1);\n  if (exit != 0) return exit;\n";
  std::string text = text_of({helper, "", "", ""});
  text.replace(text.find(call), call.size(), status);
  CHECK(entry_of(read(text)) == Texts{"call", "call"});
  text.insert(text.find("  int32_t exit"), "  if (n) exit(3);\n  fputs(t, stdout);\n");
  CHECK(entry_of(read(text)) == Texts{"usmp_added_1", "  fputs(t, stdout);", "call", "call"});
  CHECK(entry_of({"", "", "  if (n) exit(3);\n  fputs(t, stdout);\n  memset(sid_1, 0, 4);\n", ""}) ==
        Texts{"call", "  if (n) exit(3);\n  fputs(t, stdout);", "memset", "call"});
}

TEST_CASE("the code of an operator that may fail is returned, by whatever check") {
  const std::string helper = "int helper(int8_t*);\n";
  const auto with = [&](const std::string& instead, const std::string& fails = "    if (helper(p) != 0) return -1;\n") {
    std::string text = text_of({helper, "", "", ""});
    text.replace(text.find(call), call.size(), instead);
    text.insert(text.find("    q[i] = p[i];"), fails);
    return printed(text);
  };
  const std::string op_call = "tvmgen_m_op(x_buffer_var, sid_1)";
  const std::string own = "tvm_check_return(0, \"usmp_own_code\", tir.call_extern(\"tvmgen_m_op\"";
  for (const std::string& check : {"  int ret = " + op_call + ";\n  if (ret) return ret;\n",
                                   "  int ret = " + op_call + ";\n  if (ret != 0) {\n    return (ret);\n  }\n",
                                   "  int ret = 0;\n  if ((ret = " + op_call + ") != 0) return ret;\n"}) {
    CHECK_MESSAGE(with(check).find(own) != std::string::npos, check);
    CHECK_MESSAGE(with(check, "    goto next;\n").find(own) != std::string::npos, check);
    CHECK_MESSAGE(with(check, "").find("usmp_own_code") == std::string::npos, check);
  }
  CHECK(with("  int ret = " + op_call + ";\n  if (ret) return -2;\n").find("check_return(0, -2, ") !=
        std::string::npos);
  for (const char* other : {"  if (ret) return ret; else n = 1;\n", "  if (ret) ret = 0;\n", "  if (ret) ret;\n"}) {
    CHECK_MESSAGE(with("  int ret = " + op_call + ";\n" + other).find("found ") != std::string::npos, other);
  }
  // What a narrow variable keeps of the code is another one.
  CHECK(with("  int8_t ret = " + op_call + ";\n  if (ret) return ret;\n")
            .find("\"usmp_kept_failure int8_t ret\\nreturn ret;\"") != std::string::npos);
  CHECK(with("  int16_t ret = 0;\n  ret = " + op_call + ";\n  if (ret) return ret;\n")
            .find("\"usmp_kept_failure int16_t ret\\nreturn ret;\"") != std::string::npos);
  for (const char* type : {"uint8_t", "bool", "uint32_t"}) {
    const std::string declared = "  " + std::string(type) + " ret";
    for (const std::string& narrow : {declared + " = " + op_call + ";\n  if (ret) return ret;\n",
                                      declared + ";\n  if ((ret = " + op_call + ") != 0) return ret;\n",
                                      declared + " = 0;\n  ret = " + op_call + ";\n  if (ret) return ret;\n"}) {
      CHECK_MESSAGE(with(narrow).find("found ") != std::string::npos, narrow);
    }
  }
  // At the end of a function.
  std::string text = text_of({helper, "", "", ""});
  text.insert(text.find("    q[i] = p[i];"), "    if (helper(p) != 0) return -5;\n");
  const std::string end = "  if (TVMBackendFreeWorkspace(1, 0, sid_1) != 0) {\n    return -1;\n  }\n  return 0;\n";
  const std::string before = last + end;
  text.replace(text.find(before), before.size(), "  return " + last.substr(6, last.find(" != 0") - 6) + ";\n");
  CHECK(printed(text).find(own + ", sid_1, y_buffer_var)") != std::string::npos);
}

TEST_CASE("workspace is not given back in planned C, however it was asked for") {
  const std::string check = "  if (TVMBackendFreeWorkspace(1, 0, sid_1) != 0) {\n    return -1;\n  }\n  return 0;\n";
  const std::string free_call = "TVMBackendFreeWorkspace(1, 0, sid_1)";
  const std::string plain = printed(text_of({"", "", "", ""}));
  for (const std::string& other :
       {"  " + free_call + ";\n  return 0;\n", "  (void)" + free_call + ";\n  return 0;\n",
        "  return " + free_call + ";\n", "  int ret = " + free_call + ";\n  if (ret != 0) return ret;\n  return 0;\n",
        "  if (" + free_call + ") {\n    log(\"lost\");\n    return -7;\n  }\n  return 0;\n"}) {
    std::string text = text_of({"", "", "", ""});
    text.replace(text.find(check), check.size(), other);
    CHECK_MESSAGE(printed(text) == plain, other);
  }
}

TEST_CASE("an operator that calls something with constants alone is read") {
  const auto with = [](const std::string& statement) {
    std::string text = text_of({"", "", "", ""});
    text.insert(text.find("    q[i] = p[i];"), statement);
    const Source file{"lib1.c", text};
    const PlannedModule read = read_planned_module("m", {&file, 1}, {}, {}, Unread::kept);
    if (!read.kept.empty()) return read.kept[0].reason;
    return tir::print(read.module, read.module.functions[*read.module.find("tvmgen_m_op")]);
  };
  CHECK(with("    tick(3, -1);\n").find("tir.call_extern(\"tick\", 3, -1)") != std::string::npos);
  CHECK(with("    printf(\"row\\n\");\n").find("tir.call_extern(\"printf\", ") != std::string::npos);
  for (const char* other :
       {"    PROFILE(3);\n", "    log(3);\n", "    trace(p[i]);\n", "    trace(p);\n", "    trace(3) + 1;\n",
        "    (int32_t)trace(3);\n", "    tvmgen_m_other(3);\n", "    TVMLogf(\"row\");\n"}) {
    CHECK_MESSAGE(with(other).find("found ") != std::string::npos, other);
  }
}

TEST_CASE("calls of what others define may pass strings beside tensors") {
  const std::string text = text_of(
      {"void dump(const char* name, const int8_t* data, int count);\n", "", "  dump(\"sid_1\", sid_1, 4);\n", ""});
  CHECK(printed(text).find("tir.call_extern(\"dump\", \"sid_1\", sid_1, 4)") != std::string::npos);
}

TEST_CASE("functions beyond the grammar are functions that have names") {
  for (const std::string front : {"void npu_set(MY(int) this)", "__int128 npu_set(int class)", "npu_set(int a)"}) {
    const std::string function = front + " { }\n";
    const PlannedModule unused = read(text_of({function, "", "", ""}));
    CHECK(unused.warnings.at(0).starts_with("lib1.c: function 'npu_set' (line 1, column 1) is not in planned C"));
  }
  CHECK(read(text_of({"inline __int128 npu_set(int class) { }\n", "", "", ""})).warnings.empty());
  CHECK(read(text_of({"PLACE(a) __int128 npu[2];\n", "", "", ""}))
            .warnings.at(0)
            .starts_with("lib1.c: a declaration (line 1, column 1) is not in planned C"));
}

TEST_CASE("what places functions and tables that are written anew is named once") {
  const auto lost = [](const std::string& file, const std::string& front, const std::string& table = "") {
    std::string text = file + table + "\n" + front + text_of({"", "", "", ""});
    if (!table.empty()) text.replace(text.find("= p[i]"), 6, "= table[i]");
    const std::vector<std::string> found = read(text).lost_placements;
    return found.size() == 1 ? found[0] : std::to_string(found.size());
  };
  CHECK(lost("", "") == "0");
  CHECK(lost("", "TVM_DLL ") == "0");
  CHECK(lost("", "IRAM_ATTR ") == "lib1.c: 'IRAM_ATTR' of 'tvmgen_m_op' (line 2, column 1) is not in planned C");
  CHECK(lost("", "static __attribute__((noinline)) ") == "0");
  // What may be a macro or the type; what is beyond the grammar.
  std::string implicit = "FAST" + text_of({"", "", "", ""}).substr(std::string("int32_t").size());
  CHECK(read(implicit).lost_placements ==
        std::vector<std::string>{"lib1.c: 'FAST' of 'tvmgen_m_op' (line 1, column 1) is not in planned C"});
  CHECK(lost("", "FAST __int128 ") == "lib1.c: 'FAST' of 'tvmgen_m_op' (line 2, column 1) is not in planned C");
  CHECK(lost("", "__attribute__((section(\".itcm\"))) ") ==
        "lib1.c: '__attribute__' of 'tvmgen_m_op' (line 2, column 1) is not in planned C");
  CHECK(lost("", "__attribute((__section__(\".itcm\"))) ") ==
        "lib1.c: '__attribute' of 'tvmgen_m_op' (line 2, column 1) is not in planned C");
  CHECK(lost("", "PLACE(\".itcm\") ") == "lib1.c: 'PLACE' of 'tvmgen_m_op' (line 2, column 1) is not in planned C");
  CHECK(lost("#define FAST\n", "FAST ") == "0");
  CHECK(lost("#define FAST __attribute__((section(\"f\")))\n", "FAST ").starts_with("lib1.c: 'FAST' of "));
  const std::string values = " = {1, 2, 3, 4};\n";
  CHECK(lost("", "", "static const int8_t table[4]" + values) == "0");
  for (const std::string table : {"static const int8_t PROGMEM table[4]", "static const PROGMEM int8_t table[4]",
                                  "static const int8_t table[4] PROGMEM"}) {
    CHECK_MESSAGE(lost("", "", table + values).starts_with("lib1.c: 'PROGMEM' of 'table' (line 1, "), table);
  }
  const std::string section = "static const int8_t __attribute__((section(\".rodata.tvm\"), aligned(16))) table[4]";
  CHECK(lost("", "", section + values) == "0");  // all of them are in it, as planned ones
  CHECK(lost("", "", "static const int8_t table[4] __attribute__((section(\".dtcm\")))" + values)
            .starts_with("lib1.c: '__attribute__' of 'table'"));
  CHECK(lost("", "IRAM_ATTR ", "static const PROGMEM int8_t table[4]" + values) == "2");
  // A pool's memory, which has the section that an attribute names; a macro's is not known.
  // In conditional groups in front of it. A macro with brackets may be something of its own.
  const std::string of_op = " of 'tvmgen_m_op' (line 3, column 1) is not in planned C";
  CHECK(lost("", "#ifdef ESP32\nIRAM_ATTR\n#endif\n") == "lib1.c: 'IRAM_ATTR'" + of_op);
  CHECK(lost("", "#ifdef ESP32\nIRAM_ATTR TVM_DLL\n#else\nTVM_DLL\n#endif\n") == "lib1.c: 'IRAM_ATTR'" + of_op);
  CHECK(lost("", "#ifdef A\n__attribute__((section(\".a\")))\n#endif\n#ifdef __cplusplus\nextern \"C\"\n#endif\n") ==
        "lib1.c: '__attribute__'" + of_op);
  CHECK(lost("", "#ifdef __cplusplus\nextern \"C\"\n#endif\n#ifdef A\n#define B 1\n#endif\n") == "0");
  CHECK(lost("", "#ifdef ZEPHYR\nREGISTER(m)\n#endif\n") == "0");
  CHECK(lost("", "#ifdef ZEPHYR\nint m;\n#endif\n") == "0");
  std::string pooled = pooled_text();
  pooled.insert(
      pooled.find("  void* sid_1"),
      "  void* sid_9_let = (&(sram_0_var[0]));\n  if (tvmgen_m_op(x_buffer_var, sid_9_let) != 0) return -1;\n");
  const std::string give = "; --pools can give its section";
  const auto of_pool = [&](const std::string& declaration) {
    const std::vector<std::string> found = read(declaration + ";\n" + pooled).lost_placements;
    return found.size() == 1 ? found[0] : std::to_string(found.size());
  };
  CHECK(of_pool("static uint8_t __attribute__((section(\".dtcm\"), aligned(16))) sram[64]") == "0");
  CHECK(of_pool("_Alignas(16) static uint8_t sram[64]") == "0");
  CHECK(of_pool("EXT_RAM static uint8_t sram[64]") ==
        "lib1.c: 'EXT_RAM' of 'sram' (line 1, column 1) is not in planned C" + give);
  CHECK(of_pool("static PLACE(\"dtcm\") uint8_t sram[64]") ==
        "lib1.c: 'PLACE' of 'sram' (line 1, column 8) is not in planned C" + give);
  CHECK(of_pool("static uint8_t sram[64] DTCM") ==
        "lib1.c: 'DTCM' of 'sram' (line 1, column 25) is not in planned C" + give);
  CHECK(read("EXT_RAM static uint8_t other[64];\n" + text_of({"", "", "", ""})).lost_placements.empty());
  const std::string unknown = " is not determined by the files, so planned C does not have it; --pools gives one";
  for (const char* word : {"aligned(N)", "__aligned__", "unused, aligned"}) {
    const std::string front = "static uint8_t __attribute__((";
    const std::size_t column = front.size() + (word[0] == 'u' ? 9 : 1);
    CHECK(of_pool(front + word + ")) sram[64]") ==
          "lib1.c: the alignment of 'sram' (line 1, column " + std::to_string(column) + ")" + unknown);
  }
  CHECK(of_pool("_Alignas(N) static uint8_t sram[64]") ==
        "lib1.c: the alignment of 'sram' (line 1, column 1)" + unknown);
  CHECK(read("static uint8_t __attribute__((aligned(N))) other[64];\n" + pooled).lost_placements.empty());
  const auto alignment = [&](const std::string& declaration) {
    CHECK(of_pool(declaration) == "0");
    return read(declaration + ";\n" + pooled).module.workspace_alignment;
  };
  CHECK(alignment("static uint8_t sram[64]") == 16);
  CHECK(alignment("static uint8_t sram[64] __attribute__((aligned(64)))") == 64);
  CHECK(alignment("__attribute__((__aligned__(32), __section__(\".dtcm\"))) static uint8_t sram[64]") == 32);
  CHECK(alignment("_Alignas(128) static uint8_t sram[64] __attribute__((aligned(32)))") == 128);
  CHECK(alignment("static alignas(2 * 32) uint8_t sram[64]") == 64);
  // What is not written anew keeps its words.
  std::string stays = "IRAM_ATTR " + text_of({"", "", "", ""});
  CHECK(read(stays).lost_placements.size() == 1);
  CHECK(read(stays.replace(stays.find("q[i] = p[i]"), 11, "goto next")).lost_placements.empty());
  CHECK(read("IRAM_ATTR int other(void) { return 0; }\n" + text_of({"", "", "", ""})).lost_placements.empty());
}

// What is kept of these files where planned C takes their place.
std::string in_place(const std::vector<Source>& files) {
  std::set<std::string> names;
  for (const Source& file : files) names.insert(file.name);
  try {
    const PlannedModule read = read_planned_module("m", files, {}, {}, Unread::kept, names);
    if (read.edited_run) return read.edited_run->what();
    const std::vector<std::string>& texts = read.module.functions[read.module.entry].imported_c;
    CHECK(texts.size() <= 1);
    return texts.empty() ? "" : texts[0];
  } catch (const Error& error) {
    return error.what();
  }
}

const std::string run_begin = "int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs) {";
const std::string run = run_begin + "return tvmgen_m___tvm_main__(inputs->x, inputs->y, ((uint8_t*)&sram));\n}\n";
const std::string front = "#include <tvmgen_m.h>\nstatic uint8_t sram[64];\n";

TEST_CASE("in place: what somebody added to TVM's files and others may use is kept with what it needs") {
  const std::string model = "static const int8_t table[4] = {1, 2, 3, 4};\n" + pooled_text();
  const auto kept = [&](const std::string& added) {
    const std::string entry = front + run + added;
    return in_place({{"lib0.c", entry}, {"lib1.c", model}});
  };
  CHECK(kept("").empty());
  CHECK(kept("static int unused[2];\nstatic void helper(void) { }\nextern int other;\nstruct s;\nstruct t { int a; };\n"
             "enum e { one };\nint prototype(int alias, const char* name);\n#define N 1\n")
            .empty());
  const std::string include = "#include <tvmgen_m.h>\n";
  for (const std::string added :
       {"uint32_t runs;\n", "volatile uint32_t runs = 1, others;\n", "my_type_t state;\n", "struct s state;\n",
        "struct s { int a[2]; };\nstruct s state = {.a = {1, 2}};\n", "struct { int a; } state;\n",
        "int (*callback)(int);\n", "DECLARE(state);\n", "static const char version[] __attribute__((used)) = \"1\";\n",
        "_Static_assert(sizeof(int) == 4, \"int\");\n", "#ifdef PROFILE\nuint32_t times[3];\n#endif\n",
        "#if LEVEL > 1\nstatic int level;\n#endif\n",
        "static int count;\n#define NEXT ++count\nint next(void) { return NEXT; }\n",
        "static int twice(int a) { return 2 * a; }\nint four(void) { return twice(2); }\n",
        "int again(void) { return tvmgen_m_run(0); } /* sram, table */\n",
        "int32_t tvmgen_m_get_c_metadata(void) { return 0; }\n", "int tvmgen_m_version(void) { return 3; }\n"}) {
    CHECK(kept(added) == include + added);
  }
  const std::string scales = "const float scales[2] = {1, 2};\n";
  CHECK(kept(scales) == "#include <stdint.h>\n\n" + scales + "\n");
  // What runs by itself, or is looked for by a linker, an alias and what is included.
  const std::string boot = "static void boot(void) { start(); }\n";
  for (const std::string& added :
       {"__attribute__((constructor)) " + boot,
        "static void boot(void) __attribute__((__constructor__(101)));\n" + boot,
        "#define INIT __attribute__((destructor))\nINIT " + boot, "__attribute__((interrupt)) " + boot,
        boot + "void irq(void) __attribute__((alias(\"boot\")));\n", std::string("#include \"extra.inc\"\n"),
        std::string("static const char tag[] __attribute__((section(\"tags\"))) = \"1\";\n"),
        std::string("inline int two(int a) { return 2 * a; }\nextern inline int two(int a);\n"),
        std::string("inline int two(int a) { return 2 * a; }\nint two(int a);\n"),
        std::string("extern __inline__ int two(int a) { return 2 * a; }\n"),
        std::string("extern inline int two(int a) { return 2 * a; }\n"),
        std::string("static const char tag[] __attribute__((section(TAGS))) = \"1\";\n"),
        std::string("#ifdef A\nstatic int two(int a)\n#else\nstatic int two(void)\n#endif\n{ return 2; }\n")}) {
    CHECK(kept(added) == include + added);
  }
  for (const std::string& added :
       {"__attribute__((noinline, section(\".iram1\"))) " + boot,
        "static void boot(void) __attribute__((section(\".iram1\")));\n" + boot,
        std::string("inline int two(int a) { return 2 * a; }\n"),
        std::string("static inline int two(int a) { return 2 * a; }\nextern int two(int a);\n"),
        std::string("static int two(int (*f)(reg_t)) { static int a __attribute__((used)); return 2 * a; }\n"),
        std::string("__attribute__((unused)) static int two(int (*f)(reg_t)) { return f(2); }\n"),
        std::string("static const char tag[] __attribute__((section(\".rodata.tags\"), aligned(4))) = \"1\";\n")}) {
    CHECK_MESSAGE(kept(added).empty(), added);
  }
  // Conditional attributes are gone with what they belong to.
  for (const auto& [attributes, stay] :
       {std::pair("#ifdef ESP32\nIRAM_ATTR\n#endif\n", ""),
        {"#if A\nIRAM_ATTR\n#else\nTVM_DLL\n#endif\n", ""},
        {"#ifdef ESP32\n#define N 2\n#endif\n", "#ifdef ESP32\n#define N 2\n#endif\n"},
        {"#ifdef A\nPLACE(a) B\n#else\nB\n#endif\n", ""},
        {"#ifdef ZEPHYR\nREGISTER(m)\n#endif\n", "#ifdef ZEPHYR\nREGISTER(m)\n#endif\n"}}) {
    const std::string entry = front + attributes + run + "int runs;\n";
    CHECK(in_place({{"lib0.c", entry}, {"lib1.c", model}}) == include + stay + "int runs;\n");
  }
  // Whatever its name, nothing of the model calls it.
  for (const std::string name : {"TVM_DLL int32_t tvmgen_m_conv2d(", "int32_t tvmgen_m_fused_add("}) {
    CHECK(kept(name + "const int8_t* p) { return p[0]; }\n") == include + name + "const int8_t* p) { return p[0]; }\n");
  }
  // What is written anew.
  for (const std::string name :
       {"struct tvmgen_m_inputs tvmgen_m_map_inputs(", "struct tvmgen_m_outputs tvmgen_m_map_outputs("}) {
    CHECK_MESSAGE(kept(name + "const int8_t* p) { return p + table[0]; }\n").empty(), name);
  }
  CHECK(kept("#ifdef __cplusplus\nextern \"C\" {\n#endif\n#ifdef __cplusplus\n}\n#endif\n;\nint runs;\n") ==
        include + "int runs;\n");
  // In the other file, and where only one is written anew.
  const std::string hidden = "#if LEVEL > 1\nint a = sizeof(sram);\n#endif\n";
  CHECK(in_place({{"lib0.c", front + run}, {"lib1.c", hidden + model}})
            .starts_with("lib1.c: line 2, column 16: found 'sram' in code that somebody added"));
  CHECK(kept("enum { size = sizeof(sram) };\nint two(void) { return 2; }\n")
            .starts_with("lib0.c: line 5, column 22: found 'sram'"));
  CHECK(kept("int a = 1, *b = sram;\n").starts_with("lib0.c: line 5, column 17: found 'sram'"));
  const std::string own = front + run_begin + " gpio_set(1); return 0; }\nint runs;\n";
  const std::vector<Source> files = {{"lib0.c", own}, {"lib1.c", model}};
  const PlannedModule one = read_planned_module("m", files, {}, {}, Unread::kept, {"lib1.c"});
  CHECK(!one.edited_run);
  CHECK(one.module.functions[one.module.entry].imported_c.empty());
  const std::string balanced =
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint runs = 1;\n#ifdef __cplusplus\n}\n#endif\n";
  CHECK(kept(balanced + ";\n") == include + balanced);
}

TEST_CASE("what planned C elsewhere lacks of the files is named") {
  const auto left_out = [](const std::string& added) {
    std::string result;
    const std::string entry = front + run + added;
    const std::string model = pooled_text();
    const std::vector<Source> files = {{"lib0.c", entry}, {"lib1.c", model}};
    for (const std::string& one : read_planned_module("m", files, {}, {}, Unread::kept).warnings) result += one + "\n";
    return result;
  };
  const std::string lacks = ") is not in planned C, since the model does not use it; --in-place keeps it\n";
  CHECK(
      left_out("static int helper(void) { return 1; }\nint prototype(int);\nextern int other;\n#define N 1\n").empty());
  // Another module, and what TVM says of one.
  CHECK(left_out("int32_t tvmgen_b_op(void) { return 0; }\nint32_t tvmgen_b___tvm_main__(void) { return 0; }\n"
                 "int32_t tvmgen_m_get_c_metadata(void) { return 0; }\n")
            .empty());
  CHECK(left_out("int version(void) { return 3; }\n") == "lib0.c: function 'version' (line 5, column 1" + lacks);
  // TVM's kernels define instructions; all other names may be somebody's.
  const std::string inlined = "__attribute__((always_inline)) uint32_t ";
  const std::string turned = "ror(uint32_t a, uint32_t by) { return (a >> by) | (a << (32U - by)); }\n";
  CHECK(left_out(inlined + "__" + turned).empty());
  CHECK(left_out("__inline__ " + inlined + "__" + turned).empty());
  CHECK(left_out(inlined + turned) == "lib0.c: function 'ror' (line 5, column 1" + lacks);
  CHECK(left_out("uint32_t __" + turned) == "lib0.c: function '__ror' (line 5, column 1" + lacks);
  CHECK(left_out("int times[3];\nTVM_DLL int32_t tvmgen_m_fused_old(int8_t* p) { return 0; }\n") ==
        "lib0.c: variable 'times' (line 5, column 1" + lacks +
            "lib0.c: function 'tvmgen_m_fused_old' (line 6, column 1" + lacks);
  // Variables of a type that is not known stay with statements of the entry, whether these name them or not.
  const std::string with_counter =
      "#include \"pulp.h\"\nvolatile perf_t *perf;\nint cycles;\n" + text_of({"", "", "  cycles = 3;\n", ""});
  REQUIRE(with_counter.find("  cycles = 3;\n") != std::string::npos);
  const Source counting{"lib1.c", with_counter};
  for (const std::string& one : read_planned_module("m", {&counting, 1}, {}, {}, Unread::kept).warnings) {
    CHECK_MESSAGE(one.find("a declaration") == std::string::npos, one);
  }
  // The firmware calls the entry itself, or finds it in a registry.
  const auto of_entry = [](const std::string& more) {
    const std::string text = text_of({"", "", "", ""}) + more;
    const Source file{"lib1.c", text};
    const std::vector<std::string> all = read_planned_module("m", {&file, 1}, {}, {}, Unread::kept).warnings;
    return all.empty() ? std::string() : all.back();
  };
  CHECK(of_entry("") ==
        "no file of the model defines 'tvmgen_m_run', so the firmware calls 'tvmgen_m___tvm_main__', which is not in "
        "planned C; call 'tvmgen_m_run', or use --in-place, which keeps it");
  CHECK(of_entry("const TVMModule* TVMSystemLibEntryPoint(void) { return &module; }\n").empty());
  // The firmware calls a function of this name with other arguments, which a linker does not see.
  const auto with_params = [&](const std::string& params, const std::string& arguments) {
    return of_entry("int32_t tvmgen_m_run(" + params + ") { return tvmgen_m___tvm_main__(" + arguments + "); }\n");
  };
  for (const std::string params :
       {"void* x, void* y", "const float*, struct tvmgen_m_outputs* outputs", "void* const x"}) {
    CHECK(with_params(params, "x, y").starts_with("lib1.c: 'tvmgen_m_run' (line "));
    CHECK(with_params(params, "x, y")
              .ends_with(") has other parameters in planned C, structs of inputs and outputs: include its header in "
                         "all files that call "
                         "it"));
  }
  CHECK(with_params("struct tvmgen_m_inputs* in, struct tvmgen_m_outputs * const out", "in->x, out->y").empty());
  CHECK(
      with_params("const tvmgen_m_inputs*in, struct tvmgen_m_outputs*out, struct tvmgen_m_devices* d", "in->x, out->y")
          .empty());
  CHECK(with_params("void", "").empty());
  // Whatever its name is.
  CHECK(left_out("int rows[2][4];\nint (*row(int i))[4] { return &rows[i]; }\nint (*first)[4] = &rows[0];\n") ==
        "lib0.c: variable 'rows' (line 5, column 1" + lacks + "lib0.c: a declaration (line 6, column 1" + lacks +
            "lib0.c: a declaration (line 7, column 1" + lacks);
}

TEST_CASE("what planned C elsewhere needs of other files is named") {
  const auto warnings = [](const Parts& parts) {
    std::string result;
    for (const std::string& one : read(text_of(parts)).warnings) result += one + "\n";
    return result;
  };
  const std::string link = ", which no file of the model defines: link it from elsewhere\n";
  CHECK(warnings({"int fast(int);\nint other(int);\n", "  fast(3);\n", "", ""}) == "planned C calls 'fast'" + link);
  const PlannedModule fast = read(text_of({"int fast(int (*f)(int), int a) FAST;\n", "  fast(3);\n", "", ""}));
  CHECK(fast.external.at(0).prototype == "int fast(int(* f)(int), int a)");
  CHECK(warnings({"#include \"parts/fast.c\"\n#include \"fast.h\"\n", "  fast(3);\n", "", ""}) ==
        "planned C calls 'fast'" + link +
            "lib1.c: planned C includes 'parts/fast.c', which is not copied: compile it with that directory among the "
            "include paths\n");
  CHECK(
      warnings({"#include \"parts/fast.c\"\n", "", "", ""}) ==
      "lib1.c: #include \"parts/fast.c\" (line 1, column 1) is not in planned C: if it has functions or variables that "
      "others use, compile it apart; --in-place keeps it\n");
  CHECK(warnings({"#include \"fast.h\"\n#include <cstdint>\n#include \"a/fast.hpp\"\n", "", "", ""}).empty());
  CHECK(warnings({"static const int8_t t[2] = {\n#include \"t.inc\"\n};\n", "", "", ""}).empty());
  CHECK(warnings({"int fast(int);\nstatic int two(void) { return fast(2); }\n", "  runs = two();\n", "", ""}) ==
        "planned C calls 'fast'" + link);
  CHECK(warnings({"#include <stdio.h>\n", "  printf(\"%d\", 3);\n", "", ""}).empty());
  CHECK(warnings({"#include <assert.h>\n", "  assert(sizeof(int) > 1);\n", "", ""}).empty());
  const std::string gains = "extern const int8_t gains[4];\nstatic int first(void) { return gains[0]; }\n";
  CHECK(warnings({gains, "  runs = first();\n", "", ""}) == "planned C uses 'gains'" + link);
  CHECK(warnings({gains + "const int8_t gains[4] = {1, 2, 3, 4};\n", "  runs = first();\n", "", ""}).empty());
}

TEST_CASE("memory of the model that others may use later is named") {
  const auto warning = [](const std::string& middle) {
    const std::vector<std::string> all =
        read(text_of({"static const int8_t* last;\nstatic void dump(const int8_t* p) { last = p; }\n", "", middle, ""}))
            .warnings;
    for (const std::string& one : all) {
      if (one.find(" may keep addresses ") != std::string::npos) return one;
    }
    return std::string();
  };
  CHECK(warning("  dump(sid_1);\n")
            .starts_with(
                "function 'dump' may keep addresses of tensors that it gets: it stores it in 'last'; no tensor"));
  CHECK(warning("  log_it(sid_1);\n")
            .starts_with(
                "function 'log_it' may keep addresses of tensors that it gets: it is in no C file of the model"));
  CHECK(warning("  dump(x_buffer_var);\n").empty());
  CHECK(warning("  memset(sid_1, 0, 16);\n").empty());
  CHECK(warning("  for (int i = 0; i < 3; ++i) printf(\"%d\", ((int8_t*)sid_1)[i]);\n").empty());
  std::string renamed = text_of({"", "", "", ""});
  for (std::size_t at = 0; (at = renamed.find("tvmgen_m_op", at)) != std::string::npos;) renamed.replace(at, 11, "add");
  CHECK(read(renamed).warnings.empty());  // an operator that is read keeps no pointer, whatever its name
  std::string pooled = pooled_text();
  const auto pool = [&](const std::string& linkage) {
    const std::string text = linkage + "uint8_t sram[64];\n" + pooled;
    const std::vector<std::string> all = read(text).warnings;
    return all.empty() ? "" : all[0];
  };
  CHECK(pool("static ").empty());
  CHECK(pool("").starts_with("lib1.c: pool 'sram' (line 1, column 9) is not static, so other files may use it"));
  const auto constants = [&](const std::string& linkage) {
    std::string text =
        linkage + "struct sram { int8_t a[2] __attribute__((aligned(16))); } sram = { .a = {1, 2}, };\n" + pooled;
    text.replace(text.find("p[i];"), 5, "p[i % 2];");
    text.replace(text.find("x_buffer_var, sid_1"), 12, "c_let");
    text.insert(text.find("  void* sid_1"), "  void* c_let = (&(sram_0_var[0]));\n");
    const PlannedModule module = read(text);
    const bool is_constant = module.pools.size() == 1 && module.pools[0].is_constant;
    return std::pair(is_constant, module.warnings.empty() ? std::string() : module.warnings[0]);
  };
  CHECK(constants("static ") == std::pair(true, std::string()));
  CHECK(constants("const ").first);
  CHECK(constants("const ").second.starts_with("lib1.c: pool 'sram' (line 1, column 65) is not static"));
}

TEST_CASE("in place: what tells others where a pool is, is written anew with the pool of planned C") {
  const std::string model = pooled_text();
  const auto read = [&](const std::string& added) {
    const std::string entry = front + run + added;
    const std::vector<Source> files = {{"lib0.c", entry}, {"lib1.c", model}};
    return read_planned_module("m", files, {}, {}, Unread::kept, {"lib0.c", "lib1.c"});
  };
  using Pieces = std::vector<std::string>;
  const auto pieces = [&](const std::string& added) {
    const PlannedModule module = read(added);
    CHECK(module.warnings.size() == module.pool_accesses.size());
    return module.pool_accesses.size() == 1 && module.pool_accesses[0].pool == "sram" ? module.pool_accesses[0].text
                                                                                      : Pieces{};
  };
  CHECK(pieces("").empty());
  for (const Pieces& text :
       {Pieces{"uint8_t *where(void)\n{\n  return &", "[0];  // its first byte\n}"},
        Pieces{"void* where() { return ", "; }"},
        Pieces{"uint32_t where(void) { return (uint32_t)(uint8_t*)&(", "[0]); }"},
        Pieces{"size_t bytes(void) { return sizeof(", "); }"},
        Pieces{"unsigned long bytes(void) { return sizeof ", "; }"}, Pieces{"uint8_t* const begin = (uint8_t*)&", ";"},
        Pieces{"const volatile void* begin = ", ";"}}) {
    CHECK(pieces(text[0] + "sram" + text[1] + "\n") == text);
  }
  CHECK(read("static uint8_t* at(void) { return sram; }\nuint8_t* a(void) { return at(); }\n"
             "uint8_t* b(void) { return at(); }\n")
            .pool_accesses.size() == 3);
  // Static ones go with those that call them.
  const PlannedModule both = read(
      "static uint8_t* at(void) { return sram; }\nstatic int no(void) { return sizeof(sram); }\nuint8_t* where(void) { "
      "return at(); }\n");
  REQUIRE(both.pool_accesses.size() == 2);
  CHECK(both.pool_accesses[0].text == Pieces{"static uint8_t* at(void) { return ", "; }"});
  CHECK(both.pool_accesses[1].text == Pieces{"uint8_t* where(void) { return at(); }"});
  // What may use bytes of the pool that planned C has otherwise, or names that it does not have, is none.
  for (const char* added :
       {"uint8_t where(void) { return sram[0]; }",
        "uint8_t where(void) { return *(uint8_t*)sram; }",
        "uint8_t* where(void) { return &sram[16]; }",
        "uint8_t* where(void) { return sram + 0; }",
        "uint8_t* where(int at) { return sram; }",
        "uint8_t* where(void) { return (byte*)sram; }",
        "size_t bytes(void) { return sizeof(sram) * 2; }",
        "size_t bytes(void) { return sizeof(sram[0]); }",
        "void* where(void) { sram[0] = 1; return sram; }",
        "void* where(void) { return sram; return 0; }",
        "uint8_t* ends[2] = {sram, sram};",
        "uint8_t* a = sram, *b;",
        "int same = sram == sram;",
        "uint8_t (*where(void))[64] { return &sram; }",
        "static uint8_t (*where(void))[64] { return &sram; }\nint a;",
        "__attribute__((noinline)) uint8_t (*where(int i))[sizeof(sram)] { return 0; }",
        "uint8_t (*at)[64] = &sram;",
        "int a;\nstatic uint8_t (*at)[64] = &sram;",
        "static uint8_t* at(void) { return sram; }\nuint8_t* (*where)(void) = at;",
        "#ifdef HEAP\nuint8_t* where(void) { return 0; }\n#else\nuint8_t* where(void) { return sram; }\n#endif",
        "#ifdef HEAP\nuint8_t* where(void) { return &sram[0]; }\n#endif"}) {
    CAPTURE(std::string(added));
    CHECK_THROWS_WITH_AS((void)read(std::string(added) + "\n"),
                         doctest::Contains("found 'sram' in code that somebody added"), Error);
  }
  // Constants of TVM's plan are written anew, too.
  const std::string constants = "static struct flash { int8_t a[1]; } flash = {\n  .a = {5},\n};\n" + front + run;
  const std::vector<Source> files = {{"lib0.c", constants}, {"lib1.c", model}};
  CHECK_NOTHROW((void)read_planned_module("m", files, {}, {}, Unread::kept, {"lib0.c", "lib1.c"}));
  const std::string pointer = constants + "const struct flash (*at)[1] = (const void*)&flash;\n";
  const std::vector<Source> with_pointer = {{"lib0.c", pointer}, {"lib1.c", model}};
  CHECK_THROWS_WITH_AS((void)read_planned_module("m", with_pointer, {}, {}, Unread::kept, {"lib0.c", "lib1.c"}),
                       doctest::Contains("found 'flash' in code that somebody added"), Error);
}

TEST_CASE("what stays may not have the address of an operator that is written anew") {
  for (const std::string pointer : {"static int32_t (*run_op)(int8_t*, int8_t*) = tvmgen_m_op;\n",
                                    "#define OP tvmgen_m_op\nint32_t (*run_op)(int8_t*, int8_t*) = OP;\n"}) {
    CAPTURE(pointer);
    const std::string prototype = "int32_t tvmgen_m_op(int8_t* p, int8_t* q);\n";
    CHECK(error_of({prototype + pointer, "", "  npu_start(sid_1);\n", ""})
              .find("found 'tvmgen_m_op' in code that somebody added") != std::string::npos);
    CHECK(error_of({prototype + pointer, "", "", ""}) == "no error");  // it is not in planned C
  }
}

TEST_CASE("in place: a function that passes a pool on is refused, with what to do") {
  const std::string model = pooled_text();
  const auto error = [&](const std::string& added) {
    const std::string entry = front + run + added;
    return in_place({{"lib0.c", entry}, {"lib1.c", model}});
  };
  const std::string way_out =
      "'sram' in code that somebody added, expected nothing that planned C does not have: the model's operators, "
      "constants and memory; move that code to a file of the firmware, and let functions here tell it where the pool "
      "is: uint8_t* f(void) { return &sram[0]; }";
  CHECK(error("void flush(void) { clean(sram, sizeof(sram)); }\n").ends_with(": found " + way_out));
  // Somebody else may call what a pointer to a function stands for.
  for (const std::string words : {"", "static "}) {
    CHECK(error("static void all(void) { memset(sram, 0, sizeof(sram)); }\nint runs;\n" + words +
                "void (*hook)(void) = all;\n")
              .ends_with(": found " + way_out));
  }
  CHECK(error("uint8_t* f(void) { return &sram[0]; }\n").find("found") == std::string::npos);
}

TEST_CASE("in place: a function that returns a pointer to an array ends with its body") {
  const std::string array = "static int8_t rows[2][4];\nint8_t (*row(int i))[4] { return &rows[i]; }\n";
  const std::string text = text_of({"", "", "", ""});
  const std::string kept = in_place({{"lib1.c", array + text}});
  CHECK(kept.find("int8_t (*row(int i))[4] { return &rows[i]; }\n") != std::string::npos);
  CHECK(kept.find("tvmgen_m_op") == std::string::npos);
  const std::string of_function = "int (*chosen(int i))(int) { return 0; }\n";
  CHECK(in_place({{"lib1.c", of_function + text}}).find("tvmgen_m_op") == std::string::npos);
}

TEST_CASE("in place: a table that operators share stays with those whose C stays") {
  std::string text = text_of({"", "", "", ""});
  text.replace(text.find("= p[i]"), 6, "= table[i]");
  text.replace(text.find("tvmgen_m_op(sid_1, y"), 11, "tvmgen_m_odd");
  text =
      "int32_t tvmgen_m_odd(int8_t* p, int8_t* q) {\n  static int n;\n  q[0] = table[n & 3];\n  return 0;\n}\n" + text;
  const std::string table = "const int8_t table[4] = {1, 2, 3, 4};\n";
  const std::string own = "static " + table + text;
  const std::string other = "extern const int8_t table[4];\n" + text;
  CHECK(in_place({{"lib1.c", own}}).find(table) != std::string::npos);
  CHECK(in_place({{"lib1.c", other}, {"weights.c", table}}).find("\n" + table) != std::string::npos);
}

TEST_CASE("in place: what somebody added is refused if it needs what planned C does not have") {
  std::string model = "static const int8_t table[4] = {1, 2, 3, 4};\n" + pooled_text();
  model.replace(model.find("= p[i]"), 6, "= table[i]");
  const auto error = [&](const std::string& added, const std::string& run_text = run) {
    const std::string entry = front + run_text + added;
    return in_place({{"lib0.c", entry}, {"lib1.c", model}});
  };
  const std::string expected =
      " in code that somebody added, expected nothing that planned C does not have: the model's operators, constants "
      "and "
      "memory";
  CHECK(error("int a(void) {\n  return tvmgen_m_op(0, 0); }\n") ==
        "lib0.c: line 6, column 10: found 'tvmgen_m_op'" + expected);
  CHECK(error("int a(void) { return tvmgen_m___tvm_main__(0, 0); }\n") ==
        "lib0.c: line 5, column 22: found 'tvmgen_m___tvm_main__'" + expected);
  CHECK(error("const int8_t* a(void) { return table; }\n") == "lib0.c: line 5, column 32: found 'table'" + expected);
  CHECK(error("const int8_t* tvmgen_m_a(void) { return table; }\n") ==
        "lib0.c: line 5, column 41: found 'table'" + expected);
  CHECK(error("static int b(void) { return table[0]; }\nint a(void) { return b(); }\n") ==
        "lib0.c: line 5, column 29: found 'table'" + expected);
  CHECK(error("const int8_t* const a = table;\n") == "lib0.c: line 5, column 25: found 'table'" + expected);
  CHECK(error("#ifdef A\nconst int8_t* const a = table;\n#endif\n") ==
        "lib0.c: line 6, column 25: found 'table'" + expected);
  // The function that the firmware calls is written anew.
  const std::string anew =
      " in 'tvmgen_m_run', which is written anew, expected nothing but the call of the entry: move the addition out of "
      "'tvmgen_m_run', to where that is called";
  const std::string call_of = "return tvmgen_m___tvm_main__(inputs->x, inputs->y, ((uint8_t*)&sram));\n}\n";
  CHECK(error("", run_begin + " runs++; " + call_of) == "lib0.c: line 3, column 56: found 'runs'" + anew);
  CHECK(error("", run_begin + " if (inputs) " + call_of) == "lib0.c: line 3, column 56: found 'if'" + anew);
  CHECK(error("", run_begin + " if (!inputs) " + call_of).starts_with("lib0.c: line 3, column 56: found 'if'"));
  CHECK(error("", run_begin + "\n#ifdef A\n  runs++;\n#endif\n" + call_of) ==
        "lib0.c: line 4, column 1: found a directive in a function, expected none");
  CHECK(
      error("", run_begin + "return tvmgen_m___tvm_main__((int8_t*)inputs->x, inputs->y, (const float*)(&sram));\n}\n")
          .empty());
  CHECK(error("", run_begin + "TVMValue tensors[1];\ntensors[0] = ((TVMValue*)inputs)[0];\n" + call_of) != "");
}

TEST_CASE("what somebody added to the function that the firmware calls is told, in place or not") {
  const auto told = [](const std::string& text_of_run, const std::string& more = "") {
    const std::string entry = front + text_of_run;
    const std::string model = pooled_text();
    std::vector<Source> files = {{"lib0.c", entry}, {"lib1.c", model}};
    if (!more.empty()) files.push_back({"lib2.c", more});
    const PlannedModule read = read_planned_module("m", files, {}, {}, Unread::kept);
    return read.edited_run ? std::string(read.edited_run->what()) : std::string();
  };
  const std::string call_of = "return tvmgen_m___tvm_main__(inputs->x, inputs->y, ((uint8_t*)&sram));\n}\n";
  const std::string at = "lib0.c: line 3, column 56: found ";
  CHECK(told(run).empty());
  CHECK(told("").empty());  // the firmware calls the entry
  CHECK(
      told(run_begin + "/* gpio_set(1); */ return (tvmgen_m___tvm_main__((int8_t*)inputs->x, inputs->y, &sram));\n}\n")
          .empty());
  const auto passing = [&](const std::string& memory) {
    return told(run_begin + "return tvmgen_m___tvm_main__(inputs->x, inputs->y, " + memory + ");\n}\n");
  };
  CHECK(passing("&sram[0]").empty());
  CHECK(passing("(uint8_t*)(&sram[0])").empty());
  for (const char* other : {"&sram[16]", "&sram[i]", "&sram[0][0]", "sram[0]", "&inputs[0]", "&inputs->x[0]"}) {
    CHECK_MESSAGE(passing(other).find("found '['") != std::string::npos, other);
  }
  // What is no pool gets what the caller passes.
  const std::string memory = "static int8_t staged[4];\n" + run_begin + "return tvmgen_m___tvm_main__(";
  for (const std::string given : {"staged", "&staged", "&staged[0]", "(void*)(&staged[0])"}) {
    CAPTURE(given);
    CHECK(told(memory + "inputs->x, " + given + ", &sram);\n}\n")
              .ends_with("nothing but the call of the entry: it is passed for 'y_buffer_var', which is no pool; pass "
                         "that memory where 'tvmgen_m_run' is called"));
    CHECK(told(memory + given + ", inputs->y, &sram);\n}\n").find("found 'staged'") != std::string::npos);
  }
  const std::string plain = "int32_t tvmgen_m_run(void* x, void* y) {return tvmgen_m___tvm_main__(";
  CHECK(told(plain + "x, y, sram);\n}\n").empty());
  CHECK(told(plain + "x, x, sram);\n}\n").find("found 'x'") != std::string::npos);
  CHECK(told(memory + "inputs->x, inputs->y, inputs->sram);\n}\n").empty());
  CHECK(told(memory + "(*inputs).x, inputs->y, &sram);\n}\n").empty());
  for (const std::string given : {"*inputs->y", "&inputs->y", "inputs->y->z", "other->y", "inputs->y + 1", "0"}) {
    CAPTURE(given);
    std::string said;
    try {
      said = told(memory + "inputs->x, " + given + ", &sram);\n}\n");
    } catch (const Error& error) {
      said = error.what();
    }
    CHECK(!said.empty());
  }
  CHECK(told(memory + "inputs->x, inputs->y);\n}\n").find("which is written anew") != std::string::npos);
  for (const char* pointer : {"board_ram", "(uint8_t*)board_ram", "((board_ram))"}) {
    const std::string way_out =
        ": a pool is an array, 'static uint8_t board_ram[N];', which nothing sets; with --pools, planned C has it "
        "elsewhere, or the application passes it";
    CHECK(passing(pointer).ends_with(way_out));
    const std::string called =
        run_begin + "return tvmgen_m___tvm_main__(inputs->x, inputs->y, " + std::string(pointer) + ");\n}\n";
    const std::string error = told("uint8_t* board_ram;\n" + called);
    CHECK_MESSAGE(error.ends_with(way_out + "; change its declaration (lib0.c: line 3, column 1) and what sets it"),
                  error);
    CHECK(told("my_t* a;\nuint8_t* board_ram;\n" + called).ends_with("(lib0.c: line 4, column 1) and what sets it"));
  }
  // What sets a pointer in front of the call is not to be moved: the pool is an array.
  const std::string sets = "\n  if (board_ram == 0) {\n    board_ram = take(208);\n  }\n";
  CHECK(told(run_begin + sets + "return tvmgen_m___tvm_main__(inputs->x, inputs->y, board_ram);\n}\n")
            .starts_with("lib0.c: line 7, column 52: found 'board_ram' in 'tvmgen_m_run', which is written anew, "
                         "expected nothing but the call of the entry: a pool is an array"));
  CHECK(told(run_begin + " gpio_set(1); " + call_of) ==
        at + "'gpio_set' in 'tvmgen_m_run', which is written anew, expected nothing but the call of the entry: move "
             "the addition out of 'tvmgen_m_run', to where that is called");
  // Which of two it is, a compiler may say otherwise.
  CHECK(told("#ifdef A\n" + run_begin + " return 0;\n}\n#else\n" + run + "#endif\n") ==
        "lib0.c: line 3, column 9: found 'tvmgen_m_run' in a conditional group, too, expected one function of it");
  CHECK(told(run_begin + " if (inputs == 0) return -9; " + call_of).starts_with(at + "'if'"));
  CHECK(told(run_begin + " inputs->x = &sram; " + call_of).starts_with(at + "'inputs'"));
  CHECK(told(run_begin + " tvmgen_m___tvm_main__(inputs->x, inputs->y, &sram); " + call_of)
            .starts_with(at + "'tvmgen_m___tvm_main__'"));
  CHECK(told(run_begin + " return (tvmgen_m___tvm_main__(inputs->x, inputs->y, &sram), inputs); }")
            .starts_with(at + "'return'"));
  CHECK(told(run_begin + " return 0; }").starts_with(at + "'return'"));
  CHECK(told(run_begin + " }").starts_with(at + "'}'"));
  CHECK(told(run_begin + "return tvmgen_m___tvm_main__(&inputs->x[16], inputs->y, &sram);\n}\n").find("found '['") !=
        std::string::npos);
  CHECK(told(run_begin + "return tvmgen_m___tvm_main__(inputs->x, inputs->y, &sram); runs++;\n}\n")
            .find("found 'runs'") != std::string::npos);
  CHECK(told(run_begin + "\n#ifdef A\n  runs++;\n#endif\n" + call_of).find("found a directive") != std::string::npos);
  CHECK(told(run, run_begin + " runs++; " + call_of).find("'tvmgen_m_run' in another file, too") != std::string::npos);
}

}  // namespace
}  // namespace usmp::tvm_c::added_test

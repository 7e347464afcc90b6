// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements that somebody added to the entry.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "tvm_c/added_model.hpp"
#include "usmp/support/error.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::added_test {
using namespace added_model;

namespace {

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

}  // namespace
}  // namespace usmp::tvm_c::added_test

// SPDX-License-Identifier: Apache-2.0
// Statements that somebody added to the entry.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "usmp/support/error.hpp"
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

PlannedModule read(const std::string& text) {
  const Source file{"lib1.c", text};
  return read_planned_module("m", {&file, 1}, {}, {}, Unread::kept);
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
  // A macro is called as it stands, since it may be no expression.
  CHECK(entry_of({"#define probe(i) do { p[i]++; } while (0)\n", "", "  probe(1);\n  PROBE(2);\n", ""}) ==
        Texts{"call", "  probe(1);\n  PROBE(2);", "call"});
  CHECK(entry_of({"", "", "  probe(1);\n", ""}) == Texts{"call", "probe", "call"});
}

TEST_CASE("what such statements need of their file stays") {
  const std::string head =
      "#include <stdio.h>\n#define NOW() clock_of(&board)\nstatic int board[2] = {1, 2};\nuint32_t a = 1, runs;\n"
      "static unsigned clock_of(const int* b) { return (unsigned)*b++; }\n";
  const PlannedModule planned = read(text_of({head + "static int unused[1] = {1};\n", "  runs = NOW();\n", "", ""}));
  CHECK(entry_of(planned) == Texts{"  runs = NOW();", "call", "call"});
  CHECK(planned.module.functions[planned.module.entry].imported_c == Texts{head});
  REQUIRE(planned.kept.size() == 1);
  CHECK(planned.kept[0].name == "clock_of");
}

TEST_CASE("statements that may have to do with the model are refused, with the reason") {
  const auto reason = [](const std::string& statement, const std::string& file = "") {
    const std::string error = error_of({file, "", statement + "\n", ""});
    const std::size_t at = error.find(": this one ");
    return at == std::string::npos ? error : error.substr(at + 11);
  };
  CHECK(error_of({"", "", "  log(x_buffer_var[0], t0);\n", ""}) ==
        "lib1.c: line 13, column 24: found 't0', which is not declared here\n  'tvmgen_m___tvm_main__' calls the "
        "operators, so it has to be as TVM wrote it; of what somebody added only calls of other functions, and "
        "statements that use nothing of the model's, may stay: this one mentions 'x_buffer_var', which is the model's");
  CHECK(reason("  sum += *(int8_t*)sid_1;") == "mentions 'sid_1', as the model does");
  CHECK(reason("  if (fault) return -2;") == "has 'return'");
  CHECK(reason("  if (fault) goto end;") == "has 'goto'");
  CHECK(reason("  end: fault = 0;") == "has a label");
  CHECK(reason("  status = tvmgen_m_op(a, b);") == "mentions 'tvmgen_m_op', which is the model's");
  CHECK(reason("  n = sizeof(TVMValue);") == "mentions 'TVMValue', which is the model's");
  CHECK(reason("  peek(v);", "#define v (*(int8_t*)w)\n#define w sid_1\n") == "mentions 'sid_1', as the model does");
  CHECK(reason("  check(v);", "#define check(a) if (!(a)) return -1\n") == "has 'return'");
  CHECK(reason("#ifdef A\n  log(sid_1, t0);\n#endif") == "mentions 'sid_1', as the model does");
  CHECK(reason("#define N 3") == "has a directive");
  // What is no whole statement. None of the block stays then.
  for (const char* part :
       {"#ifdef A\n  if (n)\n#endif\n    log(n, m);", "#ifdef A\n  {\n#endif\n  log(n, m);\n#ifdef A\n  }\n#endif",
        "  if (n) do log(n, m); while (m);", "  if (n) {\n    log(n,\n#ifdef A\n  m\n#else\n  n\n#endif\n);\n  }"}) {
    CHECK(reason(part).find("found ") != std::string::npos);
  }
  // A variable that both use is the model's, whichever is first.
  CHECK(entry_of({"", "  int32_t ret = 0;\n", "", ""}) == Texts{"  int32_t ret = 0;", "call", "call"});
  CHECK(entry_of({"", "  int32_t ret = 0;\n",
                  "  ret = tvmgen_m_op(x_buffer_var, sid_1);\n  if (ret != 0) return ret;\n", ""}) ==
        Texts{"call", "call", "call"});
  CHECK(reason("  ret = 3;\n  ret = tvmgen_m_op(x_buffer_var, sid_1);\n  if (ret != 0) return ret;") != "no error");
  // Behind the end nothing stays.
  CHECK(error_of({"", "", "", "  return 0;\n  runs++;\n"}).find("one return, at the end") != std::string::npos);
  CHECK_THROWS_AS((void)read_module("m", std::vector<Source>{{"a.c", text_of({"", "", "  runs++;\n", ""})}}), Error);
}

}  // namespace
}  // namespace usmp::tvm_c::added_test

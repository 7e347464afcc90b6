// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Statements of the entry that use the model's tensors and operators.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::edited_entry_test {
namespace {

const std::string op =
    "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 4; ++i) {\n    q[i] = p[i];\n  }\n"
    "  return 0;\n}\n"
    // may fail
    "int32_t tvmgen_m_dev(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 4; ++i) {\n    q[i] = p[i];\n  }\n"
    "  if (device(1) != 0) return -1;\n  return 0;\n}\n";

std::string text_of(const std::string& file, const std::string& statements) {
  return file + op +
         "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n"
         "  void* sid_1 = TVMBackendAllocWorkspace(1, 0, (uint64_t)4, 0, 8);\n  if (sid_1 == NULL) {\n    return -1;\n "
         " }\n" +
         statements + "\n  if (TVMBackendFreeWorkspace(1, 0, sid_1) != 0) {\n    return -1;\n  }\n  return 0;\n}\n";
}

const std::string last = "  if (tvmgen_m_op(sid_1, y_buffer_var) != 0 ) return -1;\n";

PlannedModule read(const std::string& file, const std::string& statements, const std::string& header = "") {
  const std::string text = text_of(file, statements);
  const Source source{"lib1.c", text};
  const Source other{"trace.h", header};
  return read_planned_module("m", {&source, 1}, {}, {}, Unread::kept, {}, {&other, header.empty() ? 0U : 1U});
}

// The texts that stay, "op" for calls of operators, names of functions with how many arguments they get; in order.
std::string entry_of(const std::string& file, const std::string& statements, const std::string& header = "") {
  std::string result;
  const PlannedModule planned = read(file, statements, header);
  tir::for_each_expr_in(planned.module.functions[planned.module.entry].body, [&](const tir::Expr& expr) {
    const auto named = tir::named_call(expr);
    if (!named) return;
    const std::string* text = tir::kept_text_of(expr);
    const bool is_operator = named->name->starts_with("tvmgen_m_");
    result +=
        (result.empty() ? "" : " | ") + (text != nullptr ? *text
                                         : is_operator   ? "op"
                                                       : *named->name + "/" + std::to_string(named->arguments.size()));
  });
  return result;
}

// The functions that statements have become.
std::string added_to(const std::string& file, const std::string& statements, const std::string& header = "") {
  const PlannedModule planned = read(file, statements, header);
  std::string text;
  for (const std::string& one : planned.module.functions[planned.module.entry].imported_c) text += one;
  const std::size_t begin = text.find("static void usmp_added_1(");
  return begin == std::string::npos ? "" : text.substr(begin);
}

std::string error_of(const std::string& file, const std::string& statements, const std::string& header = "") {
  try {
    (void)read(file, statements, header);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string reason(const std::string& file, const std::string& statements) {
  const std::string error = error_of(file, statements + "\n" + last);
  const std::size_t at = error.find(": this one ");
  return at == std::string::npos ? error : error.substr(at + 11, error.find(';', at + 11) - at - 11);
}

const std::string call = "tvmgen_m_op(x_buffer_var, sid_1)";

TEST_CASE("statements with tensors become functions that get them") {
  const std::string first = "  if (" + call + " != 0) return -1;\n";
  CHECK(entry_of("", first + "  fwrite(sid_1, 1, 4, stderr);\n" + last) == "op | usmp_added_1/1 | op");
  CHECK(added_to("", first + "  fwrite(sid_1, 1, 4, stderr);\n" + last) ==
        "static void usmp_added_1(void* usmp_sid_1) {\n  void* const sid_1 = usmp_sid_1;\n  (void)sid_1;\n  "
        "fwrite(sid_1, 1, 4, stderr);\n}\n");
  // With what macros stand for, whatever conditions say; the macro stays.
  const std::string trace =
      "#ifdef A\n#define T(t) do { dump(#t, t, x_buffer_var); } while (0)\n#else\n#define T(t)\n#endif\n";
  CHECK(entry_of(trace, first + "  T(sid_1);\n" + last) == "op | usmp_added_1/2 | op");
  CHECK(added_to(trace, first + "  T(sid_1);\n" + last).find("  T(sid_1);\n}\n") != std::string::npos);
  for (const std::string statement :
       {"  n += ((int8_t*)sid_1)[0];",
        "  for (int i = 0; i < 4; ++i) { if (i == 2) continue; n ^= ((int8_t*)sid_1)[i]; }",
        "  { const int8_t* p = (const int8_t*)sid_1; n = p[1]; }", "#ifdef DUMP\n  dump(&n, sid_1);\n#endif",
        "  if (n) dump(&((int8_t*)sid_1)[1], stderr);", "  n = sum(sid_1, 4) & mask;",
        "  for (const int8_t *p = sid_1, *end = (const int8_t*)sid_1 + 4; p != end; ++p) { n += *p; }",
        "  { const int8_t* const a = (int8_t*)sid_1; int8_t* b = a + 1; b = b + 1; n = *b + a[0] * *(a + 1); }",
        "  { n = sid_1 == NULL ? 0 : ((int8_t*)sid_1)[n]; memcpy(saved, sid_1, 4); }",
        "  n = (((uint32_t*)sid_1)[0] & 3) + (n == 2 ? ((int8_t*)sid_1)[1] : 1);",
        "  { struct view v = {{(int8_t*)sid_1}, 64}; log(&v, stderr); }",
        "  { int8_t* two[2] = {NULL, sid_1}; log(two); }",
        "  { view_t v = {.n = 64, .rows = sid_1}; log(v, v.rows[1], v.n); }", "  log(&(view_t){sid_1, 64});",
        "  { struct pair { int8_t* a; int n; } v = {sid_1, 3}; n = v.a[v.n]; }",
        "  n = !sid_1 + -sum(sid_1, 4) + ~n--;", "  { _Static_assert(1, \"\"); n = sum(sid_1, 4); }"}) {
    CAPTURE(statement);
    CHECK(entry_of("", first + statement + "\n" + last) == "op | usmp_added_1/1 | op");
  }
  // A function that both call is no name that they share, nor is a stream.
  for (const std::string text : {"  log(n);", "  fputs(n, stderr);", "  fflush(stderr);"}) {
    CHECK(entry_of("", first + text + "\n  log(sid_1, stderr);\n" + last) == "op | " + text + " | usmp_added_1/1 | op");
  }
  CHECK(entry_of("", first + "  n += stderr;\n  log(sid_1, stderr);\n" + last) ==
        "op | usmp_added_1/0 | usmp_added_2/1 | op");
  CHECK(entry_of("#define SET(t) log = pick(t)\n", first + "  SET(sid_1);\n  log(n);\n" + last) ==
        "op | usmp_added_1/1 |  | usmp_added_2/0 | usmp_held_1/1 | op");
  // What shares names with such is one, too.
  CHECK(entry_of("static int n;\n", "  n = 0;\n" + first + "  n += ((int8_t*)sid_1)[0];\n" + last) ==
        "usmp_added_1/0 | op | usmp_added_2/1 | op");
}

TEST_CASE("statements with tensors that do more are refused, with the reason") {
  const std::string keeps = "which is the model's, expected one that only passes it on or accesses its elements";
  CHECK(reason("#define R(t) if (*(int8_t*)t) return 3\n", "  R(sid_1);") == "has 'return'");
  CHECK(reason("#ifdef A\n#define R(t) log(t)\n#else\n#define R(t) if (*(int8_t*)t) return 3\n#endif\n",
               "  R(sid_1);") == "has 'return'");
  CHECK(reason("#define R(t) if (*(int8_t*)t) goto end\n", "  R(sid_1);") == "has 'goto'");
  CHECK(reason("#define R(t) log(__func__, t)\n", "  R(sid_1);") == "has '__func__'");
  CHECK(reason("#define R(t) int v = *(int8_t*)t\n", "  R(sid_1);") == "declares something");
  CHECK(reason("", "  FILE* f = open_for(sid_1, stderr);") == "declares something");
  CHECK(reason("", "  { again: n = sum(sid_1, 4); }") == "has a label");
  CHECK(reason("", "  typeof(n) f = open_for(sid_1, stderr);") == "is not understood at 'typeof'");
  CHECK(reason("", "  if (({ log(sid_1, n); n; })) n = 3;") == "is not understood at '('");
  CHECK(reason("", "  n = LOG(sid_1, stderr);") == "calls 'LOG', which may be a macro of a header that is not here");
  CHECK(reason("", "  LOG(sid_1);\n  log(n);") == "no error");
  CHECK(reason("", "  LOG(sid_1);\n  LOG(n);") == "calls 'LOG', which may be a macro of a header that is not here");
  CHECK(reason("#define R(t) R2(t)\n#define R2(t) R(t)\n", "  R(sid_1);") == "has macros that are not understood");
  for (const std::string statement :
       {"  swap(&sid_1, stderr);", "  s.last = &((sid_1));", "  if (n) sid_1 = other;", "  n = a ? 1 : next(sid_1++);",
        "  n = next(--sid_1);", "  n = next(sid_1--);", "  n = next(++sid_1);", "  sid_1 += n;"}) {
    CAPTURE(statement);
    CHECK(error_of("", statement + "\n" + last).find(keeps) != std::string::npos);
  }
  // Numbers, too.
  const std::string three = "  int32_t k = 3;\n";
  CHECK(entry_of("", three + "  n = k + sum(sid_1, 4);\n" + last) == "usmp_added_1/2 | op");
  CHECK(error_of("", three + "  scan(&k, sid_1);\n" + last).find(keeps) != std::string::npos);
}

TEST_CASE("tensors whose addresses a statement keeps live on") {
  const auto is_kept = [](const std::string& macros, const std::string& statement) {
    const std::string entry = entry_of(macros, statement + "\n" + last + "  tick();\n");
    return entry.starts_with("usmp_added_1/1 |  | op | tick/0 | usmp_held_1/1");
  };
  for (const std::string statement :
       {"  last = sid_1;", "  last = (int8_t*)sid_1 + 1;", "  { last = sid_1; }",
        // By ways that are not seen at once.
        "  last = n == 2 ? sid_1 + 1 : NULL;", "  last = n ? NULL : (int8_t*)sid_1;", "  last = &((int8_t*)sid_1)[4];",
        "  last = 4 + (int8_t*)sid_1;", "  last = (n++, (int8_t*)sid_1);", "  last = memset((int8_t*)sid_1 + 1, 3, 1);",
        "  last = (uintptr_t)sid_1;", "  last = ((struct view*)sid_1)->rows;", "  view = (struct view){sid_1, 64};",
        // Lists that live on, or of which something else does.
        "  { static struct view v = {(int8_t*)sid_1, 64}; log(v.rows[0], stderr); }",
        "  { static struct view v = {(int8_t*)sid_1, 64}; log(&v, stderr); }", "  last = &(struct view){sid_1, 64};",
        "  { struct view v = {(int8_t*)sid_1, 64}; last = v.rows; }", "  { struct view v = {sid_1}; views[0] = v; }",
        "  { struct view v = {.n = 1, .rows = sid_1}; last = (&v)->rows; }", "  { v.rows = sid_1; }",
        "  { struct view v = {sid_1}; last = *(int8_t**)&v; }", "  { struct view v = {{sid_1}}; last = v.rows[0]; }",
        "  { struct view v = {sid_1}; struct view* w = &v; last = *(int8_t**)w; }", "  s = *&(struct view){sid_1, 64};",
        "  { struct { int8_t* p[2]; } v = {sid_1}; last = v.p[0]; }", "  { int8_t* one[1] = {sid_1}; last = *one; }",
        "  { int8_t* v[1][1] = {{sid_1}}; last = v[0][0]; }", "  { view_t v[1] = {{{sid_1}}}; last = v[0].rows[0]; }",
        "  { struct view v = {sid_1}; memcpy(&saved, &v, sizeof(v)); }", "  s = (struct view){.rows = sid_1};",
        "  { int8_t* two[2] = {NULL, sid_1}; last = two[1]; }", "  { struct view v = {sid_1}, *p = &v; last = p; }",
        "  { struct view* v = &(struct view){sid_1}; last = v->rows; }", "  v = (struct view){{sid_1}, 3};",
        "  { int8_t* p = (int8_t*)sid_1; last = p; }", "  { int8_t* p = sid_1; int8_t* q = p + 1; last = &q[2]; }",
        "  { int8_t* p = sid_1; memcpy(&last, &p, sizeof(p)); }", "  do { *last = (int8_t*)sid_1; } while (0);",
        "  { int n; n = 1, *last = (int8_t*)sid_1; }", "  if (n) n = 1; else *last = (int8_t*)sid_1;",
        "  for (int8_t* p = sid_1; n; --n) { last = p; }", "  { int8_t(*rows)[2] = sid_1; last = rows[1]; }"}) {
    CAPTURE(statement);
    CHECK(is_kept("", statement));
  }
  CHECK(is_kept("#define KEEP(t) last = (t)\n", "  KEEP(sid_1);"));
  CHECK_FALSE(is_kept("", "  { const int8_t* p = sid_1; n = p[3]; }"));
}

TEST_CASE("functions that get tensors from statements are told") {
  const std::string first = "  if (" + call + " != 0) return -1;\n";
  const auto warned = [&](const std::string& statement) {
    std::string names;
    for (const std::string& warning : read("", first + statement + "\n" + last).warnings) {
      if (warning.find("a statement of the entry may keep") == 0) names += warning.substr(warning.rfind(' ') + 1);
    }
    return names;
  };
  CHECK(warned("  { if (n) keep(sid_1); }") == "keep");
  CHECK(warned("  { int8_t* p = (int8_t*)sid_1; if (n == now()) keep(p + 1); }") == "keep");
  CHECK(warned("  { if (n) memcpy(saved, sid_1, sizeof(saved)); }").empty());
  CHECK(warned("  { if (n) keep(3); }").empty());
}

TEST_CASE("what operators return, however it is asked for") {
  const std::string dev = "tvmgen_m_dev(x_buffer_var, sid_1)";
  // In a narrow variable.
  CHECK(entry_of("", "  int8_t ret = " + call + ";\n  if (ret != 0) return ret;\n" + last) == "op | op");
  CHECK(entry_of("", "  int8_t ret = " + dev + ";\n  if (ret != 0) return ret;\n" + last) == "op | op");
  // Without a return, if nothing else asks.
  const std::string note = "  int ret = " + dev + ";\n  if (ret) { told(ret); }\n";
  CHECK(entry_of("", note + last) == "op | op");
  CHECK(entry_of("", note + "  ret = " + dev + ";\n  if (ret) return ret;\n" + last) == "op | op | op");
  const std::string again = "  ret = " + dev + ";\n  if (ret) return ret;\n";
  CHECK(error_of("", note + again + "  n = ret;\n" + last) == "no error");
  CHECK(error_of("", note + "  {\n" + again + "  }\n  n = ret;\n" + last) != "no error");
  for (const std::string use : {"  note(ret);\n", "  if (ret != 0) return ret;\n", "  n = ret;\n"}) {
    CAPTURE(use);
    CHECK(error_of("", note + use + last).find("'ret' behind a statement that does not leave") != std::string::npos);
  }
}

}  // namespace
TEST_CASE("a macro of a header may name a tensor") {
  const std::string include = "#include \"trace.h\"\n";
  const std::string first = "  if (" + call + " != 0) return -1;\n";
  const std::string header = "#define OUT ((int8_t*)sid_1)\n#define SHOW log_layer(OUT, 4)\n#define SAY puts(\"x\")\n";
  CHECK(entry_of(include, first + "  log_layer(OUT, 4);\n" + last, header) == "op | usmp_added_1/1 | op");
  CHECK(entry_of(include, first + "  SHOW;\n" + last, header) == "op | usmp_added_1/1 | op");
  CHECK(entry_of(include, first + "  SAY;\n" + last, header) == "op |   SAY; | op");
}

TEST_CASE("a variable may be named as types are") {
  const std::string first = "  if (" + call + " != 0) return -1;\n";
  CHECK(entry_of("", first + "  n = (int32_t)m;\n" + last) == "op |   n = (int32_t)m; | op");
  CHECK(entry_of("", "  int8_t* h_t = sid_1;\n  if (tvmgen_m_op(x_buffer_var, h_t) != 0) return -1;\n  n += h_t[0];\n" +
                         last) == "op | usmp_added_1/1 | op");
  // Variables of the file.
  for (const char* file : {"", "int8_t* h_t;\n", "typeof(int8_t*) h_t;\n"}) {
    CAPTURE(file);
    CHECK(entry_of(file, first + "  n += h_t[0];\n" + last) == "op |   n += h_t[0]; | op");
    CHECK(entry_of(file, "  h_t = sid_1;\n" + first + "  n += h_t[0];\n" + last) ==
          "usmp_added_1/1 |  | op | usmp_added_2/0 | usmp_held_1/1 | op");
  }
  CHECK(entry_of("typedef int32_t h_t;\n", first + "  n += (h_t)3;\n" + last) == "op |   n += (h_t)3; | op");
}

TEST_CASE("the size of an array of the entry is not that of a function's parameter") {
  const std::string array = "  int8_t tmp[16];\n  if (tvmgen_m_op(x_buffer_var, tmp) != 0) return -1;\n";
  const std::string refused = "found the size of array 'tmp', expected a number";
  CHECK(entry_of("", array + "  n += tmp[0];\n" + last) == "op | usmp_added_1/1 | op");
  CHECK(entry_of("", array + "  log_layer(tmp, sizeof(int8_t));\n" + last) == "op | usmp_added_1/1 | op");
  CHECK(entry_of("", array + "  n = !tmp[0] + -sum(tmp, 4);\n" + last) == "op | usmp_added_1/1 | op");
  CHECK(error_of("", array + "  log_layer(tmp, sizeof(tmp));\n" + last).find(refused) != std::string::npos);
  CHECK(error_of("#define COUNT(a) (sizeof(a) / sizeof((a)[0]))\n", array + "  log_layer(tmp, COUNT(tmp));\n" + last)
            .find(refused) != std::string::npos);
}

}  // namespace usmp::tvm_c::edited_entry_test

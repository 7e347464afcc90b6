// SPDX-License-Identifier: Apache-2.0
// What somebody added to tvmgen_MODULE_run.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::edited_run_test {
namespace {

const std::string params = "struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs";
const std::string call = "tvmgen_m___tvm_main__(inputs->x, outputs->y)";

std::string text_of(const std::string& body, const std::string& file = "", const std::string& of = params) {
  return file +
         "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 4; ++i) {\n    q[i] = p[i];\n  }\n" +
         "  return 0;\n}\n" +
         "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n"
         "  if (tvmgen_m_op(x_buffer_var, y_buffer_var) != 0 ) return -1;\n  return 0;\n}\n"
         "int32_t tvmgen_m_run(" +
         of + ") {" + body + "}\n";
}

PlannedModule read(const std::string& text, const std::set<std::string>& rewritten = {}) {
  const Source file{"lib0.c", text};
  return read_planned_module("m", {&file, 1}, {}, {}, Unread::kept, rewritten);
}

std::string kept_in(const PlannedModule& planned) {
  std::string text;
  for (const std::string& one : planned.module.functions[planned.module.entry].imported_c) text += one;
  return text;
}

TEST_CASE("what somebody added to the function that the firmware calls stays around the call of the planned one") {
  CHECK(read(text_of("return " + call + ";")).kept_run.empty());
  const std::string file = "#include <tvmgen_m.h>\nstatic int runs;\nstatic int unused = 3;\nint other = 3;\n";
  const std::string body =
      "\n  if (!inputs) return -3;\n  runs++;\n  int32_t status = " + call + ";\n  log(status);\n  return status;\n";
  for (const std::set<std::string>& rewritten : {std::set<std::string>(), std::set<std::string>{"lib0.c"}}) {
    const PlannedModule planned = read(text_of(body, file), rewritten);
    CHECK(planned.kept_run == std::vector<std::string>{"inputs.x", "outputs.y"});
    CHECK(!planned.edited_run);
    const std::string text = kept_in(planned);
    const std::string prototype =
        "int32_t usmp_tvmgen_m_run(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs); ";
    CHECK(
        text.find(prototype + "int32_t tvmgen_m_run(" + params +
                  ") {\n  if (!inputs) return -3;\n  runs++;\n  int32_t status = usmp_tvmgen_m_run(inputs, outputs);\n"
                  "  log(status);\n  return status;\n}\n") != std::string::npos);
    CHECK(text.find("static int runs;\n") != std::string::npos);
    CHECK(text.find("unused") == std::string::npos);
    CHECK((text.find("int other = 3;\n") != std::string::npos) == !rewritten.empty());
    CHECK(text.find("tvm_main__") == std::string::npos);
    for (const std::string& warning : planned.warnings) {
      CHECK(warning.find("usmp_tvmgen_m_run") == std::string::npos);  // it is not for somebody else to define
    }
  }
  // Each call, also in groups that are left out here, with lines as before; other names of the parameters.
  const std::string both =
      "\n#ifdef A\n  return 3 + tvmgen_m___tvm_main__((int8_t*)a->x,\n    b->y);\n#else\n  return "
      "tvmgen_m___tvm_main__(a->x, b->y);\n#endif\n";
  CHECK(kept_in(read(text_of(both, "", "struct tvmgen_m_inputs* a, struct tvmgen_m_outputs* b")))
            .find("\n#ifdef A\n  return 3 + usmp_tvmgen_m_run(a, b)\n;\n#else\n  return usmp_tvmgen_m_run(a, "
                  "b);\n#endif\n") != std::string::npos);
}

TEST_CASE("code around the call that is not understood is told") {
  const auto is_refused = [](const std::string& body, const std::string& file = "", const std::string& of = params) {
    const PlannedModule planned = read(text_of(body, file, of));
    return planned.kept_run.empty() && planned.edited_run.has_value();
  };
  CHECK(!is_refused("runs++; return " + call + ";"));
  CHECK(is_refused("runs++; return 0;"));
  CHECK(is_refused("int8_t x[4]; fill(x); return tvmgen_m___tvm_main__(x, outputs->y);"));
  CHECK(is_refused("runs++; return tvmgen_m___tvm_main__(inputs[n].x, outputs->y);"));
  CHECK(is_refused("runs++; return tvmgen_m___tvm_main__(inputs->x + 1, outputs->y);"));
  CHECK(is_refused("runs++; return tvmgen_m___tvm_main__(n ? inputs->x : inputs->y, outputs->y);"));
  CHECK(is_refused("runs++; f = tvmgen_m___tvm_main__; return f(inputs->x, outputs->y);"));
  CHECK(is_refused("runs++; return RUN;", "#define RUN " + call + "\n"));
  CHECK(is_refused("if (n) return RUN; return " + call + ";", "#define RUN " + call + "\n"));
  CHECK(is_refused("runs++; return " + call + ";", "", params + ", int n"));
  CHECK(is_refused("runs++; return " + call + ";", "", "struct other* inputs, struct tvmgen_m_outputs* outputs"));
  CHECK(is_refused("if (n) " + call + "; return tvmgen_m___tvm_main__(inputs->z, outputs->y);"));
  const PlannedModule planned = read(text_of("runs++; return 0;"));
  REQUIRE(planned.edited_run);
  CHECK(std::string(planned.edited_run->what())
            .find("expected nothing but the call of the entry, or one call that gets "
                  "members of the parameters and pools of this file") != std::string::npos);
  // What planned C does not have.
  CHECK_THROWS_AS((void)read(text_of("tvmgen_m_op(inputs->x, outputs->y); return " + call + ";")), Error);
}

TEST_CASE("static variables of one name in two files do not become one") {
  const auto planned_with = [](const std::string& variable) {
    const std::string all = text_of("\n  note(" + std::string("count); return ") + call + ";", "");
    const std::size_t run = all.find("int32_t tvmgen_m_run(");
    std::string front = all.substr(0, run);
    front.insert(front.find("  if (tvmgen_m_op"), "  note(count);\n");
    const std::string back = variable + all.substr(run);
    front = variable + front;
    const std::vector<Source> files = {{"lib0.c", back}, {"lib1.c", front}};
    return kept_in(read_planned_module("m", files, {}, {}, Unread::kept));
  };
  CHECK_THROWS_WITH_AS((void)planned_with("static int count;\n"), doctest::Contains("would be one variable"), Error);
  CHECK_THROWS_WITH_AS((void)planned_with("static int a, count;\n"), doctest::Contains("declares 'a'"), Error);
  CHECK(planned_with("static const int count = 3;\n").find("count = 3;") != std::string::npos);
}

TEST_CASE("a macro of one file is none of another") {
  const auto planned_with = [](const std::string& of_run, const std::string& of_entry) {
    const std::string all = text_of("\n  note(LANE); return " + call + ";", "");
    const std::size_t run = all.find("int32_t tvmgen_m_run(");
    std::string front = all.substr(0, run);
    front.insert(front.find("  if (tvmgen_m_op"), "  note(LANE);\n");
    const std::string back = of_run + all.substr(run);
    front = of_entry + front;
    const std::vector<Source> files = {{"lib0.c", back}, {"lib1.c", front}};
    return kept_in(read_planned_module("m", files, {}, {}, Unread::kept));
  };
  const std::string seven = "#define LANE 7\n";
  for (const std::string entry : {"#ifndef LANE\n#define LANE 3\n#endif\n", "#define LANE 3\n", "extern int LANE;\n"}) {
    CAPTURE(entry);
    CHECK_THROWS_WITH_AS((void)planned_with(seven, entry), doctest::Contains("uses 'LANE', a macro that lib0.c"),
                         Error);
  }
  CHECK(planned_with(seven, seven).find(seven) != std::string::npos);
  CHECK(planned_with("#define SEVEN 7\nextern int LANE;\n", "extern int LANE;  // not SEVEN\n").find("SEVEN 7") !=
        std::string::npos);
}

}  // namespace
}  // namespace usmp::tvm_c::edited_run_test

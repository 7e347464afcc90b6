// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Workspace that C of other code generators takes at run time, as buffers of the module.
#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "usmp/pipeline/program.hpp"
#include "usmp/support/error.hpp"
#include "usmp/tir/printer.hpp"

namespace usmp::pipeline::foreign_workspace_test {
namespace {

const std::string entry =
    "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var) {\n"
    "  int8_t a[16];\n"
    "  if (ext(in_buffer_var, a) != 0 ) return -1;\n"
    "  if (ext(a, output_buffer_var) != 0 ) return -1;\n"
    "  return 0;\n}\n";
const std::string kernel =
    "int32_t ext(int8_t* p, int8_t* q) {\n"
    "  void* a = TVMBackendAllocWorkspace(1, 0, (uint64_t)20, 0, 8);\n"
    "  return TVMBackendFreeWorkspace(1, 0, a);\n}\n";

model::Description description() {
  model::Description info;
  info.name = "m";
  info.inputs = {{"in", "int8", 16}};
  info.outputs = {{"output", "int8", 16}};
  info.foreign_functions = {{"ext", "int32_t ext(int8_t* p, int8_t* q)", "lib2.c", true}};
  info.foreign_members = {"lib2.c"};
  return info;
}

SourceModule read(const std::string& c, const std::string& foreign, bool is_shared = false,
                  const std::string& header = {}) {
  CFiles files{.own = {{"lib1.c", c}}, .foreign = {{"lib2.c", foreign}}};
  if (is_shared) files.shared = {"lib2.c"};
  if (!header.empty()) files.headers = {{"kernels.h", header}};
  return read_module(description(), files);
}

std::string entry_of(const SourceModule& source) {
  return tir::print(source.module, source.module.functions[source.module.entry]);
}

// Beside an operator whose C stays, and which has the prototype.
std::string with_kept(const std::string& body) {
  std::string with_call = entry;
  with_call.insert(with_call.find("  return 0;"), "  if (tvmgen_m_op(a, a) != 0 ) return -1;\n");
  return "int32_t ext(int8_t* p, int8_t* q);\nint32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n" + body + "}\n" + with_call;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t result = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++result;
  return result;
}

}  // namespace

TEST_CASE("workspace of other code generators is a buffer of each call") {
  const SourceModule source = read(entry, kernel);
  const std::string text = entry_of(source);
  CAPTURE(text);
  CHECK(count(text, ": uint8[20]") == 2);
  CHECK(source.module.functions[*source.module.find("ext")].params.size() == 3);
  REQUIRE(source.changed.size() == 1);
  CHECK(source.changed[0].file == "lib2.c");
  CHECK(source.info.foreign_functions[0].prototype == "int32_t ext(int8_t* p, int8_t* q, uint8_t* usmp_workspace)");
  CHECK_FALSE(source.info.foreign_functions[0].allocates_workspace);

  // Planned before: calls have it.
  std::string planned = entry;
  for (const std::string& call : {std::string("ext(in_buffer_var, a"), std::string("ext(a, output_buffer_var")}) {
    planned.insert(planned.find(call) + call.size(), ", a");
  }
  model::Description info = source.info;
  const SourceModule again =
      read_module(info, CFiles{.own = {{"lib1.c", planned}}, .foreign = {{"lib2.c", source.changed[0].text}}});
  CHECK(count(entry_of(again), "uint8[20]") == 0);
  CHECK(again.changed.empty());
  CHECK(again.info.foreign_functions[0].prototype == source.info.foreign_functions[0].prototype);
}

TEST_CASE("workspace of other code generators: C that stays gets the new prototype") {
  const SourceModule source = read(with_kept("again:\n  goto again;\n"), kernel);
  CHECK(count(entry_of(source), ": uint8[20]") == 2);
  const std::vector<std::string>& texts = source.module.functions[source.module.entry].imported_c;
  REQUIRE(texts.size() == 1);
  CHECK(texts[0].starts_with("int32_t ext(int8_t* p, int8_t* q, uint8_t* usmp_workspace);\n"));
  CHECK(source.changed.size() == 1);
}

TEST_CASE("workspace of other code generators: what other C calls stays") {
  CFiles files{.own = {{"lib1.c", entry}}, .foreign = {{"lib2.c", kernel}}};
  files.mentioned_elsewhere = [](const std::set<std::string, std::less<>>& names) {
    return names.contains("ext") ? CFiles::Mentioned{{"ext", "app.c"}} : CFiles::Mentioned();
  };
  CHECK(read_module(description(), files).changed.empty());
  files.mentioned_elsewhere = nullptr;
  CHECK(read_module(description(), files).changed.size() == 1);
}

TEST_CASE("operators and constants that other C mentions are named, or refused in place") {
  model::Description info;
  info.name = "m";
  info.inputs = {{"in", "int8", 16}};
  info.outputs = {{"output", "int8", 16}};
  const auto said = [&](const std::string& user, const std::string& linkage, bool in_place,
                        const std::string& more = {}) {
    const std::string text = linkage +
                             "const int8_t gains[2] = {3, 4};\nint32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n"
                             "  for (int32_t i = 0; i < 16; ++i) {\n    q[i] = (int8_t)(p[i] * gains[i & 1]);\n  }\n"
                             "  return 0;\n}\nint32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* "
                             "output_buffer_var) {\n  if (tvmgen_m_op(in_buffer_var, output_buffer_var) != 0 ) return "
                             "-1;\n  return 0;\n}\n";
    CFiles files{.own = {{"lib1.c", text}}, .foreign = {}};
    if (!more.empty()) files.headers = {{"gains.h", more}};
    if (in_place) files.rewritten = {"lib1.c"};
    files.mentioned_elsewhere = [&](const std::set<std::string, std::less<>>& names) {
      return names.contains(user) ? CFiles::Mentioned{{user, "app.c"}} : CFiles::Mentioned();
    };
    try {
      std::string all;
      for (const std::string& one : read_module(info, files).warnings) {
        if (!one.starts_with("no file of the model")) all += one + "\n";
      }
      return all;
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  CHECK(said("", "static ", false).empty());
  CHECK(said("gains", "static ", true).empty());  // another one
  CHECK(said("tvmgen_m_op", "static ", false) ==
        "lib1.c: operator 'tvmgen_m_op' (line 2, column 1) is not in planned C, and app.c mentions it: give that code "
        "its own\n");
  CHECK(
      said("tvmgen_m_op", "static ", true) ==
      "lib1.c: line 2, column 1: found operator 'tvmgen_m_op', which app.c mentions, expected one that this model "
      "alone uses: planned C does not have it; give that code its own, or make this one static, if that is another of "
      "the name");
  CHECK(said("tvmgen_m___tvm_main__", "static ", true).empty());
  for (const bool in_place : {false, true}) {
    CHECK(said("", "", in_place) ==
          "lib1.c: constant 'gains' (line 1, column 1) is not in planned C, and not static: other files that use it "
          "need their own\n");
    CHECK(said("gains", "", in_place).find(in_place ? "found constant 'gains', which app.c" : "app.c mentions it") !=
          std::string::npos);
    CHECK(said("", "", in_place, "extern const int8_t gains[2];\n").empty());
  }
}

TEST_CASE("workspace of other code generators: what is called otherwise stays") {
  const auto stays = [](const std::string& c, const std::string& foreign, bool is_shared = false,
                        const std::string& header = {}) {
    const SourceModule source = read(c, foreign, is_shared, header);
    CHECK(count(entry_of(source), "uint8[20]") == 0);
    CHECK(source.module.functions[*source.module.find("ext")].params.size() == 2);
    CHECK(source.changed.empty());
    CHECK(source.info.foreign_functions[0].prototype == "int32_t ext(int8_t* p, int8_t* q)");
    CHECK(source.info.foreign_functions[0].allocates_workspace);
  };
  std::string other = kernel;
  other.replace(other.find("int8_t* q"), 9, "int8_t* q, int32_t n");
  stays(entry, other);
  stays("#include \"kernels.h\"\n" + entry, kernel, false, "int32_t ext(int8_t* p, int8_t* q);\n");
  stays(entry, kernel, true);  // another module of the archive has the file, too
  stays(with_kept("again:\n  (void)ext(p, q);\n  goto again;\n"), kernel);  // an operator whose C stays calls it
}

}  // namespace usmp::pipeline::foreign_workspace_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Definitions found in C, and the library that each file of an archive is given to.
#include <doctest/doctest.h>

#include "mlf/c_text.hpp"
#include "usmp/mlf/metadata.hpp"

namespace usmp::mlf::libraries_test {
namespace {

std::vector<std::string> prototypes(std::string_view text) {
  std::vector<std::string> result;
  for (const CFunction& function : CText(text).defined_functions()) {
    CHECK(function.prototype.find(function.name) != std::string::npos);
    result.push_back(function.prototype);
  }
  return result;
}

using Strings = std::vector<std::string>;

TEST_CASE("tables are passed over, and what stands behind them is found") {
  const auto names = [](std::string_view text) {
    Strings result;
    for (const CFunction& function : functions_of_file(text)) result.push_back(function.name);
    return result;
  };
  CHECK(names("static const int8_t a[4] = {\n +0x01, -0x02,\n 3, 4\n};\nint f(void) { return 1; }\n") == Strings{"f"});
  CHECK(names("// {\nint f(void) { return 1; }") == Strings{"f"});
  CHECK(names("// {1, 2,\n  int f(void) { return 1; }") == Strings{"f"});
  CHECK(names("#define OPEN {1,\nint f(void) { return 1; }\nint g(void) { }") == Strings{"f", "g"});
  CHECK(names("char c = '{'; int f(void) { return 1; }") == Strings{"f"});
  CHECK(names("int a[] = {1,\n#if 1\n2, }\n#else\n}\n#endif\n;int f(void) { }").size() < 2);
  CHECK(names("int a[] = {1, #\n };\nint f(void) { }") == Strings{"f"});
}

TEST_CASE("definitions are found as external code generators write them") {
  CHECK(prototypes(R"(
#include <stdint.h>
#define BODY(x) int32_t no(void) { \
  return x; }
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_default_f(int8_t* input_,
                                 /* the result */ int8_t*   output_) {
  if (input_) { return '}'; } // }
  return "{{{"[0];
}
)") == Strings{"int32_t tvmgen_default_f(int8_t* input_, int8_t* output_)"});
  CHECK(prototypes("extern \"C\" {\nint a(void) { return 0; }\nint b(void)\n{ return 1; }\n}\nint c() { { } }") ==
        Strings{"int a(void)", "int b(void)", "int c()"});
  CHECK(prototypes("__attribute__((section(\".itcm\"))) int f(int (*g)(int)) __attribute__((noinline)) { }") ==
        Strings{"int f(int (*g)(int))"});
  CHECK(prototypes("float f(float f) { return f; }") == Strings{"float f(float f)"});
  CHECK(prototypes("int 'a; {\nf(int a) { }").empty());
  CHECK(prototypes(
            "IRAM_ATTR int32_t f(int a) { }\nvoid IRAM_ATTR g(void) { }\n#ifdef ESP32\nIRAM_ATTR\n#endif\nint h(void) "
            "{ }\nAPI status i(void) { }\nstruct s k(void) { }\nconst char* API l(void) { }") ==
        Strings{"int32_t f(int a)", "void g(void)", "int h(void)", "API status i(void)", "struct s k(void)",
                "const char* API l(void)"});
}

TEST_CASE("declarations, data, types and static helpers are no definitions") {
  CHECK(prototypes("int f(void);\nstatic int g(void) { return 0; }\nstatic inline int h(void) { return 0; }\n"
                   "struct s { int x; };\nint a[2] = { 1, 2 };\nenum e { A };\ntypedef struct { int y; } t;\n"
                   "int (*table[1])(void) = { f };\nMACRO(x) { }\n")
            .empty());
}

TEST_CASE("comments and line splices may stand between the tokens of a definition") {
  for (const std::string& text :
       Strings{"int m_run /* ( */ (void* a /* :) */) // {\n{ return 0; }", "int m_run \\\n (void* a) \\\r\n {}",
               "int \\\nm_run(void* a)\\\n{}", "int m_run // (\\\n no(\n(void* a) {}"}) {
    CAPTURE(text);
    CHECK(defines_ending_in(text, "m_run"));
    const auto functions = functions_of_file(text);
    REQUIRE(functions.size() == 1);
    CHECK(functions[0].name == "m_run");
  }
  CHECK_FALSE(defines_ending_in("int m_run(void* a); // {\n{", "m_run"));
  CHECK_FALSE(defines_ending_in("m_run /* ( ) { */", "m_run"));
  CHECK(defined_parameters("int m_run(int); int n_m_run(a) {} int m_run /* */ (TVMValue* a) // {\n{}", "m_run") ==
        "TVMValue* a");
  CHECK(defined_parameters("int m_run(void (*f)(int /* ) */), int n) {", "m_run") == "void (*f)(int /* ) */), int n");
  CHECK_FALSE(defined_parameters("int m_run(TVMValue* a); void f(void) { m_run(a); }", "m_run"));
}

TEST_CASE("odd text gives findings or none, and ends") {
  for (const char* text : {"", "{", "}", "}}} int f(void) {", "/*", "//", "\"", "'", "\\", "#", "int f(void", "(", ")",
                           ") {", "int f) {", "/* int f(void) {} ", "#\\"}) {
    CAPTURE(text);
    CHECK(prototypes(text).size() <= 1);
    (void)included_headers(text);
    (void)CText(text).struct_members("s");
    (void)CText(text).number_macros();
    (void)defines_ending_in(text, "f");
  }
  std::string nest(1000000, '(');
  CHECK(prototypes(nest).empty());
  std::string unclosed;
  for (int i = 0; i < 100000; ++i) unclosed += "a___tvm_main__(";
  CHECK_FALSE(defines_ending_in(unclosed, "___tvm_main__"));
  CHECK_FALSE(defined_parameters(unclosed, "a___tvm_main__"));
  std::string words;
  for (int i = 0; i < 200000; ++i) words += "extern TVM_DLL ";
  CHECK(prototypes(words + "{}").empty());
}

Archive archive_of(std::vector<std::pair<std::string, std::string>> files) {
  Archive archive;
  archive.path = "a.tar";
  archive.members.push_back(
      {"metadata.json", R"({"version": 7, "modules": {"a": {"executors": ["aot"]}, "a_lib1": {}, "b": {}}})", 0644});
  for (auto& [name, bytes] : files) archive.members.push_back({"codegen/host/" + name, bytes, 0644});
  return archive;
}

Strings function_names(const model::Description& module) {
  Strings result;
  for (const model::ForeignFunction& function : module.foreign_functions) result.push_back(function.name);
  return result;
}

TEST_CASE("each module gets its own libraries, files of no module go to all") {
  const Metadata metadata = read_metadata(archive_of({
      {"src/a_lib0.c", "int32_t tvmgen_a_run(void) {return tvmgen_a___tvm_main__(); }"},
      {"src/a_lib1.c", "int32_t tvmgen_a___tvm_main__(void) { return 0; }\nint32_t op(void) { return 0; }"},
      {"src/a_lib2.c", "// tvm target: cmsis-nn \nint32_t a_kernel(void) { return 0; }"},
      {"src/a_lib3.c", "// tvm target: c -keys=cpu\nint32_t second_library_of_operators(void) { return 0; }"},
      {"src/a_lib1_lib2.c", "int32_t a_lib1_kernel(void) { return TVMBackendAllocWorkspace(1, 0, 8, 0, 8) != 0; }"},
      {"src/b_lib1.c", "struct TVMMetadata kTvmgenMetadata[1] = {};\nint32_t tvmgen_b_get_c_metadata(void) {}"},
      {"src/shared.c", "/* TVMBackendAllocWorkspace */ int32_t shared(void) { return 0; }"},
      {"src/start.S", "nop"},
      {"src/notes.txt", "nothing"},
  }));
  REQUIRE(metadata.modules.size() == 3);
  const Strings shared = {"codegen/host/src/shared.c", "codegen/host/src/start.S"};
  CHECK(function_names(metadata.modules[0]) == Strings{"a_kernel", "shared"});
  CHECK(metadata.modules[0].foreign_members ==
        Strings{"codegen/host/src/a_lib2.c", "codegen/host/src/shared.c", "codegen/host/src/start.S"});
  CHECK(function_names(metadata.modules[1]) == Strings{"a_lib1_kernel", "shared"});
  CHECK(metadata.modules[1].foreign_functions[0].member == "codegen/host/src/a_lib1_lib2.c");
  CHECK(metadata.modules[1].foreign_functions[0].allocates_workspace);
  CHECK_FALSE(metadata.modules[1].foreign_functions[1].allocates_workspace);
  CHECK(function_names(metadata.modules[2]) == Strings{"shared"});
  CHECK(metadata.modules[2].foreign_members == shared);
}

TEST_CASE("constants that an earlier plan wrote as files are not taken for code of the archive's own") {
  const std::string stub = "/* Parameter pool \"flash\" of module \"b\". Written by usmp-plan; do not edit.\n */\n";
  const Metadata metadata = read_metadata(archive_of({
      {"src/b_flash.S", stub},
      {"src/b_flash.bin", "weights"},
      {"src/other.S", "/* Parameter pool \"flash\" of somebody else */\n"},
      {"src/other.bin", "weights"},
      {"src/alone.bin", "weights"},
      {"src/user.c", "int32_t user(void) { return 0; }"},
      {"src/b_info.c", "/* Description of module \"b\". Written by usmp-plan; do not edit. */\nstatic int pools[1];\n"},
  }));
  CHECK(metadata.modules[2].foreign_members == Strings{"codegen/host/src/alone.bin", "codegen/host/src/other.S",
                                                       "codegen/host/src/other.bin", "codegen/host/src/user.c"});
}

TEST_CASE("headers are taken along when something needs them") {
  const Metadata metadata = read_metadata(archive_of({
      {"src/b_lib2.c",
       "#include <stdint.h>\n  #  include \"one.h\"\n#include <two.h>\n#include <tvmgen_b.h>\n"
       "int32_t f(void) { return 0; }"},
      {"src/one.h", "#include \"deep/three.h\""},
      {"include/two.h", "#include \"two.h\""},
      {"include/deep/three.h", ""},
      {"include/unused.h", ""},
      {"include/tvmgen_b.h", ""},
  }));
  CHECK(metadata.modules[2].foreign_members == Strings{"codegen/host/include/deep/three.h",
                                                       "codegen/host/include/two.h", "codegen/host/src/b_lib2.c",
                                                       "codegen/host/src/one.h"});
  CHECK(metadata.modules[0].foreign_members.empty());
}

TEST_CASE("the packed interface is told by the entry point's arguments") {
  const auto packed = [](const std::string& text) {
    return read_metadata(archive_of({{"src/b_lib0.c", text}})).modules[2].packed_interface;
  };
  CHECK(packed("int32_t tvmgen_b_run(TVMValue* args, int* type_code) {}"));
  CHECK(packed("int32_t  tvmgen_b_run\n(\n  TVMValue * args) {}"));
  CHECK(packed("int32_t tvmgen_b_run(void* args, void* type_code, int num_args) {}"));  // TVM 0.8
  // Without that, by those of the entry.
  const std::string entry = "int32_t tvmgen_b___tvm_main__(void* args, int32_t* types, int32_t num_args) {}\n";
  CHECK(packed(entry));
  CHECK(packed("int32_t tvmgen_b_run_model(void* args, void* types, int32_t num_args) {}"));
  CHECK_FALSE(packed("int32_t tvmgen_b___tvm_main__(void* x, void* y) {}"));
  // TVM's registry beside the C interface declares all functions so.
  const std::string registry = "TVM_DLL int32_t tvmgen_b_run(TVMValue* args, int* type_code, int num_args);\n";
  CHECK_FALSE(packed(registry + "int32_t tvmgen_b_run(struct tvmgen_b_inputs* inputs) {}"));
  CHECK_FALSE(packed(registry + "int32_t tvmgen_b___tvm_main__(void* x, void* y) {}"));
  CHECK_FALSE(packed(entry + "int32_t tvmgen_b_run(struct tvmgen_b_inputs* inputs) {}"));
  CHECK_FALSE(packed("int32_t tvmgen_b_run(struct tvmgen_b_inputs* inputs) { TVMValue x; }"));
  CHECK_FALSE(packed("int32_t tvmgen_b_run_all(TVMValue* args) {}"));
  CHECK_FALSE(packed("int32_t tvmgen_a_run(TVMValue* args) {}"));
}

}  // namespace
}  // namespace usmp::mlf::libraries_test

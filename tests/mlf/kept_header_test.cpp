// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Headers with additions, whose values become the plan's, and headers that cannot stay.
#include "usmp/mlf/kept_header.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace usmp::mlf::kept_header_test {
namespace {

const std::string model =
    "struct tvmgen_m_inputs {\n  void* x;\n};\nint32_t tvmgen_m_run(\n  struct tvmgen_m_inputs* inputs\n);\n";
const std::string planned = "#ifndef TVMGEN_M_H\n#define TVMGEN_M_H\n#include <stdint.h>\n" + model +
                            "#define TVMGEN_M_X_SIZE 64\n#define TVMGEN_M_WORKSPACE_SIZE 128\n"
                            "#define TVMGEN_M_SRAM_WORKSPACE_POOL_SIZE 128\n#endif\n";
const std::string size = "#define TVMGEN_M_WORKSPACE_SIZE 4096\n";
const std::string added = "uint8_t* where(void);\n";

std::optional<std::string> kept(const std::string& before, const std::string& after = planned,
                                const std::string& c = "int32_t tvmgen_m_run() {}") {
  return kept_header(before, after, c, "tvmgen_m", {"tvmgen_m_fused_add", "helper", "sram"});
}

TEST_CASE("a header that somebody added to keeps its text, with the values of the plan") {
  for (const std::string& more :
       {added, std::string("#define LIMIT 3\n"), std::string("#define TVMGEN_M_NPU\n#define TVMGEN_M_CLASSES 3\n"),
        std::string("#include <stddef.h>\n"), std::string("extern int runs;\n"),
        std::string("typedef struct { int a; } t;\n"), std::string("struct own { int a; };\n"),
        std::string("enum { CLASSES = 3 };\n"), std::string("union own { int a; };\n"),
        std::string("extern int (*hook)(int);\n"),
        std::string("#ifndef M_H\n#define M_H\n#endif\n#ifndef LIMITED\n#define LIMITED\n#endif\n"),
        std::string("static inline int one(void) { return 1; }\n")}) {
    CHECK(kept(model + size + more) == model + "#define TVMGEN_M_WORKSPACE_SIZE 128\n" + more);
  }
  // A value of any form, and what stands around it.
  CHECK(kept(model + added +
             "  #define TVMGEN_M_WORKSPACE_SIZE\t(16 * 1024)\t /* as of TVM */\r\n#define TVMGEN_M_X_SIZE 64") ==
        model + added + "  #define TVMGEN_M_WORKSPACE_SIZE\t128\t /* as of TVM */\r\n#define TVMGEN_M_X_SIZE 64");
  CHECK(kept(model + added + "#\t define  TVMGEN_M_WORKSPACE_SIZE 4096\n") ==
        model + added + "#\t define  TVMGEN_M_WORKSPACE_SIZE 128\n");
  CHECK(kept(model + added) == model + added);
  CHECK(kept(model + added + "// TVMGEN_M_WORKSPACE_SIZE\n") == model + added + "// TVMGEN_M_WORKSPACE_SIZE\n");
}

TEST_CASE("a header without additions is written anew") {
  CHECK(!kept(model + size));
  CHECK(!kept("/* by TVM */\n#ifndef M_H\n#define M_H\n#include <stdint.h>\n" + model + size + "#endif\n"));
}

TEST_CASE("a header is not kept where planned C and the firmware would not fit together") {
  REQUIRE(kept(model + size + added));
  // TVM's declarations that planned C has not.
  for (const char* macro : {"DTCM_WORKSPACE_POOL_SIZE", "FLASH_CONSTANT_POOL_DATA", "DTCM_WORKSPACE_POOL_ALIGNMENT"}) {
    CHECK(!kept(model + size + added + "#define TVMGEN_M_" + macro + " 16\n"));
  }
  CHECK(!kept(model + size + added + "struct tvmgen_m_workspace_pools { void* sram; };\n"));
  CHECK(!kept(model + size + added + "struct tvmgen_m_inputs tvmgen_m_map_inputs(void);\n"));
  // Functions of the model's.
  CHECK(!kept(model + size + added + "int32_t tvmgen_m_fused_add(int8_t* p);\n"));
  CHECK(!kept(model + size + added + "int helper(void);\n"));
  // Pools of the C, which planned C has under another name.
  CHECK(!kept(model + size + added + "extern uint8_t sram[4096];\n"));
  // What planned C has and the header has not, or otherwise.
  CHECK(!kept(size + added));
  std::string other = model;
  other.replace(other.find("void* x"), 7, "void* y");
  CHECK(!kept(other + size + added));
  CHECK(!kept(model + size + added, planned + "struct tvmgen_m_outputs { void* y; };\n"));
  CHECK(!kept(model + size + added, planned, "char a[TVMGEN_M_X_SIZE];"));
  CHECK(kept(model + size + added + "#define TVMGEN_M_X_SIZE 64\n", planned, "char a[TVMGEN_M_X_SIZE];"));
  // Values that cannot be replaced.
  CHECK(!kept(model + added + "#ifdef A\n" + size + "#else\n" + size + "#endif\n"));
  CHECK(!kept(model + added + "#define TVMGEN_M_WORKSPACE_SIZE 4096 + \\\n 1\n"));
  for (const char* define : {"# define ", "#\tdefine\t", "#define\t"}) {
    CHECK(!kept(model + added + "#ifdef A\n" + size + "#else\n" + define + "TVMGEN_M_WORKSPACE_SIZE 8192\n#endif\n"));
  }
}

}  // namespace
}  // namespace usmp::mlf::kept_header_test

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// An archive under another name, file by file.
#include "usmp/mlf/rename.hpp"

#include <doctest/doctest.h>

namespace usmp::mlf::rename_test {

TEST_CASE("a module's new name is in every symbol, file and macro, and in nothing else") {
  Archive archive;
  archive.members = {
      {"src/default.tir.json", R"({"a": "tvmgen_default___tvm_main__", "b": "tvmgen_default2_f"})", 0644},
      {"codegen/host/src/default_lib0.c", "int32_t tvmgen_default_run(void); /* atvmgen_default_x */", 0644},
      {"codegen/host/src/default_lib2.c",
       "#include \"tvmgen_default.h\"\nint TVMGEN_DEFAULT_N, tvmgen_default_cmsis, tvmgen_default", 0644},
      {"codegen/host/src/kernels.c", "void kernel(void);", 0644},
      {"default.plan.json", "{}", 0644},
      {"metadata.json", "tvmgen_default_x", 0644}};
  model::Description info;
  info.name = "default";
  info.tir_member = "src/default.tir.json";
  info.c_members = {"codegen/host/src/default_lib0.c"};
  info.foreign_members = {"codegen/host/src/default_lib2.c", "codegen/host/src/kernels.c"};
  info.foreign_functions = {{"tvmgen_default_cmsis", "int tvmgen_default_cmsis(void)", info.foreign_members[0]}};
  rename_module(archive, info, "kws");
  CHECK(info.name == "kws");
  CHECK(info.foreign_functions[0].name == "tvmgen_kws_cmsis");
  CHECK(info.foreign_functions[0].prototype == "int tvmgen_kws_cmsis(void)");
  CHECK(info.foreign_functions[0].member == "codegen/host/src/kws_lib2.c");
  CHECK(info.foreign_members == std::vector<std::string>{"codegen/host/src/kws_lib2.c", "codegen/host/src/kernels.c"});
  CHECK(info.c_members == std::vector<std::string>{"codegen/host/src/kws_lib0.c"});
  const auto bytes = [&](const char* name) {
    const Member* member = archive.find(name);
    REQUIRE_MESSAGE(member != nullptr, name);
    return member->bytes;
  };
  CHECK(bytes("src/default.tir.json") == R"({"a": "tvmgen_kws___tvm_main__", "b": "tvmgen_default2_f"})");
  CHECK(bytes("codegen/host/src/kws_lib0.c") == "int32_t tvmgen_kws_run(void); /* atvmgen_default_x */");
  CHECK(bytes("codegen/host/src/kws_lib2.c") ==
        "#include \"tvmgen_kws.h\"\nint TVMGEN_KWS_N, tvmgen_kws_cmsis, tvmgen_kws");
  CHECK(bytes("kws.plan.json") == "{}");
  CHECK(bytes("metadata.json") == "tvmgen_default_x");
}

}  // namespace usmp::mlf::rename_test

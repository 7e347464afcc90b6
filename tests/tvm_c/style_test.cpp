// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which versions of TVM may have printed a file.
#include "usmp/tvm_c/style.hpp"

#include <doctest/doctest.h>

#include <string>

namespace usmp::tvm_c::style_test {
namespace {

std::string version_of(const std::string& text) {
  const Source file{"lib1.c", text};
  return version_by_style({&file, 1});
}

const std::string main_function = "int32_t tvmgen_m___tvm_main__(void* a) { return 0; }\n";
const std::string two = "int32_t tvmgen_m_f(void* a) { return 0; }\nint32_t tvmgen_m_g(void* a) { return 0; }\n";

TEST_CASE("each habit of the printer narrows the versions") {
  CHECK(version_of("int32_t tvmgen_m_run_model(void* arg0) { return 0; }") == "0.8");
  CHECK(version_of(main_function) == "0.9 to 0.18");
  CHECK(version_of("// tvm target: c -keys=cpu -link-params=0\n" + main_function) == "0.9 to 0.10");
  CHECK(version_of("// tvm target: c\n" + main_function) == "0.9 to 0.11");
  CHECK(version_of("#include <stdbool.h>\n" + two + main_function) == "0.11 to 0.15");
  CHECK(version_of("int32_t tvmgen_m_f(void* a);\nint32_t tvmgen_m_g(void* a);\n" + two + main_function) ==
        "0.16 to 0.18");
  CHECK(version_of("int32_t tvmgen_m___tvm_main__(void* a);\n" + two + main_function) ==
        "0.9 to 0.15");  // two files in one
  CHECK(version_of("int32_t tvmgen_m___tvm_main__(void* a) {\n  while( 1 ) { }\n}") == "0.16 to 0.18");
  CHECK(version_of(main_function + "static const struct workspace { int8_t a[1]; } workspace = {.a = {1}};") ==
        "0.17 to 0.18");
  CHECK(version_of(main_function + "static struct workspace { int8_t a[1]; } workspace = {.a = {1}};") ==
        "0.9 to 0.16");
  CHECK(version_of(main_function + "static const struct TVMTensorInfo info[1] = { };") == "0.9 to 0.18");
  CHECK(version_of("int32_t tvmgen_m___tvm_main__(void* a) { float* x = (float*)a; }") == "0.18");
  CHECK(version_of("int32_t tvmgen_m___tvm_main__(void* a) { void* x = (&(a)); }") == "0.9 to 0.18");
}

TEST_CASE("what no version writes has none") {
  CHECK(version_of("int32_t tvmgen_m_run_model(void* a) { while (1) { } }").empty());
  CHECK(version_of("#if A && B\n").empty());
}

}  // namespace
}  // namespace usmp::tvm_c::style_test

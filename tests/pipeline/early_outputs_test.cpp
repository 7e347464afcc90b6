// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Outputs written while inputs are still read, in entries as C.
#include "pipeline/early_outputs.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace usmp::pipeline::early_outputs_test {
namespace {

// in → kept → output, and a second output from the same input.
const std::string operators =
    "int32_t tvmgen_m_copy(int8_t* p, int8_t* q) {\n"
    "  for (int32_t i = 0; i < 16; ++i) {\n    q[i] = p[i];\n  }\n  return 0;\n}\n"
    "int32_t tvmgen_m_twice(int8_t* p, int8_t* q, int8_t* r) {\n"
    "  for (int32_t i = 0; i < 16; ++i) {\n    q[i] = p[i];\n    r[i] = q[i];\n  }\n  return 0;\n}\n"
    "int32_t tvmgen_m___tvm_main__(int8_t* in_buffer_var, int8_t* output_buffer_var) {\n"
    "  void* sid_1 = TVMBackendAllocWorkspace(1, 0, (uint64_t)16, 0, 8);\n  if (sid_1 == NULL) {\n    return -1;\n  "
    "}\n";
const std::string end = "  if (TVMBackendFreeWorkspace(1, 0, sid_1) != 0) {\n    return -1;\n  }\n  return 0;\n}\n";
const std::string apart =
    "  if (tvmgen_m_copy(in_buffer_var, sid_1) != 0 ) return -1;\n"
    "  if (tvmgen_m_copy(sid_1, output_buffer_var) != 0 ) return -1;\n";
const std::string together = "  if (tvmgen_m_twice(in_buffer_var, sid_1, output_buffer_var) != 0 ) return -1;\n";

SourceModule module_of(const std::string& calls) {
  model::Description info;
  info.name = "m";
  info.inputs = {{"in", "int8", 16}};
  info.outputs = {{"output", "int8", 16}};
  const std::string c = operators + calls + end;
  return read_module(info, CFiles{.own = {{"lib1.c", c}}, .foreign = {}});
}

}  // namespace

TEST_CASE("an output that is written while an input is still read is named, if TVM's program is done with it by then") {
  const std::vector<std::string> expected = {
      "output 'output' is written before input 'in' is read for the last time, other than in TVM's program: an "
      "application must not give both the same memory; with --transform constants,reorder,inplace it may"};
  CHECK(early_outputs(module_of(apart), module_of(together).module) == expected);
  CHECK(early_outputs(module_of(apart), module_of(apart).module).empty());
  CHECK(early_outputs(module_of(together), module_of(together).module).empty());
  CHECK(early_outputs(module_of(apart + apart), module_of(together).module).empty());
}

}  // namespace usmp::pipeline::early_outputs_test

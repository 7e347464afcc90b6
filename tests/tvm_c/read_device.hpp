// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Models of which a file of another code generator has an operator, tvmgen_m_npu.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tvm_c/read_entry.hpp"

namespace usmp::tvm_c::test {

inline std::string taken(int number) {
  const std::string name = "sid_" + std::to_string(number);
  return "  void* " + name + " = TVMBackendAllocWorkspace(1, 0, (uint64_t)16, 0, 8);\n  if (" + name +
         " == NULL) {\n    return -1;\n  }\n";
}

inline const std::string start_npu = "  if (tvmgen_m_npu(x_buffer_var, sid_1) != 0) return -1;\n";
inline const std::string use_host = "  if (tvmgen_m_op(x_buffer_var, sid_2) != 0) return -1;\n";
inline const std::string wait_npu = "  npu_wait();\n";
inline const std::string read_npu = "  if (tvmgen_m_op(sid_1, y_buffer_var) != 0) return -1;\n";

struct ReadDevice {
  std::string entry;
  std::string warnings;
};

// `device`: the text of that file; `front`: what stands in front of the entry.
inline ReadDevice read_device(const std::string& device, const std::string& statements, const std::string& front = {},
                              const std::set<std::string>& synchronous = {}, const std::string& header = {},
                              std::size_t headers_of_its_name = 1) {
  const std::string text = two_operators + "void npu_wait(void);\n" + front +
                           "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n" + taken(1) +
                           taken(2) + statements + "  return 0;\n}\n";
  const Source file{"lib1.c", text};
  std::vector<Source> headers = {{"board.h", header}};
  if (headers_of_its_name > 1) headers.push_back({"other/board.h", header});
  std::vector<Foreign> npus = {{"tvmgen_m_npu", "int32_t tvmgen_m_npu(int8_t* a, int8_t* b)", "lib2.c", device}};
  if (device.find("tvmgen_m_npu2") != std::string::npos) {
    npus.push_back({"tvmgen_m_npu2", "int32_t tvmgen_m_npu2(int8_t* a, int8_t* b)", "lib2.c", device});
  }
  const PlannedModule read = read_planned_module("m", {&file, 1}, npus, {}, Unread::kept, {}, headers, synchronous);
  std::string warnings;
  for (const std::string& one : read.warnings) warnings += one + "\n";
  return {tir::print(read.module, read.module.functions[read.module.entry]), warnings};
}

inline std::string device_file(const std::string& body, const std::string& front = "static int8_t *from, *to;\n") {
  return front + "int32_t tvmgen_m_npu(int8_t* a, int8_t* b) {\n" + body + "  return 0;\n}\n";
}

}  // namespace usmp::tvm_c::test

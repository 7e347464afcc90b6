// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Models of one file whose entry the tests write.
#pragma once

#include <string>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::test {

// Operators that copy: tvmgen_m_dev, which may fail, and tvmgen_m_op.
inline const std::string two_operators =
    "#include <stdint.h>\nint32_t device(int32_t n);\n"
    "int32_t tvmgen_m_dev(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 4; ++i) {\n    q[i] = p[i];\n  }\n"
    "  if (device(1) != 0) return -1;\n  return 0;\n}\n"
    "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 4; ++i) {\n    q[i] = p[i];\n  }\n"
    "  return 0;\n}\n";

// The entry as TIR, or why it is not read. `before`: macros and operators; `header`: the text of check.h.
inline std::string read_entry(const std::string& before, const std::string& statements, const std::string& header) {
  const std::string text = before + "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n" +
                           statements + "  return 0;\n}\n";
  const Source file{"lib1.c", text};
  const std::vector<Source> headers = {{"check.h", header}};
  try {
    const PlannedModule read = read_planned_module("m", {&file, 1}, {}, {}, Unread::kept, {}, headers);
    return tir::print(read.module, read.module.functions[read.module.entry]);
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace usmp::tvm_c::test

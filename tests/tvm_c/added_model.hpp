// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A model to which tests add statements, functions and variables.
#pragma once

#include <string>
#include <vector>

#include "usmp/support/error.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c::added_model {

inline const std::string op =
    "int32_t tvmgen_m_op(int8_t* p, int8_t* q) {\n  for (int32_t i = 0; i < 4; ++i) {\n    q[i] = p[i];\n  }\n"
    "  return 0;\n}\n";
inline const std::string call = "  if (tvmgen_m_op(x_buffer_var, sid_1) != 0 ) return -1;\n";
inline const std::string last = "  if (tvmgen_m_op(sid_1, y_buffer_var) != 0 ) return -1;\n";

struct Parts {
  std::string file;  // in front of the functions
  std::string front;
  std::string middle;
  std::string end;
};

inline std::string text_of(const Parts& parts) {
  return parts.file + op + "int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n" +
         parts.front +
         "  void* sid_1 = TVMBackendAllocWorkspace(1, 0, (uint64_t)4, 0, 8);\n  if (sid_1 == NULL) {\n    return -1;\n "
         " }\n" +
         call + parts.middle + last + "  if (TVMBackendFreeWorkspace(1, 0, sid_1) != 0) {\n    return -1;\n  }\n" +
         parts.end + "  return 0;\n}\n";
}

// Its entry also gets a pool.
inline std::string pooled_text() {
  std::string text = text_of({"", "", "", ""});
  return text.replace(text.find("y_buffer_var) {"), 15, "y_buffer_var, uint8_t* sram_0_var) {");
}

// Without the warning that nothing defines tvmgen_m_run.
inline PlannedModule read(const std::string& text) {
  const Source file{"lib1.c", text};
  PlannedModule result = read_planned_module("m", {&file, 1}, {}, {}, Unread::kept);
  std::erase_if(result.warnings,
                [](const std::string& one) { return one.starts_with("no file of the model defines"); });
  return result;
}

inline std::string error_of(const Parts& parts) {
  try {
    (void)read(text_of(parts));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace usmp::tvm_c::added_model

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Plans operators that call operators: what TVM prints of functions inside each other. The callee may return early, and the caller
asks for its result.

As kept_c.py: each model is built and run before and after planning, into a directory and in place, on the same inputs.
"""

from __future__ import annotations

import sys

import kept_c
from kept_c import Case, EXTERN, HEAD, HEADER, main_of


def operator(name: str, params: str, body: str) -> str:
    return f"{EXTERN}TVM_DLL int32_t tvmgen_m_{name}({params}) {{\n{body}}}\n"


ADD = operator("fused_add", "int8_t* p0, int8_t* T_add",
               "  for (int32_t i = 0; i < 256; ++i) {\n    T_add[i] = ((int8_t)((p0[i] / 2) + (int8_t)3));\n  }\n  return 0;\n")
HALF = operator("fused_half", "int8_t* p0, int8_t* T_half", "  for (int32_t i = 0; i < 128; ++i) {\n    T_half[i] = p0[(i * 2)];\n  }\n  return 0;\n")
UNPLANNED = ("tvmgen_m_fused_add(x_buffer_var, sid_1)", "tvmgen_m_fused_rows(sid_1, sid_2)", "tvmgen_m_fused_half(sid_2, y_buffer_var)")

# A loop whose counter is in the workspace, and a row that the callee may refuse; the pool has two names.
PLANNED = operator("row", "int32_t* at, int8_t* p0, int8_t* row, uint8_t* global_const_workspace_4_var, uint8_t* global_workspace_5_var", """  void* gain_let = (&(global_const_workspace_4_var[0]));
  void* wide_let = (&(global_workspace_5_var[576]));
  for (int32_t k = 0; k < 16; ++k) {
    ((int32_t*)wide_let)[k] = (((int32_t)p0[((at[0] * 16) + k)]) * ((int32_t)((int16_t*)gain_let)[k]));
  }
  if (((int32_t*)wide_let)[3] < 0) {
    return -1;
  }
  for (int32_t k_1 = 0; k_1 < 16; ++k_1) {
    row[k_1] = ((int8_t)(((int32_t*)wide_let)[(15 - k_1)] / 3));
  }
  if (at[0] == 9) return -7;
  return 0;
""") + operator("fused_rows", "int8_t* p0, int8_t* T_out, uint8_t* global_const_workspace_2_var, uint8_t* global_workspace_3_var", """  void* row_let = (&(global_workspace_3_var[528]));
  void* at_let = (&(global_workspace_3_var[512]));
  ((int32_t*)at_let)[0] = 0;
  while (1) {
    if (!((((int32_t*)at_let)[0] < 16))) { break; }
    for (int32_t i = 0; i < 16; ++i) {
      T_out[((((int32_t*)at_let)[0] * 16) + i)] = ((int8_t)i);
    }
    if (tvmgen_m_row(at_let, p0, row_let, global_const_workspace_2_var, global_workspace_3_var) == 0) {
      for (int32_t i_1 = 0; i_1 < 16; ++i_1) {
        T_out[((((int32_t*)at_let)[0] * 16) + i_1)] = ((int8_t*)row_let)[i_1];
      }
    }
    ((int32_t*)at_let)[0] = (((int32_t*)at_let)[0] + 1);
  }
  return 0;
""")
PLANNED_MAIN = operator("__tvm_main__", "int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* global_const_workspace_0_var, uint8_t* global_workspace_1_var", """  void* sid_1_let = (&(global_workspace_1_var[0]));
  void* sid_2_let = (&(global_workspace_1_var[256]));
  if (tvmgen_m_fused_add(x_buffer_var, sid_1_let) != 0 ) return -1;
  if (tvmgen_m_fused_rows(sid_1_let, sid_2_let, global_const_workspace_0_var, global_workspace_1_var) != 0 ) return -1;
  if (tvmgen_m_fused_half(sid_2_let, y_buffer_var) != 0 ) return -1;
  return 0;
""")

# Workspace that both take at run time. The callee gets parts of tensors; its result goes on to another caller.
WORKSPACE = """  void* %(name)s = TVMBackendAllocWorkspace(1, 0, (uint64_t)%(bytes)d, 0, 8);
  if (%(name)s == NULL) {
    return -1;
  }
"""
FREE = """  if (TVMBackendFreeWorkspace(1, 0, %s) != 0) {
    return -1;
  }
"""
SMOOTH = operator("smooth", "int8_t* line, int8_t* to, int32_t most", WORKSPACE % {"name": "sums", "bytes": 64} + """  for (int32_t k = 0; k < 16; ++k) {
    ((int32_t*)sums)[k] = (((int32_t)line[k]) + ((int32_t)line[(k + 1)]));
  }
  if (((int32_t*)sums)[0] > most) {
    to[0] = (int8_t)7;
    return -2;
  }
  if (((int32_t*)sums)[1] == ((int32_t*)sums)[2]) {
    return 0;
  }
  for (int32_t k_1 = 0; k_1 < 16; ++k_1) {
    to[k_1] = ((int8_t)(((int32_t*)sums)[k_1] / 2));
  }
""" + FREE % "sums" + "  return 0;\n")
AGAIN = operator("again", "int8_t* line, int8_t* to, int32_t i", """  if (i < 3) {
    return 0;
  }
  int32_t status = tvmgen_m_smooth(line, to, (i * 8));
  if (status == -2) {
    to[1] = (int8_t)5;
  }
  return status;
""")
UNPLANNED_ROWS = operator("fused_rows", "int8_t* p0, int8_t* T_out", WORKSPACE % {"name": "copy", "bytes": 16} + """  int32_t failures = 0;
  for (int32_t i = 0; i < 15; ++i) {
    for (int32_t k = 0; k < 16; ++k) {
      ((int8_t*)copy)[k] = ((int8_t)(k + i));
    }
    if (tvmgen_m_again((&(p0[(i * 16)])), copy, i) != 0) {
      failures += i;
      ((int8_t*)copy)[15] = (int8_t)9;
    } else {
      ((int8_t*)copy)[14] = (int8_t)8;
    }
    tvmgen_m_smooth(p0 + i, copy + 0, 40);
    for (int32_t k_1 = 0; k_1 < 16; ++k_1) {
      T_out[((i * 16) + k_1)] = ((int8_t*)copy)[k_1];
    }
  }
  for (int32_t k_2 = 0; k_2 < 16; ++k_2) {
    T_out[(k_2 + 240)] = ((int8_t)(failures + k_2));
  }
""" + FREE % "copy" + "  return 0;\n")

# What cannot fail: later versions of TVM ask in other words. One of them the entry calls, too, in a file of its own.
TWICE = kept_c.HEAD + "\n#define GAIN 3\nstatic const int8_t offsets[4] = {1, -2, 3, -4};\n" + operator("twice", "int8_t* p0, int8_t* T_out", """  for (int32_t i = 0; i < 256; ++i) {
    T_out[i] = ((int8_t)((p0[i] / GAIN) + ((int8_t*)offsets)[(i & 3)]));
  }
  return 0;
""")
KERNEL = "\nvoid TVMAPISetLastError(const char* msg);\n#define GAIN 5\nstatic const int8_t offsets[4] = {9, 9, 9, 9};\n" + "TVM_DLL int32_t tvmgen_m_twice(int8_t* p0, int8_t* T_out);\n" + operator("fused_rows", "int8_t* p0, int8_t* T_out", """  int8_t half[256];
  int32_t kernel_error_code = tvmgen_m_twice(p0, half);
  if (!(kernel_error_code == 0)) {
    TVMAPISetLastError("Error executing compute kernel");
    return -1;
  }
  if (tvmgen_m_twice(half, T_out) == 0) {
    for (int32_t i = 0; i < 256; ++i) {
      T_out[i] = ((int8_t)(T_out[i] + ((int8_t*)offsets)[(i & 3)] + GAIN));
    }
  }
  return 0;
""")

# A call that TVM checks: the model fails where the callee does, in the first run.
CHECKED = PLANNED.replace("  if (tvmgen_m_row(at_let, p0, row_let, global_const_workspace_2_var, global_workspace_3_var) == 0) {\n",
                          "  if (tvmgen_m_row(at_let, p0, row_let, global_const_workspace_2_var, global_workspace_3_var) != 0 ) return -1;\n    {\n")
CHECKED = CHECKED.replace("[3] < 0)", "[3] < -240)").replace("  if (at[0] == 9) return -7;\n", "")
LEFT = CHECKED.replace("    return -1;\n  }\n  for (int32_t k_1", "    goto left;\n  }\n  for (int32_t k_1").replace("/ 3));\n  }\n  return 0;\n", "/ 3));\n  }\n  return 0;\nleft:\n  return -1;\n")
assert LEFT.count("left") == 2 and CHECKED.count("!= 0 ) return -1;") == 1
FAILING = kept_c.FIRMWARE.replace('printf("%d\\n", (int)tvmgen_m_run(&inputs, &outputs));', """const int result = (int)tvmgen_m_run(&inputs, &outputs);
    printf("0\\nresult: %d\\n", result);""").replace("y[i])", "result == 0 ? y[i] : 0)")
assert FAILING.count("result") == 4

FIRMWARE = kept_c.FIRMWARE.replace("int main", "void TVMAPISetLastError(const char* msg);\nvoid TVMAPISetLastError(const char* msg) { puts(msg); }\nint main")


def case(name: str, text: str, workspace: int, calls: tuple[str, ...] = UNPLANNED, **files: str) -> Case:
    return Case(name, {"tvmgen_m.h": HEADER, "m_lib0.c": kept_c.unplanned_entry(), "m_lib1.c": HEAD + text + HALF + main_of(*calls),
                       **{f"{file}.c": other for file, other in files.items()}}, workspace, firmware=FIRMWARE, strict=True)


def planned(operators: str) -> dict[str, str]:
    files = kept_c.with_constants("m_lib0.c", "m_lib1.c")
    return {"tvmgen_m.h": HEADER, "m_lib0.c": files["m_lib0.c"].replace("[1536]", "[640]"), "m_lib1.c": HEAD + ADD + HALF + operators + PLANNED_MAIN}


CASES = [
    Case("a row that may fail, with a counter in the workspace", planned(PLANNED), 596, strict=True),
    Case("a row that fails, and the model with it", planned(CHECKED), 596, firmware=FAILING, strict=True),
    Case("a row that fails, with a goto", planned(LEFT), 640, ["function 'tvmgen_m_row' is not TVM's C and stays as it is", "function 'tvmgen_m_row' takes constants of pool"], firmware=FAILING),
    case("early returns and results", SMOOTH + AGAIN + UNPLANNED_ROWS + ADD, 496),
    case("operators that cannot fail", KERNEL, 256, ("tvmgen_m_twice(x_buffer_var, sid_1)", "tvmgen_m_fused_rows(sid_1, sid_2)", "tvmgen_m_fused_half(sid_2, y_buffer_var)"),
         m_lib2=TWICE),
]


if __name__ == "__main__":
    sys.exit(kept_c.main(CASES, __doc__))

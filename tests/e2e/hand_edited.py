#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Plans operators, pools and files that somebody changed by hand, and that are understood: memcpy, memmove, memset, continue,
conditions of the preprocessor, sizes that are expressions.

As kept_c.py: each model is built and run before and after planning, into a directory and in place, on the same inputs.
"""

from __future__ import annotations

import sys

import kept_c
from kept_c import Case, EXTERN, FIRMWARE, HEAD, HEADER, main_of


def operator(name: str, body: str) -> str:
    return f"{EXTERN}TVM_DLL int32_t tvmgen_m_fused_{name}(int8_t* p0, int8_t* T_out) {{\n{body}  return 0;\n}}\n"


HALF = operator("half", "  for (int32_t i = 0; i < 128; ++i) {\n    T_out[i] = p0[(i * 2)];\n  }\n")

OPERATORS = {
    "rows copied in other places": """  for (int32_t i = 0; i < 16; ++i) {
    memcpy(T_out + i * 16, &p0[(15 - i) * 16], 16 * sizeof(*p0));
  }
""",
    "a line that moves up": """  int8_t line[33];
  memset(line, -7, sizeof(line));
  for (int32_t i = 0; i < 256; ++i) {
    memmove(line + 1, line, 32);
    line[0] = p0[i];
    T_out[i] = (int8_t)(line[0] / 3 + line[5] / 3 + line[32] / 3);
  }
""",
    "a line that moves down": """  int8_t line[20];
  memset(line, 200, 20);
  for (int32_t i = 0; i < 256; ++i) {
    memmove(&line[0], &line[3], (size_t)17);
    line[17] = line[18] = p0[i];
    T_out[i] = line[i & 15];
  }
""".replace("line[17] = line[18] = p0[i];", "line[17] = p0[i];\n    line[18] = (int8_t)(p0[i] ^ 1);"),
    "elements of several bytes": """  int32_t sums[16];
  int32_t all[32];
  float scaled[16];
  memset(sums, 0, sizeof(sums));
  memset(all, 0xff, 32 * sizeof(int32_t));
  memset(scaled, 0, 16 * sizeof(float));
  for (int32_t i = 0; i < 256; ++i) {
    sums[i & 15] += p0[i];
  }
  memcpy(all + 16, sums, sizeof(sums));
  for (int32_t i = 0; i < 8; ++i) {
    scaled[i] = (float)all[16 + i] * 0.25f;
  }
  for (int32_t i = 0; i < 256; ++i) {
    T_out[i] = (int8_t)((all[i & 31] & 63) - (int32_t)scaled[i & 15] / 64);
  }
""",
    "an array that only loops of their own access": """  int8_t line[256];
  memset(line, 1, 256);
  for (int32_t i = 0; i < 256; ++i) {
    memcpy(line + i, p0 + (255 - i), 1);
  }
  memset(T_out, 2, 256);
  memcpy(T_out + 60, &line[28], 196);
  memcpy(T_out + 54, &line[64], 183);
  for (int32_t i = 0; i < 256; ++i) T_out[i] ^= line[255 - i];
""",
    "continue": """  for (int32_t y = 0; y < 16; ++y) {
    for (int32_t x = 0; x < 16; ++x) {
      if (x < 2 || x > 13) {
        T_out[y * 16 + x] = 0;
        continue;
      }
      int32_t sum = 0;
      for (int32_t k = 0; k < 5; ++k) {
        if (y + k < 2 || y + k > 17) continue;
        sum += p0[(y + k - 2) * 16 + x] / 5;
      }
      if (sum > 20) { T_out[y * 16 + x] = 20; continue; }
      T_out[y * 16 + x] = (int8_t)sum;
    }
  }
""",
    "conditions that the file decides": """#if SIDE * SIDE == 256 && defined(FAST)
  for (int32_t i = 0; i < SIDE * SIDE; ++i) {
#ifdef SLOW_AFTER_ALL
    T_out[i] = p0[255 - i];
#else
    T_out[i] = (int8_t)(p0[i] ^ MASK);
#endif
  }
#else
  memset(T_out, MASK, 256);
#endif
""",
}
MACROS = "#define FAST\n#define SIDE 16\n#define SLOW_AFTER_ALL 1\nenum { FIRST = 3, MASK };\n"


# Bytes of workspace, where there are any; an operator that is not understood needs 512.
WORKSPACE = {"a line that moves up": 256, "a line that moves down": 256,
             "an array that only loops of their own access": 512, "continue": 96}


def by_hand(name: str, body: str) -> Case:
    text = HEAD + MACROS + HALF + operator("hand", body)
    return Case(name, {"tvmgen_m.h": HEADER, "m_lib0.c": kept_c.unplanned_entry(), "m_lib1.c": text + main_of(
        "tvmgen_m_fused_hand(x_buffer_var, sid_1)", "tvmgen_m_fused_hand(sid_1, sid_2)", "tvmgen_m_fused_half(sid_2, y_buffer_var)")}, WORKSPACE.get(name, 0), strict=True)


POOLED = HEAD + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_add(int8_t* p0, int8_t* T_add) {
  for (int32_t i = 0; i < 256; ++i) {
    T_add[i] = ((int8_t)(p0[i] / 2));
  }
  return 0;
}
""" + HALF + EXTERN + """TVM_DLL int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* global_workspace_0_var) {
  void* sid_1_let = (&(global_workspace_0_var[0]));
  void* sid_2_let = (&(global_workspace_0_var[256]));
  if (tvmgen_m_fused_add(x_buffer_var, sid_1_let) != 0 ) return -1;
  if (tvmgen_m_fused_add(sid_1_let, sid_2_let) != 0 ) return -1;
  if (tvmgen_m_fused_half(sid_2_let, y_buffer_var) != 0 ) return -1;
  return 0;
}
"""


def pooled(name: str, size: str, front: str = "", address: str = "((uint8_t*)&global_workspace)", files: dict[str, str] | None = None) -> Case:
    entry = front + kept_c.planned_entry(0).replace("[0]", f"[{size}]").replace("((uint8_t*)&global_workspace)", address)
    return Case(name, {"tvmgen_m.h": HEADER, "m_lib0.c": entry, "m_lib1.c": POOLED, **(files or {})}, 0, strict=True)


ADDED = """
TVM_DLL int32_t tvmgen_m_fused_checksum(int8_t* p0) {
  int32_t sum = 0;
  for (int32_t i = 0; i < 128; ++i) sum += p0[i];
  return sum;
}
"""
ADDED_FIRMWARE = FIRMWARE.replace("int main", "int32_t tvmgen_m_fused_checksum(int8_t* p0);\nint main").replace(
    '    printf("\\n");\n', '    printf("\\nsum of this run: %d\\n", (int)tvmgen_m_fused_checksum(y));\n')

# What firmware needs to know of the pool and of the model besides, in TVM's files and header.
WHERE = """
uint8_t *tvmgen_get_workspace_address(void)
{
    return &global_workspace[0];  /* its first byte */
}
uint32_t workspace_bytes(void) { return (uint32_t)sizeof(global_workspace); }
uint8_t* const workspace_begin = (uint8_t*)&global_workspace;
"""
WHERE_HEADER = HEADER.replace("#endif\n", """/* where the workspace is */
#include <stddef.h>
uint8_t *tvmgen_get_workspace_address(void);
uint32_t workspace_bytes(void);
extern uint8_t* const workspace_begin;
#define CLASSES 3
typedef struct { int8_t first[CLASSES]; } classes_t;
static inline size_t classes_bytes(void) { return sizeof(classes_t); }
#endif
""")
WHERE_FIRMWARE = FIRMWARE.replace("int main(void) {\n", """int main(void) {
  memset(tvmgen_get_workspace_address(), 85, TVMGEN_M_WORKSPACE_SIZE);
  printf("where: %d%d\\n", (int)(TVMGEN_M_WORKSPACE_SIZE <= workspace_bytes()), (int)(workspace_begin == tvmgen_get_workspace_address() && classes_bytes() == CLASSES));
""")


def told_where(name: str, model: str, workspace: int) -> Case:
    entry = kept_c.planned_entry(4096).replace("#ifdef __cplusplus\n}", WHERE + "#ifdef __cplusplus\n}")
    lines = ["function 'tvmgen_get_workspace_address'", "function 'workspace_bytes'", "variable 'workspace_begin'"]
    return Case(name, {"tvmgen_m.h": WHERE_HEADER, "m_lib0.c": entry, "m_lib1.c": model}, workspace, firmware=WHERE_FIRMWARE, adds_code=True,
                left_out=lines, strict=True)


CENTERED = POOLED.replace("    T_out[i] = p0[(i * 2)];\n  }\n", """    T_out[i] = p0[(i * 2)];
  }
  int32_t sum = 0;
  for (int32_t i = 0; i < 256; ++i) {
    sum += p0[i];
  }
  for (int32_t i = 0; i < 128; ++i) {
    T_out[i] = ((int8_t)(T_out[i] ^ (sum & 15)));
  }
""")
assert CENTERED != POOLED

CASES = [
    told_where("functions that tell where a pool is", CENTERED, 256),
    told_where("functions that tell where a pool is in which nothing lies", POOLED, 0),
    *(by_hand(name, body) for name, body in OPERATORS.items()),
    pooled("a pool of a shifted size", "1 << 10"),
    pooled("a pool of macros of macros", "POOL", "#define UNIT (4 * 64)\n#define UP(x, by) (((x) + (by) - 1) / (by) * (by))\n#define POOL UP(UNIT + UNIT - 3, 16)\n"),
    pooled("a pool of an enumerator of a header", "POOL_SIZE / 2", '#include "sizes.h"\n', files={"sizes.h": "#ifndef SIZES_H\n#define SIZES_H\nenum { OTHER, POOL_SIZE = 128 * sizeof(double) };\n#endif\n"}),
    pooled("the address of a pool's first byte", "512", address="(&(global_workspace[0]))"),
    # Nothing else is added to the header.
    Case("an enumerator in the header", {"tvmgen_m.h": HEADER.replace("#endif\n", "enum { CLASSES = 3 };\n#endif\n"), "m_lib0.c": kept_c.planned_entry(512), "m_lib1.c": POOLED},
         0, firmware=FIRMWARE.replace("int main(void) {\n", "int main(void) {\n  printf(\"%d classes\\n\", (int)CLASSES);\n"), adds_code=True, strict=True),
    # With -o it is not there, and said to be left out.
    Case("an added function with an operator's name", {"tvmgen_m.h": HEADER, "m_lib0.c": kept_c.unplanned_entry(), "m_lib1.c": HEAD + ADDED + HALF + operator(
        "add", "  for (int32_t i = 0; i < 256; ++i) {\n    T_out[i] = ((int8_t)(p0[i] / 2));\n  }\n") + main_of(
            "tvmgen_m_fused_add(x_buffer_var, sid_1)", "tvmgen_m_fused_add(sid_1, sid_2)", "tvmgen_m_fused_half(sid_2, y_buffer_var)")},
         0, firmware=ADDED_FIRMWARE, adds_code=True, left_out=["m_lib1.c: function 'tvmgen_m_fused_checksum' (line "], strict=True),
]


if __name__ == "__main__":
    sys.exit(kept_c.main(CASES, __doc__))

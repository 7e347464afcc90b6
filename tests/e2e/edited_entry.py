#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans C whose entry somebody has edited: macros around calls of operators and around tensors, statements that use tensors,
statements in tvmgen_M_run. As kept_c.py: what is planned, into a directory and in place, prints and computes the same bytes.
"""

from __future__ import annotations

import re
import sys

import kept_c
from kept_c import Case, HEADER, HELPERS, MAIN, main_of, unplanned_entry

TRACE_HEADER = """#ifndef TRACE_H
#define TRACE_H
#include <stdint.h>
#include <stdio.h>
extern uint32_t ticks;
static inline uint32_t now(void) { return ticks += 3; }
static inline void trace_bytes(const char* name, const void* data, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += ((const int8_t*)data)[i] * (i % 5);
  printf("%s: %d\\n", name, sum);
}
#define TRACE_TENSOR(t) trace_bytes(#t, t, 20)
#define PROFILE(label, call) do { \\
    uint32_t begun = now(); \\
    int32_t status = (call); /* of the operator */ \\
    printf("%s: %u ticks, status %d\\n", label, (unsigned)(now() - begun), 0); \\
    if (status != 0) { printf("%s failed: %d\\n", #call, (int)status); return status; } \\
  } while (0)
#define TIMED(...) do { uint32_t begun = now(); CHECK_OK(__VA_ARGS__); printf("after %u\\n", (unsigned)(now() - begun)); } while (0)
#define CHECK_OK(call) \\
  if ((call) != 0) { printf("failed: %s\\n", #call); return -5; }
#endif
"""

TRACED = """#include "trace.h"
#ifdef VERBOSE
#define VERBOSE_TENSOR(t) do { trace_bytes("verbose " #t, t, 3); } while (0)
#else
#define VERBOSE_TENSOR(t) ((void)(t))
#endif
#define N_SUM 5
static int32_t checksum, seen;
uint32_t ticks;
"""

TRACED_CALLS = """  TRACE_TENSOR(x_buffer_var);
  PROFILE("first", tvmgen_m_fused_add(x_buffer_var, sid_1));
  TRACE_TENSOR(sid_1);
  VERBOSE_TENSOR(sid_1);
  for (int i = 0; i < N_SUM; ++i) {
    const int8_t* from = (const int8_t*)sid_1;
    if (from[i] == 0) continue;
    checksum += from[i] * (i + 1);
  }
  CHECK_OK(tvmgen_m_fused_add(sid_1, sid_2));
#ifdef __OPTIMIZE__
  fwrite(sid_2, 1, 0, stderr);
  printf("%d %d\\n", ((int8_t*)sid_2)[3], (int)checksum);
#endif
  {
    uint32_t begun = now();  // by hand
    if (tvmgen_m_fused_add(sid_2, sid_1) != 0) return -1;
    printf("by hand %u\\n", (unsigned)(now() - begun));
  }
  seen++;
  TIMED(tvmgen_m_fused_max_pool(sid_1, y_buffer_var));
  TRACE_TENSOR(&y_buffer_var[100]);
  if (seen == 2) fprintf(stdout, "twice %d %d\\n", (int)checksum, y_buffer_var[0]);
"""


def traced(calls: str = TRACED_CALLS, head: str = TRACED, header: str = TRACE_HEADER) -> dict[str, str]:
    main = (MAIN % {"calls": "@"}).replace("  @\n", "@\n").replace("@\n", calls)
    return {"tvmgen_m.h": HEADER, "trace.h": header, "m_lib0.c": unplanned_entry(),
            "m_lib1.c": HELPERS.replace("#define LANES", head + "#define LANES") + main}


# The firmware's way in, with what somebody adds there.
RUN = """#include <stdio.h>
#include "trace.h"
#define IS_MISSING(p) ((p) == NULL)
static unsigned runs;
static const char* const parts[2] = {"before", "after"};
static void note(int part) { printf("%s run %u at %u\\n", parts[part], runs, (unsigned)now()); }
int32_t last_status = 7;
"""

RUN_BODY = """{
  if (IS_MISSING(inputs) || IS_MISSING(outputs) || inputs->x == NULL) {
    return -3;
  }
  ++runs;
  note(0);
#ifdef __OPTIMIZE__
  uint32_t begun = now();
#endif
  int32_t status = %s;
  last_status = status;
#ifdef __OPTIMIZE__
  printf("took %%u\\n", (unsigned)(now() - begun));
#endif
  if (status != 0) {
    printf("failed %%d\\n", (int)status);
    return status;
  }
  note(1);
  return ((const int8_t*)outputs->y)[0] == 127 ? 0 : status;
}
"""


def edited_run(entry: str, body: str = RUN_BODY) -> str:
    """TVM's file of the entry with another body of tvmgen_m_run."""
    front, rest = entry.split("#ifdef __cplusplus\nextern \"C\" {\n#endif\n", 1)
    begin, end = rest.index("{return"), rest.index("}\n") + 2
    call = re.search(r"tvmgen_m___tvm_main__\(inputs.*?\);", rest).group(0)[:-1]
    call = call.replace("inputs->x,", "inputs->x,\n      ")
    return front + RUN + "#ifdef __cplusplus\nextern \"C\" {\n#endif\n" + rest[:begin] + (body % call) + rest[end:]


def with_run(entry: str, main: str | None = None) -> dict[str, str]:
    operators = HELPERS.replace("#define LANES", '#include "trace.h"\nuint32_t ticks;\n#define LANES')
    return {"tvmgen_m.h": HEADER, "trace.h": TRACE_HEADER, "m_lib0.c": edited_run(entry), "m_lib1.c": operators + (main or main_of(
        "tvmgen_m_fused_add(x_buffer_var, sid_1)", "tvmgen_m_fused_add(sid_1, sid_2)", "tvmgen_m_fused_max_pool(sid_2, y_buffer_var)"))}


# As TVM plans it.
PLANNED_MAIN = kept_c.EXTERN + """TVM_DLL int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* global_workspace_0_var) {
  void* sid_1_let = (&(global_workspace_0_var[0]));
  void* sid_2_let = (&(global_workspace_0_var[256]));
  if (tvmgen_m_fused_add(x_buffer_var, sid_1_let) != 0 ) return -1;
  if (tvmgen_m_fused_add(sid_1_let, sid_2_let) != 0 ) return -1;
  if (tvmgen_m_fused_max_pool(sid_2_let, y_buffer_var) != 0 ) return -1;
  return 0;
}
"""

# Functions for the firmware that pass the pool on, with macros and variables of the file. What they are given is all spoilt.
PASSED = """#include <string.h>
#define SPOIL(n) spoilt += (n)
static uint32_t spoilt;
void clean(volatile uint8_t* begin, int32_t bytes, const char* what);
static int32_t flush(uint32_t times) {
  while (times-- > 0) {
    clean((volatile uint8_t *)&global_workspace[0], (int32_t)sizeof(global_workspace), "flushed");
    SPOIL(1);
  }
  return (int32_t)spoilt;
}
int32_t spoil_workspace(uint32_t times) {
  memset(global_workspace, 0xa5, sizeof global_workspace);  // global_workspace: all of it
  return flush(times);
}
uint8_t* workspace(void) { return &global_workspace[0]; }
"""

PASSED_FIRMWARE = kept_c.FIRMWARE.replace("int main(void) {", "int32_t spoil_workspace(uint32_t times);\nuint8_t* workspace(void);\n"
                                          "void clean(volatile uint8_t* begin, int32_t bytes, const char* what);\n"
                                          "void clean(volatile uint8_t* begin, int32_t bytes, const char* what) {\n"
                                          "  for (int32_t i = 0; i < bytes; ++i) begin[i] = (uint8_t)(0x5a ^ what[0]);\n}\nint main(void) {").replace(
    "    memset(y,", '    printf("spoilt %d", (int)spoil_workspace((uint32_t)run));\n    printf(", %d\\n", workspace()[255]);\n    memset(y,')


def with_passed() -> dict[str, str]:
    entry = kept_c.planned_entry(512).replace("#ifdef __cplusplus\n}\n", PASSED + "#ifdef __cplusplus\n}\n")
    return {"tvmgen_m.h": HEADER, "m_lib0.c": entry, "m_lib1.c": HELPERS + PLANNED_MAIN}


RUN_FIRMWARE = kept_c.FIRMWARE.replace("int main(void) {", "extern int32_t last_status;\nint main(void) {\n"
                                       '  printf("without inputs %d %d\\n", (int)tvmgen_m_run(NULL, NULL), (int)last_status);')

# An operator that fails when the firmware says so, and what asks for that, as people write it.
DEVICE = kept_c.HEAD + """#include <stdio.h>
int32_t device(int32_t n);
uint32_t now(void);
TVM_DLL int32_t tvmgen_m_dev(int8_t* p, int8_t* q) {
  for (int32_t i = 0; i < 256; ++i) { q[i] = ((int8_t)(p[i] + (int8_t)1)); }
  int32_t r = device(p[0]);
  return r;
}
#ifdef __OPTIMIZE__
#define unlikely(x) __builtin_expect(!!(x), 0)
#define RUN(name, c) do { uint32_t t = now(); if ((c) != 0) return -3; printf("%s took %u\\n", name, (unsigned)(now() - t)); } while (0)
#define CHECKED(c) do { if ((c) != 0) return -4; } while (0)
#else
#define unlikely(x) (x)
#define RUN(name, c) do { if ((c) != 0) return -3; } while (0)
#define CHECKED(c) do { int32_t rc = (c); if (rc != 0) { printf("%s failed: %d\\n", #c, (int)rc); return rc; } } while (0)
#endif
#define OK (0)
#define TIMED_BEGIN { uint32_t t = now();
#define TIMED_END printf("timed %u\\n", (unsigned)(now() - t)); }
typedef struct { const void* data; int at; } view_t;
static void show(const view_t* v) { printf("shows %d\\n", ((const int8_t*)v->data)[v->at]); }
"""

SPELLINGS = [
    "if (unlikely(CALL)) return -1;",
    'if (!(CALL == OK)) { printf("not ok\\n"); return -2; }',
    '{ int32_t rc = CALL; if (unlikely(0 != rc)) { printf("result %d\\n", (int)rc); return rc; } }',
    'RUN("run", CALL);', "CHECKED(CALL);", "TIMED_BEGIN if (CALL != 0) return -6; TIMED_END",
    "{ view_t v = {.data = sid_1, .at = 3}; show(&v); } if (__builtin_expect(!!(CALL), 0)) return -7;",
    '{ int8_t rc = CALL; if (rc) { printf("narrow\\n"); return rc; } }', "if (CALL) return -9;"]

FAILING = """#include <stdio.h>
#include "tvmgen_m.h"
static unsigned t;
static int calls, failing, code;
uint32_t now(void) { return t += 3; }
int32_t device(int32_t n) { return calls++ == failing ? code + 0 * n : 0; }
int main(void) {
  static int8_t x[256], y[256];
  static const int codes[] = {-4, 1, 256};
  struct tvmgen_m_inputs in = {x};
  struct tvmgen_m_outputs out = {y};
  for (int i = 0; i < 256; ++i) x[i] = (int8_t)(i / 2);
  for (failing = 0; failing < 9; ++failing) {
    for (int i = 0; i < 3; ++i) {
      calls = 0;
      code = codes[i];
      int status = tvmgen_m_run(&in, &out);
      printf("with %d at %d: status %d after %d calls, %d\\n", code, failing, status, calls, y[9]);
    }
  }
  failing = -1;
  for (int i = 0; i < 3; ++i) printf("%d\\n", (int)tvmgen_m_run(&in, &out));
  return 0;
}
"""


def spelled(head: str) -> dict[str, str]:
    """Calls one behind the other, each asked in other words."""
    names = ["x_buffer_var", *["sid_1" if i % 2 == 0 else "sid_2" for i in range(len(SPELLINGS) - 1)], "y_buffer_var"]
    calls = [text.replace("CALL", f"tvmgen_m_dev({names[i]}, {names[i + 1]})") for i, text in enumerate(SPELLINGS)]
    main = MAIN.replace("%(calls)s", "\n".join("  " + call for call in calls))
    leaks = HEADER.replace("4096", "65536")  # a run that fails frees nothing
    return {"tvmgen_m.h": leaks, "m_lib0.c": unplanned_entry(), "m_lib1.c": head + main}


# Else where an operator has not failed, and goto to what is done if one has.
JUMPS = """  if (x_buffer_var == NULL) goto fail;
  if (tvmgen_m_fused_add(x_buffer_var, sid_1) == 0) {
    runs++;
    if (tvmgen_m_fused_add(sid_1, sid_2) != 0) {
      printf("second\\n");
      goto fail;
    } else if (tvmgen_m_fused_add(sid_2, sid_1)) {
      goto fail;
    } else {
      printf("run %d\\n", runs);
    }
  } else {
    printf("first\\n");
    return -4;
  }
  if (tvmgen_m_fused_max_pool(sid_1, y_buffer_var) != 0) goto fail;"""
JUMPS_MAIN = MAIN.replace("  return 0;\n}\n", """  return 0;
fail:
  TVMBackendFreeWorkspace(1, 0, sid_2);
  TVMBackendFreeWorkspace(1, 0, sid_1);
  printf("failed\\n");
  return -2;
}
""") % {"calls": JUMPS}

# The entry in two functions, which share a pointer of the file.
HALVES = """
static void* sid_1; /* of both */
static int32_t first_half(const int32_t verbose, int8_t* from) {
  sid_1 = TVMBackendAllocWorkspace(1, 0, (uint64_t)256, 0, 8);
  if (sid_1 == NULL) {
    return -1;
  }
  uint32_t begun = now();
  if (tvmgen_m_fused_add(from, sid_1) != 0) return -2;
  if (verbose) printf("first %u\\n", (unsigned)(now() - begun));
  return 0;
}
static int32_t second_half(int8_t* y_buffer_var) {
  void* sid_2 = TVMBackendAllocWorkspace(1, 0, (uint64_t)256, 0, 8);
  if (sid_2 == NULL) {
    return -1;
  }
  uint32_t begun = now();
  if (tvmgen_m_fused_add(sid_1, sid_2) != 0) return -1;
  if (tvmgen_m_fused_max_pool(sid_2, y_buffer_var) != 0) return -1;
  printf("second %u\\n", (unsigned)(now() - begun));
  if (TVMBackendFreeWorkspace(1, 0, sid_2) != 0) {
    return -1;
  }
  if (TVMBackendFreeWorkspace(1, 0, sid_1) != 0) {
    return -1;
  }
  return 0;
}
""" + kept_c.EXTERN + """TVM_DLL int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {
  if (first_half(1, x_buffer_var) != 0) {
    return -1;
  }
  return second_half(y_buffer_var);
}
"""

# Functions of the entry whose text would mean something else there.
NO_STATEMENTS = """
static int32_t scale = 5, seen[2];
static int32_t* x_buffer_var = seen;
#define LEVEL 3
#define leave_if(c) if (c) return 0
static int32_t scaled(int8_t* from, void* to) {
  if (tvmgen_m_fused_add(from, to) != 0) return -1;
  x_buffer_var[1] = scale;
  printf("scale %d, level %d, %d\\n", (int)scale, LEVEL, (int)seen[1]);
  return 0;
}
static int32_t left(void* from, void* to) {
  if (tvmgen_m_fused_add(from, to) != 0) return -1;
  leave_if(LEVEL > 2);
  puts("not reached");
  return 0;
}
static int32_t wide(int8_t* y, void* from, uint32_t n, const int32_t* words) {
  if (tvmgen_m_fused_max_pool(from, y) != 0) return -1;
  printf("%s, %d\\n", n - 2 > 0 ? "wraps" : "does not", (int)(words)[1]);
  return 0;
}
#undef LEVEL
#define LEVEL 4
""" + MAIN % {"calls": """  int32_t scale = 2;
  if (scaled(x_buffer_var, sid_1) != 0) return -1;
  if (left(sid_1, sid_2) != 0) return -1;
  if (wide(y_buffer_var, sid_2, 1, sid_1) != 0) return -1;
  printf("scale %d, level %d\\n", (int)scale, LEVEL);"""}

CASES = [
    Case("functions that are no statements of the entry", {"tvmgen_m.h": HEADER, "m_lib0.c": unplanned_entry(), "m_lib1.c": HELPERS.replace(
        "#define LANES", "#include <stdio.h>\n#define LANES") + NO_STATEMENTS}, 512,
         ["function 'left' is not TVM's C and stays as it is", "function 'scaled'", "function 'wide'"]),
    Case("an entry in two functions", {"tvmgen_m.h": HEADER, "trace.h": TRACE_HEADER, "m_lib0.c": unplanned_entry(),
                                       "m_lib1.c": HELPERS.replace("#define LANES", '#include "trace.h"\nuint32_t ticks;\n#define LANES') + HALVES}, 256),
    Case("else and goto", {"tvmgen_m.h": HEADER, "m_lib0.c": unplanned_entry(),
                           "m_lib1.c": HELPERS.replace("#define LANES", "#include <stdio.h>\nstatic int runs;\n#define LANES") + JUMPS_MAIN}, 256),
    Case("a run with code around the call", with_run(unplanned_entry()), 256, firmware=RUN_FIRMWARE, strict=True),
    Case("a run with code around the call and a pool", with_run(kept_c.planned_entry(512), PLANNED_MAIN), 256, firmware=RUN_FIRMWARE,
         strict=True),
    Case("functions that pass the pool on", with_passed(), 256, firmware=PASSED_FIRMWARE, adds_code=True, strict=True),
    Case("macros around tensors and calls", traced(), 256, strict=True),
    *[Case(f"results asked for in other words, macros {way}", spelled(head), None, ["'tvmgen_m_dev' is not TVM's C and stays as it is (line "],
           firmware=FAILING) for way, head in (("optimized", DEVICE), ("not", DEVICE.replace("#ifdef __OPTIMIZE__", "#ifndef __OPTIMIZE__")))],
]


if __name__ == "__main__":
    sys.exit(kept_c.main(CASES, __doc__))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Plans C that is not all TVM's: operators that call helpers, operators that somebody wrote by hand, functions of other code
generators that TVM has planned memory for, functions that only the firmware has.

Each model is written here as a firmware has it, with the code that TVM writes around. It is built and run before and after
planning, into a directory and in place, on the same inputs: the outputs must be the same bytes.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import checkouts
import golden

SHIM = Path(__file__).parents[2] / "bench/tvm_shim"

HEADER = """#ifndef TVMGEN_M_H_
#define TVMGEN_M_H_
#include <stdint.h>
struct tvmgen_m_inputs { void* x; };
struct tvmgen_m_outputs { void* y; };
int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs);
#define TVMGEN_M_WORKSPACE_SIZE 4096
#endif
"""

ENTRY = """#include "tvm/runtime/c_runtime_api.h"
#ifdef __cplusplus
extern "C" {
#endif
%(pool)s#include <tvmgen_m.h>
TVM_DLL int32_t tvmgen_m___tvm_main__(void* x,void* output0%(parameter)s);
int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs,struct tvmgen_m_outputs* outputs) {return tvmgen_m___tvm_main__(inputs->x,outputs->y%(argument)s);
}
#ifdef __cplusplus
}
#endif
;
"""

HEAD = """// tvm target: c -keys=arm_cpu,cpu -mcpu=cortex-m7
#define TVM_EXPORTS
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/c_backend_api.h"
#include <math.h>
#include <string.h>
"""

EXTERN = "\n#ifdef __cplusplus\nextern \"C\"\n#endif\n"


def unplanned_entry() -> str:
    return ENTRY % {"pool": "", "parameter": "", "argument": ""}


def planned_entry(size: int) -> str:
    pool = f'__attribute__((section(".bss.noinit.tvm"), aligned(16)))\nstatic uint8_t global_workspace[{size}];\n'
    return ENTRY % {"pool": pool, "parameter": ",uint8_t* global_workspace_0_var", "argument": ",((uint8_t*)&global_workspace)"}


HELPERS = HEAD + """
#define LANES 4
#ifndef __STATIC_FORCEINLINE
#define __STATIC_FORCEINLINE static inline
#endif
#if (__ARM_FEATURE_DSP > 0) && !defined(ANYTHING)
#define FAST 1
#endif

typedef struct { int32_t low; int32_t high; } range_t;
static const range_t limits = {-128, 127};
static int32_t calls_seen;
""" + EXTERN + """__STATIC_FORCEINLINE int32_t reset_ABCD(int8_t *res, int n) {
  memset(res, (int8_t)limits.low, (size_t)n * sizeof(*res));
  return 0;
}
""" + EXTERN + """__STATIC_FORCEINLINE int32_t max_loop_ABCD(int8_t *arg, int8_t *res, int n) {
  for ( int i = 0; i < n; ++ i )
    if ( arg[i] > res[i] ) res[i] = arg[i];
  return n;
}
""" + EXTERN + """__STATIC_FORCEINLINE int32_t max_ABCD(int8_t *arg, int8_t *res, int n) {
  int8_t *a = arg;
  if ( n < LANES ) goto out;
  while (n >= LANES) {
    switch (LANES) {
      case 4: max_loop_ABCD(a, res, LANES); break;
      default: return -1;
    }
    a += LANES; res += LANES; n -= LANES;
  }
out:
  calls_seen++;
  return max_loop_ABCD(a, res, n);
}

__STATIC_FORCEINLINE int32_t unused_helper(int8_t* a) { return *a++; }
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_max_pool(int8_t* p0, int8_t* tensor) {
  for (int32_t i = 0; i < 16; ++i) {
    reset_ABCD((&(tensor[(i * 8)])), 8);
    for (int32_t rv0 = 0; rv0 < 2; ++rv0) {
      max_ABCD((&(p0[((i * 16) + (rv0 * 8))])), (&(tensor[(i * 8)])), 7);
    }
  }
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_add(int8_t* p0, int8_t* T_add) {
  for (int32_t i = 0; i < 256; ++i) {
    T_add[i] = ((int8_t)((p0[i] / 2) + (int8_t)3));
  }
  return 0;
}
"""

MAIN = EXTERN + """TVM_DLL int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {
  void* sid_1 = TVMBackendAllocWorkspace(1, 0, (uint64_t)256, 0, 8);
  if (sid_1 == NULL) {
    return -1;
  }
  void* sid_2 = TVMBackendAllocWorkspace(1, 0, (uint64_t)256, 0, 8);
  if (sid_2 == NULL) {
    return -1;
  }
%(calls)s
  if (TVMBackendFreeWorkspace(1, 0, sid_2) != 0) {
    return -1;
  }
  if (TVMBackendFreeWorkspace(1, 0, sid_1) != 0) {
    return -1;
  }
  return 0;
}
"""


def main_of(*calls: str) -> str:
    return MAIN % {"calls": "\n".join(f"  if ({call} != 0 ) return -1;" for call in calls)}


# What somebody adds to the entry: counters, timers, logging, assertions.
ADDED_HEAD = """
#include <assert.h>
#include <stdio.h>
#include "clock.h"
#define STAMP(i) do { times[i] = CLOCK_NOW() - begun; } while (0)
uint32_t runs = 0, stamped;
uint32_t times[2] = {0};
static const char* const labels[2] = {"first", "second"};
static void log_time(const char* label, uint32_t ticks) { printf("%s: %u ticks\\n", label, (unsigned)ticks); }
"""

CLOCK = """#include <stdint.h>
extern uint32_t clock_ticks;
#define CLOCK_NOW() (clock_ticks += 7)
"""

ADDED_FRONT = """  runs++;
  // since when
  uint32_t begun = CLOCK_NOW(); /* ticks */
  assert(runs > 0 && "counted");
"""

ADDED_MIDDLE = """  STAMP(0);
#if defined(__OPTIMIZE__) || defined(VERBOSE)
  printf("%s operator after %u ticks, %d\\n", labels[0], (unsigned)times[0], (int)calls_seen);
#else
  puts("silent");
#endif
  for (unsigned i = 0; i < 2; ++i) {
    if (times[i] == 0) continue;
    stamped += i + 1;
  }
  if (runs == 3) return 0;
"""

ADDED_END = """  STAMP(1);
  log_time(labels[1], times[1]);
  if (calls_seen == 0) {
    puts("no calls");
  } else {
    printf("%d calls\\n", (int)calls_seen);
  }
  do stamped += 1; while (stamped % 8 != 0);
"""


# What somebody adds to TVM's files, for the firmware.
ADDED_CODE = """
#include <stdio.h>
#define LIMIT 100
typedef struct { uint32_t runs; const char* name; } usage_t;
static usage_t usage = {0, "model"};
uint32_t most_runs = LIMIT, rounds;
#ifdef __OPTIMIZE__
const char built[] = "optimised";
#else
const char built[] = "debug";
#endif
static void count(usage_t* of) { of->runs++; }
int32_t run_counted(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs);
int32_t tvmgen_m_version(void);
int32_t tvmgen_m_version(void) { return 2 * LIMIT; }
int32_t run_counted(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs) {
  count(&usage);
  rounds += 2;
  printf("%s: run %u of %u\\n", usage.name, (unsigned)usage.runs, (unsigned)most_runs);
  return usage.runs > most_runs ? -1 : tvmgen_m_run(inputs, outputs);
}
"""


def added_main() -> str:
    main = main_of("tvmgen_m_fused_add(x_buffer_var, sid_1)", "tvmgen_m_fused_add(sid_1, sid_2)", "tvmgen_m_fused_max_pool(sid_2, y_buffer_var)")
    front, calls = main.split("  void* sid_1", 1)
    calls = calls.replace("  if (tvmgen_m_fused_max_pool", ADDED_MIDDLE + "  if (tvmgen_m_fused_max_pool").replace("  return 0;\n}\n", ADDED_END + "  return 0;\n}\n")
    return front + ADDED_FRONT + "  void* sid_1" + calls


BY_HAND = EXTERN + """TVM_DLL int32_t tvmgen_m_fused_odd(int8_t* p0, int8_t* T_odd) {
  static const int8_t table[4] = {1, 2, 3, 4};
  int i = 0;
  int8_t* scratch = (int8_t*)TVMBackendAllocWorkspace(1, 0, (uint64_t)64, 0, 8);
  if (scratch == NULL) return -1;
again:
  scratch[i & 63] = (int8_t)(p0[i] ^ table[i & 3]);
  T_odd[i] = scratch[i & 63];
  if (++i < 256) goto again;
  return TVMBackendFreeWorkspace(1, 0, scratch);
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_both(int8_t* p0, int8_t* T_both) {
  for (int32_t i = 0; i < 256; ++i) {
#ifdef __OPTIMIZE__
    T_both[i] = ((int8_t)(p0[i] ^ (int8_t)85));
#else
    T_both[i] = ((int8_t)(85 ^ p0[i]));
#endif
  }
  return 0;
}
"""

# What else there is in C that an operator written by hand may have; each stays.
MORE_BY_HAND = EXTERN + """TVM_DLL int32_t tvmgen_m_fused_break(int8_t* p0, int8_t* T_break) {
  for (int32_t i = 0; i < 16; ++i) {
    int32_t most = -128;
    for (int32_t k = 0; k < 16; ++k) {
      if (p0[((i * 16) + k)] > 100) {
        break;
      }
      if (most < (int32_t)p0[((i * 16) + k)]) {
        most = p0[((i * 16) + k)];
      }
    }
    for (int32_t k = 0; k < 16; ++k) {
      T_break[((i * 16) + k)] = (int8_t)(most - k);
    }
  }
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_static(int8_t* p0, int8_t* T_static) {
  static int16_t sums[256];
  for (int32_t i = 0; i < 256; ++i) {
    sums[i] = (int16_t)(sums[i] / 2 + p0[i]);
  }
  for (int32_t i = 0; i < 256; ++i) {
    T_static[i] = (int8_t)(sums[255 - i] / 3);
  }
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_malloc(int8_t* p0, int8_t* T_malloc) {
  int16_t* wide = (int16_t*)malloc(512);
  if (wide == NULL) return -1;
  for (int32_t i = 0; i < 256; ++i) {
    wide[i] = (int16_t)(p0[i] * 3);
  }
  for (int32_t i = 0; i < 256; ++i) {
    T_malloc[i] = (int8_t)(wide[255 - i] / 5);
  }
  free(wide);
  return 0;
}
"""

# As TVM's CMSIS-NN code generator writes kernels for a module that TVM has planned.
CONTEXTS = """// tvm target: cmsis-nn
#include "tvm/runtime/c_runtime_api.h"
#include <string.h>
typedef struct { void* buf; int32_t size; } cmsis_nn_context;
static int32_t kernel(const cmsis_nn_context* context, int8_t* from, int8_t* to) {
  int8_t* buffer = (int8_t*)context->buf;
  for (int i = 0; i < context->size; ++i) buffer[i] = from[i %% 256];
  for (int i = 0; i < 256; ++i) to[i] = (int8_t)(buffer[(i * 7) %% context->size] / 3 + 1);
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_cmsis_nn_main_0(int8_t* input_, int8_t* output_, uint8_t* global_const_workspace_6_var, uint8_t* global_workspace_7_var) {
  void* context_buffer_1_let = (&(global_workspace_7_var[%(begin)d]));
  cmsis_nn_context context= {context_buffer_1_let,%(size)s};
  if (kernel(&context, input_, output_) != 0) {
    return -1;
  }
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_cmsis_nn_main_1(int8_t* input_, int8_t* output_, uint8_t* global_const_workspace_8_var, uint8_t* global_workspace_9_var) {
  cmsis_nn_context context= {NULL,0};
  memcpy(output_, input_, 128);
  return context.size;
}
"""

CONTEXTS_MAIN = HEAD + """
TVM_DLL int32_t TVMDeviceKernelOpen(int32_t channel);
TVM_DLL int32_t tvmgen_m_cmsis_nn_main_0(int8_t* x, int8_t* sid_1_let, uint8_t* global_const_workspace_0_var, uint8_t* global_workspace_1_var);
TVM_DLL int32_t tvmgen_m_cmsis_nn_main_1(int8_t* x, int8_t* y, uint8_t* global_const_workspace_0_var, uint8_t* global_workspace_1_var);
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_add(int8_t* p0, int8_t* T_add, uint8_t* global_workspace_3_var) {
  void* T_cast_let = (&(global_workspace_3_var[512]));
  for (int32_t i = 0; i < 256; ++i) {
    ((int16_t*)T_cast_let)[i] = ((int16_t)p0[i]);
  }
  for (int32_t i = 0; i < 256; ++i) {
    T_add[i] = ((int8_t)((((int16_t*)T_cast_let)[i] / (int16_t)2) + (int16_t)3));
  }
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* global_workspace_0_var) {
  void* sid_1_let = (&(global_workspace_0_var[0]));
  void* sid_2_let = (&(global_workspace_0_var[256]));
  if (TVMDeviceKernelOpen(3) != 0 ) return -1;
  if (tvmgen_m_fused_add(x_buffer_var, sid_1_let, global_workspace_0_var) != 0 ) return -1;
  if (tvmgen_m_cmsis_nn_main_0(sid_1_let, sid_2_let, global_workspace_0_var, global_workspace_0_var) != 0 ) return -1;
  if (tvmgen_m_cmsis_nn_main_1(sid_2_let, y_buffer_var, global_workspace_0_var, global_workspace_0_var) != 0 ) return -1;
  return 0;
}
"""

PASSED_MAIN = HELPERS.replace("int8_t* T_add)", "int8_t* T_add, uint8_t* global_workspace_1_var)") + EXTERN + """
TVM_DLL int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, uint8_t* global_workspace_0_var, int8_t* y_buffer_var) {
  void* sid_1_let = (&(global_workspace_0_var[0]));
  void* sid_2_let = (&(global_workspace_0_var[256]));
  if (tvmgen_m_fused_add(x_buffer_var, sid_1_let, global_workspace_0_var) != 0 ) return -1;
  if (tvmgen_m_fused_add(sid_1_let, sid_2_let, global_workspace_0_var) != 0 ) return -1;
  if (tvmgen_m_fused_max_pool(sid_2_let, y_buffer_var) != 0 ) return -1;
  return 0;
}
"""

# A device that gets the pool's address as a number, and has what it needs anywhere in there.
NPU = """#include <stdint.h>
#include <string.h>
static int8_t commands[4] __attribute__((section(".rodata.tvm"), aligned(16))) = "\\x43\\x4f\\x50\\x31";
static int32_t launch(const int8_t* given, const uint64_t* addresses) {
  int8_t* pool = (int8_t*)(uintptr_t)addresses[0];
  int8_t* to = (int8_t*)(uintptr_t)addresses[2];
  memcpy(pool + 512, (const int8_t*)(uintptr_t)addresses[1], 256);
  for (int i = 0; i < 256; ++i) pool[768 + i] = (int8_t)(pool[512 + i] ^ given[i & 3]);
  for (int i = 0; i < 256; ++i) to[i] = pool[1023 - i];
  return 0;
}
int32_t tvmgen_m_npu_main_0(void* input,void* write,void* global_workspace_7_var) {
  void* cms_data = (void*)(commands);
  uint64_t base_addrs[3] = {0};

  base_addrs[0] = (uintptr_t)(global_workspace_7_var);
  base_addrs[1] = (uintptr_t)(input);
  base_addrs[2] = (uintptr_t)(write);
  return launch(cms_data, base_addrs);
}
"""

NPU_MAIN = CONTEXTS_MAIN.replace("cmsis_nn_main_1(int8_t* x, int8_t* y, uint8_t* global_const_workspace_0_var, ", "npu_main_0(int8_t* x, int8_t* y, "
                                 ).replace("cmsis_nn_main_0(sid_1_let, sid_2_let, global_workspace_0_var, ", "npu_main_0(sid_1_let, sid_2_let, "
                                           ).replace("cmsis_nn_main_1(sid_2_let, y_buffer_var, global_workspace_0_var, ", "fused_half(sid_2_let, y_buffer_var, "
                                                     ).replace("tvmgen_m_fused_add(int8_t* p0", "tvmgen_m_fused_half(int8_t* p0, int8_t* T_half, uint8_t* "
                                                               "global_workspace_5_var) {\n  for (int32_t i = 0; i < 128; ++i) {\n    T_half[i] = p0[(i * 2)];\n  "
                                                               "}\n  return 0;\n}\n" + EXTERN + "TVM_DLL int32_t tvmgen_m_fused_add(int8_t* p0", 1)

# The same for a module that TVM has not planned; the second keeps its call, as C does not say how much it takes.
AT_RUN_TIME = """// tvm target: cmsis-nn
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/c_backend_api.h"
#include <string.h>
typedef struct { void* buf; int32_t size; } cmsis_nn_context;
static int32_t kernel(const cmsis_nn_context* context, int16_t* wide, int8_t* from, int8_t* to) {
  int8_t* buffer = (int8_t*)context->buf;
  for (int i = 0; i < context->size; ++i) buffer[i] = from[i];
  for (int i = 0; i < 256; ++i) wide[i] = (int16_t)(from[i] * 3);
  for (int i = 0; i < 256; ++i) to[i] = (int8_t)(buffer[(i * 7) % context->size] / 3 + wide[255 - i] / 5);
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_cmsis_nn_main_0(int8_t* input_, int8_t* output_) {
  void* context_buffer_0_let = TVMBackendAllocWorkspace(1, 0, (uint64_t)100, 0, 8);
  if (context_buffer_0_let == NULL) {
    return -1;
  }
  int16_t* wide = (int16_t*)TVMBackendAllocWorkspace(1, 0, (uint64_t)512, 0, 16);
  cmsis_nn_context context= {context_buffer_0_let,100};
  if (kernel(&context, wide, input_, output_) != 0) {
    return -1;
  }
  TVMBackendFreeWorkspace(1, 0, wide);
  if (TVMBackendFreeWorkspace(1, 0, context_buffer_0_let) != 0) {
    return -1;
  }
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_cmsis_nn_main_1(int8_t* input_, int8_t* output_) {
  void* copy = TVMBackendAllocWorkspace(1, 0, SIZE, 0, 8);
  if (copy == NULL) {
    return -1;
  }
  memcpy(copy, input_, 128);
  for (int i = 0; i < 128; ++i) output_[i] = ((int8_t*)copy)[i ^ 1];
  return TVMBackendFreeWorkspace(1, 0, copy);
}
"""

AT_RUN_TIME_MAIN = HEAD + """
TVM_DLL int32_t tvmgen_m_cmsis_nn_main_0(int8_t* x, int8_t* y);
TVM_DLL int32_t tvmgen_m_cmsis_nn_main_1(int8_t* x, int8_t* y);
""" + main_of("tvmgen_m_cmsis_nn_main_0(x_buffer_var, sid_1)", "tvmgen_m_cmsis_nn_main_0(sid_1, sid_2)",
              "tvmgen_m_cmsis_nn_main_1(sid_2, y_buffer_var)")

# A device that goes on when its function has returned: an interrupt does what it was told, when the host waits for it.
STARTED = """// tvm target: npu
#include "tvm/runtime/c_runtime_api.h"
static int8_t *npu_from, *npu_also, *npu_to;
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_npu_main_0(int8_t* from, int8_t* also, int8_t* to) {
  npu_from = from;
  npu_also = also;
  npu_to = to;
  return 0;
}
""" + EXTERN + """void npu_wait(void) {
  for (int i = 0; i < 256; ++i) npu_to[i] = (int8_t)(npu_from[i] ^ npu_also[255 - i]);
}
"""

STARTED_MAIN = HEAD + EXTERN + """TVM_DLL int32_t tvmgen_m_npu_main_0(int8_t* from, int8_t* also, int8_t* to);
void npu_wait(void);
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_add(int8_t* p0, int8_t* p1, int8_t* T_add) {
  for (int32_t i = 0; i < 256; ++i) {
    T_add[i] = ((int8_t)((p0[i] / 2) + (p1[(255 - i)] / 2)));
  }
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_half(int8_t* p0, int8_t* T_half) {
  for (int32_t i = 0; i < 128; ++i) {
    T_half[i] = p0[(i * 2)];
  }
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* global_workspace_0_var) {
  void* sid_1_let = (&(global_workspace_0_var[0]));
  void* sid_2_let = (&(global_workspace_0_var[256]));
  void* sid_3_let = (&(global_workspace_0_var[512]));
  void* sid_4_let = (&(global_workspace_0_var[768]));
  void* sid_5_let = (&(global_workspace_0_var[1024]));
  if (tvmgen_m_fused_add(x_buffer_var, x_buffer_var, sid_1_let) != 0 ) return -1;
  if (tvmgen_m_fused_add(sid_1_let, x_buffer_var, sid_2_let) != 0 ) return -1;
%s  if (tvmgen_m_fused_add(sid_3_let, sid_4_let, sid_5_let) != 0 ) return -1;
  if (tvmgen_m_fused_half(sid_5_let, y_buffer_var) != 0 ) return -1;
  return 0;
}
"""
STARTS = "  if (tvmgen_m_npu_main_0(sid_1_let, sid_2_let, sid_3_let) != 0 ) return -1;\n"
BESIDE = "  if (tvmgen_m_fused_add(x_buffer_var, x_buffer_var, sid_4_let) != 0 ) return -1;\n"


def started(*statements: str) -> dict[str, str]:
    return {"m_lib0.c": planned_entry(1280), "m_lib1.c": STARTED_MAIN % "".join(statements), "m_lib2.c": STARTED}


# Drivers whose next job waits for the one before; the address of what the first reads stands in a struct.
QUEUED = """// tvm target: npu
#include "tvm/runtime/c_runtime_api.h"
#include <string.h>
typedef struct { int8_t* from; int8_t* also; int8_t* to; } job_t;
static job_t running;
static void npu_wait(void) {
  if (running.to == NULL) return;
  for (int i = 0; i < 256; ++i) running.to[i] = (int8_t)(running.from[i] ^ running.also[255 - i]);
  running.to = NULL;
}
static void submit(const job_t* job) {
  npu_wait();
  memcpy(&running, job, sizeof(running));
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_npu_main_0(int8_t* from, int8_t* also, int8_t* to) {
  job_t job = {from, also, to};
  submit(&job);
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_npu_main_1(int8_t* from, int8_t* to) {
  npu_wait();
  for (int i = 0; i < 256; ++i) to[i] = (int8_t)(from[i] * 3);
  return 0;
}
"""
NEXT = "  if (tvmgen_m_npu_main_1(sid_4_let, sid_1_let) != 0 ) return -1;\n"
AGAIN = "  if (tvmgen_m_npu_main_0(sid_4_let, sid_4_let, sid_1_let) != 0 ) return -1;\n"


def queued(*statements: str) -> dict[str, str]:
    main = (STARTED_MAIN % "".join(statements)).replace("void npu_wait(void);", "int32_t tvmgen_m_npu_main_1(int8_t* from, int8_t* to);")
    return {"m_lib0.c": planned_entry(1536), "m_lib1.c": main, "m_lib2.c": QUEUED}


# An operator that somebody edited takes constants where TVM has planned them; another one has some of them, too.
CONSTANTS = """static const struct global_const_workspace {
  int16_t gain_let[16] __attribute__((aligned(16))); // 32 bytes, aligned offset: 0
  int32_t bias_let[4] __attribute__((packed, aligned(16))); // 16 bytes, aligned offset: 32
} global_const_workspace = {
  .gain_let = {
    +0x0001, -0x0002, +0x0003, -0x0004, +0x0005, -0x0006, +0x0007, -0x0008,
    +0x0009, -0x000a, +0x000b, -0x000c, +0x000d, -0x000e, +0x000f, -0x0010
  },
  .bias_let = {
    +0x00000010, -0x00000020, +0x00000003, +0x00000040
  },
};// of total size 48 bytes
"""

CONSTANTS_MAIN = HEAD + "#include <stdio.h>\n" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_gain(int8_t* p0, int8_t* T_gain, uint8_t* global_const_workspace_2_var, uint8_t* global_workspace_3_var) {
  void* bias_let = (&(global_const_workspace_2_var[32]));
  void* gain_let = (&(global_const_workspace_2_var[0]));
  void* wide_let = (&(global_workspace_3_var[512]));
  for (int32_t i = 0; i < 256; ++i) {
    ((int32_t*)wide_let)[i] = (((int32_t)p0[i]) * ((int32_t)((int16_t*)gain_let)[(i & 15)]));
  }
#ifdef PRINT
  printf("wide: %d\\n", (int)((int32_t*)wide_let)[0]);
#endif
  for (int32_t k = 0; k < 256; ++k) {
    T_gain[k] = ((int8_t)((((int32_t*)wide_let)[k] + ((int32_t*)bias_let)[(k & 3)]) / 8));
  }
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_bias(int8_t* p0, int8_t* T_bias, uint8_t* global_const_workspace_4_var, uint8_t* global_workspace_5_var) {
  void* bias_let = (&(global_const_workspace_4_var[32]));
  for (int32_t i = 0; i < 128; ++i) {
    T_bias[i] = ((int8_t)((((int32_t)p0[(i * 2)]) + ((int32_t*)bias_let)[(i & 3)]) / 2));
  }
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* global_const_workspace_0_var, uint8_t* global_workspace_1_var) {
  void* sid_1_let = (&(global_workspace_1_var[0]));
  if (tvmgen_m_fused_gain(x_buffer_var, sid_1_let, global_const_workspace_0_var, global_workspace_1_var) != 0 ) return -1;
  if (tvmgen_m_fused_bias(sid_1_let, y_buffer_var, global_const_workspace_0_var, global_workspace_1_var) != 0 ) return -1;
  return 0;
}
"""


def with_constants(entry: str, operators: str) -> dict[str, str]:
    text = planned_entry(1536).replace('__attribute__((section(".bss', CONSTANTS + '__attribute__((section(".bss').replace(
        ",uint8_t* global_workspace_0_var", ",uint8_t* global_const_workspace_0_var,uint8_t* global_workspace_1_var").replace(
            ",((uint8_t*)&global_workspace)", ",((uint8_t*)&global_const_workspace),((uint8_t*)&global_workspace)")
    return {entry: text, operators: CONSTANTS_MAIN}


# What the preprocessor makes of names: TVM's text of these operators says something else than a compiler.
PREPROCESSED = HEAD.replace("#include <math.h>\n", "") + """
#include "fast.h"
static inline float slope(float x) { return x * 3; }
#define expf(x) slope(x)
#ifdef __OPTIMIZE__
static const int8_t chosen[4] = {1, 2, 3, 4};
#else
static const int8_t chosen[4] = {9, 8, 7, 6};
#endif
static const int8_t from_file[4] = {
#include "values.inc"
};
static float roundf(float x) { return x + 1; }
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_exp(int8_t* p0, int8_t* T_exp) {
  for (int32_t i = 0; i < 256; ++i) {
    T_exp[i] = ((int8_t)expf((((float)p0[i]) * 1.000000e-01f)));
  }
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_chosen(int8_t* p0, int8_t* T_add) {
  for (int32_t i = 0; i < 256; ++i) {
    T_add[i] = ((int8_t)((p0[i] / 2) + ((int8_t*)chosen)[(i & 3)]));
  }
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_file(int8_t* p0, int8_t* T_add) {
  for (int32_t i = 0; i < 256; ++i) {
    T_add[i] = ((int8_t)((p0[i] / 2) + ((int8_t*)from_file)[(i & 3)]));
  }
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_round(int8_t* p0, int8_t* T_round) {
  for (int32_t i = 0; i < 256; ++i) {
    T_round[i] = ((int8_t)(roundf((((float)p0[i]) * 2.500000e-01f)) + floorf((((float)p0[i]) * 2.500000e-01f))));
  }
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_gain(int8_t* p0, int8_t* T_gain) {
  for (int32_t i = 0; i < COUNT; ++i) {
    T_gain[i] = ((int8_t)((p0[i] / 2) + ((int8_t*)gains)[(i & 3)]));
  }
  return 0;
}
"""

SHARED = HEAD + """
static const int8_t w[4] = {1, 2, 3, 4};
""" + "".join(EXTERN + f"""TVM_DLL int32_t tvmgen_m_fused_{name}(int8_t* p0, int8_t* T_add) {{{statement}
  for (int32_t i = 0; i < {count}; ++i) {{
    T_add[i] = ((int8_t)((p0[i] / 2) + ((int8_t*)w)[(i & 3)]));
  }}
  return 0;
}}
""" for name, statement, count in (("add", "", 256), ("count", "\n  static int32_t runs;\n  runs++;", 256), ("last", "", 128)))

FAST = """#ifndef FAST_H
#define FAST_H
#include <stdint.h>
#define COUNT 128
#define floorf(x) ((x) / 2)
static const int8_t gains[] = {3, 1, 4, 1};
#endif
"""

FIRMWARE = """#include <stdio.h>
#include <string.h>
#include "tvmgen_m.h"
int32_t TVMDeviceKernelOpen(int32_t channel);
int32_t TVMDeviceKernelOpen(int32_t channel) { return channel == 3 ? 0 : -1; }
int64_t timer_started(double factor, int64_t ticks, const char* what);
int64_t timer_started(double factor, int64_t ticks, const char* what) {
  if (factor != 0.5 || ticks != 3 || strcmp(what, "conv \\"1\\"\\n") != 0) puts("the timer is called otherwise");
  return ticks;
}
int main(void) {
  static int8_t x[256], y[128];
  uint32_t state = 1;
  for (int run = 0; run < 3; ++run) {
    struct tvmgen_m_inputs inputs = {x};
    struct tvmgen_m_outputs outputs = {y};
    for (int i = 0; i < 256; ++i) x[i] = (int8_t)((state = state * 1664525u + 1013904223u) >> 24);
    memset(y, 0, sizeof y);
    printf("%d\\n", (int)tvmgen_m_run(&inputs, &outputs));
    for (int i = 0; i < 128; ++i) printf("%d ", y[i]);
    printf("\\n");
  }
  return 0;
}
"""

# Prints what the added code counts.
ADDED_FIRMWARE = FIRMWARE.replace('"tvmgen_m.h"\n', '"tvmgen_m.h"\nextern uint32_t runs, stamped, times[2];\nuint32_t clock_ticks;\n').replace(
    '    printf("\\n");\n', '    printf("\\n%u runs, %u, %u, %u at %u\\n", (unsigned)runs, (unsigned)stamped, (unsigned)times[0], (unsigned)times[1],\n'
    '           (unsigned)clock_ticks);\n')

ADDED_CODE_FIRMWARE = FIRMWARE.replace("int main", """extern uint32_t model_version, rounds;
extern const char built[];
int32_t tvmgen_m_version(void);
int32_t run_counted(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs);
int main""").replace("(int)tvmgen_m_run(", "(int)run_counted(").replace(
    '    printf("\\n");\n', '    printf("\\nversion %u, %u rounds, %s\\n", (unsigned)model_version + (unsigned)tvmgen_m_version(), (unsigned)rounds, built);\n')

CALLS_ENTRY = FIRMWARE.replace("    struct tvmgen_m_inputs inputs = {x};\n    struct tvmgen_m_outputs outputs = {y};\n", "").replace(
    "tvmgen_m_run(&inputs, &outputs)", "tvmgen_m___tvm_main__(x, y)")

# TVM's packed interface as far as the registry of functions needs it.
PACKED_RUNTIME = """#pragma once
#include <stddef.h>
#include <stdint.h>
#define TVM_DLL
#ifdef __cplusplus
extern "C" {
#endif
typedef union { int64_t v_int64; double v_float64; void* v_handle; } TVMValue;
typedef enum { kDLCPU = 1 } DLDeviceType;
typedef struct { void* data; struct { DLDeviceType device_type; int32_t device_id; } device; int32_t ndim;
  struct { uint8_t code, bits; uint16_t lanes; } dtype; int64_t* shape; int64_t* strides; uint64_t byte_offset; } DLTensor;
typedef int (*TVMBackendPackedCFunc)(TVMValue* args, int* type_codes, int num_args, TVMValue* ret, int* ret_code, void* handle);
typedef struct { const char* names; const TVMBackendPackedCFunc* funcs; } TVMFuncRegistry;
typedef struct { const TVMFuncRegistry* registry; } TVMModule;
const TVMModule* TVMSystemLibEntryPoint(void);
void* TVMBackendAllocWorkspace(int type, int id, uint64_t size, int code, int bits);
int TVMBackendFreeWorkspace(int type, int id, void* place);
#ifdef __cplusplus
}
#endif
"""

PARAMETERS = "(TVMValue* args, int* type_code, int num_args, TVMValue* out_value, int* out_type_code, void* resource_handle)"

REGISTERED = ["tvmgen_m_fused_double", "tvmgen_m_fused_add", "tvmgen_m___tvm_main__", "tvmgen_m_get_c_metadata"]


def registry(count: str) -> str:
    """What TVM puts in front of the entry for the system library of its C runtime."""
    functions = "".join(f"    (TVMBackendPackedCFunc){name},\n" for name in REGISTERED)
    return ("#include <tvm/runtime/crt/module.h>\n" + "".join(f"{EXTERN.strip()}\nTVM_DLL int32_t {name}{PARAMETERS};\n" for name in REGISTERED)
            + f"static TVMBackendPackedCFunc _tvm_func_array[] = {{\n{functions}}};\n"
            + "static const TVMFuncRegistry _tvm_func_registry = {\n    \"" + count + "".join(f"{name}\\000" for name in REGISTERED)
            + "\",    _tvm_func_array,\n};\nstatic const TVMModule _tvm_system_lib = {\n    &_tvm_func_registry,\n};\n"
            + "const TVMModule* TVMSystemLibEntryPoint(void) {\n    return &_tvm_system_lib;\n}\n")


PACKED_ENTRY = """#include "tvm/runtime/c_runtime_api.h"
#ifdef __cplusplus
extern "C" {
#endif
TVM_DLL int32_t tvmgen_m___tvm_main__%(p)s;

int32_t tvmgen_m_run%(p)s {
TVMValue tensors[2];
tensors[0] = ((TVMValue*)args)[0];
tensors[1] = ((TVMValue*)args)[1];
return tvmgen_m___tvm_main__((void*)tensors, type_code, num_args, out_value, out_type_code, resource_handle);
}
#ifdef __cplusplus
}
#endif
;
""" % {"p": PARAMETERS}

PACKED_METADATA = """#include <tvm/runtime/c_runtime_api.h>
static const char* const kTvmgenMetadata[1] = {"m"};
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_get_c_metadata(TVMValue* arg_values, int* arg_tcodes, int num_args, TVMValue* ret_values, int* ret_tcodes, void* resource_handle) {
    ret_values[0].v_handle = (void*) &kTvmgenMetadata;
    ret_tcodes[0] = 3;
    return 0;
};
"""


def packed_operator(name: str, value: str) -> str:
    return EXTERN + f"""TVM_DLL int32_t tvmgen_m_fused_{name}(void* args, int32_t* arg_type_ids, int32_t num_args, void* out_ret_value, int32_t* out_ret_tcode, void* resource_handle) {{
  void* arg0 = (((TVMValue*)args)[0].v_handle);
  void* arg1 = (((TVMValue*)args)[1].v_handle);
  void* p0 = (((DLTensor*)arg0)[0].data);
  void* T_out = (((DLTensor*)arg1)[0].data);
  for (int32_t i = 0; i < 128; ++i) {{
    ((int8_t*)T_out)[i] = ((int8_t)(((int32_t)((int8_t*)p0)[i]) {value}));
  }}
  return 0;
}}
"""


def packed_call(name: str, source: str, target: str) -> str:
    fill = "".join(f"  (((DLTensor*)stack_array)[{i}].data) = {data};\n"
                   f"  (((TVMValue*)stack_value)[{i}].v_handle) = (((DLTensor*)stack_array) + {i});\n  ((int32_t*)stack_tcode)[{i}] = 7;\n"
                   for i, data in enumerate((source, target)))
    return fill + (f"  TVMValue ret_{name};\n  int ret_code_{name};\n  if (tvmgen_m_fused_{name}( (TVMValue*) stack_value , "
                   f"(int*) stack_tcode, 2, &ret_{name}, &ret_code_{name}, NULL) != 0){{\n    return -1;\n  }}\n")


PACKED_OPERATORS = (HEAD + packed_operator("double", "* 2") + packed_operator("add", "+ 3") + EXTERN + """TVM_DLL int32_t tvmgen_m___tvm_main__(void* args, int32_t* arg_type_ids, int32_t num_args, void* out_ret_value, int32_t* out_ret_tcode, void* resource_handle) {
  TVMValue stack[8];
  void* stack_tcode = stack;
  TVMValue stack_1[4];
  void* stack_value = stack_1;
  TVMValue stack_2[32];
  void* stack_array = stack_2;
  void* arg0 = (((TVMValue*)args)[0].v_handle);
  void* arg1 = (((TVMValue*)args)[1].v_handle);
  void* x_buffer_var = (((DLTensor*)arg0)[0].data);
  void* y_buffer_var = (((DLTensor*)arg1)[0].data);
  void* sid_1 = TVMBackendAllocWorkspace(1, 0, (uint64_t)128, 0, 8);
  if (sid_1 == NULL) {
    return -1;
  }
""" + packed_call("double", "x_buffer_var", "sid_1") + packed_call("add", "sid_1", "y_buffer_var") + """  if (TVMBackendFreeWorkspace(1, 0, sid_1) != 0) {
    return -1;
  }
  return 0;
}
""")

# TVM 0.18 declares all functions first and puts another name in front of the entry.
FORWARDER = EXTERN + """TVM_DLL int32_t __tvm_main__(void* args, int* arg_type_ids, int num_args, void* out_ret_value, int* out_ret_tcode, void* resource_handle) {
  return tvmgen_m___tvm_main__(args, arg_type_ids, num_args, out_ret_value, out_ret_tcode, resource_handle);
}
"""
PACKED_BY_0_18 = PACKED_OPERATORS.replace("(1, 0, ", "(1, dev_id, ").replace("  void* x_buffer_var", """  int32_t dev_id = (((DLTensor*)arg0)[0].device.device_id);
  void* x_buffer_var""") + FORWARDER

# TVM's plan with the packed interface: the pool is an argument behind the tensors.
PACKED_PLANNED_ENTRY = PACKED_ENTRY.replace("TVM_DLL", """__attribute__((section(".bss.noinit.tvm"), aligned(16)))
static uint8_t global_workspace[256];
TVM_DLL""").replace("tensors[2];", "tensors[3];").replace("return", """DLTensor global_workspace_dltensor = {
.data = &global_workspace
};
TVMValue global_workspace_tvm_value = {
.v_handle = &global_workspace_dltensor
};
tensors[2] = global_workspace_tvm_value;
return""")
PACKED_PLANNED = re.sub(r"  void\* sid_1 = .*?\n  }\n", """  void* sid_1 = (&(((uint8_t*)global_workspace_1_var)[128]));
""", re.sub(r"  if \(TVMBackendFree.*?  }\n", "", PACKED_OPERATORS, flags=re.S), flags=re.S).replace("  void* x_buffer_var", """  void* arg2 = (((TVMValue*)args)[2].v_handle);
  void* global_workspace_1_var = (((DLTensor*)arg2)[0].data);
  void* x_buffer_var""")

# Loops as people write them.
CHANGING = HEAD + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_reverse(int8_t* p0, int8_t* T_out) {
  int32_t unused;
  for (int32_t i = 0; i < 256; ++i) T_out[i] = (int8_t)(p0[255 - i] + (i & 1));
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_rows(int8_t* p0, int8_t* T_out) {
  for (int32_t y = 0; y < 16; y++) {
    for (int32_t x = 0; x < 16; ++x) {
      int32_t sum = 3, most = 100;
      for (int32_t k = 0; k < 8; ++k) {
        const int32_t at = y * 16 + k * 2;
        sum += p0[at];
        sum -= p0[at + 1];
      }
      if (sum > most) sum = most;
      sum++;
      T_out[y * 16 + x] = (int8_t)(sum + p0[y * 16 + (15 - x)]);
    }
  }
  return 0;
}
""" + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_pairs(int8_t* p0, int8_t* T_out) {
  for (int32_t i = 0; i < 64; ++i) {
    T_out[127 - i * 2] = p0[126 - i * 2];
    T_out[126 - i * 2] = (int8_t)(p0[127 - i * 2] * 2);
  }
  return 0;
}
"""

DUMP_HEADER = "#include <stdint.h>\nint dump(const char* name, const int8_t* data, int count);\nint device_code(int device);\n"


# An operator that fails in the fourth run, and in the fifth.
CHECKED_OPERATOR = EXTERN + """TVM_DLL int32_t tvmgen_m_fused_device(int8_t* p0, int8_t* T_out) {
  for (int32_t i = 0; i < 256; ++i) {
    T_out[i] = ((int8_t)(p0[i] ^ (int8_t)3));
  }
  if (device_code(3) != 0) return -7;
  return 0;
}
"""
CHECKED_CALLS = """  if (tvmgen_m_fused_device(sid_2, sid_1) != 0) {
    // the device
    failures++;
    LOG("no device");
    return DEVICE_FAILED;
  }
  int status = tvmgen_m_fused_device(sid_1, sid_2);
  if (status != 0) {
    printf("the device says %d after %d failures\\n", status, failures);
    return status;
  }
  if (((int8_t*)sid_2)[0] > 20) {
    LOG("a large value");
  }
"""
CHECKED_HEAD = """#include "dump.h"
#include <stdio.h>
#define LOG(text) puts("model: " text)
enum { DEVICE_FAILED = -11 };
static int failures;
"""


def checked_main() -> str:
    call = "  if (tvmgen_m_fused_add(sid_1, sid_2) != 0 ) return -1;\n"
    text = main_of("tvmgen_m_fused_add(x_buffer_var, sid_1)", "tvmgen_m_fused_add(sid_1, sid_2)", "tvmgen_m_fused_max_pool(sid_2, y_buffer_var)")
    assert call in text
    text = text.replace(call, "  if (tvmgen_m_fused_add(sid_1, sid_2) != 0) {\n    return -3;\n  }\n  dump(\"sid_2\", sid_2, 256);\n")
    text = text.replace("  if (tvmgen_m_fused_max_pool", CHECKED_CALLS + "  if (tvmgen_m_fused_max_pool")
    return text.replace("  void* sid_1 =", "  if (x_buffer_var == NULL || !y_buffer_var) {\n    LOG(\"nothing\");\n    return -2;\n  }\n  void* sid_1 =", 1)


DUMP_FIRMWARE = FIRMWARE.replace("  return 0;\n}\n", """  {
    struct tvmgen_m_inputs inputs = {0};
    struct tvmgen_m_outputs outputs = {y};
    printf("without input: %d\\n", (int)tvmgen_m_run(&inputs, &outputs));
    inputs.x = x;
    printf("without device: %d\\n", (int)tvmgen_m_run(&inputs, &outputs));
    printf("without device later: %d\\n", (int)tvmgen_m_run(&inputs, &outputs));
  }
  return 0;
}
""").replace("int main", """#include "dump.h"
int device_code(int device) {
  static int calls;
  ++calls;
  return calls == 7 || calls == 9 ? device : 0;
}
int dump(const char* name, const int8_t* data, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += data[i] * (i % 7);
  printf("%s: sum %d\\n", name, sum);
  return 0;
}
int main""")

# Calls a function of the packed interface by its name.
PACKED_CALLER = """#include <tvm/runtime/c_runtime_api.h>
#include <stdio.h>
int32_t FUNCTION(void* args, int32_t* types, int32_t count, void* result, int32_t* code, void* handle);
int main(void) {
  static int8_t x[256], y[256];
  DLTensor tensors[2] = {{x}, {y}};
  TVMValue args[2] = {{0}, {0}}, result;
  int32_t codes[2] = {7, 7}, code;
  args[0].v_handle = &tensors[0];
  args[1].v_handle = &tensors[1];
  for (int run = 0; run < 3; ++run) {
    for (int i = 0; i < 256; ++i) x[i] = (int8_t)(i * 7 + run);
    printf("%d\\n", (int)FUNCTION(args, codes, 2, &result, &code, NULL));
    for (int i = 0; i < 128; ++i) printf("%d ", y[i]);
    printf("\\n");
  }
  return 0;
}
"""

# TVM 0.8 has the packed interface around a plain entry.
PACKED_ENTRY_OF_0_8 = """#include "tvm/runtime/c_runtime_api.h"
TVM_DLL int32_t tvmgen_m_run_model(void* arg0,void* arg1);
int32_t tvmgen_m_run(void* args, void* type_code, int num_args, void* out_value, void* out_type_code, void* resource_handle) {
return tvmgen_m_run_model(((DLTensor*)(((TVMValue*)args)[0].v_handle))[0].data,((DLTensor*)(((TVMValue*)args)[1].v_handle))[0].data);
}
;
"""

NETWORK = """typedef struct { TVMBackendPackedCFunc run; int tensors; } network_t;
const network_t tvmgen_m_network = {
    .run = (TVMBackendPackedCFunc)&tvmgen_m_run,
    .tensors = 2,
};
"""

# Finds the functions as TVM's C runtime does; the model's name comes from the metadata.
PACKED_FIRMWARE = """#include <tvm/runtime/crt/module.h>
#include <stdio.h>
#include <string.h>
static TVMBackendPackedCFunc find(const char* name) {
  const TVMFuncRegistry* registry = TVMSystemLibEntryPoint()->registry;
  const unsigned char* count = (const unsigned char*)registry->names;
  const char* at = registry->names + COUNT_BYTES;
  unsigned functions = COUNT_BYTES == 1 ? count[0] : count[0] + 256u * count[1];
  for (unsigned i = 0; i < functions; ++i, at += strlen(at) + 1) {
    if (strcmp(at, name) == 0) return registry->funcs[i];
  }
  return NULL;
}
int main(void) {
  static int8_t x[256], y[256];
  DLTensor tensors[2] = {{x}, {y}};
  TVMValue args[2] = {{0}, {0}}, result;
  int codes[2] = {7, 7}, code;
  args[0].v_handle = &tensors[0];
  args[1].v_handle = &tensors[1];
  if (find("tvmgen_m_get_c_metadata")(NULL, NULL, 0, &result, &code, NULL) != 0) return 1;
  printf("metadata of %s\\n", ((const char* const*)result.v_handle)[0]);
  for (int run = 0; run < 3; ++run) {
    for (int i = 0; i < 256; ++i) x[i] = (int8_t)(i * 7 + run);
    memset(y, 0, sizeof y);
    printf("%d\\n", find("tvmgen_m___tvm_main__")(args, codes, 2, &result, &code, NULL));
    for (int i = 0; i < 256; ++i) printf("%d ", y[i]);
    printf("\\n");
  }
  return 0;
}
"""


@dataclass
class Case:
    name: str
    files: dict[str, str]
    workspace: int | None  # of the plan; None: whatever it is
    kept: list[str] = field(default_factory=list)  # warnings about functions, part of each
    taken: int = 0  # calls that take workspace at run time and stay, in C of other code generators
    options: tuple[str, ...] = ()
    firmware: str = FIRMWARE
    calls_entry: bool = False  # the firmware calls the entry itself, which only what is planned in place has
    adds_code: bool = False  # the firmware uses functions and variables of TVM's files, which only what is planned in place has
    strict: bool = False  # what is written compiles without warnings
    left_out: list[str] = field(default_factory=list)  # what planned C elsewhere is said to lack, part of each line
    registry: bool = False  # the firmware finds functions in TVM's registry, which only what is planned in place has

    def label(self) -> str:
        return self.name


def case(name: str, files: dict[str, str], workspace: int, kept: list[str] | None = None) -> Case:
    return Case(name, {"tvmgen_m.h": HEADER, **files}, workspace, kept or [])


def contexts(size: str, begin: int = 512) -> dict[str, str]:
    return {"m_lib0.c": planned_entry(1024), "m_lib1.c": CONTEXTS_MAIN, "m_lib2.c": CONTEXTS % {"begin": begin, "size": size}}


def at_run_time(size: str) -> dict[str, str]:
    return {"tvmgen_m.h": HEADER, "m_lib0.c": unplanned_entry(), "m_lib1.c": AT_RUN_TIME_MAIN,
            "m_lib2.c": AT_RUN_TIME.replace("SIZE", size)}


# The device says how it was called; it is closed while the host computes.
DEVICE = """
static int is_active, is_open;
int32_t TVMDeviceM0Activate(void) { printf("activate "); return is_active++ ? -1 : 0; }
int32_t TVMDeviceM0Open(void) { printf("open "); return is_active != 1 || is_open++ ? -1 : 0; }
int32_t TVMDeviceM0Close(void) { printf("close "); return is_active == 1 && is_open-- == 1 ? 0 : -1; }
int32_t TVMDeviceM0Deactivate(void) { printf("deactivate\\n"); return is_open == 0 && is_active-- == 1 ? 0 : -1; }
int32_t on_device(const int8_t* from, int8_t* to) {
  if (is_open != 1) return -1;
  for (int i = 0; i < 256; ++i) to[i] = (int8_t)(from[i] ^ 85);
  return 0;
}
"""


def registered(name: str, count: str, count_bytes: int, split: bool, operators: str = PACKED_OPERATORS) -> Case:
    """The registry in front of the entry, as TVM has it, or in a file of its own."""
    files = {"m_lib0.c": registry(count) + PACKED_ENTRY, "m_lib1.c": PACKED_METADATA, "m_lib2.c": operators}
    if split:
        files |= {"m_lib0.c": PACKED_ENTRY, "m_lib3.c": registry(count)}
    return Case(name, files, 0, firmware=PACKED_FIRMWARE.replace("COUNT_BYTES", str(count_bytes)), registry=True)


def packed(name: str, files: dict[str, str], function: str) -> Case:
    """Firmware that calls the function with DLTensors."""
    return Case(name, files, 0, firmware=PACKED_CALLER.replace("FUNCTION", function), registry=True)


CASES = [
    case("helpers", {"m_lib0.c": unplanned_entry(), "m_lib1.c": HELPERS + main_of(
        "tvmgen_m_fused_add(x_buffer_var, sid_1)", "tvmgen_m_fused_add(sid_1, sid_2)", "tvmgen_m_fused_add(sid_2, sid_1)",
        "tvmgen_m_fused_max_pool(sid_1, y_buffer_var)")}, 256),
    case("operators by hand", {"m_lib0.c": unplanned_entry(), "m_lib1.c": HELPERS + BY_HAND + main_of(
        "tvmgen_m_fused_odd(x_buffer_var, sid_1)", "tvmgen_m_fused_both(sid_1, sid_2)", "tvmgen_m_fused_add(sid_2, sid_1)",
        "tvmgen_m_fused_max_pool(sid_1, y_buffer_var)")}, 512,
         ["'tvmgen_m_fused_odd' stays as it is and allocates workspace at run time",
          "'tvmgen_m_fused_odd' is not TVM's C and stays as it is (line ",
          "'tvmgen_m_fused_both' is not TVM's C and stays as it is (line "]),
    case("operators with break, static arrays and malloc", {"m_lib0.c": unplanned_entry(), "m_lib1.c": HELPERS.replace(
        "<string.h>", "<string.h>\n#include <stdlib.h>") + MORE_BY_HAND + main_of(
            "tvmgen_m_fused_break(x_buffer_var, sid_1)", "tvmgen_m_fused_static(sid_1, sid_2)", "tvmgen_m_fused_malloc(sid_2, sid_1)",
            "tvmgen_m_fused_add(sid_1, sid_2)", "tvmgen_m_fused_max_pool(sid_2, y_buffer_var)")}, 512,
         [f"'tvmgen_m_fused_{name}' is not TVM's C and stays as it is (line " for name in ("break", "malloc", "static")]),
    # A header that only the file with the entry includes says what the timer takes.
    case("calls that somebody added", {"timer.h": "#include <stdint.h>\nint64_t timer_started(double factor, int64_t ticks, const char* what);\n",
                                       "m_lib0.c": unplanned_entry(), "m_lib1.c": HELPERS.replace("<math.h>", '"timer.h"') + main_of(
        "tvmgen_m_fused_add(x_buffer_var, sid_1)", "tvmgen_m_fused_add(sid_1, sid_2)", "tvmgen_m_fused_max_pool(sid_2, y_buffer_var)").replace(
        "  if (tvmgen_m_fused_add", '  timer_started(0.5f, 3, "conv \\"1\\"\\n");\n  if (tvmgen_m_fused_add', 1)}, 256),
    Case("statements that somebody added", {"tvmgen_m.h": HEADER, "clock.h": CLOCK, "m_lib0.c": unplanned_entry(),
                                            "m_lib1.c": HELPERS.replace("\n#define LANES", ADDED_HEAD + "\n#define LANES") + added_main()}, 256,
         firmware=ADDED_FIRMWARE, strict=True),
    Case("functions and variables that somebody added", {
        "tvmgen_m.h": HEADER, "m_lib0.c": unplanned_entry(), "m_lib1.c": HELPERS.replace("\n#define LANES", "\nuint32_t model_version = 3;\n#define LANES") + '#include "tvmgen_m.h"\n' + ADDED_CODE + main_of(
            "tvmgen_m_fused_add(x_buffer_var, sid_1)", "tvmgen_m_fused_add(sid_1, sid_2)", "tvmgen_m_fused_max_pool(sid_2, y_buffer_var)")},
         256, firmware=ADDED_CODE_FIRMWARE, adds_code=True, strict=True),
    # The host's operators on both sides of the device's become one; it stays where it is.
    Case("hooks of a device", {"tvmgen_m.h": HEADER, "m_lib0.c": unplanned_entry(), "m_lib1.c": HELPERS.replace(
        "#define LANES", "int32_t on_device(const int8_t* from, int8_t* to);\nint32_t TVMDeviceM0Activate(void), TVMDeviceM0Open(void), "
        "TVMDeviceM0Close(void), TVMDeviceM0Deactivate(void);\n#define LANES") + main_of(
            "TVMDeviceM0Activate()", "tvmgen_m_fused_add(x_buffer_var, sid_1)", "TVMDeviceM0Open()", "TVMDeviceM0Close()",
            "tvmgen_m_fused_add(sid_1, sid_2)", "TVMDeviceM0Open()", "on_device(sid_2, sid_1)", "TVMDeviceM0Close()",
            "tvmgen_m_fused_max_pool(sid_1, y_buffer_var)", "TVMDeviceM0Deactivate()")}, 512, firmware=FIRMWARE + DEVICE),
    case("contexts with sizes", contexts("144"), 256 + 256 + 144),
    # Without a size it is all up to the end of the pool.
    case("contexts without sizes", contexts("(int32_t)(144)"), 256 + 256 + 512),
    # Or up to what else of the pool is live: that is so of sid_2 and of the context, but not of sid_1.
    case("contexts below an argument", {**contexts("(int32_t)(144)", 768), "m_lib1.c": CONTEXTS_MAIN.replace(
        "(global_workspace_0_var[0])", "(global_workspace_0_var[1024])"), "m_lib0.c": planned_entry(1536)}, 512 + 256 + 512),
    # A context that nothing reads takes no memory, wherever it is.
    case("a context without use", {**contexts("144"), "m_lib2.c": (CONTEXTS % {"begin": 512, "size": 144}).replace(
        "  memcpy(output_", "  void* context_buffer_2_let = (&(global_workspace_9_var[600]));\n  memcpy(output_")}, 256 + 256 + 144),
    # What a device has been given stays while the host works beside it, also where the host did that before.
    case("a device that the host works beside", started(STARTS, BESIDE, "  npu_wait();\n"), 1024),
    case("a device whose next function waits", queued(STARTS, BESIDE, NEXT), 1024),
    case("a device whose next job waits", queued(STARTS, BESIDE, AGAIN, NEXT), 1024),
    case("a device that the host waits for", started(BESIDE, STARTS, "  npu_wait();\n"), 1024),
    # The file with the constants stands in front of what names them, whatever its name.
    *(case(f"constants of an edited operator, {entry}", with_constants(entry, operators), 1536,
           ["function 'tvmgen_m_fused_gain' is not TVM's C and stays as it is (line ",
            "function 'tvmgen_m_fused_gain' takes constants of pool 'global_const_workspace' and stays as it is"])
      for entry, operators in (("m_lib0.c", "m_lib1.c"), ("z_entry.c", "m_lib1.c"))),
    case("constants of an edited operator, one file", {"m.c": with_constants("entry", "operators")["operators"] + re.sub(
        r"TVM_DLL int32_t \w+___tvm_main__\([^)]*\);\n", "", with_constants("entry", "operators")["entry"])}, 1536,
         ["function 'tvmgen_m_fused_gain' is not TVM's C and stays as it is (line ",
          "function 'tvmgen_m_fused_gain' takes constants of pool 'global_const_workspace' and stays as it is"]),
    # Both ends of the pool are its, and what is between them is not.
    case("contexts on both sides of an argument", {**contexts("144"), "m_lib2.c": (CONTEXTS % {"begin": 1000, "size": "(int32_t)(24)"}).replace(
        "  if (kernel(", "  int8_t* low = (int8_t*)(&(global_workspace_7_var[0]));\n  memcpy(low, input_, 16);\n  if (kernel("),
        "m_lib1.c": CONTEXTS_MAIN.replace("_0_var[0]", "_0_var[64]").replace("_0_var[256]", "_0_var[320]")}, 1024),  # as TVM has it
    case("a device that gets the pool", {"m_lib0.c": planned_entry(1024), "m_lib1.c": NPU_MAIN, "m_lib2.c": NPU}, 1024),
    case("names that the preprocessor changes", {
        "fast.h": FAST, "values.inc": "5, 6, 7,\n8\n", "m_lib0.c": unplanned_entry(), "m_lib1.c": PREPROCESSED + main_of(
            "tvmgen_m_fused_exp(x_buffer_var, sid_1)", "tvmgen_m_fused_chosen(sid_1, sid_2)", "tvmgen_m_fused_file(sid_2, sid_1)",
            "tvmgen_m_fused_round(sid_1, sid_2)", "tvmgen_m_fused_gain(sid_2, y_buffer_var)")}, 512,
         [f"'tvmgen_m_fused_{name}' is not TVM's C and stays as it is (line " for name in ("chosen", "exp", "file", "round")]),
    case("a table that operators share", {"m_lib0.c": unplanned_entry(), "m_lib1.c": SHARED + main_of(
        "tvmgen_m_fused_add(x_buffer_var, sid_1)", "tvmgen_m_fused_count(sid_1, sid_2)", "tvmgen_m_fused_last(sid_2, y_buffer_var)")}, 512,
         ["'tvmgen_m_fused_count' is not TVM's C and stays as it is (line "]),
    case("a table of another file", {"m_lib0.c": unplanned_entry(), "m_lib1.c": SHARED.replace("static const int8_t w[4] = {1, 2, 3, 4}", "extern const int8_t w[4]") + main_of(
        "tvmgen_m_fused_add(x_buffer_var, sid_1)", "tvmgen_m_fused_count(sid_1, sid_2)", "tvmgen_m_fused_last(sid_2, y_buffer_var)"),
                                     "m_weights.c": HEAD + "const int8_t w[4] __attribute__((aligned(4))) = {1, 2, 3, 4};\n"}, 512,
         ["'tvmgen_m_fused_count' is not TVM's C and stays as it is (line "]),
    case("variables that change", {"m_lib0.c": unplanned_entry(), "m_lib1.c": CHANGING + main_of(
        "tvmgen_m_fused_reverse(x_buffer_var, sid_1)", "tvmgen_m_fused_rows(sid_1, sid_2)", "tvmgen_m_fused_pairs(sid_2, y_buffer_var)")}, 272),
    # Who passes no input gets -2, as before; a dump is called between the same operators.
    Case("checks and dumps that somebody added", {"tvmgen_m.h": HEADER, "dump.h": DUMP_HEADER, "m_lib0.c": unplanned_entry(), "m_lib1.c": HELPERS.replace(
        "#define LANES", CHECKED_HEAD + "#define LANES") + CHECKED_OPERATOR + checked_main()}, 512,
         ["'tvmgen_m_fused_device' is not TVM's C and stays as it is"], firmware=DUMP_FIRMWARE, strict=True),
    case("operators of other names", {"m_lib0.c": unplanned_entry(), "m_lib1.c": HELPERS.replace("tvmgen_m_fused_add", "total") + main_of(
        "total(x_buffer_var, sid_1)", "total(sid_1, sid_2)", "total(sid_2, sid_1)", "tvmgen_m_fused_max_pool(sid_1, y_buffer_var)")}, 256),
    # TVM 0.8 has it so, and hand-written headers.
    Case("firmware that calls the entry", {"tvmgen_m.h": "#include <stdint.h>\n#define TVMGEN_M_WORKSPACE_SIZE 4*1024\n"
                                                         "int32_t tvmgen_m___tvm_main__(int8_t* from, int8_t* to);\n",
                                           "m_lib1.c": HELPERS + main_of("tvmgen_m_fused_add(x_buffer_var, sid_1)", "tvmgen_m_fused_add(sid_1, sid_2)",
                                                                         "tvmgen_m_fused_max_pool(sid_2, y_buffer_var)")}, 256, calls_entry=True, firmware=CALLS_ENTRY),
    Case("firmware that calls the entry without a header", {"m_lib1.c": HELPERS + main_of(
        "tvmgen_m_fused_add(x_buffer_var, sid_1)", "tvmgen_m_fused_add(sid_1, sid_2)", "tvmgen_m_fused_max_pool(sid_2, y_buffer_var)")},
         256, calls_entry=True, firmware=CALLS_ENTRY.replace('"tvmgen_m.h"\n', '"tvmgen_m.h"\nint32_t tvmgen_m___tvm_main__(int8_t* from, int8_t* to);\n')),
    # Beside the function that TVM puts around it, which has other parameters or another interface. The planned entry
    # gets the pool: without a function in between, such a call would pass none.
    Case("firmware that calls the entry beside the function around it", {"tvmgen_m.h": HEADER, "m_lib0.c": unplanned_entry(), "m_lib1.c": HELPERS + main_of(
        "tvmgen_m_fused_add(x_buffer_var, sid_1)", "tvmgen_m_fused_add(sid_1, sid_2)", "tvmgen_m_fused_max_pool(sid_2, y_buffer_var)")},
         256, calls_entry=True, firmware=CALLS_ENTRY.replace('"tvmgen_m.h"\n', '"tvmgen_m.h"\nint32_t tvmgen_m___tvm_main__(int8_t* from, int8_t* to);\n')),
    Case("firmware that passes pools to the entry", {"tvmgen_m.h": HEADER, "m_lib0.c": planned_entry(1024).replace(
        "outputs->y,((uint8_t*)&global_workspace)", "((uint8_t*)&global_workspace),outputs->y"), "m_lib1.c": PASSED_MAIN}, 768,
         calls_entry=True, firmware=CALLS_ENTRY.replace('"tvmgen_m.h"\n', '"tvmgen_m.h"\nint32_t tvmgen_m___tvm_main__('
                                                        'int8_t* from, uint8_t* pool, int8_t* to);\nstatic uint8_t own[1024];\n').replace("(x, y)", "(x, own, y)")),
    packed("firmware that calls the packed entry beside the function around it", {"m_lib0.c": PACKED_ENTRY, "m_lib1.c": PACKED_BY_0_18}, "tvmgen_m___tvm_main__"),
    Case("firmware that calls the entry in the packed interface", {"m_lib0.c": PACKED_ENTRY_OF_0_8, "m_lib1.c": CHANGING + main_of(
        "tvmgen_m_fused_reverse(x_buffer_var, sid_1)", "tvmgen_m_fused_rows(sid_1, sid_2)", "tvmgen_m_fused_pairs(sid_2, y_buffer_var)").replace(
            "___tvm_main__", "_run_model")}, 272, registry=True, firmware=CALLS_ENTRY.replace(
                "tvmgen_m___tvm_main__(x, y)", "tvmgen_m_run_model(x, y)").replace('"tvmgen_m.h"\n', '"tvmgen_m.h"\nint32_t tvmgen_m_run_model(void* from, void* to);\n')),
    # 100 bytes, and from 112 on 512.
    Case("workspace at run time", at_run_time("(uint64_t)(32 * 4)"), 256 + 256 + 624),
    registered("registry of functions", "\\004\\000", 2, split=False),
    registered("registry of functions as TVM 0.8 has it", "\\004", 1, split=False),
    registered("calls that count one argument less", "\\004\\000", 2, split=False, operators=PACKED_OPERATORS.replace("(int*) stack_tcode, 2", "(int*) stack_tcode, 1")),
    Case("metadata tables beside the entry", {"m_lib0.c": registry("\\004\\000") + PACKED_METADATA + PACKED_ENTRY, "m_lib2.c": PACKED_OPERATORS}, 0,
         firmware=PACKED_FIRMWARE.replace("COUNT_BYTES", "2"), registry=True),
    Case("metadata tables beside the operators", {"m_lib0.c": registry("\\004\\000") + PACKED_ENTRY, "m_lib2.c": PACKED_METADATA + PACKED_OPERATORS}, 0,
         firmware=PACKED_FIRMWARE.replace("COUNT_BYTES", "2"), registry=True),
    packed("the packed interface of TVM 0.18", {"m_lib0.c": PACKED_ENTRY, "m_lib1.c": PACKED_BY_0_18}, "tvmgen_m_run"),
    packed("another name of the entry", {"m_lib0.c": PACKED_ENTRY, "m_lib1.c": PACKED_BY_0_18}, "__tvm_main__"),
    packed("the packed interface in one file", {"m_lib1.c": PACKED_BY_0_18}, "__tvm_main__"),
    packed("firmware that calls the packed entry", {"m_lib1.c": PACKED_BY_0_18}, "tvmgen_m___tvm_main__"),
    packed("the packed interface planned by TVM", {"m_lib0.c": PACKED_PLANNED_ENTRY, "m_lib1.c": PACKED_PLANNED}, "tvmgen_m_run"),
    Case("the packed interface around a plain entry", {"m_lib0.c": PACKED_ENTRY_OF_0_8, "m_lib1.c": CHANGING + main_of(
        "tvmgen_m_fused_reverse(x_buffer_var, sid_1)", "tvmgen_m_fused_rows(sid_1, sid_2)", "tvmgen_m_fused_pairs(sid_2, y_buffer_var)").replace(
            "___tvm_main__", "_run_model")}, 272, firmware=PACKED_CALLER.replace("FUNCTION", "tvmgen_m_run"), registry=True),
    # TVM 0.8 describes the network so.
    Case("a variable that names the packed function around a plain entry", {"m_lib0.c": PACKED_ENTRY_OF_0_8 + NETWORK, "m_lib1.c": CHANGING + main_of(
        "tvmgen_m_fused_reverse(x_buffer_var, sid_1)", "tvmgen_m_fused_rows(sid_1, sid_2)", "tvmgen_m_fused_pairs(sid_2, y_buffer_var)").replace(
            "___tvm_main__", "_run_model")}, 272, adds_code=True, registry=True, left_out=["'tvmgen_m_network'"],
         firmware=PACKED_CALLER.replace("int32_t FUNCTION(", NETWORK.split("const")[0] + "extern const network_t tvmgen_m_network;\nint32_t unused(").replace(
             "FUNCTION", "tvmgen_m_network.run")),
    Case("registry of functions without another entry", {"m_lib0.c": registry("\\004\\000"), "m_lib1.c": PACKED_METADATA, "m_lib2.c": PACKED_BY_0_18}, 0,
         firmware=PACKED_FIRMWARE.replace("COUNT_BYTES", "2"), registry=True),
    registered("registry of functions in its own file", "\\004\\000", 2, split=True),
    Case("workspace of unknown size at run time", at_run_time("sizeof(long) * 16"), 256 + 256 + 624, taken=1),
]


# What firmware and hooks do with inputs and outputs, whose addresses they have, too.
SHARED_FIRMWARE = FIRMWARE.replace("  static int8_t x[256], y[128];\n", "").replace("int main", "uint32_t seen;\nint8_t x[256], y[128];\nint main").replace(
    '    printf("\\n");\n', '    printf("\\n%u seen\\n", (unsigned)seen);\n')
SHARED_HOOKS = """extern int8_t x[256], y[128];
extern uint32_t seen;
static void change_input(void) { int8_t* at = x + 4; for (int i = 0; i < 100; ++i) *at++ ^= 85; }
static void look_at_output(void) { const int8_t* at = y; for (int i = 0; i < 128; ++i) seen = seen * 31u + (uint8_t)at[i]; }
"""
COPIES = "".join(EXTERN + f"""TVM_DLL int32_t tvmgen_m_fused_copy{count}(int8_t* p0, int8_t* T_copy) {{
  for (int32_t i = 0; i < {count}; ++i) {{
    T_copy[i] = p0[i];
  }}
  return 0;
}}
""" for count in (128, 256)) + EXTERN + """TVM_DLL int32_t tvmgen_m_fused_mean(int8_t* p0, int8_t* p1, int8_t* T_mean) {
  for (int32_t i = 0; i < 128; ++i) {
    T_mean[i] = ((int8_t)((p0[i] / 2) + (p1[(255 - i)] / 2)));
  }
  return 0;
}
"""


def hooked(name: str, kept: list[str], middle: str = "", behind: str = "") -> Case:
    calls = main_of("tvmgen_m_fused_copy256(x_buffer_var, sid_1)", "tvmgen_m_fused_mean(x_buffer_var, sid_1, sid_2)", "tvmgen_m_fused_copy128(sid_2, y_buffer_var)")
    calls = calls.replace("  if (tvmgen_m_fused_mean", middle + "  if (tvmgen_m_fused_mean").replace("  if (tvmgen_m_fused_copy128", behind + "  if (tvmgen_m_fused_copy128")
    return Case(name, {"tvmgen_m.h": HEADER, "m_lib0.c": unplanned_entry(), "m_lib1.c": HEAD + SHARED_HOOKS + COPIES + calls}, 256, kept, firmware=SHARED_FIRMWARE)


CASES += [
    hooked("a hook that changes the input", ["'change_input' is not TVM's C and stays"], "  change_input();\n"),
    hooked("statements that change the input", [], "  { int8_t* at = seen < 3 ? x : x + 1; at += 4; memset(at, 5, 100); }\n"),
    hooked("a hook that looks at the output", ["'look_at_output' is not TVM's C and stays"], "  look_at_output();\n", "  look_at_output();\n"),
    # Its own names are those that the header leaves free.
    case("macros of a header that stays", {"dsp.h": "#define OK 0\n#define i 5\n#define p0 7\n#define T_add 3\n", "m_lib0.c": unplanned_entry(),
                                           "m_lib1.c": HELPERS + "TVM_DLL int32_t tvmgen_m_fused_own(int8_t* from, int8_t* to);\n" + main_of(
                                               "tvmgen_m_fused_add(x_buffer_var, sid_1)", "tvmgen_m_fused_own(sid_1, sid_2)", "tvmgen_m_fused_max_pool(sid_2, y_buffer_var)") +
                                               '#include "dsp.h"\n' + EXTERN + "TVM_DLL int32_t tvmgen_m_fused_own(int8_t* from, int8_t* to) {\n"
                                               "  memmove(to, from, 256);\n  goto end;\nend:\n  return OK;\n}\n"}, 512,
         ["'tvmgen_m_fused_own' is not TVM's C and stays"]),
    *(case(f"another name of a function, {how}", {"m_lib0.c": unplanned_entry(), "m_lib1.c": HELPERS + "static int32_t own(int8_t* p0, int8_t* q) { memcpy(q, p0, 256); return 0; }\n" +
                                                  declaration + EXTERN + "TVM_DLL int32_t tvmgen_m_fused_own(int8_t* p0, int8_t* q) {\n  if (other(p0, q) != 0) goto end;\nend:\n"
                                                  "  return 0;\n}\n" + main_of("tvmgen_m_fused_add(x_buffer_var, sid_1)", "tvmgen_m_fused_own(sid_1, sid_2)",
                                                                                 "tvmgen_m_fused_max_pool(sid_2, y_buffer_var)")}, 512,
           ["'tvmgen_m_fused_own' is not TVM's C and stays"])
      for how, declaration in (("by an alias", 'int32_t other(int8_t* p0, int8_t* q) __attribute__((alias("own")));\n'),
                               ("by a weak reference", 'static int32_t other(int8_t* p0, int8_t* q) __attribute__((weakref("own")));\n'),
                               ("by a pragma", "int32_t other(int8_t* p0, int8_t* q);\n#pragma weak other = own\n"))),
]


def aligned_operator(name: str, declaration: str, alignment: int, statement: str = "", blocks: int = 16) -> str:
    """Its array is handed on as elements of a wider type, to a helper that spoils what is not aligned."""
    return EXTERN + f"""TVM_DLL int32_t tvmgen_m_fused_{name}(int8_t* p0, int8_t* T_out) {{
  int8_t odd[3];
  for (int32_t i = 0; i < 3; ++i) {{
    odd[i] = p0[i];
  }}
  {declaration};
  for (int32_t block = 0; block < {blocks}; ++block) {{
    for (int32_t i = 0; i < 16; ++i) {{
      acc[i] = ((int16_t)p0[((block * 16) + i)]);
    }}
    triple((int32_t*)acc, 8, {alignment});
{statement}    for (int32_t i = 0; i < 16; ++i) {{
      T_out[((block * 16) + i)] = ((int8_t)(((int32_t)acc[i]) + ((int32_t)odd[(i % 3)])));
    }}
  }}
  return 0;
}}
"""


ALIGNED_HELPER = HEAD + EXTERN + """static __attribute__((noinline)) int32_t triple(int32_t* p, int n, int alignment) {
  for (int i = 0; i < n; ++i) {
    int32_t v;
    memcpy(&v, &p[i], sizeof(v));
    v = (int32_t)((uint32_t)v * 3u);
    memcpy(&p[i], &v, sizeof(v));
  }
  if ((uintptr_t)p % (uintptr_t)alignment != 0) memset(p, 85, sizeof(*p));
  return 0;
}
"""

# On the stack, in a pool (more than 256 bytes), in a function that stays as it is.
CASES.append(Case("arrays that are aligned", {"tvmgen_m.h": HEADER, "m_lib0.c": unplanned_entry(), "m_lib1.c": ALIGNED_HELPER + aligned_operator(
    "stack", "int16_t acc[16] __attribute__((aligned(1024)))", 1024) + aligned_operator(
        "pool", "int16_t acc[160] __attribute__((__aligned__(2048)))", 2048) + aligned_operator(
            "wide", "int16_t acc[16]", 4) + aligned_operator(
                "text", "int16_t acc[16] __attribute__((aligned(1024)))", 1024, "    if (block == 99) goto end;\n", 8).replace("  return 0;\n}", "end:\n  return 0;\n}") + main_of(
                    "tvmgen_m_fused_stack(x_buffer_var, sid_1)", "tvmgen_m_fused_pool(sid_1, sid_2)", "tvmgen_m_fused_wide(sid_2, sid_1)",
                    "tvmgen_m_fused_text(sid_1, y_buffer_var)")}, None, ["'tvmgen_m_fused_text' is not TVM's C and stays as it is (line "]))


def check_strictly(tree: Path, includes: list[Path]) -> None:
    """What is written compiles without any warning, if what somebody added does."""
    for source in sorted(tree.glob("*.c")):
        golden.run(["gcc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", *(word for path in includes for word in ("-I", path)),
                    "-c", source, "-o", os.devnull])


def outputs_of(directory: Path, includes: Path, tree: Path, sources: list[Path]) -> str:
    program = directory / "run"
    command = [*golden.GCC, "-O0", "-Wall", "-Wno-unused", "-Werror=incompatible-pointer-types", "-Werror=int-conversion",
               "-Werror=implicit-function-declaration", *golden.SANITIZE, "-I", includes, "-I", tree, "-I", directory, "-I", SHIM, *sources,
               directory / "firmware.c", directory / "runtime.c", "-lm", "-o", program]
    text = golden.run_sanitized(command, program).stdout
    if [line for line in text.splitlines() if len(line) < 5] != ["0"] * 3:
        raise golden.Failure(f"the model fails: {text}")
    return text


def run_case(binary: Path, this: Case, directory: Path) -> None:
    tree = directory / "tree"
    checkouts.write_tree(tree, this.files)
    (directory / "firmware.c").write_text(this.firmware)
    if this.registry:
        checkouts.write_tree(directory, {"tvm/runtime/c_runtime_api.h": PACKED_RUNTIME, "tvmgen_m.h": HEADER,
                                         "tvm/runtime/crt/module.h": '#include "../c_runtime_api.h"\n'})
    if this.calls_entry and "tvmgen_m.h" not in this.files:
        (directory / "tvmgen_m.h").write_text("#include <stdint.h>\n#define TVMGEN_M_WORKSPACE_SIZE 4096\n")  # the firmware's
    (directory / "runtime.c").write_text(checkouts.RUNTIME.replace("MODULE", "m").replace("MACRO", "M"))
    expected = outputs_of(directory, tree, tree, sorted(tree.glob("*.c")))
    out = directory / "planned"
    found = checkouts.workspace(binary, tree, out, "m")
    if this.workspace is not None and found != this.workspace:
        raise golden.Failure(f"{found} bytes, expected {this.workspace}")
    sources = out / "codegen/host/src"
    if not this.registry and not this.calls_entry and not this.adds_code and outputs_of(directory, out / "codegen/host/include", tree, sorted(sources.glob("*.c"))) != expected:
        raise golden.Failure("the planned C computes something else")
    done = subprocess.run([binary, tree, "--dry-run"], capture_output=True, text=True, check=True)
    kept = [line for line in (done.stdout + done.stderr).splitlines() if "stays as it is" in line]
    if len(kept) != len(this.kept) or not all(part in line for part, line in zip(this.kept, sorted(kept, key=lambda line: (
            next((i for i, part in enumerate(this.kept) if part in line), 99))))):
        raise golden.Failure(f"warnings {kept}, expected {this.kept}")
    lacks = [line for line in (done.stdout + done.stderr).splitlines() if "is not in planned C, since" in line]
    expected_lacks = this.left_out or ([] if not this.adds_code else None)
    if expected_lacks is not None and (len(lacks) != len(expected_lacks) or not all(part in line for part, line in zip(expected_lacks, lacks))):
        raise golden.Failure(f"said to be left out {lacks}, expected {expected_lacks}")
    if this.strict:
        check_strictly(sources, [out / "codegen/host/include", tree, SHIM])
    golden.run([binary, tree, "--in-place", "--quiet"])
    if this.strict:
        check_strictly(tree, [tree, SHIM])
    for planned in (sources / "m_lib2.c", tree / "m_lib2.c") if "cmsis-nn" in this.files.get("m_lib2.c", "") else ():
        taken = planned.read_text().count("= TVMBackendAllocWorkspace(")
        if taken != this.taken or ("allocates workspace at run time" in done.stdout) != (taken > 0):
            raise golden.Failure(f"{planned.name}: {taken} calls take workspace at run time, expected {this.taken}: {done.stdout}")
    if outputs_of(directory, tree, tree, sorted(tree.glob("*.c"))) != expected:
        raise golden.Failure("what was planned in place computes something else")


def main(cases: list[Case], description: str) -> int:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, help="directory for the files")
    arguments = parser.parse_args()
    binary = arguments.binary.resolve()
    cases = [this for this in cases if arguments.only in this.name]
    with tempfile.TemporaryDirectory(prefix="usmp-kept-") as temporary:
        directories = {this.name: (arguments.keep or Path(temporary)) / this.name.replace(" ", "_") for this in cases}
        for directory in directories.values():
            directory.mkdir(parents=True)
        return golden.run_all(cases, lambda this: run_case(binary, this, directories[this.name]), arguments.jobs)


if __name__ == "__main__":
    sys.exit(main(CASES, __doc__))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans C whose entry somebody has edited: macros around calls of operators and around tensors, statements that use tensors,
statements in tvmgen_M_run. As kept_c.py: what is planned, into a directory and in place, prints and computes the same bytes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import golden
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
  seen++;
  TIMED(tvmgen_m_fused_max_pool(sid_2, y_buffer_var));
  TRACE_TENSOR(&y_buffer_var[100]);
  if (seen == 2) fprintf(stdout, "twice %d %d\\n", (int)checksum, y_buffer_var[0]);
"""


def traced(calls: str = TRACED_CALLS, head: str = TRACED, header: str = TRACE_HEADER) -> dict[str, str]:
    main = (MAIN % {"calls": "@"}).replace("  @\n", "@\n").replace("@\n", calls)
    return {"tvmgen_m.h": HEADER, "trace.h": header, "m_lib0.c": unplanned_entry(),
            "m_lib1.c": HELPERS.replace("#define LANES", head + "#define LANES") + main}


CASES = [
    Case("macros around tensors and calls", traced(), 256, strict=True),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, help="directory for the files")
    arguments = parser.parse_args()
    binary = arguments.binary.resolve()
    cases = [this for this in CASES if arguments.only in this.name]
    with tempfile.TemporaryDirectory(prefix="usmp-edited-") as temporary:
        directories = {this.name: (arguments.keep or Path(temporary)) / this.name.replace(" ", "_") for this in cases}
        for directory in directories.values():
            directory.mkdir(parents=True)
        return golden.run_all(cases, lambda this: kept_c.run_case(binary, this, directories[this.name]), arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())

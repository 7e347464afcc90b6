#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Plans C whose entry somebody has edited. Statements between the calls, macros around tensors, what is done where an operator
fails: as kept_c.py, what is planned, into a directory and in place, prints and computes the same bytes. Other forms are refused
in a sentence that says what to do, and nothing is written.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import checkouts
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
  if (tvmgen_m_fused_add(x_buffer_var, sid_1) != 0 ) return -1;
  TRACE_TENSOR(sid_1);
  VERBOSE_TENSOR(sid_1);
  for (int i = 0; i < N_SUM; ++i) {
    const int8_t* from = (const int8_t*)sid_1;
    if (from[i] == 0) continue;
    checksum += from[i] * (i + 1);
  }
  if (tvmgen_m_fused_add(sid_1, sid_2) != 0 ) return -1;
#ifdef __OPTIMIZE__
  fwrite(sid_2, 1, 0, stderr);
  printf("%d %d\\n", ((int8_t*)sid_2)[3], (int)checksum);
#endif
  uint32_t begun = now();  // by hand
  if (tvmgen_m_fused_add(sid_2, sid_1) != 0) return -1;
  printf("by hand %u\\n", (unsigned)(now() - begun));
  seen++;
#ifdef __OPTIMIZE__
  uint32_t last = now();
#endif
  int32_t status = tvmgen_m_fused_max_pool(sid_1, y_buffer_var);
  if (status != 0) { printf("failed: %d\\n", (int)status); return status; }
#ifdef __OPTIMIZE__
  printf("after %u\\n", (unsigned)(now() - last));
#endif
  TRACE_TENSOR(&y_buffer_var[100]);
  if (seen == 2) fprintf(stdout, "twice %d %d\\n", (int)checksum, y_buffer_var[0]);
"""


def traced(calls: str = TRACED_CALLS, head: str = TRACED, header: str = TRACE_HEADER) -> dict[str, str]:
    main = (MAIN % {"calls": "@"}).replace("  @\n", "@\n").replace("@\n", calls)
    return {"tvmgen_m.h": HEADER, "trace.h": header, "m_lib0.c": unplanned_entry(),
            "m_lib1.c": HELPERS.replace("#define LANES", head + "#define LANES") + main}


# An operator that fails when the firmware says so, and what asks for that, as people write it.
DEVICE = kept_c.HEAD + """#include <stdio.h>
int32_t device(int32_t n);
uint32_t now(void);
TVM_DLL int32_t tvmgen_m_dev(int8_t* p, int8_t* q) {
  for (int32_t i = 0; i < 256; ++i) { q[i] = ((int8_t)(p[i] + (int8_t)1)); }
  int32_t r = device(p[0]);
  return r;
}
typedef struct { const void* data; int at; } view_t;
static void show(const view_t* v) { printf("shows %d\\n", ((const int8_t*)v->data)[v->at]); }
"""

CHECKS = [
    "if (CALL != 0) return -1;",
    'if (CALL != 0) { printf("not ok\\n"); return -2; }',
    '{ int32_t rc = CALL; if (rc != 0) { printf("result %d\\n", (int)rc); return rc; } }',
    'uint32_t t = now(); if (CALL != 0) return -6; printf("timed %u\\n", (unsigned)(now() - t));',
    "{ view_t v = {.data = sid_1, .at = 3}; show(&v); } int32_t status = CALL; if (status) return status;",
    'if ((status = CALL) != 0) { printf("again %d\\n", (int)status); return -8; }',
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


def checked() -> dict[str, str]:
    """Calls one behind the other, each checked otherwise."""
    names = ["x_buffer_var", *["sid_1" if i % 2 == 0 else "sid_2" for i in range(len(CHECKS) - 1)], "y_buffer_var"]
    calls = [text.replace("CALL", f"tvmgen_m_dev({names[i]}, {names[i + 1]})") for i, text in enumerate(CHECKS)]
    main = MAIN.replace("%(calls)s", "\n".join("  " + call for call in calls))
    leaks = HEADER.replace("4096", "65536")  # a run that fails frees nothing
    return {"tvmgen_m.h": leaks, "m_lib0.c": unplanned_entry(), "m_lib1.c": DEVICE + main}


CASES = [
    Case("macros around tensors, statements around calls", traced(), 256, strict=True),
    Case("results asked for", checked(), None, ["'tvmgen_m_dev' is not TVM's C and stays as it is (line "], firmware=FAILING)]


@dataclass
class Refused:
    name: str
    files: dict[str, str]
    place: str  # "m_lib1.c: line " and the like
    parts: tuple[str, ...]  # of the message
    in_place: bool = False  # only there

    def label(self) -> str:
        return self.name


CALLS = ("tvmgen_m_fused_add(x_buffer_var, sid_1)", "tvmgen_m_fused_add(sid_1, sid_2)", "tvmgen_m_fused_max_pool(sid_2, y_buffer_var)")
OUT_OF_ENTRY = "move the addition out of 'tvmgen_m___tvm_main__': it calls operators as TVM does, if (f(…) != 0) return -1;"


def in_entry(name: str, instead: str, head: str = "", behind: str = "") -> Refused:
    """With something else in place of the second call's check, CALL, and of the last return."""
    main = main_of(*CALLS).replace(f"if ({CALLS[1]} != 0 ) return -1;", instead.replace("CALL", CALLS[1]))
    main = main if not behind else main.replace("  return 0;\n}\n", behind + "}\n")
    return Refused(name, {"tvmgen_m.h": HEADER, "m_lib0.c": unplanned_entry(), "m_lib1.c": HELPERS.replace("#define LANES", head + "#define LANES") + main},
                   "m_lib1.c: line ", (OUT_OF_ENTRY,))


def with_front(name: str, front: str, main: str, *parts: str) -> Refused:
    return Refused(name, {"tvmgen_m.h": HEADER, "m_lib0.c": unplanned_entry(), "m_lib1.c": HELPERS + front + main}, "m_lib1.c: line ", parts)


PART = kept_c.EXTERN + """static int32_t first_half(int8_t* from, void* to) {
  if (tvmgen_m_fused_add(from, to) != 0 ) return -1;
  return 0;
}
"""
TAKEN = "void* sid_1 = TVMBackendAllocWorkspace"
# In TVM's file of the entry.
RUN = "{return tvmgen_m___tvm_main__("
PASSED = "void clean(void* begin, size_t bytes);\nvoid flush(void);\nvoid flush(void) { clean(global_workspace, sizeof(global_workspace)); }\n"


def entry_with(name: str, entry: str, main: str, *parts: str, in_place: bool = False) -> Refused:
    return Refused(name, {"tvmgen_m.h": HEADER, "m_lib0.c": entry, "m_lib1.c": HELPERS + main}, "m_lib0.c: line ", parts, in_place)


PLANNED_MAIN = kept_c.EXTERN + """TVM_DLL int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var, uint8_t* global_workspace_0_var) {
  void* sid_1_let = (&(global_workspace_0_var[0]));
  if (tvmgen_m_fused_add(x_buffer_var, sid_1_let) != 0 ) return -1;
  if (tvmgen_m_fused_max_pool(sid_1_let, y_buffer_var) != 0 ) return -1;
  return 0;
}
"""

REFUSED = [
    in_entry("a macro around a call", "CHECK(CALL);", "#define CHECK(x) do { if ((x) != 0) return -1; } while (0)\n"),
    in_entry("a macro that no file defines", "CHECK(CALL);"),
    in_entry("a macro for a call", "SECOND;", "#define SECOND if (tvmgen_m_fused_add(sid_1, sid_2) != 0) return -1\n"),
    in_entry("a name for an operator", "if (ADD(sid_1, sid_2) != 0) return -1;", "#define ADD tvmgen_m_fused_add\n"),
    in_entry("macros that open and close a block", "BEGIN if (CALL != 0) return -1; END", "#define BEGIN {\n#define END }\n"),
    in_entry("a block around a call", "{ int32_t t = 3; if (CALL != 0) return -1; (void)(t + now()); }", "int32_t now(void);\n"),
    in_entry("a hint for the compiler", "if (unlikely(CALL)) return -1;", "#define unlikely(x) __builtin_expect(!!(x), 0)\n"),
    in_entry("a name for 0", "if (CALL != OK) return -1;", "#define OK 0\n"),
    in_entry("else", "if (CALL == 0) { } else { return -1; }"),
    in_entry("goto", "if (CALL != 0) goto fail;", behind="  return 0;\nfail:\n  return -1;\n"),
    in_entry("results gathered", "int32_t err = 0; err |= CALL; if (err != 0) return err;"),
    in_entry("a result asked for later", "int32_t err = CALL; (void)sid_1; if (err != 0) return err;"),
    with_front("a function made of the entry", PART, main_of("first_half(x_buffer_var, sid_1)", *CALLS[1:]),
               "found 'tvmgen_m_fused_add' called by 'first_half'", "move the statements of 'first_half' there"),
    with_front("a pointer of the file", "static void* sid_1;\n", main_of(*CALLS).replace(TAKEN, TAKEN.replace("void* ", "", 1)),
               "found 'sid_1'", "declare it in the function", OUT_OF_ENTRY),
    entry_with("statements in the run function", unplanned_entry().replace(RUN, "{ runs++; " + RUN[1:]).replace("#ifdef __cplusplus", "static int runs;\n#ifdef __cplusplus", 1),
               main_of(*CALLS), "found 'runs' in 'tvmgen_m_run', which is written anew", "move the addition out of 'tvmgen_m_run', to where that is called"),
    entry_with("a function that passes the pool on", kept_c.planned_entry(512).replace("#ifdef __cplusplus\n}\n", PASSED + "#ifdef __cplusplus\n}\n"),
               PLANNED_MAIN, "found 'global_workspace' in code that somebody added", "move that code to a file of the firmware", in_place=True)]


def run_refused(binary: Path, this: Refused, directory: Path) -> None:
    tree = directory / "tree"
    checkouts.write_tree(tree, this.files)
    out = directory / "planned"
    for options in ([] if this.in_place else [["-o", out]]) + [["--in-place", "--force"]]:
        done = subprocess.run([binary, tree, *options], capture_output=True, text=True)
        message = done.stdout + done.stderr
        if done.returncode != 3 or not all(part in message for part in (this.place, *this.parts)):
            raise golden.Failure(f"exit code {done.returncode}: {message}\nexpected {this.place}, {this.parts}")
        if out.exists() or any((tree / name).read_text() != text for name, text in this.files.items()):
            raise golden.Failure("something is written")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    binary = arguments.binary.resolve()
    with tempfile.TemporaryDirectory(prefix="usmp-edited-") as temporary:
        def run(this: Case | Refused) -> None:
            directory = Path(temporary) / this.name.replace(" ", "_")
            directory.mkdir()
            if isinstance(this, Refused):
                run_refused(binary, this, directory)
            else:
                kept_c.run_case(binary, this, directory)
        return golden.run_all([*CASES, *REFUSED], run, arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())

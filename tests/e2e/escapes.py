#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Drivers that keep addresses of tensors and go on with them after they have returned, each as an operator that somebody edited and in
a file of another code generator: the tensors must keep their memory until code that is not read runs for the last time, or the
model is refused. If the user says that the driver is synchronous, or if it is by what it does, the memory is used again.

Then some of them run: what undefined functions were ever given must be the same in the planned program (remembered.py), and so must
what functions compute that read what others have kept.

usage: escapes.py USMP_PLAN
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import checkouts
import golden
import kept_c
import remembered

# What stands in front of the operator `npu`, and what it does: it keeps p, the address of sid_1. Nothing runs.
KEEP = {
    'file struct of pointer': ('static struct { int8_t* a; int8_t* b; } s;', '  s.a = p; s.b = q;'),
    'union': ('static union { int8_t* a; uintptr_t n; } u;', '  u.n = (uintptr_t)p;'),
    'union local to global': ('static uintptr_t n;', '  union { int8_t* a; uintptr_t n; } u; u.a = p; n = u.n;'),
    'cast chain': ('static volatile uint32_t n;', '  n = (uint32_t)(uintptr_t)(const void*)(int8_t*)p;'),
    'paste': ('static int8_t *npu_from;\n#define REG(x) npu_##x\n', '  REG(from) = p;'),
    'K&R': ('static int8_t *from;\nstatic int keep(a) int8_t* a; { from = a; return 0; }', '  keep(p);'),
    'comma': ('static int8_t *from;', '  int x = (from = p, 3); (void)x;'),
    'ternary': ('static int8_t *from;', '  from = q ? p : q;'),
    'ternary store': ('static int8_t *from, *to;', '  *(q ? &from : &to) = p;'),
    'array of pointers': ('static int8_t *all[4]; static int n;', '  all[n++ & 3] = p;'),
    'local array copied': ('static int8_t *all[2];', '  int8_t* mine[2] = {p, q}; for (int i = 0; i < 2; ++i) all[i] = mine[i];'),
    'returned pointer': ('static int8_t *from; static int8_t* same(int8_t* a) { return a; }', '  from = same(p);'),
    'recursion': ('static int8_t *from; static void in(int8_t* a, int n) { if (n) in(a + 1, n - 1); else from = a - 3; }', '  in(p, 3);'),
    'mutual recursion': ('static int8_t *from; static void b(int8_t* a, int n); static void a(int8_t* x, int n) { if (n) b(x, n - 1); } static void b(int8_t* x, int n) { if (n) a(x, n); from = x; }', '  a(p, 3);'),
    'memcpy of pointer': ('static int8_t *from;', '  memcpy(&from, &p, sizeof p);'),
    'compound literal': ('struct job { int8_t* a; }; static struct job j;', '  j = (struct job){p};'),
    'compound literal address': ('struct job { int8_t* a; }; void submit(const struct job*);', '  submit(&(struct job){p});'),
    'designated': ('struct job { int n; int8_t* a; }; static struct job j;', '  struct job m = {.n = 3, .a = p}; j = m;'),
    'designated array': ('static uintptr_t w[4];', '  uintptr_t m[4] = {[2] = (uintptr_t)p}; memcpy(w, m, sizeof w);'),
    'header inline': ('#include "npu.h"', '  npu_start(p, q);'),
    'table of functions': ('static int8_t* from; static void keep(int8_t* a) { from = a; } static void (*const ops[])(int8_t*) = {keep};', '  ops[0](p);'),
    'ops struct': ('struct ops { void (*start)(int8_t*); }; extern const struct ops ops;', '  ops.start(p);'),
    'varargs': ('#include <stdarg.h>\nstatic int8_t* from; static void keep(int n, ...) { va_list v; va_start(v, n); from = va_arg(v, int8_t*); va_end(v); }', '  keep(1, p);'),
    'Generic': ('static int8_t* from; static void keep(int8_t* a) { from = a; } static void other(int a) { (void)a; }', '  _Generic(p, int8_t*: keep, int: other)(p);'),
    'assembler': ('', '  __asm__ volatile("" : : "r"(p) : "memory");'),
    'attribute': ('static int8_t* from;', '  int8_t* __attribute__((unused)) x = p; from = x;'),
    'attribute cleanup': ('static int8_t* from; static void keep(int8_t** a) { from = *a; }', '  int8_t* x __attribute__((cleanup(keep))) = p; (void)x;'),
    'shadow in block': ('static int8_t* from;', '  { int8_t* from; from = q; (void)from; } from = p;'),
    'shadow in for': ('static int8_t* from;', '  for (int8_t* from = q; from < q; ++from) {} from = p;'),
    'label like p': ('static int8_t* from;', '  goto p;\np:\n  from = p;'),
    'sizeof then store': ('static int8_t* from;', '  int n = (int)sizeof(p); from = p + n;'),
    'param assigned': ('static int8_t* from;', '  p = q; from = p;'),
    'param chain': ('static int8_t* from;', '  int8_t *a, *b, *c; c = 0; for (int i = 0; i < 3; ++i) { from = c; c = b = a; a = p; }'),
    'integer round trip': ('static int8_t* from;', '  uintptr_t a = (uintptr_t)p; a ^= 0x55; a ^= 0x55; from = (int8_t*)a;'),
    'static local': ('', '  static int8_t* last; last = p;'),
    'static local in helper': ('static int8_t* swap(int8_t* a) { static int8_t* last; int8_t* r = last; last = a; return r; }', '  (void)swap(p);'),
    'pointer to pointer': ('static int8_t* from;', '  int8_t** a = &from; *a = p;'),
    'pointer to pointer 2': ('static int8_t* from;', '  int8_t** a[2] = {&from, 0}; a[0][0] = p;'),
    'out param': ('static int8_t* from; static void set(int8_t** to, int8_t* v) { *to = v; }', '  set(&from, p);'),
    'arrow': ('struct dev { int8_t* src; }; extern struct dev* const dev;', '  dev->src = p;'),
    'memory mapped': ('#define NPU ((volatile uint32_t*)0x40000000)', '  NPU[2] = (uint32_t)(uintptr_t)p;'),
    'memory mapped object': ('#define NPU_SRC (*(volatile uint32_t*)0x40000000)', '  NPU_SRC = (uint32_t)(uintptr_t)p;'),
    'weak default': ('__attribute__((weak)) void hook(int8_t* a) { (void)a; }', '  hook(p);'),
    'conditional default': ('#ifndef HAVE_HOOK\nstatic void hook(int8_t* a) { (void)a; }\n#else\nvoid hook(int8_t* a);\n#endif', '  hook(p);'),
    'conditional macro': ('#ifdef BOARD\n#define KICK(a) (last = (a))\nstatic int8_t* last;\n#else\n#define KICK(a) ((void)(a))\n#endif', '  KICK(p);'),
    'conditional body': ('static int8_t* last;', '#ifdef BOARD\n  last = p;\n#endif'),
    'macro object statement': ('static int8_t* last;\n#define START last = p', '  START;'),
    'byte loop': ('static uint8_t mail[8];', '  for (unsigned i = 0; i < sizeof p; ++i) mail[i] = ((uint8_t*)&p)[i];'),
    'bits': ('static uint8_t mail[8];', '  uintptr_t a = (uintptr_t)p; for (int i = 0; i < 8; ++i) { mail[i] = (uint8_t)(a & 255); a >>= 8; }'),
    'struct by value': ('struct job { int8_t* a; }; static struct job j; static void put(struct job m) { j = m; }', '  struct job m = {p}; put(m);'),
    'struct array member': ('struct job { uint32_t w[4]; }; static uint32_t regs[4];', '  struct job m = {{(uint32_t)(uintptr_t)p, 1}}; memcpy(regs, m.w, sizeof m.w);'),
    'typedef array row': ('typedef int8_t row_t[16]; static int8_t* last; static void keep(row_t* r) { last = r[1]; }', '  keep((row_t*)p);'),
    'pointer to array': ('static int8_t* last;', '  int8_t (*r)[16] = (int8_t(*)[16])p; last = r[1];'),
    'member array': ('struct buf { int8_t data[16]; }; static int8_t* last;', '  struct buf* b = (struct buf*)p; last = b->data;'),
    'address of element': ('static int8_t* last;', '  last = &p[8];'),
    'address of member': ('struct buf { int8_t n; int8_t m; }; static int8_t* last;', '  last = &((struct buf*)p)->m;'),
    'difference': ('static ptrdiff_t n; static int8_t base;', '  n = p - &base;'),
    'builtin atomic': ('static int8_t* last;', '  __atomic_store_n(&last, p, __ATOMIC_RELEASE);'),
    'return of helper struct': ('struct job { int8_t* a; }; static struct job j; static struct job made(int8_t* a) { struct job m = {a}; return m; }', '  j = made(p);'),
    'statement expression': ('static int8_t* last;', '  ({ last = p; });'),
    'nested function': ('static int8_t* last;', '  void keep(int8_t* a) { last = a; } keep(p);'),
    'bcopy': ('#include <strings.h>\nstatic int8_t* last;', '  bcopy(&p, &last, sizeof p);'),
    'callback': ('void each(void (*f)(int8_t*), int8_t* a); static void f(int8_t* a) { (void)a; }', '  each(f, p);'),
    'index': ('static uint8_t used[1 << 20];', '  used[(uintptr_t)p & 0xfffff] = 1;'),
    'memset with address': ('static uint8_t mail[4];', '  memset(mail, (int)(uintptr_t)p, 1); memset(mail + 1, (int)((uintptr_t)p >> 8), 1);'),
    'include in body': ('static int8_t* last;', '#include "start.inc"'),
    'param named like macro': ('#define a input\nstatic int8_t* last; static void keep(int8_t* a) { last = input; }\n#undef a', '  keep(p);'),
    'alias': ('static int8_t* last; void real_keep(int8_t* a) { last = a; } void keep(int8_t* a) __attribute__((alias("real_keep")));', '  keep(p);'),
    'cast of function name': ('static int8_t* last; static void keep_t(int8_t* a) { last = a; }', '  (keep_t)(p);'),
    'star decl trick': ('static int n, x; static int8_t* y;', '  n * x, y = p;'),
    'branch local': ('static int8_t* last;', '#ifdef A\n  int8_t* x = p;\n#else\n  int8_t* x = q;\n#endif\n  last = x;'),
}
# These do not: sid_1 shares its bytes.
DONE = {
    "a loop": ("", "  for (int i = 0; i < 64; ++i) q[i] = p[i];"),
    "pointers that move": ("", "  const int8_t* end = p + 64; while (p != end) *q++ = *p++;"),
    "memcpy": ("", "  memcpy(q, p, 64);"),
    "a helper": ("static void copy(int8_t* to, const int8_t* from, int n) { while (n-- > 0) to[n] = from[n]; }", "  copy(q, p, 64);"),
    "a pointer that comes back": ("static int8_t* behind(int8_t* from) { return from + 1; }", "  const int8_t* next = behind(p); q[0] = *next;"),
    "CMSIS-NN's context": ("typedef struct { void* buf; int size; } context_t; int arm_convolve_s8(const context_t*, const int8_t*, int8_t*);",
                           "  context_t context = {p, 64}; if (arm_convolve_s8(&context, p, q) != 0) return -1;"),
    "Ethos-U's table": ("int TVMEthosULaunch(void*, const uint64_t*, int);", "  uint64_t base[6] = {0}; base[1] = (uintptr_t)p; base[3] = (uintptr_t)q; return TVMEthosULaunch(0, base, 6);"),
    "macros": ("#define AT(t, i) ((t)[(i)])\n#define COPY(a, b, n) do { for (int k = 0; k < (n); ++k) AT(a, k) = AT(b, k); } while (0)", "  COPY(q, p, 64);"),
    "other names": ("static int8_t* last;", "  { int8_t* last = p; q[0] = *last; } last = 0;"),
}
NPU_H = ("#include <stdint.h>\nstatic inline void npu_start(const int8_t* a, int8_t* b) { *(volatile uint32_t*)0x40000000 = (uint32_t)(uintptr_t)a; "
         "*(volatile uint32_t*)0x40000004 = (uint32_t)(uintptr_t)b; }\n")

OPERATOR = """TVM_DLL int32_t tvmgen_m_{0}(int8_t* p, int8_t* q) {{
  for (int32_t i = 0; i < 64; ++i) {{
    q[i] = ((int8_t)((int32_t)p[i] + {1}));
  }}
  return 0;
}}
"""
SUM = """TVM_DLL int32_t tvmgen_m_sum(int8_t* p, int8_t* r, int8_t* q) {
  for (int32_t i = 0; i < 64; ++i) {
    q[i] = ((int8_t)((int32_t)p[i] + (int32_t)r[i]));
  }
  return 0;
}
"""
HEADER = kept_c.HEADER


def model(calls: list[str], front: str = "", tensors: int = 4) -> dict[str, str]:
    """Operators add1 … add3 and sum, and an entry with these calls."""
    taken = "".join(f"  void* sid_{k} = TVMBackendAllocWorkspace(1, 0, (uint64_t)64, 0, 8);\n  if (sid_{k} == NULL) {{\n    return -1;\n  }}\n"
                    for k in range(1, tensors + 1))
    given = "".join(f"  if (TVMBackendFreeWorkspace(1, 0, sid_{k}) != 0) {{\n    return -1;\n  }}\n" for k in range(tensors, 0, -1))
    lines = "".join(f"  if (tvmgen_m_{call} != 0 ) return -1;\n" if call[-1] not in ";}" else f"  {call}\n" for call in calls)
    text = (kept_c.HEAD + "#include <string.h>\n" + front + "\n" + "".join(OPERATOR.format(f"add{k}", k) for k in (1, 2, 3)) + SUM +
            "TVM_DLL int32_t tvmgen_m___tvm_main__(int8_t* x_buffer_var, int8_t* y_buffer_var) {\n" + taken + lines + given + "  return 0;\n}\n")
    return {"tvmgen_m.h": HEADER, "m_lib0.c": kept_c.unplanned_entry(), "m_lib1.c": text}


NPU = "TVM_DLL int32_t tvmgen_m_npu(int8_t* p, int8_t* q)"
CALLS = ["add1(x_buffer_var, sid_1)", "npu(sid_1, sid_2)", "add2(x_buffer_var, sid_3)", "add3(sid_3, sid_4)", "npu_wait();", "sum(sid_2, sid_4, y_buffer_var)"]


def trees(front: str, body: str) -> dict[str, dict[str, str]]:
    """As an operator of the model's that somebody edited, and in a file of another code generator."""
    function = f"{front}\n{NPU} {{\n{body}\n  return 0;\n}}\n"
    wait = "void npu_wait(void);\n"
    foreign = "// tvm target: npu\n#include <stdint.h>\n#include <stddef.h>\n#include <string.h>\n" + function
    files = {"edited": model(CALLS, wait + function), "foreign": {**model(CALLS, wait + NPU + ";"), "m_lib2.c": foreign}}
    return {kind: {**one, "npu.h": NPU_H} for kind, one in files.items()}


def planned(binary: Path, tree: Path, out: Path, *options: str) -> dict | None:
    """The plan; None: it is refused."""
    done = subprocess.run([binary, tree, "-o", out, "--quiet", *options], capture_output=True, text=True)
    if done.returncode == 3:
        return None
    if done.returncode != 0:
        raise golden.Failure(f"exit code {done.returncode}: {done.stderr}")
    return json.loads((out / "m.plan.json").read_text())


def is_apart(plan: dict, name: str = "sid_1", others: tuple[str, ...] = ("sid_3", "sid_4")) -> bool:
    at = {one["name"]: (one["offset"], one["offset"] + one["size"]) for one in plan["buffers"]}
    if name not in at:
        raise golden.Failure(f"the plan has no {name}")
    return all(one not in at or at[one][1] <= at[name][0] or at[name][1] <= at[one][0] for one in others)


def check_form(binary: Path, front: str, body: str, keeps: bool, directory: Path) -> None:
    for kind, files in trees(front, body).items():
        tree = directory / kind
        checkouts.write_tree(tree, files)
        plan = planned(binary, tree, directory / f"{kind}.planned")
        if keeps and plan is not None and not is_apart(plan):
            raise golden.Failure(f"{kind}: planned C uses the memory of a tensor again whose address is kept")
        if plan is None and not keeps:
            raise golden.Failure(f"{kind}: it is refused")
        warned = plan is not None and any("may keep addresses" in one for one in plan["warnings"])
        if plan is not None and (warned != keeps or (not keeps and is_apart(plan))):
            raise golden.Failure(f"{kind}: warnings {plan['warnings']}")
        if keeps and plan is not None:
            if not any("64 bytes of them longer" in one for one in plan["warnings"]):
                raise golden.Failure(f"{kind}: {plan['warnings']}")
            said = planned(binary, tree, directory / f"{kind}.said", "--synchronous", "tvmgen_m_npu")
            if said is not None and kind == "foreign" and (is_apart(said) or any("may keep addresses" in one for one in said["warnings"])):
                raise golden.Failure(f"{kind}: --synchronous changes nothing: {said['warnings']}")


# Programs that run. Undefined functions are stubs.
STUBS = """#include <stdio.h>
#include "tvmgen_m.h"
void remember(const void* p, int words);
void dump_remembered(const char* who);
void add_memory(const void* begin, size_t size);
void reset_workspace(void);
struct job { const void* from; void* to; };
void npu_start(const void* p);
void npu_submit(const struct job* job);
void npu_wait(void);
void npu_start(const void* p) { remember(p, 0); dump_remembered("npu_start"); }
void npu_submit(const struct job* job) { remember(job, 2); dump_remembered("npu_submit"); }
void npu_wait(void) { dump_remembered("npu_wait"); }
int main(void) {
  static int8_t x[64], y[64];
  struct tvmgen_m_inputs inputs = {x};
  struct tvmgen_m_outputs outputs = {y};
  add_memory(x, sizeof x);
  add_memory(y, sizeof y);
  for (int run = 0; run < 2; ++run) {
    for (int i = 0; i < 64; ++i) x[i] = (int8_t)(i * 7 + run);
    printf("%d:", (int)tvmgen_m_run(&inputs, &outputs));
    reset_workspace();
    for (int i = 0; i < 64; ++i) printf(" %d", y[i]);
    printf("\\n");
  }
  return 0;
}
"""
SUBMIT = "struct job { const void* from; void* to; };\nvoid npu_submit(const struct job* job);\nvoid npu_start(const void* p);\nvoid npu_wait(void);\n"
# A function that stays keeps q; another one reads it three calls later.
SAVES = """static int8_t* saved;
TVM_DLL int32_t tvmgen_m_save(int8_t* p, int8_t* q) {
  for (int32_t i = 0; i < 64; ++i) q[i] = p[i];
  saved = q;
  goto end;
end:
  return 0;
}
TVM_DLL int32_t tvmgen_m_again(int8_t* p, int8_t* q) {
  for (int32_t i = 0; i < 64; ++i) q[i] = (int8_t)(p[i] - saved[63 - i]);
  goto end;
end:
  return 0;
}
"""
RUNS = {
    "a struct that an undefined function gets": model(
        ["add1(x_buffer_var, sid_1)", "{ struct job job = {sid_1, x_buffer_var}; npu_submit(&job); }", "add2(sid_1, sid_2)", "add3(sid_2, sid_3)",
         "add1(sid_3, sid_4)", "npu_wait();", "sum(sid_3, sid_4, y_buffer_var)"], SUBMIT),
    "an address in the middle": model(
        ["add1(x_buffer_var, sid_1)", "npu_start((int8_t*)sid_1 + 3);", "add2(sid_1, sid_2)", "add3(sid_2, sid_3)", "npu_wait();", "add1(sid_3, sid_4)", "npu_wait();",
         "sum(sid_3, sid_4, y_buffer_var)"], SUBMIT),
    "an operator that starts": model(
        ["add1(x_buffer_var, sid_1)", "begin(sid_1, sid_2)", "add2(sid_2, sid_3)", "add3(sid_3, sid_4)", "npu_wait();", "sum(sid_4, sid_4, y_buffer_var)"],
        SUBMIT + OPERATOR.format("begin", 5).replace("  return 0;", "  npu_start((&(q[0])));\n  return 0;")),
    "two jobs at a time": model(
        ["add1(x_buffer_var, sid_1)", "npu_start(sid_1);", "add2(sid_1, sid_2)", "npu_start(sid_2);", "add3(sid_2, sid_3)", "npu_wait();", "add1(sid_3, sid_4)", "npu_wait();",
         "add2(sid_4, sid_5)", "sum(sid_5, sid_4, y_buffer_var)"], SUBMIT, 5),
    "no accelerator": model(
        ["save(x_buffer_var, sid_1)", "add1(sid_1, sid_2)", "add2(sid_2, sid_3)", "add3(sid_3, sid_4)", "again(sid_4, y_buffer_var)"], SAVES),
    "no accelerator, and a statement": model(
        ["add1(x_buffer_var, sid_1)", "if (total == 0) last = sid_1;", "add1(sid_1, sid_2)", "add2(sid_2, sid_3)", "((int8_t*)sid_3)[0] = ((int8_t*)last)[63];", "add3(sid_3, sid_4)",
         "add1(sid_4, y_buffer_var)"], "static void* last;\nstatic int total;\n"),
}


def logs_of(directory: Path, name: str, sources: list[Path], includes: list[Path], fills: tuple[int, ...], found: Path | None) -> tuple[list[str], list[Path]]:
    program = directory / name
    golden.run([*golden.GCC, "-O1", "-Wall", "-Wno-unused", *golden.SANITIZE, *(word for path in includes for word in ("-I", path)), "-I", kept_c.SHIM, *sources,
                directory / "stubs.c", directory / "runtime.c", "-o", program])
    texts, logs = [], []
    for fill in fills:
        log = directory / f"{name}.{fill}.log"
        environment = {**os.environ, "FILL": str(fill), "LOG": str(log), **({"FOUND": str(found)} if found else {}), "ASAN_OPTIONS": "detect_leaks=0"}
        done = subprocess.run([program], capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            raise golden.Failure(f"{name}: {done.stderr[-2000:]}")
        texts.append(done.stdout)
        logs.append(log)
    return texts, logs


def check_run(binary: Path, files: dict[str, str], directory: Path) -> None:
    tree = directory / "tree"
    checkouts.write_tree(tree, files)
    (directory / "stubs.c").write_text(STUBS)
    (directory / "runtime.c").write_text(remembered.RUNTIME)
    expected, found = logs_of(directory, "found", sorted(tree.glob("*.c")), [tree], (0x5a, 0xa5), None)
    if len(set(expected)) != 1 or not expected[0].startswith("0:"):
        raise golden.Failure(f"the program as found prints {expected}")
    broken = 0
    names = "npu_start,npu_submit,tvmgen_m_save,usmp_added_1"
    for number, options in enumerate((["--transform", "none"], [], ["--transform", "none", "--synchronous", names])):
        out = directory / f"planned{number}"
        if planned(binary, tree, out, *options) is None:
            raise golden.Failure("it is refused")
        texts, logs = logs_of(directory, f"run{number}", sorted((out / "codegen/host/src").glob("*.c")), [out / "codegen/host/include", tree], (0x33,), found[0])
        wrong = remembered.difference(found, logs[0]) or (None if texts[0] == expected[0] else f"prints {texts[0]}, expected {expected[0]}")
        if number == 2:
            broken = 1 if wrong is not None else 0
        elif wrong is not None:
            raise golden.Failure(f"{' '.join(options)}: {wrong}")
    # Said to be synchronous, which they are not, they show that there is something to see.
    if broken == 0:
        raise golden.Failure("nothing is seen if memory is used again")


def main() -> int:
    binary = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="usmp-escapes-") as temporary:
        cases = [(f"keeps: {name}", lambda d, form=form: check_form(binary, *form, True, d)) for name, form in KEEP.items()]
        cases += [(f"is done: {name}", lambda d, form=form: check_form(binary, *form, False, d)) for name, form in DONE.items()]
        cases += [(f"runs: {name}", lambda d, files=files: check_run(binary, files, d)) for name, files in RUNS.items()]
        cases = [case for case in cases if len(sys.argv) < 3 or sys.argv[2] in case[0]]
        directories = {name: Path(temporary) / str(i) for i, (name, _) in enumerate(cases)}
        for directory in directories.values():
            directory.mkdir()
        named = [Named(name, check) for name, check in cases]
        return golden.run_all(named, lambda this: this.check(directories[this.name]), os.cpu_count() or 1)


class Named:
    def __init__(self, name: str, check) -> None:
        self.name = name
        self.check = check

    def label(self) -> str:
        return self.name


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""How time and memory grow with the files that come from outside.

Each case makes files of n parts (steps, pools, modules, buffers, distances, …) and runs a command on them, for n = 800,
1600, … 12800. The table gives seconds of user time and the peak memory for each n, then by what time grew with the last
doubling: 2 is proportional, 4 quadratic (below 0.1 s it is not told). A refusal (exit code 2 or 3) counts like
everything else and is marked: a limit that is documented. A case ends early when a run takes longer than --most seconds.

    bench/growth_files.py build/usmp-plan [WORD …]     the cases whose names contain one of the words, or all

Exit code 1 if a run took longer than --allowed seconds or more than --memory MB: so much any of these files may take.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import math
import os
import resource
import sys
import tarfile
import tempfile
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "testdata/tflite"))
import keywords
MODEL = str(HERE.parent / "testdata" / "ds_cnn.tar")
SIZES = (800, 1600, 3200, 6400, 12800)
HEADROOM = 4 << 30  # bytes that a run may map
CASES = []


def case(*command: str, ending: str = ".json"):
    """A case for each command; FILE and OTHER stand for the two files that `make(n)` gives, or the one and itself."""

    def add(make):
        for line in command or ("report FILE",):
            CASES.append((f"{make.__name__}: {line}", make, line.split(), ending))
        return make

    return add


PLAN_COMMANDS = ("report FILE", "report FILE --format json", "report FILE --format svg", "diff FILE OTHER",
                 "diff FILE OTHER --format json", "check MODEL --pools POOLS --baseline FILE", "verify MODEL --plan FILE",
                 "MODEL --dry-run --quiet --pins FILE")


# --- plan files --------------------------------------------------------------------------------------------------------

def pool(i: int, used: int = 64) -> dict:
    return {"name": f"pool{i}", "kind": "workspace", "internal": True, "capacity": None, "alignment": 1, "reserved": 0,
            "used": used, "lower_bound": 0, "lower_bound_reason": "load", "status": "feasible"}


def buffer(i: int, live: list, offset: int = 0, size: int = 64, home: str = "pool0", name: str | None = None) -> dict:
    return {"name": name or f"sid_{i}", "function": "main", "kind": "tensor", "pool": home, "offset": offset,
            "size": size, "alignment": 1, "pinned": False, "live": live, "candidates": [home]}


def plan(**parts) -> dict:
    document = {"schema": "usmp-plan/plan", "schema_version": 2, "module": "default", "archive": "a.tar",
                "algorithm": "optimal", "status": "feasible", "horizon": 10, "pools": [pool(0)], "buffers": []}
    document.update(parts)
    return document


def two(make) -> tuple[str, str]:
    """The plan, and another one in which everything is a little different."""
    return json.dumps(make(0)), json.dumps(make(1))


@case(*PLAN_COMMANDS)
def plan_steps(n):
    return two(lambda k: plan(transformed=[{"step": f"s{i}", "load_before": 1 + k, "load_after": 1,
                                            "changes": [{"function": "f", "what": f"w{k}"}]} for i in range(n)]))


@case(*PLAN_COMMANDS)
def plan_steps_apart(n):
    return two(lambda k: plan(transformed=[{"step": f"s{k}_{i}", "load_before": 1, "load_after": 1,
                                            "changes": [{"function": "f", "what": "w"}]} for i in range(n)]))


@case(*PLAN_COMMANDS)
def plan_changes(n):
    return two(lambda k: plan(transformed=[{"step": "fuse", "load_before": 1, "load_after": 1, "changes": [
        {"function": f"f_{i}", "what": f"sid_{i + k} is gone"} for i in range(n)]}]))


@case(*PLAN_COMMANDS)
def plan_pools(n):
    return two(lambda k: plan(pools=[pool(i, 64 + k) for i in range(n)]))


@case(*PLAN_COMMANDS)
def plan_pools_buffers(n):
    return two(lambda k: plan(pools=[pool(i, 64 + k) for i in range(n)],
                              buffers=[buffer(i, [[0, 5]], k, home=f"pool{i}") for i in range(n)]))


@case(*PLAN_COMMANDS)
def plan_modules_renamed(n):
    return two(lambda k: {"modules": [plan(module=f"m{k}_{i}", archive=f"a{i}.tar", pools=[pool(0)]) for i in range(n)]})


@case(*PLAN_COMMANDS)
def plan_modules(n):
    return two(lambda k: {"modules": [plan(module=f"m{i}", pools=[pool(0, 64 + k)]) for i in range(n)]})


@case(*PLAN_COMMANDS)
def plan_buffers(n):
    return two(lambda k: plan(horizon=n + 2, pools=[pool(0, 256)], calls=[
        {"callee": f"f{i}", "ticks": [i, i + 1]} for i in range(n)], buffers=[
            buffer(i, [[i, i + 2]], 64 * (i % 2) + 64 * k) for i in range(n)]))


@case(*PLAN_COMMANDS)
def plan_buffers_live_together(n):
    return two(lambda k: plan(horizon=n + 1, pools=[pool(0, 64 * n + 64)], buffers=[
        buffer(i, [[i, n + 1]], 64 * i + 64 * k, 64 + i % 7, name=f"x{k}_{i}") for i in range(n)]))


@case(*PLAN_COMMANDS)
def plan_live_ranges(n):
    return two(lambda k: plan(horizon=2 * n + 2, buffers=[
        buffer(j, [[2 * i + j % 2, 2 * i + 1 + j % 2] for i in range(n)], k) for j in range(2)]))


@case(*PLAN_COMMANDS)
def plan_distances(n):
    return two(lambda k: plan(horizon=n + 1, pools=[pool(0, 64 * n + 64)], buffers=[
        buffer(i, [[i, n + 1]], 64 * i + k) for i in range(n)], distances=[
            {"below": i, "above": i + 1, "bytes": 3} for i in range(n - 1)]))


@case(*PLAN_COMMANDS)
def plan_distances_all_pairs(n):
    m = math.isqrt(n)
    return two(lambda k: plan(horizon=m + 1, pools=[pool(0, 64 * m + 64)], buffers=[
        buffer(i, [[i, m + 1]], 64 * i + k) for i in range(m)], distances=[
            {"below": i, "above": j, "bytes": 3} for i in range(m) for j in range(m) if i != j]))


# --- instances ---------------------------------------------------------------------------------------------------------

SOLVE_COMMANDS = ("solve FILE --algorithm fast", "solve FILE --node-limit 1", "solve FILE --time-limit 0.1")


def problem(horizon: int, buffers: list, distances: list = (), pools: int = 1, capacity: int | None = None) -> str:
    document = {"format": "usmp-plan/problem", "version": 1, "horizon": horizon,
                "pools": [{"name": f"p{i}", "capacity": capacity} for i in range(pools)], "buffers": buffers}
    if distances:
        document["distances"] = list(distances)
    return json.dumps(document)


def item(i: int, live: list, size: int = 64, candidates: list = ("p0",), **more) -> dict:
    return {"id": i, "name": f"b{i}", "size": size, "candidates": list(candidates), "live": live, **more}


def mixed(i: int) -> int:
    """A number of 0 to 999 that looks random."""
    return i * 2654435761 % 2**32 * 1000 >> 32


@case(*SOLVE_COMMANDS)
def problem_buffers(n):
    return problem(n + 10, [item(i, [[i, i + 2 + mixed(i) % 8]], 64 + mixed(i + 7)) for i in range(n)])


@case(*SOLVE_COMMANDS)
def problem_buffers_live_together(n):
    return problem(n + 1, [item(i, [[i, n + 1]], 64 + mixed(i)) for i in range(n)])


@case(*SOLVE_COMMANDS)
def problem_live_ranges(n):
    return problem(4 * n + 4, [item(j, [[4 * i + j % 4, 4 * i + 1 + j % 4 + j % 2] for i in range(n)], 64 + j)
                               for j in range(4)])


@case(*SOLVE_COMMANDS)
def problem_pins(n):
    return problem(n + 1, [item(i, [[0, n + 1]], 64, pinned=64 * i) for i in range(n)])


@case(*SOLVE_COMMANDS)
def problem_pools(n):
    return problem(4, [item(0, [[0, 4]])], pools=n)


@case(*SOLVE_COMMANDS)
def problem_pools_buffers(n):
    return problem(4, [item(i, [[i % 2, 3]], 64, [f"p{i}"]) for i in range(n)], pools=n)


@case(*SOLVE_COMMANDS)
def problem_pools_full(n):
    return problem(4, [item(i, [[i % 2, 3]], 64, [f"p{i}", f"p{(i + 1) % n}"]) for i in range(n)], pools=n, capacity=100)


@case(*SOLVE_COMMANDS)
def problem_candidates(n):
    m = math.isqrt(n)
    names = [f"p{i}" for i in range(m)]
    return problem(4, [item(i, [[i % 2, 3]], 64, names[i:] + names[:i]) for i in range(m)], pools=m, capacity=100)


@case(*SOLVE_COMMANDS)
def problem_distances_chain(n):
    return problem(n + 1, [item(i, [[i, n + 1]], 64 + i % 5) for i in range(n)],
                   [{"below": i, "above": i + 1, "bytes": 3} for i in range(n - 1)])


@case(*SOLVE_COMMANDS)
def problem_distances_short_chain(n):
    return problem(n + 9, [item(i, [[i, i + 5 + mixed(i) % 4]], 64 + mixed(i)) for i in range(n)],
                   [{"below": i, "above": i + 1, "bytes": 3} for i in range(n - 1)])


@case(*SOLVE_COMMANDS)
def problem_distances_star(n):
    return problem(n + 1, [item(i, [[i, n + 1]], 64 + i % 5) for i in range(n)],
                   [{"below": 0, "above": i, "bytes": 3} for i in range(1, n)])


@case(*SOLVE_COMMANDS)
def problem_distances_all_pairs(n):
    m = math.isqrt(n)
    return problem(m + 1, [item(i, [[i, m + 1]], 64 + mixed(i)) for i in range(m)],
                   [{"below": i, "above": j, "bytes": 3} for i in range(m) for j in range(m) if i != j])


@case(*SOLVE_COMMANDS)
def problem_distances_all_pairs_squared(n):
    """n / 32 buffers, so that the last ones are the 400 with 159600 distances."""
    m = n // 32
    return problem(m + 1, [item(i, [[i, m + 1]], 64 + mixed(i)) for i in range(m)],
                   [{"below": i, "above": j, "bytes": 3} for i in range(m) for j in range(m) if i != j])


@case(*SOLVE_COMMANDS, ending=".csv")
def csv_buffers(n):
    return "id,lower,upper,size\n" + "".join(f"b{i},{i},{i + 2 + mixed(i) % 8},{64 + mixed(i + 7)}\n" for i in range(n))


@case(*SOLVE_COMMANDS, ending=".csv")
def csv_buffers_live_together(n):
    return "id,lower,upper,size\n" + "".join(f"b{i},{mixed(i)},{n + 1000},{64 + i % 9}\n" for i in range(n))


@case(*SOLVE_COMMANDS, ending=".csv")
def csv_live_ranges(n):
    return "id,lower,upper,size\n" + "".join(f"b{i % 3},{2 * i},{2 * i + 1 + i % 4},{64 + i % 3}\n" for i in range(n))


@case(*SOLVE_COMMANDS, ending=".csv")
def csv_pins(n):
    return "id,lower,upper,size,offset\n" + "".join(f"b{i},{i},{i + 3},64,{64 * (i % 4)}\n" for i in range(n))


# --- pools files -------------------------------------------------------------------------------------------------------

POOLS_COMMANDS = ("MODEL --dry-run --quiet --pools FILE", "check MODEL --pools FILE", "problem MODEL --pools FILE")


@case(*POOLS_COMMANDS, ending=".yaml")
def pools_pools(n):
    return "workspace_pools:\n" + "".join(f"  - name: p{i}\n    size_hint_bytes: 1KiB\n" for i in range(n - 1)) + (
        "  - name: last\n")


@case(*POOLS_COMMANDS, ending=".yaml")
def pools_targets(n):
    return "workspace_pools:\n  - name: p\n    targets: {c: rw" + "".join(f", t{i}: rw" for i in range(n)) + "}\n"


@case(*POOLS_COMMANDS, ending=".yaml")
def pools_pinned(n):
    return "workspace_pools:\n  - name: p\npinned:\n" + "".join(
        f"  - {{buffer: b{i}, pool: p, offset: {i}}}\n" for i in range(n))


@case(*POOLS_COMMANDS, ending=".yaml")
def pools_keys(n):
    return "workspace_pools:\n  - name: p\n" + "".join(f"key{i}: {i}\n" for i in range(n))


# --- archives ----------------------------------------------------------------------------------------------------------

ARCHIVE_COMMANDS = ("inspect FILE", "FILE --dry-run")


def nested(make_empty, compress, levels: int, n: int) -> bytes:
    """Empty streams one after another, compressed again and again: every level is that many times larger inside."""
    inner = make_empty * (n * 100)
    for _ in range(levels - 1):
        inner = compress(inner)
        if len(inner) < n * 100:
            inner += make_empty * ((n * 100 - len(inner)) // len(make_empty))
    return compress(inner)


@case(*ARCHIVE_COMMANDS, ending=".tar.gz")
def archive_gzip_in_gzip(n):
    return nested(gzip.compress(b""), gzip.compress, 1, n)


@case(*ARCHIVE_COMMANDS, ending=".tar.gz")
def archive_gzip_three_deep(n):
    return nested(gzip.compress(b""), gzip.compress, 2, n)


@case(*ARCHIVE_COMMANDS, ending=".tar.xz")
def archive_xz_in_xz(n):
    return nested(lzma.compress(b""), lzma.compress, 1, n)


@case(*ARCHIVE_COMMANDS, ending=".tar.gz")
def archive_empty_gzip_members(n):
    return gzip.compress(b"") * n


@case(*ARCHIVE_COMMANDS, ending=".tar")
def archive_members(n):
    with tempfile.TemporaryFile() as file:
        with tarfile.open(fileobj=file, mode="w") as archive, tarfile.open(MODEL) as model:
            for member in model:
                archive.addfile(member, model.extractfile(member) if member.isreg() else None)
            for i in range(n):
                archive.addfile(tarfile.TarInfo(f"extra/{i}"))
        file.seek(0)
        return file.read()


# --- C of TVM ----------------------------------------------------------------------------------------------------------

def c_chain(n, before=(), statements=lambda i: "", operator=None, call="  if (tvmgen_default_fused_op_{i}({read}, {write}) != 0 ) return -1;\n"):
    """A chain of operators through two tensors that they share in turn, as StorageRewrite leaves it. `before`: file scope;
    `statements` stand behind each call; `operator`: the text of one."""
    text = ["// tvm target: c -keys=cpu\n#include \"tvm/runtime/c_backend_api.h\"\n", *before]
    for i in range(n):
        text.append(operator(i) if operator else
                    f"TVM_DLL int32_t tvmgen_default_fused_op_{i}(int8_t* p0, int8_t* T_add) {{\n"
                    f"  for (int32_t i = 0; i < 64; ++i) {{\n    T_add[i] = ((int8_t)(((int32_t)p0[i]) + {i % 7}));\n  }}\n  return 0;\n}}\n")
    text.append("TVM_DLL int32_t tvmgen_default___tvm_main__(int8_t* x_buffer_var, int8_t* output_buffer_var) {\n")
    for k in range(2):
        text.append(f"  void* sid_{k} = TVMBackendAllocWorkspace(1, 0, (uint64_t)64, 0, 8);\n  if (sid_{k} == NULL) {{\n    return -1;\n  }}\n")
    for i in range(n):
        read = f"sid_{(i - 1) % 2}" if i > 0 else "x_buffer_var"
        write = f"sid_{i % 2}" if i < n - 1 else "output_buffer_var"
        text.append(call.format(i=i, read=read, write=write) + statements(i))
    for k in (1, 0):
        text.append(f"  if (TVMBackendFreeWorkspace(1, 0, sid_{k}) != 0) {{\n    return -1;\n  }}\n")
    text.append("  return 0;\n}\n")
    return "".join(text)


@case("inspect FILE", "FILE --dry-run --transform none", ending=".c")
def c_operators(n):
    return c_chain(n)


@case("FILE --dry-run --transform none", ending=".c")
def c_statements(n):
    """Somebody's statements between the calls: some get tensors, so each becomes a function."""
    return c_chain(n, ["#include <stdio.h>\n"], lambda i: f"  printf(\"%d\", {i});\n" + ("" if i % 100 else f"  dump(sid_{i % 2});\n"))


@case("FILE --dry-run --transform none", ending=".c")
def c_macros(n):
    """Calls in macros that check the result."""
    return c_chain(n, ["#define CHECK(call) do { if ((call) != 0) return -1; } while (0)\n"],
                   call="  CHECK(tvmgen_default_fused_op_{i}({read}, {write}));\n")


@case("FILE --dry-run --transform none", ending=".c")
def c_accelerators(n):
    """Operators that start an accelerator, which keeps what it gets until somebody waits for it."""
    before = ["struct job { void* in; void* out; };\nstatic struct job queue;\nvoid npu_kick(void);\n"]
    return c_chain(n, before, lambda i: "  npu_wait();\n" if i % 8 == 7 else "",
                   lambda i: f"int32_t tvmgen_default_fused_op_{i}(int8_t* p0, int8_t* T_add) {{\n"
                             f"  queue.in = p0;\n  queue.out = T_add;\n  npu_kick();\n  return 0;\n}}\n")


@case("FILE --dry-run --transform none", ending=".c")
def c_kept(n):
    """Operators that are not read: they call helpers of the file, each the one in front."""
    def operator(i):
        below = f"helper_{i - 1}(p)" if i else "0"
        return (f"static int helper_{i}(int8_t* p) {{ return *p ? {i} : {below}; }}\n"
                f"int32_t tvmgen_default_fused_op_{i}(int8_t* p0, int8_t* T_add) {{\n  T_add[0] = (int8_t)helper_{i}(p0);\n  return 0;\n}}\n")
    return c_chain(n, operator=operator)


@case("FILE --dry-run --transform none", ending=".c")
def c_workspace_in_operators(n):
    """Operators that take workspace and give it back."""
    def operator(i):
        return (f"int32_t tvmgen_default_fused_op_{i}(int8_t* p0, int8_t* T_add) {{\n"
                "  void* temp = TVMBackendAllocWorkspace(1, 0, (uint64_t)64, 0, 8);\n  if (temp == NULL) {\n    return -1;\n  }\n"
                "  for (int32_t i = 0; i < 64; ++i) {\n    ((int8_t*)temp)[i] = p0[i];\n  }\n"
                "  for (int32_t i = 0; i < 64; ++i) {\n    T_add[i] = ((int8_t*)temp)[63 - i];\n  }\n"
                "  if (TVMBackendFreeWorkspace(1, 0, temp) != 0) {\n    return -1;\n  }\n  return 0;\n}\n")
    return c_chain(n, operator=operator)


@case("inspect FILE", "FILE --dry-run", ending=".c")
def c_tables(n):
    """One operator and tables of n · 500 numbers."""
    numbers = ",\n".join(", ".join(f"{'-' if j % 3 == 0 else '+'}0x{j * 7 % 128:02x}" for j in range(20)) for _ in range(25))
    text = ["// tvm target: c -keys=cpu\n#include \"tvm/runtime/c_backend_api.h\"\n"]
    text += [f"static const int8_t __attribute__((section(\".rodata.tvm\"), aligned(16))) constant_{i}[500] = {{\n{numbers}\n}};\n"
             for i in range(n)]
    text.append("TVM_DLL int32_t tvmgen_default___tvm_main__(int8_t* x_buffer_var, int8_t* output_buffer_var) {\n"
                "  for (int32_t i = 0; i < 500; ++i) {\n    output_buffer_var[i] = ((int8_t)(((int32_t)x_buffer_var[i]) + ((int32_t)constant_0[i])));\n"
                "  }\n  return 0;\n}\n")
    return "".join(text)


# --- TensorFlow Lite models -------------------------------------------------------------------------------------------

@case("inspect FILE", "FILE --dry-run --transform none", ending=".tflite")
def tflite_convolutions(n):
    """A chain of them."""
    net = keywords.Network()
    source = x = net.tensor("x", keywords.INT8, [1, 8, 8, 4], [0.05], 5)
    for i in range(n):
        x = net.layer(f"conv_{i}", keywords.CONV, x, (1, 1), 4)
    return net.file(source, x)


@case("inspect FILE", "FILE --dry-run --transform none", ending=".tflite")
def tflite_additions(n):
    """Each adds the model's input to what there is."""
    net = keywords.Network()
    source = x = net.tensor("x", keywords.INT8, [1, 8, 8, 4], [0.05], 5)
    for i in range(n):
        out = net.tensor(f"sum_{i}", keywords.INT8, [1, 8, 8, 4], [0.05], 5)
        x = net.operator(keywords.ADD, [x, source], out, {0: ("b", keywords.NONE)})
    return net.file(source, x)


# --- runs --------------------------------------------------------------------------------------------------------------

def run(command: list[str], most: float) -> tuple[float, float, int | None]:
    """User seconds, peak MB and the exit code; no code if it was ended."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(most), math.ceil(most)))
        resource.setrlimit(resource.RLIMIT_AS, (HEADROOM, HEADROOM))
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        try:
            os.execv(command[0], command)
        finally:
            os._exit(127)
    _, status, usage = os.wait4(child, 0)
    return usage.ru_utime, usage.ru_maxrss / 1024, os.WEXITSTATUS(status) if os.WIFEXITED(status) else None


def written(content, path: Path) -> str:
    if isinstance(content, str):
        content = content.encode()
    path.write_bytes(content)
    return str(path)


def apart(write) -> None:
    """Calls `write` in a process of its own: Linux counts the memory that a process has when it starts another one as the
    other's, too, and files of some MB take Python hundreds."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            write()
            status = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1] != 0:
        raise RuntimeError("a file could not be written")


def measure(program: str, make, command: list[str], ending: str, most: float, directory: Path) -> list:
    results = []
    pools = written("workspace_pools:\n  - name: global_workspace\n    budget: {max_growth: 10%}\n", directory / "pools.yaml")
    kind = ".plan.json" if make.__name__.startswith("plan_") else ending
    files = directory / f"one{kind}", directory / f"other{kind}"
    names = {"FILE": str(files[0]), "OTHER": str(files[1]), "MODEL": MODEL, "POOLS": pools}

    def write(n: int) -> None:
        made = make(n)
        for content, path in zip(made if isinstance(made, tuple) else (made, made), files):
            written(content, path)

    for n in SIZES:
        apart(lambda n=n: write(n))
        results.append(run([program] + [names.get(word, word) for word in command], most))
        if results[-1][2] is None:
            break
    return results


def growth(results: list) -> str:
    if len(results) < 2 or results[-1][2] is None or results[-2][0] < 0.1:
        return "-"
    return f"{results[-1][0] / results[-2][0]:.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("words", nargs="*", help="of names of cases")
    parser.add_argument("--most", type=float, default=20, help="seconds after which a run is ended")
    parser.add_argument("--allowed", type=float, default=2, help="seconds that a run may take")
    parser.add_argument("--memory", type=float, default=300, help="MB that a run may take")
    options = parser.parse_args()
    program = os.path.realpath(options.program)
    print("| user seconds of " + " | ".join(["n = " + ", ".join(map(str, SIZES)), "growth", "peak MB", "exit code"]) + " |")
    print("|---|---|---|---|---|")
    beyond = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, make, command, ending in CASES:
            if options.words and not any(word in name for word in options.words):
                continue
            results = measure(program, make, command, ending, options.most, Path(scratch))
            seconds, memory, code = results[-1]
            times = ", ".join(f"{r[0]:.2f}" if r[2] is not None else f"> {options.most:g}" for r in results)
            mark = "refused" if code in (2, 3) else str(code) if code is not None else "ended"
            print(f"| {name} | {times} | {growth(results)} | {max(r[1] for r in results):.0f} | {mark} |", flush=True)
            if code is None or seconds > options.allowed or memory > options.memory:
                beyond.append(name)
    for name in beyond:
        print(f"beyond {options.allowed:g} s or {options.memory:g} MB: {name}")
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())

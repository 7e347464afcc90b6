#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Run time of the emitted C against the C in the archive, as TVM wrote it.

Both are compiled with the same flags into one program each (the archive's C with bench/tvm_shim for its runtime calls),
and run in turn, a pair at a time; a pair's ratio is planned / original user time per inference. The table gives the
median ratio of each archive, and the code and data sizes of the objects.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

WORKSPACE = """
#include "tvm/runtime/c_runtime_api.h"
static uint8_t workspace[1 << 23] __attribute__((aligned(64)));
static size_t top;
static size_t marks[4096];
static int depth;
void* TVMBackendAllocWorkspace(int t, int d, uint64_t n, int c, int b) {
  void* p = workspace + top; (void)t; (void)d; (void)c; (void)b;
  marks[depth++] = top; top += (n + 15) / 16 * 16; return p;
}
int TVMBackendFreeWorkspace(int t, int d, void* p) { (void)t; (void)d; (void)p; top = marks[--depth]; return 0; }
"""


def sanitised(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def timing_main(module: str, header: str, golden: Path) -> str:
    io = json.loads((golden / "io.json").read_text())
    prefix = f"tvmgen_{module}"
    lines = [f'#include "{prefix}.h"', "#include <stdio.h>", "#include <stdlib.h>", "#include <time.h>", "int main(int argc, char** argv) {",
             "  long n = argc > 1 ? atol(argv[1]) : 1, i; clock_t start;",
             f"  struct {prefix}_inputs inputs; struct {prefix}_outputs outputs; FILE* f; size_t got;"]
    for side in ("inputs", "outputs"):
        body = re.search(r"struct %s_%s \{(.*?)\};" % (prefix, side), header, re.S).group(1)
        names = {sanitised(name): name for name in io[side]}
        for k, member in enumerate(re.findall(r"\*\s*(\w+)\s*;", body)):
            name = names.get(member, list(io[side])[k])
            lines.append(f"  {side}.{member} = aligned_alloc(64, {(io[side][name]['size'] + 63) // 64 * 64});")
            if side == "inputs":
                lines.append(f'  f = fopen("{golden / (sanitised(name) + ".in.bin")}", "rb"); got = fread({side}.{member}, 1, {io[side][name]["size"]}, f); (void)got; fclose(f);')
    lines += ["  start = clock();", f"  for (i = 0; i < n; ++i) if ({prefix}_run(&inputs, &outputs) != 0) return 1;",
              '  printf("%.9f\\n", (double)(clock() - start) / CLOCKS_PER_SEC / (double)n);', "  return 0;", "}"]
    return "\n".join(lines)


def run(*command) -> str:
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def build(compiler: list[str], include: list[Path], sources: list[Path], program: Path) -> int:
    """Compiles and links; returns the text + rodata + data bytes of the model's objects."""
    objects = []
    for source in sources:
        objects.append(program.with_name(f"{program.name}_{source.stem}.o"))
        run(*compiler, *[f"-I{path}" for path in include], "-c", source, "-o", objects[-1])
    run(*compiler, *objects, "-lm", "-o", program)
    sizes = [line.split() for line in run("size", *objects).splitlines()[1:]]
    return sum(int(size[0]) + int(size[1]) for size, source in zip(sizes, sources) if "_lib" in source.name)


def measure(binary: Path, archive: Path, transform: str, recompute: str, compiler: list[str], pairs: int, directory: Path) -> tuple[float, float, float, int, int]:
    golden = archive.with_name(archive.stem + ".golden")
    with tarfile.open(archive) as tar:
        tar.extractall(directory / "original")
    run(binary, archive, "-o", directory / "planned", "--quiet", "--transform", transform, "--allow-recompute", recompute)
    programs, sizes = {}, {}
    for kind in ("original", "planned"):
        include = directory / kind / "codegen/host/include"
        main = directory / f"{kind}_main.c"
        main.write_text(timing_main("default", (include / "tvmgen_default.h").read_text(), golden))
        sources = sorted((directory / kind / "codegen/host/src").glob("*.c")) + [main]
        if kind == "original":
            (directory / "workspace.c").write_text(WORKSPACE)
            sources.append(directory / "workspace.c")
        programs[kind] = directory / f"run_{kind}"
        sizes[kind] = build(compiler, [include, HERE / "tvm_shim"], sources, programs[kind])
    once = max(float(run(programs["original"], 20)), 1e-6)
    count = max(5, math.ceil(0.15 / once))
    ratios, times = [], []
    for _ in range(pairs):
        planned, original = float(run(programs["planned"], count)), float(run(programs["original"], count))
        ratios.append(planned / original)
        times.append((planned, original))
    return (statistics.median(ratios), statistics.median(t[0] for t in times), statistics.median(t[1] for t in times),
            sizes["planned"], sizes["original"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path)
    parser.add_argument("archives", nargs="+", type=Path)
    parser.add_argument("--compiler", default="gcc -std=gnu99 -O2 -ffp-contract=off")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--transform", default="all", help="as of usmp-plan")
    parser.add_argument("--allow-recompute", default="0", metavar="PERCENT", help="as of usmp-plan")
    arguments = parser.parse_args()
    print(f"compiler: {arguments.compiler}")
    print(f"{'archive':16} {'planned ms':>11} {'original ms':>12} {'ratio':>7} {'planned B':>10} {'original B':>11}")
    ratios = []
    for archive in arguments.archives:
        with tempfile.TemporaryDirectory(prefix="usmp-bench-") as temporary:
            ratio, planned, original, planned_size, original_size = measure(
                arguments.binary.resolve(), archive.resolve(), arguments.transform, arguments.allow_recompute, arguments.compiler.split(), arguments.pairs, Path(temporary))
        ratios.append(ratio)
        print(f"{archive.stem:16} {planned * 1e3:11.4f} {original * 1e3:12.4f} {ratio:7.3f} {planned_size:10d} {original_size:11d}", flush=True)
    print(f"{'median':16} {'':11} {'':12} {statistics.median(ratios):7.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

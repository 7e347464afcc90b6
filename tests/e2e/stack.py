# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""The estimate of the stack that a plan states, against what GCC says of the emitted C (-fstack-usage).

usage: stack.py USMP_PLAN TESTDATA. The host's GCC, and arm-none-eabi-gcc for Cortex-M4 if it is there.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MOST_ABOVE = 480  # bytes, as include/usmp/lower/stack_estimate.hpp says
MOST_ABOVE_ARRAYS = 720  # where arrays stay on the stack, as in C: some share their places
COMPILERS = [["gcc", "-O2"], ["arm-none-eabi-gcc", "-O2", "-mcpu=cortex-m4", "-mthumb"]]


def deepest(folder: Path, compiler: list[str]) -> int:
    """Bytes from the entry down, of the functions in the operators' file."""
    source = next(folder.glob("codegen/host/src/*_lib1.c"))
    base = folder / compiler[0]
    subprocess.run([*compiler, "-std=c99", "-fstack-usage", "-fcallgraph-info=su", "-I", folder / "codegen/host/include", "-c",
                    source, "-o", f"{base}.o"], check=True, timeout=300)
    frames = {}
    for line in Path(f"{base}.su").read_text(encoding="utf-8").splitlines():
        place, size, kind = line.split("\t")
        assert kind in ("static", "dynamic,bounded"), line
        frames[place.rsplit(":", 1)[1]] = int(size)
    calls: dict[str, set[str]] = {}
    graph = Path(f"{base}.ci").read_text(encoding="utf-8")
    for caller, callee in re.findall(r'edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)"', graph):
        calls.setdefault(caller.rsplit(":", 1)[-1], set()).add(callee.rsplit(":", 1)[-1])

    def bytes_from(function: str) -> int:
        return frames.get(function, 0) + max((bytes_from(callee) for callee in calls.get(function, ())), default=0)

    return max(bytes_from(function) for function in frames if function.endswith("__tvm_main__"))


def main() -> None:
    program, testdata = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    compilers = [compiler for compiler in COMPILERS if shutil.which(compiler[0])]
    assert compilers, "no GCC"
    count = 0
    with tempfile.TemporaryDirectory() as name:
        for archive in sorted(testdata.glob("*.tar")):
            for extra in ([], ["--transform", "none"], ["--from", "c", "--transform", "all"], ["--from", "c", "--transform", "none"]):
                folder = Path(name) / f"{archive.stem}{'_'.join(extra)}"
                subprocess.run([program, archive, "--quiet", *extra, "-o", folder], check=True, timeout=300)
                plan = json.loads(next(folder.glob("*.plan.json")).read_text(encoding="utf-8"))
                estimate = plan["totals"]["stack_estimate"]
                for compiler in compilers:
                    measured = deepest(folder, compiler)
                    most = measured + (MOST_ABOVE_ARRAYS if "c" in extra else MOST_ABOVE)
                    assert measured <= estimate <= most, (archive.name, extra, compiler[0], measured, estimate)
                    count += 1
    print(f"{count} estimates, of TIR from {MOST_ABOVE} bytes above to exact, with {', '.join(c[0] for c in compilers)}")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""The estimate of the stack that a plan states, against what GCC says of the emitted C (-fstack-usage).

usage: stack.py USMP_PLAN FOLDER... [--full]. The host's GCC without --cpu; and those of boards that are there, each for some
plans in turn, with --full for all: with --cpu, and without it where the core has no Helium.
"""

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

ARM = ["arm-none-eabi-gcc", "-mthumb"]
# Compiler, its --cpu, and the bytes that an estimate may be too large: docs/cli.md says them.
HOST = (["gcc"], "", 480)
BOARDS = [([*ARM, "-mcpu=cortex-m4"], "cortex-m4", 360), ([*ARM, "-mcpu=cortex-m0plus"], "cortex-m0plus", 360),
          ([*ARM, "-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-d16"], "cortex-m7", 360),
          ([*ARM, "-mcpu=cortex-m55", "-mfloat-abi=hard"], "cortex-m55", 1800),
          (["riscv64-unknown-elf-gcc", "-march=rv32imc", "-mabi=ilp32", "-specs=picolibc.specs"], "rv32imc", 360)]
MORE_FOR_ARRAYS = 240  # where arrays stay on the stack, as in C: some share their places
OPTIONS = [[], ["--transform", "none"], ["--from", "c", "--transform", "all"], ["--from", "c", "--transform", "none"]]


def deepest(folder: Path, compiler: list[str]) -> int:
    """Bytes from the entry down, of the functions in the operators' file; the more of -O2 and -Os."""
    return max(deepest_at(folder, [*compiler, level]) for level in ("-O2", "-Os"))


def deepest_at(folder: Path, compiler: list[str]) -> int:
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


def planned(program: Path, model: Path, options: list[str], cpu: str, folder: Path) -> int:
    subprocess.run([program, model, "--quiet", *options, *(["--cpu", cpu] if cpu else []), "-o", folder],
                   check=True, timeout=300, stderr=subprocess.DEVNULL)
    return json.loads(next(folder.glob("*.plan.json")).read_text(encoding="utf-8"))["totals"]["stack_estimate"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--full", action="store_true")
    arguments = parser.parse_args()
    boards = [board for board in BOARDS if shutil.which(board[0][0])]
    models = [path for folder in arguments.folders for pattern in ("*.tar", "*.tar.xz", "*.tflite") for path in sorted(folder.glob(pattern))]
    most_above = dict.fromkeys([HOST[1], *(cpu for _, cpu, _ in boards)], 0)
    count = 0
    with tempfile.TemporaryDirectory() as name:
        for model in models:
            for options in OPTIONS[:2] if model.suffix == ".tflite" else OPTIONS:
                turns = boards if arguments.full else boards[count % len(boards):][:1] if boards else []
                for compiler, cpu, most in [HOST, *turns]:
                    folder = Path(name) / f"{model.name.replace('.', '_')}{'_'.join(options)}{cpu}"
                    estimate = planned(arguments.program.resolve(), model, options, cpu, folder)
                    measured = deepest(folder, compiler)
                    limit = measured + most + (MORE_FOR_ARRAYS if "c" in options else 0)
                    assert measured <= estimate <= limit, (model.name, options, cpu, measured, estimate)
                    most_above[cpu] = max(most_above[cpu], estimate - measured)
                    if cpu not in ("", "cortex-m55"):
                        unnamed = Path(f"{folder}_unnamed")
                        estimate = planned(arguments.program.resolve(), model, options, "", unnamed)
                        measured = deepest(unnamed, compiler)
                        assert measured <= estimate, (model.name, options, compiler, measured, estimate)
                count += 1
    print(f"{count} plans; at most bytes too many: {', '.join(f'{cpu or HOST[0][0]} {above}' for cpu, above in most_above.items())}")


if __name__ == "__main__":
    main()

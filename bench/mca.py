#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Cycles of the inner loops of emitted C, as llvm-mca has them from a core's public timing.

Each model is planned and compiled (GCC, -O2) for each core. Of each function with the name of a helper (usmp_…), and with
--all of every function, the innermost loops are taken from the assembly, and 100 passes of each go through llvm-mca: as if
no conditional branch in the loop were taken, no load missed and nothing else waited. Printed are instructions and cycles of
one pass, and for loops that multiply how often one pass does and the cycles of each time: weights are multiplied by zero
points, too, where a run of rows has one.

llvm-mca has models of the Cortex-M4, M7 and M55 since version 16 (Debian: llvm-16). Without it or the compiler: exit code 77.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from instructions import CORES, golden
from golden import Failure, run

PASSES = 100
TRIPLES = {"cortex-m4": "thumbv7em-none-eabi", "cortex-m7": "thumbv7em-none-eabi", "cortex-m55": "thumbv8.1m.main-none-eabi"}
FEATURES = {"cortex-m55": "+mve.fp"}  # not switched on by the name of the core
# Multiplications of elements, by mnemonics without suffixes of types and conditions.
PRODUCTS = {"smlad": 2, "smuad": 2, "smladx": 2, "mla": 1, "mul": 1, "muls": 1, "smlabb": 1, "smlabt": 1, "smlatb": 1, "smlatt": 1, "smulbb": 1,
            "vmladava.s8": 16, "vmladava.u8": 16, "vmladavat.s8": 16, "vmladavat.u8": 16, "vmladava.s16": 8, "vmladavat.s16": 8, "vmla.s32": 4, "vmlat.s32": 4,
            "vmul.i16": 8, "vmult.i16": 8, "vmla.s16": 8, "vmlat.s16": 8, "vmullb.s8": 8, "vmullt.s8": 8, "vmullb.u8": 8, "vmullt.u8": 8}
BRANCH = re.compile(r"(?:b|b(?:eq|ne|cs|cc|hi|ls|ge|lt|gt|le|mi|pl|hs|lo)(?:\.[nw])?|cbn?z|le|letp)$")


@dataclass(frozen=True)
class Loop:
    function: str
    lines: tuple[str, ...]

    def products(self) -> int:
        return sum(PRODUCTS.get(line.split()[0], 0) for line in self.lines)


def innermost_loops(assembly: str) -> list[Loop]:
    """From a label to a branch back to it, with no other such pair inside and no call. Labels of inline assembly are numbers, 1: and 1b."""
    loops: list[Loop] = []
    function = ""
    lines: list[str] = []
    labels: dict[str, int] = {}
    last = 0  # where the last loop ended
    for line in assembly.splitlines():
        text = line.split("@")[0].strip()
        if label := re.fullmatch(r"([\w.$]+):", text):
            name = label.group(1)
            if not name.startswith(".L") and not name.isdigit():
                function, lines, labels, last = name, [], {}, 0
            labels[name] = len(lines)
        elif text and not text.startswith("."):
            words = text.replace(",", " ").split()
            lines.append(text)
            begin = labels.get(words[-1].removesuffix("b") if words[-1][:-1].isdigit() else words[-1]) if BRANCH.match(words[0]) else None
            if begin is not None and not words[-1].endswith("f") and begin >= last:
                if not any(line.split()[0] in ("bl", "blx") for line in lines[begin:]):
                    loops.append(Loop(function, tuple(lines[begin:])))
                last = len(lines)
    return loops


def without_places(line: str, number: int) -> str:
    """Branches lead to where they stand: llvm-mca reads the loop without its surroundings."""
    words = line.replace(",", " ").split()
    if not BRANCH.match(words[0]) or words[0] in ("le", "letp"):
        return line
    return f"{line[:line.rindex(words[-1])]}.Lhere{number}\n.Lhere{number}:"


def cycles(tool: str, core: str, loop: Loop) -> tuple[float, float]:
    """Instructions and cycles of a pass. The end of a low-overhead loop is neither: the core has it in its fetch unit."""
    body = [line for line in loop.lines if line.split()[0] not in ("le", "letp")]
    text = "\n".join(without_places(line, i) for i, line in enumerate(body))
    done = subprocess.run([tool, f"--mtriple={TRIPLES[core]}", f"--mcpu={core}", f"--mattr={FEATURES.get(core, '')}", f"--iterations={PASSES}",
                           "--instruction-info=false", "--resource-pressure=false"], input=text + "\n", capture_output=True, text=True)
    found = {name: int(number) for name, number in re.findall(r"(Instructions|Total Cycles):\s+(\d+)", done.stdout)}
    if done.returncode != 0 or len(found) != 2:
        raise Failure(f"llvm-mca does not read a loop of {loop.function} for {core}:\n{done.stderr[:600]}")
    return found["Instructions"] / PASSES, found["Total Cycles"] / PASSES


def loops_of(binary: Path, model: golden.Model, core: str, is_wanted) -> list[Loop]:
    compiler, _, flags, _, _ = CORES[core]
    with tempfile.TemporaryDirectory(prefix="usmp-mca-") as temporary:
        planned = Path(temporary) / "planned"
        run([binary, model.path, "--cpu", core, "-o", planned, "--quiet"])
        code = planned / "codegen/host"
        loops: list[Loop] = []
        for source in sorted((code / "src").glob("*_lib1.c")):
            done = run([compiler, *flags.split(), "-O2", "-std=c99", "-ffp-contract=off", "-I", code / "include", "-S", source, "-o", "-"])
            loops += innermost_loops(done.stdout)
        return [loop for loop in dict.fromkeys(loops) if is_wanted(loop.function)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("folder", type=Path, help="with archives")
    parser.add_argument("--only", default="", help="names of archives, with commas between")
    parser.add_argument("--cores", default="cortex-m4,cortex-m7,cortex-m55")
    parser.add_argument("--all", action="store_true", help="loops of every function, not of helpers alone")
    arguments = parser.parse_args()
    tool = next((name for name in ("llvm-mca-19", "llvm-mca-18", "llvm-mca-17", "llvm-mca-16") if shutil.which(name)), None)
    cores = arguments.cores.split(",")
    if tool is None or any(shutil.which(CORES[core][0]) is None for core in cores):
        print("not installed: llvm-16 or arm-none-eabi-gcc")
        return 77
    seen: set[tuple[str, Loop]] = set()
    print("| core | function | instructions | cycles | multiplications | cycles each |\n|---|---|---|---|---|---|")
    for model in golden.models_below(arguments.folder):
        if arguments.only and model.name not in arguments.only.split(","):
            continue
        for core in cores:
            for loop in loops_of(arguments.binary.resolve(), model, core, lambda name: arguments.all or name.startswith("usmp_") and "__tvm_main__" not in name):
                if (core, loop) in seen:
                    continue
                seen.add((core, loop))
                count, ticks = cycles(tool, core, loop)
                products = loop.products()
                each = f"{ticks / products:.2f}" if products else ""
                print(f"| {core} | `{loop.function}` | {count:g} | {ticks:.1f} | {products or ''} | {each} |")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(failure)
        sys.exit(1)

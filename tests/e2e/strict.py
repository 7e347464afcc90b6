#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""The emitted C under the warnings that projects with a coding standard switch on: gcc and clang on the host, and gcc for
Cortex-M4 and Cortex-M0+. None may be printed. What an archive brings along (pragma_import_c, libraries) is left out.

Usage: strict.py BINARY DIRECTORY... [--full]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import golden

FLAGS = ("-Wall -Wextra -Werror -pedantic -Wconversion -Wsign-conversion -Wcast-align -Wshadow -Wundef -Wdouble-promotion "
         "-Wstrict-prototypes -Wcast-qual").split()
HOST = (["gcc"], ["clang"])
ARM = {"cortex-m4": ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m4"], "cortex-m0plus": ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m0plus"]}
PLANS = ((), ("--workspace-io", "--allow-recompute", "30"), ("--transform", "none", "--algorithm", "fast"))


def warnings_of(sources: list[Path], include: Path, compiler: list[str]) -> str:
    for source in sources:
        done = subprocess.run([*compiler, "-std=c99", "-O2", *FLAGS, "-I", include, "-c", source, "-o", "/dev/null"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stderr:
            return f"{' '.join(compiler)}: {done.stderr[:600]}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=Path)
    parser.add_argument("directories", type=Path, nargs="+")
    parser.add_argument("--but-not-of", type=Path, help="leave out archives that stand there, too, byte for byte")
    parser.add_argument("--full", action="store_true", help="every core and set of options for every archive, not in turn")
    args = parser.parse_args()
    found = sorted(path for directory in args.directories for path in directory.rglob("*.tar"))
    archives = golden.but_not_of(args.but_not_of, found)
    cores = list(ARM) if shutil.which("arm-none-eabi-gcc") else []
    passed = failed = 0
    for number, archive in enumerate(archives):
        cases = [(core, plan) for core in ("cortex-m4", "cortex-m0plus") for plan in PLANS]
        for core, plan in cases if args.full else [cases[number % len(cases)], cases[(number + 4) % len(cases)]]:
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([args.binary.resolve(), archive, "-o", Path(folder, "out"), "--quiet", "--node-limit", "2000", "--cpu", core, *plan],
                                      capture_output=True, text=True, check=False)
                if done.returncode != 0:  # other tests say why
                    continue
                host = Path(folder, "out/codegen/host")
                own = [path for path in sorted(host.glob("src/*_lib[01].c")) if "pragma_import_c" not in path.read_text()]
                for compiler in (*HOST, *(ARM[one] for one in cores if one == core)):
                    if not shutil.which(compiler[0]):
                        continue
                    fault = warnings_of(own, host / "include", compiler)
                    passed, failed = passed + (not fault), failed + bool(fault)
                    if fault:
                        print(f"FAILED {archive.name} --cpu {core} {' '.join(plan)}: {fault}")
    print(f"strict flags: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""The emitted C under the warnings that projects with a coding standard switch on: gcc and clang on the host and for
Cortex-M4, M0+ and M55. None may be printed. What an archive brings along (pragma_import_c, libraries) is left out. Of nine
combinations of a core and options each archive gets two in turn, with --but-not-of one.

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
ARM = {core: (["arm-none-eabi-gcc", "-mthumb", f"-mcpu={core}", *floats], ["clang", "--target=arm-none-eabi", "-mthumb", f"-mcpu={core}", *floats])
       for core, *floats in (("cortex-m4",), ("cortex-m0plus",), ("cortex-m55", "-mfloat-abi=hard"))}
PLANS = ((), ("--workspace-io", "--allow-recompute", "30"), ("--transform", "none", "--algorithm", "fast"))


def warnings_of(sources: list[Path], include: Path, compiler: list[str]) -> str:
    for source in sources:
        # Clang says all its warnings before it optimises.
        how_far = ["-fsyntax-only"] if compiler[0] == "clang" else ["-O2", "-c", "-o", "/dev/null"]
        done = subprocess.run([*compiler, "-std=c99", *how_far, *FLAGS, "-I", include, source], capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stderr:
            return f"{' '.join(compiler)}: {done.stderr[:600]}"
    return ""


def headers() -> str:
    """Where the C library of Arm's gcc has them, which clang does not find by itself."""
    found = subprocess.run(["arm-none-eabi-gcc", "-E", "-M", "-x", "c", "-"], input="#include <string.h>\n", capture_output=True, text=True, check=True).stdout
    return str(next(Path(word).parent for word in found.split() if word.endswith("/string.h")))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=Path)
    parser.add_argument("directories", type=Path, nargs="+")
    parser.add_argument("--but-not-of", type=Path, help="leave out archives that stand there, too, byte for byte")
    parser.add_argument("--full", action="store_true", help="every core and set of options for every archive, not in turn")
    args = parser.parse_args()
    found = sorted(path for directory in args.directories for path in directory.rglob("*.tar"))
    archives = golden.but_not_of(args.but_not_of, found)
    has_arm = shutil.which("arm-none-eabi-gcc") is not None
    library = ["-isystem", headers()] if has_arm else []
    passed = failed = 0
    for number, archive in enumerate(archives):
        cases = [(core, plan) for plan in PLANS for core in ARM]
        turns = [cases[(number + step) % len(cases)] for step in ((0,) if args.but_not_of else (0, 4))]
        for core, plan in cases if args.full else turns:
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([args.binary.resolve(), archive, "-o", Path(folder, "out"), "--quiet", "--node-limit", "2000", "--cpu", core, *plan],
                                      capture_output=True, text=True, check=False)
                if done.returncode != 0:  # other tests say why
                    continue
                host = Path(folder, "out/codegen/host")
                own = [path for path in sorted(host.glob("src/*_lib[01].c")) if "pragma_import_c" not in path.read_text()]
                for compiler in (*HOST, *(ARM[core] if has_arm else ())):
                    if not shutil.which(compiler[0]):
                        continue
                    fault = warnings_of(own, host / "include", [*compiler, *library] if "--target=arm-none-eabi" in compiler else compiler)
                    passed, failed = passed + (not fault), failed + bool(fault)
                    if fault:
                        print(f"FAILED {archive.name} --cpu {core} {' '.join(plan)}: {fault}")
    print(f"strict flags: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

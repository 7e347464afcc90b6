#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Public TensorFlow Lite models take no more than they did: workspace, instructions on a Cortex-M4, flash.

usage: tflite_bars.py USMP_PLAN FOLDER. Forms of loops and passes depend on each other, silently: a figure that moves by 3 %
either way is a fault, or a new row of this table and of docs/tflite.md. One pool, constants in the C; arm-none-eabi-gcc -O2;
flash is code and constants of the C that usmp-plan writes. Outputs are compared. Without compiler or qemu: exit code 77.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import golden
from golden import run

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import instructions

CORE = "cortex-m4"
# Bytes, millions, kilobytes of 1000 bytes.
BARS = {
    "kws": (3648, 4.59, 34.4),
    "resnet8": (9088, 18.99, 88.7),
    "vww": (10312, 13.93, 247.8),
    "ad": (256, 0.305, 277.2),
}


# Likewise, of a core with Helium: millions.
HELIUM = "cortex-m55"
HELIUM_BARS = {"kws": 1.384, "resnet8": 4.682, "vww": 5.162, "ad": 0.063}


def flash_of(binary: Path, model: Path, folder: Path) -> int:
    compiler, specs, flags, _, _ = instructions.CORES[CORE]
    planned = folder / "flash"
    run([binary, model, "--cpu", CORE, "-o", planned, "--quiet"])
    objects = []
    for source in sorted((planned / "codegen/host/src").glob("*.c")):
        objects.append(planned / f"{source.stem}.o")
        run([compiler, *flags.split(), specs, "-O2", "-std=c99", "-ffp-contract=off", "-I", planned / "codegen/host/include", "-c", source,
             "-o", objects[-1]])
    sizes = run([compiler.replace("gcc", "size"), "-t", *objects]).stdout.splitlines()[-1].split()
    return int(sizes[0]) + int(sizes[1])


def main() -> int:
    binary, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    if missing := instructions.missing_tools([CORE, HELIUM]):
        print(f"not installed: {', '.join(missing)}")
        return 77
    wrong = 0
    for name, bars in BARS.items():
        with tempfile.TemporaryDirectory(prefix="usmp-bars-") as temporary:
            (model,) = golden.tflite_models(folder, Path(temporary), name)
            plan = json.loads(run([binary, model.path, "--cpu", CORE, "--dry-run", "--json"]).stdout)["modules"][0]
            counts = instructions.measure(binary, model, CORE, "-O2", ["--cpu", CORE], False, False)
            found = (plan["totals"]["workspace_used"], counts["all"] / 1e6, flash_of(binary, model.path, Path(temporary)) / 1e3)
            helium = instructions.measure(binary, model, HELIUM, "-O2", ["--cpu", HELIUM], False, False)["all"] / 1e6
        moved = [abs(a - b) > 0.03 * b for a, b in zip(found, bars)]
        wrong += any(moved)
        print(f"{name:8} workspace {found[0]:6} bytes, {found[1]:7.3f} million instructions, flash {found[2]:6.1f} kB"
              f"{f'; expected {bars} within 3 %' if any(moved) else ''}")
        has_moved = abs(helium - HELIUM_BARS[name]) > 0.03 * HELIUM_BARS[name]
        wrong += has_moved
        print(f"{name:8} {HELIUM}: {helium:.3f} million instructions{f'; expected {HELIUM_BARS[name]} within 3 %' if has_moved else ''}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Archives of TVM's Cortex-M target, whose operators call C that the archive imports (pragma_import_c): read from TIR and
from C, planned, built as firmware for a Cortex-M4 and a Cortex-M7, run under qemu and compared with the golden outputs. Nothing of
that C is left: it is read, and planned C has its own kernels.

Without the compiler or qemu: exit code 77.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import firmware
import golden
from golden import Failure, Model, run

BOARDS = ("mps2-an386", "mps2-an500")


@dataclass
class Case:
    model: Model
    board: str
    reader: str

    def label(self) -> str:
        return f"{self.model.name} on {self.board}, from {self.reader}"


def run_case(binary: Path, case: Case) -> None:
    with tempfile.TemporaryDirectory(prefix="usmp-imported-") as temporary:
        folder = Path(temporary)
        options = [*firmware.pools_options(binary, [case.model.path], "external", case.board, folder), "--from", case.reader]
        planned = folder / "planned"
        summary = run([binary, case.model.path, *options, "-o", planned]).stdout
        if "copied to the output" in summary or any("__sxtb16(" in path.read_text() and "kernel_convolve" in path.read_text() for path in planned.rglob("*.c")):
            raise Failure(f"a kernel in C stays:\n{summary}")
        models, plans = firmware.models_file(planned, [case.model])
        done = firmware.build_and_run(folder, planned, models, case.board)
        firmware.check_outputs(done, plans)
        print(f"{case.label()}: right", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("testdata", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    missing = [tool for board in BOARDS for tool in (firmware.BOARDS[board][1], firmware.BOARDS[board][3].split()[0]) if not shutil.which(tool)]
    if missing:
        print(f"not installed: {', '.join(sorted(set(missing)))} (`make test-firmware` installs them)")
        return 77
    archives = sorted((arguments.testdata / "arm_cpu").glob("*.tar.xz"))
    if not archives:
        raise SystemExit("no archive in arm_cpu")
    cases = []
    for path in archives:
        model = Model(path, {"default": arguments.testdata / f"{path.name.removesuffix('.tar.xz')}.golden"})
        cases += [Case(model, board, reader) for board in BOARDS for reader in ("tir", "c")]
    return golden.run_all(cases, lambda case: run_case(arguments.binary.resolve(), case), arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())

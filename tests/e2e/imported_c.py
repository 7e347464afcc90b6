#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Archives of TVM's Cortex-M target, whose operators call C that the archive imports (pragma_import_c): read from TIR and
from C, planned, built as firmware for a Cortex-M4 and a Cortex-M7, run under qemu and compared with the golden outputs.

The summary names the headers of TVM that this C includes; a stand-in for the one that it is has what TVM's has of it.

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
HEADER = "tvm/runtime/crt/error_codes.h"
# Of the imported C: functions that are always inlined and not static, pointers to int16 read as words, comparisons.
FLAGS = ("-Wno-attributes", "-Wno-sign-compare", "-Wno-unused-function", "-Wno-unused-parameter", "-Wno-unused-variable")


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
        # From C, what the file includes comes along; of resnet8, whose only such kernel is read, nothing.
        is_read = case.reader == "c" and case.model.name == "resnet8"
        if is_read and ("gemm_" in "".join(path.read_text() for path in planned.rglob("*.c")) or "It includes headers" in summary):
            raise Failure(f"a kernel in C stays:\n{summary}")
        wanted = HEADER if case.reader == "tir" else f"tvm/runtime/c_backend_api.h, tvm/runtime/c_runtime_api.h, {HEADER}"
        if not is_read and f"It includes headers of TVM, whose directories the compiler needs (-I): {wanted}\n" not in summary:
            raise Failure(f"the summary does not name {wanted}:\n{summary}")
        stand_in = folder / "tvm_headers"
        for name in wanted.split(", "):
            (stand_in / name).parent.mkdir(parents=True, exist_ok=True)
            (stand_in / name).write_text("#include <stdint.h>\n#define TVM_DLL\n" if name != HEADER else "#pragma once\nenum { kTvmErrorFunctionCallInvalidArg = 1 };\n")
        models, plans = firmware.models_file(planned, [case.model])
        done = firmware.build_and_run(folder, planned, models, case.board, (*FLAGS, "-I", str(stand_in)))
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

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""What TensorFlow Lite itself computes for models with golden files, by its C library. docs/testing.md says where that
comes from; no test runs this.

Each model is run in a process of its own, since some end the library. Usage: tflite_c.py LIBRARY FOLDER…
"""

from __future__ import annotations

import array
import ctypes
import json
import subprocess
import sys
from pathlib import Path

CODES = {"int8": "b", "uint8": "B", "int16": "h", "int32": "i", "int64": "q", "float32": "f", "bool": "B"}


def run(library: str, path: Path) -> str:
    """ "refused: …", or the largest difference of integers, how many differ, and the largest of floats, relatively."""
    handle = ctypes.CDLL(library)
    pointer, size, text = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p

    def call(name: str, result: object, *arguments: object) -> object:
        function = getattr(handle, "TfLite" + name)
        function.restype = result
        function.argtypes = [kind for kind, _ in arguments]
        return function(*(value for _, value in arguments))

    data = path.read_bytes()
    golden = path.with_suffix(".golden")
    io = json.loads((golden / "io.json").read_text())
    model = call("ModelCreate", pointer, (text, data), (size, len(data)))
    options = call("InterpreterOptionsCreate", pointer)
    machine = call("InterpreterCreate", pointer, (pointer, model), (pointer, options)) if model else None
    if not machine:
        return "refused: the file"
    if call("InterpreterAllocateTensors", ctypes.c_int, (pointer, machine)) != 0:
        return "refused: a shape or type"
    largest, count, relative = 0, 0, 0.0
    for turn in range(io["runs"]):
        for k in range(len(io["inputs"])):
            given = (golden / f"in{k}.{turn}.bin").read_bytes()
            tensor = call("InterpreterGetInputTensor", pointer, (pointer, machine), (ctypes.c_int32, k))
            if call("TensorCopyFromBuffer", ctypes.c_int, (pointer, tensor), (text, given), (size, len(given))) != 0:
                return "refused: an input"
        if call("InterpreterInvoke", ctypes.c_int, (pointer, machine)) != 0:
            return "refused: an operator"
        for k, output in enumerate(io["outputs"]):
            wanted = (golden / f"out{k}.{turn}.bin").read_bytes()
            found = ctypes.create_string_buffer(len(wanted))
            tensor = call("InterpreterGetOutputTensor", pointer, (pointer, machine), (ctypes.c_int32, k))
            if call("TensorCopyToBuffer", ctypes.c_int, (pointer, tensor), (text, found), (size, len(wanted))) != 0:
                return "refused: an output"
            code = CODES[output["type"]]
            for a, b in zip(array.array(code, wanted), array.array(code, found.raw)):
                if a == b or (a != a and b != b):
                    continue
                if code == "f":
                    relative = max(relative, abs(a - b) / max(abs(a), abs(b), 1e-3))
                else:
                    largest, count = max(largest, abs(a - b)), count + 1
    return f"{largest} {count} {relative}"


def main() -> int:
    if sys.argv[1] == "--one":
        print(run(sys.argv[2], Path(sys.argv[3])))
        return 0
    totals = {"equal": 0, "within one unit": 0, "other": 0, "refused": 0}
    for path in (p for folder in sys.argv[2:] for p in sorted(Path(folder).glob("*.tflite"))):
        one = subprocess.run([sys.executable, "-B", __file__, "--one", sys.argv[1], str(path)],
                             capture_output=True, text=True)
        result = one.stdout.strip().splitlines()[-1] if one.returncode == 0 else "refused: the library ends"
        kind = "refused"
        if not result.startswith("refused"):
            largest, _, relative = result.split()
            is_near = float(relative) <= 1e-5
            kind = "equal" if largest == "0" and is_near else "within one unit" if largest in "01" and is_near else "other"
        totals[kind] += 1
        if kind != "equal":
            print(f"{path.stem}: {kind}, {result}")
    print(", ".join(f"{count} {kind}" for kind, count in totals.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

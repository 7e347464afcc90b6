#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Damaged .tflite files: planned, or refused with one message and exit code 3, nothing written, in 100 MB and a second of CPU.

Usage: hostile_tflite.py BINARY TESTDATA [--sanitized]

Two kinds of damage: contradictions, each with what its message must say, and words and lengths of files changed without
looking at what they mean. --sanitized: memory is the sanitizer's and is not limited.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import struct
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

SECONDS = 1  # of CPU, when a file is refused
MOST_SECONDS = 10
MOST_MEMORY = 100 << 20
WORDS = (0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0x7FC00000, 0x00010000)

# Fields of the tables of the format, by their numbers.
OPERATOR_CODES, SUBGRAPHS, BUFFERS = 1, 2, 4  # of Model
TENSORS, INPUTS, OUTPUTS, OPERATORS = 0, 1, 2, 3  # of SubGraph
SHAPE, TYPE, BUFFER, NAME, QUANTIZATION = 0, 1, 2, 3, 4  # of Tensor
SCALE, ZERO_POINT = 2, 3  # of QuantizationParameters
OPCODE_INDEX, OPERATOR_INPUTS, OPERATOR_OUTPUTS = 0, 1, 2  # of Operator


class File:
    """The bytes of a model, and where in them something stands."""

    def __init__(self, data: bytes):
        self.data = bytearray(data)
        self.root = self.word(0)

    def word(self, at: int) -> int:
        return struct.unpack_from("<I", self.data, at)[0]

    def field(self, table: int, number: int) -> int | None:
        vtable = table - struct.unpack_from("<i", self.data, table)[0]
        if 4 + 2 * number >= struct.unpack_from("<H", self.data, vtable)[0]:
            return None
        offset = struct.unpack_from("<H", self.data, vtable + 4 + 2 * number)[0]
        return table + offset if offset else None

    def follow(self, table: int, *numbers: int) -> int:
        """Where the last field points to, a table or the length of a list."""
        for number in numbers:
            at = self.field(table, number)
            assert at is not None, number
            table = at + self.word(at)
        return table

    def elements(self, table: int, number: int) -> list[int]:
        """Where the elements of a list of four bytes each stand."""
        at = self.follow(table, number)
        return [at + 4 + 4 * i for i in range(self.word(at))]

    def tables(self, table: int, number: int) -> list[int]:
        return [at + self.word(at) for at in self.elements(table, number)]

    def graph(self) -> int:
        return self.tables(self.root, SUBGRAPHS)[0]

    def tensors(self) -> list[int]:
        return self.tables(self.graph(), TENSORS)

    def operators(self) -> list[int]:
        return self.tables(self.graph(), OPERATORS)

    def put(self, at: int | None, form: str, value: float) -> None:
        assert at is not None
        struct.pack_into(form, self.data, at, value)


class Runner:
    def __init__(self, binary: Path, directory: Path, sanitized: bool):
        self.binary, self.directory, self.sanitized = binary, directory, sanitized
        self.passed = self.failed = self.refused = 0

    def limits(self) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if not self.sanitized:
            resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    def run(self, label: str, data: bytes, codes: tuple[int, ...] = (0, 3), *parts: str) -> None:
        path, out, said = (self.directory / name for name in ("model.tflite", "out", "said"))
        path.write_bytes(data)
        with said.open("wb") as stream:
            child = os.fork()
            if child == 0:
                try:
                    self.limits()
                    os.dup2(stream.fileno(), 2)
                    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                    os.execv(self.binary, [str(self.binary), str(path), "-o", str(out)])
                finally:
                    os._exit(127)
        _, status, usage = os.wait4(child, 0)
        code = os.waitstatus_to_exitcode(status)
        text = said.read_text(encoding="utf-8", errors="replace")
        faults = [f"exit code {code}, expected one of {codes}"] if code not in codes else []
        if code == 3:
            self.refused += 1
            lines = text.splitlines()
            if not text.startswith(f"usmp-plan: error: {path}: ") or any(not line.startswith("  ") for line in lines[1:]) or len(lines) > 13:
                faults.append("not one message that names the file")
            if any(ord(letter) < 32 and letter != "\n" for letter in text) or len(text) > 20000:
                faults.append("a message of control characters, or too long")
            if out.exists() or sorted(p.name for p in self.directory.iterdir()) != ["model.tflite", "said"]:
                faults.append("files were left")
            if not self.sanitized and usage.ru_utime + usage.ru_stime > SECONDS:
                faults.append(f"{usage.ru_utime + usage.ru_stime:.2f} s")
        if not self.sanitized and usage.ru_maxrss * 1024 > MOST_MEMORY:
            faults.append(f"{usage.ru_maxrss} KiB of memory")
        faults += [f"'{part}' is not in the message" for part in parts if part not in text]
        shutil.rmtree(out, ignore_errors=True)
        self.passed += not faults
        self.failed += bool(faults)
        if faults:
            print(f"FAILED {label}: {'; '.join(faults)}: {text[:300]!r}")
            if "KEEP" in os.environ:
                shutil.copy(path, Path(os.environ["KEEP"]) / (label.replace(" ", "_").replace("/", "_") + ".tflite"))


def contradictions(runner: Runner, name: str, data: bytes) -> None:
    """One at a time in a model whose last operator has an output of the model and reads an operator's output."""

    def refused(label: str, change: Callable[[File], None], *parts: str) -> None:
        file = File(data)
        change(file)
        runner.run(f"{name}: {label}", bytes(file.data), (3,), *parts)

    def listed(file: File, operator: int, number: int) -> int:
        return file.elements(file.operators()[operator], number)[0]

    def of_tensor(file: File, number: int) -> int:
        """A field of the first tensor of which it says something."""
        return next(at for at in (file.field(tensor, number) for tensor in file.tensors()) if at is not None)

    def extents(file: File) -> list[int]:
        return file.elements(file.tensors()[file.word(listed(file, -1, OPERATOR_OUTPUTS))], SHAPE)

    def scales(file: File, number: int) -> int:
        output = file.tensors()[file.word(listed(file, -1, OPERATOR_OUTPUTS))]
        return file.follow(output, QUANTIZATION, number) + 4

    refused("no such tensor", lambda f: f.put(listed(f, -1, OPERATOR_INPUTS), "<i", 10**6), "names tensor 1000000, but there are")
    refused("a tensor of a negative number", lambda f: f.put(listed(f, -1, OPERATOR_INPUTS), "<i", -2), "names tensor -2")
    refused("no output", lambda f: f.put(listed(f, -1, OPERATOR_OUTPUTS), "<i", -1), "names tensor -1")
    refused("an operator that reads its output", lambda f: f.put(listed(f, -1, OPERATOR_INPUTS), "<I", f.word(listed(f, -1, OPERATOR_OUTPUTS))),
            "written later or never")
    refused("a cycle of two operators", lambda f: f.put(listed(f, 0, OPERATOR_INPUTS), "<I", f.word(listed(f, -1, OPERATOR_OUTPUTS))), "written later or never")
    refused("a tensor written twice", lambda f: f.put(listed(f, -1, OPERATOR_OUTPUTS), "<I", f.word(listed(f, 0, OPERATOR_OUTPUTS))), "writes tensor")
    refused("an operator that writes an input", lambda f: f.put(listed(f, -1, OPERATOR_OUTPUTS), "<I", f.word(f.elements(f.graph(), INPUTS)[0])),
            "which is an input or a constant")
    refused("an output that nobody writes", lambda f: f.put(f.elements(f.graph(), OUTPUTS)[0], "<i", 10**9), "outputs", "names tensor 1000000000")
    refused("an input that is no tensor", lambda f: f.put(f.elements(f.graph(), INPUTS)[0], "<i", -1), "inputs", "names tensor -1")
    refused("a negative extent", lambda f: f.put(extents(f)[-1], "<i", -7), "has an extent of -7")
    refused("a dynamic shape", lambda f: f.put(extents(f)[-1], "<i", -1))
    refused("a shape of 2 GiB", lambda f: f.put(extents(f)[-1], "<i", 2**31 - 1))
    refused("shapes whose product overflows", lambda f: [f.put(at, "<i", 2**31 - 1) for at in extents(f)])
    refused("an extent that no operator makes", lambda f: f.put(extents(f)[-1], "<i", 12345))
    refused("a list of 2^32 - 1 tensors", lambda f: f.put(f.follow(f.graph(), TENSORS), "<I", 2**32 - 1), "damaged")
    refused("a list of 2^32 - 1 operators", lambda f: f.put(f.follow(f.graph(), OPERATORS), "<I", 2**32 - 1), "damaged")
    refused("a list of 2^31 extents", lambda f: f.put(f.follow(f.tensors()[0], SHAPE), "<I", 2**31), "damaged")
    refused("a root behind the end", lambda f: f.put(0, "<I", len(data)), "damaged")
    refused("a root that is everywhere", lambda f: f.put(0, "<I", 2**32 - 1), "damaged")
    refused("no such buffer", lambda f: f.put(of_tensor(f, BUFFER), "<I", 2**31), "has buffer 2147483648, but there are")
    for scale in (float("nan"), float("inf"), 0.0, -1.0):
        refused(f"a scale of {scale}", lambda f, scale=scale: f.put(scales(f, SCALE), "<f", scale), "has the scale")
    refused("a zero point beyond the type", lambda f: f.put(scales(f, ZERO_POINT), "<q", 1000), "has the zero point 1000")
    refused("a zero point beyond everything", lambda f: f.put(scales(f, ZERO_POINT), "<q", -(2**63)), "has the zero point -9223372036854775808")


def lengths(runner: Runner, name: str, data: bytes) -> None:
    for size in sorted({*range(0, 40, 3), *range(0, len(data), max(1, len(data) // 20)), len(data) - 1}):
        runner.run(f"{name} cut to {size} bytes", data[:size], (0, 3) if size >= len(data) - 16 else (3,))


def words(runner: Runner, name: str, data: bytes, every: int) -> None:
    for at in range(0, len(data) - 3, 4 * every):
        for word in WORDS:
            changed = bytearray(data)
            struct.pack_into("<I", changed, at, word)
            if changed != data:
                runner.run(f"{name}, word {word:#x} at {at}", bytes(changed))


def bits(runner: Runner, name: str, data: bytes, count: int) -> None:
    generator = random.Random(20261128)
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(generator.choice((1, 1, 2, 8))):
            changed[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
        runner.run(f"{name}, bits flipped", bytes(changed))


def main() -> int:
    binary, testdata = Path(sys.argv[1]).resolve(), Path(sys.argv[2]) / "tflite"
    models = {path.stem: path.read_bytes() for path in sorted(testdata.glob("*.tflite"))}
    scale = float(os.environ.get("USMP_HOSTILE_ROUNDS", "1"))
    with tempfile.TemporaryDirectory(prefix="usmp-hostile-") as temporary:
        runner = Runner(binary, Path(temporary), "--sanitized" in sys.argv)
        chain = models["graph_int8_1004"]
        runner.run("the model itself", chain, (0,))
        runner.run("a state of 1.4 GB", (testdata.parent / "fuzz/tflite/4b5e8594b4a5").read_bytes(), (3,))
        contradictions(runner, "graph_int8_1004", chain)
        lengths(runner, "graph_int8_1004", chain)
        small = [(name, data) for name, data in models.items() if len(data) < 1500]
        generator = random.Random(1)
        for name, data in generator.sample(small, min(len(small), int(6 * scale))):
            words(runner, name, data, every=8 if scale <= 1 else 1)
        for name, data in models.items():
            bits(runner, name, data, max(1, int(scale)))
    print(f"{runner.passed} passed, {runner.failed} failed; {runner.refused} refused")
    return 1 if runner.failed or runner.refused < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
